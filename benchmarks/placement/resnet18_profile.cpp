// SPDX-License-Identifier: Apache-2.0
#include "resnet18.hpp"

#include "contest.hpp"
#include "programs.hpp"

void placement::profile_resnet18() { profile_model("resnet18", resnet18); }
