// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/operand_layout.hpp: how another value lies beside the results that a kernel has at hand.

#include <cstddef>
#include <string_view>

#include <levada/core/detail/shape.hpp>

namespace levada::detail {

/// How another value lies beside results: a number for each, for each channel, for each place of all channels, or one.
enum class operand_layout { full, by_channel, by_place, single, other };

/// Of a value of that shape beside results of `results`, whose channels are rows of the last `place_axes` axes.
template <class = void>
constexpr operand_layout layout_beside(const shape& value, const shape& results, std::size_t place_axes) {
  if (value.rank > results.rank) return operand_layout::other;
  bool is_full = true, is_single = true, is_by_channel = true, is_by_place = true;
  for (std::size_t back = 1; back <= results.rank; ++back) {
    const std::size_t extent = back <= value.rank ? value[value.rank - back] : 1;
    const std::size_t all = results[results.rank - back];
    const bool is_place = back <= place_axes;
    is_full = is_full && extent == all;
    is_single = is_single && extent == 1;
    is_by_channel = is_by_channel && extent == (is_place ? 1 : all);
    is_by_place = is_by_place && extent == (is_place ? all : 1);
  }
  return is_full         ? operand_layout::full
         : is_single     ? operand_layout::single
         : is_by_channel ? operand_layout::by_channel
         : is_by_place   ? operand_layout::by_place
                         : operand_layout::other;
}

constexpr bool is_product(std::string_view kind) {
  return kind == "matmul" || kind == "matmul_parameter" || kind == "parameter_matmul";
}

/// The axes along which results of an op lie in a row: those of a picture, which may be padded before, or the last.
constexpr std::size_t place_axes(std::string_view kind) { return kind == "conv2d" || kind == "pad" ? 2 : 1; }

}  // namespace levada::detail
