// SPDX-License-Identifier: Apache-2.0
// Branches beside the line that change their rate: the line goes on as if there were none, and the sink sees what the
// branch makes.

#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>
#include <levada/levada.hpp>

namespace run_rated_tees {

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
std::string text(int i) { return std::string(40, 'x') + std::to_string(i); }

TEST_CASE("a tee takes batches beside the line, the last one filled up") {
  std::vector<std::vector<std::string>> seen;
  const auto app =
      lv::deploy<box>(lv::input<int> | lv::stage<"text">(+[](const int& i) { return text(i); }) |
                      lv::tee(lv::stage<"mark">(+[](const std::string& s) { return s + "!"; }) | lv::batch<4> |
                              lv::sink<"keep">([&seen](const std::array<std::string, 4>& b) {
                                seen.emplace_back(b.begin(), b.end());
                              })) |
                      lv::stage<"end">(+[](const std::string& s) { return s + "."; }));
  static_assert(decltype(app)::plan.rate[1].name == "tee");
  static_assert(decltype(app)::plan.repetitions == std::array<std::size_t, 2>{1, 1});
  std::vector<int> items;
  for (int i = 0; i < 202; ++i) items.push_back(i);
  int next = 0;
  for (auto&& r : app.stream(items)) CHECK(*r == text(next++) + ".");
  CHECK(next == 202);
  REQUIRE(seen.size() == 51);
  for (int b = 0; b < 50; ++b)
    for (int i = 0; i < 4; ++i)
      CHECK(seen[static_cast<std::size_t>(b)][static_cast<std::size_t>(i)] == text(4 * b + i) + "!");
  CHECK(seen[50] == std::vector<std::string>{text(200) + "!", text(201) + "!", "", ""});
}

TEST_CASE("a pipeline whose rates give one item for each is called, each call by itself") {
  std::vector<int> seen;
  const auto with_tee =
      lv::deploy<box>(lv::input<int> | lv::stage<"even">(+[](const int& i) {
                        if (i == 7) throw std::runtime_error("it is 7");
                        return i % 2 == 0 ? std::optional(i) : i == 3 ? std::nullopt : std::optional(i + 10);
                      }) |
                      lv::tee(lv::batch<2> | lv::sink<"keep">([&seen](const std::array<int, 2>& b) {
                                seen.insert(seen.end(), b.begin(), b.end());
                              })) |
                      lv::stage<"next">(+[](const int& i) { return i + 1; }));
  static_assert(std::is_same_v<decltype(with_tee(1)), std::optional<int>>);
  CHECK(with_tee(4) == 5);
  CHECK(with_tee(5) == 16);
  CHECK(with_tee(3) == std::nullopt);
  CHECK_THROWS_AS(with_tee(7), std::runtime_error);
  CHECK(seen == std::vector<int>{4, 0, 15, 0});

  const auto with_fork = lv::deploy<box>(
      lv::input<int> |
      lv::fork(lv::repeat<6> | lv::stage<"twice">(+[](const int& i) { return 2 * i; }) | lv::downsample<6>,
               lv::stage<"minus">(+[](const int& i) { return -i; })) |
      lv::join<"sum">(+[](const int& a, const int& b) { return a + b; }));
  static_assert(std::is_same_v<decltype(with_fork(1)), int>);
  for (int i = 0; i < 20; ++i) CHECK(with_fork(i) == i);
}

TEST_CASE("a tee may filter, before its rate and behind it") {
  std::vector<int> seen;
  const auto app = lv::deploy<box>(
      lv::input<int> |
      lv::tee(lv::stage<"even">(+[](const int& i) { return i % 2 == 0 ? std::optional(i) : std::nullopt; }) |
              lv::batch<2> | lv::stage<"some">(+[](const std::array<int, 2>& b) {
                return b[0] % 3 == 0 ? std::optional(b[0] + b[1]) : std::nullopt;
              }) |
              lv::sink<"keep">([&seen](const int& i) { seen.push_back(i); })));
  std::vector<int> items;
  for (int i = 0; i < 30; ++i) items.push_back(i);
  int next = 0;
  for (auto&& r : app.stream(items)) CHECK(*r == next++);
  CHECK(next == 30);
  CHECK(seen == std::vector<int>{0 + 2, 12 + 14, 24 + 26});
}

TEST_CASE("what fails beside the line is the item's, and the branch begins anew behind it") {
  std::vector<int> sums;
  const auto app =
      lv::deploy<box>(lv::input<int> |
                      lv::tee(lv::batch<3, lv::partial::drop> | lv::stage<"sum">(+[](const std::array<int, 3>& b) {
                                if (b[2] == 5) throw std::runtime_error("five");
                                return b[0] + b[1] + b[2];
                              }) |
                              lv::sink<"keep">([&sums](const int& s) { sums.push_back(s); })) |
                      lv::batch<2>);
  auto session = app.open();
  for (int i = 0; i < 12; ++i) session.push(i);
  session.close();
  std::vector<std::array<int, 2>> pairs;
  int failed = 0;
  while (auto r = session.pop())
    if (*r)
      pairs.push_back(**r);
    else
      ++failed;
  CHECK(failed == 1);
  CHECK(sums == std::vector<int>{3, 21, 30});
  CHECK(pairs == std::vector<std::array<int, 2>>{{0, 1}, {2, 3}, {4, 0}, {6, 7}, {8, 9}, {10, 11}});
}

TEST_CASE("windows of chunks of any length in a tee, which a fork's branch has") {
  std::vector<float> firsts;
  const auto app = lv::deploy<box>(
      lv::input<std::vector<float>> |
      lv::fork(lv::tee(lv::window<4, 3> |
                       lv::sink<"firsts">([&firsts](const lv::tensor<float, 4>& w) { firsts.push_back(w[0]); })) |
                   lv::stage<"size">(+[](const std::vector<float>& v) { return v.size(); }),
               lv::identity) |
      lv::join<"same">(+[](const std::size_t& n, const std::vector<float>& v) { return n == v.size(); }));
  std::vector<std::vector<float>> chunks;
  float next = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    chunks.emplace_back();
    for (std::size_t k = 0; k < i % 5; ++k) chunks.back().push_back(next++);
  }
  int count = 0;
  for (auto&& r : app.stream(chunks)) count += *r;
  CHECK(count == 20);
  CHECK(firsts.size() == 13);
  for (std::size_t i = 0; i < firsts.size(); ++i) CHECK(firsts[i] == static_cast<float>(3 * i));
}

}  // namespace run_rated_tees
