// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/simd_machine.hpp: the lambda of a kernel called with SIMD vectors, for any architecture of xsimd.
// Compile with -ffp-contract=off where the bits have to equal another lowering's: compilers fuse a * b + c otherwise.

#include <algorithm>
#include <bit>
#include <tuple>

#include <levada/kernel/detail/math.hpp>
#include <levada/kernel/detail/value.hpp>
#include <levada/kernel/detail/xsimd.hpp>

namespace levada {

/// The machine whose values are as many elements as a vector of `Arch` holds.
template <class Arch>
struct simd_machine {
  using floats = xsimd::batch<float, Arch>;
  using ints = xsimd::batch<std::int32_t, Arch>;
  using uints = xsimd::batch<std::uint32_t, Arch>;
  using mask = xsimd::batch_bool<float, Arch>;
  static constexpr std::size_t lanes = floats::size;

  template <class T>
  using representation = std::conditional_t<std::is_same_v<T, bool>, mask, xsimd::batch<T, Arch>>;

  template <class T, class Like>
  static representation<T> literal(const representation<Like>&, T x) {
    return representation<T>(x);
  }
  template <class T, class Like>
  static representation<T> captured(const representation<Like>&, const uniform<T>& u) {
    return representation<T>(u.value);
  }

  /// In all lanes what is the same for them, in each its own of a range; see kernel/detail/lane_range.hpp.
  template <class T, class Other>
  static representation<T> from(const auto& rep) {
    if constexpr (std::is_same_v<Other, simd_machine>) {
      return rep;
    } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(rep)>, T>) {
      return representation<T>(rep);
    } else {
      return rep.vector();
    }
  }

  template <ir::opcode Op, class Result>
  static representation<Result> apply(const auto& a) {
    if constexpr (Op == ir::opcode::negate) {
      return xsimd::bitwise_cast<floats>(xsimd::bitwise_cast<uints>(a) ^ uints(0x80000000u));
    } else if constexpr (Op == ir::opcode::abs) {
      return xsimd::bitwise_cast<floats>(xsimd::bitwise_cast<uints>(a) & uints(0x7fffffffu));
    } else if constexpr (Op == ir::opcode::floor) {
      if constexpr (has_rounding) return xsimd::floor(a);
      const floats nearest = round_even(a);
      return choose(a < nearest, nearest - floats(1.0f), nearest);
    } else if constexpr (Op == ir::opcode::round_even) {
      return round_even(a);
    } else if constexpr (Op == ir::opcode::sqrt) {
      return xsimd::sqrt(a);
    } else if constexpr (Op == ir::opcode::bit_not) {
      return ~a;
    } else if constexpr (Op == ir::opcode::convert) {
      if constexpr (std::is_same_v<Result, float>) {
        return xsimd::to_float(a);
      } else {
        return xsimd::to_int(a);
      }
    } else {
      static_assert(Op == ir::opcode::bitcast);
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(a)>, representation<Result>>) {
        return a;
      } else {
        return xsimd::bitwise_cast<representation<Result>>(a);
      }
    }
  }

  template <ir::opcode Op, class Result>
  static representation<Result> apply(const auto& a, const auto& b) {
    if constexpr (Op == ir::opcode::add) {
      return a + b;
    } else if constexpr (Op == ir::opcode::sub) {
      return a - b;
    } else if constexpr (Op == ir::opcode::mul) {
      // Where xsimd multiplies number by number, an int32 must not overflow.
      if constexpr (std::is_same_v<Result, std::int32_t>)
        return xsimd::bitwise_cast<ints>(xsimd::bitwise_cast<uints>(a) * xsimd::bitwise_cast<uints>(b));
      else
        return a * b;
    } else if constexpr (Op == ir::opcode::div) {
      return a / b;
    } else if constexpr (Op == ir::opcode::min) {
      if constexpr (has_second_of_equals && std::is_same_v<Result, float>) return xsimd::min(b, a);
      return choose(b < a, b, a);
    } else if constexpr (Op == ir::opcode::max) {
      if constexpr (has_second_of_equals && std::is_same_v<Result, float>) return xsimd::max(b, a);
      return choose(a < b, b, a);
    } else if constexpr (Op == ir::opcode::equal) {
      return as_mask(equal(a, b));
    } else if constexpr (Op == ir::opcode::less) {
      return as_mask(a < b);
    } else if constexpr (Op == ir::opcode::less_equal) {
      return as_mask(a <= b);
    } else if constexpr (Op == ir::opcode::bit_and) {
      return a & b;
    } else if constexpr (Op == ir::opcode::bit_or) {
      return a | b;
    } else if constexpr (Op == ir::opcode::bit_xor) {
      return exclusive(a, b);
    } else if constexpr (Op == ir::opcode::shift_left) {
      return lane_by_lane(a, b, [](auto x, auto n) { return std::bit_cast<decltype(x)>(std::uint32_t(x) << n); });
    } else {
      static_assert(Op == ir::opcode::shift_right);
      return lane_by_lane(a, b, [](auto x, auto n) { return x >> n; });
    }
  }

  template <ir::opcode Op, class T>
  static xsimd::batch<T, Arch> shift(const xsimd::batch<T, Arch>& a, int amount) {
    if constexpr (Op == ir::opcode::shift_left) {
      return a << amount;
    } else {
      return a >> amount;
    }
  }

  template <ir::opcode Op, class Result>
  static representation<Result> apply(const mask& condition, const auto& a, const auto& b) {
    static_assert(Op == ir::opcode::select);
    return choose(condition, a, b);
  }

 private:
  // Elsewhere xsimd 8.1 rounds by sums that lose the sign of a zero.
  static constexpr bool has_rounding = std::is_base_of_v<xsimd::sse4_1, Arch> || std::is_base_of_v<xsimd::avx, Arch> ||
                                       std::is_base_of_v<xsimd::avx512f, Arch>;
  // x86 takes the second operand where neither is the smaller or larger, so of zeros and beside a NaN.
  static constexpr bool has_second_of_equals = std::is_base_of_v<xsimd::sse2, Arch> ||
                                               std::is_base_of_v<xsimd::avx, Arch> ||
                                               std::is_base_of_v<xsimd::avx512f, Arch>;

  static floats round_even(const floats& x) {
    if constexpr (has_rounding) return xsimd::nearbyint(x);
    const uints sign = xsimd::bitwise_cast<uints>(x) & uints(0x80000000u);
    const floats magnitude = apply<ir::opcode::abs, float>(x), shift(0x1p23f);
    const floats rounded = (magnitude + shift) - shift;
    return choose(magnitude < shift, xsimd::bitwise_cast<floats>(xsimd::bitwise_cast<uints>(rounded) | sign), x);
  }

  // Not by the masks' own ^: in xsimd 8.1 it is | on AVX-512.
  static mask exclusive(const mask& a, const mask& b) { return (a & ~b) | (~a & b); }
  template <class T>
  static auto exclusive(const xsimd::batch<T, Arch>& a, const xsimd::batch<T, Arch>& b) {
    return a ^ b;
  }
  static mask equal(const mask& a, const mask& b) { return ~exclusive(a, b); }
  template <class T>
  static auto equal(const xsimd::batch<T, Arch>& a, const xsimd::batch<T, Arch>& b) {
    return a == b;
  }

  // A mask of one type of element as the mask of another of the same size: the same register.
  template <class T, class C>
  static xsimd::batch_bool<T, Arch> mask_of(const xsimd::batch_bool<C, Arch>& m) {
    using target = xsimd::batch_bool<T, Arch>;
    return target(std::bit_cast<typename target::register_type>(m.data));
  }
  template <class C>
  static mask as_mask(const xsimd::batch_bool<C, Arch>& m) {
    return mask_of<float>(m);
  }

  template <class T, class C>
  static xsimd::batch<T, Arch> choose(const xsimd::batch_bool<C, Arch>& condition, const xsimd::batch<T, Arch>& a,
                                      const xsimd::batch<T, Arch>& b) {
    if constexpr (std::is_same_v<T, float>) {
      return xsimd::select(mask_of<float>(condition), a, b);
    } else {
      // As floats: without optimisation xsimd 8.1 does not compile a choice of integers for AVX-512.
      return xsimd::bitwise_cast<xsimd::batch<T, Arch>>(
          xsimd::select(mask_of<float>(condition), xsimd::bitwise_cast<floats>(a), xsimd::bitwise_cast<floats>(b)));
    }
  }
  static mask choose(const mask& condition, const mask& a, const mask& b) { return (condition & a) | (~condition & b); }

  // What xsimd has no vector instruction for on every architecture; compilers find it where there is one.
  template <class T>
  static xsimd::batch<T, Arch> lane_by_lane(const xsimd::batch<T, Arch>& a, const xsimd::batch<T, Arch>& b, auto f) {
    alignas(Arch::alignment()) T x[lanes], y[lanes];
    a.store_aligned(x);
    b.store_aligned(y);
    for (std::size_t i = 0; i < lanes; ++i) x[i] = f(x[i], y[i]);
    return xsimd::batch<T, Arch>::load_aligned(x);
  }
};

/// As many elements as a vector of `Arch` holds, of a kernel that runs on the CPU.
template <class T, class Arch>
using simd_value = kernel_value<T, simd_machine<Arch>>;

namespace kernel_detail {

template <class Arch, class T, class V>
void store_result(const V& result, T* out, const auto& like) {
  lift<T>(like, result).rep.store_unaligned(out);
}

}  // namespace kernel_detail

/// Calls the kernel's lambda on elements `first` to `last` of the inputs and stores what it gives; `outputs` is a
/// std::tuple of pointers, one for each output, inputs likewise. The last vector is filled up with copies of its first
/// element. An output may be the same array as an input.
template <class Arch = xsimd::default_arch, class F, class... Out, class... In>
void run_lanes(const F& f, std::size_t first, std::size_t last, std::tuple<Out*...> outputs, const In*... inputs) {
  constexpr std::size_t lanes = simd_machine<Arch>::lanes;
  auto vectors = [&](auto out, const In*... in) {
    const auto like = std::get<0>(std::tuple(simd_value<In, Arch>{xsimd::batch<In, Arch>::load_unaligned(in)}...));
    const auto result = f(simd_value<In, Arch>{xsimd::batch<In, Arch>::load_unaligned(in)}...);
    if constexpr (requires { std::tuple_size<std::remove_const_t<decltype(result)>>::value; }) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (kernel_detail::store_result<Arch>(std::get<I>(result), std::get<I>(out), like), ...);
      }(std::index_sequence_for<Out...>{});
    } else {
      kernel_detail::store_result<Arch>(result, std::get<0>(out), like);
    }
  };
  std::size_t i = first;
  for (; i + lanes <= last; i += lanes)
    std::apply([&](Out*... out) { vectors(std::tuple(out + i...), inputs + i...); }, outputs);
  if (i == last) return;

  const std::size_t rest = last - i;
  auto fill = [&]<class T>(const T* in) {
    std::array<T, lanes> full;
    full.fill(in[i]);
    std::copy_n(in + i, rest, full.begin());
    return full;
  };
  std::tuple<std::array<Out, lanes>...> results;
  [&](const auto&... full) {
    std::apply([&](auto&... out) { vectors(std::tuple(out.data()...), full.data()...); }, results);
  }(fill(inputs)...);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (std::copy_n(std::get<I>(results).begin(), rest, std::get<I>(outputs) + i), ...);
  }(std::index_sequence_for<Out...>{});
}

}  // namespace levada
