// SPDX-License-Identifier: Apache-2.0
// Sessions of several outputs, popped by their names: each in order, each at its own pace, by threads of their own.

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/levada.hpp>

namespace run_port_results {

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;

/// Text of many bytes, so that what is destroyed twice, or never, is found.
std::string text(int i) { return std::string(40, 'x') + std::to_string(i); }

/// Of a number its text, and twice itself; of some nothing, and some fail.
template <class... Options>
auto text_and_twice() {
  return lv::deploy<box, Options...>(
      lv::input<int> | lv::stage<"some">(+[](const int& i) -> std::optional<int> {
        if (i % 5 == 4) return std::nullopt;
        return i;
      }) |
      lv::graph(lv::port<"n", int>, lv::node<"text", "n">(lv::stage<"text">(+[](const int& i) {
                  if (i % 7 == 6) throw std::runtime_error("seven");
                  return text(i);
                })),
                lv::node<"twice", "n">(lv::stage<"twice">(+[](const int& i) { return 2 * i; })),
                lv::output<"text", "text">, lv::output<"number", "twice">));
}
bool is_filtered(int i) { return i % 5 == 4; }
bool fails(int i) { return i % 7 == 6; }

/// All of an output, until nothing more comes.
template <lv::fixed_string Output, class Session, class Check>
int pop_all(Session& session, Check check) {
  int i = 0, count = 0;
  while (auto r = session.template pop<Output>()) {
    while (is_filtered(i)) ++i;
    CHECK(r->has_value() == !fails(i));
    if (*r) check(**r, i);
    ++i, ++count;
  }
  return count;
}

constexpr int items = 2000;
constexpr int results = items - items / 5;

TEST_CASE("outputs are popped by name at different paces, and a slot is free behind the last of them") {
  const auto app = text_and_twice<lv::slots<4>>();
  auto session = app.open();
  CHECK(!session.try_pop<"text">());
  for (int i = 0; i < 4; ++i) CHECK(session.push(i));
  session.drain();
  lv::item_envelope envelope;
  for (int i = 0; i < 4; ++i) {
    CHECK(**session.pop<"number">(envelope) == 2 * i);
    CHECK(envelope.sequence == static_cast<std::uint64_t>(i));
  }
  CHECK(!session.try_pop<"number">());
  CHECK(!session.try_push(5));
  CHECK(session.counts().delivered == 0);
  CHECK(**session.pop<"text">() == text(0));
  CHECK(**session.try_pop<"text">() == text(1));
  CHECK(session.counts().delivered == 2);
  CHECK(session.try_push(5));
  CHECK(session.push(6));
  session.close();
  CHECK(**session.pop<"number">() == 10);
  CHECK_THROWS_WITH(session.pop<"number">()->value(), "seven");
  CHECK(!session.pop<"number">());
  CHECK(!session.is_over());
  CHECK(**session.pop<"text">() == text(2));
  CHECK(**session.pop<"text">() == text(3));
  CHECK(**session.pop<"text">() == text(5));
  CHECK_THROWS_WITH(session.pop<"text">()->value(), "seven");
  CHECK(!session.pop<"text">());
  CHECK(session.is_over());
  CHECK(session.counts().delivered == 5);
  CHECK(session.counts().failed == 1);
}

TEST_CASE("each output is popped by a thread of its own") {
  const auto app = text_and_twice<lv::slots<8>>();
  auto session = app.open();
  std::jthread pusher([&] {
    for (int i = 0; i < items; ++i) session.push(i);
    session.close();
  });
  int numbers = 0;
  std::jthread popper([&] { numbers = pop_all<"number">(session, [](const int& n, int i) { CHECK(n == 2 * i); }); });
  CHECK(pop_all<"text">(session, [](const std::string& s, int i) { CHECK(s == text(i)); }) == results);
  popper.join();
  pusher.join();
  CHECK(numbers == results);
  CHECK(session.is_over());
  const lv::item_counts counts = session.counts();
  CHECK(counts.pushed == items);
  CHECK(counts.filtered == items / 5);
  CHECK(counts.delivered + counts.failed == results);
}

TEST_CASE("who waits for oneself is told so") {
  const auto app = text_and_twice<lv::slots<4>>();
  auto session = app.open();
  for (int i = 0; i < 4; ++i) session.push(i);
  for (int i = 0; i < 4; ++i) session.pop<"number">();
  CHECK_THROWS_WITH_AS(session.push(4), "levada: push: the pipeline is full of results, and no other thread pops any",
                       lv::error);
  CHECK_THROWS_WITH_AS(
      session.pop<"number">(),
      "levada: pop: the session is full of what another output has not popped, and only this thread ever popped",
      lv::error);
  for (int i = 0; i < 4; ++i) session.pop<"text">();
  CHECK_THROWS_WITH_AS(session.pop<"text">(), "levada: pop: nothing is in flight, and only this thread has ever pushed",
                       lv::error);
  CHECK_THROWS_WITH_AS(session.pop(),
                       "levada: pop: results were popped by outputs before, and cannot be popped whole now", lv::error);
  auto whole = app.open();
  whole.push(1);
  CHECK((*whole.pop())->get<"number">() == 2);
  CHECK_THROWS_WITH_AS(whole.pop<"text">(),
                       "levada: pop: results were popped whole before, and cannot be popped by outputs now", lv::error);
  session.push(0);
  session.drain();
  session.pop<"text">();  // and the number of that item is never popped
}

TEST_CASE("outputs of a graph that changes its rate, of items pushed by ports") {
  const auto app = lv::deploy<box, lv::slots<2>>(lv::graph(
      lv::port<"a", int>, lv::port<"b", std::string>,
      lv::node<"firsts", "b">(lv::batch<2> |
                              lv::stage<"first">(+[](const std::array<std::string, 2>& s) { return s[0]; })),
      lv::node<"lasts", "a">(lv::batch<2> | lv::stage<"last">(+[](const std::array<int, 2>& i) { return i[1]; })),
      lv::output<"text", "firsts">, lv::output<"number", "lasts">));
  auto session = app.open();
  std::jthread numbers([&] {
    for (int i = 0; i < 400; ++i) session.push<"a">(i);
  });
  std::jthread texts([&] {
    for (int i = 0; i < 400; ++i) session.push<"b">(text(i));
  });
  std::jthread popper([&] {
    for (int i = 0; i < 400; i += 2) CHECK(**session.pop<"text">() == text(i));
  });
  for (int i = 0; i < 400; i += 2) CHECK(**session.pop<"number">() == i + 1);
  popper.join();
  numbers.join();
  texts.join();
  session.close();
  CHECK(!session.pop<"text">());
  CHECK(!session.pop<"number">());
  CHECK(session.is_over());
}

}  // namespace run_port_results
