// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/captures.hpp: what a kernel's lambda captures, while the program compiles: a closure to call it by.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace levada::kernel_detail {

template <class F>
using closure_words = std::array<std::uint32_t, (sizeof(F) + 3) / 4>;

/// A closure in which every word holds its own byte offset, so that a uniform says where it will be found at run time;
/// xor `Salt`, which the builder takes off again. Whatever else is captured keeps the salt and so gives itself away.
template <class F, std::uint32_t Salt>
constexpr F stand_in() {
  closure_words<F> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(4 * i) ^ Salt;
  return std::bit_cast<F>(words);
}

template <class F>
concept captures_nothing = std::is_empty_v<F> && std::is_default_constructible_v<F>;

// A reference or a pointer among the captures has no constant bytes.
template <class F>
concept captures_plain_words = std::is_trivially_copyable_v<F> && sizeof(F) % 4 == 0 &&
                               requires { typename std::bool_constant<(stand_in<F, 0>(), true)>; };

}  // namespace levada::kernel_detail
