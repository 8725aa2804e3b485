// SPDX-License-Identifier: Apache-2.0
// Lambdas of several tensors that broadcast, reductions and the matrix product, on both backends.

#include "nn/direct.hpp"

#include <levada/backend/detail/define/broadcast.hpp>
#include <levada/backend/detail/define/sums.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/simd/detail/broadcast.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/matmul.hpp>
#include <levada/backend/simd/detail/reduce.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

template <std::size_t... Dims>
using floats = tensor<float, Dims...>;
template <class... T>
using tuple = std::tuple<T...>;
using add_op = std::remove_cvref_t<decltype(nn::add)>::op_type;

static_assert(std::same_as<out<add_op, tuple<floats<3, 1, 5>, floats<4, 1>>>, floats<3, 4, 5>>);
static_assert(std::same_as<out<add_op, tuple<floats<3>, floats<>>>, floats<3>>);
static_assert(!op_takes<add_op, tuple<floats<3>, floats<4>>> && !op_takes<add_op, floats<3>>);
static_assert(
    std::same_as<out<std::remove_cvref_t<decltype(nn::less)>::op_type, tuple<floats<3>, floats<3>>>, tensor<bool, 3>>);
static_assert(std::same_as<out<matmul_op, tuple<floats<2, 1, 3, 4>, floats<5, 4, 6>>>, floats<2, 5, 3, 6>>);
static_assert(std::same_as<out<matmul_op, tuple<floats<4>, floats<4>>>, floats<>>);
static_assert(!op_takes<matmul_op, tuple<floats<3, 4>, floats<3, 4>>>);
static_assert(!op_takes<matmul_op, tuple<floats<2, 3, 4>, floats<3, 4, 4>>>);
template <std::ptrdiff_t... Axes>
using sum_op = reduce_op<reduction::sum, reduced_axes::drop, Axes...>;
static_assert(std::same_as<out<sum_op<-1, 0>, floats<2, 3, 4>>, floats<3>> &&
              std::same_as<out<sum_op<>, floats<2, 3>>, floats<>>);
static_assert(!op_takes<sum_op<3>, floats<2, 3, 4>>);

/// Against a plain function of two numbers, element by element.
template <class A, class B, class Stage>
void check_function(const Stage& stage, float (*expected)(float, float), double tolerance) {
  auto in = random_input<tuple<A, B>>();
  auto& [a, b] = *in;
  for (float& x : a) x = 3 * x;
  a[0] = not_a_number, b[B::elements - 1] = not_a_number, a[A::elements / 2] = infinity;
  const auto computed = both(*in, stage.description, tolerance);
  using out_type = typename std::remove_cvref_t<decltype(*computed)>;
  std::size_t i = 0;
  detail::for_each_index(shape_of<out_type>, [&](const shape& index) {
    const auto element = [&]<class T>(const T& t) {
      std::size_t at = 0;
      for (std::size_t axis = 0; axis < index.rank; ++axis)
        at += index[axis] * detail::broadcast_step(shape_of<T>, shape_of<out_type>, axis);
      return t[at];
    };
    const float y = expected(element(a), element(b)), got = static_cast<float>((*computed)[i++]);
    CHECK((std::isnan(y) ? std::isnan(got) : y == got || std::abs(y - got) <= tolerance * std::abs(y)));
  });
}
template <class Stage>
void check_shapes(const Stage& stage, float (*expected)(float, float), double tolerance = 0) {
  check_function<floats<3, 5, 19>, floats<3, 5, 19>>(stage, expected, tolerance);
  check_function<floats<3, 5, 19>, floats<3, 1, 1>>(stage, expected, tolerance);
  check_function<floats<1, 33>, floats<7, 1>>(stage, expected, tolerance);
}

}  // namespace

TEST_CASE("functions of two tensors that broadcast") {
  check_shapes(nn::add, [](float a, float b) { return a + b; });
  check_shapes(nn::sub, [](float a, float b) { return a - b; });
  check_shapes(nn::div, [](float a, float b) { return a / b; });
  check_shapes(nn::prelu, [](float a, float b) { return a < 0 ? a * b : a; });
  check_function<floats<2, 9>, floats<9>>(
      nn::mul, [](float a, float b) { return a * b; }, 0);
  check_function<floats<2, 9>, floats<>>(
      nn::pow, [](float a, float b) { return std::pow(a, b); }, 4 * epsilon);
  check_function<floats<9>, floats<2, 9>>(
      nn::max, [](float a, float b) { return a != a || a > b ? a : b; }, 0);
  check_function<floats<9>, floats<2, 9>>(
      nn::min, [](float a, float b) { return a != a || a < b ? a : b; }, 0);
  check_function<floats<2, 9>, floats<9>>(
      nn::less, [](float a, float b) { return a < b ? 1.0f : 0.0f; }, 0);
  check_function<floats<2, 9>, floats<2, 1>>(
      nn::equal, [](float a, float b) { return a == b ? 1.0f : 0.0f; }, 0);
}

TEST_CASE("other types, one tensor and three") {
  both(*random_input<tuple<tensor<std::int32_t, 3, 7>, tensor<std::int32_t, 7>>>(), nn::mul.description);
  both(*random_input<tuple<tensor<double, 3, 7>, tensor<double, 3, 1>>>(), nn::add.description);
  both(*random_input<tuple<floats<3, 7>, floats<7>, floats<3, 1>>>(), nn::max.description);
  const auto alone = random_input<tuple<floats<21>>>();
  CHECK(*both(*alone, nn::min.description) == std::get<0>(*alone));
  auto choice = random_input<tuple<tensor<bool, 3, 1>, floats<3, 7>, floats<7>>>();
  std::get<0>(*choice) = {{true, false, true}};
  const auto chosen = both(*choice, nn::where.description);
  for (std::size_t i = 0; i < 21; ++i)
    CHECK((*chosen)[i] == (i / 7 == 1 ? std::get<2>(*choice)[i % 7] : std::get<1>(*choice)[i]));
}

TEST_CASE("reductions of any axes agree; NaN makes the result NaN") {
  const auto check = []<class In>(const In& in) {
    const auto of = [&](auto... axes) {
      constexpr auto keep = reduced_axes::keep;
      both(in, reduce_op<reduction::sum, keep, axes...>(), 200 * epsilon);
      both(in, reduce_op<reduction::max, keep, axes...>());
      if constexpr (sizeof...(axes) == 1) {
        both(in, reduce_op<reduction::mean, reduced_axes::drop, axes...>(), 2 * epsilon);
        both(in, reduce_op<reduction::min, keep, axes...>());
        both(in, reduce_op<reduction::l2, keep, axes...>(), 20 * epsilon);
      }
    };
    of();
    of(std::integral_constant<int, -1>());
    of(std::integral_constant<int, 1>());
    of(std::integral_constant<int, 0>(), std::integral_constant<int, 1>());
    of(std::integral_constant<int, 0>(), std::integral_constant<int, -1>());
  };
  auto in = random_input<floats<3, 5, 37>>();
  check(*in);
  (*in)[100] = not_a_number, (*in)[5] = infinity;
  check(*in);
  const auto counts = counted<floats<2, 3>>();
  CHECK((*both(*counts, nn::reduce_mean<0>.description))[2] == 3.5f);
  CHECK((*both(*counts, nn::reduce_min<>.description))[0] == 0.0f);
  CHECK((*both(*counts, nn::reduce_max<1>.description))[1] == 5.0f);
}

TEST_CASE("the matrix product of any sizes, with a batch that broadcasts") {
  const auto check = []<class A, class B>(std::type_identity<tuple<A, B>>) {
    both(*random_input<tuple<A, B>>(), matmul_op(), 2 * epsilon * static_cast<double>(A::extents[A::rank - 1]));
  };
  check(std::type_identity<tuple<floats<7, 33>, floats<33, 53>>>());
  check(std::type_identity<tuple<floats<4, 8>, floats<8, 48>>>());
  check(std::type_identity<tuple<floats<2, 1, 3, 5>, floats<3, 5, 17>>>());
  check(std::type_identity<tuple<floats<19>, floats<2, 19, 3>>>());
  check(std::type_identity<tuple<floats<2, 3, 19>, floats<19>>>());
  check(std::type_identity<tuple<tensor<double, 3, 4>, tensor<double, 4, 9>>>());
  auto in = random_input<tuple<floats<5, 6>, floats<6, 20>>>();
  std::get<0> (*in)(2, 3) = not_a_number;
  std::get<1> (*in)(1, 19) = infinity;
  both(*in, matmul_op(), 1e-5);
  const tuple<floats<2, 2>, floats<2>> small{{{1, 2, 3, 4}}, {{10, 1}}};
  CHECK(*both(small, matmul_op()) == floats<2>{{12, 34}});
}
