// SPDX-License-Identifier: Apache-2.0
// Side data that goes with items to another machine, and comes back with their results.

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

#include "remote/lost_nodes.hpp"
#include "run/progress.hpp"

namespace remote_side_data {

namespace lv = levada;
using lv::test::text_item;

using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
using v1 = lv::version<"1">;
using edge = lv::remote<"edge">;

struct scale {
  int by;
};
struct shift {
  double by;
  char mark;
};
struct unread {
  char bytes[1000];
};

template <class Pipeline>
using place_of = lv::type_at<lv::detail::remote_places_of<std::remove_const_t<Pipeline>>, 0>;
template <class Pipeline>
constexpr std::size_t bytes_there = lv::wire<typename place_of<Pipeline>::in>::most_bytes;
template <class Pipeline>
constexpr std::size_t bytes_back =
    lv::wire<lv::detail::items_behind<typename place_of<Pipeline>::pipeline>>::most_bytes;

auto attached() {
  return lv::input<int> | lv::stage<"attach">([](const int& x, scale& s, unread& u) {
           s.by = 10 * x;
           u = {};
           return x + 1;
         });
}

/// Brings items through a node, and says what comes.
template <class Pipeline>
auto brought(const Pipeline& p, int count) {
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(p, {by, "a"});
  const auto app = lv::deploy<box, v1>(p, lv::endpoints<"edge">{by, {"a"}});
  auto session = app.open();
  std::vector<typename decltype(app)::output> all;
  for (int i = 0; i < count; i += 4) {
    for (int k = i; k < i + 4; ++k) session.push(k);
    for (int k = i; k < i + 4; ++k) all.push_back(session.pop()->value());
  }
  return all;
}

TEST_CASE("a stage there reads what was attached here, and nothing else goes there") {
  const auto p = attached() | lv::on<edge>(lv::stage<"read">([](const int& x, const scale& s) { return x + s.by; }));
  using line = decltype(p);
  static_assert(bytes_there<line> == sizeof(int) + sizeof(scale));
  static_assert(bytes_back<line> == sizeof(int));
  const std::vector<int> all = brought(p, 400);
  for (int i = 0; i < 400; ++i) CHECK(all[static_cast<std::size_t>(i)] == 11 * i + 1);
}

TEST_CASE("what a stage there attaches is read here, and popped with the result") {
  const auto p = attached() | lv::on<edge>(lv::stage<"shift">([](const int& x, shift& s) {
                   s = {x / 2.0, 'x'};
                   return x;
                 })) |
                 lv::stage<"read">([](const int& x, const shift& s, const scale& c) { return x + s.by + c.by; });
  using line = decltype(p);
  static_assert(bytes_there<line> == sizeof(int));
  static_assert(bytes_back<line> >= sizeof(int) + sizeof(shift));
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(p, {by, "a"});
  const auto app = lv::deploy<box, v1>(p, lv::endpoints<"edge">{by, {"a"}});
  CHECK(app(4) == 5 + 2.5 + 40);
  auto session = app.open();
  for (int i = 0; i < 10; ++i) session.push(i);
  for (int i = 0; i < 10; ++i) {
    lv::item_envelope envelope;
    shift there{};
    scale here{};
    CHECK(session.pop(envelope, there, here)->value() == i + 1 + (i + 1) / 2.0 + 10 * i);
    CHECK(envelope.sequence == static_cast<std::uint64_t>(i));
    CHECK(there.by == (i + 1) / 2.0);
    CHECK(there.mark == 'x');
    CHECK(here.by == 10 * i);
  }
}

TEST_CASE("what a stage there changes is changed here") {
  const auto p = attached() |
                 lv::on<edge>(lv::stage<"change">([](const int& x, scale& s) {
                                s.by += x;
                                return x;
                              }) |
                              lv::stage<"again">([](const int& x, const scale& s) { return x + s.by; })) |
                 lv::stage<"read">([](const int& x, const scale& s) { return 1000 * x + s.by; });
  using line = decltype(p);
  static_assert(bytes_there<line> == sizeof(int) + sizeof(scale));
  static_assert(bytes_back<line> == sizeof(int) + sizeof(scale));
  const std::vector<int> all = brought(p, 40);
  for (int i = 0; i < 40; ++i) {
    const int changed = 11 * i + 1, result = i + 1 + changed;
    CHECK(all[static_cast<std::size_t>(i)] == 1000 * result + changed);
  }
}

TEST_CASE("items that have a form of their own, or that can only be moved, have side data with them") {
  const auto p =
      lv::input<int> | lv::stage<"write">([](const int& n, scale& s) {
        s.by = n;
        return text_item{std::to_string(n)};
      }) |
      lv::on<edge>(lv::stage<"add">([](const text_item& t, const scale& s, shift& back) {
        back.by = s.by + 0.5;
        return text_item{t.text + " there"};
      })) |
      lv::stage<"read">([](const text_item& t, const shift& s) { return t.text + std::to_string(2 * s.by); });
  const std::vector<std::string> all = brought(p, 40);
  for (int i = 0; i < 40; ++i)
    CHECK(all[static_cast<std::size_t>(i)] == std::to_string(i) + " there" + std::to_string(2.0 * i + 1));
}

TEST_CASE("a part that filters has side data with the results that there are") {
  const auto p = attached() | lv::on<edge>(lv::stage<"some">([](const int& x, const scale& s, shift& back) {
                   back.by = s.by;
                   return x % 3 == 0 ? std::optional(x) : std::nullopt;
                 })) |
                 lv::stage<"read">([](const int& x, const shift& s) { return x + s.by; });
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(p, {by, "a"});
  const auto app = lv::deploy<box, v1>(p, lv::endpoints<"edge">{by, {"a"}});
  for (int i = 0; i < 12; ++i) CHECK(app(i) == (i % 3 == 2 ? std::optional(i + 1 + 10.0 * i) : std::nullopt));
}

TEST_CASE("two devices have side data of each other") {
  using both = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<1>>, lv::remote<"far", lv::cpu<1>>>;
  const auto p = attached() | lv::on<edge>(lv::stage<"shift">([](const int& x, const scale& s, shift& back) {
                   back.by = s.by;
                   return x;
                 })) |
                 lv::on<lv::remote<"far">>(lv::stage<"use">(
                     [](const int& x, const shift& s, const scale& c) { return x + static_cast<int>(s.by) + c.by; }));
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node a = lv::serve<both, "edge", v1>(p, {by, "a"});
  const lv::remote_node b = lv::serve<both, "far", v1>(p, {by, "b"});
  const auto app = lv::deploy<both, v1>(p, lv::endpoints<"edge">{by, {"a"}}, lv::endpoints<"far">{by, {"b"}});
  for (int i = 0; i < 10; ++i) CHECK(app(i) == i + 1 + 20 * i);
}

TEST_CASE("items that are sent again have their side data with them") {
  static std::atomic<int> seen{0};
  const auto p = attached() | lv::on<edge>(lv::stage<"read">([](const int& x, const scale& s) {
                   seen.fetch_add(1);
                   return x + s.by;
                 }));
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(p, {by, "a"});
  const auto app = lv::deploy<box, v1>(p, lv::endpoints<"edge">{by, {"a"}});
  auto session = app.open<lv::dedicated>();
  for (int round = 0; round < 20; ++round) {
    const int before = seen.load();
    for (int i = 0; i < 10; ++i) session.push(i);
    if (round % 10 == 5) {
      CHECK(lv::test::eventually([&] { return seen.load() > before; }));
      by->cut("a");
    }
    for (int i = 0; i < 10; ++i) CHECK(session.pop()->value() == 11 * i + 1);
  }
}

TEST_CASE("programs whose side data differ refuse each other") {
  const auto p = [](auto as) {
    using side = decltype(as);
    return lv::input<int> | lv::stage<"attach">([](const int& x, side& s) {
             s = side{};
             return x;
           }) |
           lv::on<edge>(lv::stage<"read">([](const int& x, const side&) { return x; }));
  };
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(p(1.5f), {by, "a"});
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::deploy<box, v1>(p(shift{}), lv::endpoints<"edge">{by, {"a"}})),
                       "levada: remote device \"edge\" has no node: a: they are programs that differ: the driver has "
                       "`items int32, with 16 bytes aligned 8`, and the node `items int32, with float`",
                       lv::remote_error);
}

}  // namespace remote_side_data
