// SPDX-License-Identifier: Apache-2.0
#include "mobilenet.hpp"

#include "contest.hpp"
#include "programs.hpp"

void placement::profile_mobilenet() { profile_model("mobilenet", mobilenet); }
