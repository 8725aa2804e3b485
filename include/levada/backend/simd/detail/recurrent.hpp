// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/recurrent.hpp: the steps of recurrent layers, lanes over the units. The weights of all gates of a
// block of units lie together in the order in which they are read, so that one pass over the inputs gives the gates
// where they are needed.

#include <tuple>

#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/transform.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/nn/element_wise.hpp>
#include <levada/nn/recurrent.hpp>

namespace levada {
namespace detail {

/// `Hidden` units in blocks of one vector.
template <class Arch, class T, std::size_t Hidden>
struct unit_blocks {
  using vec = vector<T, Arch>;
  static constexpr std::size_t lanes = vec::size, count = ceil_div(Hidden, lanes), rest = Hidden % lanes;

  LEVADA_INLINE static vec load(const T* units, std::size_t block) {
    if constexpr (rest != 0)
      if (block + 1 == count) return load_part<rest, T, Arch>(units + block * lanes);
    return detail::load<T, Arch>(units + block * lanes);
  }
  LEVADA_INLINE static void store(T* units, std::size_t block, const vec& v) {
    if constexpr (rest != 0)
      if (block + 1 == count) return store_part<rest>(units + block * lanes, v);
    v.store_unaligned(units + block * lanes);
  }
  /// Calls `f(first, integral_constant<N>)` for all blocks, `Most` at a time.
  template <std::size_t Most, class F>
  LEVADA_INLINE static void for_each(F f) {
    constexpr std::size_t whole = count / Most * Most;
    for (std::size_t b = 0; b < whole; b += Most) f(b, std::integral_constant<std::size_t, Most>());
    if constexpr (whole != count) f(whole, std::integral_constant<std::size_t, count - whole>());
  }
};

/// What some of all gates weigh their inputs with.
template <class Arch, class T, std::size_t Inputs, std::size_t Hidden, std::size_t... Gate>
class packed_gates {
 public:
  explicit packed_gates(const T* weight) {
    const std::size_t gates[] = {Gate...};
    for (std::size_t u = 0; u < Hidden; ++u)
      for (std::size_t k = 0; k < Inputs; ++k)
        for (std::size_t g = 0; g < count; ++g)
          weight_[((u / blocks::lanes * Inputs + k) * count + g) * blocks::lanes + u % blocks::lanes] =
              weight[(gates[g] * Hidden + u) * Inputs + k];
  }

  /// Adds to the sums of `N` blocks; those of gate g are at `To[g]`.
  template <std::size_t... To, std::size_t N, std::size_t Sums>
  LEVADA_INLINE void add(std::size_t block, const T* in,
                         typename unit_blocks<Arch, T, Hidden>::vec (&sums)[N][Sums]) const {
    static_assert(sizeof...(To) == count);
    constexpr std::size_t to[] = {To...};
    const T* weight = weight_.data() + block * block_size;
    for (std::size_t k = 0; k < Inputs; ++k, weight += count * blocks::lanes) {
      const typename blocks::vec x(in[k]);
      unrolled<N, count>([&](std::size_t n, std::size_t g) LEVADA_INLINE {
        sums[n][to[g]] =
            multiply_add(x, detail::load<T, Arch>(weight + n * block_size + g * blocks::lanes), sums[n][to[g]]);
      });
    }
  }

 private:
  using blocks = unit_blocks<Arch, T, Hidden>;
  static constexpr std::size_t count = sizeof...(Gate), block_size = Inputs * count * blocks::lanes;

  tensor<T, blocks::count * block_size> weight_{};
};

/// Vectors of numbers of each unit, several of them.
template <class Arch, class T, std::size_t Hidden, std::size_t Sums>
class packed_units {
 public:
  void set(std::size_t sum, std::size_t unit, T value) { at(sum, unit / blocks::lanes)[unit % blocks::lanes] = value; }
  T* at(std::size_t sum, std::size_t block) { return &values_[(block * Sums + sum) * blocks::lanes]; }
  LEVADA_INLINE auto get(std::size_t sum, std::size_t block) const {
    return detail::load<T, Arch>(&values_[(block * Sums + sum) * blocks::lanes]);
  }

 private:
  using blocks = unit_blocks<Arch, T, Hidden>;
  tensor<T, blocks::count * Sums * blocks::lanes> values_{};
};

/// As `nn::sigmoid` and `nn::tanh` compute them.
template <class T, class Arch>
LEVADA_INLINE inline vector<T, Arch> sigmoid_in(const vector<T, Arch>& a) {
  return transformed_vector<Arch, T, T>(sigmoid_of{}, a);
}
template <class T, class Arch>
LEVADA_INLINE inline vector<T, Arch> tanh_in(const vector<T, Arch>& a) {
  return transformed_vector<Arch, T, T>(tanh_of{}, a);
}

}  // namespace detail

template <class Arch, class X, class H, std::size_t Hidden, class... Options>
  requires op_takes<gru_op<Hidden, Options...>, std::tuple<X, H>>
struct simd_kernel<Arch, std::tuple<X, H>, gru_op<Hidden, Options...>> {
  using op_type = gru_op<Hidden, Options...>;
  using value = typename X::value_type;

  /// What waits for the second pass: the update gate, the sum of the hidden gate, and the state as the reset gate keeps
  /// it.
  static constexpr std::size_t scratch_bytes = op_type::resets_behind ? 0 : 3 * sizeof(H);

  simd_kernel(const op_type&, parameter_values p)
      : input_(p.get<value>(0)), gates_(p.get<value>(1)), next_(p.get<value>(1)) {
    if constexpr (op_type::has_bias)
      for (std::size_t u = 0; u < Hidden; ++u) {
        const auto bias = [&, b = p.get<value>(2)](std::size_t row) { return b[row * Hidden + u]; };
        bias_.set(update, u, bias(0) + bias(3));
        bias_.set(reset, u, bias(1) + bias(4));
        bias_.set(next, u, op_type::resets_behind ? bias(2) : bias(2) + bias(5));
        bias_.set(kept, u, bias(5));
      }
  }

  void operator()(const auto& in, H& out, std::byte* scratch) const {
    const value *x = std::get<0>(in).data(), *h = std::get<1>(in).data();
    if constexpr (op_type::resets_behind)
      in_one_pass(x, h, out.data());
    else
      in_two_passes(x, h, out.data(), reinterpret_cast<value*>(scratch));
  }

 private:
  enum sum : std::size_t { update, reset, next, kept };
  using blocks = detail::unit_blocks<Arch, value, Hidden>;
  using vec = typename blocks::vec;

  template <std::size_t N, std::size_t Sums>
  LEVADA_INLINE void begin(std::size_t b, vec (&sums)[N][Sums]) const {
    detail::unrolled<N, Sums>([&](std::size_t n, std::size_t s) LEVADA_INLINE { sums[n][s] = bias_.get(s, b + n); });
  }
  LEVADA_INLINE static vec mixed(const vec& z, const vec& n, const vec& h) {
    return detail::multiply_add(z, h - n, n);  // (1 - z) n + z h
  }

  void in_one_pass(const value* x, const value* h, value* out) const {
    using namespace detail;
    blocks::template for_each<2>([&](std::size_t b, auto count) LEVADA_INLINE {
      vec sums[count][4];
      begin(b, sums);
      input_.template add<update, reset, next>(b, x, sums);
      gates_.template add<update, reset>(b, h, sums);
      next_.template add<kept>(b, h, sums);
      unrolled<count>([&](std::size_t n) LEVADA_INLINE {
        const vec r = sigmoid_in(sums[n][reset]);
        const vec made = tanh_in(multiply_add(r, sums[n][kept], sums[n][next]));
        blocks::store(out, b + n, mixed(sigmoid_in(sums[n][update]), made, blocks::load(h, b + n)));
      });
    });
  }

  void in_two_passes(const value* x, const value* h, value* out, value* scratch) const {
    using namespace detail;
    value *const z = scratch, *const begun = z + Hidden, *const kept_state = begun + Hidden;
    blocks::template for_each<2>([&](std::size_t b, auto count) LEVADA_INLINE {
      vec sums[count][3];
      begin(b, sums);
      input_.template add<update, reset, next>(b, x, sums);
      gates_.template add<update, reset>(b, h, sums);
      unrolled<count>([&](std::size_t n) LEVADA_INLINE {
        blocks::store(z, b + n, sigmoid_in(sums[n][update]));
        blocks::store(begun, b + n, sums[n][next]);
        blocks::store(kept_state, b + n, sigmoid_in(sums[n][reset]) * blocks::load(h, b + n));
      });
    });
    blocks::template for_each<4>([&](std::size_t b, auto count) LEVADA_INLINE {
      vec sums[count][1];
      unrolled<count>([&](std::size_t n) LEVADA_INLINE { sums[n][0] = blocks::load(begun, b + n); });
      next_.template add<0>(b, kept_state, sums);
      unrolled<count>([&](std::size_t n) LEVADA_INLINE {
        blocks::store(out, b + n, mixed(blocks::load(z, b + n), tanh_in(sums[n][0]), blocks::load(h, b + n)));
      });
    });
  }

  detail::packed_gates<Arch, value, X::elements, Hidden, update, reset, next> input_;
  detail::packed_gates<Arch, value, Hidden, Hidden, update, reset> gates_;
  detail::packed_gates<Arch, value, Hidden, Hidden, next> next_;
  detail::packed_units<Arch, value, Hidden, 4> bias_;
};

template <class Arch, class In, std::size_t Hidden, class... Options>
  requires op_takes<lstm_op<Hidden, Options...>, In>
struct simd_kernel<Arch, In, lstm_op<Hidden, Options...>> {
  using op_type = lstm_op<Hidden, Options...>;
  using value = detail::step_value_t<In>;

  static constexpr std::size_t scratch_bytes = 0;

  simd_kernel(const op_type&, parameter_values p) : input_(p.get<value>(0)), state_(p.get<value>(1)) {
    for (std::size_t u = 0; u < Hidden; ++u) {
      if constexpr (op_type::has_bias)
        for (std::size_t g = 0; g < 4; ++g)
          bias_.set(g, u, p.get<value>(2)[g * Hidden + u] + p.get<value>(2)[(4 + g) * Hidden + u]);
      if constexpr (op_type::has_peepholes)
        for (std::size_t g = 0; g < 3; ++g)
          peephole_.set(g, u, p.get<value>(op_type::has_bias ? 3 : 2)[g * Hidden + u]);
    }
  }

  void operator()(const auto& in, typename op_type::template output<In>& out, std::byte*) const {
    const auto& [h, c] = detail::hidden_and_cell(in);
    step(std::get<0>(in).data(), h.data(), c.data(), out);
  }

 private:
  enum gate : std::size_t { input, output, forget, cell };
  using blocks = detail::unit_blocks<Arch, value, Hidden>;
  using vec = typename blocks::vec;

  void step(const value* x, const value* h, const value* c, typename op_type::template output<In>& out) const {
    using namespace detail;
    value *const hidden = std::get<0>(out).data(), *const cells = std::get<1>(out).data();
    blocks::template for_each<2>([&](std::size_t b, auto count) LEVADA_INLINE {
      vec sums[count][4];
      unrolled<count, 4>([&](std::size_t n, std::size_t g) LEVADA_INLINE { sums[n][g] = bias_.get(g, b + n); });
      input_.template add<input, output, forget, cell>(b, x, sums);
      state_.template add<input, output, forget, cell>(b, h, sums);
      unrolled<count>([&](std::size_t n) LEVADA_INLINE {
        const vec before = blocks::load(c, b + n);
        const vec i = sigmoid_in(seeing(input, b + n, sums[n][input], before));
        const vec f = sigmoid_in(seeing(forget, b + n, sums[n][forget], before));
        const vec now = multiply_add(f, before, i * tanh_in(sums[n][cell]));
        const vec o = sigmoid_in(seeing(output, b + n, sums[n][output], now));
        blocks::store(hidden, b + n, o * tanh_in(now));
        blocks::store(cells, b + n, now);
      });
    });
  }
  /// The sum of a gate that sees the cell, where there are peepholes.
  LEVADA_INLINE vec seeing(gate g, std::size_t block, const vec& sum, const vec& cells) const {
    if constexpr (op_type::has_peepholes)
      return detail::multiply_add(peephole_.get(g, block), cells, sum);
    else
      return sum;
  }

  detail::packed_gates<Arch, value, detail::step_input_t<In>::elements, Hidden, input, output, forget, cell> input_;
  detail::packed_gates<Arch, value, Hidden, Hidden, input, output, forget, cell> state_;
  detail::packed_units<Arch, value, Hidden, 4> bias_;
  [[no_unique_address]] std::conditional_t<op_type::has_peepholes, detail::packed_units<Arch, value, Hidden, 3>,
                                           std::tuple<>>
      peephole_;
};

}  // namespace levada
