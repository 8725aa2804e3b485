// SPDX-License-Identifier: Apache-2.0
#pragma once
// ops.hpp: every op of the library and its kernels on `simd`; docs/ops.md lists them. <levada/levada.hpp> has those
// that most programs need, because what is included is compiled.

#include <levada/backend/simd/ops.hpp>
#include <levada/image.hpp>
#include <levada/nn.hpp>
#include <levada/nn/along_axis.hpp>
#include <levada/nn/attention.hpp>
#include <levada/nn/elementary.hpp>
#include <levada/nn/grid_sample.hpp>
#include <levada/nn/integers.hpp>
#include <levada/nn/logical.hpp>
#include <levada/nn/normalize.hpp>
#include <levada/nn/parameter.hpp>
#include <levada/nn/quantize.hpp>
#include <levada/nn/quantize_bfloat16.hpp>
#include <levada/nn/scatter.hpp>
#include <levada/nn/sequence.hpp>
#include <levada/signal.hpp>
