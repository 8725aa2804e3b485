// SPDX-License-Identifier: Apache-2.0
#pragma once
// signal.hpp: the ops of signals; <levada/ops.hpp> brings them with their kernels.

#include <levada/signal/fft.hpp>
#include <levada/signal/mel.hpp>
#include <levada/signal/taper.hpp>
