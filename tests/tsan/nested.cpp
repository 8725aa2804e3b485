// SPDX-License-Identifier: Apache-2.0
// Pipelines inside stages, with and without state, several items at once and with more threads than cores.

#include <doctest/doctest.h>

#include <vector>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/deploy/for_each.hpp>
#include <levada/run/detail/deploy/route.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

namespace lv = levada;

TEST_CASE("parts and branches of items that run at once share nothing but what is constant") {
  using parts = lv::bounded<int, 5>;
  const auto app = lv::deploy<lv::target<lv::cpu<8>>, lv::run_by<lv::thread_executor>>(
      lv::input<int> | lv::stage<"parts">([](const int& n) {
        parts all;
        for (int i = 0; i < n % 6; ++i) all.push_back(n + i);
        return all;
      }) |
      lv::for_each<"parallel", 5>(lv::stage<"one">([](const int& x) { return std::vector<int>(2, x); }) |
                                  lv::stage<"two">([](const std::vector<int>& v) { return v[0] + v[1]; })) |
      lv::collect |
      lv::for_each<"serial", 5>(lv::stage<"count">([n = 0](const int& x) mutable { return x + 0 * n++; })) |
      lv::collect |
      lv::route([](const parts& p) { return p.size() % 2 == 0; },
                lv::stage<"even">([](const parts& p) { return static_cast<int>(p.size()); }),
                lv::stage<"odd">([seen = 0](const parts& p) mutable { return p[0] + 0 * seen++; })));
  constexpr int items = 5'000;
  std::vector<int> all;
  for (int i = 0; i < items; ++i) all.push_back(i);
  int n = 0;
  for (auto&& r : app.stream(all)) {
    CHECK(*r == (n % 6 % 2 == 0 ? n % 6 : 2 * n));
    ++n;
  }
  CHECK(n == items);
}
