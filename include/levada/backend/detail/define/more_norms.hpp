// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/more_norms.hpp: the norms of nn/normalize.hpp as their definitions.

#include <algorithm>
#include <cmath>
#include <new>

#include <levada/backend/detail/define/along_axis.hpp>
#include <levada/backend/detail/define/norms.hpp>
#include <levada/nn/normalize.hpp>

namespace levada {

namespace detail {

/// How many elements the axes from `Axis` on have.
template <class In, std::ptrdiff_t Axis>
inline constexpr std::size_t row_from_axis = layer_norm_op<Axis>::template parameters<In>[0].extents.elements();

}  // namespace detail

template <class Backend, class In, std::ptrdiff_t Axis>
  requires op_takes<plain_layer_norm_op<Axis>, In>
struct definition<Backend, In, plain_layer_norm_op<Axis>> {
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  definition(const plain_layer_norm_op<Axis>& op, parameter_values) : epsilon_(static_cast<value>(op.epsilon)) {}

  void operator()(const In& in, In& out, std::byte*) const {
    constexpr std::size_t row = detail::row_from_axis<In, Axis>;
    for (std::size_t i = 0; i < In::elements; i += row)
      detail::normalise<Backend>(in.data() + i, out.data() + i, row, epsilon_);
  }

 private:
  value epsilon_;
};

template <class Backend, class In, std::size_t Groups>
  requires op_takes<group_norm_op<Groups>, In>
struct definition<Backend, In, group_norm_op<Groups>> {
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  definition(const group_norm_op<Groups>& op, parameter_values p) : epsilon_(static_cast<value>(op.epsilon)) {
    std::copy_n(p.get<value>(0), channels, scale_.begin());
    std::copy_n(p.get<value>(1), channels, bias_.begin());
  }

  void operator()(const In& in, In& out, std::byte*) const {
    constexpr std::size_t row = In::elements / Groups;
    for (std::size_t i = 0; i < In::elements; i += row)
      detail::normalise<Backend>(in.data() + i, out.data() + i, row, epsilon_);
    for (std::size_t i = 0; i < In::elements; ++i) {
      const std::size_t c = i / (In::elements / channels);
      out[i] = out[i] * scale_[c] + bias_[c];
    }
  }

 private:
  static constexpr std::size_t channels = In::extents[0];

  value epsilon_;
  tensor<value, channels> scale_, bias_;
};

template <class Backend, class In, std::ptrdiff_t Axis>
  requires op_takes<rms_norm_op<Axis>, In>
struct definition<Backend, In, rms_norm_op<Axis>> {
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  definition(const rms_norm_op<Axis>& op, parameter_values p) : epsilon_(static_cast<value>(op.epsilon)) {
    std::copy_n(p.get<value>(0), row, scale_.begin());
  }

  void operator()(const In& in, In& out, std::byte*) const {
    for (std::size_t first = 0; first < In::elements; first += row) {
      value squares = 0;
      for (std::size_t i = 0; i < row; ++i) squares += in[first + i] * in[first + i];
      const value root = std::sqrt(squares / static_cast<value>(row) + epsilon_);
      for (std::size_t i = 0; i < row; ++i) out[first + i] = in[first + i] / root * scale_[i];
    }
  }

 private:
  static constexpr std::size_t row = detail::row_from_axis<In, Axis>;

  value epsilon_;
  tensor<value, row> scale_;
};

template <class Backend, class In, std::ptrdiff_t Axis, unsigned P>
  requires op_takes<lp_norm_op<Axis, P>, In>
struct definition<Backend, In, lp_norm_op<Axis, P>> : detail::plain_definition<lp_norm_op<Axis, P>> {
  using detail::plain_definition<lp_norm_op<Axis, P>>::plain_definition;
  using value = typename In::value_type;

  void operator()(const In& in, In& out, std::byte*) const {
    detail::for_each_row<In, Axis>([&](auto row, std::size_t) {
      value sum = 0;
      for (std::size_t i = 0; i < row.length; ++i) sum += P == 1 ? std::abs(in[row[i]]) : in[row[i]] * in[row[i]];
      const value norm = P == 1 ? sum : std::sqrt(sum);
      for (std::size_t i = 0; i < row.length; ++i) out[row[i]] = norm == 0 ? value{0} : in[row[i]] / norm;
    });
  }
};

template <class Backend, class In, std::ptrdiff_t... Axes>
  requires op_takes<mean_variance_norm_op<Axes...>, In>
struct definition<Backend, In, mean_variance_norm_op<Axes...>>
    : detail::plain_definition<mean_variance_norm_op<Axes...>> {
  using detail::plain_definition<mean_variance_norm_op<Axes...>>::plain_definition;
  using value = typename In::value_type;
  using reduced = typename reduce_op<reduction::mean, reduced_axes::keep, Axes...>::template output<In>;

  static constexpr std::size_t scratch_bytes = 2 * sizeof(reduced);

  void operator()(const In& in, In& out, std::byte* scratch) const {
    reduced& mean = *::new (static_cast<void*>(scratch)) reduced;
    reduced& variance = *::new (static_cast<void*>(scratch + sizeof(reduced))) reduced;
    constexpr value count = static_cast<value>(In::elements / reduced::elements);
    mean.fill(0), variance.fill(0);
    each([&](std::size_t i, std::size_t at) { mean[at] += in[i] / count; });
    each([&](std::size_t i, std::size_t at) { variance[at] += (in[i] - mean[at]) * (in[i] - mean[at]) / count; });
    each(
        [&](std::size_t i, std::size_t at) { out[i] = (in[i] - mean[at]) / (std::sqrt(variance[at]) + value{1e-9f}); });
  }

 private:
  /// Calls `f(element, where it is joined)`.
  template <class F>
  static void each(F f) {
    std::size_t i = 0;
    detail::for_each_index(shape_of<In>, [&](const shape& index) {
      std::size_t at = 0;
      for (std::size_t axis = 0; axis < In::rank; ++axis)
        if ((detail::axes_mask<Axes...>(In::rank) >> axis & 1) == 0) at = at * In::extents[axis] + index[axis];
      f(i++, at);
    });
  }
};

template <class Backend, class In, std::size_t Size>
  requires op_takes<lrn_op<Size>, In>
struct definition<Backend, In, lrn_op<Size>> {
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  definition(const lrn_op<Size>& op, parameter_values) : op_(op) {}

  void operator()(const In& in, In& out, std::byte*) const {
    constexpr std::size_t channels = In::extents[0], plane = In::elements / channels, before = (Size - 1) / 2;
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t i = 0; i < plane; ++i) {
        value squares = 0;
        for (std::size_t d = c > before ? c - before : 0; d < std::min(channels, c + Size - before); ++d)
          squares += in[d * plane + i] * in[d * plane + i];
        const value scale = static_cast<value>(op_.bias) + static_cast<value>(op_.alpha) / value{Size} * squares;
        out[c * plane + i] = in[c * plane + i] / std::pow(scale, static_cast<value>(op_.beta));
      }
  }

 private:
  lrn_op<Size> op_;
};

}  // namespace levada
