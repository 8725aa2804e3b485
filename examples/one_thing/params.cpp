// SPDX-License-Identifier: Apache-2.0
// A setting is replaced while items flow: those pushed before keep the old one.

#include <cstdio>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto scaled = lv::adjustable<"factor">(
      +[](const float& x, const float& factor) { return x * factor; }, 2.0f);
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<float> | lv::params<"gain">(lv::stage<"scale">(scaled)));
  auto session = app.open();
  session.push(1.0f);
  app.params<"gain">().set<"factor">(10.0f);
  session.push(1.0f);
  const float before = session.pop()->value(), after = session.pop()->value();
  std::printf("before %g, after %g\n", static_cast<double>(before), static_cast<double>(after));
  return before == 2.0f && after == 10.0f ? 0 : 1;
}
