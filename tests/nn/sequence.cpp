// SPDX-License-Identifier: Apache-2.0
// Recurrent layers over all steps: `simd` as `reference`, that as the steps one by one, both ways, all activations.

#include <cmath>

#include "nn/direct.hpp"

#include <levada/backend/reference/ops.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/ops.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

template <std::size_t... Dims>
using floats = tensor<float, Dims...>;
constexpr direction forward = direction::forward, reverse = direction::reverse, both_ways = direction::bidirectional;

using lstm_of_both = lstm_sequence_op<8, both_ways>;
static_assert(std::same_as<out<lstm_of_both, floats<5, 3>>, std::tuple<floats<5, 2, 8>, floats<2, 8>, floats<2, 8>>>);
static_assert(op_takes<lstm_of_both, std::tuple<floats<5, 3>, floats<2, 8>, floats<2, 8>>>);
static_assert(!op_takes<lstm_of_both, std::tuple<floats<5, 3>, floats<1, 8>, floats<1, 8>>>);
static_assert(!op_takes<lstm_of_both, std::tuple<floats<5, 3>, floats<2, 8>>> && !op_takes<lstm_of_both, floats<3>>);
static_assert(std::same_as<out<gru_sequence_op<8, forward>, std::tuple<floats<5, 3>, floats<1, 8>>>,
                           std::tuple<floats<5, 1, 8>, floats<1, 8>>>);
static_assert(lstm_of_both::parameters<floats<5, 3>>[2].extents == shape(2, 64));
static_assert(lstm_sequence_op<8, forward, no_bias, peepholes>::parameters<floats<5, 3>>[2].extents == shape(1, 24));

template <class Op>
Op with_defaults() {
  return {default_functions<Op>};
}

template <class In, class Op>
void check_op(const Op& op, double tolerance = 2e-5) {
  random_parameters parameters;
  parameters.add<In, Op>();
  both(*random_input<In>(), op, tolerance, parameters.all());
}

}  // namespace

TEST_CASE("both backends agree, whatever the options, the lengths and the states at the beginning") {
  check_op<floats<7, 5>>(with_defaults<lstm_sequence_op<9, forward>>());
  check_op<floats<3, 5>>(with_defaults<lstm_sequence_op<16, reverse, no_bias>>());
  check_op<floats<4, 6>>(with_defaults<lstm_sequence_op<33, both_ways, peepholes>>());
  check_op<std::tuple<floats<4, 6>, floats<2, 5>, floats<2, 5>>>(
      with_defaults<lstm_sequence_op<5, both_ways, input_forget>>());
  check_op<floats<7, 5>>(with_defaults<gru_sequence_op<9, forward>>());
  check_op<floats<7, 5>>(with_defaults<gru_sequence_op<17, both_ways, linear_before_reset>>());
  check_op<std::tuple<floats<7, 5>, floats<1, 17>>>(with_defaults<gru_sequence_op<17, reverse, no_bias>>());
  check_op<std::tuple<floats<7, 5>, floats<2, 17>>>(with_defaults<rnn_sequence_op<17, both_ways>>());
  check_op<tensor<double, 4, 3>>(with_defaults<lstm_sequence_op<5, both_ways>>(), 1e-12);
  check_op<tensor<double, 4, 3>>(with_defaults<gru_sequence_op<5, forward>>(), 1e-12);
}

TEST_CASE("every activation, and a clip") {
  using op = rnn_sequence_op<19, both_ways>;
  using enum activation::function;
  const activation all[] = {{sigmoid},
                            {tanh},
                            {relu},
                            {affine, 0.5f, 0.1f},
                            {leaky_relu, 0.1f},
                            {thresholded_relu, 0.3f},
                            {scaled_tanh, 2, 3},
                            {hard_sigmoid, 0.2f, 0.5f},
                            {elu, 0.7f},
                            {softsign},
                            {softplus}};
  for (const activation& a : all) {
    CAPTURE(static_cast<int>(a.of));
    check_op<floats<3, 4>>(op{{{a, {tanh}}, 0}});
    check_op<floats<3, 4>>(op{{{activation{tanh}, a}, 0.4f}});
  }
  check_op<floats<3, 4>>(lstm_sequence_op<7, forward>{{{activation{hard_sigmoid, 0.2f, 0.5f}, {relu}, {tanh}}, 0.5f}});
  check_op<floats<3, 4>>(gru_sequence_op<7, forward>{{{activation{hard_sigmoid, 0.2f, 0.5f}, {softsign}}, 0.5f}});
}

TEST_CASE("all steps are the step one after the other, backwards the steps turned round") {
  constexpr std::size_t steps = 5, inputs = 4, hidden = 6;
  using sequence = lstm_sequence_op<hidden, both_ways, peepholes>;
  random_parameters parameters;
  parameters.add<floats<steps, inputs>, sequence>();
  const auto in = random_input<floats<steps, inputs>>();
  const auto all = by_one_kernel<reference>(*in, parameters.all(), with_defaults<sequence>());
  for (std::size_t way = 0; way < 2; ++way) {
    const std::size_t sizes[] = {4 * hidden * inputs, 4 * hidden * hidden, 8 * hidden, 3 * hidden};
    const void* of_way[4];
    for (std::size_t i = 0; i < 4; ++i) of_way[i] = static_cast<const float*>(parameters.all()[i]) + way * sizes[i];
    std::tuple<floats<inputs>, floats<hidden>, floats<hidden>> now{};
    for (std::size_t i = 0; i < steps; ++i) {
      const std::size_t t = way == 0 ? i : steps - 1 - i;
      std::copy_n(in->data() + t * inputs, inputs, std::get<0>(now).data());
      const auto next = by_one_kernel<reference>(now, of_way, lstm_op<hidden, peepholes>());
      std::get<1>(now) = std::get<0>(*next), std::get<2>(now) = std::get<1>(*next);
      for (std::size_t u = 0; u < hidden; ++u)
        CHECK(std::get<0>(*all)(t, way, u) == doctest::Approx(std::get<1>(now)[u]));
    }
    for (std::size_t u = 0; u < hidden; ++u) {
      CHECK(std::get<1>(*all)(way, u) == doctest::Approx(std::get<1>(now)[u]));
      CHECK(std::get<2>(*all)(way, u) == doctest::Approx(std::get<2>(now)[u]));
    }
  }
}
