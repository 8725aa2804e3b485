// SPDX-License-Identifier: Apache-2.0
#include "resnet18.hpp"

#include "contest.hpp"
#include "programs.hpp"
#ifdef __AVX512F__
#include "costs/avx512/resnet18.costs.hpp"
#else
#include "costs/avx2/resnet18.costs.hpp"
#endif

void placement::contest_resnet18(double seconds) { contest<resnet18_costs>("resnet18", resnet18, seconds); }
