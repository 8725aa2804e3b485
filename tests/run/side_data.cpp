// SPDX-License-Identifier: Apache-2.0
// Side data and envelopes: attached by one stage, they are with the item at every stage behind it and at pop, on any
// path.

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>
#include <levada/levada.hpp>
#include <levada/run/simulated.hpp>

namespace run_side_data {

namespace lv = levada;
using namespace std::chrono_literals;

using time_point = std::chrono::steady_clock::time_point;

struct letterbox {
  float scale = 1;
  std::int16_t left = 0;
};
struct alignas(32) wide {
  double sum = 7;
  char tag = 'x';
};

/// Reads and changes in parallel and in order, past stages that know nothing of it, over a device, in all forms.
auto measured() {
  return lv::input<int> | lv::stage<"fit">(+[](const int& x, letterbox& box) {
           // Fresh each time, whatever was in the slot before.
           if (box.scale != 1 || box.left != 0) throw std::logic_error("not fresh");
           box = {static_cast<float>(x) * 0.5f, static_cast<std::int16_t>(x)};
           return x;
         }) |
         lv::stage<"model">([](const int& x) { return x * 2; }) |
         lv::stage<"some">([](const int& x, const letterbox& box) -> std::optional<int> {
           if (box.left % 5 == 3) return std::nullopt;
           return x;
         }) |
         lv::on<lv::simulated<0>>(lv::stage<"there">([](const int& x) { return x + 1; })) |
         lv::stage<"add">(lv::serial([](int& x, wide& w, const letterbox& box) {
           if (w.sum != 7) throw std::logic_error("not fresh");
           w.sum = x + box.left;
           x += 1;
         })) |
         lv::stage<"scale", double>([](const int& x, double& out, letterbox& box, const wide& w) {
           if (box.left % 7 == 6) throw std::runtime_error("sevens");
           out = x * double{box.scale} + w.sum;
           box.scale = -box.scale;
         });
}

double expected(int x) { return (x * 2 + 2) * (x * 0.5) + (x * 2 + 1 + x); }

using box = lv::target<lv::cpu<2>, lv::simulated<0>>;

TEST_CASE("side data travel with their item to later stages and to pop") {
  const auto app = lv::deploy<box>(measured());
  static_assert(decltype(app)::plan.slot_bytes % 32 == 0);
  for (int round = 0; round < 3; ++round) {
    auto session = app.open();
    session.on_error([](std::uint64_t, const std::exception_ptr&) noexcept {});
    std::vector<int> wanted;
    for (int x = 0; x < 500; ++x)
      if (x % 5 != 3) wanted.push_back(x);
    std::size_t next = 0;
    const auto pop = [&] {
      lv::item_envelope envelope;
      letterbox fitted{9, 9};
      wide sum{};
      auto out = session.pop(envelope, fitted, sum);
      const int x = wanted.at(next++);
      REQUIRE(out);
      CHECK(envelope.sequence == static_cast<std::uint64_t>(x));
      CHECK(envelope.captured == time_point(std::chrono::seconds(x + 1)));
      if (x % 7 == 6) {
        CHECK(!out->has_value());
        CHECK(fitted.scale == 1);  // of a failed item: none
        CHECK(sum.sum == 7);
      } else {
        CHECK(out->value() == doctest::Approx(expected(x)));
        CHECK(fitted.scale == -0.5f * static_cast<float>(x));
        CHECK(fitted.left == x);
        CHECK(sum.sum == x * 2 + 1 + x);
      }
    };
    int pushed = 0;
    while (pushed < 500) {
      if (session.credits() > 0) {
        session.push(pushed, time_point(std::chrono::seconds(pushed + 1)));
        ++pushed;
      } else {
        pop();
      }
    }
    session.close();
    while (next < wanted.size()) pop();
    CHECK(!session.pop());
  }
}

TEST_CASE("side data in inline calls and streams") {
  const auto app = lv::deploy<box>(measured());
  const auto alone = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> | lv::stage<"a">([](const int& x, letterbox& b) {
        b.left = static_cast<std::int16_t>(x);
        return x;
      }) |
      lv::stage<"b">([](const int& x, const letterbox& b, const lv::item_envelope& e) {
        return e.sequence == 0 && e.captured == time_point() ? x + b.left : -1;
      }));
  for (int x = 0; x < 20; ++x) {
    CHECK(alone(x) == 2 * x);
    if (x % 5 != 3 && x % 7 != 6) CHECK(app(x).value() == doctest::Approx(expected(x)));
  }
  std::vector<int> items(1000);
  for (int x = 0; x < 1000; ++x) items[static_cast<std::size_t>(x)] = x;
  int x = 0;
  for (auto&& r : app.stream(items)) {
    while (x % 5 == 3) ++x;
    CHECK(r.has_value() == (x % 7 != 6));
    if (r) CHECK(*r == doctest::Approx(expected(x)));
    ++x;
  }
}

TEST_CASE("a stage sees its item's envelope") {
  std::vector<std::uint64_t> seen;
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> | lv::stage<"a">([](const int& x) { return x; }) |
      lv::stage<"note">([&seen](const int&, const lv::item_envelope& e) { seen.push_back(e.sequence); }));
  auto session = app.open();
  for (int i = 0; i < 300; ++i) session.push(i);
  session.drain();
  CHECK(seen.size() == 300);
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == i);
}

TEST_CASE("a retried stage finds its side data again") {
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(
      lv::input<int> | lv::stage<"a">([](const int& x, letterbox& b) {
        b.left = static_cast<std::int16_t>(x);
        return x;
      }) |
      lv::stage<"b">(lv::serial(lv::retry<2>([calls = 0](const int& x, const letterbox& b) mutable {
        if (++calls % 3 != 0) throw std::runtime_error("again");
        return x + b.left;
      }))));
  for (int x = 0; x < 5; ++x) CHECK(app(x) == 2 * x);
}

TEST_CASE("what no stage attaches cannot be popped, and the item stays") {
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  auto session = app.open();
  session.push(3);
  lv::item_envelope envelope;
  letterbox none;
  CHECK_THROWS_WITH_AS(session.pop(envelope, none), "levada: pop: no stage attaches side data of this type", lv::error);
  CHECK(session.pop(envelope)->value() == 3);
}

}  // namespace run_side_data
