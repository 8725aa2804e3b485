// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/detail/transform.hpp: the lambda called with one element at a time.

#include <levada/backend/reference/detail/kernel.hpp>
#include <levada/nn/transform.hpp>

namespace levada {

template <class In, class F>
  requires op_takes<transform_op<F>, In>
struct reference_kernel<In, transform_op<F>> {
  using op_type = transform_op<F>;
  using out_type = typename op_type::template output<In>;

  static constexpr std::size_t scratch_bytes = 0;

  reference_kernel(const op_type& op, parameter_values) : function_(op.function) {}

  void operator()(const In& in, out_type& out, std::byte*) const {
    using number = promoted_t<typename In::value_type>;
    for (std::size_t i = 0; i < In::elements; ++i)
      out[i] = unwrapped(function_(typename detail::asked_with<number>::type{static_cast<number>(in[i])}));
  }

 private:
  template <class R>
  static R unwrapped(R result) {
    return result;
  }
  template <class V>
  static V unwrapped(lanes<V> result) {
    return result.value;
  }
  template <class T>
  static T unwrapped(scalar_value<T> result) {
    return result.rep;
  }

  F function_;
};

}  // namespace levada
