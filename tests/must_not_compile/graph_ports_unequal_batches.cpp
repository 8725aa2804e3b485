// SPDX-License-Identifier: Apache-2.0
// error: graph_of_several_ports_takes_other_items
// place: batch_tensor<levada::tensor<float, 4>, 2>, levada::tensor<float, 4>
// place: wants<
//
// A graph of two ports takes batches of equally many items, not a batch and an item.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
using vector = lv::tensor<float, 4>;

int main() {
#ifdef LEVADA_CORRECT
  const auto other = lv::nn::relu;
#else
  const auto other = lv::stage<"first">([](const lv::tensor<float, 2, 4>&) { return vector(); });
#endif
  auto app = lv::deploy<box>(lv::input<vector> | lv::batch<2> | lv::fork(lv::identity, other) |
                             lv::graph(lv::port<"a", vector>, lv::port<"b", vector>,
                                       lv::node<"sum", "a", "b">(lv::nn::add), lv::output<"y", "sum">));
  return decltype(app)::plan.segments == 0;
}
