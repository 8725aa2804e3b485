// SPDX-License-Identifier: Apache-2.0
// Results that are written into memory of the caller: by calls and sessions, on every path, and nowhere else.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/levada.hpp>
#include <levada/run/simulated.hpp>

namespace run_external_results {

namespace lv = levada;

using picture = lv::tensor<float, 3, 5>;
using box = lv::target<lv::cpu<2>, lv::simulated<0>>;

picture made(int x) {
  picture p;
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = static_cast<float>(x) + static_cast<float>(i);
  return p;
}
bool is_made(const picture& p, int x) {
  for (std::size_t i = 0; i < p.size(); ++i)
    if (p[i] != static_cast<float>(x) + static_cast<float>(i)) return false;
  return true;
}

/// Its result is made by one stage and changed by others, in order and in parallel; some are filtered, some fail.
auto drawing() {
  return lv::input<int> | lv::stage<"some">([](const int& x) -> std::optional<int> {
           if (x % 7 == 5) return std::nullopt;
           return x;
         }) |
         lv::stage<"draw">(+[](const int& x) {
           if (x % 11 == 3) throw std::runtime_error("elevens");
           return made(x - 2);
         }) |
         lv::stage<"one">([](picture& p) {
           for (float& v : p.values) v += 1;
         }) |
         lv::stage<"two">(+[](picture& p) {
           for (float& v : p.values) v += 1;
         });
}
/// The result comes from a device.
auto drawing_there() {
  return lv::input<int> | lv::stage<"here">(+[](const int& x) { return x; }) |
         lv::on<lv::simulated<0>>(lv::stage<"draw">([](const int& x) { return made(x); }));
}
/// The result is the input itself.
auto changing() {
  return lv::input<picture> | lv::stage<"change">([](picture& p) {
           for (float& v : p.values) v += 1;
         });
}

/// Where the results of a session go: more places than slots, each used once.
struct places {
  std::unique_ptr<picture[]> at = std::make_unique<picture[]>(400);
};

TEST_CASE("a session writes each result to the place that came with its item, and pops a reference to it") {
  const auto app = lv::deploy<box>(drawing());
  auto session = app.open<lv::external_results>();
  static_assert(std::same_as<decltype(session.pop()), std::optional<lv::result<picture&>>>);
  places to;
  std::jthread pusher([&] {
    for (int x = 0; x < 400; ++x) session.push(x, to.at[static_cast<std::size_t>(x)]);
    session.close();
  });
  for (int x = 0; x < 400; ++x) {
    if (x % 7 == 5) continue;
    const auto r = session.pop();
    REQUIRE(r);
    CHECK(r->has_value() == (x % 11 != 3));
    if (!*r) continue;
    CHECK(&r->value() == &to.at[static_cast<std::size_t>(x)]);
    CHECK(is_made(**r, x));
  }
  CHECK(!session.pop());
}

TEST_CASE("the result of a device, of a stage that changes its input, of a session that never blocks") {
  places to;
  {
    auto session = lv::deploy<box>(drawing_there()).open<lv::external_results>();
    for (int x = 0; x < 200; ++x) {
      session.push(x, to.at[static_cast<std::size_t>(x)]);
      if (x >= 10) CHECK(is_made(*session.pop().value(), x - 10));
    }
  }
  {
    auto session = lv::deploy<box>(changing()).open<lv::external_results>();
    for (int x = 0; x < 20; ++x) session.push(made(x), to.at[static_cast<std::size_t>(x)]);
    for (int x = 0; x < 20; ++x) {
      const auto r = session.pop();
      CHECK(&**r == &to.at[static_cast<std::size_t>(x)]);
      CHECK(is_made(**r, x + 1));
    }
  }
  {
    auto session = lv::deploy<box>(changing()).open<lv::external_results, lv::overflow<lv::reject>>();
    CHECK(session.try_push(made(3), to.at[0]));
    CHECK(is_made(*session.pop().value(), 4));
  }
}

TEST_CASE("a call writes its result to the caller's place, and leaves it alone where there is none") {
  const auto app = lv::deploy<box>(drawing());
  picture to = made(100);
  CHECK(app(1, to));
  CHECK(is_made(to, 1));
  CHECK(!app(5, to));
  CHECK(is_made(to, 1));
  CHECK_THROWS_WITH_AS(app(3, to), "elevens", std::runtime_error);
  CHECK(is_made(*app(8), 8));  // by value again
  CHECK(is_made(to, 1));

  CHECK(lv::deploy<box>(drawing_there())(6, to));
  CHECK(is_made(to, 6));
  const picture given = made(30);
  CHECK(lv::deploy<box>(changing())(given, to));
  CHECK(is_made(to, 31));
  CHECK(is_made(given, 30));
}

}  // namespace run_external_results
