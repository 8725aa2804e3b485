// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../../examples/models/resnet18.hpp"

#include <levada/backend/simd/ops.hpp>

namespace placement {
inline constexpr auto resnet18 = [](const auto& w) { return example::models::resnet18(w); };
}
