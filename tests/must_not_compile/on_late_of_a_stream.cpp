// SPDX-License-Identifier: Apache-2.0
// error: session_has_no_such_option
// place: on_late<
//
// A stream of an app that promises no latency has no late items.

#include <vector>

#include <levada/levada.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

void hear(const lv::late_item&) noexcept {}

int main() {
  const std::vector<int> items(10, 1);
  int sum = 0;
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::budget<lv::latency<1_s>>, lv::estimates_count>(
      lv::input<int> | lv::stage<"decode">([](const int& i) { return 2 * i; }));
#else
  auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"decode">([](const int& i) { return 2 * i; }));
#endif
  auto results = app.stream<lv::on_late<&hear>>(items);
#ifdef LEVADA_CORRECT
  for (auto&& r : results) sum += r.value();
#endif
  return sum;
}
