// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/fixed_string.hpp: text as a template argument, so that stages and ops carry their names in their types.

#include <cstddef>
#include <string_view>

namespace levada {

/// A string literal usable as a template argument: `stage<"decode">(f)`. `N` counts the terminating zero.
template <std::size_t N>
struct fixed_string {
  char text[N]{};

  consteval fixed_string(const char (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }

  constexpr std::string_view view() const { return {text, N - 1}; }
  constexpr operator std::string_view() const { return view(); }
  constexpr bool empty() const { return N == 1; }

  /// One behind the other: `dense<Block + "_up", 256>`.
  template <std::size_t M>
  friend consteval fixed_string<N + M - 1> operator+(const fixed_string& first, const char (&second)[M]) {
    char both[N + M - 1]{};
    for (std::size_t i = 0; i + 1 < N; ++i) both[i] = first.text[i];
    for (std::size_t i = 0; i < M; ++i) both[N - 1 + i] = second[i];
    return fixed_string<N + M - 1>(both);
  }
};

}  // namespace levada
