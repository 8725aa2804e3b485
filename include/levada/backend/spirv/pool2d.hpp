// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/pool2d.hpp: the largest and the mean of each window, one invocation for each output.

#include <limits>

#include <levada/backend/spirv/element_wise.hpp>
#include <levada/backend/spirv/grid.hpp>
#include <levada/nn/pool2d.hpp>

namespace levada {

namespace detail {

/// Goes over the elements of a window that lie in the picture; others come as `Pool::outside`.
template <class Op, class Pool, class End>
struct pool2d_source {
  [[no_unique_address]] End end;

  template <class G, class Image, class Out>
  constexpr void operator()(const G& g, const Image& in, const Out& out) const {
    constexpr window2d w = Op::window;
    constexpr bool padded = w.top + w.left + w.bottom + w.right != 0;
    const auto x = g.x(), y = g.y(), channel = g.z();
    auto pooled = g.value(Pool::outside);
    for (std::size_t ky = 0; ky < w.height; ++ky)
      for (std::size_t kx = 0; kx < w.width; ++kx) {
        const auto row = y * static_cast<int>(w.stride_y) + (static_cast<int>(ky) - static_cast<int>(w.top));
        const auto column = x * static_cast<int>(w.stride_x) + (static_cast<int>(kx) - static_cast<int>(w.left));
        if constexpr (padded)
          pooled = Pool::with(pooled, in.padded_with(Pool::outside, channel, row, column));
        else
          pooled = Pool::with(pooled, in(channel, row, column));
      }
    out(channel, y, x) = end(pooled);
  }
};

struct largest_of_window {
  static constexpr float outside = -std::numeric_limits<float>::infinity();
  template <class V>
  static constexpr auto with(const V& largest, const V& x) {
    return select((x > largest) | is_nan(x), x, largest);
  }
};

}  // namespace detail

template <class In, class... Options, class... End>
  requires op_takes<max_pool2d_op<Options...>, In> && std::same_as<typename In::value_type, float> &&
           (max_pool2d_op<Options...>::window.taps() <= 256) &&
           (detail::give_words<float, typename max_pool2d_op<Options...>::template output<In>, End...>) &&
           detail::pushable<detail::fused_t<End...>>
struct spirv_kernel<In, max_pool2d_op<Options...>, End...> : dispatch_kernel {
  using op_type = max_pool2d_op<Options...>;
  using pooled = typename op_type::template output<In>;
  using out_type = run_output_t<pooled, End...>;

  spirv_kernel(const op_type&, const End&... end, parameter_values) {
    using source = detail::pool2d_source<op_type, detail::largest_of_window, detail::fused_t<End...>>;
    using made = with_element_t<typename out_type::value_type, pooled>;
    using over = grid<made::extents[2], made::extents[1], made::extents[0]>;
    in_bytes = sizeof(In);
    out_bytes = sizeof(out_type);
    add_grid<"max_pool2d", In, made, over>(*this, source{detail::fused<End...>::of(end...)});
  }
};

}  // namespace levada
