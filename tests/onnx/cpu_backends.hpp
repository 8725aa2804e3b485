// SPDX-License-Identifier: Apache-2.0
#pragma once
// onnx/cpu_backends.hpp: what the node cases run on by default. The generated sources can be compiled once more for
// other backends: -DLEVADA_ONNX_BACKENDS='"header"' names a header in the place of this one, with the same two
// functions. It may leave out an op that its backend does not take by `if constexpr (op_kernel<...>)` in `call`, if it
// says so.

#include "backend/compare.hpp"

#include <levada/backend/reference/ops.hpp>
#include <levada/backend/simd/ops.hpp>

namespace levada::testing {

/// Calls `f(type_identity<Backend>)` for each backend.
template <class F>
void on_each_backend(F f) {
  f(std::type_identity<reference>());
  f(std::type_identity<simd>());
}

/// What a backend makes of an input, with the op's parameters in order.
template <class Backend, class Op, class In, class... Parameter>
auto call(std::type_identity<Backend>, const Op& op, const In& in, const Parameter&... parameters) {
  const std::vector<const void*> pointers{static_cast<const void*>(parameters.data())...};
  return *by_one_kernel<Backend>(in, pointers, op);
}

}  // namespace levada::testing
