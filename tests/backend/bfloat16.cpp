// SPDX-License-Identifier: Apache-2.0
// conv2d and dense of bfloat16: `reference` against numbers worked out by hand, `simd` against `reference`. Of numbers
// whose sums are exact in float both give the same bits; of others the sums differ as those of float do, and a result
// by one step of bfloat16.

#include "backend/eighths.hpp"

#include <levada/backend/detail/define/bfloat16.hpp>
#include <levada/backend/detail/define/broadcast.hpp>
#include <levada/backend/detail/define/moves.hpp>
#include <levada/backend/detail/define/pools.hpp>
#include <levada/backend/detail/define/sums.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/simd/detail/bfloat16_conv2d.hpp>
#include <levada/backend/simd/detail/bfloat16_dense.hpp>
#include <levada/backend/simd/detail/bfloat16_ops.hpp>
#include <levada/backend/simd/detail/bfloat16_sum.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/nn/cast.hpp>
#include <levada/nn/quantize_bfloat16.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

template <class To>
using conv3 = bfloat16_conv2d_op<20, To, levada::size<3>, padding<1>>;

}  // namespace

TEST_CASE("inputs and weights are rounded, the sum of float once more, and a relu cuts it off") {
  const tensor<float, 2, 2> weight{{1 + 0x1p-8f, 1, -1, -1}};  // the first rounds to 1
  const tensor<float, 2> bias{{0x1p-10f, 0}};
  const void* const parameters[] = {weight.data(), bias.data()};
  const tensor<float, 2> in{{3, 1 + 0x3p-8f}};  // the second rounds to 1 + 2^-6
  const auto exact = by_one_kernel<reference>(in, parameters, bfloat16_dense_op<2, float>{});
  CHECK(*exact == tensor<float, 2>{{4 + 0x1p-6f + 0x1p-10f, -4 - 0x1p-6f}});
  const auto rounded = by_one_kernel<reference>(in, parameters, bfloat16_dense_op<2, bfloat16>{not_below_zero});
  CHECK(float((*rounded)[0]) == 4 + 0x1p-5f);  // the bias lifts it above the middle of 4 and this
  CHECK(float((*rounded)[1]) == 0);
  CHECK(*rounded == *by_one_kernel<simd>(in, parameters, bfloat16_dense_op<2, bfloat16>{not_below_zero}));
}

TEST_CASE("a dense layer of bfloat16 is the same on simd, whatever the lengths") {
  for_lengths([](auto n) {
    check_equal<tensor<bfloat16, n>>(bfloat16_dense_op<3, bfloat16>{not_below_zero});
    check_equal<tensor<float, n>>(bfloat16_dense_op<10, float, no_bias>{});
  });
  check_equal<tensor<bfloat16, 64>>(bfloat16_dense_op<17, float>{});
  const auto in = exact_tensor<tensor<bfloat16, 2, 19>>();
  const tensor<float, 4 * 38> weight{};
  const tensor<float, 4> bias{{1, -2, 3, 4}};
  const void* const parameters[] = {weight.data(), bias.data()};
  CHECK(*by_one_kernel<simd>(*in, parameters, flatten_op(), bfloat16_dense_op<4, float>{not_below_zero}) ==
        tensor<float, 4>{{1, 0, 3, 4}});
}

TEST_CASE("a convolution of bfloat16 is the same on simd: even and odd channels, strides, padding, dilation, groups") {
  check_equal<tensor<bfloat16, 4, 9, 9>>(conv3<bfloat16>{{}, not_below_zero});
  check_equal<tensor<float, 3, 7, 18>>(conv3<float>{{}, not_below_zero});
  check_equal<tensor<float, 2, 11, 40>>(
      bfloat16_conv2d_op<3, bfloat16, levada::size<5, 3>, stride<2>, dilation<1, 2>, padding<2, 0, 1, 3>, no_bias>{});
  check_equal<tensor<bfloat16, 4, 6, 6>>(bfloat16_conv2d_op<6, bfloat16, levada::size<3>, groups<2>>{});
  check_equal<tensor<float, 5, 6, 19>>(bfloat16_conv2d_op<5, bfloat16, levada::size<3>, padding<1>, groups<5>>{});
  check_equal<tensor<bfloat16, 4, 8, 10>>(bfloat16_conv2d_op<6, float, levada::size<1>>{});
  check_equal<tensor<bfloat16, 2, 9, 18>>(bfloat16_conv2d_op<1, float, levada::size<3>, padding<1>>{});
}

TEST_CASE("matrix registers multiply convolutions of pairs of channels, where the machine has them") {
  const auto check = []<class In, class Op>(std::type_identity<In>, const Op& op) {
    static_assert(!isa::has_matrices<isa::native> ||
                  simd::kernel<In, Op>::method == std::string_view("matrix registers"));
    check_equal<In>(op);
  };
  check(std::type_identity<tensor<bfloat16, 32, 9, 17>>(),
        bfloat16_conv2d_op<40, bfloat16, levada::size<3>, padding<1>>{{}, not_below_zero});
  check(std::type_identity<tensor<float, 48, 11, 14>>(),
        bfloat16_conv2d_op<16, float, levada::size<3>, stride<2>, padding<2, 1, 0, 1>>{});
  check(std::type_identity<tensor<bfloat16, 36, 6, 35>>(), bfloat16_conv2d_op<20, float, levada::size<1>>{});
  check(std::type_identity<tensor<float, 3, 37, 70>>(),
        bfloat16_conv2d_op<64, bfloat16, levada::size<7>, stride<2>, padding<3>>{{}, not_below_zero});
  check(std::type_identity<tensor<bfloat16, 31, 9, 17>>(),
        bfloat16_conv2d_op<16, float, levada::size<3>, padding<1>>{});
}

TEST_CASE("pools, relus and changes of shape are computed in the same kernel, or pool bfloat16 themselves") {
  check_equal<tensor<bfloat16, 8, 14, 14>>(
      bfloat16_conv2d_op<16, bfloat16, levada::size<5>, padding<2>>{{}, not_below_zero},
      max_pool2d_op<levada::size<3>>(), flatten_op());
  check_equal<tensor<float, 1, 12, 12>>(conv3<float>{}, relu_op(), max_pool2d_op<levada::size<2>>());

  const auto in = exact_tensor<tensor<bfloat16, 2, 5, 5>>();
  const max_pool2d_op<levada::size<3>, stride<2>, padding<1>> overlapping;
  const auto of_float = by_one_kernel<reference>(*by_one_kernel<reference>(*in, {}, cast_op<float>()), {}, overlapping);
  const auto pooled = by_one_kernel<simd>(*in, {}, overlapping);
  for (std::size_t i = 0; i < pooled->size(); ++i) CHECK(float((*pooled)[i]) == (*of_float)[i]);
}

TEST_CASE("sums, relus, clips and pools of bfloat16 are those of float, rounded once") {
  const auto check = []<class Op, class In>(const Op& op, const In& in, const result_range& range) {
    const in_bfloat16_op<Op> narrow{{}, {}, op, range};
    const auto expected = by_one_kernel<reference>(in, {}, narrow);
    const auto computed = by_one_kernel<simd>(in, {}, narrow);
    CHECK(largest_difference(*expected, *computed) == 0);
    return std::move(*computed);
  };
  const std::tuple<tensor<bfloat16, 3>, tensor<bfloat16, 3>> two{{{bfloat16(1), bfloat16(1), bfloat16(-3)}},
                                                                 {{bfloat16(0x1p-8f), bfloat16(0x3p-8f), bfloat16(1)}}};
  const auto sum = check(nn::add.description, two, not_below_zero);
  CHECK(float(sum[0]) == 1);  // halves to even
  CHECK(float(sum[1]) == 1 + 0x1p-6f);
  CHECK(float(sum[2]) == 0);

  const auto some = []<class T>(std::type_identity<T>) { return *random_tensor<T>(); };
  const std::type_identity<tensor<bfloat16, 2, 3, 7>> picture;
  auto a = some(picture), b = some(picture);
  a[3] = bfloat16(not_a_number), a[20] = bfloat16(infinity), b[41] = bfloat16(-infinity);
  check(nn::add.description, std::tuple(a, b), {});
  check(nn::sum.description, std::tuple(a, b, a), {-0.5f, 1});
  check(nn::add.description, std::tuple(a, some(std::type_identity<tensor<bfloat16, 2, 1, 1>>())), not_below_zero);
  check(relu_op(), a, {});
  check(nn::clip(-0.25f, 0.3f).description, a, {});
  check(avg_pool2d_op<levada::size<2>>(), *exact_tensor<tensor<bfloat16, 2, 4, 20>>(), not_below_zero);
  check(nn::global_avg_pool2d.description, *exact_tensor<tensor<bfloat16, 3, 7, 7>>(), {});
  const max_pool2d_op<levada::size<2>, padding<1>> pool;
  CHECK(largest_difference(*by_one_kernel<reference>(a, {}, pool), *by_one_kernel<simd>(a, {}, pool)) == 0);
}

TEST_CASE("a convolution with a residual sum gives what the two give one after the other") {
  using sum_op = in_bfloat16_op<broadcast_op<detail::sum_of_two>>;
  const auto check = []<class In, class Op>(std::type_identity<In>, const Op& op) {
    using out = typename Op::template output<In>;
    using kernel = simd::region_kernel<
        op_region<type_list<In, out>, region_op<Op, In, 0>, region_op<sum_op, std::tuple<out, out>, 1, 2>>>;
    static_assert(kernel::method == simd::kernel<In, Op>::method);
    random_parameters parameters;
    parameters.add<In, Op>();
    const sum_op sum{{}, {}, {}, {-1, 2}};
    const auto in = random_tensor<In>();
    auto other = random_tensor<out>();
    (*other)[1] = bfloat16(infinity), (*other)[2] = bfloat16(not_a_number);
    const auto convolved = by_one_kernel<simd>(*in, parameters.all(), op);
    const auto expected = by_one_kernel<simd>(std::tuple(*other, *convolved), {}, sum);
    const on_heap<kernel> joined(op, sum, parameter_values(parameters.all()));
    const aligned_bytes scratch(kernel::scratch_bytes);
    const auto computed = unwritten<out>();
    (*joined)(std::tie(*in, *other), *computed, scratch.data());
    CHECK(largest_difference(*expected, *computed) == 0);
  };
  check(std::type_identity<tensor<bfloat16, 32, 7, 7>>(),
        bfloat16_conv2d_op<40, bfloat16, levada::size<3>, padding<1>>{{}, not_below_zero});
  check(std::type_identity<tensor<float, 48, 9, 33>>(), bfloat16_conv2d_op<17, bfloat16, levada::size<1>>{});
  check(std::type_identity<tensor<bfloat16, 64, 15, 18>>(),
        bfloat16_conv2d_op<32, bfloat16, levada::size<3>, stride<2>, padding<1>>{});
  check(std::type_identity<tensor<bfloat16, 4, 6, 11>>(),
        bfloat16_conv2d_op<6, bfloat16, levada::size<3>, groups<2>>{{}, not_below_zero});
}

TEST_CASE("infinities and NaN reach what they reach in float") {
  auto in = exact_tensor<tensor<bfloat16, 2, 6, 20>>();
  (*in)(0, 1, 3) = bfloat16(infinity);
  (*in)(1, 4, 19) = bfloat16(not_a_number);
  check_equal(*in, conv3<bfloat16>{{}, not_below_zero});
  auto odd = exact_tensor<tensor<bfloat16, 3, 6, 20>>();
  (*odd)(2, 1, 3) = bfloat16(infinity);
  (*odd)(2, 4, 19) = bfloat16(not_a_number);
  check_equal(*odd, conv3<bfloat16>{{}, not_below_zero});
}

TEST_CASE("sums of any numbers differ as sums of float do, results by a step of bfloat16") {
  const auto check = [](const auto& op, const auto& in, double products) {
    random_parameters parameters;
    parameters.add<std::remove_cvref_t<decltype(in)>, std::remove_cvref_t<decltype(op)>>();
    const auto expected = by_one_kernel<reference>(in, parameters.all(), op);
    const auto computed = by_one_kernel<simd>(in, parameters.all(), op);
    double excess = 0;
    for (std::size_t i = 0; i < expected->size(); ++i) {
      const double a = number_of((*expected)[i]), b = number_of((*computed)[i]);
      const double step = sizeof(*expected->data()) == 2 ? 0x1p-7 * std::max(std::abs(a), std::abs(b)) : 0;
      excess = std::max(excess, std::abs(a - b) - step);
    }
    CHECK(excess <= products * products * epsilon);  // each is at most 1
  };
  check(conv3<bfloat16>{}, *random_tensor<tensor<float, 6, 9, 9>>(), 54);
  check(bfloat16_dense_op<10, float>{}, *random_tensor<tensor<bfloat16, 300>>(), 300);
}

TEST_CASE("floats become bfloat16 and back, and any type through float") {
  const tensor<float, 4> in{{1 + 0x1p-8f, -3.14159265f, infinity, 3.4e38f}};
  const auto narrow = by_one_kernel<reference>(in, {}, cast_op<bfloat16>());
  const auto wide = by_one_kernel<simd>(*narrow, {}, cast_op<float>());
  CHECK(*wide == tensor<float, 4>{{1, -3.140625f, infinity, infinity}});
  CHECK(*by_one_kernel<simd>(*narrow, {}, cast_op<std::int8_t>()) == tensor<std::int8_t, 4>{{1, -3, 127, 127}});
  CHECK(*by_one_kernel<simd>(*narrow, {}, transform_op([](auto x) { return x + 1.0f; })) ==
        tensor<float, 4>{{2, -2.140625f, infinity, infinity}});
}

TEST_CASE("a part of float becomes one of bfloat16, with float where another op stands between") {
  parameter_map weights;
  const auto set = [&](const char* name, const shape& extents) {
    std::vector<float> values(extents.elements());
    for (float& v : values) v = random_value<float>();
    weights.set(name, element::f32, extents, values.data());
  };
  set("c1.weight", shape(4, 1, 3, 3)), set("c1.bias", shape(4));
  set("c2.weight", shape(2, 4, 3, 3)), set("c2.bias", shape(2));
  set("fc.weight", shape(3, 8)), set("fc.bias", shape(3));
  const auto part = nn::conv2d<"c1", 4, levada::size<3>, padding<1>>(weights) | nn::relu | nn::max_pool2d<2> |
                    nn::conv2d<"c2", 2, levada::size<3>>(weights) | nn::softmax | nn::relu | nn::flatten |
                    nn::dense<"fc", 3>(weights);
  using box = target<cpu<1>>;
  const auto in = random_tensor<tensor<float, 1, 8, 8>>();
  const auto in_float = deploy<box>(input<tensor<float, 1, 8, 8>> | part);
  const auto app = deploy<box>(input<tensor<float, 1, 8, 8>> | quantize<bfloat16>(part));
  constexpr const auto& nodes = decltype(app)::plan.graph.nodes;
  static_assert(nodes.size() == 7 && nodes[0].kind == "bfloat16_conv2d" && nodes[1].kind == "max_pool2d" &&
                    nodes[2].kind == "bfloat16_conv2d" && nodes[4].kind == "relu" && nodes[6].kind == "bfloat16_dense",
                "the first relu is part of c1, the second is behind a softmax");
  static_assert(decltype(app)::plan.graph.values[1].type == element::bf16 &&
                decltype(app)::plan.graph.values[3].type == element::f32);
  const tensor<float, 3> a = in_float(*in), b = app(*in);
  CHECK(largest_difference(a, b) > 0);
  CHECK(largest_difference(a, b) < 0.05);
}
