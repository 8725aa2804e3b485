// SPDX-License-Identifier: Apache-2.0
// Ops along any axis, more reductions and norms: `simd` as `reference`, and that by small examples and by other ops.

#include <cmath>

#include "nn/direct.hpp"

#include <levada/backend/reference/ops.hpp>
#include <levada/ops.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

template <std::size_t... Dims>
using floats = tensor<float, Dims...>;
template <std::size_t... Dims>
using indices = tensor<std::int64_t, Dims...>;

static_assert(std::same_as<out<decltype(nn::argmin_along<1>)::op_type, floats<2, 3, 4>>, indices<2, 1, 4>>);
static_assert(std::same_as<out<std::remove_const_t<decltype(nn::argmax_along<-1, reduced_axes::drop>)>::op_type,
                               tensor<std::uint8_t, 2, 3>>,
                           indices<2>>);
static_assert(!op_takes<decltype(nn::softmax_along<2>)::op_type, floats<2, 3>>);
static_assert(std::same_as<out<std::remove_const_t<decltype(nn::reduce_prod<0>)>::op_type, tensor<std::int64_t, 2, 3>>,
                           tensor<std::int64_t, 1, 3>>);
static_assert(!op_takes<std::remove_const_t<decltype(nn::reduce_log_sum<0>)>::op_type, tensor<std::int64_t, 2, 3>>);

/// The axis brought to the back, the op of the last axis, and back.
template <std::size_t... Back, class In, class Stage, class Last>
void check_as_last(const In& in, const Stage& stage, const Last& last, double tolerance) {
  const auto computed = both(in, stage.description, tolerance);
  const auto turned = by_one_kernel<reference>(in, {}, nn::transpose<Back...>.description);
  const auto of_last = by_one_kernel<reference>(*turned, {}, last.description);
  const auto expected = by_one_kernel<reference>(*of_last, {}, nn::transpose<Back...>.description);
  check_difference(largest_difference(*expected, *computed), tolerance, __PRETTY_FUNCTION__);
}

}  // namespace

TEST_CASE("softmax along an axis is that along the last, brought there") {
  auto in = random_tensor<floats<3, 5, 37>>();
  for (float& x : *in) x *= 20;
  (*in)[40] = not_a_number, (*in)[100] = -infinity;
  check_as_last<0, 2, 1>(*in, nn::softmax_along<1>, nn::softmax, 4 * epsilon);
  check_as_last<2, 1, 0>(*in, nn::softmax_along<0>, nn::softmax, 4 * epsilon);
  check_as_last<0, 1, 2>(*in, nn::softmax_along<-1>, nn::softmax, 4 * epsilon);
  check_as_last<0, 2, 1>(*in, nn::log_softmax_along<1>, nn::log_softmax, 1e-5);
  check_as_last<1, 0>(*random_tensor<tensor<double, 3, 5>>(), nn::softmax_along<0>, nn::softmax, 1e-15);
  check_as_last<1, 0>(*random_tensor<floats<7, 1>>(), nn::softmax_along<0>, nn::softmax, 4 * epsilon);
  const floats<2, 3> rows{{1, 3, 3, 9, 2, 3}};
  CHECK(*both(rows, nn::hardmax_along<1>.description) == floats<2, 3>{{0, 1, 0, 1, 0, 0}});
  CHECK(*both(rows, nn::hardmax_along<0>.description) == floats<2, 3>{{0, 1, 1, 1, 0, 0}});
}

TEST_CASE("the index of the largest and of the smallest along an axis") {
  const floats<2, 3> rows{{1, 3, 3, not_a_number, 2, 2}};
  CHECK(*both(rows, nn::argmax_along<1>.description) == indices<2, 1>{{1, 1}});
  CHECK(*both(rows, nn::argmin_along<1>.description) == indices<2, 1>{{0, 1}});
  CHECK(*both(rows, nn::argmax_along<1, reduced_axes::drop, among_equals::last>.description) == indices<2>{{2, 2}});
  CHECK(*both(rows, nn::argmin_along<-1, reduced_axes::drop, among_equals::last>.description) == indices<2>{{0, 2}});
  CHECK(*both(rows, nn::argmin_along<0, reduced_axes::drop>.description) == indices<3>{{0, 1, 1}});
  const tensor<std::int32_t, 4> whole{{-7, 0, 9, -7}};
  CHECK((*both(whole, nn::argmin_along<0>.description))[0] == 0);
}

TEST_CASE("running sums") {
  const floats<2, 3> rows{{1, 2, 3, 10, 20, 30}};
  CHECK(*both(rows, nn::cum_sum<1>.description) == floats<2, 3>{{1, 3, 6, 10, 30, 60}});
  CHECK(*both(rows, nn::cum_sum<0>.description) == floats<2, 3>{{1, 2, 3, 11, 22, 33}});
  CHECK(*both(rows, nn::cum_sum<-1, true>.description) == floats<2, 3>{{0, 1, 3, 0, 10, 30}});
  CHECK(*both(rows, nn::cum_sum<1, false, true>.description) == floats<2, 3>{{6, 5, 3, 60, 50, 30}});
  CHECK(*both(rows, nn::cum_sum<1, true, true>.description) == floats<2, 3>{{5, 3, 0, 50, 30, 0}});
}

TEST_CASE("more reductions of any axes agree") {
  const auto check = []<reduction How>(std::integral_constant<reduction, How>, double tolerance) {
    auto in = random_tensor<floats<3, 5, 37>>();
    for (float& x : *in) x = How == reduction::log_sum ? x + 2 : How == reduction::log_sum_exp ? 100 * x : x;
    both(*in, reduce_op<How, reduced_axes::keep>(), tolerance);
    both(*in, reduce_op<How, reduced_axes::keep, -1>(), tolerance);
    both(*in, reduce_op<How, reduced_axes::drop, 1>(), tolerance);
    both(*in, reduce_op<How, reduced_axes::drop, 0, -1>(), tolerance);
    (*in)[7] = not_a_number;
    both(*in, reduce_op<How, reduced_axes::keep, -1>(), tolerance);
  };
  check(std::integral_constant<reduction, reduction::prod>(), 1e-6);
  check(std::integral_constant<reduction, reduction::l1>(), 1e-3);
  check(std::integral_constant<reduction, reduction::sum_square>(), 1e-3);
  check(std::integral_constant<reduction, reduction::log_sum>(), 1e-5);
  check(std::integral_constant<reduction, reduction::log_sum_exp>(), 1e-5);
  const floats<2, 2> rows{{1, -2, 3, 4}};
  CHECK(*both(rows, nn::reduce_prod<1>.description) == floats<2, 1>{{-2, 12}});
  CHECK(*both(rows, nn::reduce_l1<1>.description) == floats<2, 1>{{3, 7}});
  CHECK(*both(rows, nn::reduce_sum_square<1>.description) == floats<2, 1>{{5, 25}});
  CHECK((*both(floats<3>{{1, 2, 4}}, nn::reduce_log_sum<>.description, 1e-6))[0] == doctest::Approx(std::log(7)));
  CHECK((*both(floats<2>{{1000, 1000}}, nn::reduce_log_sum_exp<0>.description))[0] ==
        doctest::Approx(1000 + std::log(2)));
  CHECK((*both(floats<2>{{-infinity, -infinity}}, nn::reduce_log_sum_exp<0>.description))[0] == -infinity);
  CHECK((*both(floats<2>{{infinity, 1}}, nn::reduce_log_sum_exp<0>.description))[0] == infinity);
  const tensor<std::int64_t, 2, 2> whole{{1, -2, 3, 4}};
  CHECK(*both(whole, nn::reduce<reduction::max, reduced_axes::drop, 0>.description) == indices<2>{{3, 4}});
  CHECK(*both(whole, nn::reduce<reduction::sum, reduced_axes::drop, 1>.description) == indices<2>{{-1, 7}});
  CHECK((*both(tensor<double, 2>{{1, 2}}, nn::reduce_log_sum<0>.description))[0] == doctest::Approx(std::log(3)));
}

TEST_CASE("more norms") {
  const auto in = random_tensor<floats<6, 5, 7>>();
  auto ones = unwritten<floats<35>>(), zeros = unwritten<floats<35>>();
  ones->fill(1), zeros->fill(0);
  const void* const of_layer[] = {ones->data(), zeros->data()};
  const auto layer = by_one_kernel<reference>(*in, of_layer, layer_norm_op<1>());
  check_difference(largest_difference(*layer, *both(*in, nn::layer_normalize<1>().description, 1e-5)), 1e-5, "layer");

  // A group of one channel each is an instance norm; of all of them a layer norm, scaled by channel.
  const auto scale = random_tensor<floats<6>>(), bias = random_tensor<floats<6>>();
  const void* const of_channels[] = {scale->data(), bias->data()};
  const auto instance = by_one_kernel<reference>(*in, of_channels, instance_norm_op());
  check_difference(largest_difference(*instance, *both(*in, group_norm_op<6>(), 1e-5, of_channels)), 1e-5, "groups");
  const auto whole = both(*in, group_norm_op<1>(), 1e-5, of_channels);
  const auto plain = by_one_kernel<reference>(*in, {}, nn::layer_normalize<0>().description);
  CHECK((*whole)[100] == doctest::Approx((*plain)[100] * (*scale)[100 / 35] + (*bias)[100 / 35]));

  const floats<2> three_four{{3, 4}}, factors{{10, 1}};
  const void* const of_rms[] = {factors.data()};
  const auto rms = both(three_four, rms_norm_op<-1>{0}, 1e-6, of_rms);
  CHECK((*rms)[0] == doctest::Approx(30 / std::sqrt(12.5)));
  CHECK((*rms)[1] == doctest::Approx(4 / std::sqrt(12.5)));
  CHECK(*both(three_four, nn::lp_norm<>.description, 1e-6) == floats<2>{{3.0f / 5, 4.0f / 5}});
  CHECK(*both(three_four, nn::lp_norm<0, 1>.description, 1e-6) == floats<2>{{3.0f / 7, 4.0f / 7}});
  CHECK(*both(floats<2>{}, nn::lp_norm<>.description) == floats<2>{});
  const floats<3, 1> channels{{1, 2, 3}};
  const auto lrn = both(channels, nn::lrn<3>(3, 1, 1).description, 1e-6);
  CHECK((*lrn)[0] == doctest::Approx(1.0 / (1 + 1 + 4)));
  CHECK((*lrn)[1] == doctest::Approx(2.0 / (1 + 1 + 4 + 9)));
  const auto moments = both(floats<2, 2>{{1, 5, 3, 9}}, nn::mean_variance_norm<0>.description, 1e-6);
  CHECK((*moments)[0] == doctest::Approx(-1));
  CHECK((*moments)[3] == doctest::Approx(1));
}
