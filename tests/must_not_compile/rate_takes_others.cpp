// SPDX-License-Identifier: Apache-2.0
// error: rate_cannot_take_what_the_stage_before_gives
// place: "mean"
// place: gives<double>
//
// A rate of two for one whose callable takes other items.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto mean = lv::rate<"mean", 2, 1, int>(
      [](std::span<const int, 2> in, std::span<int, 1> out) { out[0] = (in[0] + in[1]) / 2; });
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"one">([](const int& x) { return x + 1; }) | mean;
#else
  auto p = lv::input<int> | lv::stage<"one">([](const int& x) { return x + 1.0; }) | mean;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push(1);
  session.push(2);
  return session.pop()->value();
}
