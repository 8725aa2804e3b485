// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/bfloat16.hpp: conv2d and dense of bfloat16 as their definitions: rounded numbers, computed in
// float.

#include <algorithm>
#include <array>

#include <levada/backend/detail/define/conv.hpp>
#include <levada/backend/detail/definition.hpp>
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
      : defined_(typename Op::in_float(), rounded_parameters<In, Op>(p)), relu_(op.relu) {}

  void operator()(const In& in, out_type& out, std::byte* scratch) const {
    auto& rounded = *reinterpret_cast<floats*>(scratch);
    auto& sums = *reinterpret_cast<sums_type*>(scratch + in_bytes);
    for (std::size_t i = 0; i < In::elements; ++i) rounded[i] = static_cast<float>(bfloat16(in[i]));
    defined_(rounded, sums, nullptr);
    for (std::size_t i = 0; i < out_type::elements; ++i)
      out[i] = static_cast<typename Op::result_type>(relu_ && sums[i] < 0 ? 0.0f : sums[i]);
  }

 private:
  Defined defined_;
  bool relu_;
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

}  // namespace levada
