// SPDX-License-Identifier: Apache-2.0
// Several threads push into one session.

#include <cstdio>
#include <thread>
#include <vector>

#include <levada/levada.hpp>
#include <levada/run/multi_producer.hpp>

namespace lv = levada;

int main() {
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"negate">([](const int& x) { return -x; }));
  auto session = app.open();
  lv::multi_producer producers(session);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 250; ++i) producers.push(1000 * t + i);
    });
  long sum = 0;
  for (int popped = 0; popped < 1000; ++popped) sum += session.pop()->value();
  for (auto& t : threads) t.join();
  std::printf("sum of 1000 items: %ld\n", sum);
  return sum == -1624500 ? 0 : 1;
}
