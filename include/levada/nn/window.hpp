// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/window.hpp: the attributes of ops that slide a window over height and width, as types in any order
// (`conv2d<"c", 8, size<5, 5>, padding<2>>`) and as the plain value that shape rules and kernels read.

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <levada/graph/detail/said_once.hpp>
#include <levada/graph/detail/window2d.hpp>

namespace levada {

/// The window's size.
template <std::size_t Height, std::size_t Width = Height>
  requires(Height > 0 && Width > 0)
struct size {
  static constexpr void apply(window2d& w) { w.height = Height, w.width = Width; }
};

/// The step between windows. Convolutions default to 1, pools to the size of the window.
template <std::size_t Y, std::size_t X = Y>
  requires(Y > 0 && X > 0)
struct stride {
  static constexpr void apply(window2d& w) { w.stride_y = Y, w.stride_x = X; }
};

/// Rows and columns added around the image: `padding<all>`, `padding<y, x>` (above and below, left and right) or, in
/// ONNX's order, `padding<top, left, bottom, right>`; of a conv1d `padding<begin, end>`. A convolution sees zeros
/// there, a pool nothing.
template <std::size_t... Sides>
  requires(sizeof...(Sides) == 1 || sizeof...(Sides) == 2 || sizeof...(Sides) == 4)
struct padding {
  static constexpr void apply(window2d& w) {
    constexpr std::size_t sides[] = {Sides...};
    constexpr std::size_t last = sizeof...(Sides) - 1;
    w.top = sides[0], w.left = sides[last < 1 ? 0 : 1];
    w.bottom = sides[last < 3 ? 0 : 2], w.right = sides[last];
  }
};

/// The step between taps inside the window.
template <std::size_t Y, std::size_t X = Y>
  requires(Y > 0 && X > 0)
struct dilation {
  static constexpr void apply(window2d& w) { w.dilation_y = Y, w.dilation_x = X; }
};

/// Convolution only: channels and filters fall into so many groups that do not see each other.
template <std::size_t Count>
  requires(Count > 0)
struct groups {
  static constexpr std::size_t count = Count;
};

/// The op has no bias parameter.
struct no_bias {};

template <class T>
concept window_option = requires(window2d& w) { T::apply(w); };

namespace detail {

template <std::size_t A, std::size_t B, std::size_t C, std::size_t D>
inline constexpr bool say_the_same<size<A, B>, size<C, D>> = true;
template <std::size_t A, std::size_t B, std::size_t C, std::size_t D>
inline constexpr bool say_the_same<stride<A, B>, stride<C, D>> = true;
template <std::size_t... One, std::size_t... Other>
inline constexpr bool say_the_same<padding<One...>, padding<Other...>> = true;
template <std::size_t A, std::size_t B, std::size_t C, std::size_t D>
inline constexpr bool say_the_same<dilation<A, B>, dilation<C, D>> = true;
template <std::size_t One, std::size_t Other>
inline constexpr bool say_the_same<groups<One>, groups<Other>> = true;

template <class T>
inline constexpr std::size_t group_count = 0;
template <std::size_t Count>
inline constexpr std::size_t group_count<groups<Count>> = Count;

/// Those of the options that speak of the window.
template <class... Options>
consteval void apply_options(window2d& window) {
  const auto apply = [&]<class Option>(std::type_identity<Option>) {
    if constexpr (window_option<Option>) Option::apply(window);
  };
  (apply(std::type_identity<Options>()), ...);
}

template <class... Options>
consteval window2d convolution_window() {
  window2d window;
  apply_options<Options...>(window);
  return window;
}

/// As above, with strides of the window's size unless the options say otherwise.
template <class... Options>
consteval window2d pool_window() {
  window2d window = convolution_window<Options...>();
  window.stride_y = window.height, window.stride_x = window.width;
  apply_options<Options...>(window);
  return window;
}

}  // namespace detail
}  // namespace levada
