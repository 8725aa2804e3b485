// SPDX-License-Identifier: Apache-2.0
// error: backend_cannot_take_this_region_as_one
// place: "simd"
// place: "relu + softmax"
// place: backend_has_no_kernel_for_this_run_of_ops
//
// A region given by hand to a backend that computes each of its ops, but not both as one.

#include <levada/levada.hpp>

namespace lv = levada;

using vector = lv::tensor<float, 8>;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<vector> | lv::on<lv::simd>(lv::nn::relu) | lv::on<lv::simd>(lv::nn::softmax);
#else
  auto p = lv::input<vector> | lv::on<lv::simd>(lv::nn::relu | lv::nn::softmax);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.segments == 1);
  auto session = app.open();
  session.push(vector{});
  return static_cast<int>(app(vector{})[0] + session.pop()->value()[0]);
}
