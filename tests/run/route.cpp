// SPDX-License-Identifier: Apache-2.0
// One of several branches for each item: which runs, in what memory, in what order; failures and state.

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <levada/interop/report.hpp>
#include <levada/levada.hpp>

#include "items.hpp"

namespace run_route {

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
constexpr auto is_even = [](const int& x) { return x % 2 == 0; };
constexpr auto half = lv::stage<"half">([](const int& x) { return x / 2; });
constexpr auto triple = lv::stage<"triple">([](const int& x) { return 3 * x; });
constexpr auto plus_one = lv::stage<"plus one">([](int& x) { ++x; });

std::vector<int> numbers(int count) {
  std::vector<int> all;
  for (int i = 0; i < count; ++i) all.push_back(i);
  return all;
}

TEST_CASE("a bool chooses the first branch where it is true; items keep their order") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::route(is_even, half, triple | plus_one));
  static_assert(decltype(app)::plan.unit[0].order == lv::concurrency::parallel);
  CHECK(app(10) == 5);
  CHECK(app(7) == 22);
  CHECK(lv::report(app).find("route (half / triple, plus one)") != std::string::npos);
  int x = 0;
  for (auto&& r : app.stream(numbers(1000))) {
    CHECK(*r == (x % 2 == 0 ? x / 2 : 3 * x + 1));
    ++x;
  }
  CHECK(x == 1000);
}

TEST_CASE("an index chooses among several; beyond the last the item fails") {
  const auto app = lv::deploy<box>(
      lv::input<int> | lv::route<"by size">([](const int& x) { return x / 10; }, lv::identity, half, triple));
  CHECK(app(9) == 9);
  CHECK(app(19) == 9);
  CHECK(app(20) == 60);
  CHECK_THROWS_WITH_AS(app(30), "levada: stage \"by size\" has 3 branches, and none of index 3", lv::error);
  CHECK_THROWS_WITH_AS(app(-10), "levada: stage \"by size\" has 3 branches, and none of index -1", lv::error);
}

TEST_CASE("branches that are not taken do not run, and all share one scratchpad") {
  using small = lv::tensor<float, 64>;
  using large = lv::tensor<float, 4096>;
  static std::atomic<int> ran{0};
  const auto sum = [](const auto& t) {
    float all = 0;
    for (const float x : t) all += x;
    return all;
  };
  const auto cheap = lv::stage<"widen", lv::tensor<float, 1024>>([](const small& in, lv::tensor<float, 1024>& out) {
                       for (std::size_t i = 0; i < 1024; ++i) out.data()[i] = in.data()[i % 64];
                     }) |
                     lv::stage<"sum">(sum);
  const auto dear = lv::stage<"widen more", large>([](const small& in, large& out) {
                      ran.fetch_add(1);
                      for (std::size_t i = 0; i < 4096; ++i) out.data()[i] = in.data()[i % 64];
                    }) |
                    lv::stage<"sum">(sum);
  const auto app = lv::deploy<box>(lv::input<small> | lv::route([](const small& s) { return s(0) > 0; }, cheap, dear));
  constexpr const auto& unit = decltype(app)::plan.unit[0];
  static_assert(unit.scratch_bytes >= sizeof(large) && unit.scratch_bytes < sizeof(large) + 1024);
  small in{};
  in(0) = 1;
  CHECK(app(in) == 16);
  CHECK(ran == 0);
  in(0) = -1;
  CHECK(app(in) == -64);
  CHECK(ran == 1);
}

TEST_CASE("a branch that fails fails its item alone, and nothing is lost") {
  using item = lv::test::tracked<>;
  const lv::test::nothing_leaks guard;
  const auto app = lv::deploy<box>(
      lv::input<int> | lv::stage<"make">([](const int& x) { return item(x); }) |
      lv::route([](const item& x) { return x.checked() % 3; }, lv::identity,
                lv::stage<"change">([](item& x) { x.value *= 2; }),
                lv::stage<"copy">([](const item& x) { return item(x); }) | lv::stage<"check">([](item& x) {
                  if (x.value % 7 == 0) throw std::runtime_error("seven");
                })) |
      lv::stage<"value">([](const item& x) { return x.checked(); }));
  int x = 0;
  for (auto&& r : app.stream(numbers(500))) {
    const bool fails = x % 3 == 2 && x % 7 == 0;
    CHECK(r.has_value() == !fails);
    if (fails)
      CHECK_THROWS_WITH(r.value(), "seven");
    else
      CHECK(*r == (x % 3 == 1 ? 2 * x : x));
    ++x;
  }
}

TEST_CASE("a choice with state, and a stage with state inside, see items in order and belong to their session") {
  const auto every_third = [n = 0](const int&) mutable { return n++ % 3 == 0; };
  const auto count = lv::stage<"count">([n = 0](const int& x) mutable { return x + 1000 * n++; });
  const auto app = lv::deploy<box>(lv::input<int> | lv::route(every_third, count, lv::identity));
  static_assert(decltype(app)::plan.unit[0].order == lv::concurrency::serial);
  for (int again = 0; again < 2; ++again) {
    int x = 0;
    for (auto&& r : app.stream(numbers(300))) {
      CHECK(*r == (x % 3 == 0 ? x + 1000 * (x / 3) : x));
      ++x;
    }
  }
  auto session = app.open();
  for (int again = 0; again < 2; ++again) {
    for (int x = 0; x < 6; ++x) {
      session.push(x);
      CHECK(**session.pop() == (x % 3 == 0 ? x + 1000 * (x / 3) : x));
    }
    session.reset();
  }
}

TEST_CASE("a choice that can only be moved is of the first session alone") {
  const auto app = lv::deploy<box>(lv::input<int> |
                                   lv::route([least = std::make_unique<int>(4)](const int& x) { return x < *least; },
                                             lv::stage<"less">([](const int& x) { return -x; }), lv::identity));
  {
    auto session = app.open();
    for (int x = 2; x < 6; ++x) {
      session.push(x);
      CHECK(**session.pop() == (x < 4 ? -x : x));
    }
  }
  CHECK_THROWS_AS(app.open(), lv::error);
}

TEST_CASE("behind a fork the choice is of all items, and branches begin with a join") {
  const auto app =
      lv::deploy<box>(lv::input<int> | lv::fork(half, triple) |
                      lv::route([](const int& a, const int& b) { return a + b > 10; },
                                lv::join<"less">([](const int& a, const int& b) { return b - a; }),
                                lv::join<"more">([](const int& a, const int& b) { return a + b; }) | plus_one));
  CHECK(app(2) == 8);
  CHECK(app(4) == 10);
}

TEST_CASE("routes nest, in branches and in parts") {
  using parts = lv::bounded<int, 8>;
  const auto app = lv::deploy<box>(
      lv::input<parts> |
      lv::for_each<8>(lv::route(
          is_even, lv::route<"inner">([](const int& x) { return x > 4; }, half, lv::identity),
          lv::fork(triple, lv::identity) | lv::join<"sum">([](const int& a, const int& b) { return a + b; }))) |
      lv::collect);
  CHECK(app(parts{1, 2, 3, 4, 5, 6}) == parts{4, 2, 12, 4, 20, 3});
}

}  // namespace run_route
