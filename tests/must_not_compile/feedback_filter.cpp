// SPDX-License-Identifier: Apache-2.0
// error: filter_in_a_branch_would_leave_its_join_without_a_partner
// place: "odd"
//
// Without an output of its body a feedback would have no state for the next item. A callable as the body may filter.

#include <optional>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::feedback<"sum">(
                                                                     [](const int& x, int& sum) -> std::optional<int> {
                                                                       sum += x;
                                                                       if (x % 2 == 0) return std::nullopt;
                                                                       return sum;
                                                                     },
                                                                     0));
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> | lv::feedback<"sum">(lv::join<"odd">([](const int& x, const int& sum) -> std::optional<int> {
                                             if (x % 2 == 0) return std::nullopt;
                                             return x + sum;
                                           }),
                                           0));
#endif
  return app(1).has_value();
}
