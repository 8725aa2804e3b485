// SPDX-License-Identifier: Apache-2.0
// A whole program on levada: a network whose weights are a part of it, and its first item. LEVADA_NETWORK is the name
// of the network's namespace.

#include LEVADA_NETWORK_HEADER

#include <memory>
#include <utility>

#include "../../../examples/common/run.hpp"
#include "../../common/tensors.hpp"
#include "answer.hpp"

namespace lv = levada;

int main() {
  return example::run([] {
    auto app = lv::deploy<lv::target<lv::cpu<1>>, lv::slots<1>, lv::backends<lv::simd>>(
        LEVADA_NETWORK::graph(LEVADA_NETWORK::weights()));
    using app_type = decltype(app);
    const auto item = std::make_unique<app_type::item>();
    const auto result = std::make_unique<app_type::output>();
    tensors::fill(tensors::spans(*item));
    app(*item, *result);
    return programs::answer(tensors::spans(std::as_const(*result)));
  });
}
