// SPDX-License-Identifier: Apache-2.0
#include "squeezenet.hpp"

#include "contest.hpp"
#include "costs.hpp"
#include "programs.hpp"

void placement::contest_squeezenet(double seconds) { contest<squeezenet_costs>("squeezenet", squeezenet, seconds); }
