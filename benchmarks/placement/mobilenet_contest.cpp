// SPDX-License-Identifier: Apache-2.0
#include "mobilenet.hpp"

#include "contest.hpp"
#include "programs.hpp"
#ifdef __AVX512F__
#include "costs/avx512/mobilenet.costs.hpp"
#else
#include "costs/avx2/mobilenet.costs.hpp"
#endif

void placement::contest_mobilenet(double seconds) { contest<mobilenet_costs>("mobilenet", mobilenet, seconds); }
