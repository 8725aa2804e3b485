// SPDX-License-Identifier: Apache-2.0
// Items that are too old are dropped before their next stage. The clock of this session moves when it is told to.

#include <chrono>
#include <cstdio>

#include <levada/levada.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
  const auto app =
      lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::stage<"same">([](const int& x) { return x; }));
  lv::virtual_clock clock(lv::virtual_clock::time_point(std::chrono::hours(1)));
  auto session = app.open<lv::deadline<50_ms>>(clock);
  session.push(1, clock.now() - std::chrono::milliseconds(80));  // captured 80 ms ago: too late
  session.push(2, clock.now() - std::chrono::milliseconds(10));
  session.close();
  int delivered = 0;
  while (auto result = session.pop()) delivered += result->value();
  std::printf("item %d came in time, %llu did not\n", delivered,
              static_cast<unsigned long long>(session.counts().drops.overdue));
  return delivered == 2 && session.counts().drops.overdue == 1 ? 0 : 1;
}
