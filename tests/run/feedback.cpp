// SPDX-License-Identifier: Apache-2.0
// Feedback: every item sees what the items before it have left, on every path, whatever the body is made of.

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/graph/parameter_map.hpp>
#include <levada/interop/report.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>
#include <levada/run/simulated.hpp>

#include "looping.hpp"

namespace run_feedback {

namespace lv = levada;
using namespace levada::test;

using box = lv::target<lv::cpu<2>, lv::simulated<0>>;

/// The numbers from 0 on through a stream and a session; `expected(i)`, which is asked in order, is nothing where an
/// item is filtered.
template <class App, class Expected>
void check_paths(const App& app, Expected expected, int count = 500) {
  std::vector<int> items;
  for (int i = 0; i < count; ++i) items.push_back(i);
  const auto wanted = [&] {
    std::vector<std::remove_cvref_t<decltype(*expected()(0))>> all;
    for (auto next = expected(); const int i : items)
      if (auto one = next(i)) all.push_back(*one);
    return all;
  }();
  std::size_t at = 0, wrong = 0;
  for (auto&& r : app.stream(items)) {
    REQUIRE(at < wanted.size());
    wrong += r.value() == wanted[at++] ? 0 : 1;
  }
  CHECK(at == wanted.size());
  auto session = app.open();
  std::jthread pusher([&] {
    for (const int i : items) session.push(i);
    session.close();
  });
  for (const auto& one : wanted) {
    auto r = session.pop();
    REQUIRE(r);
    wrong += r->value() == one ? 0 : 1;
  }
  CHECK(!session.pop());
  CHECK(wrong == 0);
}

using vec = lv::tensor<float, 6>;
using hidden = lv::tensor<float, 20>;

/// Small numbers, the same for the same name.
struct random_weights {
  lv::parameter_map map;
  void add(const std::string& name, lv::shape extents) {
    std::mt19937 random(static_cast<unsigned>(extents.elements()));
    std::vector<float> values(extents.elements());
    for (float& v : values) v = std::uniform_real_distribution<float>(-0.3f, 0.3f)(random);
    map.set(name, lv::element::f32, extents, values.data());
  }
  explicit random_weights(std::size_t gates) {
    add("cell.weight", lv::shape(gates * 20, 6));
    add("cell.recurrence", lv::shape(gates * 20, 20));
    add("cell.bias", lv::shape(2 * gates * 20));
    add("out.weight", lv::shape(6, 20));
    add("out.bias", lv::shape(6));
  }
};

vec spread(int i) {
  vec v;
  for (std::size_t k = 0; k < 6; ++k) v[k] = std::sin(static_cast<float>(i) * 0.1f + static_cast<float>(k));
  return v;
}
const auto spreading = lv::stage<"spread">(+[](const int& i) { return spread(i); });

/// One step by an app of its own, without feedback.
template <class Cell, class State>
auto step_of(Cell cell) {
  return lv::deploy<lv::target<lv::cpu<1>>>(
      lv::graph(lv::port<"x", vec>, lv::port<"h", State>, lv::node<"cell", "x", "h">(cell), lv::output<"y", "cell">));
}
template <class App, class State>
State step(const App& app, const vec& x, const State& h) {
  return app(lv::named_items<lv::named_item<"x", vec>, lv::named_item<"h", State>>{x, h});
}

TEST_CASE("a callable that changes its state, one that gives a new one, and one that filters") {
  check_paths(
      lv::deploy<box>(lv::input<int> |
                      lv::feedback<"mean">([](const int& x, double& mean) { return mean += (x - mean) / 8; }, 1.0)),
      [] { return [mean = 1.0](int i) mutable { return std::optional(mean += (i - mean) / 8); }; });
  check_paths(lv::deploy<box>(lv::input<int> | lv::feedback<"count">(
                                                   [](const auto& x, const std::string& s) {
                                                     return std::pair(s + std::to_string(x), std::to_string(x % 7));
                                                   },
                                                   std::string("-"))),
              [] {
                return [s = std::string("-")](int i) mutable {
                  return std::optional(std::exchange(s, std::to_string(i % 7)) + std::to_string(i));
                };
              });
  check_paths(
      lv::deploy<box>(lv::input<int> | lv::feedback<"third">(
                                           [](const int& x, int& seen) -> std::optional<int> {
                                             if (++seen % 3 != 0) return std::nullopt;
                                             return x + seen;
                                           },
                                           0)),
      [] { return [seen = 0](int i) mutable { return ++seen % 3 != 0 ? std::nullopt : std::optional(i + seen); }; });
}

TEST_CASE("a state comes back as many items later as was said") {
  const auto expected = [] {
    return [last = std::vector<int>(3, 100)](int i) mutable {
      last.push_back(last[last.size() - 3] + i);
      return std::optional(last.back());
    };
  };
  check_paths(lv::deploy<box>(lv::input<int> |
                              lv::feedback<"s", lv::delay<3>>([](const int& x, int& s) { return s += x; }, 100)),
              expected);
  check_paths(
      lv::deploy<box>(lv::input<int> | lv::feedback<"s", lv::delay<3>>(
                                           lv::join<"add">(+[](const int& x, const int& s) { return x + s; }), 100)),
      expected);
}

TEST_CASE("a gru's output is its state, planned with the rest") {
  const random_weights weights(3);
  const auto cell = lv::nn::gru<"cell", 20, lv::linear_before_reset>(weights.map);
  const auto app = lv::deploy<box>(lv::input<int> | spreading | lv::feedback<"h">(cell, hidden{}) |
                                   lv::nn::dense<"out", 6>(weights.map));
  using plan_type = decltype(app);
  static_assert(plan_type::plan.units == 5 && plan_type::plan.segments == 1);
  static_assert(plan_type::plan.unit[1].group_end == 4 && plan_type::plan.unit[1].item_by_item);
  static_assert(plan_type::plan.unit[3].state_of == 1);
  // The state as it is read is needed by one item at a time.
  static_assert(plan_type::plan.value[plan_type::plan.unit[1].out].where == lv::placement::grain);
  static_assert(plan_type::plan.unit[2].order == lv::concurrency::serial &&
                plan_type::plan.unit[4].order == lv::concurrency::parallel);
  const auto one = step_of<decltype(cell), hidden>(cell);
  const auto out = lv::deploy<box>(lv::input<hidden> | lv::nn::dense<"out", 6>(weights.map));
  check_paths(app, [&] {
    return [&, h = hidden{}](int i) mutable {
      h = step(one, spread(i), h);
      return std::optional(out(h));
    };
  });
  CHECK(lv::report(app).find("\"h\"") == std::string::npos);
  CHECK(lv::report(app).find("cell") != std::string::npos);
}

TEST_CASE("an lstm's state is two tensors; what is behind the feedback picks one") {
  const random_weights weights(4);
  using state = std::tuple<hidden, hidden>;
  const auto cell = lv::nn::lstm<"cell", 20>(weights.map);
  const auto app = lv::deploy<box>(lv::input<int> | spreading | lv::feedback<"hc">(cell, state{}) |
                                   lv::stage<"h">(+[](const state& s) { return std::get<0>(s); }));
  const auto one = step_of<decltype(cell), state>(cell);
  check_paths(app, [&] {
    return [&, s = state{}](int i) mutable {
      s = step(one, spread(i), s);
      return std::optional(std::get<0>(s));
    };
  });
}

TEST_CASE(
    "a graph gives the state and others by their names; ports in either order; feedbacks nest and follow each other") {
  // total += level, level = level / 2 + x
  const auto body = lv::graph(
      lv::port<"total", double>, lv::port<"x", int>,
      lv::node<"level", "x">(
          lv::feedback<"l">(lv::join<"decay">(+[](const int& x, const double& l) { return l / 2 + x; }), 0.0)),
      lv::node<"sum", "total", "level">(lv::join<"add">(+[](const double& t, const double& l) { return t + l; })),
      lv::node<"text", "sum", "x">(
          lv::join<"text">(+[](const double& t, const int& x) { return std::to_string(t) + "/" + std::to_string(x); })),
      lv::output<"total", "sum">, lv::output<"text", "text">, lv::output<"level", "level">);
  const auto app = lv::deploy<box>(
      lv::input<int> |
      lv::graph(lv::port<"x", int>, lv::node<"loop", "x">(lv::feedback<"total">(body, 10.0)),
                lv::node<"there", "loop.level">(
                    lv::on<lv::simulated<0>>(lv::stage<"twice">(+[](const double& l) { return 2 * l; }))),
                lv::node<"y", "loop.text", "there">(lv::join<"glue">(
                    +[](const std::string& s, const double& l) { return s + " " + std::to_string(l); })),
                lv::output<"y", "y">) |
      lv::split_here |
      lv::feedback<"longest">(
          [](const std::string& s, std::size_t& longest) {
            longest = std::max(longest, s.size());
            return s + " " + std::to_string(longest);
          },
          std::size_t{0}));
  static_assert(decltype(app)::plan.segments == 4);
  check_paths(app, [] {
    return [level = 0.0, total = 10.0, longest = std::size_t{0}](int x) mutable {
      level = level / 2 + x;
      total += level;
      const std::string s = std::to_string(total) + "/" + std::to_string(x) + " " + std::to_string(2 * level);
      longest = std::max(longest, s.size());
      return std::optional(s + " " + std::to_string(longest));
    };
  });
}

TEST_CASE("a body changes its copy of the state in place, and is a pipeline of many stages") {
  const auto app = lv::deploy<box>(lv::input<int> |
                                   lv::feedback<"s">(lv::join<"pick">(+[](const int& x, const std::vector<int>& s) {
                                                       std::vector<int> next(s);
                                                       next.push_back(x);
                                                       return next;
                                                     }) | lv::stage<"trim">([](std::vector<int>& v) {
                                                       if (v.size() > 5) v.erase(v.begin());
                                                     }) | lv::stage<"same">([calls = 0](std::vector<int>&& v) mutable {
                                                       v[0] += ++calls;
                                                       return std::move(v);
                                                     }),
                                                     std::vector<int>{7}) |
                                   lv::stage<"sum">(+[](const std::vector<int>& v) {
                                     long sum = 0;
                                     for (const int x : v) sum = sum * 3 + x;
                                     return sum;
                                   }));
  check_paths(app, [] {
    return [v = std::vector<int>{7}, calls = 0](int x) mutable {
      v.push_back(x);
      if (v.size() > 5) v.erase(v.begin());
      v[0] += ++calls;
      long sum = 0;
      for (const int y : v) sum = sum * 3 + y;
      return std::optional(sum);
    };
  });
}

TEST_CASE("items go through a body one by one and in order, and those that fail leave the state as it was") {
  check_looping<>(3000);
  check_looping<lv::slots<2>>(300);
}

TEST_CASE("a callable that fails has not changed its state, and may be told of items that did not come") {
  struct body {
    int operator()(const int& x, int& s) const {
      s += x;
      if (x % 5 == 2) throw std::runtime_error("five");
      return s;
    }
    void missed(lv::missing why, int& s) const noexcept { s += why == lv::missing::failed ? 1000 : 1; }
  };
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"before">(+[](const int& x) -> std::optional<int> {
                                     if (x % 7 == 3) throw std::runtime_error("seven");
                                     if (x % 7 == 4) return std::nullopt;
                                     return x;
                                   }) |
                                   lv::feedback<"s">(body{}, 0));
  auto session = app.open();
  std::jthread pusher([&] {
    for (int i = 0; i < 400; ++i) session.push(i);
    session.close();
  });
  int s = 0;
  for (int i = 0; i < 400; ++i) {
    if (i % 7 == 4) {
      s += 1;
      continue;
    }
    auto r = session.pop();
    REQUIRE(r);
    if (i % 7 == 3) {
      s += 1000;
      CHECK_THROWS_WITH_AS(r->value(), "seven", std::runtime_error);
    } else if (i % 5 == 2) {
      CHECK_THROWS_WITH_AS(r->value(), "five", std::runtime_error);
    } else {
      CHECK(r->value() == (s += i));
    }
  }
  CHECK(!session.pop());
}

TEST_CASE("each session has its own state, which begins anew when the session is reset") {
  const auto app = lv::deploy<box>(
      lv::input<int> | lv::feedback<"s">(lv::join<"add">(+[](const int& x, const int& s) { return x + s; }), 100) |
      lv::feedback<"t">([](const int& x, int& t) { return x + ++t; }, 0));
  auto a = app.open(), b = app.open();
  a.push(1), a.push(2), b.push(5);
  CHECK(a.pop()->value() == 102);
  CHECK(a.pop()->value() == 105);
  CHECK(b.pop()->value() == 106);
  a.reset();
  a.push(3), b.push(1);
  CHECK(a.pop()->value() == 104);
  CHECK(b.pop()->value() == 108);
  CHECK(app(1) == 102);
  CHECK(app(1) == 104);
}

TEST_CASE("parameters inside a feedback are replaced between items") {
  const random_weights weights(3);
  const auto cell = lv::nn::gru<"cell", 20>(weights.map);
  random_weights others(3);
  others.add("cell.weight", lv::shape(60, 6));
  lv::tensor<float, 60, 6> w;
  w.fill(0.25f);
  others.map.set("cell.weight", w);
  auto app = lv::deploy<box>(lv::input<int> | spreading | lv::feedback<"h">(lv::params<"body">(cell), hidden{}));
  const auto first = step_of<decltype(cell), hidden>(cell);
  const auto second = [&] { return step_of<decltype(cell), hidden>(lv::nn::gru<"cell", 20>(others.map)); }();
  auto session = app.open();
  hidden h{};
  for (int i = 0; i < 60; ++i) {
    if (i == 30) app.params<"body">().set<"weight">(w);
    session.push(i);
    h = step(i < 30 ? first : second, spread(i), h);
    CHECK(session.pop()->value() == h);
  }
}

TEST_CASE("a feedback inside a branch that is chosen") {
  const auto sum = lv::feedback<"sum">(lv::join<"add">(+[](const int& x, const int& s) { return x + s; }), 0);
  check_paths(
      lv::deploy<box>(lv::input<int> |
                      lv::route<"third">(
                          [](const int& x) { return x % 3 == 0; }, sum,
                          lv::feedback<"last">([](const int& x, int& last) { return x - std::exchange(last, x); }, 0))),
      [] {
        return [s = 0, last = 0](int x) mutable {
          return std::optional(x % 3 == 0 ? s += x : x - std::exchange(last, x));
        };
      });
}

TEST_CASE("a feedback between two rates keeps its state from batch to batch") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::batch<4> |
                                   lv::feedback<"sum">(lv::join<"add">([](const auto& four, const long& s) {
                                                         long sum = s;
                                                         for (std::size_t i = 0; i < 4; ++i) sum += four[i];
                                                         return sum;
                                                       }),
                                                       0L));
  std::vector<int> items(40, 3);
  long expected = 0;
  for (auto&& r : app.stream(items)) CHECK(r.value() == (expected += 12));
  CHECK(expected == 120);
}

}  // namespace run_feedback
