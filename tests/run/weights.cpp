// SPDX-License-Identifier: Apache-2.0
// Which stored names and element types a stage's parameters are taken from, and what is said of those that are not
// there.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace run_weights {

namespace lv = levada;

using box = lv::target<lv::cpu<1>>;
using item = lv::tensor<float, 2, 2>;
using channels = lv::tensor<float, 2>;

static_assert(lv::parameter_source<decltype(lv::renamed(std::declval<const lv::parameter_map&>(), {}))>);

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const lv::error& e) {
    return e.what();
  }
  return "";
}
bool says(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find(part) != std::string::npos;
}

lv::parameter_map norm_named(const std::array<std::string, 4>& names) {
  lv::parameter_map w;
  w.set(names[0], channels{{2, 3}});
  w.set(names[1], channels{{0.5f, -1}});
  w.set(names[2], channels{{1, -2}});
  w.set(names[3], channels{{4, 0.25f}});
  return w;
}

item normed(const auto& weights) {
  return lv::deploy<box>(lv::input<item> | lv::nn::batch_norm<"bn">(weights))(item{{1, 2, 3, 4}});
}
std::string refusal(const auto& weights) {
  return error_of([&] { static_cast<void>(normed(weights)); });
}

template <class Stored, class Wanted>
std::string dense_of(Wanted* first = nullptr) {
  lv::parameter_map w;
  w.set("fc.weight", lv::tensor<Stored, 1, 2>{{Stored(1.5f), Stored(-0.0078125f)}});
  w.set("fc.bias", lv::tensor<Wanted, 1>{{Wanted(0)}});
  return error_of([&] {
    const auto app = lv::deploy<box>(lv::input<lv::tensor<Wanted, 2>> | lv::nn::dense<"fc", 1>(w));
    if (first != nullptr) *first = app(lv::tensor<Wanted, 2>{{Wanted(1), Wanted(2)}}).data()[0];
  });
}

TEST_CASE("batch_norm takes ONNX's names of its parameters and PyTorch's") {
  const auto onnx = norm_named({"bn.scale", "bn.bias", "bn.mean", "bn.variance"});
  const auto torch = norm_named({"bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"});
  const item expected = normed(onnx);
  CHECK(expected(0, 0) == doctest::Approx(0.5));
  CHECK(expected(1, 1) == doctest::Approx(35).epsilon(1e-4));
  CHECK(normed(torch) == expected);
}

TEST_CASE("so do instance_norm and layer_norm") {
  lv::parameter_map w;
  w.set("n.weight", channels{{2, 3}});
  w.set("n.bias", channels{{0.5f, -1}});
  lv::parameter_map same;
  same.set("n.scale", channels{{2, 3}});
  same.set("n.bias", channels{{0.5f, -1}});
  const item in{{1, 2, 3, 5}};
  const auto check = [&](auto stage) {
    const auto app = [&](const auto& weights) { return lv::deploy<box>(lv::input<item> | stage(weights))(in); };
    CHECK(app(w) == app(same));
  };
  check([](const auto& weights) { return lv::nn::instance_norm<"n">(weights); });
  check([](const auto& weights) { return lv::nn::layer_norm<"n">(weights); });
}

TEST_CASE("a missing parameter's error has the names looked for, the nearest and all that are there") {
  const auto text = refusal(norm_named({"bn1.weight", "bn1.bias", "bn1.running_mean", "other"}));
  CHECK(says(text,
             "stage \"bn\": parameter \"bn.scale\", or \"bn.weight\", is missing from its source; "
             "nearest: \"bn1.weight\", "));
  CHECK(says(text, "; all 4: \"bn1.bias\", \"bn1.running_mean\", \"bn1.weight\", \"other\""));
  CHECK(says(refusal(lv::parameter_map()), "is missing from its source; it has none"));
  // What has only something before it is nearest.
  const auto inner = refusal(norm_named({"model.net.bn.scale", "bn.sca", "c.scale", "d"}));
  CHECK(says(inner, "nearest: \"model.net.bn.scale\", \"bn.sca\", \"c.scale\";"));
}

TEST_CASE("a parameter of another shape is refused with both") {
  lv::parameter_map w = norm_named({"bn.scale", "bn.bias", "bn.mean", "bn.variance"});
  w.set("bn.mean", lv::tensor<float, 3>{});
  CHECK(says(refusal(w), "stage \"bn\": parameter \"bn.mean\" has shape [3], not [2]"));
}

TEST_CASE("the error of a source of many, long or broken names is short and printable") {
  lv::parameter_map w;
  for (int i = 0; i < 5000; ++i) w.set("n" + std::to_string(i), channels{});
  w.set(std::string(5000, 'y'), channels{});
  w.set("a\n\xff", channels{});
  const auto text = refusal(w);
  CHECK(text.size() < 1500);
  CHECK(says(text, "all 5002: \"a?\xef\xbf\xbd\", \"n0\""));
  CHECK(says(text, " and 4970 more"));
}

TEST_CASE("renamed looks for parameters, stages and whole models under other names") {
  const auto stored = norm_named({"m.0.gamma", "m.0.bias", "m.0.running_mean", "m.0.running_var"});
  const auto expected = normed(norm_named({"bn.scale", "bn.bias", "bn.mean", "bn.variance"}));
  CHECK(normed(lv::renamed(stored, {{"bn", "m.0"}, {"bn.scale", "m.0.gamma"}})) == expected);

  const auto below = norm_named({"model.bn.weight", "model.bn.bias", "model.bn.running_mean", "model.bn.running_var"});
  const auto whole = lv::renamed(below, {{"", "model"}});
  CHECK(normed(whole) == expected);
  const auto bare = norm_named({"weight", "bias", "running_mean", "running_var"});
  const auto without = lv::renamed(bare, {{"bn", ""}});
  CHECK(normed(without) == expected);
  const auto by_function = lv::renamed(below, [](std::string_view name) { return "model." + std::string(name); });
  CHECK(normed(by_function) == expected);
  const auto twice = lv::renamed(whole, {{"bn", "bn"}});
  CHECK(normed(twice) == expected);

  // A part of a name is no part between dots.
  const auto other = lv::renamed(below, {{"b", "model"}, {"bn.scale", "model.bn.scale"}});
  const auto text = refusal(other);
  CHECK(says(text, "parameter \"bn.scale\" (stored as \"model.bn.scale\"), or \"bn.weight\", is missing"));
  CHECK(says(text, "nearest: \"model.bn.weight\""));
}

TEST_CASE("weights are widened where that is exact, and never rounded") {
  float f = 0;
  double d = 0;
  CHECK(dense_of<float>(&f) == "");
  CHECK(f == 1.5f - 2 * 0.0078125f);
  CHECK(dense_of<lv::half>(&(f = 0)) == "");
  CHECK(f == 1.5f - 2 * 0.0078125f);
  CHECK(dense_of<lv::bfloat16>(&(f = 0)) == "");
  CHECK(f == 1.5f - 2 * 0.0078125f);
  CHECK(dense_of<lv::half>(&d) == "");
  CHECK(d == 1.5 - 2 * 0.0078125);
  CHECK(dense_of<lv::bfloat16>(&(d = 0)) == "");
  CHECK(d == 1.5 - 2 * 0.0078125);
  CHECK(dense_of<float>(&(d = 0)) == "");
  CHECK(d == 1.5 - 2 * 0.0078125);
  CHECK(says(dense_of<double, float>(),
             "\"fc.weight\" has elements of type double, not float; nothing is rounded here: convert it where it is "
             "stored"));
  const auto integers = dense_of<std::int8_t, float>();
  CHECK(says(integers, "has elements of type int8, not float"));
  CHECK(!says(integers, "rounded"));
}

}  // namespace run_weights
