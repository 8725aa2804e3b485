// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/tail.hpp: what follows an op in the same kernel. Bias, relu, pool and shape are part of how it
// computes; the transforms behind them are an epilogue, computed while the results are in registers or the nearest
// cache.

#include <levada/backend/simd/detail/transform.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/bias.hpp>
#include <levada/nn/pool2d.hpp>
#include <levada/nn/reshape.hpp>

namespace levada::detail {

template <class Op>
inline constexpr bool is_transform = false;
template <class F>
inline constexpr bool is_transform<transform_op<F>> = true;

template <class Op>
inline constexpr bool is_max_pool2d = false;
template <class... Options>
inline constexpr bool is_max_pool2d<max_pool2d_op<Options...>> = true;

template <class Op>
inline constexpr bool is_reshape = std::is_same_v<Op, flatten_op>;
template <std::size_t... Dims>
inline constexpr bool is_reshape<reshape_op<Dims...>> = true;

/// What follows a convolution or a dense layer: bias, relu and max_pool2d in this order (the last two also the other
/// way round, which is the same), then transforms, then a change of shape. Pools with padding, dilation or overlapping
/// windows do not fuse.
struct op_tail {
  bool fuses = true, bias = false, relu = false, pooled = false, transformed = false, reshaped = false;
  window2d pool{};

  template <class Op>
  constexpr void follow() {
    if constexpr (std::is_same_v<Op, bias_op>) {
      fuses = fuses && !bias && !relu && !pooled && !transformed && !reshaped;
      bias = true;
    } else if constexpr (std::is_same_v<Op, relu_op>) {
      fuses = fuses && !relu && !transformed && !reshaped;
      relu = true;
    } else if constexpr (is_transform<Op>) {
      fuses = fuses && !reshaped;
      transformed = true;
    } else if constexpr (is_max_pool2d<Op>) {
      pool = Op::window;
      fuses = fuses && !pooled && !transformed && !reshaped && pool.top == 0 && pool.left == 0 && pool.bottom == 0 &&
              pool.right == 0 && pool.dense_taps() && pool.stride_y >= pool.height && pool.stride_x >= pool.width;
      pooled = true;
    } else {
      fuses = fuses && is_reshape<Op> && !reshaped;
      reshaped = true;
    }
  }
};

template <class... Tail>
consteval op_tail op_tail_of() {
  op_tail tail;
  (tail.template follow<Tail>(), ...);
  return tail;
}

/// The functions of these transforms, one after the other, of float; a convolution says of which filter a vector is, or
/// which is the first of those that it has.
template <class Arch, class T, class... F>
struct simd_epilogue {
  [[no_unique_address]] composed<F...> function;

  LEVADA_INLINE vector<T, Arch> operator()(const vector<T, Arch>& x) const {
    return transformed_vector<Arch, T, T>(function, x);
  }
  LEVADA_INLINE vector<T, Arch> of_filter(const vector<T, Arch>& x, std::size_t) const { return (*this)(x); }
  LEVADA_INLINE vector<T, Arch> of_filters(const vector<T, Arch>& x, std::size_t) const { return (*this)(x); }

  /// `Count` elements in their places.
  template <std::size_t Count>
  void apply(T* values) const {
    for_each_vector<T, Arch, Count>(
        [&](std::size_t i) { (*this)(load<T, Arch>(values + i)).store_unaligned(values + i); },
        [&](std::size_t i, auto n) { store_part<n>(values + i, (*this)(load_part<n, T, Arch>(values + i))); });
  }
};
template <class Arch, class T>
struct simd_epilogue<Arch, T> {
  LEVADA_INLINE const vector<T, Arch>& operator()(const vector<T, Arch>& x) const { return x; }
  LEVADA_INLINE const vector<T, Arch>& of_filter(const vector<T, Arch>& x, std::size_t) const { return x; }
  LEVADA_INLINE const vector<T, Arch>& of_filters(const vector<T, Arch>& x, std::size_t) const { return x; }
  template <std::size_t Count>
  void apply(T*) const {}
};

/// An epilogue as a kernel has it at hand: a copy where results that are written could change its numbers.
template <class Epilogue>
LEVADA_INLINE constexpr decltype(auto) at_hand(const Epilogue& epilogue) {
  if constexpr (requires { typename Epilogue::local; })
    return typename Epilogue::local(epilogue);
  else
    return (epilogue);
}

/// An op of a tail is none of the epilogue's, or one that it can compute.
template <class T, class Op>
inline constexpr bool fits_epilogue = true;
template <class T, class F>
inline constexpr bool fits_epilogue<T, transform_op<F>> = [] {
  if constexpr (std::same_as<T, float>)
    return std::same_as<transformed_t<F, float>, float>;
  else
    return false;
}();

/// `make` of the functions of the transforms among these ops. (Not by a tuple of them: with g++ 12 a closure that was
/// an element of one makes classes that hold it not trivially copyable, and a device then refuses its captures.)
template <class Make>
constexpr auto with_functions(const Make& make) {
  return make();
}
template <class Make, class Op, class... Rest>
constexpr auto with_functions(const Make& make, const Op& op, const Rest&... rest) {
  if constexpr (is_transform<Op>)
    return with_functions([&](const auto&... behind) { return make(op.function, behind...); }, rest...);
  else
    return with_functions(make, rest...);
}

/// The epilogue that the transforms among the ops of a tail make.
template <class Arch, class T, class... Tail>
constexpr auto epilogue_of(const Tail&... tail) {
  return with_functions(
      []<class... F>(const F&... functions) {
        if constexpr (sizeof...(F) == 0)
          return simd_epilogue<Arch, T>{};
        else
          return simd_epilogue<Arch, T, F...>{compose(functions...)};
      },
      tail...);
}
template <class Arch, class T, class... Tail>
using epilogue_t = decltype(epilogue_of<Arch, T>(std::declval<const Tail&>()...));

}  // namespace levada::detail
