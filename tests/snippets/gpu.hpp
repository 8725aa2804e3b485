// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/gpu.hpp: for docs/gpu.md.
#include "common.hpp"

float mean(const lv::tensor<float, 8, 28, 28>& x);
