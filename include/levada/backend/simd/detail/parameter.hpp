// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/parameter.hpp: ops of the input and a parameter, by the kernels of those of two inputs; a matrix
// on the right of a product is packed.

#include <levada/backend/detail/define/parameters.hpp>
#include <levada/backend/simd/detail/broadcast.hpp>
#include <levada/backend/simd/detail/matmul.hpp>
#include <levada/backend/simd/detail/packed_product.hpp>

namespace levada {

namespace detail {

template <class Arch>
struct on_vectors {
  template <class In, class Op>
  using kernel = simd_kernel<Arch, In, Op>;
};

template <class Arch, class Op, class In>
inline constexpr bool vectorizes_parameter = false;
template <class Arch, class F, parameter_place Place, std::size_t... Dims, class In>
  requires op_takes<parameter_op<F, Place, Dims...>, In>
inline constexpr bool vectorizes_parameter<Arch, parameter_op<F, Place, Dims...>, In> = [] {
  return []<class... T>(std::type_identity<std::tuple<T...>>) {
    return vectorizes_all<Arch, F, T...>;
  }(std::type_identity<typename parameter_op<F, Place, Dims...>::template operands<In>::type>());
}();

}  // namespace detail

template <class Arch, class In, class F, parameter_place Place, std::size_t... Dims>
  requires detail::vectorizes_parameter<Arch, parameter_op<F, Place, Dims...>, In>
struct simd_kernel<Arch, In, parameter_op<F, Place, Dims...>>
    : detail::parameter_kernel_of<detail::on_vectors<Arch>::template kernel, In, parameter_op<F, Place, Dims...>> {
  using simd_kernel::parameter_kernel_of::parameter_kernel_of;
};

template <class Arch, class In, parameter_place Place, std::size_t... Dims>
  requires op_takes<matmul_parameter_op<Place, Dims...>, In>
struct simd_kernel<Arch, In, matmul_parameter_op<Place, Dims...>>
    : detail::parameter_kernel_of<detail::on_vectors<Arch>::template kernel, In, matmul_parameter_op<Place, Dims...>> {
  using simd_kernel::parameter_kernel_of::parameter_kernel_of;
};

/// Each row of the input times one matrix.
template <class Arch, class In, std::size_t Inner, std::size_t Columns>
  requires op_takes<matmul_parameter_op<parameter_place::second, Inner, Columns>, In>
struct simd_kernel<Arch, In, matmul_parameter_op<parameter_place::second, Inner, Columns>> {
  using op_type = matmul_parameter_op<parameter_place::second, Inner, Columns>;
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  simd_kernel(const op_type&, parameter_values p)
      : product_([matrix = p.get<value>(0)](std::size_t k, std::size_t x) { return matrix[k * Columns + x]; }) {}

  template <class Join = detail::no_join>
  void operator()(const In& in, typename op_type::template output<In>& out, std::byte*, const Join& join = {}) const {
    product_(in.data(), out.data(), detail::begin_with_zero<Arch, value>(), join);
  }

 private:
  detail::packed_product<Arch, value, In::elements / Inner, Inner, Columns> product_;
};

}  // namespace levada
