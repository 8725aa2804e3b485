// SPDX-License-Identifier: Apache-2.0
#include "../../examples/models/resnet18.hpp"

#include "costs/resnet18.costs.hpp"
#include "networks.hpp"

namespace {
constexpr auto make = [](const auto& w) { return example::models::resnet18<>(w); };
}

const predictions::network predictions::resnet18 =
    predictions::network_of<"resnet18", resnet18_costs, predictions::random_source<make>>();
