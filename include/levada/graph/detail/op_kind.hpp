// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/op_kind.hpp: how the elements that an op gives hang on those it takes, which is what decides what it can
// be fused with (the operator patterns of TVM, Chen et al., OSDI 2018).

#include <cstdint>
#include <string_view>

namespace levada {

/// From the kinds that fuse with most to the one that fuses with nothing. An op says its own as
/// `static constexpr op_kind fuses_as`; one that does not is opaque, and so is every callable.
enum class op_kind : std::uint8_t {
  element_wise,  ///< each element from the one at the same index
  broadcast,     ///< each from one at an index that leaves axes out
  injective,     ///< each from one at any index: moves
  reduction,     ///< each from a whole axis
  out_fusable,   ///< what it gives can be changed element by element before it is written: convolutions, products
  opaque         ///< nothing is known
};

constexpr std::string_view name_of(op_kind kind) {
  constexpr std::string_view names[] = {"element-wise", "broadcast", "injective", "reduction", "out-fusable", "opaque"};
  return names[static_cast<unsigned>(kind)];
}

namespace detail {

template <class Op>
consteval op_kind op_kind_of() {
  if constexpr (requires { Op::fuses_as; })
    return Op::fuses_as;
  else
    return op_kind::opaque;
}

}  // namespace detail
}  // namespace levada
