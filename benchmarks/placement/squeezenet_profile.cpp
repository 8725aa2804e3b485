// SPDX-License-Identifier: Apache-2.0
#include "squeezenet.hpp"

#include "contest.hpp"
#include "programs.hpp"

void placement::profile_squeezenet() { profile_model("squeezenet", squeezenet); }
