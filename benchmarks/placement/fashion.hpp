// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../../examples/fashion_mnist/network.hpp"

#include <levada/backend/simd/ops.hpp>

namespace placement {
inline constexpr auto fashion = [](const auto& w) { return example::fashion_mnist::classifier(w); };
}
