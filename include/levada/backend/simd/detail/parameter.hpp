// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/parameter.hpp: ops of the input and a parameter, by the kernels of those of two inputs.

#include <levada/backend/detail/define/parameters.hpp>
#include <levada/backend/simd/detail/broadcast.hpp>
#include <levada/backend/simd/detail/matmul.hpp>

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
  }(std::type_identity<typename parameter_op<F, Place, Dims...>::template order<In>::type>());
}();

}  // namespace detail

template <class Arch, class In, class F, parameter_place Place, std::size_t... Dims>
  requires detail::vectorizes_parameter<Arch, parameter_op<F, Place, Dims...>, In>
struct simd_kernel<Arch, In, parameter_op<F, Place, Dims...>>
    : detail::parameter_kernel_of<detail::on_vectors<Arch>::template kernel, In, parameter_op<F, Place, Dims...>,
                                  broadcast_op<F>> {
  simd_kernel(const parameter_op<F, Place, Dims...>&, parameter_values p)
      : detail::parameter_kernel_of<detail::on_vectors<Arch>::template kernel, In, parameter_op<F, Place, Dims...>,
                                    broadcast_op<F>>(broadcast_op<F>(F{}), p) {}
};

template <class Arch, class In, parameter_place Place, std::size_t... Dims>
  requires op_takes<matmul_parameter_op<Place, Dims...>, In>
struct simd_kernel<Arch, In, matmul_parameter_op<Place, Dims...>>
    : detail::parameter_kernel_of<detail::on_vectors<Arch>::template kernel, In, matmul_parameter_op<Place, Dims...>,
                                  matmul_op> {
  simd_kernel(const matmul_parameter_op<Place, Dims...>&, parameter_values p)
      : detail::parameter_kernel_of<detail::on_vectors<Arch>::template kernel, In, matmul_parameter_op<Place, Dims...>,
                                    matmul_op>(matmul_op(), p) {}
};

}  // namespace levada
