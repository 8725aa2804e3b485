// SPDX-License-Identifier: Apache-2.0
// error: pinned_plan_names_a_backend_that_is_not_there
// place: "blas"
// place: "cpu"
//
// The plan was saved with another backend.

#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

using vector = lv::tensor<float, 8>;

int main() {
  auto p = lv::input<vector> | lv::nn::relu | lv::nn::softmax;
#ifdef LEVADA_CORRECT
  auto app =
      lv::deploy<lv::target<lv::cpu<2>>, lv::pinned<R"(levada plan 1: 8 slots | cpu: simd("relu") simd("softmax"))">>(
          p);
#else
  auto app =
      lv::deploy<lv::target<lv::cpu<2>>, lv::pinned<R"(levada plan 1: 8 slots | cpu: simd("relu") blas("softmax"))">>(
          p);
#endif
  static_assert(decltype(app)::plan.slots > 0);
  const std::vector<vector> items(3);
  auto sum = app(items[0])[0];
  for (auto&& r : app.stream(items)) sum += r.value()[0];
  auto session = app.open();
  session.push(items[0]);
  return static_cast<int>(sum + session.pop()->value()[0]);
}
