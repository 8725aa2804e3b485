// SPDX-License-Identifier: Apache-2.0
// error: filter_in_a_branch_would_leave_its_join_without_a_partner
// place: "odd"
//
// The join would wait for an item that never comes.

#include <optional>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto odd = lv::stage<"odd">([](const int& x) -> std::optional<int> {
    if (x % 2 == 0) return std::nullopt;
    return x;
  });
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
  const auto one = lv::stage<"one">([](const int& x) { return x + 1; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | odd | lv::fork(one, lv::identity) | sum);
  return app(1).value();
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::fork(odd | one, lv::identity) | sum);
  return app(1);
#endif
}
