// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/sequence.hpp: recurrent layers over all steps, gate by gate and unit by unit.

#include <algorithm>
#include <cmath>
#include <vector>

#include <levada/backend/detail/definition.hpp>
#include <levada/nn/sequence.hpp>

namespace levada {

namespace detail {

template <class Backend, class T>
T activated(const activation& by, T x) {
  const T alpha = static_cast<T>(by.alpha), beta = static_cast<T>(by.beta);
  switch (by.of) {
    case activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case activation::tanh:
      return std::tanh(x);
    case activation::relu:
      return std::max(x, T{0});
    case activation::affine:
      return alpha * x + beta;
    case activation::leaky_relu:
      return x < 0 ? alpha * x : x;
    case activation::thresholded_relu:
      return x >= alpha ? x : T{0};
    case activation::scaled_tanh:
      return alpha * std::tanh(beta * x);
    case activation::hard_sigmoid:
      return std::min(std::max(alpha * x + beta, T{0}), T{1});
    case activation::elu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case activation::softsign:
      return x / (1 + std::abs(x));
    case activation::softplus:
      return std::max(x, T{0}) + std::log1p(std::exp(-std::abs(x)));
  }
  return x;
}

}  // namespace detail

template <class Backend, class In, class Cell, std::size_t Hidden, direction Way, class... Options>
  requires op_takes<sequence_op<Cell, Hidden, Way, Options...>, In>
struct definition<Backend, In, sequence_op<Cell, Hidden, Way, Options...>> {
  using op_type = sequence_op<Cell, Hidden, Way, Options...>;
  using x_type = typename op_type::template x_type<In>;
  using value = typename x_type::value_type;
  using out_type = typename op_type::template output<In>;

  /// The states before a step, and what a reset gate keeps.
  static constexpr std::size_t scratch_bytes = 3 * Hidden * sizeof(value);
  static constexpr std::size_t weight_bytes =
      op_type::directions * (op_type::gates * Hidden * (x_type::extents[1] + Hidden + 2) + 3 * Hidden) * sizeof(value);

  definition(const op_type& op, parameter_values p)
      : functions_(op.functions),
        weight_(p.get<value>(0), p.get<value>(0) + ways * rows * inputs),
        recurrence_(p.get<value>(1), p.get<value>(1) + ways * rows * Hidden),
        bias_(ways * 2 * rows),
        peephole_(ways * 3 * Hidden) {
    if constexpr (op_type::has_bias) std::copy_n(p.get<value>(2), bias_.size(), bias_.begin());
    if constexpr (op_type::has_peepholes)
      std::copy_n(p.get<value>(op_type::has_bias ? 3 : 2), peephole_.size(), peephole_.begin());
  }

  void operator()(const auto& in, out_type& out, std::byte* scratch) const {
    auto* const h = reinterpret_cast<value*>(scratch);
    value *const c = h + Hidden, *const kept = c + Hidden;
    const value* const x = detail::steps_of(in).data();
    for (std::size_t way = 0; way < ways; ++way) {
      std::fill_n(h, 2 * Hidden, value{0});
      if constexpr (detail::sequence_parts<In>::states > 0) std::copy_n(&std::get<1>(in)[way * Hidden], Hidden, h);
      if constexpr (detail::sequence_parts<In>::states > 1) std::copy_n(&std::get<2>(in)[way * Hidden], Hidden, c);
      const bool backwards = Way == direction::reverse || way == 1;
      for (std::size_t i = 0; i < steps; ++i) {
        const std::size_t t = backwards ? steps - 1 - i : i;
        value* const to = &std::get<0>(out)[(t * ways + way) * Hidden];
        step(way, x + t * inputs, h, c, kept, to);
        std::copy_n(to, Hidden, h);
      }
      std::copy_n(h, Hidden, &std::get<1>(out)[way * Hidden]);
      if constexpr (Cell::states == 2) std::copy_n(c, Hidden, &std::get<2>(out)[way * Hidden]);
    }
  }

 private:
  static constexpr std::size_t steps = x_type::extents[0], inputs = x_type::extents[1], ways = op_type::directions;
  static constexpr std::size_t rows = op_type::gates * Hidden;

  void step(std::size_t way, const value* x, const value* h, value* c, value* kept, value* to) const {
    const auto of_input = [&](std::size_t gate, std::size_t u) {
      const std::size_t row = way * rows + gate * Hidden + u;
      value sum = bias_[way * 2 * rows + gate * Hidden + u];
      for (std::size_t i = 0; i < inputs; ++i) sum += weight_[row * inputs + i] * x[i];
      return sum;
    };
    const auto of_state = [&](std::size_t gate, std::size_t u, const value* state) {
      const std::size_t row = way * rows + gate * Hidden + u;
      value sum = bias_[(way * 2 + 1) * rows + gate * Hidden + u];
      for (std::size_t i = 0; i < Hidden; ++i) sum += recurrence_[row * Hidden + i] * state[i];
      return sum;
    };
    const auto by = [&](std::size_t function, value sum) {
      const value clip = static_cast<value>(functions_.clip);
      if (clip > 0) sum = std::min(std::max(sum, -clip), clip);
      return detail::activated<Backend>(functions_.activations[way * op_type::functions_each + function], sum);
    };
    const auto peephole = [&](std::size_t gate, std::size_t u) { return peephole_[(way * 3 + gate) * Hidden + u]; };
    if constexpr (std::same_as<Cell, detail::rnn_cell>) {
      for (std::size_t u = 0; u < Hidden; ++u) to[u] = by(0, of_input(0, u) + of_state(0, u, h));
    } else if constexpr (std::same_as<Cell, detail::gru_cell>) {
      for (std::size_t u = 0; u < Hidden; ++u)
        kept[u] = by(0, of_input(1, u) + of_state(1, u, h)) * (op_type::resets_behind ? of_state(2, u, h) : h[u]);
      for (std::size_t u = 0; u < Hidden; ++u) {
        const value z = by(0, of_input(0, u) + of_state(0, u, h));
        const value n = by(1, of_input(2, u) + (op_type::resets_behind ? kept[u] : of_state(2, u, kept)));
        to[u] = (1 - z) * n + z * h[u];
      }
    } else {
      for (std::size_t u = 0; u < Hidden; ++u) {
        const value i = by(0, of_input(0, u) + of_state(0, u, h) + peephole(0, u) * c[u]);
        const value f =
            op_type::couples_forget ? 1 - i : by(0, of_input(2, u) + of_state(2, u, h) + peephole(2, u) * c[u]);
        const value next = f * c[u] + i * by(1, of_input(3, u) + of_state(3, u, h));
        const value o = by(0, of_input(1, u) + of_state(1, u, h) + peephole(1, u) * next);
        c[u] = next;
        to[u] = o * detail::activated<Backend>(functions_.activations[way * op_type::functions_each + 2], next);
      }
    }
  }

  decltype(op_type::functions) functions_;
  std::vector<value> weight_, recurrence_, bias_, peephole_;
};

}  // namespace levada
