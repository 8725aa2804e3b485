// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/reduce.hpp: reductions of axes that stand side by side: along a row of vectors where they are the
// last ones, else down the columns of vectors. Axes apart, integers and log_sum_exp are left to the definition.

#include <cmath>

#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/kernel/detail/math.hpp>
#include <levada/kernel/detail/simd_machine.hpp>
#include <levada/nn/reduce.hpp>

namespace levada {

namespace detail {

/// A tensor as outer x joined x inner elements, where the reduced axes are side by side.
struct reduced_block {
  std::size_t outer = 1, joined = 1, inner = 1;
  bool whole = true;
};
constexpr reduced_block block_of(const shape& in, std::size_t mask) {
  reduced_block b;
  for (std::size_t axis = 0; axis < in.rank; ++axis)
    if ((mask >> axis & 1) != 0) {
      b.whole = b.whole && b.inner == 1;
      b.joined *= in[axis];
    } else {
      (b.joined > 1 ? b.inner : b.outer) *= in[axis];
    }
  return b;
}

}  // namespace detail

template <class Arch, class In, reduction How, reduced_axes Kept, std::ptrdiff_t... Axes>
  requires op_takes<reduce_op<How, Kept, Axes...>, In> && floating_tensor<In> && (How != reduction::log_sum_exp) &&
           (How != reduction::log_sum || std::same_as<typename In::value_type, float>) &&
           (detail::block_of(shape_of<In>, reduce_op<How, Kept, Axes...>::template mask<In>).whole)
struct simd_kernel<Arch, In, reduce_op<How, Kept, Axes...>>
    : detail::plain_simd_kernel<Arch, reduce_op<How, Kept, Axes...>> {
  using op_type = reduce_op<How, Kept, Axes...>;
  using detail::plain_simd_kernel<Arch, op_type>::plain_simd_kernel;
  using out_type = typename op_type::template output<In>;
  using value = typename In::value_type;

  void operator()(const In& in, out_type& out, std::byte*) const {
    using namespace detail;
    for (std::size_t o = 0; o < block.outer; ++o) {
      const value* from = in.data() + o * block.joined * block.inner;
      value* to = out.data() + o * block.inner;
      if constexpr (block.inner == 1)
        *to = along(from);
      else
        for_each_vector<value, Arch, block.inner>(
            [&](std::size_t i) { down<vec::size>(from + i).store_unaligned(to + i); },
            [&](std::size_t i, auto n) { store_part<n>(to + i, down<n>(from + i)); });
    }
  }

 private:
  using vec = detail::vector<value, Arch>;
  static constexpr detail::reduced_block block = detail::block_of(shape_of<In>, op_type::template mask<In>);
  static constexpr bool squares = How == reduction::l2 || How == reduction::sum_square;
  static constexpr bool adds = How == reduction::sum || How == reduction::mean || How == reduction::log_sum;
  static constexpr bool sums = squares || adds || How == reduction::l1;

  template <class T>
  LEVADA_INLINE static T first(const T& x) {
    using std::abs;
    if constexpr (squares) return x * x;
    if constexpr (How == reduction::l1) return abs(x);
    return x;
  }
  LEVADA_INLINE static vec joined(const vec& y, const vec& x) {
    if constexpr (squares) return detail::multiply_add(x, x, y);
    if constexpr (adds || How == reduction::l1) return y + first(x);
    if constexpr (How == reduction::prod) return y * x;
    if constexpr (How == reduction::max) return detail::maximum(y, x);
    if constexpr (How == reduction::min) return -detail::maximum<value, Arch>(-y, -x);
  }
  template <class T>
  LEVADA_INLINE static T finished(const T& y) {
    using std::sqrt;
    if constexpr (How == reduction::log_sum) {
      if constexpr (std::floating_point<T>)
        return std::log(y);
      else
        return log(simd_value<value, Arch>{y}).rep;
    }
    if constexpr (How == reduction::mean) return y / T(static_cast<value>(block.joined));
    if constexpr (How == reduction::l2) return sqrt(y);
    return y;
  }

  template <std::size_t Count>
  LEVADA_INLINE static vec down(const value* from) {
    vec y = first(detail::load_part<Count, value, Arch>(from));
    for (std::size_t j = 1; j < block.joined; ++j)
      y = joined(y, detail::load_part<Count, value, Arch>(from + j * block.inner));
    return finished(y);
  }

  static value along(const value* from) {
    constexpr std::size_t lanes = vec::size, vectors = block.joined / lanes, rest = block.joined % lanes;
    value y;
    std::size_t i = vectors * lanes;
    if constexpr (vectors != 0) {
      vec all = first(detail::load<value, Arch>(from));
      for (std::size_t v = 1; v < vectors; ++v) all = joined(all, detail::load<value, Arch>(from + v * lanes));
      if constexpr (sums) {
        y = detail::sum_of(all);
      } else {
        alignas(Arch::alignment()) value values[lanes];
        all.store_aligned(values);
        y = values[0];
        for (std::size_t k = 1; k < lanes; ++k) y = one(y, values[k]);
      }
    } else {
      y = first(from[0]);
      i = 1;
    }
    if constexpr (rest != 0)
      for (; i < block.joined; ++i) y = one(y, from[i]);
    return finished(y);
  }
  static value one(value y, value x) {
    if constexpr (sums) return y + first(x);
    if constexpr (How == reduction::prod) return y * x;
    if constexpr (How == reduction::max) return x > y || x != x ? x : y;
    if constexpr (How == reduction::min) return x < y || x != x ? x : y;
  }
};

}  // namespace levada
