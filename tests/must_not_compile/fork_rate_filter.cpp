// SPDX-License-Identifier: Apache-2.0
// error: filter_in_a_branch_would_leave_its_join_without_a_partner
// place: "odd"
//
// In a branch that changes its rate, too.

#include <optional>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto odd = lv::stage<"odd">([](const int& x) -> std::optional<int> {
    if (x % 2 == 0) return std::nullopt;
    return x;
  });
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | odd | lv::fork(lv::downsample<2>, lv::downsample<2>) | sum;
#else
  auto p = lv::input<int> | lv::fork(lv::downsample<2>, odd | lv::downsample<2>) | sum;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push(1);
  return session.pop()->value();
}
