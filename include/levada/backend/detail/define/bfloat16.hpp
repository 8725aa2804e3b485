// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/bfloat16.hpp: conv2d, dense and other ops of bfloat16 as their definitions: rounded numbers,
// computed in float.

#include <algorithm>
#include <array>
#include <new>
#include <tuple>
#include <utility>

#include <levada/backend/detail/define/conv.hpp>
#include <levada/backend/detail/definition.hpp>
#include <levada/core/detail/exchange.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/nn/bfloat16.hpp>

namespace levada {

namespace detail {

/// The parameters of `Op` for an input of type `In`, the weights rounded to bfloat16.
template <class In, class Op>
class rounded_parameters {
 public:
  explicit rounded_parameters(const parameter_values& p)
      : weight_(Op::template parameters<In>[0].extents.elements(),
                [&](std::size_t i) { return static_cast<float>(bfloat16(p.get<float>(0)[i])); }) {
    all_[0] = weight_.begin();
    if constexpr (Op::has_bias) all_[1] = p.get<float>(1);
  }

  operator parameter_values() const { return parameter_values(all_); }

 private:
  fixed_array<float> weight_;
  std::array<const void*, Op::has_bias ? 2 : 1> all_{};
};

/// `Op` as `Defined` computes it in float.
template <class Backend, class In, class Op, class Defined>
struct define_in_bfloat16 {
 private:
  using floats = with_element_t<float, In>;
  using out_type = typename Op::template output<In>;
  using sums_type = with_element_t<float, out_type>;
  static constexpr std::size_t in_bytes = (sizeof(floats) + 63) / 64 * 64;

 public:
  static constexpr std::size_t scratch_bytes = in_bytes + (sizeof(sums_type) + 63) / 64 * 64;

  define_in_bfloat16(const Op& op, parameter_values p)
      : defined_(typename Op::in_float(), rounded_parameters<In, Op>(p)), range_(op.range) {}

  void operator()(const In& in, out_type& out, std::byte* scratch) const {
    auto& rounded = *reinterpret_cast<floats*>(scratch);
    auto& sums = *reinterpret_cast<sums_type*>(scratch + in_bytes);
    for (std::size_t i = 0; i < In::elements; ++i) rounded[i] = static_cast<float>(bfloat16(in[i]));
    defined_(rounded, sums, nullptr);
    for (std::size_t i = 0; i < out_type::elements; ++i)
      out[i] = static_cast<typename Op::result_type>(range_(sums[i]));
  }

 private:
  Defined defined_;
  result_range range_;
};

/// Where the floats of a tensor of bfloat16 lie, or those of several. `Steps::widen` makes them.
template <class Floats, class Steps>
struct widened {
  static constexpr std::size_t bytes = (sizeof(Floats) + 63) / 64 * 64;

  template <class In>
  static const Floats& of(const In& in, std::byte* scratch) {
    auto& floats = *::new (static_cast<void*>(scratch)) Floats;
    Steps::template widen<Floats::elements>(in.data(), floats.data());
    return floats;
  }
};
template <class... Floats, class Steps>
struct widened<std::tuple<Floats...>, Steps> {
  static constexpr std::size_t bytes = (widened<Floats, Steps>::bytes + ...);

  template <class In>
  static std::tuple<const Floats&...> of(const In& in, std::byte* scratch) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::byte* at = scratch;
      return std::tuple<const Floats&...>{
          widened<Floats, Steps>::of(std::get<I>(in), exchange_value(at, at + widened<Floats, Steps>::bytes))...};
    }(std::index_sequence_for<Floats...>());
  }
};

/// The kernel of `Op` of float between bfloat16. `Steps` widens numbers, and keeps results in a range and rounds them.
template <class Backend, class In, class Op, class Steps>
class computed_in_floats {
  using floats = in_floats_t<In>;
  using kernel = typename Backend::template kernel<floats, Op>;
  using out_type = typename in_bfloat16_op<Op>::template output<In>;
  using result = with_element_t<float, out_type>;
  using inputs = widened<floats, Steps>;
  static constexpr std::size_t out_bytes = widened<result, Steps>::bytes;

 public:
  static constexpr std::size_t scratch_bytes = inputs::bytes + out_bytes + kernel::scratch_bytes;

  computed_in_floats(const in_bfloat16_op<Op>& op, parameter_values p) : kernel_(op.in_float, p), range_(op.range) {}

  void operator()(const auto& in, out_type& out, std::byte* scratch) const {
    std::byte* const behind = scratch + inputs::bytes;
    auto& exact = *::new (static_cast<void*>(behind)) result;
    kernel_(inputs::of(in, scratch), exact, behind + out_bytes);
    Steps::template round<out_type::elements>(exact.data(), out.data(), range_);
  }

 private:
  [[no_unique_address]] kernel kernel_;
  result_range range_;
};

/// One number after the other.
struct bfloat16_steps {
  template <std::size_t Count>
  static void widen(const bfloat16* from, float* to) {
    for (std::size_t i = 0; i < Count; ++i) to[i] = static_cast<float>(from[i]);
  }
  template <std::size_t Count>
  static void round(const float* from, bfloat16* to, const result_range& range) {
    for (std::size_t i = 0; i < Count; ++i) to[i] = bfloat16(range(from[i]));
  }
};

/// dense of float.
template <class Backend, class In, class Op>
struct define_dense {
  define_dense(const Op&, parameter_values p) {
    std::copy_n(p.get<float>(0), weight_.size(), weight_.begin());
    if constexpr (Op::has_bias) std::copy_n(p.get<float>(1), Op::outputs, bias_.begin());
  }

  void operator()(const In& in, tensor<float, Op::outputs>& out, std::byte*) const {
    for (std::size_t o = 0; o < Op::outputs; ++o) {
      out[o] = bias_[o];
      for (std::size_t i = 0; i < In::elements; ++i) out[o] += weight_[o * In::elements + i] * in[i];
    }
  }

 private:
  tensor<float, Op::outputs * In::elements> weight_;
  tensor<float, Op::outputs> bias_{};
};

}  // namespace detail

template <class Backend, class In, std::size_t Filters, class To, class... Options>
  requires op_takes<bfloat16_conv2d_op<Filters, To, Options...>, In>
struct definition<Backend, In, bfloat16_conv2d_op<Filters, To, Options...>>
    : detail::define_in_bfloat16<
          Backend, In, bfloat16_conv2d_op<Filters, To, Options...>,
          detail::define_convolution<Backend, with_element_t<float, In>, conv2d_op<Filters, Options...>, In::extents[1],
                                     In::extents[2]>> {
  using definition::define_in_bfloat16::define_in_bfloat16;
};

template <class Backend, class In, std::size_t Outputs, class To, class... Options>
  requires op_takes<bfloat16_dense_op<Outputs, To, Options...>, In>
struct definition<Backend, In, bfloat16_dense_op<Outputs, To, Options...>>
    : detail::define_in_bfloat16<
          Backend, In, bfloat16_dense_op<Outputs, To, Options...>,
          detail::define_dense<Backend, with_element_t<float, In>, dense_op<Outputs, Options...>>> {
  using definition::define_in_bfloat16::define_in_bfloat16;
};

template <class Backend, class In, class Op>
  requires op_takes<in_bfloat16_op<Op>, In> && op_kernel<Backend, detail::in_floats_t<In>, Op>
struct definition<Backend, In, in_bfloat16_op<Op>>
    : detail::computed_in_floats<Backend, In, Op, detail::bfloat16_steps> {
  using definition::computed_in_floats::computed_in_floats;
};

}  // namespace levada
