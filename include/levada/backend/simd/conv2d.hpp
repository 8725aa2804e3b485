// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/conv2d.hpp: conv2d (+ bias) (+ relu) (+ max_pool2d) (+ flatten or reshape) as one kernel, computed in
// whichever of two ways needs fewer cycles for these shapes.

#include <levada/backend/simd/conv_by_channels.hpp>
#include <levada/backend/simd/conv_by_columns.hpp>

namespace levada {

template <class Arch, class In, std::size_t Filters, class... Options, class... Tail>
  requires(detail::run_is_taken<In, conv2d_op<Filters, Options...>, Tail...> &&
           conv2d_op<Filters, Options...>::groups == 1 && detail::conv_tail_of<Tail...>().fuses)
struct simd_kernel<Arch, In, conv2d_op<Filters, Options...>, Tail...> {
  using op_type = conv2d_op<Filters, Options...>;
  using out_type = run_output_t<In, op_type, Tail...>;

 private:
  using run = detail::conv_run<In, op_type, Tail...>;
  static constexpr bool by_columns =
      detail::best_column_tiling<Arch, run>().cost < detail::best_channel_tiling<Arch, run>().cost;
  using method =
      std::conditional_t<by_columns, detail::conv_by_columns<Arch, run>, detail::conv_by_channels<Arch, run>>;

 public:
  static constexpr std::size_t scratch_bytes = method::scratch_bytes;

  simd_kernel(const op_type&, const Tail&..., parameter_values p) : method_(p) {}

  void operator()(const In& in, out_type& out, std::byte* scratch) const { method_(in.data(), out.data(), scratch); }

 private:
  method method_;
};

}  // namespace levada
