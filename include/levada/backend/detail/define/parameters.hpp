// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/parameters.hpp: ops of the input and a parameter, by the definitions of those of two inputs.

#include <cstring>

#include <levada/backend/detail/define/broadcast.hpp>
#include <levada/backend/detail/define/sums.hpp>
#include <levada/nn/parameter.hpp>

namespace levada {

namespace detail {

/// A kernel of two inputs, one of which it keeps. `Order`: an operand_order.
template <class Kernel, class Out, class In, class Parameter, class Order>
class kernel_with_parameter {
 public:
  static constexpr std::size_t scratch_bytes = Kernel::scratch_bytes;

  template <class Op>
  kernel_with_parameter(const Op& op, parameter_values p) : kernel_(op, p) {
    std::memcpy(parameter_.data(), p.get<typename Parameter::value_type>(0), sizeof parameter_.values);
  }

  template <class... Join>
  void operator()(const In& in, Out& out, std::byte* scratch, const Join&... join) const {
    kernel_(Order::tie(in, parameter_), out, scratch, join...);
  }

 private:
  Kernel kernel_;
  Parameter parameter_;
};

/// The kernel of `Op` on `In` as one of `Two`, an op of two inputs; `Of` says whose kernel that is.
template <template <class, class> class Of, class In, class Op, class Two>
using parameter_kernel_of =
    kernel_with_parameter<Of<typename Op::template operands<In>::type, Two>, typename Op::template output<In>, In,
                          typename Op::template parameter<In>, typename Op::template operands<In>>;

template <class Backend>
struct defined_by {
  template <class In, class Op>
  using kernel = definition<Backend, In, Op>;
};

}  // namespace detail

template <class Backend, class In, class F, parameter_place Place, std::size_t... Dims>
  requires op_takes<parameter_op<F, Place, Dims...>, In>
struct definition<Backend, In, parameter_op<F, Place, Dims...>>
    : detail::parameter_kernel_of<detail::defined_by<Backend>::template kernel, In, parameter_op<F, Place, Dims...>,
                                  broadcast_op<F>> {
  definition(const parameter_op<F, Place, Dims...>&, parameter_values p)
      : detail::parameter_kernel_of<detail::defined_by<Backend>::template kernel, In, parameter_op<F, Place, Dims...>,
                                    broadcast_op<F>>(broadcast_op<F>(F{}), p) {}
};

template <class Backend, class In, parameter_place Place, std::size_t... Dims>
  requires op_takes<matmul_parameter_op<Place, Dims...>, In>
struct definition<Backend, In, matmul_parameter_op<Place, Dims...>>
    : detail::parameter_kernel_of<detail::defined_by<Backend>::template kernel, In, matmul_parameter_op<Place, Dims...>,
                                  matmul_op> {
  definition(const matmul_parameter_op<Place, Dims...>&, parameter_values p)
      : detail::parameter_kernel_of<detail::defined_by<Backend>::template kernel, In,
                                    matmul_parameter_op<Place, Dims...>, matmul_op>(matmul_op(), p) {}
};

template <class Backend, class In, class T, std::size_t... Dims>
struct definition<Backend, In, constant_op<T, Dims...>> {
  static constexpr std::size_t scratch_bytes = 0;

  definition(const constant_op<T, Dims...>&, parameter_values p) {
    std::memcpy(parameter_.data(), p.get<T>(0), sizeof parameter_.values);
  }
  void operator()(const auto&, tensor<T, Dims...>& out, std::byte*) const {
    std::memcpy(out.data(), parameter_.data(), sizeof parameter_.values);
  }

 private:
  tensor<T, Dims...> parameter_;
};

}  // namespace levada
