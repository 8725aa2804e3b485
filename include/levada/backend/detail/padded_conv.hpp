// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/padded_conv.hpp: zeros around a picture and the convolution that takes it as one convolution, whose
// own padding they become.

#include <cstddef>
#include <type_traits>

#include <levada/core/detail/type_list.hpp>
#include <levada/nn/conv2d.hpp>
#include <levada/nn/move.hpp>

namespace levada::detail {

template <class T>
inline constexpr bool is_padding = false;
template <std::size_t... Sides>
inline constexpr bool is_padding<padding<Sides...>> = true;

template <class Pad, class Conv>
struct padded_more;
template <std::ptrdiff_t Top, std::ptrdiff_t Left, std::ptrdiff_t Bottom, std::ptrdiff_t Right, std::size_t Filters,
          class... Options>
  requires(Top >= 0 && Left >= 0 && Bottom >= 0 && Right >= 0)
struct padded_more<pad_op<pad_mode::zeros, 0, Top, Left, 0, Bottom, Right>, conv2d_op<Filters, Options...>> {
  static constexpr window2d window = conv2d_op<Filters, Options...>::window;
  static constexpr std::size_t sum(std::size_t own, std::ptrdiff_t more) {
    return own + static_cast<std::size_t>(more);
  }
  using sides =
      padding<sum(window.top, Top), sum(window.left, Left), sum(window.bottom, Bottom), sum(window.right, Right)>;

  template <class... Kept>
  static auto with(type_list<Kept...>) -> conv2d_op<Filters, Kept..., sides>;
  using type = decltype(with(
      concatenated<std::conditional_t<is_padding<Options>, type_list<>, type_list<Options>>..., type_list<>>()));
};
/// The convolution whose padding has the zeros of `Pad` besides.
template <class Pad, class Conv>
using padded_more_t = typename padded_more<Pad, Conv>::type;

}  // namespace levada::detail
