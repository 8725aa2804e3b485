// SPDX-License-Identifier: Apache-2.0
// Outputs popped by threads of their own, for ThreadSanitizer: slots are freed by whoever pops the last part of an
// item.

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

namespace lv = levada;

TEST_CASE("no race between outputs") {
  const auto app = lv::deploy<lv::target<lv::cpu<3>>, lv::run_by<lv::thread_executor>, lv::slots<4>>(
      lv::input<int> | lv::stage<"some">(+[](const int& i) -> std::optional<int> {
        if (i % 3 == 1) return std::nullopt;
        return i;
      }) |
      lv::graph(lv::port<"n", int>, lv::node<"a", "n">(lv::stage<"a">(+[](const int& i) {
                  if (i % 50 == 3) throw std::runtime_error("3");
                  return std::to_string(i);
                })),
                lv::node<"b", "n">(lv::stage<"b">(+[](const int& i) { return std::to_string(-i); })),
                lv::output<"a", "a">, lv::output<"b", "b">));
  auto session = app.open();
  std::thread pusher([&] {
    for (int i = 0; i < 3'000; ++i) session.push(i);
    session.close();
  });
  int a = 0, b = 0;
  std::thread other([&] {
    while (auto r = session.pop<"b">()) b += r->has_value() && (**r)[0] != '+';
  });
  while (auto r = session.pop<"a">()) a += r->has_value() && (**r)[0] != '+';
  other.join();
  pusher.join();
  CHECK(a == 1'960);
  CHECK(b == 1'960);
  CHECK(session.counts().failed == 40);
  CHECK(session.is_over());
}
