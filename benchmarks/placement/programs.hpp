// SPDX-License-Identifier: Apache-2.0
#pragma once
// placement/programs.hpp: one of each for each network, in units of their own.

namespace placement {

void profile_fashion();
void profile_mobilenet();
void profile_resnet18();
void profile_squeezenet();

void contest_fashion(double seconds);
void contest_mobilenet(double seconds);
void contest_resnet18(double seconds);
void contest_squeezenet(double seconds);

}  // namespace placement
