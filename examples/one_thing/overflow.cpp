// SPDX-License-Identifier: Apache-2.0
// A source that is faster than the pipeline: the oldest item that waits gives its place to the newest. Results that
// nobody pops keep theirs.

#include <cstdio>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto app = lv::deploy<lv::target<lv::cpu<1>>, lv::slots<4>>(lv::input<int> |
                                                                    lv::stage<"same">([](const int& x) { return x; }));
  auto session = app.open<lv::overflow<lv::drop_oldest>>();
  for (int i = 0; i < 1000; ++i) session.push(i);  // never waits, though nobody pops
  session.close();
  int last = -1;
  while (auto result = session.pop()) last = result->value();
  const lv::item_counts counts = session.counts();
  std::printf("%llu delivered, %llu dropped, the last is %d\n", static_cast<unsigned long long>(counts.delivered),
              static_cast<unsigned long long>(counts.dropped), last);
  return counts.delivered + counts.dropped == 1000 && counts.delivered > 0 ? 0 : 1;
}
