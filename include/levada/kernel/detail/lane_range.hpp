// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/lane_range.hpp: the machines that run the lambda of a grid kernel on the CPU. Three meet there: what is
// the same for all lanes (y, z, loop counters) is one number, x and what is added to it is a range of numbers, the rest
// are vectors.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <levada/core/detail/type_list.hpp>
#include <levada/kernel/detail/ir.hpp>
#include <levada/kernel/detail/scalar.hpp>
#include <levada/kernel/detail/simd_machine.hpp>
#include <levada/kernel/detail/value.hpp>

namespace levada {

/// base, base + step, base + 2 step, ... in the lanes of `Arch`.
template <class Arch>
struct lane_range {
  std::int32_t base, step;

  xsimd::batch<std::int32_t, Arch> vector() const {
    alignas(Arch::alignment()) std::int32_t numbers[xsimd::batch<std::int32_t, Arch>::size];
    for (std::size_t i = 0; i < std::size(numbers); ++i) numbers[i] = base + static_cast<std::int32_t>(i) * step;
    return xsimd::batch<std::int32_t, Arch>::load_aligned(numbers);
  }
};

/// The machine of int32 that are ranges. It adds and scales them; all else is done by `simd_machine`.
template <class Arch>
struct range_machine {
  template <class>
  using representation = lane_range<Arch>;

  template <class T, class Other>
  static lane_range<Arch> from(const auto& rep) {
    if constexpr (std::is_same_v<Other, scalar_machine>) {
      return {rep, 0};
    } else {
      return rep;
    }
  }
  template <ir::opcode Op, class Result>
  static lane_range<Arch> apply(const lane_range<Arch>& a, const lane_range<Arch>& b) {
    if constexpr (Op == ir::opcode::add) return {a.base + b.base, a.step + b.step};
    if constexpr (Op == ir::opcode::sub) return {a.base - b.base, a.step - b.step};
    if constexpr (Op == ir::opcode::mul)
      return {a.base * b.base, a.base * b.step + a.step * b.base};  // one is a number
  }
};

namespace kernel_detail {

template <class M>
inline constexpr bool is_range_machine = detail::is_instance_of<M, range_machine>;

/// The architecture of a machine, or void.
template <class M>
struct arch_of {
  using type = void;
};
template <class Arch>
struct arch_of<simd_machine<Arch>> {
  using type = Arch;
};
template <class Arch>
struct arch_of<range_machine<Arch>> {
  using type = Arch;
};
template <class... M>
struct common_arch;
template <class M, class... Rest>
struct common_arch<M, Rest...> {
  using own = typename arch_of<M>::type;
  using type = typename std::conditional_t<std::is_void_v<own>, common_arch<Rest...>, arch_of<M>>::type;
};
template <class M>
struct common_arch<M> : arch_of<M> {};

template <class M>
concept lane_machine = std::is_same_v<M, scalar_machine> || !std::is_void_v<typename arch_of<M>::type>;

template <ir::opcode Op, class... M>
constexpr bool stays_a_range() {
  constexpr int ranges = (int{is_range_machine<M>} + ...);
  if (((!std::is_same_v<M, scalar_machine> && !is_range_machine<M>) || ...)) return false;
  return sizeof...(M) == 2 &&
         (Op == ir::opcode::add || Op == ir::opcode::sub || (Op == ir::opcode::mul && ranges == 1));
}

/// A range stays one where it can; where vectors are among the operands, or it cannot, vectors compute.
template <ir::opcode Op, lane_machine M, lane_machine... Rest>
  requires(is_range_machine<M> || (is_range_machine<Rest> || ...) || (!std::is_same_v<M, Rest> || ...))
struct computing<Op, M, Rest...> {
  using arch = typename common_arch<M, Rest...>::type;
  using machine = std::conditional_t<stays_a_range<Op, M, Rest...>(), range_machine<arch>, simd_machine<arch>>;
};

template <class Arch>
struct literals_beside<range_machine<Arch>> {
  using machine = scalar_machine;
};

/// The machine for rows of `Width`: the widest vectors that fit in, else numbers.
template <std::size_t Width>
constexpr auto machine_for_width() {
  if constexpr (simd_machine<xsimd::default_arch>::lanes <= Width) return simd_machine<xsimd::default_arch>{};
#if XSIMD_WITH_AVX2
  else if constexpr (simd_machine<xsimd::avx2>::lanes <= Width)
    return simd_machine<xsimd::avx2>{};
#endif
#if XSIMD_WITH_SSE2
  else if constexpr (simd_machine<xsimd::sse2>::lanes <= Width)
    return simd_machine<xsimd::sse2>{};
#endif
  else
    return scalar_machine{};
}

}  // namespace kernel_detail

/// The machine that runs rows of `Width` invocations.
template <std::size_t Width>
using grid_machine = decltype(kernel_detail::machine_for_width<Width>());

}  // namespace levada
