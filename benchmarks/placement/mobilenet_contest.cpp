// SPDX-License-Identifier: Apache-2.0
#include "mobilenet.hpp"

#include "contest.hpp"
#include "costs.hpp"
#include "programs.hpp"

void placement::contest_mobilenet(double seconds) { contest<mobilenet_costs>("mobilenet", mobilenet, seconds); }
