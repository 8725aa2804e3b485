// SPDX-License-Identifier: Apache-2.0
#include "fashion.hpp"

#include "contest.hpp"
#include "costs.hpp"
#include "programs.hpp"

void placement::contest_fashion(double seconds) { contest<fashion_costs>("fashion", fashion, seconds); }
