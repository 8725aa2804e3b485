// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/norm.hpp: rows brought to a mean and a spread, and channels to a factor and an offset of their
// own. Element-wise ops fuse into their end.

#include <cmath>

#include <levada/backend/spirv/detail/elements.hpp>
#include <levada/backend/spirv/detail/rows.hpp>
#include <levada/image/normalize.hpp>
#include <levada/nn/bias.hpp>
#include <levada/nn/norm.hpp>

namespace levada {

namespace detail {

template <class Team, bool OneARow, class End>
struct row_norm_source {
  uniform<float> epsilon;
  [[no_unique_address]] End end;

  template <class G, class In, class Scale, class Bias, class Out>
  constexpr void operator()(const G& g, const In& in, const Scale& scale, const Bias& bias, const Out& out) const {
    const auto row = Team::row(g);
    const auto plus = [](auto s, auto t) { return s + t; };
    constexpr float length = static_cast<float>(Team::length);
    const auto mean = Team::fold(
                          g, 0.0f, [&](auto i, auto s) { return s + in(row, i); }, plus) /
                      length;
    const auto squares = [&](auto i, auto s) {
      const auto d = in(row, i) - mean;
      return s + d * d;
    };
    const auto spread = sqrt(Team::fold(g, 0.0f, squares, plus) / length + epsilon);
    Team::each(g, [&](auto i) {
      const auto& of = [&]() -> const auto& {
        if constexpr (OneARow)
          return row;
        else
          return i;
      }();
      out(row, i) = end((in(row, i) - mean) / spread * scale(of) + bias(of));
    });
  }
};

template <class In, class Op, std::size_t Length, class... End>
struct row_norm_kernel : dispatch_kernel {
  using out_type = run_output_t<In, End...>;
  static constexpr std::size_t rows = In::elements / Length;
  static constexpr bool one_a_row = std::same_as<Op, instance_norm_op>;
  using parameter = tensor<float, one_a_row ? rows : Length>;

  static constexpr std::size_t weight_bytes = 2 * sizeof(parameter);

  row_norm_kernel(const Op& op, const End&... end, parameter_values p) {
    using team = row_team<rows, Length>;
    in_bytes = sizeof(In);
    out_bytes = sizeof(out_type);
    add_grid<"norm", tensor<float, rows, Length>, tensor<typename out_type::value_type, rows, Length>,
             typename team::over, parameter, parameter>(
        *this,
        row_norm_source<team, one_a_row, fused_t<End...>>{{static_cast<float>(op.epsilon)}, fused<End...>::of(end...)},
        {p.get<float>(0), p.get<float>(1)});
  }
};

template <class In, class... End>
concept float_run = any_tensor<In> && std::same_as<typename In::value_type, float> && give_words<float, In, End...> &&
                    pushable<fused_t<End...>>;

}  // namespace detail

template <class In, class... End>
  requires op_takes<instance_norm_op, In> && detail::float_run<In, End...>
struct spirv_kernel<In, instance_norm_op, End...>
    : detail::row_norm_kernel<In, instance_norm_op, In::elements / In::extents[0], End...> {
  using detail::row_norm_kernel<In, instance_norm_op, In::elements / In::extents[0], End...>::row_norm_kernel;
};

template <class In, std::ptrdiff_t Axis, class... End>
  requires op_takes<layer_norm_op<Axis>, In> && detail::float_run<In, End...>
struct spirv_kernel<In, layer_norm_op<Axis>, End...>
    : detail::row_norm_kernel<In, layer_norm_op<Axis>,
                              layer_norm_op<Axis>::template parameters<In>[0].extents.elements(), End...> {
  using detail::row_norm_kernel<In, layer_norm_op<Axis>,
                                layer_norm_op<Axis>::template parameters<In>[0].extents.elements(),
                                End...>::row_norm_kernel;
};

namespace detail {

/// Each channel times its factor plus its offset.
template <class End>
struct channels_source {
  [[no_unique_address]] End end;

  template <class G, class In, class Factor, class Offset, class Out>
  constexpr void operator()(const G& g, const In& in, const Factor& factor, const Offset& offset,
                            const Out& out) const {
    out(g.y(), g.x()) = end(to_float(in(g.y(), g.x())) * factor(g.y()) + offset(g.y()));
  }
};

/// A batch norm as a factor and an offset of each channel; its parameters begin at `first`.
template <std::size_t Channels>
struct channel_line {
  tensor<float, Channels> factor, offset;

  channel_line(const batch_norm_op& op, parameter_values p, std::size_t first) {
    for (std::size_t c = 0; c < Channels; ++c) {
      factor[c] = p.get<float>(first)[c] / std::sqrt(p.get<float>(first + 3)[c] + static_cast<float>(op.epsilon));
      offset[c] = p.get<float>(first + 1)[c] - p.get<float>(first + 2)[c] * factor[c];
    }
  }
  channel_line(const bias_op&, parameter_values p, std::size_t first) {
    factor.fill(1);
    for (std::size_t c = 0; c < Channels; ++c) offset[c] = p.get<float>(first)[c];
  }
  channel_line(const normalize_op<Channels>& op, parameter_values, std::size_t) {
    for (std::size_t c = 0; c < Channels; ++c) {
      factor[c] = op.scale / op.deviation[c];
      offset[c] = -op.mean[c] / op.deviation[c];
    }
  }
};

template <class In, class Op, class... End>
struct channels_kernel : dispatch_kernel {
  using out_type = run_output_t<with_element_t<float, In>, End...>;
  static constexpr std::size_t channels = In::extents[0], plane = In::elements / channels;
  using parameter = tensor<float, channels>;

  static constexpr std::size_t weight_bytes = 2 * sizeof(parameter);

  channels_kernel(const Op& op, const End&... end, parameter_values p) {
    const channel_line<channels> line(op, p, 0);
    in_bytes = sizeof(In);
    out_bytes = sizeof(out_type);
    add_grid<"channels", tensor<typename In::value_type, channels, plane>,
             tensor<typename out_type::value_type, channels, plane>, grid<plane, channels>, parameter, parameter>(
        *this, channels_source<fused_t<End...>>{fused<End...>::of(end...)}, {line.factor.data(), line.offset.data()});
  }
};

/// Ops that are a factor and an offset of each channel.
template <class Op>
inline constexpr bool scales_channels = std::same_as<Op, batch_norm_op> || std::same_as<Op, bias_op>;
template <std::size_t Channels>
inline constexpr bool scales_channels<normalize_op<Channels>> = true;

}  // namespace detail

template <class In, class Op, class... End>
  requires(detail::scales_channels<Op> && op_takes<Op, In> && !std::same_as<typename In::value_type, double> &&
           detail::float_run<with_element_t<float, In>, End...>)
struct spirv_kernel<In, Op, End...> : detail::channels_kernel<In, Op, End...> {
  using detail::channels_kernel<In, Op, End...>::channels_kernel;
};

}  // namespace levada
