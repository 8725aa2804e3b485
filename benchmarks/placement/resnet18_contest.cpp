// SPDX-License-Identifier: Apache-2.0
#include "resnet18.hpp"

#include "contest.hpp"
#include "costs.hpp"
#include "programs.hpp"

void placement::contest_resnet18(double seconds) { contest<resnet18_costs>("resnet18", resnet18, seconds); }
