// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/conv_run.hpp: a convolution and what follows it in the same kernel, as constants that all
// ways of computing it read: by channels, columns, panels, rows and Winograd's transforms (conv_by_*.hpp).

#include <algorithm>

#include <levada/backend/simd/detail/tail.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/nn/conv2d.hpp>

namespace levada::detail {

/// A picture whose channels are to be scaled: in the place of the tensor that would be.
template <class In>
struct scaled_picture {
  using value_type = typename In::value_type;
  static constexpr std::size_t rank = In::rank, elements = In::elements;
  static constexpr const auto& extents = In::extents;

  const value_type *picture, *scale;

  const value_type* data() const { return picture; }
};
/// A picture whose channels are to be filtered, each by itself: in the place of the tensor that would be. `Front`
/// computes some rows of a channel.
template <class In, class Front>
struct filtered_picture {
  using value_type = typename In::value_type;
  static constexpr std::size_t rank = In::rank, elements = In::elements;
  static constexpr const auto& extents = In::extents;

  const value_type* picture;
  const Front* front;

  const value_type* data() const { return picture; }
};

template <class In>
inline constexpr bool is_scaled = false;
template <class In>
inline constexpr bool is_scaled<scaled_picture<In>> = true;

template <class In>
struct front_of : type_tag<void> {};
template <class In, class Front>
struct front_of<filtered_picture<In, Front>> : type_tag<Front> {};

}  // namespace levada::detail

namespace levada {
/// To the rules of ops it is the tensor.
template <class In>
inline constexpr bool is_tensor<detail::scaled_picture<In>> = true;
template <class In, class Front>
inline constexpr bool is_tensor<detail::filtered_picture<In, Front>> = true;
}  // namespace levada

namespace levada::detail {

/// What changes a picture while it is packed: the factors of its channels, or the front; null where nothing does.
template <class In>
auto change_of([[maybe_unused]] const In& in) {
  if constexpr (is_scaled<In>)
    return in.scale;
  else if constexpr (!std::is_void_v<typename front_of<In>::type>)
    return in.front;
  else
    return static_cast<const typename In::value_type*>(nullptr);
}

template <class In, class Conv, class... Tail>
struct conv_run {
  using value = typename In::value_type;
  using result = value;

  static constexpr op_tail tail = op_tail_of<Tail...>();
  static constexpr bool scales = is_scaled<In>;
  using front = typename front_of<In>::type;
  static constexpr window2d window = Conv::window, pool = tail.pool;
  static constexpr bool relu = tail.relu;
  static constexpr std::size_t channels = In::extents[0], height = In::extents[1], width = In::extents[2];
  static constexpr std::size_t filters = Conv::filters;
  /// The output's, after the pool.
  static constexpr std::size_t rows = pool.output_rows(window.output_rows(height));
  static constexpr std::size_t columns = pool.output_columns(window.output_columns(width));

  /// Which rows of the window lie on the picture for one row of the convolution, and where the first is.
  struct taps {
    std::size_t first, end, row;
  };
  LEVADA_INLINE static constexpr taps taps_of(std::size_t y) {
    constexpr window2d w = window;
    const std::size_t top = y * w.stride_y;
    if constexpr (w.top == 0 && w.bottom == 0) {
      return {0, w.height, top};
    } else {
      const std::size_t first = top >= w.top ? 0 : ceil_div(w.top - top, w.dilation_y);
      const std::size_t below = height + w.top > top ? ceil_div(height + w.top - top, w.dilation_y) : 0;
      const std::size_t end = std::min(w.height, below);
      return {first, end, first < end ? top + first * w.dilation_y - w.top : 0};
    }
  }

  /// Inputs times weights, added to a sum.
  template <class Arch>
  LEVADA_INLINE static vector<value, Arch> add_products(const vector<value, Arch>& inputs,
                                                        const vector<value, Arch>& weights,
                                                        const vector<value, Arch>& sum) {
    return multiply_add(inputs, weights, sum);
  }

  /// The sum of the convolution's bias and the bias op's.
  static value bias(const parameter_values& p, std::size_t filter) {
    value sum = 0;
    if constexpr (Conv::has_bias) sum += p.get<value>(1)[filter];
    if constexpr (tail.bias) sum += p.get<value>(Conv::has_bias ? 2 : 1)[filter];
    return sum;
  }
  static value weight(const parameter_values& p, std::size_t f, std::size_t c, std::size_t ky, std::size_t kx) {
    return p.get<value>(0)[((f * channels + c) * window.height + ky) * window.width + kx];
  }
};

/// The run scales its inputs while it packs them: each channel by a number of the item's.
template <class Run>
inline constexpr bool scales_input = requires { requires Run::scales; };

/// The run filters its inputs while it packs them.
template <class Run>
inline constexpr bool filters_input = requires { sizeof(typename Run::front); };

/// The window is one element and no pool follows: outputs are products of pixels and weights alone.
template <class Run>
inline constexpr bool is_pointwise =
    Run::window.taps() == 1 && Run::window.top == 0 && Run::window.left == 0 && Run::window.bottom == 0 &&
    Run::window.right == 0 && Run::pool.height * Run::pool.width == 1;

/// Registers that the products of a run take beside their factors and sums.
template <class Arch, class Run>
inline constexpr std::size_t registers_of_products = 0;
template <class Arch, class Run>
  requires requires { Run::template registers_of_products<Arch>; }
inline constexpr std::size_t registers_of_products<Arch, Run> = Run::template registers_of_products<Arch>;

/// How `count` things fall into blocks of `block` and a rest, at the cost of each.
template <class Cost>
constexpr std::size_t blocks_cost(std::size_t count, std::size_t block, Cost cost) {
  return count / block * cost(block) + (count % block != 0 ? cost(count % block) : 0);
}

/// The cycles, doubled, of one tap in a register tile: two multiply-adds and two loads a cycle, and nine multiply-adds
/// in flight to cover their latency. (Eight would, if no load came late.)
constexpr std::size_t tap_cost(std::size_t multiply_adds, std::size_t loads) {
  return std::max({multiply_adds, loads, std::size_t{9}});
}

/// Calls `f(0) ... f(N - 1)`, unrolled for few taps and in a loop for many.
template <std::size_t N, class F>
LEVADA_INLINE inline void for_each_tap(F&& f) {
  if constexpr (N <= 7)
    unrolled<N>(f);
  else
    for (std::size_t i = 0; i < N; ++i) f(i);
}

}  // namespace levada::detail
