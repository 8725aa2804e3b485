// SPDX-License-Identifier: Apache-2.0
// An item that fails is delivered as its exception, in its place; its neighbours go on.

#include <array>
#include <cstdio>
#include <stdexcept>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"divide">([](const int& x) {
                                                        if (x == 0) throw std::domain_error("no inverse of 0");
                                                        return 100 / x;
                                                      }));
  int values = 0, failures = 0;
  for (auto&& result : app.stream(std::array{5, 0, 10})) {
    if (result)
      ++values;
    else
      ++failures;
  }
  std::printf("%d values, %d failure\n", values, failures);
  return values == 2 && failures == 1 ? 0 : 1;
}
