// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel.hpp: the kernel language. An element-wise kernel is written once, as a generic lambda, a grid kernel with its
// tensors and its grid; here they are traced, run by the interpreter, printed, and made SPIR-V modules. The lowering of
// an element-wise one to SIMD is kernel/detail/simd_machine.hpp.

// First, so that a compiler has no more to say of where it is included than this, before an error in it.
#include <levada/kernel/detail/value.hpp>

#include <levada/kernel/detail/grid_kernel.hpp>
#include <levada/kernel/detail/interpreter.hpp>
#include <levada/kernel/detail/math.hpp>
#include <levada/kernel/detail/spirv.hpp>
#include <levada/kernel/detail/text.hpp>
#include <levada/kernel/detail/text_grid.hpp>
#include <levada/kernel/detail/trace.hpp>
