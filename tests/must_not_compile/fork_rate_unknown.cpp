// SPDX-License-Identifier: Apache-2.0
// error: rate_in_a_branch_depends_on_its_items
// place: "window"
// place: std::vector<float
//
// Windows over chunks of any length come at no known rate.

#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  using window = lv::tensor<float, 4>;
  const auto first = lv::join<"first">([](const window& a, const window& b) { return a[0] + b[0]; });
#ifdef LEVADA_CORRECT
  using chunk = lv::tensor<float, 6>;
#else
  using chunk = std::vector<float>;
#endif
  auto p = lv::input<chunk> | lv::fork(lv::window<4, 2>, lv::window<4, 2>) | first;
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push(chunk());
  return session.pop()->value() > 0;
}
