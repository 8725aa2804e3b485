// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/conv2d.hpp: convolution, one invocation for each output, with the element-wise ops behind it at its end.

#include <levada/backend/spirv/element_wise.hpp>
#include <levada/backend/spirv/grid.hpp>
#include <levada/nn/conv2d.hpp>

namespace levada {

namespace detail {

template <class In, class Op, class End>
struct conv2d_source {
  [[no_unique_address]] End end;

  template <class G, class Image, class Weight, class Bias, class Out>
  constexpr void operator()(const G& g, const Image& in, const Weight& weight, const Bias& bias, const Out& out) const {
    constexpr window2d w = Op::window;
    constexpr int channels = static_cast<int>(In::extents[0] / Op::groups);
    constexpr int group_filters = static_cast<int>(Op::filters / Op::groups);
    const auto x = g.x(), y = g.y(), filter = g.z();
    const auto left = x * static_cast<int>(w.stride_x) - static_cast<int>(w.left);
    const auto top = y * static_cast<int>(w.stride_y) - static_cast<int>(w.top);
    const auto sum = g.fold(0, channels, bias(filter), [&](auto c, auto s) {
      auto channel = c;
      if constexpr (Op::groups > 1) channel = filter / group_filters * channels + c;
      const auto row = [&](auto ky, auto from) {
        auto part = g.value(from);
        for (int kx = 0; kx < static_cast<int>(w.width); ++kx) {
          const auto py = top + ky * static_cast<int>(w.dilation_y), px = left + kx * static_cast<int>(w.dilation_x);
          if constexpr (w.top + w.left + w.bottom + w.right == 0)
            part += in(channel, py, px) * weight(filter, c, ky, kx);
          else
            part += in.padded(channel, py, px) * weight(filter, c, ky, kx);
        }
        return part;
      };
      if constexpr (w.taps() <= most_unrolled) {
        auto rows = g.value(s);
        for (int ky = 0; ky < static_cast<int>(w.height); ++ky) rows = row(ky, rows);
        return rows;
      } else {
        return g.fold(0, static_cast<int>(w.height), s, row);
      }
    });
    out(filter, y, x) = end(sum);
  }

 private:
  static constexpr std::size_t most_unrolled = 49;
};

}  // namespace detail

template <class In, std::size_t Filters, class... Options, class... End>
  requires op_takes<conv2d_op<Filters, Options...>, In> && std::same_as<typename In::value_type, float> &&
           (detail::give_words<float, typename conv2d_op<Filters, Options...>::template output<In>, End...>) &&
           detail::pushable<detail::fused_t<End...>>
struct spirv_kernel<In, conv2d_op<Filters, Options...>, End...> : dispatch_kernel {
  using op_type = conv2d_op<Filters, Options...>;
  using convolved = typename op_type::template output<In>;
  using out_type = run_output_t<convolved, End...>;
  using weight =
      tensor<float, Filters, In::extents[0] / op_type::groups, op_type::window.height, op_type::window.width>;
  using bias = tensor<float, Filters>;

  static constexpr std::size_t weight_bytes = sizeof(weight) + sizeof(bias);

  spirv_kernel(const op_type&, const End&... end, parameter_values p) {
    using source = detail::conv2d_source<In, op_type, detail::fused_t<End...>>;
    // One invocation for each output; the elements that the ops behind make of them may have another type.
    using made = with_element_t<typename out_type::value_type, convolved>;
    using over = grid<made::extents[2], made::extents[1], made::extents[0]>;
    in_bytes = sizeof(In);
    out_bytes = sizeof(out_type);
    add_grid<"conv2d", In, made, over, weight, bias>(
        *this, source{detail::fused<End...>::of(end...)},
        {p.template get<float>(0), op_type::has_bias ? p.template get<float>(1) : nullptr});
  }
};

}  // namespace levada
