// SPDX-License-Identifier: Apache-2.0
// The shape rules, parameters and costs of the nn ops, and the stages that the factories give. Nearly all of it is
// checked by compiling.

#include <doctest/doctest.h>

#include <levada/graph/parameter_map.hpp>
#include <levada/nn.hpp>

using namespace levada;

namespace {

template <std::size_t... S>
using sized = levada::size<S...>;
template <class Op, class In>
using out = typename Op::template output<In>;
using picture_type = tensor<float, 3, 10, 20>;

// what ops fuse as
static_assert(relu_op::fuses_as == op_kind::element_wise && bias_op::fuses_as == op_kind::broadcast);
static_assert(flatten_op::fuses_as == op_kind::injective && argmax_op::fuses_as == op_kind::reduction);
static_assert(conv2d_op<8, sized<3>>::fuses_as == op_kind::out_fusable &&
              dense_op<3>::fuses_as == op_kind::out_fusable);
static_assert(max_pool2d_op<sized<2>>::fuses_as == op_kind::out_fusable);
static_assert(levada::detail::op_kind_of<softmax_op>() == op_kind::opaque, "an op that does not say");

// conv2d
using conv = conv2d_op<8, sized<3>>;
static_assert(std::same_as<out<conv, picture_type>, tensor<float, 8, 8, 18>>);
static_assert(std::same_as<out<conv2d_op<8, sized<3>, padding<1>>, picture_type>, tensor<float, 8, 10, 20>>);
static_assert(std::same_as<out<conv2d_op<8, sized<3, 5>, stride<2, 3>>, picture_type>, tensor<float, 8, 4, 6>>);
static_assert(std::same_as<out<conv2d_op<8, sized<3>, padding<1, 2, 3, 4>>, picture_type>, tensor<float, 8, 12, 24>>);
static_assert(std::same_as<out<conv2d_op<8, sized<3>, dilation<2>>, picture_type>, tensor<float, 8, 6, 16>>);
static_assert(std::same_as<out<conv, tensor<double, 1, 3, 3>>, tensor<double, 8, 1, 1>>);
static_assert(!op_takes<conv, tensor<float, 3, 2, 20>>, "lower than the window");
static_assert(!op_takes<conv, tensor<float, 10, 20>>, "no channels");
static_assert(!op_takes<conv, tensor<std::uint8_t, 3, 10, 20>>, "not floating");
static_assert(!op_takes<conv, int>, "no tensor");
static_assert(!op_takes<conv2d_op<8, sized<3>, groups<2>>, picture_type>, "groups divide channels");
static_assert(!op_takes<conv2d_op<8, sized<3>, groups<3>>, picture_type>, "groups divide filters");
static_assert(op_takes<conv2d_op<9, sized<3>, groups<3>>, picture_type>);
static_assert(std::same_as<conv2d_op<8, padding<1>, sized<3>>::output<picture_type>, tensor<float, 8, 10, 20>>,
              "options stand in any order");
static_assert(conv::parameters<picture_type>.size() == 2);
static_assert(conv::parameters<picture_type>[0].name == "weight");
static_assert(conv::parameters<picture_type>[0].extents == shape(8, 3, 3, 3));
static_assert(conv::parameters<picture_type>[1].name == "bias");
static_assert(conv::parameters<picture_type>[1].extents == shape(8));
static_assert(conv::parameters<tensor<double, 3, 10, 20>>[0].type == element::f64);
static_assert(conv2d_op<8, sized<3>, no_bias>::parameters<picture_type>.size() == 1);
static_assert(conv2d_op<9, sized<3>, groups<3>>::parameters<picture_type>[0].extents == shape(9, 1, 3, 3));
static_assert(conv::flops<picture_type> == 2.0 * 8 * 8 * 18 * 27);

// pools
using pool = max_pool2d_op<sized<2>>;
static_assert(std::same_as<out<pool, picture_type>, tensor<float, 3, 5, 10>>);
static_assert(std::same_as<out<max_pool2d_op<sized<3>>, tensor<float, 16, 14, 14>>, tensor<float, 16, 4, 4>>,
              "what does not fill a window is left out");
static_assert(std::same_as<out<max_pool2d_op<sized<3>, stride<2>, padding<1>>, picture_type>, tensor<float, 3, 5, 10>>);
static_assert(std::same_as<out<avg_pool2d_op<stride<1>, sized<3>>, picture_type>, tensor<float, 3, 8, 18>>);
static_assert(!op_takes<pool, tensor<float, 3, 1, 20>>);
static_assert(!op_takes<max_pool2d_op<sized<2>, padding<2>>, picture_type>, "a window of padding alone");

// dense
static_assert(std::same_as<out<dense_op<10>, tensor<float, 256>>, tensor<float, 10>>);
static_assert(std::same_as<out<dense_op<10>, tensor<float, 7, 16, 4>>, tensor<float, 7, 16, 10>>, "the last axis");
static_assert(!op_takes<dense_op<10>, tensor<float>>);
static_assert(dense_op<10>::parameters<tensor<float, 7, 16, 4>>[0].extents == shape(10, 4));
static_assert(dense_op<10>::parameters<tensor<float, 256>>[0].extents == shape(10, 256));
static_assert(dense_op<10>::parameters<tensor<float, 256>>[1].extents == shape(10));
static_assert(dense_op<10, no_bias>::parameters<tensor<float, 256>>.size() == 1);
static_assert(dense_op<10>::flops<tensor<float, 256>> == 5120);

// the rest
static_assert(std::same_as<out<relu_op, picture_type>, picture_type>);
static_assert(!op_takes<relu_op, tensor<int, 3>>);
static_assert(bias_op::parameters<picture_type>[0].extents == shape(3));
static_assert(std::same_as<out<flatten_op, tensor<bool, 3, 10, 20>>, tensor<bool, 600>>);
static_assert(std::same_as<out<reshape_op<16, 4, 4>, tensor<float, 256>>, tensor<float, 16, 4, 4>>);
static_assert(!op_takes<reshape_op<16, 4, 4>, tensor<float, 255>>);
static_assert(std::same_as<out<argmax_op, tensor<float, 10>>, tensor<std::int64_t, 1>>);
static_assert(std::same_as<out<argmax_op, tensor<float, 3, 10>>, tensor<std::int64_t, 3, 1>>);
static_assert(std::same_as<out<top_k_op<5>, tensor<float, 10>>, std::tuple<tensor<float, 5>, tensor<std::int64_t, 5>>>);
static_assert(!op_takes<top_k_op<11>, tensor<float, 10>>);

// transform: the element type follows from the lambda
constexpr auto scaled = [](auto px) { return to_float(px) / 255.0f; };
constexpr auto doubled = [](auto px) { return px * 2; };
constexpr auto mixed = [](auto px) { return px * 0.5f; };
template <class F, class In>
using transformed = typename transform_op<F>::template output<In>;
static_assert(std::same_as<transformed<decltype(scaled), tensor<std::uint8_t, 2, 3>>, tensor<float, 2, 3>>);
static_assert(std::same_as<transformed<decltype(doubled), tensor<std::uint8_t, 2>>, tensor<int, 2>>);
static_assert(std::same_as<transformed<decltype(doubled), tensor<half, 2>>, tensor<float, 2>>);
static_assert(std::same_as<transformed<decltype(doubled), tensor<double, 2>>, tensor<double, 2>>);
static_assert(std::same_as<transformed<decltype(mixed), tensor<int, 2>>, tensor<float, 2>>);
static_assert(!op_takes<transform_op<decltype(scaled)>, int>);

// arithmetic on one lane, while compiling
static_assert((lanes<int>(200) + 100).value == 300);
static_assert((1 - lanes<float>(0.25f)).value == 0.75f);
static_assert(max(lanes<int>(2), 3).value == 3 && min(lanes<int>(2), 3).value == 2);
static_assert(select(lanes<int>(2) < 3, lanes<int>(7), 8).value == 7 && (lanes<int>(2) != 2).value == false);

template <class Source>
concept source_may_be_temporary =
    requires { nn::dense<"fc", 10>(Source()); } || requires { nn::conv2d<"c", 8>(Source()); };

}  // namespace

TEST_CASE("a factory gives a stage with its name, its op and the source of its weights") {
  parameter_map weights;
  weights.set("conv1.weight", tensor<float, 8, 1, 5, 5>{});
  const auto stage = nn::conv2d<"conv1", 8, sized<5, 5>, padding<2>>(weights);
  static_assert(stage.name.view() == "conv1");
  static_assert(std::same_as<decltype(stage)::op_type, conv2d_op<8, sized<5, 5>, padding<2>>>);
  REQUIRE(stage.weights.find("conv1.weight"));
  CHECK(stage.weights.find("conv1.weight")->extents == shape(8, 1, 5, 5));
  CHECK_FALSE(stage.weights.find("conv1.bias"));
  CHECK(nn::bias<"b">(weights).weights.find("conv1.weight"));
}

TEST_CASE("a factory refuses a source of weights that would be gone before deploy") {
  static_assert(!source_may_be_temporary<parameter_map>);
}

TEST_CASE("any stage of an op can be given another name") {
  constexpr auto first = named<"pool1">(nn::max_pool2d<2>);
  static_assert(first.name.view() == "pool1");
  static_assert(std::same_as<decltype(first)::op_type, max_pool2d_op<sized<2>>>);
  static_assert(named<"r2">(nn::relu).name.view() == "r2");
  static_assert(nn::top_k<5>.name.view() == "top_k" && nn::reshape<16, 4, 4>.name.view() == "reshape");
  const float gain = 2;
  const auto renamed = named<"gain">(transform<"scale">([gain](auto x) { return x * gain; }));
  CHECK(renamed.description.function(lanes<float>(3)).value == 6);
}
