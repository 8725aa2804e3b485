// SPDX-License-Identifier: Apache-2.0
// Branches: every item gives what the functions give one after the other, in order, on every path, whatever a branch is
// made of.

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/nn/residual.hpp>
#include <levada/ops.hpp>
#include <levada/run/simulated.hpp>

namespace run_branches {

namespace lv = levada;

using box = lv::target<lv::cpu<2>, lv::simulated<0>, lv::simulated<1>>;

/// What an app makes of the numbers below `count`, by a call each, by a stream, and by a session with a pusher of its
/// own.
template <class App, class Expected>
void check_all_paths(const App& app, Expected expected, int count = 300) {
  using out = std::remove_cvref_t<decltype(expected(0))>;
  std::vector<int> items;
  for (int i = 0; i < count; ++i) items.push_back(i);
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(app(0))>, out>)
    for (int i = 0; i < 20; ++i) CHECK(app(i) == expected(i));
  int next = 0;
  for (auto&& r : app.stream(items)) CHECK(r.value() == expected(next++));
  CHECK(next == count);
  auto session = app.open();
  std::jthread pusher([&] {
    for (const int i : items) session.push(i);
    session.close();
  });
  for (const int i : items) {
    auto r = session.pop();
    REQUIRE(r);
    CHECK(r->value() == expected(i));
  }
  CHECK(!session.pop());
}

/// Counts how many there are.
struct counted {
  static inline std::atomic<int> alive{0};
  std::string text;
  explicit counted(std::string t) : text(std::move(t)) { ++alive; }
  counted(counted&& other) noexcept : text(std::move(other.text)) { ++alive; }
  ~counted() { --alive; }
};

TEST_CASE("branches of stages and none, nested, of other types, with and without state") {
  const auto app = lv::deploy<box>(
      lv::input<int> | lv::stage<"twice">(+[](const int& x) { return x * 2; }) |
      lv::fork(lv::stage<"half">(+[](const int& x) { return x * 0.25; }) |
                   lv::stage<"more">([](const double& x) { return x + 1; }),
               lv::identity,
               lv::fork(lv::stage<"text">([](const int& x) { return std::to_string(x); }), lv::identity) |
                   lv::join<"glue">([](const std::string& s, const int& x) { return s + "/" + std::to_string(x % 3); }),
               lv::stage<"sum">([sum = std::int64_t{0}](const int& x) mutable { return sum += x; })) |
      lv::join<"all">([](const double& d, const int& x, const std::string& s, const std::int64_t& sum) {
        return s + " " + std::to_string(d) + " " + std::to_string(x) + " " + std::to_string(sum);
      }));
  static_assert(decltype(app)::plan.segments == 1);
  const auto one = [](int i, std::int64_t sum) {
    const int x = 2 * i;
    return std::to_string(x) + "/" + std::to_string(x % 3) + " " + std::to_string(x * 0.25 + 1) + " " +
           std::to_string(x) + " " + std::to_string(sum);
  };
  std::vector<int> items;
  for (int i = 0; i < 500; ++i) items.push_back(i);
  std::int64_t sum = 0;
  int next = 0;
  for (auto&& r : app.stream(items)) {
    sum += 2 * next;
    CHECK(*r == one(next++, sum));
  }
  CHECK(next == 500);
  CHECK(app(4) == one(4, 8));
  CHECK(app(5) == one(5, 18));
}

TEST_CASE("branches across segments and devices; a value that is taken far behind where it was made") {
  const auto app = lv::deploy<box, lv::slots<16>>(
      lv::input<int> | lv::stage<"a">(+[](const int& x) { return std::to_string(x); }) |
      lv::fork(lv::on<lv::simulated<0>>(lv::stage<"there">([](const std::string& s) { return s + "!"; })) |
                   lv::stage<"back">(+[](const std::string& s) { return s + s; }),
               lv::on<lv::simulated<1>>(lv::stage<"size">(+[](const std::string& s) { return s.size(); })) |
                   lv::split_here | lv::stage<"square">(+[](const std::size_t& n) { return n * n; }),
               lv::identity) |
      lv::join<"j">(
          +[](const std::string& a, const std::size_t& n, const std::string& b) { return a + std::to_string(n) + b; }));
  static_assert(decltype(app)::plan.segments == 5);
  check_all_paths(app, [](int i) {
    const std::string s = std::to_string(i);
    return s + "!" + s + "!" + std::to_string(s.size() * s.size()) + s;
  });
}

TEST_CASE("a tee sees every item in order, and the items go on") {
  std::vector<int> seen;
  const auto app =
      lv::deploy<box>(lv::input<int> | lv::stage<"a">(+[](const int& x) { return x + 1; }) |
                      lv::tee(lv::stage<"b">(+[](const int& x) { return x * 10; }) |
                              lv::sink<"note">([&seen](const int& x) { seen.push_back(x); })) |
                      lv::stage<"c">([](int& x) { x = -x; }) | lv::tee(lv::sink<"end">(+[](const int&) {})));
  check_all_paths(app, [](int i) { return -(i + 1); });
  REQUIRE(seen.size() == 20 + 300 + 300);
  for (int i = 0; i < 300; ++i) CHECK(seen[static_cast<std::size_t>(320 + i)] == (i + 1) * 10);
}

TEST_CASE("items that fail in a branch, and are filtered behind the join, leave nothing behind") {
  {
    const auto app = lv::deploy<box>(
        lv::input<int> | lv::stage<"make">([](const int& x) { return counted(std::to_string(x)); }) |
        lv::fork(lv::stage<"odd">(+[](const counted& c) {
                   if (c.text.back() == '7') throw std::runtime_error(c.text);
                   return counted(c.text + "a");
                 }),
                 lv::on<lv::simulated<0>>(lv::stage<"even">([](const counted& c) {
                   if (c.text.back() == '4') throw std::runtime_error(c.text);
                   return counted(c.text + "b");
                 })),
                 lv::identity) |
        lv::join<"some">([](const counted& a, const counted& b, const counted& c) -> std::optional<counted> {
          if (c.text.back() == '5') return std::nullopt;
          return counted(a.text + b.text + c.text);
        }));
    std::vector<int> items;
    for (int i = 0; i < 400; ++i) items.push_back(i);
    int i = 0;
    for (auto&& r : app.stream(items)) {
      if (i % 10 == 5) ++i;
      const std::string x = std::to_string(i);
      if (i % 10 == 7 || i % 10 == 4)
        CHECK_THROWS_WITH_AS(r.value(), x.c_str(), std::runtime_error);
      else
        CHECK(r->text == x + "a" + x + "b" + x);
      ++i;
    }
    CHECK(i == 400);
    auto session = app.open();  // and given up with items in flight
    for (const int x : items) {
      session.push(x);
      if (x >= 40) session.pop();
    }
  }
  CHECK(counted::alive == 0);
}

TEST_CASE("a join that writes into its destination; the input itself in a branch, borrowed and owned") {
  using row = lv::tensor<float, 40>;
  const auto app =
      lv::deploy<box>(lv::input<row> | lv::fork(lv::identity, lv::stage<"neg", row>([](const row& in, row& out) {
                                                  for (std::size_t i = 0; i < in.size(); ++i) out[i] = -2 * in[i];
                                                })) |
                      lv::join<"add", row>([](const row& a, const row& b, row& out) {
                        for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] + b[i];
                      }));
  std::vector<row> items(200);
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t k = 0; k < 40; ++k) items[i][k] = static_cast<float>(i + k);
  std::size_t next = 0;
  for (auto&& r : app.stream(items)) {
    for (std::size_t k = 0; k < 40; ++k) CHECK((*r)[k] == -static_cast<float>(next + k));
    ++next;
  }
  row to;
  CHECK(app(items[3], to));
  CHECK(to[1] == -4);
  auto session = app.open<lv::external_results>();
  session.push(items[5], to);
  CHECK((**session.pop())[2] == -7);
}

TEST_CASE("a graph by names, over devices: values past several segments, one to many, a node that gives nothing") {
  std::atomic<int> logged{0};
  const auto app = lv::deploy<box, lv::slots<8>>(lv::graph(
      lv::port<"x", int>, lv::node<"text", "x">(lv::stage<"text">(+[](const int& x) { return std::to_string(x); })),
      lv::node<"far", "text">(lv::on<lv::simulated<0>>(lv::stage<"far">([](const std::string& s) { return s + s; }))),
      lv::node<"log", "text">(lv::sink<"log">([&logged](const std::string&) { ++logged; })),
      lv::node<"both", "far", "x">(lv::on<lv::simulated<1>>(
          lv::join<"both">(+[](const std::string& s, const int& x) { return s + "," + std::to_string(x + 1); }))),
      lv::node<"all", "both", "text", "far">(lv::join(
          +[](const std::string& a, const std::string& b, const std::string& c) { return a + ";" + b + ";" + c; })),
      lv::output<"y", "all">));
  check_all_paths(app, [](int i) {
    const std::string s = std::to_string(i);
    return s + s + "," + std::to_string(i + 1) + ";" + s + ";" + s + s;
  });
  CHECK(logged == 620);
}

TEST_CASE("ops of several inputs join branches; residual blocks in a row") {
  using row = lv::tensor<float, 2, 30>;
  const auto app = lv::deploy<box>(lv::input<row> | lv::residual(lv::nn::relu | lv::nn::sqrt) |
                                   lv::residual<"again">(lv::residual(lv::nn::relu)) |
                                   lv::fork(lv::identity, lv::nn::relu, lv::nn::abs) | lv::nn::concat<0> |
                                   lv::fork(lv::nn::transpose<1, 0>, lv::identity) | lv::nn::matmul);
  static_assert(std::same_as<std::remove_cvref_t<decltype(app)>::output, lv::tensor<float, 30, 30>>);
  std::vector<row> items(100);
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t k = 0; k < 60; ++k) items[i][k] = 0.1f * static_cast<float>(i) - 0.2f * static_cast<float>(k);
  std::size_t next = 0;
  for (auto&& r : app.stream(items)) {
    lv::tensor<float, 6, 30> x;
    for (std::size_t k = 0; k < 60; ++k) {
      float y = items[next][k];
      y += std::sqrt(std::max(y, 0.0f));
      y += y + std::max(y, 0.0f);
      x[k] = y, x[60 + k] = std::max(y, 0.0f), x[120 + k] = std::abs(y);
    }
    for (std::size_t i = 0; i < 30; ++i)
      for (std::size_t j = 0; j < 30; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < 6; ++k) sum += double{x(k, i)} * double{x(k, j)};
        CHECK((*r)(i, j) == doctest::Approx(sum).epsilon(1e-5));
      }
    ++next;
  }
  CHECK(next == items.size());
}

TEST_CASE("kernels of branches that run at once give what they give one after the other") {
  using namespace lv::nn;
  using picture = lv::tensor<float, 16, 32, 32>;
  lv::parameter_map w;
  float next = 0;
  for (const char* name : {"a.weight", "b.weight", "c.weight"}) {
    const auto weight = std::make_unique<lv::tensor<float, 16, 16, 3, 3>>();
    for (float& x : *weight) x = std::sin(next += 1);
    w.set(name, *weight);
  }
  const auto app = lv::deploy<lv::target<lv::cpu<3>>, lv::slots<4>>(
      lv::input<picture> |
      lv::fork(conv2d<"a", 16, lv::size<3>, lv::padding<1>, lv::no_bias>(w) | softmax,
               conv2d<"b", 16, lv::size<3>, lv::padding<1>, lv::no_bias>(w) | relu, lv::identity,
               conv2d<"c", 16, lv::size<3>, lv::padding<1>, lv::no_bias>(w) | transpose<0, 2, 1>) |
      concat<0>);
  static_assert(decltype(app)::plan.fork.size() == 1 && decltype(app)::plan.fork[0].branches == 3);
  static_assert(decltype(app)::plan.fork[0].order == lv::branch_order::at_once);
  auto session = app.open();
  const auto item = std::make_unique<picture>();
  for (int i = 0; i < 60; ++i) {
    for (std::size_t k = 0; k < item->size(); ++k) (*item)[k] = std::cos(static_cast<float>(i) + static_cast<float>(k));
    const auto expected = std::make_unique<lv::tensor<float, 64, 32, 32>>();
    app(*item, *expected);
    session.push(*item);
    const auto r = session.pop();
    CHECK(r->value() == *expected);
  }
}

}  // namespace run_branches
