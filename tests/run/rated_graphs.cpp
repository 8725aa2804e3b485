// SPDX-License-Identifier: Apache-2.0
// Graphs whose nodes change their rate: values that cross, several ports and outputs, as whole lists give them.

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>
#include <levada/interop/report.hpp>
#include <levada/levada.hpp>

namespace run_rated_graphs {

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;

std::string text(int i) { return std::string(40, 'x') + std::to_string(i); }
const auto first_of_four = lv::stage<"first">(+[](const std::array<std::string, 4>& b) { return b[0]; });

TEST_CASE("values of several rates cross in a graph, and meet where they come alike") {
  // pairs: (0 1)(2 3)...; evens: 0 2 4 ...; both: 0-1/0, ...; the windows of six evens begin late.
  const auto app = lv::deploy<box>(
      lv::input<int> |
      lv::graph(
          lv::port<"x", int>, lv::node<"evens", "x">(lv::downsample<2>),
          lv::node<"pairs", "x">(lv::batch<2, lv::partial::drop> |
                                 lv::stage<"minus">(+[](const std::array<int, 2>& b) { return 10 * b[0] - b[1]; })),
          lv::node<"both", "pairs", "evens">(lv::join<"both">(+[](const int& p, const int& e) { return 100 * p + e; })),
          lv::node<"late", "evens">(lv::window<6, 1> | lv::stage<"sum">([n = 0](const lv::tensor<int, 6>& w) mutable {
                                      int sum = n++;
                                      for (const int i : w) sum += i;
                                      return sum;
                                    })),
          lv::node<"all", "late", "both", "evens">(lv::join<"all">(+[](const int& l, const int& b, const int& e) {
            return std::array<int, 3>{l, b, e};
          })),
          lv::output<"y", "all">) |
      lv::stage<"same">(+[](const std::array<int, 3>& a) { return a; }));
  static_assert(decltype(app)::plan.rate[1].name == "graph");
  static_assert(decltype(app)::plan.repetitions == std::array<std::size_t, 2>{2, 1});
  // "late" comes first with the sixth of the evens, when five of "both" and six evens wait for it.
  constexpr auto rings = decltype(app)::plan.rate[1].rings;
  static_assert(rings.size() == 6);
  static_assert(rings[3].at == "all" && rings[3].index == 1 && rings[3].size == lv::ring_size{5, 5});
  static_assert(rings[4].at == "all" && rings[4].index == 2 && rings[4].size == lv::ring_size{6, 6});
  for (const int count : {0, 9, 12, 201}) {
    CAPTURE(count);
    std::vector<int> items;
    for (int i = 0; i < count; ++i) items.push_back(i);
    int k = 0;
    for (auto&& r : app.stream(items)) {
      const int e = 2 * k, late = 6 * e + 30 + k;
      CHECK(*r == std::array<int, 3>{late, 100 * (10 * e - (e + 1)) + e, e});
      ++k;
    }
    CHECK(k == std::max(0, (count + 1) / 2 - 5));
  }
}

TEST_CASE("several ports, several outputs, and a graph in a branch; what fails makes all begin anew") {
  const auto app = lv::deploy<box>(
      lv::graph(lv::port<"a", int>, lv::port<"b", std::string>,
                lv::node<"some", "b">(lv::stage<"check">(+[](const std::string& s) {
                                        if (s.ends_with("9")) throw std::runtime_error(s);
                                        return s;
                                      }) |
                                      lv::batch<4, lv::partial::drop> | first_of_four),
                lv::node<"four", "a">(lv::fork(lv::downsample<4>, lv::downsample<2> | lv::downsample<2>) |
                                      lv::join<"minus">(+[](const int& x, const int& y) { return 3 * x - y; })),
                lv::node<"glued", "some", "four">(
                    lv::join<"glue">(+[](const std::string& s, const int& i) { return s + "/" + std::to_string(i); })),
                lv::output<"text", "glued">, lv::output<"number", "four">) |
      lv::graph(lv::port<"text", std::string>, lv::port<"number", int>,
                lv::node<"last", "text", "number">(
                    lv::join<"last">(+[](const std::string& s, const int& n) { return s + "=" + std::to_string(n); })),
                lv::output<"y", "last">));
  auto session = app.open();
  std::vector<std::string> expected, given;
  std::vector<int> begun;
  for (int i = 0; i < 60; ++i) {
    session.push<"a">(i);
    session.push<"b">(text(i));
    if (i % 10 == 9) {
      expected.push_back(text(i));
      begun.clear();
    } else {
      begun.push_back(i);
    }
    if (begun.size() == 4) {
      expected.push_back(text(begun[0]) + "/" + std::to_string(2 * begun[0]) + "=" + std::to_string(2 * begun[0]));
      begun.clear();
    }
    if (expected.size() == given.size()) continue;
    auto r = session.pop();
    REQUIRE(r);
    try {
      given.push_back(r->value());
    } catch (const std::runtime_error& e) {
      given.push_back(e.what());
    }
  }
  CHECK(given == expected);
  session.push<"a">(1);
  session.push<"b">("left behind");
}

TEST_CASE("batches in a graph keep their padding apart, and what an item that fails inside takes along is counted") {
  const auto app = lv::deploy<box>(
      lv::graph(lv::port<"x", int>, lv::node<"batched", "x">(lv::batch<4>),
                lv::node<"first", "x">(lv::stage<"checked">([](const int& i) {
                                         if (i == 6) throw std::runtime_error("six");
                                         return i;
                                       }) |
                                       lv::downsample<4>),
                lv::node<"sums", "batched", "first">(lv::join<"sum">(+[](const std::array<int, 4>& b, const int& i) {
                  return std::array{b[0] + i, b[1] + i, b[2] + i, b[3] + i};
                })),
                lv::output<"y", "sums">) |
      lv::unbatch);
  auto session = app.open();
  for (int i = 0; i < 13; ++i) session.push(i);
  session.close();
  std::vector<int> given;
  while (const auto r = session.pop()) given.push_back(*r ? **r : -1);
  CHECK(given == std::vector<int>{0, 1, 2, 3, -1, 14, 15, 16, 17, 22, 23});
  CHECK(session.counts().pushed == 13);
  CHECK(session.counts().delivered == 11);
  CHECK(session.counts().drops.partial == 2);
}

TEST_CASE("outputs of a graph leave at different rates, with the fastest of them") {
  // "all" gives each item; "pairs" with the second of two; "late" nothing until six came; "short" fills its last three.
  const auto app = lv::deploy<box>(lv::graph(
      lv::port<"x", int>, lv::node<"same", "x">(lv::stage<"same">(+[](const int& i) { return i; })),
      lv::node<"pairs", "x">(lv::batch<2, lv::partial::drop> |
                             lv::stage<"pair">(+[](const std::array<int, 2>& b) { return text(b[0]) + text(b[1]); })),
      lv::node<"threes", "same">(lv::batch<3> | lv::stage<"three">(+[](const std::array<int, 3>& b) { return b; })),
      lv::output<"pairs", "pairs">, lv::output<"all", "same">, lv::output<"threes", "threes">));
  using output = decltype(app)::output;
  static_assert(std::is_same_v<output, lv::named_items<lv::named_item<"pairs", std::optional<std::string>>,
                                                       lv::named_item<"all", std::optional<int>>,
                                                       lv::named_item<"threes", std::optional<std::array<int, 3>>>>>);
  for (const int count : {0, 1, 7, 8, 200}) {
    CAPTURE(count);
    std::vector<int> items, all;
    std::vector<std::string> pairs, expected_pairs;
    std::vector<std::array<int, 3>> threes, expected_threes;
    for (int i = 0; i < count; ++i) {
      items.push_back(i);
      if (i % 2 == 1) expected_pairs.push_back(text(i - 1) + text(i));
      if (i % 3 == 2) expected_threes.push_back({i - 2, i - 1, i});
    }
    if (count % 3 != 0) expected_threes.push_back({count - count % 3, count % 3 == 2 ? count - 1 : 0, 0});
    int together = 0, wrong = 0;
    for (auto&& r : app.stream(items)) {
      if (const auto& p = r->get<"pairs">()) pairs.push_back(*p);
      if (const auto& a = r->get<"all">()) all.push_back(*a);
      if (const auto& t = r->get<"threes">()) threes.push_back(*t);
      wrong += together < count && (!r->get<"all">() || r->get<"pairs">().has_value() != (together % 2 == 1));
      ++together;
    }
    CHECK(all == items);
    CHECK(pairs == expected_pairs);
    CHECK(threes == expected_threes);
    CHECK(together == count + (count % 3 != 0));
    CHECK(wrong == 0);
  }
  auto session = app.open();
  for (int i = 0; i < 4; ++i) session.push(i);
  for (int i = 0; i < 4; ++i) CHECK(**session.pop<"all">() == i);
  for (int i = 0; i < 4; ++i) CHECK((**session.pop<"pairs">()).has_value() == (i % 2 == 1));
  for (int i = 0; i < 4; ++i) CHECK((**session.pop<"threes">()).has_value() == (i == 2));
}

TEST_CASE("an item that fails between outputs of different rates makes them begin anew") {
  const auto app = lv::deploy<box>(
      lv::graph(lv::port<"x", int>, lv::node<"twice", "x">(lv::repeat<2> | lv::stage<"check">(+[](const int& i) {
                                                             if (i == 3) throw std::runtime_error("three");
                                                             return i;
                                                           })),
                lv::node<"pairs", "x">(lv::batch<2, lv::partial::drop> |
                                       lv::stage<"sum">(+[](const std::array<int, 2>& b) { return b[0] + b[1]; })),
                lv::output<"twice", "twice">, lv::output<"pairs", "pairs">));
  std::vector<int> twice, pairs;
  int failed = 0;
  for (auto&& r : app.stream(std::vector<int>{0, 1, 2, 3, 4, 5, 6})) {
    if (!r) {
      ++failed;
      continue;
    }
    if (const auto& t = r->get<"twice">()) twice.push_back(*t);
    if (const auto& p = r->get<"pairs">()) pairs.push_back(*p);
  }
  CHECK(failed == 1);
  CHECK(twice == std::vector<int>{0, 0, 1, 1, 2, 2, 4, 4, 5, 5, 6, 6});
  CHECK(pairs == std::vector<int>{0 + 1, 4 + 5});
  auto session = app.open();  // "twice" gives what "pairs" has only begun
  for (int i = 0; i < 7; ++i) session.push(i);
  session.close();
  while (session.pop()) {
  }
  CHECK(session.counts().delivered == 7);
}

TEST_CASE("the plan says how large rings are, and how large they would be at least") {
  const auto app =
      lv::deploy<box, lv::slots<8>>(lv::input<int> | lv::fork(lv::repeat<3>, lv::downsample<2> | lv::repeat<6>) |
                                    lv::join<"both">(+[](const int& a, const int& b) { return a - b; }));
  constexpr auto rings = decltype(app)::plan.rate[1].rings;
  static_assert(rings.size() == 2);
  static_assert(rings[0].at == "fork" && rings[0].size == lv::ring_size{3, 1});
  static_assert(rings[1].size == lv::ring_size{6, 3} && rings[1].item_bytes == sizeof(int));
  const std::string plan = lv::report(app);
  CHECK(plan.find("rate region 1, behind fork, which gives 3 for 1, 3 items in a period; slots 8, at least 1\n") !=
        std::string::npos);
  CHECK(plan.find("  ring at fork, 1: 6 x 4 B; at least 3, with pauses\n") != std::string::npos);
  CHECK(lv::report<lv::format::json>(app).find(R"({"at":"fork","index":1,"room":6,"least":3,"item_bytes":4})") !=
        std::string::npos);
}

}  // namespace run_rated_graphs
