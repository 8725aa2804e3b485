// SPDX-License-Identifier: Apache-2.0
#include "fashion.hpp"

#include "contest.hpp"
#include "programs.hpp"
#ifdef __AVX512F__
#include "costs/avx512/fashion.costs.hpp"
#else
#include "costs/avx2/fashion.costs.hpp"
#endif

void placement::contest_fashion(double seconds) { contest<fashion_costs>("fashion", fashion, seconds); }
