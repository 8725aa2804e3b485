// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/conv1d.hpp: a convolution along one axis as that of a picture of one row.

#include <levada/backend/simd/detail/conv2d.hpp>
#include <levada/nn/conv1d.hpp>

namespace levada {

template <class Arch, class In, std::size_t Filters, class... Options>
  requires op_takes<conv1d_op<Filters, Options...>, In>
struct simd_kernel<Arch, In, conv1d_op<Filters, Options...>> {
  using op_type = conv1d_op<Filters, Options...>;
  using out_type = typename op_type::template output<In>;

 private:
  using picture_type = tensor<typename In::value_type, In::extents[0], 1, In::extents[1]>;
  using method = detail::simd_grouped_conv<Arch, picture_type, op_type>;

 public:
  static constexpr std::size_t scratch_bytes = method::scratch_bytes;

  simd_kernel(const op_type&, parameter_values p) : method_(p) {}

  void operator()(const In& in, out_type& out, std::byte* scratch) const {
    method_(in.data(), out.data(), out_type::elements, scratch);
  }

 private:
  method method_;
};

}  // namespace levada
