// SPDX-License-Identifier: Apache-2.0
#pragma once
// placement/costs.hpp: what was measured of the networks, on machines with AVX-512 and on others.

#ifdef __AVX512F__
#include "costs/avx512/fashion.costs.hpp"
#include "costs/avx512/mobilenet.costs.hpp"
#include "costs/avx512/resnet18.costs.hpp"
#include "costs/avx512/squeezenet.costs.hpp"
#else
#include "costs/avx2/fashion.costs.hpp"
#include "costs/avx2/mobilenet.costs.hpp"
#include "costs/avx2/resnet18.costs.hpp"
#include "costs/avx2/squeezenet.costs.hpp"
#endif
