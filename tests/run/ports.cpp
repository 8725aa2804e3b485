// SPDX-License-Identifier: Apache-2.0
// Graphs of several ports and outputs: items by their names, on every path.

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/levada.hpp>
#include <levada/run/simulated.hpp>

namespace run_ports {

namespace lv = levada;

using box = lv::target<lv::cpu<2>, lv::simulated<0>>;

/// Text of many bytes, so that what is destroyed twice, or never, is found.
std::string text(int i) { return std::string(40, 'x') + std::to_string(i); }

const auto glue = [](const std::string& a, const int& b) { return a + "+" + std::to_string(b); };

auto two_by_two() {
  return lv::graph(lv::port<"name", std::string>, lv::port<"n", int>,
                   lv::node<"twice", "n">(lv::stage<"twice">(+[](const int& n) { return 2 * n; })),
                   lv::node<"mark", "name">(lv::stage<"mark">([](std::string& s) { s += "!"; })),
                   lv::node<"glue", "mark", "n">(lv::join<"glue">(glue)), lv::output<"text", "glue">,
                   lv::output<"number", "twice">);
}

TEST_CASE("a graph of two ports and two outputs, called, streamed and in a session") {
  const auto app = lv::deploy<box>(two_by_two());
  using app_type = decltype(app);
  static_assert(
      std::is_same_v<app_type::item, lv::named_items<lv::named_item<"name", std::string>, lv::named_item<"n", int>>>);
  static_assert(std::is_same_v<app_type::output,
                               lv::named_items<lv::named_item<"text", std::string>, lv::named_item<"number", int>>>);
  const auto check = [](const auto& out, int i) {
    CHECK(out.template get<"text">() == text(i) + "!+" + std::to_string(i));
    CHECK(out.template get<"number">() == 2 * i);
  };
  for (int i = 0; i < 5; ++i) check(app({text(i), i}), i);
  const app_type::item kept{text(7), 7};
  check(app(kept), 7);
  CHECK(kept.get<"name">() == text(7));

  std::vector<app_type::item> items;
  for (int i = 0; i < 300; ++i) items.push_back({text(i), i});
  int next = 0;
  for (auto&& r : app.stream(items)) check(*r, next++);
  CHECK(next == 300);
  CHECK(items[5].get<"name">() == text(5));

  auto session = app.open();
  std::jthread pusher([&] {
    for (int i = 0; i < 300; ++i) session.push({text(i), i});
    session.close();
  });
  for (int i = 0; i < 300; ++i) {
    auto r = session.pop();
    REQUIRE(r);
    check(**r, i);
  }
  CHECK(!session.pop());
}

TEST_CASE("ports and outputs across devices and segments") {
  const auto app = lv::deploy<box, lv::slots<8>>(lv::graph(
      lv::port<"name", std::string>, lv::port<"n", int>, lv::port<"other", std::string>,
      lv::node<"there", "name">(lv::on<lv::simulated<0>>(lv::stage<"there">([](std::string&& s) { return s + "?"; }))),
      lv::node<"size", "other">(lv::stage<"size">(+[](const std::string& s) { return s.size(); }) | lv::split_here |
                                lv::stage<"square">(+[](const std::size_t& n) { return n * n; })),
      lv::node<"glue", "there", "n">(lv::join<"glue">(glue)),
      lv::node<"end", "there", "other">(
          lv::join<"end">(+[](const std::string& a, const std::string& b) { return a + b; })),
      lv::output<"glued", "glue">, lv::output<"size", "size">, lv::output<"end", "end">));
  static_assert(decltype(app)::plan.segments >= 3);
  std::vector<decltype(app)::item> items;
  for (int i = 0; i < 200; ++i) items.push_back({text(i), i, text(i * i)});
  int i = 0;
  for (auto&& r : app.stream(items)) {
    CHECK(r->get<"glued">() == text(i) + "?+" + std::to_string(i));
    CHECK(r->get<"size">() == text(i * i).size() * text(i * i).size());
    CHECK(r->get<"end">() == text(i) + "?" + text(i * i));
    ++i;
  }
  CHECK(i == 200);
}

TEST_CASE("a graph of several ports and outputs inside a larger one joins and forks; items that fail leave nothing") {
  const auto app = lv::deploy<box>(
      lv::input<int> |
      lv::fork(lv::stage<"text">([](const int& i) {
                 if (i % 7 == 3) throw std::runtime_error("seven");
                 return text(i);
               }),
               lv::identity) |
      two_by_two() | lv::join<"both">([](const std::string& s, const int& n) -> std::optional<std::string> {
        if (n % 8 == 0) return std::nullopt;
        return s + "/" + std::to_string(n);
      }));
  std::vector<int> items;
  for (int i = 0; i < 300; ++i) items.push_back(i);
  int i = 0;
  for (auto&& r : app.stream(items)) {
    while (i % 4 == 0 && i % 7 != 3) ++i;
    if (i % 7 == 3)
      CHECK_THROWS_WITH(r.value(), "seven");
    else
      CHECK(*r == text(i) + "!+" + std::to_string(i) + "/" + std::to_string(2 * i));
    ++i;
  }
}

TEST_CASE("what is given by a stage as named items is taken by ports; an output may fail behind another") {
  using pair = lv::named_items<lv::named_item<"a", std::string>, lv::named_item<"b", std::unique_ptr<int>>>;
  const auto app =
      lv::deploy<box>(lv::input<int> | lv::stage<"pair">(+[](const int& i) {
                        return pair{text(i), std::make_unique<int>(i)};
                      }) |
                      lv::graph(lv::port<"a", std::string>, lv::port<"b", std::unique_ptr<int>>,
                                lv::node<"x", "a">(lv::stage<"x">([](std::string&& s) { return s + "."; })),
                                lv::node<"y", "b">(lv::stage<"y">([](const std::unique_ptr<int>& p) {
                                  if (*p % 5 == 2) throw std::runtime_error("five");
                                  return std::make_unique<int>(-*p);
                                })),
                                lv::output<"x", "x">, lv::output<"y", "y">));
  std::vector<int> items;
  for (int i = 0; i < 200; ++i) items.push_back(i);
  int i = 0;
  for (auto&& r : app.stream(items)) {
    if (i % 5 == 2) {
      CHECK_THROWS_WITH(r.value(), "five");
    } else {
      CHECK(r->get<"x">() == text(i) + ".");
      CHECK(*r->get<"y">() == -i);
    }
    ++i;
  }
  CHECK(i == 200);
}

TEST_CASE("a result that a tee behind it takes too") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"text">(+[](const int& i) { return text(i); }) |
                                   lv::tee(lv::sink<"end">(+[](const std::string& s) {
                                     if (s.back() == '9') throw std::runtime_error("nine");
                                   })));
  CHECK(app(3) == text(3));
  std::vector<int> items;
  for (int i = 0; i < 100; ++i) items.push_back(i);
  int i = 0;
  for (auto&& r : app.stream(items)) {
    if (i % 10 == 9)
      CHECK_THROWS_WITH(r.value(), "nine");
    else
      CHECK(*r == text(i));
    ++i;
  }
}

TEST_CASE("a pipeline of a tee alone gives its items back") {
  int seen = 0;
  const auto app =
      lv::deploy<box>(lv::input<std::string> | lv::tee(lv::sink<"count">([&seen](const std::string&) { ++seen; })));
  CHECK(app(text(1)) == text(1));
  std::vector<std::string> items(50, text(2));
  for (auto&& r : app.stream(items)) CHECK(*r == text(2));
  CHECK(items[0] == text(2));
  CHECK(seen == 51);
}

TEST_CASE("a session is pushed to by ports, each by a thread of its own") {
  const auto app = lv::deploy<box, lv::slots<8>>(two_by_two());
  auto session = app.open();
  std::jthread names([&] {
    for (int i = 0; i < 500; ++i) CHECK(session.push<"name">(text(i)));
  });
  std::jthread numbers([&] {
    for (int i = 0; i < 500; ++i) CHECK(session.push<"n">(i));
  });
  for (int i = 0; i < 500; ++i) {
    auto r = session.pop();
    REQUIRE(r);
    CHECK((*r)->get<"text">() == text(i) + "!+" + std::to_string(i));
    CHECK((*r)->get<"number">() == 2 * i);
  }
  names.join();
  numbers.join();
  CHECK(!session.try_pop());
  CHECK(session.counts().delivered == 500);
}

TEST_CASE(
    "one thread pushes to ports in turns; what has no partner is dropped at the end, and never lost from memory") {
  const auto app = lv::deploy<box, lv::slots<4>>(two_by_two());
  auto session = app.open();
  for (int i = 0; i < 4; ++i) CHECK(session.try_push<"name">(text(i)));
  CHECK(!session.try_push<"name">(text(4)));
  CHECK_THROWS_WITH_AS(session.push<"name">(text(4)),
                       "levada: push: this port is full, and only this thread has ever pushed to the others",
                       lv::error);
  CHECK(!session.try_pop());
  CHECK(session.counts().in_flight == 4);
  for (int i = 0; i < 3; ++i) CHECK(session.push<"n">(i));
  for (int i = 0; i < 3; ++i) CHECK((*session.pop())->get<"number">() == 2 * i);
  CHECK_THROWS_WITH_AS(session.pop(), "levada: pop: nothing is in flight, and only this thread has ever pushed",
                       lv::error);
  CHECK_THROWS_WITH_AS(session.push({text(1), 1}),
                       "levada: push: items were pushed by ports before, and cannot be pushed whole now", lv::error);
  auto whole = app.open();
  whole.push({text(1), 1});
  CHECK_THROWS_WITH_AS(whole.push<"n">(1),
                       "levada: push: items were pushed whole before, and cannot be pushed by ports now", lv::error);
  CHECK(session.push<"name">(text(4)));
  session.close();
  const lv::item_counts counts = session.counts();
  CHECK(counts.pushed == 5);
  CHECK(counts.delivered == 3);
  CHECK(counts.dropped == 2);
  CHECK(counts.in_flight == 0);
  CHECK(!session.pop());
}

TEST_CASE(
    "ports that meet by number block or reject, each as it was told; a session that drops takes whole items alone") {
  const auto app = lv::deploy<box, lv::slots<4>>(two_by_two());
  auto session = app.open<lv::overflow<lv::reject, "n">>();
  for (int i = 0; i < 4; ++i) CHECK(session.push<"n">(i));
  CHECK(!session.push<"n">(4));
  std::jthread names([&] {
    for (int i = 0; i < 200; ++i) CHECK(session.push<"name">(text(i)));
  });
  std::jthread numbers([&] {
    for (int i = 4; i < 200; ++i)
      while (!session.push<"n">(i)) std::this_thread::yield();
  });
  for (int i = 0; i < 200; ++i) CHECK((**session.pop()).get<"text">() == text(i) + "!+" + std::to_string(i));
  names.join();
  numbers.join();
  CHECK(session.counts().pushed == 200);
  CHECK(session.counts().dropped == 0);

  auto dropping = app.open<lv::overflow<lv::drop_newest>>();
  CHECK(dropping.push({text(0), 0}));
  CHECK_THROWS_WITH_AS(
      dropping.push<"n">(1),
      "levada: push: a session that drops items is pushed whole items, not ports: they would lose their "
      "partners",
      lv::error);
}

TEST_CASE("ports changed in place, by a stage that throws and is told of those that did not come") {
  struct told {
    int missing = 0;
    void operator()(std::string& s) {
      if (s.back() == '4') throw std::runtime_error("four");
      s += std::to_string(missing);
    }
    void missed(lv::missing) noexcept { ++missing; }
  };
  const auto app = lv::deploy<box>(lv::graph(
      lv::port<"a", std::string>, lv::port<"b", std::string>, lv::node<"x", "a">(lv::stage<"odd">([](std::string& s) {
        if (s.back() == '3') throw std::runtime_error("three");
      })),
      lv::node<"y", "b">(lv::stage<"told">(told{})), lv::output<"x", "x">, lv::output<"y", "y">));
  using item = decltype(app)::item;
  std::vector<item> items;
  for (int i = 0; i < 100; ++i) items.push_back({text(i), text(i)});
  int i = 0, missing = 0;
  for (auto&& r : app.stream(items)) {
    if (i % 10 == 3) {
      CHECK_THROWS_WITH(r.value(), "three");
      ++missing;
    } else if (i % 10 == 4) {
      CHECK_THROWS_WITH(r.value(), "four");
    } else {
      CHECK(r->get<"x">() == text(i));
      CHECK(r->get<"y">() == text(i) + std::to_string(missing));
    }
    ++i;
  }
  CHECK(i == 100);
}

}  // namespace run_ports
