// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/detail/definition.hpp: ops that have a definition are computed by it.

#include <levada/backend/detail/definition.hpp>
#include <levada/backend/reference/detail/kernel.hpp>

namespace levada {

template <class In, class Op>
  requires defined_op<reference, In, Op>
struct reference_kernel<In, Op> : definition<reference, In, Op> {
  using definition<reference, In, Op>::definition;
};

}  // namespace levada
