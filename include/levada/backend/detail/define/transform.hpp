// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/transform.hpp: the lambda called with one element at a time.

#include <levada/graph/op.hpp>
#include <levada/nn/transform.hpp>

namespace levada::detail {

/// The number that the lambda gave for one element.
template <class R>
R unwrapped(R result) {
  return result;
}
template <class V>
V unwrapped(lanes<V> result) {
  return result.value;
}
template <class V>
V unwrapped(scalar_value<V> result) {
  return result.rep;
}

/// The kernel of one `transform` by its definition. (No `definition`: that would be as good a match as the kernel of
/// several on vectors.)
template <class Backend, class In, class F>
struct transform_by_element {
  using op_type = transform_op<F>;
  using out_type = typename op_type::template output<In>;

  static constexpr std::size_t scratch_bytes = 0;

  transform_by_element(const op_type& op, parameter_values) : function_(op.function) {}

  void operator()(const In& in, out_type& out, std::byte*) const {
    using number = promoted_t<typename In::value_type>;
    for (std::size_t i = 0; i < In::elements; ++i)
      out[i] = unwrapped(function_(typename asked_with<number>::type{static_cast<number>(in[i])}));
  }

 private:
  F function_;
};

}  // namespace levada::detail
