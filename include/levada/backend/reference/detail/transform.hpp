// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/detail/transform.hpp: the lambda called with one element at a time.

#include <levada/backend/detail/define/transform.hpp>
#include <levada/backend/reference/detail/kernel.hpp>

namespace levada {

template <class In, class F>
  requires op_takes<transform_op<F>, In>
struct reference_kernel<In, transform_op<F>> : detail::transform_by_element<reference, In, F> {
  using detail::transform_by_element<reference, In, F>::transform_by_element;
};

}  // namespace levada
