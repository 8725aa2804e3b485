// SPDX-License-Identifier: Apache-2.0
// The last events of each worker, as a file for Perfetto or chrome://tracing.

#include <cstdio>

#include <levada/interop/trace.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"half">([](const int& x) { return x / 2; }));
  auto session = app.open();
  session.trace();
  for (int i = 0; i < 100; ++i) {
    session.push(i);
    session.pop();
  }
  lv::write_trace("trace.json", session.traced());
  std::printf("trace.json is written\n");
}
