// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/top_k.hpp: where the largest elements are (ONNX ArgMax, TopK), along the last axis.

#include <cstdint>
#include <tuple>

#include <levada/graph/detail/op_rules.hpp>

namespace levada {

/// `a` comes before `b` in descending order; NaN after all numbers.
template <class T>
constexpr bool is_larger(T a, T b) {
  return a > b || (b != b && a == a);
}

/// The index of the largest element of each row, the first of equals; the last axis becomes 1 (ONNX's keepdims = 1).
/// NaN counts as smaller than any number, as in `levada::argmax`; a row of NaN gives 0.
struct argmax_op : weightless_op {
  static constexpr std::string_view kind = "argmax";
  static constexpr op_kind fuses_as = op_kind::reduction;
  static constexpr std::string_view expects = "a tensor of numbers of at least one axis";

  template <any_tensor In>
    requires(In::rank >= 1 && std::is_arithmetic_v<typename In::value_type>)
  using output = with_element_t<std::int64_t, with_last_extent_t<In, 1>>;

  template <class In>
  static constexpr double flops = static_cast<double>(In::elements);
};

/// The `K` largest elements of each row and their indices, largest first, the lower index first among equals, NaN last.
template <std::size_t K>
  requires(K > 0)
struct top_k_op : weightless_op {
  static constexpr std::string_view kind = "top_k";
  static constexpr std::string_view expects = "a tensor of numbers whose last axis holds at least K elements";

  template <any_tensor In>
    requires(In::rank >= 1 && std::is_arithmetic_v<typename In::value_type> && In::extents[In::rank - 1] >= K)
  using output = std::tuple<with_last_extent_t<In, K>, with_element_t<std::int64_t, with_last_extent_t<In, K>>>;

  template <class In>
  static constexpr double flops = static_cast<double>(In::elements);
};

namespace nn {

inline constexpr op_stage<"argmax", argmax_op> argmax{};
template <std::size_t K>
inline constexpr op_stage<"top_k", top_k_op<K>> top_k{};

}  // namespace nn
}  // namespace levada
