// SPDX-License-Identifier: Apache-2.0
#include "../../examples/fashion_mnist/network.hpp"

#include "costs/demo.costs.hpp"
#include "networks.hpp"

namespace {
constexpr auto make = [](const auto& w) { return example::fashion_mnist::classifier(w); };
}

const predictions::network predictions::demo =
    predictions::network_of<"demo", demo_costs, predictions::random_source<make>>();
