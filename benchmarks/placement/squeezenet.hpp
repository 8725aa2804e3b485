// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../../examples/models/squeezenet.hpp"

#include <levada/backend/simd/ops.hpp>

namespace placement {
inline constexpr auto squeezenet = [](const auto& w) { return example::models::squeezenet<>(w); };
}
