// SPDX-License-Identifier: Apache-2.0
// error: rate_in_a_branch_knows_no_time
// place: "batch"
//
// If one branch gave short at a time of its own the others would be left over.

#include <array>

#include <levada/levada.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
  const auto first = lv::join<"first">([](const std::array<int, 2>& a, const int& b) { return a[0] + b; });
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::fork(lv::batch<2>, lv::downsample<2>) | first;
#else
  auto p = lv::input<int> | lv::fork(lv::batch<2, lv::timeout<20_ms>>, lv::downsample<2>) | first;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push(1);
  return session.pop()->value();
}
