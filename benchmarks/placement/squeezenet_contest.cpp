// SPDX-License-Identifier: Apache-2.0
#include "squeezenet.hpp"

#include "contest.hpp"
#include "programs.hpp"
#ifdef __AVX512F__
#include "costs/avx512/squeezenet.costs.hpp"
#else
#include "costs/avx2/squeezenet.costs.hpp"
#endif

void placement::contest_squeezenet(double seconds) { contest<squeezenet_costs>("squeezenet", squeezenet, seconds); }
