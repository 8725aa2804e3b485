// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/dense.hpp: the fully connected layer, lanes over the inputs, several outputs at a time; a bias, a relu and
// transforms behind it in the same kernel.

#include <levada/backend/simd/kernel.hpp>
#include <levada/backend/simd/tail.hpp>
#include <levada/backend/simd/vector.hpp>
#include <levada/nn/dense.hpp>

namespace levada {

namespace detail {

/// dense (+ bias) (+ relu) of `Inputs` contiguous values.
template <class Arch, class T, std::size_t Inputs, std::size_t Outputs, bool Relu>
class simd_dense {
 public:
  simd_dense(const T* weight, const T* first_bias, const T* second_bias) {
    for (std::size_t o = 0; o < Outputs; ++o) {
      std::memcpy(&weight_[o * pitch], weight + o * Inputs, Inputs * sizeof(T));
      bias_[o] = (first_bias != nullptr ? first_bias[o] : T{0}) + (second_bias != nullptr ? second_bias[o] : T{0});
    }
  }

  void operator()(const T* in, T* out) const {
    constexpr std::size_t whole = Outputs / tile * tile;
    for (std::size_t o = 0; o < whole; o += tile) outputs<tile>(in, out, o);
    if constexpr (whole != Outputs) outputs<Outputs - whole>(in, out, whole);
  }

 private:
  static constexpr std::size_t lanes = lanes_in<T, Arch>;
  // Rows are padded with zero weights to whole vectors.
  static constexpr std::size_t pitch = round_up(Inputs, lanes), vectors = Inputs / lanes, rest = Inputs % lanes;
  // A multiply-add takes four cycles and two start in each: eight or more must be in flight.
  static constexpr std::size_t tile = Outputs % 5 == 0 ? 5 : Outputs < 8 ? Outputs : 8;

  template <std::size_t N>
  LEVADA_INLINE void outputs(const T* in, T* out, std::size_t first) const {
    using vec = vector<T, Arch>;
    constexpr std::size_t chains = ceil_div(8, N);
    const T* weight = weight_.data() + first * pitch;
    vec sums[N][chains];
    static_for<N>([&](auto n)
                      LEVADA_INLINE { static_for<chains>([&](auto c) LEVADA_INLINE { sums[n][c] = vec(T{0}); }); });
    std::size_t i = 0;
    for (; i + chains * lanes <= vectors * lanes; i += chains * lanes)
      static_for<chains>([&](auto c) LEVADA_INLINE {
        const vec x = load<T, Arch>(in + i + c * lanes);
        static_for<N>([&](auto n) LEVADA_INLINE {
          sums[n][c] = multiply_add(x, load<T, Arch>(weight + n * pitch + i + c * lanes), sums[n][c]);
        });
      });
    for (; i < vectors * lanes; i += lanes) {
      const vec x = load<T, Arch>(in + i);
      static_for<N>([&](auto n) LEVADA_INLINE {
        sums[n][0] = multiply_add(x, load<T, Arch>(weight + n * pitch + i), sums[n][0]);
      });
    }
    if constexpr (rest != 0) {
      const vec x = load_part<rest, T, Arch>(in + i);
      static_for<N>([&](auto n) LEVADA_INLINE {
        sums[n][0] = multiply_add(x, load<T, Arch>(weight + n * pitch + i), sums[n][0]);
      });
    }
    static_for<N>([&](auto n) LEVADA_INLINE {
      static_for<chains - 1>([&](auto c) LEVADA_INLINE { sums[n][0] = sums[n][0] + sums[n][c + 1]; });
      const T result = sum_of(sums[n][0]) + bias_[first + n];
      out[first + n] = Relu && result < 0 ? T{0} : result;
    });
  }

  tensor<T, Outputs * pitch> weight_{};
  tensor<T, Outputs> bias_;
};

/// What may follow a dense layer inside its kernel: a bias, then a relu, then transforms.
template <class T, class... Tail>
inline constexpr bool dense_tail = op_tail_of<Tail...>().fuses && !op_tail_of<Tail...>().pooled &&
                                   !op_tail_of<Tail...>().reshaped && (fits_epilogue<T, Tail> && ...);

/// The kernel of `Op` and its tail on the elements of an input, whatever its shape.
template <class Arch, class In, class Op, class... Tail>
class simd_dense_run {
 public:
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  simd_dense_run(parameter_values p, const Tail&... tail)
      : dense_(p.get<value>(0), Op::has_bias ? p.get<value>(1) : nullptr,
               biased ? p.get<value>(Op::has_bias ? 2 : 1) : nullptr),
        epilogue_(epilogue_of<Arch, value>(tail...)) {}

  void operator()(const In& in, tensor<value, Op::outputs>& out, std::byte*) const {
    dense_(in.data(), out.data());
    epilogue_.template apply<Op::outputs>(out.data());
  }

 private:
  static constexpr bool biased = (std::same_as<Tail, bias_op> || ...);

  simd_dense<Arch, value, In::elements, Op::outputs, (std::same_as<Tail, relu_op> || ...)> dense_;
  [[no_unique_address]] epilogue_t<Arch, value, Tail...> epilogue_;
};

}  // namespace detail

template <class Arch, class In, std::size_t Outputs, class... Options, class... Tail>
  requires op_takes<dense_op<Outputs, Options...>, In> &&
           detail::run_takes<In, dense_op<Outputs, Options...>, Tail...> &&
           detail::dense_tail<typename In::value_type, Tail...>
struct simd_kernel<Arch, In, dense_op<Outputs, Options...>, Tail...>
    : detail::simd_dense_run<Arch, In, dense_op<Outputs, Options...>, Tail...> {
  simd_kernel(const dense_op<Outputs, Options...>&, const Tail&... tail, parameter_values p)
      : detail::simd_dense_run<Arch, In, dense_op<Outputs, Options...>, Tail...>(p, tail...) {}
};

/// A flatten before a dense layer only renames axes.
template <class Arch, class In, std::size_t Outputs, class... Options, class... Tail>
  requires op_takes<dense_op<Outputs, Options...>, flatten_op::output<In>> &&
           detail::run_takes<In, flatten_op, dense_op<Outputs, Options...>, Tail...> &&
           detail::dense_tail<typename In::value_type, Tail...>
struct simd_kernel<Arch, In, flatten_op, dense_op<Outputs, Options...>, Tail...>
    : detail::simd_dense_run<Arch, In, dense_op<Outputs, Options...>, Tail...> {
  simd_kernel(const flatten_op&, const dense_op<Outputs, Options...>&, const Tail&... tail, parameter_values p)
      : detail::simd_dense_run<Arch, In, dense_op<Outputs, Options...>, Tail...>(p, tail...) {}
};

}  // namespace levada
