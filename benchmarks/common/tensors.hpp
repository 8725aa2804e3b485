// SPDX-License-Identifier: Apache-2.0
#pragma once
// common/tensors.hpp: what contenders are given, and whether they give the same.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/core/tensor.hpp>

namespace tensors {

/// The tensors of an item: the one that it is, or those that it has by their names.
template <class Item>
auto spans(Item& item) {
  using value = std::conditional_t<std::is_const_v<Item>, const float, float>;
  std::vector<std::span<value>> all;
  if constexpr (levada::any_tensor<std::remove_const_t<Item>>)
    all.emplace_back(item.data(), item.size());
  else
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (all.emplace_back(item.template at<I>().data(), item.template at<I>().size()), ...);
    }(std::make_index_sequence<std::remove_const_t<Item>::size>());
  return all;
}

/// Numbers between -1 and 1, the same for every contender.
inline void fill(const std::vector<std::span<float>>& inputs) {
  std::uint32_t state = 1;
  for (const std::span<float> input : inputs)
    for (float& x : input) x = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-23f - 1;
}

/// Throws where outputs differ by more than `tolerance` of the largest.
inline void check(const std::string& name, float tolerance, const std::vector<std::span<const float>>& expected,
                  const std::vector<std::span<const float>>& got) {
  if (expected.size() != got.size()) throw levada::error(name + ": another number of outputs");
  for (std::size_t o = 0; o < expected.size(); ++o) {
    if (expected[o].size() != got[o].size()) throw levada::error(name + ": an output has another size");
    float largest = 0, difference = 0;
    for (std::size_t i = 0; i < got[o].size(); ++i) {
      largest = std::max(largest, std::abs(expected[o][i]));
      const float d = std::abs(expected[o][i] - got[o][i]);
      difference = std::isfinite(d) ? std::max(difference, d) : INFINITY;
    }
    if (!(difference <= tolerance * largest))
      throw levada::error(name + ": output " + std::to_string(o) + " differs by " + std::to_string(difference) +
                          " of " + std::to_string(largest));
  }
}

}  // namespace tensors
