// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/parameters.hpp: ops of the input and a parameter, by the definitions of those of two inputs.

#include <cstring>

#include <levada/backend/detail/define/broadcast.hpp>
#include <levada/backend/detail/define/sums.hpp>
#include <levada/nn/parameter.hpp>

namespace levada {

namespace detail {

/// The kernel of `Op` on `In` as one of an op of two inputs, of which it keeps the parameter; `Of` says whose kernel
/// that is.
template <template <class, class> class Of, class In, class Op>
class parameter_kernel_of {
  using operands = typename Op::template operands<In>;
  using op_of_two = typename Op::op_of_two;
  using kernel = Of<typename operands::type, op_of_two>;
  using parameter = typename Op::template parameter<In>;

 public:
  static constexpr std::size_t scratch_bytes = kernel::scratch_bytes;

  parameter_kernel_of(const Op&, parameter_values p) : kernel_(op_of_two{}, p) {
    std::memcpy(parameter_.data(), p.get<typename parameter::value_type>(0), sizeof parameter_.values);
  }

  template <class... Join>
  void operator()(const In& in, typename Op::template output<In>& out, std::byte* scratch, const Join&... join) const {
    kernel_(operands::tie(in, parameter_), out, scratch, join...);
  }

 private:
  kernel kernel_;
  parameter parameter_;
};

template <class Backend>
struct defined_by {
  template <class In, class Op>
  using kernel = definition<Backend, In, Op>;
};

}  // namespace detail

template <class Backend, class In, class Op>
  requires op_takes<Op, In> && requires { typename Op::op_of_two; }
struct definition<Backend, In, Op> : detail::parameter_kernel_of<detail::defined_by<Backend>::template kernel, In, Op> {
  using definition::parameter_kernel_of::parameter_kernel_of;
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
