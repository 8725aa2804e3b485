// SPDX-License-Identifier: Apache-2.0
// A whole program on levada: a network whose weights are a part of it, and its first item. LEVADA_NETWORK is the name
// of the network's namespace. With a file the weights are packed there; `pack` before that writes the file.

#include LEVADA_NETWORK_HEADER

#include <memory>
#include <utility>

#include <levada/interop/packed_weights.hpp>

#include "../../../examples/common/run.hpp"
#include "../../common/tensors.hpp"
#include "answer.hpp"

namespace lv = levada;

int main(int count, char** arguments) {
  return example::run([&] {
    const auto weights = LEVADA_NETWORK::weights();
    // Without a file there are none in it: all are packed at start.
    const lv::packed_weights packed(weights, count > 1 ? arguments[count - 1] : "");
    auto app = lv::deploy<lv::target<lv::cpu<1>>, lv::slots<1>, lv::backends<lv::simd>>(LEVADA_NETWORK::graph(packed));
    if (count > 2) return packed.save(), 0;
    if (count > 1 && packed.packed_again() != 0) throw lv::error("the file is not that of this program");
    using app_type = decltype(app);
    const auto item = std::make_unique<app_type::item>();
    const auto result = std::make_unique<app_type::output>();
    tensors::fill(tensors::spans(*item));
    app(*item, *result);
    return programs::answer(tensors::spans(std::as_const(*result)));
  });
}
