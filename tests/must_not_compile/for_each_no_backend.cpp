// SPDX-License-Identifier: Apache-2.0
// error: no_backend_takes_this_op_on_this_device
// place: "softmax"
//
// An op inside is computed by the same backends as those outside.

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

using vectors = lv::bounded<lv::tensor<float, 4>, 8>;

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<vectors> | lv::for_each<8>(lv::nn::softmax) | lv::collect);
#else
  auto app = lv::deploy<box, lv::backends<>>(lv::input<vectors> | lv::for_each<8>(lv::nn::softmax) | lv::collect);
#endif
  return 0;
}
