// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/recurrent.hpp: the steps of recurrent layers, gate by gate.

#include <algorithm>
#include <cmath>
#include <vector>

#include <levada/backend/detail/definition.hpp>
#include <levada/nn/recurrent.hpp>

namespace levada {
namespace detail {

/// What gates weigh and sum.
template <class In, class Op>
class defined_gates {
 public:
  using value = step_value_t<In>;
  static constexpr std::size_t inputs = step_input_t<In>::elements, hidden = Op::hidden, rows = Op::gates * hidden;
  static constexpr std::size_t scratch_bytes = 0;
  static constexpr std::size_t weight_bytes = (rows * (inputs + hidden + 2) + 3 * hidden) * sizeof(value);

  explicit defined_gates(parameter_values p)
      : weight_(p.get<value>(0), p.get<value>(0) + rows * inputs),
        recurrence_(p.get<value>(1), p.get<value>(1) + rows * hidden),
        bias_(2 * rows),
        peephole_(3 * hidden) {
    if constexpr (Op::has_bias) std::copy_n(p.get<value>(2), 2 * rows, bias_.begin());
    if constexpr (requires { requires Op::has_peepholes; })
      std::copy_n(p.get<value>(Op::has_bias ? 3 : 2), 3 * hidden, peephole_.begin());
  }

 protected:
  value of_input(std::size_t gate, std::size_t unit, const value* x) const {
    const std::size_t row = gate * hidden + unit;
    value sum = bias_[row];
    for (std::size_t i = 0; i < inputs; ++i) sum += weight_[row * inputs + i] * x[i];
    return sum;
  }
  value of_state(std::size_t gate, std::size_t unit, const value* h) const {
    const std::size_t row = gate * hidden + unit;
    value sum = bias_[rows + row];
    for (std::size_t i = 0; i < hidden; ++i) sum += recurrence_[row * hidden + i] * h[i];
    return sum;
  }
  value peephole(std::size_t gate, std::size_t unit) const { return peephole_[gate * hidden + unit]; }

  static value sigmoid(value x) { return 1 / (1 + std::exp(-x)); }

 private:
  std::vector<value> weight_, recurrence_, bias_, peephole_;
};

}  // namespace detail

template <class Backend, class X, class H, std::size_t Hidden, class... Options>
  requires op_takes<gru_op<Hidden, Options...>, std::tuple<X, H>>
struct definition<Backend, std::tuple<X, H>, gru_op<Hidden, Options...>>
    : detail::defined_gates<std::tuple<X, H>, gru_op<Hidden, Options...>> {
  using op_type = gru_op<Hidden, Options...>;
  using value = typename X::value_type;
  static constexpr std::size_t scratch_bytes = sizeof(H);

  definition(const op_type&, parameter_values p) : detail::defined_gates<std::tuple<X, H>, op_type>(p) {}

  void operator()(const auto& in, H& out, std::byte* scratch) const {
    enum gate : std::size_t { update, reset, next };
    const value *x = std::get<0>(in).data(), *h = std::get<1>(in).data();
    auto* const kept = reinterpret_cast<value*>(scratch);  // by the reset gate
    for (std::size_t u = 0; u < Hidden; ++u)
      kept[u] = this->sigmoid(this->of_input(reset, u, x) + this->of_state(reset, u, h)) *
                (op_type::resets_behind ? this->of_state(next, u, h) : h[u]);
    for (std::size_t u = 0; u < Hidden; ++u) {
      const value z = this->sigmoid(this->of_input(update, u, x) + this->of_state(update, u, h));
      const value n = this->of_input(next, u, x) + (op_type::resets_behind ? kept[u] : this->of_state(next, u, kept));
      out[u] = (1 - z) * std::tanh(n) + z * h[u];
    }
  }
};

template <class Backend, class In, std::size_t Hidden, class... Options>
  requires op_takes<lstm_op<Hidden, Options...>, In>
struct definition<Backend, In, lstm_op<Hidden, Options...>> : detail::defined_gates<In, lstm_op<Hidden, Options...>> {
  using op_type = lstm_op<Hidden, Options...>;
  using value = detail::step_value_t<In>;

  definition(const op_type&, parameter_values p) : detail::defined_gates<In, op_type>(p) {}

  void operator()(const auto& in, typename op_type::template output<In>& out, std::byte*) const {
    enum gate : std::size_t { input, output, forget, cell };
    const auto& [h, c] = detail::hidden_and_cell(in);
    const auto sum = [&, x = std::get<0>(in).data(), before = h.data()](gate g, std::size_t u) {
      return this->of_input(g, u, x) + this->of_state(g, u, before);
    };
    for (std::size_t u = 0; u < Hidden; ++u) {
      const value i = this->sigmoid(sum(input, u) + this->peephole(input, u) * c[u]);
      const value f = this->sigmoid(sum(forget, u) + this->peephole(forget, u) * c[u]);
      const value next = f * c[u] + i * std::tanh(sum(cell, u));
      const value o = this->sigmoid(sum(output, u) + this->peephole(output, u) * next);
      std::get<0>(out)[u] = o * std::tanh(next);
      std::get<1>(out)[u] = next;
    }
  }
};

}  // namespace levada
