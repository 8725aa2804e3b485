// SPDX-License-Identifier: Apache-2.0
// What a session measured: how long each stage took, and what became of the items.

#include <cstdio>

#include <levada/interop/report.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"half">([](const int& x) { return x / 2; }));
  auto session = app.open();
  session.measure();
  for (int i = 0; i < 1000; ++i) {
    session.push(i);
    session.pop();
  }
  const lv::session_statistics statistics = session.statistics();
  std::printf("%s", lv::report(statistics).c_str());
  return statistics.items.delivered == 1000 ? 0 : 1;
}
