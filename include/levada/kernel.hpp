// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel.hpp: the kernel language. An element-wise kernel is written once, as a generic lambda; here it is traced, run
// by the interpreter, printed, and made a SPIR-V module. Its lowering to SIMD is kernel/detail/simd_machine.hpp.

// First, so that a compiler has no more to say of where it is included than this, before an error in it.
#include <levada/kernel/detail/value.hpp>

#include <levada/kernel/detail/interpreter.hpp>
#include <levada/kernel/detail/math.hpp>
#include <levada/kernel/detail/spirv.hpp>
#include <levada/kernel/detail/text.hpp>
#include <levada/kernel/detail/text_grid.hpp>
#include <levada/kernel/detail/trace.hpp>
