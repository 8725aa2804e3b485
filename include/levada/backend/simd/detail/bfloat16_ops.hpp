// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/bfloat16_ops.hpp: ops of bfloat16 without weights. Functions of the elements of equal tensors, a
// residual sum among them, are one pass in registers; pools are computed plane by plane in float, and all else as the
// whole tensors of float.

#include <tuple>
#include <utility>

#include <levada/backend/detail/define/bfloat16.hpp>
#include <levada/backend/simd/detail/bfloat16_pairs.hpp>
#include <levada/backend/simd/detail/broadcast.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/pool2d.hpp>
#include <levada/backend/simd/detail/transform.hpp>
#include <levada/nn/activation.hpp>

namespace levada {

namespace detail {

/// Vectors of numbers.
template <class Arch>
struct simd_bfloat16_steps {
  template <std::size_t Count>
  static void widen(const bfloat16* from, float* to) {
    for_each_vector<float, Arch, Count>(
        [&](std::size_t i)
            LEVADA_INLINE { load_rounded<lanes_in<float, Arch>, Arch>(from + i).store_unaligned(to + i); },
        [&](std::size_t i, auto n) LEVADA_INLINE { store_part<n>(to + i, load_rounded<n, Arch>(from + i)); });
  }
  template <std::size_t Count>
  static void round(const float* from, bfloat16* to, const result_range& range) {
    finish_sums<Count, Arch>(from, to, range);
  }
};

/// A function of the elements at one place of tensors of `Count` elements each.
template <class Arch, std::size_t Count, class F>
class simd_bfloat16_function {
 public:
  static constexpr std::size_t scratch_bytes = 0;

  simd_bfloat16_function(const F& function, const result_range& range) : function_(function), range_(range) {}

  template <class... From>
  void apply(bfloat16* to, const From*... from) const {
    for_each_vector<float, Arch, Count>([&](std::size_t i)
                                            LEVADA_INLINE { part<lanes_in<float, Arch>>(to + i, from + i...); },
                                        [&](std::size_t i, auto n) LEVADA_INLINE { part<n>(to + i, from + i...); });
  }

 private:
  template <std::size_t N, class... From>
  LEVADA_INLINE void part(bfloat16* to, const From*... from) const {
    store_rounded<N>(to, kept_in<Arch>(range_, computed(simd_value<float, Arch>{load_rounded<N, Arch>(from)}...)));
  }
  template <class... V>
  LEVADA_INLINE vector<float, Arch> computed(const V&... x) const {
    return kernel_detail::lift<float>(kernel_detail::first_value(x...), function_(x...)).rep;
  }

  [[no_unique_address]] F function_;
  result_range range_;
};

/// All that is computed is the range.
struct same_number {
  constexpr auto operator()(auto x) const { return x; }
};

/// `F` gives float for floats of one shape.
template <class Arch, class F, class... In>
inline constexpr bool joins_equal_tensors = false;
template <class Arch, class F, class First, class... Rest>
  requires op_takes<in_bfloat16_op<broadcast_op<F>>, std::tuple<First, Rest...>> &&
               (std::same_as<First, Rest> && ...) && vectorizes_all<Arch, F, First, Rest...>
inline constexpr bool joins_equal_tensors<Arch, F, First, Rest...> =
    std::same_as<broadcast_element_t<F, std::tuple<First, Rest...>>, float>;

}  // namespace detail

template <class Arch, class In, class Op>
  requires op_takes<in_bfloat16_op<Op>, In> && op_kernel<simd_on<Arch>, detail::in_floats_t<In>, Op>
struct simd_kernel<Arch, In, in_bfloat16_op<Op>>
    : detail::computed_in_floats<simd_on<Arch>, In, Op, detail::simd_bfloat16_steps<Arch>> {
  using simd_kernel::computed_in_floats::computed_in_floats;
};

template <class Arch, class First, class... Rest, class F>
  requires detail::joins_equal_tensors<Arch, F, First, Rest...>
struct simd_kernel<Arch, std::tuple<First, Rest...>, in_bfloat16_op<broadcast_op<F>>>
    : detail::simd_bfloat16_function<Arch, First::elements, F> {
  simd_kernel(const in_bfloat16_op<broadcast_op<F>>& op, parameter_values)
      : detail::simd_bfloat16_function<Arch, First::elements, F>(op.in_float.function, op.range) {}

  void operator()(const auto& in, First& out, std::byte*) const {
    std::apply([&](const auto&... tensors) { this->apply(out.data(), tensors.data()...); }, in);
  }
};

template <class Arch, std::size_t... Dims>
struct simd_kernel<Arch, tensor<bfloat16, Dims...>, in_bfloat16_op<relu_op>>
    : detail::simd_bfloat16_function<Arch, (Dims * ... * 1), detail::same_number> {
  using item = tensor<bfloat16, Dims...>;

  simd_kernel(const in_bfloat16_op<relu_op>& op, parameter_values)
      : simd_kernel::simd_bfloat16_function({}, not_below_zero.then(op.range)) {}

  void operator()(const item& in, item& out, std::byte*) const { this->apply(out.data(), in.data()); }
};

template <class Arch, std::size_t Channels, std::size_t Height, std::size_t Width, class... Options>
  requires op_takes<max_pool2d_op<Options...>, tensor<bfloat16, Channels, Height, Width>> &&
           detail::dense_pool<max_pool2d_op<Options...>>
struct simd_kernel<Arch, tensor<bfloat16, Channels, Height, Width>, max_pool2d_op<Options...>> {
  using op_type = max_pool2d_op<Options...>;
  using item = tensor<bfloat16, Channels, Height, Width>;
  using out_type = typename op_type::template output<item>;

 private:
  using plane = tensor<float, 1, Height, Width>;
  using out_plane = typename op_type::template output<plane>;
  using pool = detail::simd_pool_run<Arch, plane, op_type>;
  using steps = detail::simd_bfloat16_steps<Arch>;
  static constexpr std::size_t in_bytes = detail::round_up(sizeof(plane), 64),
                               out_bytes = detail::round_up(sizeof(out_plane), 64);

 public:
  static constexpr std::size_t scratch_bytes = in_bytes + out_bytes + pool::scratch_bytes;

  simd_kernel(const op_type& op, parameter_values p) : pool_(op, p) {}

  void operator()(const item& in, out_type& out, std::byte* scratch) const {
    auto& wide = *::new (static_cast<void*>(scratch)) plane;
    auto& largest = *::new (static_cast<void*>(scratch + in_bytes)) out_plane;
    for (std::size_t c = 0; c < Channels; ++c) {
      steps::template widen<plane::elements>(in.data() + c * plane::elements, wide.data());
      pool_(wide, largest, scratch + in_bytes + out_bytes);
      steps::template round<out_plane::elements>(largest.data(), out.data() + c * out_plane::elements, {});
    }
  }

 private:
  [[no_unique_address]] pool pool_;
};

}  // namespace levada
