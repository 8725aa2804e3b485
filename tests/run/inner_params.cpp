// SPDX-License-Identifier: Apache-2.0
// Parameters of stages inside other stages and of feedback bodies: groups as any, of one version with all others of
// their item.

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <levada/levada.hpp>

namespace run_inner_params {

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
using vec = lv::tensor<float, 4>;
using square = lv::tensor<float, 4, 4>;
using parts = lv::bounded<float, 8>;

vec all_of(float value) {
  vec v;
  v.fill(value);
  return v;
}

/// At first the identity, and zeros.
struct first_weights {
  square weight = [] {
    square w{};
    for (std::size_t i = 0; i < 4; ++i) w(i, i) = 1;
    return w;
  }();
  vec bias{};
  std::optional<lv::stored_tensor> find(std::string_view name) const {
    if (name.ends_with(".weight")) return lv::stored_tensor{lv::element::f32, lv::shape(4, 4), weight.data()};
    return lv::stored_tensor{lv::element::f32, lv::shape(4), bias.data()};
  }
};
const first_weights weights;

constexpr auto plus = [](const float& x, const float& by) { return x + by; };

template <lv::fixed_string Name>
auto adds() {
  return lv::stage<Name>(lv::adjustable<"by">(plus, 0.0f));
}

parts two_of(float x) { return {x, x + 100}; }

TEST_CASE("inside a for_each, with a group outside and one that is deeper") {
  const auto deeper = lv::route<"deep">([](const float& x) { return x < 50; }, lv::params<"low">(adds<"small">()),
                                        lv::params<"high">(adds<"large">() | adds<"larger">()));
  const auto app =
      lv::deploy<box>(lv::input<float> | lv::params<"first">(adds<"outer">()) | lv::stage<"split">(&two_of) |
                      lv::for_each<8>(adds<"fixed">() | deeper) | lv::collect |
                      lv::for_each<8>(lv::stage<"same">([](const float& x) { return x; })) | lv::collect);
  const auto made = [&](float x) {
    const parts all = app(x);
    CHECK(all.size() == 2);
    return std::array{all[0], all[1]};
  };
  CHECK(made(1) == std::array{1.0f, 101.0f});
  app.params<"low">().set<"by">(10.0f);
  CHECK(made(1) == std::array{11.0f, 101.0f});
  app.params<"high">().set<"large.by", "larger.by">(20.0f, 300.0f);
  CHECK(made(1) == std::array{11.0f, 421.0f});
  app.params<"first">().set<"by">(1.0f);
  CHECK(made(1) == std::array{12.0f, 422.0f});
  float by = 0;
  app.params<"high">().get<"larger.by">(by);
  CHECK(by == 300.0f);

  // Each item is of the version that was current when it was pushed, at all its stages.
  auto session = app.open();
  for (int i = 0; i < 10; ++i) {
    session.push(0.0f);
    app.params<"low">().set<"by">(static_cast<float>(i));
    if (i % 3 == 0) app.params<"high">().set<"large.by">(static_cast<float>(i));
  }
  float low = 10, high = 20;
  for (int i = 0; i < 10; ++i) {
    const auto r = session.pop();
    CHECK((**r)[0] == 1 + low);
    CHECK((**r)[1] == 101 + high + 300);
    low = static_cast<float>(i);
    if (i % 3 == 0) high = low;
  }
}

TEST_CASE("of ops inside a route that has a state of its own, for all sessions") {
  const auto choose = [n = 0](const vec&) mutable { return n++ % 2 == 0; };
  const auto app = lv::deploy<box>(
      lv::input<vec> | lv::route<"turn">(choose, lv::params<"head">(lv::nn::dense<"fc", 4>(weights) | lv::nn::relu),
                                         lv::stage<"not">([](const vec&) { return all_of(-1); })));
  auto one = app.open();
  one.push(all_of(2));
  app.params<"head">().set<"bias">(all_of(5));
  auto two = app.open();
  two.push(all_of(2));
  for (int i = 0; i < 2; ++i) one.push(all_of(2));
  CHECK(**one.pop() == all_of(2));
  CHECK(**two.pop() == all_of(7));
  CHECK(**one.pop() == all_of(-1));
  CHECK(**one.pop() == all_of(7));
  vec bias;
  app.params<"head">().get<"bias">(bias);
  CHECK(bias == all_of(5));
}

TEST_CASE("behind a change of the rate") {
  const auto app = lv::deploy<box>(lv::input<float> | lv::downsample<2> | lv::stage<"split">(&two_of) |
                                   lv::for_each<8>(lv::params<"inner">(adds<"in">())) | lv::collect);
  auto session = app.open();
  app.params<"inner">().set<"by">(7.0f);
  for (int i = 0; i < 2; ++i) session.push(1.0f);
  CHECK((**session.pop())[1] == 108);
}

TEST_CASE("in the body of a feedback") {
  // y = x + state + by; the state is y.
  const auto body =
      lv::join<"sum">([](const float& x, const float& state) { return x + state; }) | lv::params<"loop">(adds<"in">());
  const auto app = lv::deploy<box>(lv::input<float> | lv::feedback<"h">(body, 0.0f));
  auto session = app.open();
  session.push(1.0f);
  app.params<"loop">().set<"by">(10.0f);
  session.push(1.0f);
  app.params<"loop">().set<"by">(100.0f);
  session.push(1.0f);
  CHECK(**session.pop() == 1);
  CHECK(**session.pop() == 12);
  CHECK(**session.pop() == 113);
}

}  // namespace run_inner_params
