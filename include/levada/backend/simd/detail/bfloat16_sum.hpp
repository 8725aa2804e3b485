// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/bfloat16_sum.hpp: a convolution of bfloat16 and the residual sum behind it as one kernel, rounded
// as the two are one after the other.

#include <cstddef>
#include <string_view>
#include <tuple>

#include <levada/backend/detail/region_kind.hpp>
#include <levada/backend/simd/detail/bfloat16_conv2d.hpp>
#include <levada/backend/simd/detail/join.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/graph/detail/op_region.hpp>
#include <levada/nn/bfloat16.hpp>
#include <levada/nn/broadcast.hpp>

namespace levada {

namespace detail {

template <class Inputs, class Conv, class ConvIn, std::size_t ConvFrom, class SumIn, std::size_t... SumFrom>
using bfloat16_sum_region = op_region<Inputs, region_op<Conv, ConvIn, ConvFrom>,
                                      region_op<in_bfloat16_op<broadcast_op<sum_of_two>>, SumIn, SumFrom...>>;

}  // namespace detail

template <class Arch, class... In, std::size_t Filters, class... Options, class ConvIn, std::size_t ConvFrom,
          class SumIn, std::size_t First, std::size_t Second>
  requires detail::bfloat16_conv_run<ConvIn, bfloat16_conv2d_op<Filters, bfloat16, Options...>> &&
           (detail::is_bfloat16_sum(region_info(
               detail::infos_of_region<
                   detail::bfloat16_sum_region<type_list<In...>, bfloat16_conv2d_op<Filters, bfloat16, Options...>,
                                               ConvIn, ConvFrom, SumIn, First, Second>>::value)))
struct simd_region_kernel<
    Arch, detail::bfloat16_sum_region<type_list<In...>, bfloat16_conv2d_op<Filters, bfloat16, Options...>, ConvIn,
                                      ConvFrom, SumIn, First, Second>> {
 private:
  using op_type = bfloat16_conv2d_op<Filters, bfloat16, Options...>;
  using sum_type = in_bfloat16_op<broadcast_op<detail::sum_of_two>>;
  using conv = detail::simd_bfloat16_conv<Arch, ConvIn, op_type>;
  static constexpr std::size_t other = First < sizeof...(In) ? First : Second;

 public:
  using out_type = typename op_type::template output<ConvIn>;
  static constexpr std::size_t scratch_bytes = conv::scratch_bytes;
  static constexpr std::string_view method = conv::method;

  simd_region_kernel(const op_type& op, const sum_type& sum, parameter_values p)
      : conv_(op, p), range_of_sum_(sum.range) {}

  void operator()(const auto& given, out_type& out, std::byte* scratch) const {
    const auto in = detail::all_inputs(given);
    conv_(std::get<ConvFrom>(in), std::get<other>(in), range_of_sum_, out, scratch);
  }

 private:
  conv conv_;
  result_range range_of_sum_;
};

}  // namespace levada
