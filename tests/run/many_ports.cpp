// SPDX-License-Identifier: Apache-2.0
// Graphs of as many ports and outputs as there may be, and nodes that take as many values, against plain loops.

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace run_many_ports {

namespace lv = levada;

constexpr std::size_t most = 64;
static_assert(most == lv::most_inputs);
using row = lv::tensor<float, 3>;
using box = lv::target<lv::cpu<2>>;

/// "a00" to "a63".
template <char Letter, std::size_t I>
consteval lv::fixed_string<4> named() {
  const char text[] = {Letter, static_cast<char>('0' + I / 10), static_cast<char>('0' + I % 10), '\0'};
  return text;
}
float number(std::size_t item, std::size_t port, std::size_t at) {
  return static_cast<float>(item * 1000 + port * 10 + at);
}
template <class Items>
Items filled(std::size_t item) {
  Items made;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto fill = [&](row& r, std::size_t port) {
      for (std::size_t k = 0; k < 3; ++k) r[k] = number(item, port, k);
    };
    (fill(made.template at<I>(), I), ...);
  }(std::make_index_sequence<Items::size>{});
  return made;
}

/// Output I is port I and port I + 1 added up: nodes of two values, of 64 ports.
template <std::size_t... I>
auto neighbours(std::index_sequence<I...>) {
  return lv::graph(lv::port<named<'p', I>(), row>...,
                   lv::node<named<'s', I>(), named<'p', I>(), named<'p', (I + 1) % most>()>(lv::nn::add)...,
                   lv::output<named<'y', I>(), named<'s', I>()>...);
}

TEST_CASE("64 ports and 64 outputs: called, streamed, and in a session, by their names") {
  const auto app = lv::deploy<box, lv::slots<4>>(neighbours(std::make_index_sequence<most>{}));
  using item = decltype(app)::item;
  using result = decltype(app)::output;
  static_assert(item::size == most && result::size == most && item::index_of("p63") == 63);
  const auto check = [](const result& out, std::size_t i) {
    const auto check_one = [&](const row& y, std::size_t p) {
      for (std::size_t k = 0; k < 3; ++k) CHECK(y[k] == number(i, p, k) + number(i, (p + 1) % most, k));
    };
    [&]<std::size_t... P>(std::index_sequence<P...>) {
      (check_one(out.template get<named<'y', P>()>(), P), ...);
    }(std::make_index_sequence<most>{});
  };
  check(app(filled<item>(3)), 3);

  std::vector<item> items;
  for (std::size_t i = 0; i < 20; ++i) items.push_back(filled<item>(i));
  std::size_t next = 0;
  for (auto&& r : app.stream(items)) check(*r, next++);
  CHECK(next == 20);

  auto session = app.open();
  for (std::size_t i = 0; i < 20; ++i) {
    session.push(filled<item>(i));
    const auto r = session.pop();
    REQUIRE(r);
    check(**r, i);
  }
}

/// One op that takes all ports, one callable that does, and what a stage before gives.
template <std::size_t... I>
auto gathered(std::index_sequence<I...>) {
  return lv::graph(lv::port<named<'p', I>(), row>..., lv::node<"joined", named<'p', I>()...>(lv::nn::concat<0>),
                   lv::node<"sum", named<'p', I>()...>(lv::join<"sum">([](const std::same_as<row> auto&... each) {
                     row all{};
                     for (std::size_t k = 0; k < 3; ++k) all[k] = (each[k] + ...);
                     return all;
                   })),
                   lv::output<"joined", "joined">, lv::output<"sum", "sum">);
}

TEST_CASE("a node of 64 values: an op, and a callable") {
  const auto app = lv::deploy<box>(gathered(std::make_index_sequence<most>{}));
  using item = decltype(app)::item;
  std::vector<item> items;
  for (std::size_t i = 0; i < 20; ++i) items.push_back(filled<item>(i));
  std::size_t i = 0;
  for (auto&& r : app.stream(items)) {
    for (std::size_t k = 0; k < 3; ++k) {
      float sum = 0;
      for (std::size_t p = 0; p < most; ++p) {
        CHECK(r->template get<"joined">()[3 * p + k] == number(i, p, k));
        sum += number(i, p, k);
      }
      CHECK(r->template get<"sum">()[k] == sum);
    }
    ++i;
  }
  CHECK(i == 20);
}

}  // namespace run_many_ports
