// SPDX-License-Identifier: Apache-2.0
// Ops one of whose operands is a parameter: as those of two inputs.

#include <string_view>

#include "nn/direct.hpp"

#include <levada/backend/reference/ops.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace lv = levada;
using namespace levada;
using namespace levada::testing;

namespace {

template <std::size_t... Dims>
using floats = tensor<float, Dims...>;
template <auto Stage>
using op_of = typename decltype(Stage(std::declval<const parameter_map&>()))::op_type;
template <std::size_t... Dims>
using add_op = op_of<nn::add_parameter<"k", Dims...>>;

static_assert(std::same_as<out<add_op<4, 1>, floats<3, 1, 5>>, floats<3, 4, 5>>, "the result broadcasts");
static_assert(std::same_as<out<add_op<>, tensor<std::int64_t, 3>>, tensor<std::int64_t, 3>>);
static_assert(!op_takes<add_op<4>, floats<3>>);
static_assert(add_op<3>::parameters<floats<2, 3>>[0].name == "value" &&
              add_op<3>::parameters<tensor<double, 3>>[0].type == element::f64);
static_assert(std::same_as<out<op_of<nn::matmul_parameter<"k", 4, 6>>, floats<2, 3, 4>>, floats<2, 3, 6>>);
static_assert(std::same_as<out<op_of<nn::matmul_parameter<"k", 2, 4, 6>>, floats<3, 4>>, floats<2, 3, 6>>);
static_assert(std::same_as<out<op_of<nn::parameter_matmul<"k", 5, 2>>, floats<2, 3>>, floats<5, 3>>);
static_assert(!op_takes<op_of<nn::matmul_parameter<"k", 4, 6>>, floats<4, 6>>);
static_assert(op_of<nn::parameter_sub<"k", 3>>::kind == "parameter_sub" && add_op<3>::kind == "add_parameter" &&
              op_of<nn::matmul_parameter<"k", 4, 6>>::kind == "matmul_parameter");

/// As `two` of the input and the parameter, on both backends.
template <class In, class Op, class Two>
void check_as_two(const Op&, const Two& two, double tolerance = 0) {
  using operands = typename Op::template operands<In>;
  const auto in = random_tensor<In>();
  const auto parameter = random_tensor<typename Op::template parameter<In>>();
  const void* const values[] = {parameter->data()};
  const auto computed = both(*in, Op(), tolerance, values);
  const on_heap<typename operands::type> inputs(operands::tie(*in, *parameter));
  check_difference(largest_difference(*by_one_kernel<reference>(*inputs, {}, two), *computed), tolerance,
                   __PRETTY_FUNCTION__);
}

}  // namespace

TEST_CASE("a function of the input and a parameter is that of two inputs, whichever is larger") {
  check_as_two<floats<3, 5, 19>>(add_op<3, 1, 1>(), nn::add.description);
  check_as_two<floats<3, 5, 19>>(add_op<19>(), nn::add.description);
  check_as_two<floats<3, 5, 19>>(add_op<>(), nn::add.description);
  check_as_two<floats<1, 19>>(add_op<2, 5, 1>(), nn::add.description);
  check_as_two<floats<2, 33>>(op_of<nn::sub_parameter<"k", 2, 33>>(), nn::sub.description);
  check_as_two<floats<2, 33>>(op_of<nn::mul_parameter<"k", 2, 1>>(), nn::mul.description);
  check_as_two<floats<2, 33>>(op_of<nn::div_parameter<"k", 33>>(), nn::div.description);
  check_as_two<floats<2, 33>>(op_of<nn::pow_parameter<"k", 33>>(), nn::pow.description);
  check_as_two<floats<2, 33>>(op_of<nn::max_parameter<"k", 33>>(), nn::max.description);
  check_as_two<floats<2, 33>>(op_of<nn::min_parameter<"k", 33>>(), nn::min.description);
  check_as_two<floats<2, 33>>(op_of<nn::parameter_sub<"k", 33>>(), nn::sub.description);
  check_as_two<floats<2, 33>>(op_of<nn::parameter_div<"k", 2, 1>>(), nn::div.description);
  check_as_two<floats<2, 33>>(op_of<nn::parameter_pow<"k", 33>>(), nn::pow.description);
  check_as_two<tensor<double, 2, 9>>(op_of<nn::mul_parameter<"k", 9>>(), nn::mul.description);
  // Random integers are large: their products and sums would overflow.
  check_as_two<tensor<std::int64_t, 2, 9>>(op_of<nn::min_parameter<"k", 9>>(), nn::min.description);
  check_as_two<tensor<std::int32_t, 2, 9>>(op_of<nn::max_parameter<"k", 9>>(), nn::max.description);
}

TEST_CASE("a product with a parameter is that of two inputs") {
  const auto check = []<class In>(std::type_identity<In>, const auto& op) {
    check_as_two<In>(op, nn::matmul.description, 100 * epsilon);
  };
  check(std::type_identity<floats<7, 33>>(), op_of<nn::matmul_parameter<"k", 33, 53>>());
  check(std::type_identity<floats<2, 3, 9>>(), op_of<nn::matmul_parameter<"k", 9, 16>>());
  check(std::type_identity<floats<9>>(), op_of<nn::matmul_parameter<"k", 9, 5>>());
  check(std::type_identity<floats<3, 9>>(), op_of<nn::matmul_parameter<"k", 9>>());
  check(std::type_identity<floats<2, 3, 9>>(), op_of<nn::matmul_parameter<"k", 2, 9, 4>>());
  check(std::type_identity<floats<100, 64>>(), op_of<nn::matmul_parameter<"k", 64, 100>>());
  check(std::type_identity<tensor<double, 5, 9>>(), op_of<nn::matmul_parameter<"k", 9, 17>>());
  check(std::type_identity<floats<33, 20>>(), op_of<nn::parameter_matmul<"k", 7, 33>>());
  check(std::type_identity<floats<2, 33, 20>>(), op_of<nn::parameter_matmul<"k", 7, 33>>());
}

TEST_CASE("a stage finds its parameter as NAME.value; one of any input gives it as it is") {
  const tensor<float, 2, 1> shift{{10, 20}};
  const tensor<std::int64_t, 3> where{{7, 8, 9}};
  parameter_map weights;
  weights.set("shift.value", shift);
  weights.set("where.value", where);
  using in = floats<2, 3>;
  auto app = deploy<target<cpu<1>>>(lv::input<in> | nn::add_parameter<"shift", 2, 1>(weights) | nn::scale(0.5f));
  CHECK(app(in{{0, 2, 4, 6, 8, 10}}) == in{{5, 6, 7, 13, 14, 15}});
  auto constant = deploy<target<cpu<1>>>(lv::input<in> | nn::parameter<"where", std::int64_t, 3>(weights));
  CHECK(constant(in{}) == tensor<std::int64_t, 3>{{7, 8, 9}});
}

TEST_CASE("a chain with parameters among its operands is one kernel") {
  const auto check = []<class In>(std::type_identity<In>, double tolerance, const auto&... ops) {
    check_agreement<In>(tolerance, ops...);
  };
  constexpr auto half = nn::scale(0.5f);
  constexpr op_of<nn::mul_parameter<"k", 5, 1, 1>> by_channel;
  constexpr op_of<nn::parameter_sub<"k", 5, 1, 1>> from_channel;
  check(std::type_identity<floats<5, 7, 9>>(), 1e-6, add_op<5, 1, 1>(), relu_op());
  check(std::type_identity<floats<5, 7, 9>>(), 1e-6, half.description, by_channel, add_op<5, 1, 1>(),
        nn::tanh.description);
  check(std::type_identity<floats<7>>(), 1e-6, half.description, add_op<3, 1>(), op_of<nn::parameter_div<"k", 7>>());
  // Behind what has weights.
  using conv = conv2d_op<5, levada::size<3>, padding<1>>;
  check(std::type_identity<floats<2, 7, 9>>(), 1e-5, conv(), add_op<5, 1, 1>());
  check(std::type_identity<floats<2, 7, 9>>(), 1e-5, conv(), by_channel, add_op<5, 1, 1>(), relu_op());
  check(std::type_identity<floats<2, 7, 9>>(), 1e-5, conv(), relu_op(), from_channel, half.description);
  check(std::type_identity<floats<4, 33, 19>>(), 1e-5, conv2d_op<8, levada::size<3>, levada::groups<4>>(),
        op_of<nn::mul_parameter<"k", 8, 1, 1>>(), relu_op());
  check(std::type_identity<floats<33>>(), 1e-5, dense_op<19>(), op_of<nn::mul_parameter<"k", 19>>(), relu_op());
  check(std::type_identity<floats<4, 33>>(), 1e-5, dense_op<19>(), op_of<nn::mul_parameter<"k", 19>>(), relu_op());
  check(std::type_identity<floats<4, 33>>(), 1e-5, op_of<nn::matmul_parameter<"k", 33, 19>>(), add_op<19>(),
        nn::silu.description);
  check(std::type_identity<floats<33, 6>>(), 1e-5, op_of<nn::parameter_matmul<"k", 4, 33>>(), add_op<4, 1>());
  check(std::type_identity<floats<4, 33>>(), 1e-5, op_of<nn::matmul_parameter<"k", 33, 19>>(), nn::silu.description);
}
