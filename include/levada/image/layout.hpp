// SPDX-License-Identifier: Apache-2.0
#pragma once
// image/layout.hpp: which axis of a picture is which.

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/graph/detail/op_rules.hpp>

namespace levada {

/// A picture tensor read through its layout.
template <image_tensor T, layout Layout>
struct picture {
  static constexpr std::size_t channels = T::extents[Layout == layout::chw ? 0 : 2];
  static constexpr std::size_t height = T::extents[Layout == layout::chw ? 1 : 0];
  static constexpr std::size_t width = T::extents[Layout == layout::chw ? 2 : 1];

  /// The offset of an element.
  static constexpr std::size_t at(std::size_t channel, std::size_t y, std::size_t x) {
    return Layout == layout::chw ? (channel * height + y) * width + x : (y * width + x) * channels + channel;
  }
};

/// A picture of that many channels, rows and columns in that layout.
template <class T, layout Layout, std::size_t Channels, std::size_t Height, std::size_t Width>
using picture_tensor =
    std::conditional_t<Layout == layout::chw, tensor<T, Channels, Height, Width>, tensor<T, Height, Width, Channels>>;

namespace detail {

/// How many of the options are a `T`, and the one that is.
template <class T, auto... Options>
inline constexpr std::size_t options_of = (std::size_t{0} + ... + std::same_as<T, decltype(Options)>);
template <class T, T Otherwise, auto... Options>
consteval T option_or() {
  T found = Otherwise;
  [[maybe_unused]] const auto look = [&](auto option) {
    if constexpr (std::same_as<T, decltype(option)>) found = option;
  };
  (look(Options), ...);
  return found;
}
template <auto... Options>
inline constexpr layout layout_in = option_or<layout, layout::chw, Options...>();

/// An op that was not told the layout: it takes nothing, and says how to tell it.
template <class Op, fixed_string Write>
struct layout_unstated_op : weightless_op {
  static constexpr std::string_view kind = Op::kind;
  static constexpr std::string_view expects = Op::expects;
  static constexpr axes_unstated takes_axes{};
  static constexpr std::string_view says_axes = Write.view();
};

/// The op as a stage if the options state the layout.
template <fixed_string Name, fixed_string Write, auto... Options>
constexpr auto picture_stage(const auto& op) {
  using op_type = std::remove_cvref_t<decltype(op)>;
  if constexpr (options_of<layout, Options...> == 1)
    return op_stage<Name, op_type>{op, {}};
  else
    return op_stage<Name, layout_unstated_op<op_type, Write>>{};
}

}  // namespace detail

}  // namespace levada
