// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/sequence.hpp: recurrent layers over all steps: what the inputs of all steps give as one product
// of matrices, then step by step the product with the state and the gates on vectors.

#include <array>
#include <cstring>
#include <utility>

#include <levada/backend/simd/detail/join.hpp>
#include <levada/backend/simd/detail/packed_product.hpp>
#include <levada/backend/simd/detail/recurrent.hpp>
#include <levada/nn/sequence.hpp>

namespace levada {

namespace detail {

/// `Count` numbers that lie side by side, a vector at a time: `f(i, integral_constant<lanes>)`.
template <class T, class Arch, std::size_t Count, class F>
LEVADA_INLINE inline void over_vectors(F f) {
  for_each_vector<T, Arch, Count>(
      [&](std::size_t i)
          LEVADA_INLINE { f(i, std::integral_constant<std::size_t, std::min(Count, lanes_in<T, Arch>)>()); },
      [&](std::size_t i, auto n) LEVADA_INLINE { f(i, n); });
}

template <class Arch, std::size_t Count, class T, class F>
inline void map_vectors(T* values, F f) {
  over_vectors<T, Arch, Count>([&](std::size_t i, auto n)
                                   LEVADA_INLINE { store_part<n>(values + i, f(load_part<n, T, Arch>(values + i))); });
}

/// `Count` numbers through one of ONNX's activations, bounded by `clip` before where that is above 0.
template <class Arch, std::size_t Count, class T>
void activate(const activation& by, float clip, T* values) {
  using vec = vector<T, Arch>;
  const vec alpha(static_cast<T>(by.alpha)), beta(static_cast<T>(by.beta)), zero(T{0}), one(T{1});
  const auto map = [&](auto f) { map_vectors<Arch, Count>(values, f); };
  if (clip > 0) {
    const vec most(static_cast<T>(clip));
    map([&](const vec& x) { return xsimd::min(xsimd::max(x, -most), most); });
  }
  switch (by.of) {
    case activation::sigmoid:
      return map([](const vec& x) { return sigmoid_in(x); });
    case activation::tanh:
      return map([](const vec& x) { return tanh_in(x); });
    case activation::relu:
      return map([](const vec& x) { return relu_of(x); });
    case activation::affine:
      return map([&](const vec& x) { return multiply_add(alpha, x, beta); });
    case activation::leaky_relu:
      return map([&](const vec& x) { return xsimd::select(x < zero, alpha * x, x); });
    case activation::thresholded_relu:
      return map([&](const vec& x) { return xsimd::select(x >= alpha, x, zero); });
    case activation::scaled_tanh:
      return map([&](const vec& x) { return alpha * tanh_in<T, Arch>(beta * x); });
    case activation::hard_sigmoid:
      return map([&](const vec& x) { return xsimd::min(xsimd::max(multiply_add(alpha, x, beta), zero), one); });
    case activation::elu:
      return map([&](const vec& x) { return transformed_vector<Arch, T, T>(elu_of{{by.alpha}}, x); });
    case activation::softsign:
      return map([&](const vec& x) { return x / (one + xsimd::abs(x)); });
    case activation::softplus:
      return map([](const vec& x) { return transformed_vector<Arch, T, T>(softplus_of{}, x); });
  }
}

/// One direction of a layer.
template <class Arch, class X, class Op>
class simd_sequence_way {
 public:
  using value = typename X::value_type;
  static constexpr std::size_t steps = X::extents[0], inputs = X::extents[1], hidden = Op::hidden;
  static constexpr std::size_t rows = Op::gates * hidden;
  /// What the inputs of all steps give; the gates of a step; the state as a reset gate keeps it.
  static constexpr std::size_t scratch_values = steps * rows + rows + hidden;

  simd_sequence_way(std::size_t way, const Op& op, const parameter_values& p)
      : input_([&, w = p.get<value>(0) + way * rows * inputs](std::size_t k, std::size_t row) {
          return w[row * inputs + k];
        }),
        recurrence_([&, r = p.get<value>(1) + way * rows * hidden](std::size_t k, std::size_t row) {
          return r[row * hidden + k];
        }),
        next_([&, r = p.get<value>(1) + (way * rows + rows - hidden) * hidden](std::size_t k, std::size_t u) {
          return r[u * hidden + k];
        }),
        clip_(op.functions.clip) {
    for (std::size_t i = 0; i < activations_.size(); ++i)
      activations_[i] = op.functions.activations[way * Op::functions_each + i];
    if constexpr (Op::has_bias) {
      const value* const bias = p.get<value>(2) + way * 2 * rows;
      for (std::size_t row = 0; row < rows; ++row) {
        const bool apart = Op::resets_behind && row >= 2 * hidden;  // it goes through the reset gate
        bias_[row] = apart ? bias[row] : bias[row] + bias[rows + row];
        if (apart) reset_bias_[row - 2 * hidden] = bias[rows + row];
      }
    }
    if constexpr (Op::has_peepholes)
      std::memcpy(peephole_.data(), p.get<value>(Op::has_bias ? 3 : 2) + way * 3 * hidden, sizeof peephole_.values);
  }

  /// All steps; `h` and `c` are the states before and after, `to(t)` is where the hidden state of step t goes.
  template <class To>
  void run(const value* x, bool backwards, value* h, value* c, value* scratch, To to) const {
    value *const of_inputs = scratch, *const gates = of_inputs + steps * rows, *const kept = gates + rows;
    input_(
        x, of_inputs, [&](std::size_t row, auto n) LEVADA_INLINE { return load_part<n, value, Arch>(&bias_[row]); },
        no_join());
    for (std::size_t i = 0; i < steps; ++i) {
      const std::size_t t = backwards ? steps - 1 - i : i;
      const value* const begin = of_inputs + t * rows;
      if constexpr (Op::gates == 1)
        step_rnn(begin, gates, h);
      else if constexpr (Op::gates == 3)
        step_gru(begin, gates, kept, h);
      else
        step_lstm(begin, gates, h, c);
      std::memcpy(to(t), h, hidden * sizeof(value));
    }
  }

 private:
  using vec = vector<value, Arch>;
  static constexpr bool resets_before = Op::gates == 3 && !Op::resets_behind;
  // A reset gate that comes before its product: the last gate is a product of its own.
  using recurrence = packed_product<Arch, value, 1, hidden, resets_before ? 2 * hidden : rows>;
  struct nothing {
    template <class F>
    explicit nothing(const F&) {}
  };
  using next = std::conditional_t<resets_before, packed_product<Arch, value, 1, hidden, hidden>, nothing>;

  template <class F>
  LEVADA_INLINE static void each(F f) {
    over_vectors<value, Arch, hidden>(f);
  }
  template <class Product>
  static void multiply(const Product& product, const value* state, const value* begin, value* to) {
    product(
        state, to, [&](std::size_t row, auto n) LEVADA_INLINE { return load_part<n, value, Arch>(begin + row); },
        no_join());
  }
  void function(std::size_t which, value* gate, bool clips = true) const {
    activate<Arch, hidden>(activations_[which], clips ? clip_ : 0, gate);
  }

  void step_rnn(const value* begin, value* gates, value* h) const {
    multiply(recurrence_, h, begin, gates);
    function(0, gates);
    std::memcpy(h, gates, hidden * sizeof(value));
  }

  void step_gru(const value* begin, value* gates, value* kept, value* h) const {
    value *const z = gates, *const r = z + hidden, *const n = r + hidden;
    if constexpr (resets_before) {
      multiply(recurrence_, h, begin, gates);
      function(0, r);
      each([&](std::size_t i, auto count) LEVADA_INLINE {
        store_part<count>(kept + i, load_part<count, value, Arch>(r + i) * load_part<count, value, Arch>(h + i));
      });
      multiply(next_, kept, begin + 2 * hidden, n);
    } else {
      std::memcpy(gates, begin, 2 * hidden * sizeof(value));
      std::memcpy(n, reset_bias_.data(), hidden * sizeof(value));
      multiply(recurrence_, h, gates, gates);
      function(0, r);
      each([&](std::size_t i, auto count) LEVADA_INLINE {
        store_part<count>(n + i,
                          multiply_add(load_part<count, value, Arch>(r + i), load_part<count, value, Arch>(n + i),
                                       load_part<count, value, Arch>(begin + 2 * hidden + i)));
      });
    }
    function(0, z);
    function(1, n);
    each([&](std::size_t i, auto count) LEVADA_INLINE {  // (1 - z) n + z h
      const vec made = load_part<count, value, Arch>(n + i);
      store_part<count>(
          h + i, multiply_add(load_part<count, value, Arch>(z + i), load_part<count, value, Arch>(h + i) - made, made));
    });
  }

  void step_lstm(const value* begin, value* gates, value* h, value* c) const {
    value *const in = gates, *const out = in + hidden, *const forget = out + hidden, *const cell = forget + hidden;
    multiply(recurrence_, h, begin, gates);
    see(0, in, c);
    function(0, in);
    if constexpr (Op::couples_forget) {
      std::memcpy(forget, in, hidden * sizeof(value));
      map_vectors<Arch, hidden>(forget, [](const vec& x) { return vec(value{1}) - x; });
    } else {
      see(2, forget, c);
      function(0, forget);
    }
    function(1, cell);
    each([&](std::size_t i, auto count) LEVADA_INLINE {
      const vec now = multiply_add(load_part<count, value, Arch>(forget + i), load_part<count, value, Arch>(c + i),
                                   load_part<count, value, Arch>(in + i) * load_part<count, value, Arch>(cell + i));
      store_part<count>(c + i, now);
      store_part<count>(cell + i, now);
    });
    see(1, out, c);
    function(0, out);
    function(2, cell, false);
    each([&](std::size_t i, auto count) LEVADA_INLINE {
      store_part<count>(h + i, load_part<count, value, Arch>(out + i) * load_part<count, value, Arch>(cell + i));
    });
  }
  /// A gate that sees the cell, where there are peepholes.
  void see([[maybe_unused]] std::size_t which, [[maybe_unused]] value* gate, [[maybe_unused]] const value* c) const {
    if constexpr (Op::has_peepholes)
      each([&](std::size_t i, auto count) LEVADA_INLINE {
        store_part<count>(gate + i,
                          multiply_add(load_part<count, value, Arch>(&peephole_[which * hidden + i]),
                                       load_part<count, value, Arch>(c + i), load_part<count, value, Arch>(gate + i)));
      });
  }

  packed_product<Arch, value, steps, inputs, rows> input_;
  recurrence recurrence_;
  [[no_unique_address]] next next_;
  tensor<value, rows> bias_{};
  tensor<value, hidden> reset_bias_{};
  tensor<value, 3 * hidden> peephole_{};
  std::array<activation, Op::functions_each> activations_{};
  float clip_;
};

}  // namespace detail

template <class Arch, class In, class Cell, std::size_t Hidden, direction Way, class... Options>
  requires op_takes<sequence_op<Cell, Hidden, Way, Options...>, In>
struct simd_kernel<Arch, In, sequence_op<Cell, Hidden, Way, Options...>> {
  using op_type = sequence_op<Cell, Hidden, Way, Options...>;
  using x_type = typename op_type::template x_type<In>;
  using value = typename x_type::value_type;
  using way = detail::simd_sequence_way<Arch, x_type, op_type>;

  static constexpr std::size_t scratch_bytes = way::scratch_values * sizeof(value);

  simd_kernel(const op_type& op, parameter_values p)
      : ways_([&]<std::size_t... I>(std::index_sequence<I...>) {
          return std::array<way, ways>{way(I, op, p)...};
        }(std::make_index_sequence<ways>())) {}

  void operator()(const auto& in, typename op_type::template output<In>& out, std::byte* scratch) const {
    constexpr std::size_t given = detail::sequence_parts<In>::states;
    const auto begin = [](value* state, const value* from) { std::memcpy(state, from, Hidden * sizeof(value)); };
    for (std::size_t w = 0; w < ways; ++w) {
      value* const h = &std::get<1>(out)[w * Hidden];
      value* c = nullptr;
      std::memset(h, 0, Hidden * sizeof(value));
      if constexpr (given > 0) begin(h, &std::get<1>(in)[w * Hidden]);
      if constexpr (Cell::states == 2) {
        c = &std::get<2>(out)[w * Hidden];
        std::memset(c, 0, Hidden * sizeof(value));
        if constexpr (given > 1) begin(c, &std::get<2>(in)[w * Hidden]);
      }
      ways_[w].run(detail::steps_of(in).data(), Way == direction::reverse || w == 1, h, c,
                   reinterpret_cast<value*>(scratch),
                   [&](std::size_t t) { return &std::get<0>(out)[(t * ways + w) * Hidden]; });
    }
  }

 private:
  static constexpr std::size_t ways = op_type::directions;

  std::array<way, ways> ways_;
};

}  // namespace levada
