// SPDX-License-Identifier: Apache-2.0
// What tells ops apart: the name of each, and of a user's lambda the hash of its source.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <type_traits>

#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/sourced_graph.hpp>
#include <levada/nn/broadcast.hpp>
#include <levada/nn/element_wise.hpp>
#include <levada/nn/kernel_stage.hpp>
#include <levada/nn/number.hpp>
#include <levada/nn/reduce.hpp>
#include <levada/plan/detail/signature.hpp>

namespace nn_kinds {

using namespace levada;

// ---- names ----

template <class... Stage>
constexpr bool are_called_as_their_stages(const Stage&...) {
  return ((Stage::op_type::kind == Stage::name.view()) && ...);
}
static_assert(are_called_as_their_stages(nn::sigmoid, nn::tanh, nn::erf, nn::exp, nn::log, nn::sqrt, nn::abs, nn::neg,
                                         nn::hard_swish, nn::silu, nn::gelu, nn::softplus, nn::leaky_relu(),
                                         nn::clip(0, 6), nn::hard_sigmoid(), nn::elu()));
static_assert(are_called_as_their_stages(nn::offset(1.0f), nn::scale(1.0f), nn::divide_by(1.0f), nn::number_over(1.0f),
                                         nn::number_minus(1.0f), nn::power(1.0f), nn::number_power(1.0f),
                                         nn::at_least(1.0f), nn::at_most(1.0f)));
static_assert(are_called_as_their_stages(nn::add, nn::sub, nn::mul, nn::div, nn::pow, nn::equal, nn::less,
                                         nn::less_or_equal, nn::greater, nn::greater_or_equal, nn::prelu, nn::min,
                                         nn::max, nn::where));
static_assert(are_called_as_their_stages(nn::reduce_sum<0>, nn::reduce_mean<0>, nn::reduce_max<0>, nn::reduce_min<0>,
                                         nn::reduce_l2<0>, nn::global_avg_pool2d, nn::global_max_pool2d,
                                         nn::global_l2_pool2d));

struct cubed {
  static constexpr std::string_view kind = "cube";
  constexpr auto operator()(auto x) const { return x * x * x; }
};
static_assert(transform_op<cubed>::kind == "cube", "a user's function object may have a name, too");

// ---- sources ----

template <class In = tensor<float, 4>, class F>
constexpr std::uint64_t hash_of(F f) {
  return decltype(transform<"t">(f))::op_type::template source<In>();
}
template <class F>
constexpr std::uint64_t hash_of_two(F f) {
  return decltype(broadcast<"b">(f))::op_type::template source<std::tuple<tensor<float, 4>, tensor<float, 4>>>();
}

constexpr auto doubled = [](auto x) { return x * 2.0f; };
static_assert(hash_of(doubled) != 0 && hash_of(doubled) == hash_of([](auto x) { return x * 2.0f; }), "the same source");
static_assert(hash_of(doubled) != hash_of([](auto x) { return x * 3.0f; }), "another number");
static_assert(hash_of(doubled) != hash_of([](auto x) { return x + 2.0f; }), "another instruction");
static_assert(hash_of(doubled) != hash_of<tensor<int, 4>>([](auto x) { return x * 2; }), "another element");
static_assert(hash_of<tensor<half, 4>>(doubled) == hash_of(doubled), "what a half arrives as");
static_assert(hash_of([](auto x) { return exp(x); }) != hash_of([](auto x) { return tanh(x); }));
static_assert(hash_of([](auto) { return 1.0f; }) != hash_of([](auto) { return 2.0f; }), "a number alone");

static_assert(hash_of_two([](auto a, auto b) { return a - b; }) != hash_of_two([](auto a, auto b) { return b - a; }));
static_assert(hash_of_two([](auto a, auto) { return a; }) != hash_of_two([](auto, auto b) { return b; }));

// A uniform is known by its place, not by its value.
constexpr auto scaled_by(float gain) {
  return [g = uniform{gain}](auto x) { return x * g; };
}
constexpr auto shifted_by(float gain, float shift) {
  return [g = uniform{gain}, s = uniform{shift}](auto x) { return x * g + s; };
}
constexpr auto shifted_first(float gain, float shift) {
  return [s = uniform{shift}, g = uniform{gain}](auto x) { return x * g + s; };
}
static_assert(hash_of(scaled_by(2)) == hash_of([g = uniform{7.0f}](auto x) { return x * g; }));
static_assert(hash_of(scaled_by(0)) != hash_of([](auto x) { return x * 0.0f; }), "it is no number");
static_assert(hash_of(shifted_by(1, 2)) != hash_of(shifted_first(1, 2)));

// What cannot be followed has none.
static_assert(hash_of<tensor<double, 4>>(doubled) == 0, "no element of kernels");
float looked_up(int) { return 1.0f; }
static_assert(hash_of([](auto x) { return x * looked_up(3); }) == 0, "no constant");
struct with_reference {
  const float& gain;
  auto operator()(auto x) const { return x * gain; }
};
static_assert(decltype(transform<"t">(std::declval<with_reference>()))::op_type::source<tensor<float, 4>>() == 0);

// Kernels over a grid, too.
using row = tensor<float, 4>;
template <class F>
constexpr auto grid_stage(F f) {
  return kernel_stage(grid_kernel<"g", row, row>(grid<4>{}, f));
}
template <class F>
constexpr std::uint64_t hash_of_grid(F f) {
  return decltype(grid_stage(f))::op_type::template source<row>();
}
constexpr auto reversed = [](auto g, auto in, auto out) { out[g.x()] = in[3 - g.x()]; };
static_assert(hash_of_grid(reversed) != 0);
static_assert(hash_of_grid(reversed) == hash_of_grid([](auto g, auto in, auto out) { out[g.x()] = in[3 - g.x()]; }));
static_assert(hash_of_grid(reversed) != hash_of_grid([](auto g, auto in, auto out) { out[g.x()] = in[g.x()]; }));

// ---- signatures ----

static_assert(hash_of(doubled) == 0xe297fc494603057du, "whatever the compiler");

template <class Graph>
std::string signature(const Graph& graph) {
  std::string text;
  append_signature(text, graph, 0, graph.nodes.size());
  return text;
}

template <class Pipeline>
constexpr const auto& sourced(const Pipeline&) {
  return detail::sourced_graph<detail::flat<Pipeline>>;
}

TEST_CASE("the signature of a library's op has its name, that of a lambda the stage's name and its source") {
  constexpr auto named = input<tensor<float, 2>> | nn::neg | nn::erf;
  CHECK(signature(sourced(named)) == "neg(float[2]) -> float[2], 2 FLOP + erf(float[2]) -> float[2], 2 FLOP");

  constexpr auto once = input<tensor<float, 2>> | transform<"halve">([](auto x) { return x * 0.5f; });
  constexpr auto again = input<tensor<float, 2>> | transform<"halve">([](auto x) { return 0.5f * x; });
  const std::string first = signature(sourced(once));
  const std::string second = signature(sourced(again));
  const std::string begin = "transform halve ", end = "(float[2]) -> float[2], 2 FLOP";
  CHECK(first.starts_with(begin));
  CHECK(first.ends_with(end));
  CHECK(first.size() == begin.size() + 16 + end.size());
  CHECK(first != second);
  CHECK_MESSAGE(signature(describe<std::remove_const_t<decltype(once)>>()) == "transform halve" + end,
                "where nobody asked for sources");
}

}  // namespace nn_kinds
