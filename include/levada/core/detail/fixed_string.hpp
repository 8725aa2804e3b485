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
};

}  // namespace levada
