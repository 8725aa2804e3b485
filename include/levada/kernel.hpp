// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel.hpp: the kernel language. An element-wise kernel is written once, as a generic lambda; here it is traced, run
// by the interpreter, printed, and made a SPIR-V module. Its lowering to SIMD is kernel/xsimd.hpp.

#include <levada/kernel/interpreter.hpp>
#include <levada/kernel/math.hpp>
#include <levada/kernel/spirv.hpp>
#include <levada/kernel/text.hpp>
#include <levada/kernel/trace.hpp>
