// SPDX-License-Identifier: Apache-2.0
// A pipeline of float calibrated and computed with integers. All numbers are small binary fractions, so that sums of
// float are exact and every machine writes the same header: box.scales.hpp beside this file.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <files.hpp>
#include "box.scales.hpp"

#include <levada/backend/detail/define/quantized.hpp>
#include <levada/backend/reference.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/simd/detail/qlinear_conv2d.hpp>
#include <levada/backend/simd/detail/qlinear_dense.hpp>
#include <levada/backend/simd/detail/quantize_linear.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/interop/calibrate.hpp>
#include <levada/levada.hpp>

namespace interop_calibrate {

namespace lv = levada;
using levada::test::contents_of;

using box = lv::target<lv::cpu<1>>;
using naive = lv::backends<lv::reference>;
using picture = lv::tensor<float, 1, 6, 6>;
using scores = lv::tensor<float, 3>;

lv::parameter_map some_weights() {
  lv::parameter_map weights;
  const auto set = [&](const char* name, const lv::shape& extents, std::size_t seed) {
    std::vector<float> values(extents.elements());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 29 + seed) % 17) / 8 - 1;
    weights.set(name, lv::element::f32, extents, values.data());
  };
  set("c1.weight", lv::shape(2, 1, 3, 3), 3);
  set("c1.bias", lv::shape(2), 5);
  set("fc.weight", lv::shape(3, 18), 1);
  set("fc.bias", lv::shape(3), 7);
  return weights;
}

template <class Scales>
auto network(const lv::parameter_map& weights, Scales scales) {
  return lv::input<picture> |
         lv::quantize<std::int8_t>(lv::nn::conv2d<"c1", 2, lv::size<3>, lv::padding<1>>(weights) | lv::nn::relu |
                                       lv::nn::max_pool2d<2> | lv::nn::flatten | lv::nn::dense<"fc", 3>(weights),
                                   scales);
}
template <class Scales>
auto classifier(const lv::parameter_map& weights, Scales scales) {
  return network(weights, scales) | lv::stage<"label">([](const scores& s) { return lv::argmax(s); });
}

std::vector<picture> pictures(std::size_t count) {
  std::vector<picture> all(count);
  for (std::size_t p = 0; p < count; ++p)
    for (std::size_t i = 0; i < picture::elements; ++i)
      all[p][i] = static_cast<float>((p * 31 + i * (7 + p % 5)) % 33) / 16 - 0.5f;
  return all;
}

TEST_CASE("a calibration writes the scales of what stages with weights take, and what integers cost") {
  const lv::parameter_map weights = some_weights();
  const auto samples = pictures(40), tested = pictures(60);
  const auto plain = lv::deploy<box, naive>(classifier(weights, lv::to_calibrate));
  std::vector<int> labels;
  for (const picture& p : tested) labels.push_back(plain(p));
  labels[7] = -1, labels[12] = -1, labels[13] = -1;  // wrong, whoever computes

  const levada::test::temporary_file to("box.scales.hpp");
  const auto found =
      lv::calibrate<naive>(classifier(weights, lv::to_calibrate), samples, lv::labelled{tested, labels}, to.path);
  REQUIRE(found.stages.size() == 2);
  CHECK(found.stages[0].stage == "c1");
  CHECK(found.stages[0].least == -0.5f);
  CHECK(found.stages[0].most == 1.5f);
  CHECK(found.stages[0].takes.zero_point == 64);
  CHECK(found.stages[1].least == 0);  // behind a relu
  CHECK(found.stages[1].takes.zero_point == 0);
  CHECK(found.labelled == 60);
  CHECK(found.accuracy == doctest::Approx(0.95));
  CHECK(found.quantized_accuracy <= found.accuracy);
  CHECK(found.quantized_accuracy >= 0.9);
  CHECK(contents_of(to.path) == contents_of(LEVADA_SOURCE_DIR "/tests/interop/box.scales.hpp"));

  // What is deployed with the header gives what was measured.
  const auto app = lv::deploy<box, naive>(classifier(weights, lv::scales<box_scales>));
  double right = 0;
  for (std::size_t i = 0; i < tested.size(); ++i) right += app(tested[i]) == labels[i];
  CHECK(right / 60 == doctest::Approx(found.quantized_accuracy));
}

TEST_CASE("a stage of any name is a literal in the header, and a header that cannot be written is the old one") {
  lv::calibration_result found;
  found.stages.push_back({"say \"c1\"\n", -1.f, 1.f, {1.f, 0}});
  CHECK(lv::detail::scale_header(found, "box_scales", "40 items").find(R"({"say \"c1\"\012", {1.0f)") !=
        std::string::npos);
  const lv::parameter_map weights = some_weights();
  CHECK_THROWS_WITH_AS(lv::calibrate<naive>(network(weights, lv::to_calibrate), pictures(2), "/no such folder/x.hpp"),
                       "levada: calibrate: cannot write \"/no such folder/x.hpp\": No such file or directory",
                       lv::error);
}

TEST_CASE("the quantized pipeline is made of ops like any other, and is near the one of float on all backends") {
  const lv::parameter_map weights = some_weights();
  const auto plain = lv::deploy<box, naive>(network(weights, lv::to_calibrate));
  const auto reference = lv::deploy<box, naive>(network(weights, lv::scales<box_scales>));
  const auto simd = lv::deploy<box>(network(weights, lv::scales<box_scales>));

  constexpr const auto& plan = decltype(simd)::plan;
  static_assert(plan.graph.nodes.size() == 5, "the relu is part of c1");
  static_assert(plan.graph.nodes[0].kind == "quantize_linear" && plan.graph.nodes[1].kind == "qlinear_conv2d" &&
                plan.graph.nodes[4].kind == "qlinear_dense");
  static_assert(plan.graph.values[1].type == lv::element::u8 && plan.graph.values[2].bytes <= 128);
  static_assert(plan.unit.size() == 3, "quantize; c1, pool and flatten; fc");

  float largest = 0;
  for (const picture& p : pictures(40)) {
    const scores a = plain(p), b = reference(p), c = simd(p);
    CHECK(b == c);
    for (std::size_t i = 0; i < 3; ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  CHECK(largest > 0);
  CHECK(largest < 0.1f);  // of scores between some -20 and 20, sums of 18 products
}

TEST_CASE("a percentile leaves the ends out, on both sides") {
  lv::detail::observed_values seen("a");
  std::vector<float> numbers(1001);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) - 250;
  numbers[3] = NAN;
  seen.see(numbers.data(), numbers.size());
  CHECK(seen.find(100).least == -250);
  CHECK(seen.find(100).most == 750);
  seen.count();
  seen.see(numbers.data(), numbers.size());
  const auto found = seen.find(90);
  CHECK(found.least == doctest::Approx(-200).epsilon(0.01));
  CHECK(found.most == doctest::Approx(700).epsilon(0.01));
  CHECK(found.takes.scale == doctest::Approx(900.0 / 255).epsilon(0.01));
  CHECK(std::abs(found.takes.zero_point - 56.5) < 1);
  CHECK_THROWS_WITH(lv::detail::observed_values("b").find(100), "levada: calibrate: \"b\" was given no number");
}

TEST_CASE("stages around and between the ops with weights") {
  const lv::parameter_map weights = some_weights();
  // relu before the first and softmax behind the last stay as they are; two relus are one.
  const auto part =
      lv::quantize<std::int8_t>(lv::nn::relu | lv::nn::conv2d<"c1", 2, lv::size<3>, lv::padding<1>>(weights) |
                                    lv::nn::max_pool2d<2> | lv::nn::relu | lv::named<"again">(lv::nn::relu) |
                                    lv::nn::reshape<18> | lv::nn::dense<"fc", 3>(weights) | lv::nn::softmax,
                                lv::scales<box_scales>);
  const auto app = lv::deploy<box>(lv::input<picture> | part);
  constexpr const auto& nodes = decltype(app)::plan.graph.nodes;
  static_assert(nodes.size() == 7 && nodes[0].kind == "relu" && nodes[1].name == "quantize" &&
                nodes[4].kind == "reshape" && nodes[6].kind == "softmax");
  const scores s = app(pictures(1)[0]);
  CHECK(s[0] + s[1] + s[2] == doctest::Approx(1));
}

TEST_CASE("what integers cost, in points") {
  using namespace lv::literals;
  static_assert(
      lv::loss_of({.origin = "", .stages = {}, .labelled = 1, .accuracy = 0.903, .quantized_accuracy = 0.898}) ==
      0.5_points);
  static_assert(lv::loss_of({.origin = "", .stages = {}, .labelled = 1, .accuracy = 0.5, .quantized_accuracy = 0.501}) <
                0_points);
  static_assert(
      lv::loss_of({.origin = "", .stages = {}, .labelled = 1, .accuracy = 1.0 / 3, .quantized_accuracy = 0}) ==
      lv::points{33334});
}

}  // namespace interop_calibrate
