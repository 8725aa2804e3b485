// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../../examples/models/mobilenet_v1.hpp"

#include <levada/backend/simd/ops.hpp>

namespace placement {
inline constexpr auto mobilenet = [](const auto& w) { return example::models::mobilenet_v1<>(w); };
}
