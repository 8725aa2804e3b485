// SPDX-License-Identifier: Apache-2.0
// Streams of items that lie side by side: run/rows.hpp.

#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <levada/interop/report.hpp>
#include <levada/levada.hpp>
#include <levada/run/simulated.hpp>

#include "rows.hpp"

namespace run_rows {

namespace lv = levada;
using namespace levada::test;

using box = lv::target<lv::cpu<2>>;

template <class Item = std::uint64_t, class App, class Reference>
void check_rows(const App& app, const Reference& reference) {
  for (const std::size_t count : {0u, 1u, 2u, 7u, 64u, 1'000u, 20'011u}) {
    CAPTURE(count);
    auto items = items_in_a_row<Item>(count);
    CHECK(wrong_in_a_row(app, reference, items) == 0);
    CHECK(wrong_in_a_row(app, reference, std::as_const(items)) == 0);
    CHECK(wrong_in_a_row(app, reference, std::span(items)) == 0);
    CHECK(wrong_in_a_row(app, reference, std::ranges::subrange(items.data(), items.data() + count)) == 0);
    CHECK(wrong_in_a_row(app, reference, items | std::views::take(count / 2)) == 0);
  }
  for (const std::size_t after : {0u, 1u, 100u, 3'000u})
    CHECK(wrong_until_stopped(app, reference, items_in_a_row<Item>(20'000), after) == 0);
}

TEST_CASE("items that the first stage changes, alone and before others, in chains of all lengths") {
  check_rows(lv::deploy<box>(lv::input<std::uint64_t> | lv::stage<"sum">(summing{})), reference_of(summing{}));
  check_rows(lv::deploy<box>(lv::input<std::uint64_t> | lv::stage<"sum">(summing{}) | lv::stage<"mix">(mixing{})),
             reference_of(summing{}, mixing{}));
  // More than one chain holds.
  const summing s{};
  check_rows(lv::deploy<box>(lv::input<std::uint64_t> | lv::stage<"a">(s) | lv::stage<"b">(s) | lv::stage<"c">(s) |
                             lv::stage<"d">(s) | lv::stage<"e">(s) | lv::stage<"f">(s) | lv::stage<"g">(s) |
                             lv::stage<"h">(s) | lv::stage<"i">(s) | lv::stage<"j">(s)),
             reference_of(s, s, s, s, s, s, s, s, s, s));
}

/// Of that size: alone, with another stage that changes it, and with one that only looks at it.
template <std::size_t Bytes>
void check_wide_rows() {
  CAPTURE(Bytes);
  using item = some_lines<Bytes>;
  const widely<item, summing> s{};
  check_rows<item>(lv::deploy<box>(lv::input<item> | lv::stage<"sum">(s)), reference_of(summing{}));
  check_rows<item>(lv::deploy<box>(lv::input<item> | lv::stage<"a">(s) | lv::stage<"b">(s)),
                   reference_of(summing{}, summing{}));
  const auto mix = [m = mixing{}](const item& x) mutable { return m(x.value); };
  check_rows<item>(lv::deploy<box>(lv::input<item> | lv::stage<"sum">(s) | lv::stage<"mix">(mix)),
                   reference_of(summing{}, mixing{}));
}

TEST_CASE("items of some and of many cache lines that the first stage changes") {
  check_wide_rows<16>();
  check_wide_rows<128>();
  check_wide_rows<136>();  // from here on one by one
  check_wide_rows<1'000>();
  check_wide_rows<3'136>();  // more than is asked for ahead
}

TEST_CASE("items that the first stage looks at, alone and before others") {
  check_rows(lv::deploy<box>(lv::input<std::uint64_t> | lv::stage<"mix">(mixing{})), reference_of(mixing{}));
  check_rows(lv::deploy<box>(lv::input<std::uint64_t> | lv::stage<"mix">(mixing{}) | lv::stage<"sum">(summing{})),
             reference_of(mixing{}, summing{}));
}

TEST_CASE("items that are worth a second thread") {
  check_rows(lv::deploy<box>(lv::input<std::uint64_t> | lv::stage<"sum">(summing{}) | lv::stage<"slow">(slow{}) |
                             lv::stage<"mix">(mixing{})),
             reference_of(summing{}, slow{}, mixing{}));
  check_rows(
      lv::deploy<box>(lv::input<std::uint64_t> | lv::stage<"slow">(lv::parallel(slow{})) | lv::stage<"mix">(mixing{})),
      reference_of(slow{}, mixing{}));
}

TEST_CASE("items that other stages look at as well") {
  const auto app =
      lv::deploy<box>(lv::input<std::uint64_t> |
                      lv::fork(lv::stage<"mix">(mixing{}) | lv::stage<"sum">(summing{}),
                               lv::stage<"odd">([](const std::uint64_t& x) { return x % 2; })) |
                      lv::join<"both">([](const std::uint64_t& a, const std::uint64_t& odd) { return 2 * a + odd; }));
  for (const std::size_t count : {1u, 1'000u, 20'011u}) {
    auto first = reference_of(mixing{}, summing{});
    CHECK(wrong_in_a_row(
              app,
              [&](std::uint64_t x) {
                const std::uint64_t a = first(x);
                return a == 0 ? 0 : 2 * a + x % 2;
              },
              items_in_a_row(count)) == 0);
  }
}

TEST_CASE("items of a pipeline that changes its rate") {
  const auto app =
      lv::deploy<box>(lv::input<std::uint64_t> | lv::stage<"sum">(summing{}) | lv::batch<4, lv::partial::drop> |
                      lv::stage<"last">([](const std::array<std::uint64_t, 4>& four) { return four[3]; }));
  std::vector<std::uint64_t> items(10'007);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = 101 * i + 1;  // none fails
  std::uint64_t sum = 0;
  std::size_t at = 0, wrong = 0;
  for (const auto& r : app.stream(items)) {
    for (int i = 0; i < 4; ++i) sum += items[at++];
    wrong += *r != sum;
  }
  CHECK(at == 10'004);
  CHECK(wrong == 0);
}

TEST_CASE("a stream that measures sees each item, and gives the same") {
  const auto app = lv::deploy<box>(lv::input<std::uint64_t> | lv::stage<"sum">(summing{}) | lv::stage<"mix">(mixing{}));
  const auto items = items_in_a_row(20'000);
  auto reference = reference_of(summing{}, mixing{});
  auto results = app.stream(items);
  results.measure();
  std::size_t at = 0, wrong = 0;
  for (const auto& r : results) {
    if (at % 7'000 == 6'999) results.measure(at % 2 == 0);
    const std::uint64_t want = reference(items[at++]);
    wrong += r.has_value() ? *r != want : want != 0;
  }
  CHECK(at == items.size());
  CHECK(wrong == 0);
  CHECK(results.statistics().stages.size() == 2);
}

TEST_CASE("a range that is given away stays until nobody works on it, wherever the loop ends") {
  const auto looks =
      lv::deploy<box>(lv::input<std::uint64_t> | lv::stage<"slow">(lv::parallel(slow{})) | lv::stage<"mix">(mixing{}));
  const auto changes = lv::deploy<box>(lv::input<std::uint64_t> | lv::stage<"sum">(summing{}) |
                                       lv::stage<"slow">(lv::parallel(slow{})) | lv::stage<"mix">(mixing{}));
  for (std::size_t after = 0; after < 60; ++after) {
    auto a = reference_of(slow{}, mixing{});
    std::size_t at = 0;
    const auto expected = items_in_a_row(5'000);
    for (const auto& r : looks.stream(items_in_a_row(5'000))) {
      const std::uint64_t want = a(expected[at]);
      CHECK((r.has_value() ? *r : 0) == want);
      if (at++ == after * 5) break;
    }
    at = 0;
    auto b = reference_of(summing{}, slow{}, mixing{});
    for (const auto& r : changes.stream(items_in_a_row(5'000))) {
      const std::uint64_t want = b(expected[at]);
      CHECK((r.has_value() ? *r : 0) == want);
      if (at++ == after * 5) break;
    }
  }
}

TEST_CASE("items in flight: many of small ones that hold nothing else, unless somebody says how many") {
  using numbers = lv::tensor<std::uint64_t, 8>;
  const auto small = lv::input<std::uint64_t> | lv::stage<"sum">(summing{});
  static_assert(decltype(lv::deploy<box>(small))::plan.slots == 256);
  static_assert(decltype(lv::deploy<box>(small))::plan.bytes_in_flight == 256 * 64);
  static_assert(decltype(lv::deploy<box, lv::slots<64>>(small))::plan.slots == 64);
  static_assert(decltype(lv::deploy<box>(lv::input<numbers> | lv::stage<"same">([](numbers&) {})))::plan.slots == 256);
  // Larger ones, those that may hold a frame each, and those for which a device has memory.
  using more_numbers = lv::tensor<std::uint64_t, 9>;
  const auto large = lv::input<more_numbers> | lv::stage<"same">([](more_numbers&) {});
  static_assert(decltype(lv::deploy<box>(large))::plan.slots == 64);
  using picture = lv::tensor<std::uint8_t, 480, 640, 3>;
  const auto pictures = lv::input<picture> | lv::stage<"first">([](const picture& p) { return p[0]; });
  static_assert(decltype(lv::deploy<box>(pictures))::plan.slots == 18);
  static_assert(decltype(lv::deploy<box>(pictures))::plan.bytes_in_flight < 16 << 20);
  CHECK(lv::report(lv::deploy<box>(pictures)).find("= 15.8 MiB, large items in 16 MiB\n") != std::string::npos);
  const auto text = lv::input<int> | lv::stage<"text">([](const int& i) { return std::to_string(i); });
  static_assert(decltype(lv::deploy<box>(text))::plan.slots == 64);
  using with_device = lv::target<lv::cpu<2>, lv::simulated<0>>;
  const auto there = lv::input<int> | lv::on<lv::simulated<0>>(lv::stage<"there">([](const int& i) { return i; }));
  static_assert(decltype(lv::deploy<with_device>(there))::plan.slots == 64);
}

}  // namespace run_rows
