// SPDX-License-Identifier: Apache-2.0
// A pipeline for each part of an item: what it gives, its memory, overflow, failures, state.

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <levada/graph/parameter_map.hpp>
#include <levada/interop/report.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

#include "items.hpp"

namespace run_for_each {

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
using numbers = lv::bounded<int, 100>;
using results = lv::bounded<int, 64>;

numbers counting_to(std::size_t n, int first = 0) {
  numbers item;
  for (std::size_t i = 0; i < n; ++i) item.push_back(first + static_cast<int>(i));
  return item;
}

constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

// ---- crops of a picture ----

using picture = lv::tensor<float, 16, 16>;
using crop = lv::tensor<float, 16>;
using scores = lv::tensor<float, 3>;
struct corner {
  std::size_t y = 0, x = 0;
};
using corners = lv::bounded<corner, 64>;

crop cut(const picture& from, const corner& at) {
  crop part;
  for (std::size_t y = 0; y < 4; ++y)
    for (std::size_t x = 0; x < 4; ++x) part(4 * y + x) = from(at.y + y, at.x + x);
  return part;
}

/// As many as the first pixel says.
corners find(const picture& in) {
  corners found;
  for (std::size_t i = 0; i < static_cast<std::size_t>(in(0, 0)); ++i) found.push_back({i % 13, (5 * i) % 13});
  return found;
}

picture picture_with(std::size_t count) {
  picture p;
  for (std::size_t i = 0; i < picture::elements; ++i) p.data()[i] = static_cast<float>((i * 37 + count) % 101) / 8;
  p(0, 0) = static_cast<float>(count);
  return p;
}

class weights {
 public:
  weights() {
    for (std::size_t i = 0; i < 48; ++i) weight_.data()[i] = static_cast<float>(i % 7) - 3;
    for (std::size_t i = 0; i < 3; ++i) bias_(i) = static_cast<float>(i);
    values_.set("fc.weight", weight_);
    values_.set("fc.bias", bias_);
  }
  const lv::parameter_map& operator*() const { return values_; }

 private:
  lv::tensor<float, 3, 16> weight_;
  lv::tensor<float, 3> bias_;
  lv::parameter_map values_;
};

auto classify(const weights& w) { return lv::nn::relu | lv::nn::dense<"fc", 3>(*w) | lv::nn::softmax; }

TEST_CASE("each part goes through the pipeline, and the results are collected in order") {
  const auto app = lv::deploy<box>(
      lv::input<numbers> | lv::for_each<64>(twice | lv::stage<"text">([](const int& x) { return std::to_string(x); })) |
      lv::collect | lv::stage<"all">([](const lv::bounded<std::string, 64>& texts) {
        std::string all;
        for (const std::string& t : texts) all += t + " ";
        return all;
      }));
  CHECK(app(counting_to(0)) == "");
  CHECK(app(counting_to(4)) == "0 2 4 6 ");
}

TEST_CASE("0 to 64 crops of a picture, streamed, are those of a loop; memory is that of one crop at work") {
  const weights w;
  const auto cut_here = lv::join<"cut">(cut);
  auto app = lv::deploy<box, lv::slots<16>>(lv::input<picture> | lv::fork(lv::identity, lv::stage<"find">(find)) |
                                            lv::for_each<"crops", 64>(cut_here | classify(w)) | lv::collect);
  auto one = lv::deploy<box, lv::slots<1>>(lv::input<crop> | classify(w));

  CHECK(lv::report(app).find("crops (cut, relu, fc, softmax)") != std::string::npos);
  using planned = decltype(app);
  using planned_one = decltype(one);
  constexpr const auto& unit = planned::plan.unit[1];
  static_assert(planned::plan.backend[unit.backend].name == "nested");
  static_assert(unit.order == lv::concurrency::parallel);
  static_assert(unit.weight_bytes == planned_one::plan.bytes_weights);
  // The scratchpad of one crop, whatever number of them there is, and the results at their bound.
  static_assert(unit.scratch_bytes <= planned_one::plan.slot_bytes + planned_one::plan.bytes_scratch + 128);
  static_assert(planned::plan.value[unit.out].bytes == sizeof(lv::bounded<scores, 64>));

  std::vector<picture> pictures;
  for (std::size_t n = 0; n <= 64; ++n) pictures.push_back(picture_with(n));
  std::size_t n = 0;
  for (auto&& r : app.stream(pictures)) {
    const auto wanted = find(pictures[n]);
    REQUIRE(r->size() == n);
    for (std::size_t i = 0; i < n; ++i) CHECK((*r)[i] == one(cut(pictures[n], wanted[i])));
    ++n;
  }
  CHECK(n == 65);
}

TEST_CASE("parts that there is no room for fail their item, or are dropped from behind") {
  const auto strict = lv::deploy<box>(lv::input<numbers> | lv::for_each<"detections", 64>(twice) | lv::collect);
  CHECK(strict(counting_to(64)).size() == 64);
  CHECK_THROWS_WITH_AS(strict(counting_to(65)),
                       "levada: stage \"detections\": an item has 65 parts, and there is room for 64", lv::error);
  const auto some =
      lv::deploy<box>(lv::input<numbers> | lv::for_each<64, lv::overflow_parts::drop_last>(twice) | lv::collect);
  const results kept = some(counting_to(100));
  CHECK(kept.size() == 64);
  CHECK(kept.back() == 126);
}

TEST_CASE("an item fails where one of its parts does, as that part's stage threw, and its neighbours go on") {
  struct broken : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  using item = lv::test::tracked<>;
  const lv::test::nothing_leaks guard;
  {
    const auto app = lv::deploy<box>(
        lv::input<numbers> |
        lv::for_each<64>(lv::stage<"make">([](const int& x) { return item(x); }) | lv::stage<"change">([](item& x) {
                           if (x.value == 13) throw broken("13");
                           ++x.value;
                         })) |
        lv::collect | lv::stage<"sum">([](const lv::bounded<item, 64>& all) {
          int sum = 0;
          for (const item& x : all) sum += x.checked();
          return sum;
        }));
    std::vector<numbers> items;
    for (int i = 0; i < 200; ++i) items.push_back(counting_to(static_cast<std::size_t>(i % 20)));
    int i = 0;
    for (auto&& r : app.stream(items)) {
      const int n = i++ % 20;
      CHECK(r.has_value() == (n <= 13));
      if (r) CHECK(*r == n * (n + 1) / 2);
      if (!r) CHECK_THROWS_AS(r.value(), broken);
    }
    CHECK(i == 200);
  }
}

TEST_CASE("a part that is filtered is left out") {
  const auto app = lv::deploy<box>(lv::input<numbers> |
                                   lv::for_each<64>(lv::stage<"odd">([](const int& x) -> std::optional<int> {
                                                      if (x % 2 == 0) return std::nullopt;
                                                      return x;
                                                    }) |
                                                    twice) |
                                   lv::collect);
  CHECK(app(counting_to(7)) == results{2, 6, 10});
}

TEST_CASE(
    "a stage with state takes the parts of all items in order, has a copy for each session, and is reset with it") {
  const auto app = lv::deploy<box>(
      lv::input<numbers> |
      lv::for_each<64>(twice | lv::stage<"count">([n = 0](const int& x) mutable { return x + 1000 * n++; })) |
      lv::collect);
  static_assert(decltype(app)::plan.unit[0].order == lv::concurrency::serial);
  const std::vector<numbers> items(50, counting_to(3));
  for (int again = 0; again < 2; ++again) {
    int n = 0;
    for (auto&& r : app.stream(items)) {
      CHECK(*r == results{1000 * n, 1000 * (n + 1) + 2, 1000 * (n + 2) + 4});
      n += 3;
    }
    CHECK(n == 150);
  }
  auto session = app.open();
  for (int again = 0; again < 2; ++again) {
    session.push(items[0]);
    CHECK(**session.pop() == results{0, 1002, 2004});
    session.push(items[0]);
    CHECK(**session.pop() == results{3000, 4002, 5004});
    session.reset();
  }
}

TEST_CASE("what a feedback inside keeps goes on from part to part and from item to item") {
  const auto app = lv::deploy<box>(
      lv::input<numbers> | lv::for_each<64>(lv::feedback<"sum">([](const int& x, int& sum) { return sum += x; }, 0)) |
      lv::collect);
  auto session = app.open();
  for (int again = 0; again < 2; ++again) {
    session.push(counting_to(4));
    CHECK(**session.pop() == results{0, 1, 3, 6});
    session.push(counting_to(2));
    CHECK(**session.pop() == results{6, 7});
    session.reset();
  }
}

TEST_CASE("an item without a copy can be a part where no stage inside changes it") {
  using owned = std::unique_ptr<int>;
  const auto app = lv::deploy<box>(lv::input<lv::bounded<owned, 4>> |
                                   lv::for_each<4>(lv::stage<"look">([](const owned& x) { return *x; })) | lv::collect);
  lv::bounded<owned, 4> item;
  item.push_back(std::make_unique<int>(5));
  item.push_back(std::make_unique<int>(6));
  CHECK(app(item) == lv::bounded<int, 4>{5, 6});
}

TEST_CASE("an item may be a pair or a tuple of parts and what goes in with each") {
  const auto scaled = lv::for_each<4>(lv::join<"scale">([](const int& x, const int& by) { return x * by; }));
  using some = lv::bounded<int, 4>;
  const auto pair = lv::deploy<box>(lv::input<std::pair<some, int>> | scaled | lv::collect);
  CHECK(pair({some{1, 2, 3}, 5}) == some{5, 10, 15});
  const auto tuple = lv::deploy<box>(
      lv::input<std::tuple<int, some, int>> |
      lv::for_each<4>(lv::fork(lv::join<"sum">([](const int& a, const int& x, const int& b) { return a + x + b; }),
                               lv::join<"part">([](const int&, const int& x, const int&) { return x; })) |
                      lv::join<"both">([](const int& sum, const int& x) { return 100 * sum + x; })) |
      lv::collect);
  CHECK(tuple({10, some{1, 2}, 20}) == some{3101, 3202});
}

TEST_CASE("what goes in may go to the ports of a graph") {
  using tile = lv::tensor<float, 2, 4>;
  using tiles = lv::bounded<tile, 4>;
  const auto app = lv::deploy<box>(
      lv::input<std::pair<tile, tiles>> |
      lv::for_each<4>(
          lv::graph(lv::port<"all", tile>, lv::port<"part", tile>, lv::node<"less", "part">(lv::nn::relu),
                    lv::node<"both", "all", "less">(lv::nn::concat<0>), lv::node<"flat", "all">(lv::nn::flatten),
                    lv::node<"sum", "both", "flat", "part">(lv::join<"sum">(
                        [](const lv::tensor<float, 4, 4>& both, const lv::tensor<float, 8>& flat, const tile& part) {
                          float s = 0;
                          for (const float x : both) s += x;
                          return std::pair(s, flat(7) + part(0, 0));
                        })),
                    lv::output<"y", "sum">)) |
      lv::collect);
  std::pair<tile, tiles> item;
  item.first.fill(2);
  for (const float x : {1.0f, -1.0f, 3.0f}) {
    tile t;
    t.fill(x);
    item.second.push_back(t);
  }
  CHECK(app(item) == lv::bounded<std::pair<float, float>, 4>{{24.0f, 3.0f}, {16.0f, 1.0f}, {40.0f, 5.0f}});
}

TEST_CASE("parts have parts, branches, and side data among themselves") {
  using many = lv::bounded<numbers, 3>;
  const auto app = lv::deploy<box>(
      lv::input<many> |
      lv::for_each<"outer", 3>(
          lv::for_each<"inner", 64>(
              lv::fork(twice, lv::identity) | lv::join<"sum">([](const int& a, const int& b) { return a + b; }) |
              lv::stage<"note">([](const int& x, long& noted) {
                noted = x;
                return x + 1;
              }) |
              lv::stage<"read">([](const int& x, const long& noted) { return x * 10 + static_cast<int>(noted); })) |
          lv::collect | lv::stage<"size">([](const results& r) { return r.empty() ? -1 : r.back(); })) |
      lv::collect);
  many item;
  item.push_back(counting_to(3));
  item.push_back(counting_to(0));
  item.push_back(counting_to(2));
  CHECK(app(item) == lv::bounded<int, 3>{76, -1, 43});
}

TEST_CASE("what goes in may come out, and a stage that changes its part changes a copy") {
  const auto app =
      lv::deploy<box>(lv::input<numbers> |
                      lv::fork(lv::for_each<"same", 64>(lv::identity) | lv::collect,
                               lv::for_each<"more", 64>(lv::stage<"more">([](int& x) { x += 5; })) | lv::collect) |
                      lv::join<"both">([](const results& a, const results& b) { return 100 * a.back() + b.back(); }));
  CHECK(app(counting_to(3)) == 207);
}

}  // namespace run_for_each
