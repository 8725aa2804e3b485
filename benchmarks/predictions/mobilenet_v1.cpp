// SPDX-License-Identifier: Apache-2.0
#include "../../examples/models/mobilenet_v1.hpp"

#include "costs/mobilenet_v1.costs.hpp"
#include "networks.hpp"

namespace {
constexpr auto make = [](const auto& w) { return example::models::mobilenet_v1<>(w); };
}

const predictions::network predictions::mobilenet_v1 =
    predictions::network_of<"mobilenet_v1", mobilenet_v1_costs, predictions::random_source<make>>();
