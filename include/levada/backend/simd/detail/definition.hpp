// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/definition.hpp: the ops for which vectors do not pay, or for which this backend has no kernel of
// its own yet, are computed by their definition. A kernel written for an op is more specialised than this one and takes
// its place.

#include <levada/backend/detail/definition.hpp>
#include <levada/backend/simd/detail/kernel.hpp>

namespace levada {

template <class Arch, class In, class Op>
  requires defined_op<simd_on<Arch>, In, Op>
struct simd_kernel<Arch, In, Op> : definition<simd_on<Arch>, In, Op> {
  using definition<simd_on<Arch>, In, Op>::definition;
};

}  // namespace levada
