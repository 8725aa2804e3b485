// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/uniform.hpp: a captured value that is known only at run time and the same for all elements.

#include <levada/kernel/detail/ir.hpp>

namespace levada {

/// What a kernel's lambda may capture: `[gain = uniform{0.5f}](auto x) { return x * gain; }`. On a device the closure's
/// bytes are the push constants, at most 128 bytes with what the kernel itself adds. It is used beside a traced value.
template <class T>
  requires(ir::is_scalar<T> && ir::scalar_type_of<T> != ir::scalar_type::boolean)
struct uniform {
  T value;
};
template <class T>
uniform(T) -> uniform<T>;

}  // namespace levada
