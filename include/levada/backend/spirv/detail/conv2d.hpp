// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/conv2d.hpp: convolution, with the element-wise ops behind it at its end. Many filters of many
// taps are a tiled matrix product, weights by the pixels under each tap; else an invocation computes one pixel of a few
// filters, which share what they read. Both add up in the order of the definition.

#include <algorithm>

#include <levada/backend/spirv/detail/element_wise.hpp>
#include <levada/backend/spirv/detail/grid.hpp>
#include <levada/backend/spirv/detail/kernel_end.hpp>
#include <levada/backend/spirv/detail/product.hpp>
#include <levada/nn/conv2d.hpp>

namespace levada {

namespace detail {

/// A convolution of `In`, C, H, W, as numbers. `Op` is conv2d_op or has the same members.
template <class In, class Op>
struct conv_shapes {
  static constexpr window2d window = Op::window;
  static constexpr std::size_t channels = In::extents[0] / Op::groups,
                               filters = Op::filters / Op::groups;  // of a group
  static constexpr std::size_t rows = window.output_rows(In::extents[1]),
                               columns = window.output_columns(In::extents[2]);
  static constexpr bool is_padded = window.top + window.left + window.bottom + window.right != 0;

  using tiles = tiled_product<filters, rows * columns, channels * window.taps(), Op::groups>;

  /// How many filters an invocation computes without tiles.
  static constexpr std::size_t filters_each = [] {
    for (std::size_t count = 4; count > 1; count /= 2)
      if (filters % count == 0 && count * window.taps() <= 100) return count;
    return std::size_t{1};
  }();

  using weight = tensor<float, Op::filters, channels, window.height, window.width>;
  using bias = tensor<float, Op::filters>;
  using over = std::conditional_t<tiles::pays, typename tiles::over, grid<columns, rows, Op::filters / filters_each>>;

  /// What the window's tap sees that stands at this place of the picture.
  template <class Image, class C, class Y, class X>
  static constexpr auto pixel(const Image& in, const C& channel, const Y& y, const X& x) {
    if constexpr (is_padded)
      return in.padded(channel, y, x);
    else
      return in(channel, y, x);
  }
};

/// The place of a tap along an axis, by its number and that of the output.
template <class V, class K>
constexpr auto tap_place(const V& index, const K& tap, std::size_t stride, std::size_t before, std::size_t dilation) {
  return index * static_cast<int>(stride) - static_cast<int>(before) + tap * static_cast<int>(dilation);
}

template <class In, class Op, class End>
struct conv2d_source {
  [[no_unique_address]] End end;

  using s = conv_shapes<In, Op>;
  static constexpr window2d w = Op::window;

  template <class G, class Image, class Weight, class Bias, class... Rest>
  constexpr void operator()(const G& g, const Image& in, const Weight& weight, const Bias& bias,
                            const Rest&... rest) const {
    if constexpr (s::tiles::pays)
      by_tiles(g, in, weight, bias, end.into(rest...));
    else
      by_pixels(g, in, weight, bias, end.into(rest...));
  }

 private:
  static constexpr std::size_t most_unrolled = 49;
  static constexpr int channels = static_cast<int>(s::channels), filters = static_cast<int>(s::filters);

  template <class G, class Image, class Weight, class Bias, class Store>
  constexpr void by_tiles(const G& g, const Image& in, const Weight& weight, const Bias& bias, Store store) const {
    constexpr int columns = static_cast<int>(s::columns), width = static_cast<int>(w.width),
                  taps = static_cast<int>(w.taps());
    const auto group = g.z();
    s::tiles::run(
        g, [&](const auto& filter) { return bias(group * filters + filter); },
        [&](const auto& filter, const auto& k) {
          return weight(group * filters + filter, k / taps, k % taps / width, k % width);
        },
        [&](const auto& k, const auto& pixel) {
          const auto y = tap_place(pixel / columns, k % taps / width, w.stride_y, w.top, w.dilation_y);
          const auto x = tap_place(pixel % columns, k % width, w.stride_x, w.left, w.dilation_x);
          return s::pixel(in, group * channels + k / taps, y, x);
        },
        [&](const auto& filter, const auto& pixel, const auto& sum) { store(group * filters + filter, pixel, sum); });
  }

  template <class G, class Image, class Weight, class Bias, class Store>
  constexpr void by_pixels(const G& g, const Image& in, const Weight& weight, const Bias& bias, Store store) const {
    const auto x = g.x(), y = g.y(), first = g.z() * static_cast<int>(s::filters_each);
    const auto sums = g.fold(0, channels, each_filter([&](int f) { return bias(first + f); }), [&](auto c, auto sum) {
      auto channel = c;
      if constexpr (Op::groups > 1) channel = first / filters * channels + c;
      const auto row = [&](auto ky, auto part) {
        for (int kx = 0; kx < static_cast<int>(w.width); ++kx) {
          const auto seen = s::pixel(in, channel, tap_place(y, ky, w.stride_y, w.top, w.dilation_y),
                                     tap_place(x, kx, w.stride_x, w.left, w.dilation_x));
          for (std::size_t f = 0; f < s::filters_each; ++f)
            part[f] += seen * weight(first + static_cast<int>(f), c, ky, kx);
        }
        return part;
      };
      if constexpr (w.taps() <= most_unrolled) {
        for (int ky = 0; ky < static_cast<int>(w.height); ++ky) sum = row(ky, sum);
        return sum;
      } else {
        return g.fold(0, static_cast<int>(w.height), sum, row);
      }
    });
    for (std::size_t f = 0; f < s::filters_each; ++f)
      store(first + static_cast<int>(f), y * static_cast<int>(s::columns) + x, sums[f]);
  }

  template <class F>
  static constexpr auto each_filter(F f) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array{f(static_cast<int>(I))...};
    }(std::make_index_sequence<s::filters_each>());
  }
};

/// `In` as a picture: of one row where it has two axes.
template <class In>
struct as_picture {
  using type = In;
};
template <class T, std::size_t C, std::size_t L>
struct as_picture<tensor<T, C, L>> {
  using type = tensor<T, C, 1, L>;
};

/// A convolution whose weights are those that are given; its picture is the input `picture_at`.
template <class In, class Op>
struct conv_base : dispatch_kernel {
  using picture = typename as_picture<In>::type;
  using s = conv_shapes<picture, Op>;
  template <class F, operand_layout... Operands>
  using end_of = kernel_end<F, Op::filters, s::rows * s::columns, Operands...>;

  static constexpr std::size_t weight_bytes = sizeof(typename s::weight) + sizeof(typename s::bias);

  /// Gives elements of that type.
  template <class Element, class End, std::size_t Operands>
  void add_with_end(const float* weight, const float* bias, const End& end, std::size_t picture_at,
                    const std::array<std::size_t, Operands>& operands) {
    add_bound_grid<"conv", typename End::template inputs<picture, typename s::weight, typename s::bias>,
                   typename End::template output<Element>, typename s::over>(
        *this, conv2d_source<picture, Op, End>{end},
        End::bound({{buffer_role::input, 0, nullptr, 0, picture_at},
                    {buffer_role::weights, 0, weight},
                    {buffer_role::weights, 0, bias}},
                   operands));
  }
};

/// With the element-wise ops of a run at its end.
template <class In, class Op, class... End>
struct conv_kernel : conv_base<In, Op> {
  using out_type = run_output_t<typename Op::template output<In>, End...>;

 protected:
  void add(const float* weight, const float* bias, const End&... end) {
    this->in_bytes = sizeof(In);
    this->out_bytes = sizeof(out_type);
    using end_type = typename conv_base<In, Op>::template end_of<fused_t<End...>>;
    this->template add_with_end<typename out_type::value_type>(weight, bias, end_type{fused<End...>::of(end...)}, 0,
                                                               std::array<std::size_t, 0>{});
  }
};

/// The ops behind a convolution of float are fused into its end.
template <class In, class Op, class... End>
concept device_conv_run = op_takes<Op, In> && std::same_as<typename In::value_type, float> &&
                          give_words<float, typename Op::template output<In>, End...> && pushable<fused_t<End...>>;

}  // namespace detail

template <class In, std::size_t Filters, class... Options, class... End>
  requires detail::device_conv_run<In, conv2d_op<Filters, Options...>, End...>
struct spirv_kernel<In, conv2d_op<Filters, Options...>, End...>
    : detail::conv_kernel<In, conv2d_op<Filters, Options...>, End...> {
  using op_type = conv2d_op<Filters, Options...>;

  spirv_kernel(const op_type&, const End&... end, parameter_values p) {
    this->add(p.template get<float>(0), op_type::has_bias ? p.template get<float>(1) : nullptr, end...);
  }
};

}  // namespace levada
