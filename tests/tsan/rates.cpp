// SPDX-License-Identifier: Apache-2.0
// Items that pass from region to region, and ports pushed to by threads of their own, by turns and by time, for
// ThreadSanitizer.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

namespace lv = levada;

TEST_CASE("no race between regions of different rates") {
  const auto app = lv::deploy<lv::target<lv::cpu<3>>, lv::run_by<lv::thread_executor>, lv::slots<8>>(
      lv::input<int> | lv::stage<"text">(+[](const int& i) {
        if (i % 50 == 17) throw std::runtime_error("17");
        return std::to_string(i);
      }) |
      lv::batch<4> | lv::stage<"mark">([](std::array<std::string, 4>& b) {
        for (std::string& s : b) s += "!";
      }) |
      lv::unbatch | lv::stage<"count">([n = 0](const std::string& s) mutable { return s + std::to_string(n++); }) |
      lv::repeat<2>);
  auto session = app.open();
  std::thread pusher([&] {
    for (int i = 0; i < 1'000; ++i) session.push(i);
    session.close();
  });
  int popped = 0, failed = 0;
  while (auto r = session.pop()) ++(*r ? popped : failed);
  pusher.join();
  CHECK(popped == 2 * 980);
  CHECK(failed == 20);
}

TEST_CASE("no race between ports") {
  const auto app = lv::deploy<lv::target<lv::cpu<3>>, lv::run_by<lv::thread_executor>, lv::slots<8>>(lv::graph(
      lv::port<"a", std::string>, lv::port<"b", int>, lv::port<"c", std::string>,
      lv::node<"y", "a", "b", "c">(lv::join<"y">(
          +[](const std::string& a, const int& b, const std::string& c) { return a + std::to_string(b) + c; })),
      lv::output<"y", "y">));
  auto session = app.open();
  std::thread a([&] {
    for (int i = 0; i < 1'000; ++i) session.push<"a">("a");
  });
  std::thread b([&] {
    for (int i = 0; i < 1'000; ++i) session.push<"b">(i);
  });
  std::thread c([&] {
    for (int i = 0; i < 1'000; ++i) session.push<"c">("c");
  });
  for (int i = 0; i < 1'000; ++i) CHECK(**session.pop() == "a" + std::to_string(i) + "c");
  a.join();
  b.join();
  c.join();
}

TEST_CASE("no race between ports whose items meet by time") {
  using namespace lv::literals;
  using pair = lv::named_items<lv::named_item<"a", std::string>, lv::named_item<"b", std::string>>;
  const auto app = lv::deploy<lv::target<lv::cpu<3>>, lv::run_by<lv::thread_executor>, lv::slots<8>>(
      lv::sync_by_time<lv::tolerance<1_ms>>(lv::port<"a", std::string>, lv::port<"b", std::string>) |
      lv::stage<"both">(+[](const pair& p) { return p.get<"a">() == p.get<"b">(); }));
  auto session = app.open();
  const auto at = [](int i) {
    return std::chrono::steady_clock::time_point() + std::chrono::milliseconds(10 * i + 10);
  };
  std::thread a([&] {
    for (int i = 0; i < 1'000; ++i) session.push<"a">(std::to_string(i), at(i));
  });
  std::thread b([&] {
    for (int i = 0; i < 1'000; ++i) session.push<"b">(std::to_string(i), at(i));
  });
  bool all_met = true;
  for (int i = 0; i < 1'000; ++i) all_met = all_met && **session.pop();
  CHECK(all_met);
  a.join();
  b.join();
}

TEST_CASE("no race where workers and waiting threads let in what a port that gives nothing held up") {
  using namespace lv::literals;
  using pair = lv::named_items<lv::named_item<"a", std::string>, lv::named_item<"b", std::string>>;
  const auto app = lv::deploy<lv::target<lv::cpu<3>>, lv::run_by<lv::thread_executor>, lv::slots<8>>(
      lv::sync_by_time<lv::tolerance<1000_s>, lv::stall<1_ms>>(lv::port<"a", std::string>,
                                                               lv::held(lv::port<"b", std::string>)) |
      lv::stage<"b">(+[](const pair& p) { return p.get<"b">(); }));
  const auto check = [](auto session) {
    session.template push<"b">("b");
    std::thread a([&] {
      for (int i = 0; i < 300; ++i) {
        session.template push<"a">(std::to_string(i));
        if (i % 100 == 0) session.drain();
      }
    });
    bool all_met = true;
    for (int i = 0; i < 299; ++i) all_met = all_met && **session.pop() == "b";  // one is left at the session's end
    CHECK(all_met);
    a.join();
  };
  check(app.open());
  check(app.open<lv::dedicated>());
}
