// SPDX-License-Identifier: Apache-2.0
#pragma once
// models/names.hpp: names of layers, put together while compiling: "layer1.0" + ".conv1".

#include <algorithm>
#include <cstddef>

#include <levada/graph/op.hpp>

namespace example::models {

template <std::size_t A, std::size_t B>
consteval levada::fixed_string<A + B - 1> operator+(const levada::fixed_string<A>& first,
                                                    const levada::fixed_string<B>& second) {
  char text[A + B - 1]{};
  std::copy_n(first.text, A - 1, text);
  std::copy_n(second.text, B, text + A - 1);
  return text;
}

/// A literal as a name.
template <levada::fixed_string Name>
inline constexpr auto text = Name;

}  // namespace example::models
