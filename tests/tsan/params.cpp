// SPDX-License-Identifier: Apache-2.0
// Settings replaced while items are in flight, for ThreadSanitizer.

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/deploy/rated_fork.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

namespace lv = levada;

TEST_CASE("no race between who replaces settings, pushers and workers") {
  constexpr auto add = [](const long& x, const long& more) { return x + more; };
  const auto app = lv::deploy<lv::target<lv::cpu<3>>, lv::run_by<lv::thread_executor>, lv::slots<16>>(
      lv::input<long> | lv::params<"a">(lv::stage<"first">(lv::adjustable<"first">(add, 0L))) | lv::split_here |
      lv::stage<"count">([n = 0L](const long& x) mutable { return ++n > 0 ? x : 0; }) |
      lv::params<"a">(lv::stage<"second">(lv::adjustable<"second">(add, 0L))));
  auto session = app.open();
  std::atomic<bool> over{false};
  std::thread changer([&] {
    for (long v = 1; v <= 500; ++v) app.params<"a">().set<"first", "second">(v, -v);
    over.store(true);
  });
  std::thread pusher([&] {
    while (!over.load()) session.push(7L);
    session.close();
  });
  bool all_of_one_version = true;
  while (auto r = session.pop()) all_of_one_version = all_of_one_version && **r == 7;
  CHECK(all_of_one_version);
  CHECK(app(3L) == 3);
  changer.join();
  pusher.join();
}

TEST_CASE("no race between who replaces settings in branches that change their rate, pushers and workers") {
  constexpr auto add = [](const long& x, const long& more) { return x + more; };
  const auto app = lv::deploy<lv::target<lv::cpu<3>>, lv::run_by<lv::thread_executor>, lv::slots<16>>(
      lv::input<long> |
      lv::fork(lv::downsample<2> | lv::params<"a">(lv::stage<"first">(lv::adjustable<"first">(add, 0L)) |
                                                   lv::stage<"second">(lv::adjustable<"second">(add, 0L))),
               lv::downsample<2>) |
      lv::join<"difference">([](const long& a, const long& b) { return a - b; }));
  auto session = app.open();
  auto other = app.open();
  std::atomic<bool> over{false};
  std::thread changer([&] {
    for (long v = 1; v <= 500; ++v) app.params<"a">().set<"first", "second">(v, -v);
    over.store(true);
  });
  const auto push_all = [&](auto& to) {
    while (!over.load()) to.push(7L);
    to.close();
  };
  const auto all_of_one_version = [](auto& of) {
    bool all = true;
    while (auto r = of.pop()) all = all && **r == 0;
    return all;
  };
  std::thread pusher([&] { push_all(session); });
  std::thread other_pusher([&] { push_all(other); });
  bool others_too = false;
  std::thread popper([&] { others_too = all_of_one_version(other); });
  CHECK(all_of_one_version(session));
  for (std::thread* t : {&changer, &pusher, &other_pusher, &popper}) t->join();
  CHECK(others_too);
}
