// SPDX-License-Identifier: Apache-2.0
// Who has which state, and what deploy says of parameters that do not fit.

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>

namespace run_state {

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const lv::error& e) {
    return e.what();
  }
  return "";
}
bool names(const std::string& text, const char* part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find(part) != std::string::npos;
}

lv::parameter_map weights_of_dense() {
  lv::parameter_map weights;
  lv::tensor<float, 2, 3> w{};
  for (std::size_t i = 0; i < 6; ++i) w.data()[i] = static_cast<float>(i);
  weights.set("fc.weight", w);
  lv::tensor<float, 2> b{};
  b.data()[0] = 10, b.data()[1] = 20;
  weights.set("fc.bias", b);
  return weights;
}

TEST_CASE("each session has a copy of a stage's state as it was deployed; opening again resets it") {
  const auto app =
      lv::deploy<box>(lv::input<int> | lv::stage<"sum">([sum = 100](const int& v) mutable { return sum += v; }));
  auto a = app.open();
  a.push(1), a.push(2);
  CHECK(a.pop()->value() == 101);
  CHECK(a.pop()->value() == 103);
  auto b = app.open();
  b.push(5);
  CHECK(b.pop()->value() == 105);
  for (int round = 0; round < 3; ++round)
    for (auto& r : app.stream(std::vector<int>{7})) CHECK(r.value() == 107);
  a.push(1);
  CHECK(a.pop()->value() == 104);
  // Inline calls have one state of their own.
  CHECK(app(1) == 101);
  CHECK(app(1) == 102);
}

TEST_CASE("parallel(f) with a state: each session has a copy, shared by its threads") {
  const auto app = lv::deploy<box>(
      lv::input<int> |
      lv::stage<"add">(lv::parallel([k = std::make_unique<int>(3).operator*()](const int& v) { return v + k; })));
  int n = 0;
  for (auto& r : app.stream(std::vector<int>(1'000, 1))) n += r.value() == 4;
  CHECK(n == 1'000);
}

TEST_CASE("a state that can only be moved allows one session; the error for the second names the stage") {
  const auto app = lv::deploy<box>(
      lv::input<int> | lv::stage<"owner">([p = std::make_unique<int>(0)](const int& v) { return *p += v; }));
  {
    auto session = app.open();
    session.push(2);
    CHECK(session.pop()->value() == 2);
    const std::string text = error_of([&] { static_cast<void>(app.open()); });
    CHECK(names(text, "\"owner\""));
    CHECK(names(text, "cannot be copied"));
    CHECK(names(text, "app(item), count as a session"));
    CHECK(names(text, "parallel(f)"));
    // The failed attempt harms neither the open session nor the app.
    session.push(2);
    CHECK(session.pop()->value() == 4);
  }
  CHECK(names(error_of([&] { static_cast<void>(app(1)); }), "\"owner\""));
}

TEST_CASE("a session that could not be opened, or got no item, leaves a state that can only be moved") {
  struct counts_copies {
    int* left;
    explicit counts_copies(int& of) : left(&of) {}
    counts_copies(const counts_copies& other) : left(other.left) {
      if ((*left)-- == 0) throw std::runtime_error("no copy");
    }
    int operator()(const int& v) { return v; }
  };
  int left = 100;
  const auto app = lv::deploy<box>(
      lv::input<int> | lv::stage<"owner">([p = std::make_unique<int>(0)](const int& v) { return *p += v; }) |
      lv::stage<"copied">(counts_copies(left)));
  left = 0;
  CHECK_THROWS_AS(static_cast<void>(app.open()), std::runtime_error);
  left = 0;
  CHECK_THROWS_AS(static_cast<void>(app(1)), std::runtime_error);
  left = 100;
  static_cast<void>(app.open());
  {
    auto session = app.open();
    CHECK(names(error_of([&] { static_cast<void>(app.open()); }), "\"owner\""));
    session.push(2);
    CHECK(session.pop()->value() == 2);
  }
  CHECK(names(error_of([&] { static_cast<void>(app.open()); }), "\"owner\""));
}

TEST_CASE("a move-only callable under parallel(f) is shared by all sessions and calls, inside of another stage, too") {
  const auto add = [] {
    return lv::stage<"add">(lv::parallel([k = std::make_unique<int>(3)](const int& v) { return v + *k; }));
  };
  const auto app = lv::deploy<box>(lv::input<int> | add());
  auto one = app.open(), other = app.open();
  one.push(1);
  other.push(2);
  CHECK(one.pop()->value() == 4);
  CHECK(other.pop()->value() == 5);
  CHECK(app(3) == 6);
  one.reset();
  one.push(4);
  CHECK(one.pop()->value() == 7);

  using numbers = lv::bounded<int, 4>;
  const auto nested = lv::deploy<box>(lv::input<numbers> | lv::for_each<4>(add()) | lv::collect);
  auto here = nested.open(), there = nested.open();
  numbers item;
  item.push_back(5);
  here.push(item);
  there.push(item);
  CHECK(here.pop()->value()[0] == 8);
  CHECK(there.pop()->value()[0] == 8);
}

TEST_CASE("a pipeline with a move-only callable is deployed where it is moved in") {
  auto p = lv::input<int> | lv::stage<"add">([k = std::make_unique<int>(3)](const int& v) { return v + *k; });
  const auto app = lv::deploy<box>(std::move(p));
  CHECK(app(1) == 4);
}

TEST_CASE("parameters are found by name, and used") {
  const auto weights = weights_of_dense();
  const auto app = lv::deploy<box>(lv::input<lv::tensor<float, 3>> | lv::nn::dense<"fc", 2>(weights));
  lv::tensor<float, 3> in{};
  in.data()[0] = in.data()[1] = in.data()[2] = 1;
  const auto out = app(in);
  CHECK(out.data()[0] == 13);
  CHECK(out.data()[1] == 32);
}

TEST_CASE("a parameter that is missing, or of another shape or type, is an error that names stage and tensor") {
  const auto deploying = [](const lv::parameter_map& weights) {
    return error_of(
        [&] { static_cast<void>(lv::deploy<box>(lv::input<lv::tensor<float, 3>> | lv::nn::dense<"fc", 2>(weights))); });
  };
  const std::string missing = deploying({});
  CHECK(names(missing, "stage \"fc\""));
  CHECK(names(missing, "\"fc.weight\""));
  CHECK(names(missing, "missing"));

  auto shape = weights_of_dense();
  shape.set("fc.weight", lv::tensor<float, 3, 2>{});
  const std::string wrong_shape = deploying(shape);
  CHECK(names(wrong_shape, "stage \"fc\""));
  CHECK(names(wrong_shape, "\"fc.weight\""));
  CHECK(names(wrong_shape, "[3, 2]"));
  CHECK(names(wrong_shape, "[2, 3]"));

  auto type = weights_of_dense();
  type.set("fc.bias", lv::tensor<double, 2>{});
  const std::string wrong_type = deploying(type);
  CHECK(names(wrong_type, "stage \"fc\""));
  CHECK(names(wrong_type, "\"fc.bias\""));
  CHECK(names(wrong_type, "type"));
}

}  // namespace run_state
