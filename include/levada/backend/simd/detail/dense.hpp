// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/dense.hpp: the fully connected layer, lanes over the inputs, several outputs at a time; of many
// rows lanes over the outputs. A bias, a relu and transforms behind it are in the same kernel.

#include <levada/backend/simd/detail/join.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/packed_product.hpp>
#include <levada/backend/simd/detail/tail.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/graph/detail/tile_range.hpp>
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

  void operator()(const T* in, T* out) const { block<1, tile>(in, out); }
  void of_tiles(const T* in, T* out, tile_range some) const {
    for (std::size_t t = some.begin; t < std::min(some.end, Outputs / tile); ++t) outputs<1, tile>(in, out, t * tile);
    if constexpr (Outputs % tile != 0)
      if (some.end == tiles) outputs<1, Outputs % tile>(in, out, Outputs / tile * tile);
  }

  /// Of `Items` inputs that lie side by side: every weight is fetched once for several of them.
  template <std::size_t Items>
  void of_batch(const T* in, T* out) const {
    constexpr std::size_t together = std::min<std::size_t>(Items, registers >= 32 ? 4 : 2);
    constexpr std::size_t at_once = std::min<std::size_t>(Outputs, 5);
    constexpr std::size_t whole = Outputs / at_once * at_once;
    for (std::size_t o = 0; o < whole; o += at_once) batch_outputs<Items, together, at_once>(in, out, o);
    if constexpr (whole != Outputs) batch_outputs<Items, together, Outputs - whole>(in, out, whole);
  }

 private:
  static constexpr std::size_t lanes = lanes_in<T, Arch>;
  static constexpr std::size_t registers = lanes * sizeof(T) >= 64 ? 32 : 16;
  // Rows are padded with zero weights to whole vectors.
  static constexpr std::size_t pitch = round_up(Inputs, lanes), vectors = Inputs / lanes, rest = Inputs % lanes;
  // A multiply-add takes four cycles and two start in each: eight or more must be in flight.
  static constexpr std::size_t tile = Outputs % 5 == 0 ? 5 : Outputs < 8 ? Outputs : 8;
  static constexpr bool is_streamed = streams_weights<Outputs * pitch * sizeof(T)>;

 public:
  static constexpr std::size_t tiles = ceil_div(Outputs, tile);

 private:
  template <std::size_t Items, std::size_t Tile>
  LEVADA_INLINE void block(const T* in, T* out) const {
    constexpr std::size_t whole = Outputs / Tile * Tile;
    for (std::size_t o = 0; o < whole; o += Tile) outputs<Items, Tile>(in, out, o);
    if constexpr (whole != Outputs) outputs<Items, Outputs - whole>(in, out, whole);
  }
  template <std::size_t Items, std::size_t Together, std::size_t N>
  LEVADA_INLINE void batch_outputs(const T* in, T* out, std::size_t first) const {
    constexpr std::size_t whole = Items / Together * Together;
    for (std::size_t i = 0; i < whole; i += Together) outputs<Together, N>(in + i * Inputs, out + i * Outputs, first);
    if constexpr (whole != Items) outputs<Items - whole, N>(in + whole * Inputs, out + whole * Outputs, first);
  }

  /// `N` outputs of `Items` inputs.
  template <std::size_t Items, std::size_t N>
  LEVADA_INLINE void outputs(const T* in, T* out, std::size_t first) const {
    using vec = vector<T, Arch>;
    constexpr std::size_t chains = ceil_div(8, N * Items);
    const T* weight = weight_.data() + first * pitch;
    vec sums[Items][N][chains];
    unrolled<Items, N, chains>([&](std::size_t b, std::size_t n, std::size_t c)
                                   LEVADA_INLINE { sums[b][n][c] = vec(T{0}); });
    const auto add = [&](std::size_t at, std::size_t c, const vec(&x)[Items]) LEVADA_INLINE {
      unrolled<N>([&](std::size_t n) LEVADA_INLINE {
        if constexpr (is_streamed)
          fetch_ahead(reinterpret_cast<std::uintptr_t>(weight + n * pitch + at) + N * pitch * sizeof(T));
        vec w = load<T, Arch>(weight + n * pitch + at);
        if constexpr (Items > 1) keep<T, Arch>(w);
        unrolled<Items>([&](std::size_t b) LEVADA_INLINE { sums[b][n][c] = multiply_add(x[b], w, sums[b][n][c]); });
      });
    };
    std::size_t i = 0;
    vec x[Items];
    for (; i + chains * lanes <= vectors * lanes; i += chains * lanes)
      unrolled<chains>([&](std::size_t c) LEVADA_INLINE {
        unrolled<Items>([&](std::size_t b) LEVADA_INLINE { x[b] = load<T, Arch>(in + b * Inputs + i + c * lanes); });
        add(i + c * lanes, c, x);
      });
    for (; i < vectors * lanes; i += lanes) {
      unrolled<Items>([&](std::size_t b) LEVADA_INLINE { x[b] = load<T, Arch>(in + b * Inputs + i); });
      add(i, 0, x);
    }
    if constexpr (rest != 0) {
      unrolled<Items>([&](std::size_t b) LEVADA_INLINE { x[b] = load_part<rest, T, Arch>(in + b * Inputs + i); });
      add(i, 0, x);
    }
    unrolled<Items>([&](std::size_t b) LEVADA_INLINE {
      unrolled<N>([&](std::size_t n) LEVADA_INLINE {
        unrolled<chains - 1>([&](std::size_t c) LEVADA_INLINE { sums[b][n][0] = sums[b][n][0] + sums[b][n][c + 1]; });
        const T result = sum_of(sums[b][n][0]) + bias_[first + n];
        out[b * Outputs + first + n] = Relu && result < 0 ? T{0} : result;
      });
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
  using dense =
      simd_dense<Arch, typename In::value_type, In::elements, Op::outputs, (std::same_as<Tail, relu_op> || ...)>;

 public:
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;
  static constexpr std::size_t tiles = (is_transform<Tail> || ...) ? 1 : dense::tiles;

  simd_dense_run(parameter_values p, const Tail&... tail)
      : dense_(p.get<value>(0), Op::has_bias ? p.get<value>(1) : nullptr,
               biased ? p.get<value>(Op::has_bias ? 2 : 1) : nullptr),
        epilogue_(epilogue_of<Arch, value>(tail...)) {}

  template <class Out>
  void operator()(const In& in, Out& out, std::byte*) const {
    dense_(in.data(), out.data());
    epilogue_.template apply<Op::outputs>(out.data());
  }
  template <class Out, class Join>
  void operator()(const In& in, Out& out, std::byte* scratch, const Join& join) const {
    (*this)(in, out, scratch);
    value* const to = out.data();
    for_each_vector<value, Arch, Op::outputs>(
        [&](std::size_t i) {
          constexpr std::integral_constant<std::size_t, lanes_in<value, Arch>> whole;
          join(load<value, Arch>(to + i), 0, i, whole).store_unaligned(to + i);
        },
        [&](std::size_t i, auto n) { store_part<n>(to + i, join(load_part<n, value, Arch>(to + i), 0, i, n)); });
  }
  template <class Out>
  void of_tiles(const In& in, Out& out, std::byte*, tile_range some) const {
    dense_.of_tiles(in.data(), out.data(), some);
  }
  template <class Batch, class Out>
  void of_batch(const Batch& in, Out& out) const {
    dense_.template of_batch<Batch::items>(in.data(), out.data());
    epilogue_.template apply<Batch::items * Op::outputs>(out.data());
  }

 private:
  static constexpr bool biased = (std::same_as<Tail, bias_op> || ...);

  dense dense_;
  [[no_unique_address]] epilogue_t<Arch, value, Tail...> epilogue_;
};

/// The same of several rows, which no bias follows: that is along the first axis.
template <class Arch, class In, class Op, class... Tail>
class simd_dense_rows {
 public:
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  simd_dense_rows(parameter_values p, const Tail&... tail)
      : product_([weight = p.get<value>(0)](std::size_t k, std::size_t o) { return weight[o * inputs + k]; }),
        epilogue_(epilogue_of<Arch, value>(tail...)) {
    if constexpr (Op::has_bias) std::memcpy(bias_.data(), p.get<value>(1), sizeof bias_.values);
  }

  template <class Out, class Join = no_join>
  void operator()(const In& in, Out& out, std::byte*, const Join& join = {}) const {
    using vec = vector<value, Arch>;
    product_(
        in.data(), out.data(),
        [&](std::size_t column, auto count) LEVADA_INLINE { return load_part<count, value, Arch>(&bias_[column]); },
        [&](const vec& sum, std::size_t row, std::size_t column, auto count) LEVADA_INLINE {
          if constexpr (op_tail_of<Tail...>().relu)
            return join(epilogue_(relu_of(sum)), row, column, count);
          else
            return join(epilogue_(sum), row, column, count);
        });
  }

 private:
  static constexpr std::size_t inputs = In::extents[In::rank - 1], rows = In::elements / inputs;

  packed_product<Arch, value, rows, inputs, Op::outputs> product_;
  tensor<value, Op::outputs> bias_{};
  [[no_unique_address]] epilogue_t<Arch, value, Tail...> epilogue_;
};

template <class Arch, class In, class Op, class... Tail>
using simd_dense_of = std::conditional_t<In::elements == In::extents[In::rank - 1],
                                         simd_dense_run<Arch, In, Op, Tail...>, simd_dense_rows<Arch, In, Op, Tail...>>;

}  // namespace detail

template <class Arch, class In, std::size_t Outputs, class... Options, class... Tail>
  requires op_takes<dense_op<Outputs, Options...>, In> &&
           detail::run_takes<In, dense_op<Outputs, Options...>, Tail...> &&
           detail::dense_tail<typename In::value_type, Tail...> &&
           (In::rank == 1 || !detail::op_tail_of<Tail...>().bias)
struct simd_kernel<Arch, In, dense_op<Outputs, Options...>, Tail...>
    : detail::simd_dense_of<Arch, In, dense_op<Outputs, Options...>, Tail...> {
  simd_kernel(const dense_op<Outputs, Options...>&, const Tail&... tail, parameter_values p)
      : detail::simd_dense_of<Arch, In, dense_op<Outputs, Options...>, Tail...>(p, tail...) {}
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

/// A batch as a product of two matrices.
template <class Arch, class Item, std::size_t N, std::size_t Outputs, class... Options, class... Tail>
  requires(Item::rank == 1) && op_takes<dense_op<Outputs, Options...>, Item> &&
          detail::run_takes<Item, dense_op<Outputs, Options...>, Tail...> &&
          detail::dense_tail<typename Item::value_type, Tail...>
struct simd_batch_kernel<Arch, batch_tensor<Item, N>, dense_op<Outputs, Options...>, Tail...>
    : detail::simd_dense_run<Arch, Item, dense_op<Outputs, Options...>, Tail...> {
  simd_batch_kernel(const dense_op<Outputs, Options...>&, const Tail&... tail, parameter_values p)
      : detail::simd_dense_run<Arch, Item, dense_op<Outputs, Options...>, Tail...>(p, tail...) {}
  static constexpr std::size_t tiles = 1;
  void operator()(const batch_tensor<Item, N>& in, auto& out, std::byte*) const { this->of_batch(in, out); }
};
template <class Arch, class Item, std::size_t N, std::size_t Outputs, class... Options, class... Tail>
  requires op_takes<dense_op<Outputs, Options...>, flatten_op::output<Item>> &&
           detail::run_takes<Item, flatten_op, dense_op<Outputs, Options...>, Tail...> &&
           detail::dense_tail<typename Item::value_type, Tail...>
struct simd_batch_kernel<Arch, batch_tensor<Item, N>, flatten_op, dense_op<Outputs, Options...>, Tail...>
    : detail::simd_dense_run<Arch, Item, dense_op<Outputs, Options...>, Tail...> {
  simd_batch_kernel(const flatten_op&, const dense_op<Outputs, Options...>&, const Tail&... tail, parameter_values p)
      : detail::simd_dense_run<Arch, Item, dense_op<Outputs, Options...>, Tail...>(p, tail...) {}
  static constexpr std::size_t tiles = 1;
  void operator()(const batch_tensor<Item, N>& in, auto& out, std::byte*) const { this->of_batch(in, out); }
};

}  // namespace levada
