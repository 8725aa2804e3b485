// SPDX-License-Identifier: Apache-2.0
#include "fashion.hpp"

#include "contest.hpp"
#include "programs.hpp"

void placement::profile_fashion() { profile_model("fashion", fashion); }
