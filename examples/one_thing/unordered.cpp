// SPDX-License-Identifier: Apache-2.0
// Independent requests: a short one does not wait behind a long one.

#include <chrono>
#include <cstdio>
#include <thread>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  // A request takes as many milliseconds as it says.
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"serve">(lv::parallel([](const int& ms) {
                                           std::this_thread::sleep_for(std::chrono::milliseconds(ms));
                                           return ms;
                                         })));
  auto session = app.open<lv::unordered>();
  for (const int ms : {300, 1, 2, 3}) session.push(ms);
  session.close();

  int sum = 0;
  lv::item_envelope envelope;  // with the number of the request
  while (const auto result = session.pop(envelope)) {
    std::printf("request %d took %d ms\n", static_cast<int>(envelope.sequence), **result);
    sum += **result;
  }
  return sum == 306 ? 0 : 1;
}
