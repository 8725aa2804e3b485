// SPDX-License-Identifier: Apache-2.0
// Results go to a callback, in the order of their items, on the session's own thread.

#include <cstdio>

#include <levada/levada.hpp>
#include <levada/run/callback_session.hpp>

namespace lv = levada;

int main() {
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"square">([](const int& x) { return x * x; }));
  long sum = 0;
  {
    lv::callback_session session(app.open(), [&](lv::result<int&> result) { sum += result.value(); });
    for (int i = 1; i <= 100; ++i) session.push(i);
    session.drain();  // until the callback has had all
  }
  std::printf("sum of squares to 100: %ld\n", sum);
  return sum == 338350 ? 0 : 1;
}
