// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/pool2d.hpp: the largest and the mean of each window, one invocation for each output, with the
// element-wise ops behind it at its end.

#include <limits>

#include <levada/backend/spirv/detail/element_wise.hpp>
#include <levada/backend/spirv/detail/grid.hpp>
#include <levada/nn/pool2d.hpp>

namespace levada {

namespace detail {

/// Goes over the elements of a window; those beside the picture come as `Pool::outside`.
template <class In, class Op, class Pool, class End>
struct pool2d_source {
  [[no_unique_address]] End end;

  template <class G, class Image, class Out>
  constexpr void operator()(const G& g, const Image& in, const Out& out) const {
    constexpr int width = static_cast<int>(w.width), taps = static_cast<int>(w.taps());
    const auto x = g.x(), y = g.y(), channel = g.z();
    const auto row = [&](const auto& ky) {
      return y * static_cast<int>(w.stride_y) + ky * static_cast<int>(w.dilation_y) - static_cast<int>(w.top);
    };
    const auto column = [&](const auto& kx) {
      return x * static_cast<int>(w.stride_x) + kx * static_cast<int>(w.dilation_x) - static_cast<int>(w.left);
    };
    const auto with = [&](auto tap, auto pooled) {
      if constexpr (padded)
        return Pool::with(pooled, in.padded_with(Pool::outside, channel, row(tap / width), column(tap % width)));
      else
        return Pool::with(pooled, in(channel, row(tap / width), column(tap % width)));
    };
    const auto pooled = [&] {
      if constexpr (taps <= most_unrolled) {
        auto unrolled = g.value(Pool::outside);
        for (int tap = 0; tap < taps; ++tap) unrolled = with(tap, unrolled);
        return unrolled;
      } else {
        return g.fold(0, taps, Pool::outside, with);
      }
    }();
    if constexpr (!Pool::divides) {
      out(channel, y, x) = end(pooled);
    } else if constexpr (!padded || Pool::counts_padding) {
      out(channel, y, x) = end(pooled / static_cast<float>(taps));
    } else {
      const auto count = on_axis(g, w.height, row, In::extents[1]) * on_axis(g, w.width, column, In::extents[2]);
      out(channel, y, x) = end(pooled / to_float(count));
    }
  }

 private:
  static constexpr window2d w = Op::window;
  static constexpr bool padded = w.top + w.left + w.bottom + w.right != 0;
  static constexpr int most_unrolled = 64;

  /// How many taps of an axis lie on the picture.
  template <class G, class Place>
  static constexpr auto on_axis(const G& g, std::size_t taps, const Place& place, std::size_t extent) {
    return g.fold(0, static_cast<int>(taps), 0, [&](auto k, auto count) {
      return select(bit_cast_to_uint(place(k)) < static_cast<std::uint32_t>(extent), count + 1, count);
    });
  }
};

struct largest_of_window {
  static constexpr float outside = -std::numeric_limits<float>::infinity();
  static constexpr bool divides = false;
  template <class V>
  static constexpr auto with(const V& largest, const V& x) {
    return select((x > largest) | is_nan(x), x, largest);
  }
};
template <bool CountsPadding>
struct mean_of_window {
  static constexpr float outside = 0;
  static constexpr bool divides = true, counts_padding = CountsPadding;
  template <class V>
  static constexpr auto with(const V& sum, const V& x) {
    return sum + x;
  }
};

template <fixed_string Name, class In, class Op, class Pool, class... End>
struct pool2d_kernel : dispatch_kernel {
  using pooled = typename Op::template output<In>;
  using out_type = run_output_t<pooled, End...>;

  pool2d_kernel(const Op&, const End&... end, parameter_values) {
    using made = with_element_t<typename out_type::value_type, pooled>;
    using over = grid<made::extents[2], made::extents[1], made::extents[0]>;
    in_bytes = sizeof(In);
    out_bytes = sizeof(out_type);
    add_grid<Name, In, made, over>(*this, pool2d_source<In, Op, Pool, fused_t<End...>>{fused<End...>::of(end...)});
  }
};

template <class In, class Op, class... End>
concept device_pool_run = op_takes<Op, In> && std::same_as<typename In::value_type, float> &&
                          give_words<float, typename Op::template output<In>, End...> && pushable<fused_t<End...>>;

}  // namespace detail

template <class In, class... Options, class... End>
  requires detail::device_pool_run<In, max_pool2d_op<Options...>, End...>
struct spirv_kernel<In, max_pool2d_op<Options...>, End...>
    : detail::pool2d_kernel<"max_pool2d", In, max_pool2d_op<Options...>, detail::largest_of_window, End...> {
  using detail::pool2d_kernel<"max_pool2d", In, max_pool2d_op<Options...>, detail::largest_of_window,
                              End...>::pool2d_kernel;
};

template <class In, class... Options, class... End>
  requires detail::device_pool_run<In, avg_pool2d_op<Options...>, End...>
struct spirv_kernel<In, avg_pool2d_op<Options...>, End...>
    : detail::pool2d_kernel<"avg_pool2d", In, avg_pool2d_op<Options...>,
                            detail::mean_of_window<avg_pool2d_op<Options...>::counts_padding>, End...> {
  using detail::pool2d_kernel<"avg_pool2d", In, avg_pool2d_op<Options...>,
                              detail::mean_of_window<avg_pool2d_op<Options...>::counts_padding>, End...>::pool2d_kernel;
};

}  // namespace levada
