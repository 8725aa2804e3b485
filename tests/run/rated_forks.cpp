// SPDX-License-Identifier: Apache-2.0
// Branches that change their rate and meet again: what comes out is what whole lists give, branch by branch, the first
// with the first.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace run_rated_forks {

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
using list = std::vector<int>;

list numbers(int count) {
  list items;
  for (int i = 0; i < count; ++i) items.push_back(i);
  return items;
}
std::string text(int i) { return std::string(40, 'x') + std::to_string(i); }

/// A part of a pipeline, and what it makes of a whole list.
template <class Part>
struct known {
  Part part;
  std::function<list(list)> of_all;
};
template <class Part>
known(Part, std::function<list(list)>) -> known<Part>;
template <class A, class B>
auto operator|(known<A> a, known<B> b) {
  return known{a.part | b.part,
               std::function<list(list)>([=](list all) { return b.of_all(a.of_all(std::move(all))); })};
}

template <std::size_t N>
auto first_of() {
  return known{lv::downsample<N>, std::function<list(list)>([](list all) {
                 list given;
                 for (std::size_t i = 0; i < all.size(); i += N) given.push_back(all[i]);
                 return given;
               })};
}
template <std::size_t N>
auto times() {
  return known{lv::repeat<N>, std::function<list(list)>([](list all) {
                 list given;
                 for (const int i : all) given.insert(given.end(), N, i);
                 return given;
               })};
}
const auto added = [](const auto& some) {
  int sum = 0;
  for (const int i : some) sum = sum * 3 + i;
  return sum;
};
/// A batch, filled up at the end, or dropped.
template <std::size_t N, lv::partial AtEnd>
auto sum_of() {
  return known{lv::batch<N, AtEnd> | lv::stage<"sum">(added), std::function<list(list)>([](list all) {
                 list given;
                 for (std::size_t i = 0; i + (AtEnd == lv::partial::drop ? N : 1) <= all.size(); i += N) {
                   std::array<int, N> some{};
                   std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(i), std::min(N, all.size() - i), some.begin());
                   given.push_back(added(some));
                 }
                 return given;
               })};
}
template <std::size_t N, std::size_t Step>
auto window_of() {
  return known{lv::window<N, Step> | lv::stage<"sum">(+[](const lv::tensor<int, N>& w) { return added(w); }),
               std::function<list(list)>([](list all) {
                 list given;
                 for (std::size_t i = 0; i + N <= all.size(); i += Step)
                   given.push_back(added(list(all.begin() + static_cast<std::ptrdiff_t>(i),
                                              all.begin() + static_cast<std::ptrdiff_t>(i + N))));
                 return given;
               })};
}
auto steps() {
  return known{lv::feedback<"steps">([](const int& x, int& before) { return x - std::exchange(before, x); }, 0),
               std::function<list(list)>([](list all) {
                 int before = 0;
                 for (int& i : all) i -= std::exchange(before, i);
                 return all;
               })};
}
template <class A, class B>
auto both(known<A> a, known<B> b) {
  return known{lv::fork(a.part, b.part) | lv::join<"both">(+[](const int& x, const int& y) { return 100 * x - y; }),
               std::function<list(list)>([=](const list& all) {
                 const list x = a.of_all(all), y = b.of_all(all);
                 list given;
                 for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) given.push_back(100 * x[i] - y[i]);
                 return given;
               })};
}

template <class Part>
void check(known<Part> of) {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"before">(+[](const int& i) { return i + 5; }) | of.part |
                                   lv::stage<"behind">(+[](const int& i) { return i - 1; }));
  for (const int count : {0, 1, 2, 7, 60, 331}) {
    CAPTURE(count);
    list items = numbers(count);
    for (int& i : items) i += 5;
    list expected = of.of_all(std::move(items));
    for (int& i : expected) --i;
    list given;
    for (auto&& r : app.stream(numbers(count))) given.push_back(*r);
    CHECK(given == expected);
  }
}

using lv::partial;

TEST_CASE("branches of one rate by different ways") {
  check(both(sum_of<4, partial::pad>(), first_of<2>() | first_of<2>()));
  check(both(sum_of<3, partial::drop>() | times<2>(), times<2>() | window_of<3, 3>()));
  check(both(times<3>(), first_of<1>() | times<3>()));
}

TEST_CASE("a branch that begins late has the others wait for it") {
  check(both(window_of<10, 4>(), window_of<2, 4>()));
  check(both(window_of<9, 1>() | steps(), window_of<1, 1>() | times<2>() | first_of<2>()));
}

TEST_CASE("forks in branches of forks, before and behind other rates") {
  check(times<2>() |
        both(first_of<3>() | both(times<2>(), sum_of<2, partial::pad>() | times<4>()) | first_of<2>(),
             sum_of<6, partial::pad>() | times<2>()) |
        sum_of<2, partial::pad>());
}

TEST_CASE("what is planned of them: how often, and the memory") {
  const auto app = lv::deploy<box>(
      lv::input<int> | lv::fork(lv::window<6, 2>, lv::batch<2>) |
      lv::join<"j">(+[](const lv::tensor<int, 6>& w, const std::array<int, 2>& b) { return w[0] + b[1]; }));
  using plan_type = decltype(app);
  static_assert(plan_type::plan.regions == 2);
  static_assert(plan_type::plan.rate[1].name == "fork");
  static_assert(plan_type::plan.rate[1].ratio == lv::rate_ratio{2, 1});
  static_assert(plan_type::plan.repetitions == std::array<std::size_t, 2>{2, 1});
  // Two batches wait for the first window, and one is made.
  static_assert(plan_type::plan.rate[1].bytes >= 3 * sizeof(std::array<int, 2>) + sizeof(lv::tensor<int, 6>));
  static_assert(plan_type::plan.rate[1].bytes < 2048);
  static_assert(plan_type::plan.bytes_total > plan_type::plan.rate[1].bytes);
  int next = 0;
  for (auto&& r : app.stream(numbers(100))) CHECK(*r == 4 * next++ + 1);
  CHECK(next == 48);
}

TEST_CASE("an item that fails before or inside makes all branches begin anew, and nothing is left behind") {
  for (const bool inside : {false, true}) {
    CAPTURE(inside);
    const auto fails = [](int i) { return i % 11 == 6; };
    const auto app = lv::deploy<box>(
        lv::input<int> | lv::stage<"before">([=](const int& i) {
          if (!inside && fails(i)) throw std::runtime_error(text(i));
          return text(i);
        }) |
        lv::fork(lv::batch<4, partial::drop> |
                     lv::stage<"first">(+[](const std::array<std::string, 4>& b) { return b[0] + b[3]; }),
                 lv::stage<"inside">([=](const std::string& s) {
                   if (inside && fails(std::stoi(s.substr(40)))) throw std::runtime_error(s);
                   return s + "!";
                 }) | lv::downsample<4>) |
        lv::join<"j">(+[](const std::string& a, const std::string& b) { return a + b; }));
    std::vector<std::string> expected;
    std::vector<int> begun;
    for (int i = 0; i < 150; ++i) {
      if (fails(i)) {
        expected.push_back(text(i));
        begun.clear();
        continue;
      }
      begun.push_back(i);
      if (begun.size() < 4) continue;
      expected.push_back(text(begun[0]) + text(begun[3]) + text(begun[0]) + "!");
      begun.clear();
    }
    std::vector<std::string> given;
    for (auto&& r : app.stream(numbers(150))) {
      try {
        given.push_back(r.value());
      } catch (const std::runtime_error& e) {
        given.push_back(e.what());
      }
    }
    CHECK(given == expected);
  }
}

TEST_CASE("sessions have branches of their own, begin anew when they are reset, and are given up half-way") {
  const auto app =
      lv::deploy<box>(lv::input<int> | lv::stage<"text">(+[](const int& i) { return text(i); }) |
                      lv::fork(lv::batch<3> | lv::stage<"count">([n = 0](const std::array<std::string, 3>& b) mutable {
                                 return b[0] + std::to_string(n++);
                               }),
                               lv::stage<"keep">([](std::string& s) { s += "?"; }) | lv::downsample<3>) |
                      lv::join<"j">(+[](const std::string& a, const std::string& b) { return a + b; }));
  auto a = app.open(), b = app.open();
  for (int i = 0; i < 3; ++i) a.push(i);
  CHECK(**a.pop() == text(0) + "0" + text(0) + "?");
  for (int i = 10; i < 16; ++i) b.push(i);
  CHECK(**b.pop() == text(10) + "0" + text(10) + "?");
  CHECK(**b.pop() == text(13) + "1" + text(13) + "?");
  for (int i = 3; i < 6; ++i) a.push(i);
  CHECK(**a.pop() == text(3) + "1" + text(3) + "?");
  a.reset();
  for (int i = 6; i < 9; ++i) a.push(i);
  CHECK(**a.pop() == text(6) + "0" + text(6) + "?");
  for (int i = 0; i < 8; ++i) a.push(i);
  b.cancel();
}

TEST_CASE("branches of ops with weights give what pipelines of their own give") {
  using chunk = lv::tensor<float, 12>;
  lv::parameter_map weights;
  lv::tensor<float, 3, 5> w;
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = 0.1f * static_cast<float>(i) - 0.6f;
  weights.set("dense.weight", w);
  weights.set("dense.bias", lv::tensor<float, 3>{1, 2, 3});
  weights.set("few.weight", lv::tensor<float, 3, 4>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  weights.set("few.bias", lv::tensor<float, 3>{});
  const auto spectra =
      lv::window<8, 4> | lv::signal::power_spectrum<> | lv::nn::dense<"dense", 3>(weights) | lv::nn::relu;
  const auto sums = lv::window<4> | lv::nn::dense<"few", 3>(weights) | lv::nn::tanh;
  std::vector<chunk> chunks(50);
  float next = 0;
  for (chunk& c : chunks)
    for (float& x : c) x = 0.01f * static_cast<float>(static_cast<int>(next += 7) % 31);
  const auto all_of = [&](const auto& part) {
    std::vector<lv::tensor<float, 3>> given;
    const auto app = lv::deploy<box>(lv::input<chunk> | part);
    for (auto&& r : app.stream(chunks)) given.push_back(*r);
    return given;
  };
  std::vector<lv::tensor<float, 3>> expected = all_of(spectra);
  const auto others = all_of(sums);
  REQUIRE(expected.size() == 149);
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) expected[i][k] += others[i][k];
  CHECK(all_of(lv::fork(spectra, sums) | lv::nn::add) == expected);
}

TEST_CASE("what fails in the last, short group is dropped and counted") {
  const auto app = lv::deploy<box>(lv::input<int> |
                                   lv::fork(lv::batch<4> | lv::stage<"whole">(+[](const std::array<int, 4>& b) {
                                              if (b[3] == 0) throw std::runtime_error("short");
                                              return b[3];
                                            }),
                                            lv::downsample<4>) |
                                   lv::join<"j">(+[](const int& a, const int& b) { return a + b; }));
  auto session = app.open();
  for (int i = 1; i <= 6; ++i) session.push(i);
  session.close();
  CHECK(**session.pop() == 5);
  CHECK(!session.pop());
  CHECK(session.counts().pushed == 6);
  CHECK(session.counts().dropped == 2);
}

TEST_CASE("what was begun before an item that fails inside is dropped and counted, and who listens hears of it") {
  const auto app =
      lv::deploy<box>(lv::input<int> | lv::fork(lv::batch<4> | lv::unbatch, lv::stage<"x">([](const int& i) {
                                                  if (i == 2) throw std::runtime_error("x");
                                                  return i;
                                                })) |
                      lv::join<"j">(+[](const int& a, const int& b) { return 100 * a + b; }));
  auto session = app.open();
  std::atomic<int> heard{0};
  session.on_error([&](std::uint64_t, const std::exception_ptr&) noexcept { ++heard; });
  for (int i = 0; i < 9; ++i) session.push(i);
  session.close();
  list given;
  while (const auto r = session.pop()) given.push_back(*r ? **r : -1);
  CHECK(given == list{-1, 303, 404, 505, 606, 707, 808});
  CHECK(heard == 1);
  const lv::item_counts counts = session.counts();
  CHECK(counts.pushed == 9);
  CHECK(counts.delivered == 7);
  CHECK(counts.drops.partial == 2);
  CHECK(session.counts(1).failed == 1);
}

TEST_CASE("batches that meet are padded where one of them is") {
  const auto both = lv::join<"both">(+[](const std::array<int, 4>& a, const std::array<int, 4>& b) {
    return std::array{a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
  });
  const auto found = [](const auto& app) {
    list given;
    for (auto&& r : app.stream(numbers(6))) given.push_back(*r);
    return given;
  };
  const auto branches = lv::deploy<box>(lv::input<int> | lv::fork(lv::batch<4>, lv::batch<4>) | both | lv::unbatch);
  CHECK(found(branches) == list{0, 2, 4, 6, 8, 10});
  const auto beside = lv::deploy<box>(lv::input<int> | lv::fork(lv::batch<4>, lv::downsample<4>) |
                                      lv::join<"more">(+[](const std::array<int, 4>& a, const int& b) {
                                        return std::array{a[0] + b, a[1] + b, a[2] + b, a[3] + b};
                                      }) |
                                      lv::unbatch);
  CHECK(found(beside) == list{0, 1, 2, 3, 8, 9});
  const auto behind =
      lv::deploy<box>(lv::input<int> | lv::batch<4> | lv::fork(lv::downsample<1>, lv::identity) | both | lv::unbatch);
  CHECK(found(behind) == list{0, 2, 4, 6, 8, 10});
}

}  // namespace run_rated_forks
