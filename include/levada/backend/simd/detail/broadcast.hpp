// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/broadcast.hpp: a lambda of several tensors on vectors: along the last axes in which each tensor
// either lies as the output does or has one element. The lambda has to give numbers as wide as those it takes, else the
// definition computes it.

#include <array>

#include <levada/backend/simd/detail/transform.hpp>
#include <levada/nn/broadcast.hpp>

namespace levada {

namespace detail {

/// How many of the last axes can be taken as one.
template <class Out, class... T>
consteval std::size_t joint_axes() {
  std::size_t axes = 0;
  const auto joins = [&](const shape& in, std::size_t count) {
    bool same = true, single = true;
    for (std::size_t back = 1; back <= count; ++back) {
      const std::size_t extent = back <= in.rank ? in[in.rank - back] : 1;
      same = same && extent == Out::extents[Out::rank - back];
      single = single && extent == 1;
    }
    return same || single;
  };
  while (axes < Out::rank && (joins(shape_of<T>, axes + 1) && ...)) ++axes;
  return axes;
}

template <class Arch, class F, class... T>
inline constexpr bool vectorizes_all = false;
template <class Arch, class F, class... T>
  requires op_takes<broadcast_op<F>, std::tuple<T...>> && (ir::is_scalar<promoted_t<typename T::value_type>> && ...) &&
               ir::is_scalar<broadcast_element_t<F, std::tuple<T...>>>
inline constexpr bool vectorizes_all<Arch, F, T...> = !std::same_as<broadcast_element_t<F, std::tuple<T...>>, bool>;

}  // namespace detail

template <class Arch, class... T, class F>
  requires detail::vectorizes_all<Arch, F, T...>
struct simd_kernel<Arch, std::tuple<T...>, broadcast_op<F>> {
  using in_type = std::tuple<T...>;
  using out_type = typename broadcast_op<F>::template output<in_type>;
  using result = typename out_type::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  simd_kernel(const broadcast_op<F>& op, parameter_values) : function_(op.function) {}

  void operator()(const auto& in, out_type& out, std::byte*) const {
    std::array<std::size_t, outer.rank + 1> index{};
    result* to = out.data();
    for (std::size_t left = out_type::elements / run; left > 0; --left, to += run) {
      std::apply([&](const T&... t) { along_run(to, t.data() + place<T>(index)...); }, in);
      for (std::size_t axis = outer.rank; axis-- > 0;) {
        if (++index[axis] < outer[axis]) break;
        index[axis] = 0;
      }
    }
  }

 private:
  static constexpr std::size_t joint = detail::joint_axes<out_type, T...>();
  static constexpr shape outer =
      shape::of(std::span<const std::size_t>(out_type::extents).first(out_type::rank - joint));
  static constexpr std::size_t run = out_type::elements / outer.elements();
  static constexpr std::size_t step = detail::lanes_in<float, Arch>;

  /// The tensor has one element along the run.
  template <class Tensor>
  static constexpr bool repeats = [] {
    for (std::size_t back = 1; back <= std::min(joint, Tensor::rank); ++back)
      if (Tensor::extents[Tensor::rank - back] != 1) return false;
    return run != 1;
  }();

  template <class Tensor>
  static std::size_t place(const std::array<std::size_t, outer.rank + 1>& index) {
    std::size_t at = 0;
    for (std::size_t axis = 0; axis < outer.rank; ++axis)
      at += index[axis] * detail::broadcast_step(shape_of<Tensor>, shape_of<out_type>, axis);
    return at;
  }

  void along_run(result* to, const typename T::value_type*... from) const {
    constexpr std::size_t rest = run % step;
    std::size_t i = 0;
    for (; i + step <= run; i += step) computed(operand<T, step>(from, i)...).store_unaligned(to + i);
    if constexpr (rest != 0) detail::store_part<rest>(to + i, computed(operand<T, rest>(from, i)...));
  }

  template <class... V>
  detail::vector<result, Arch> computed(const V&... x) const {
    return kernel_detail::lift<result>(kernel_detail::first_value(x...), function_(x...)).rep;
  }

  /// `Count` elements of one tensor as a value of the kernel language.
  template <class Tensor, std::size_t Count>
  static auto operand(const typename Tensor::value_type* from, std::size_t i) {
    using number = promoted_t<typename Tensor::value_type>;
    using vec = detail::vector<number, Arch>;
    if constexpr (repeats<Tensor>) {
      return simd_value<number, Arch>{vec(static_cast<number>(*from))};
    } else if constexpr (std::is_same_v<number, typename Tensor::value_type>) {
      return simd_value<number, Arch>{detail::load_part<Count, number, Arch>(from + i)};
    } else {
      alignas(Arch::alignment()) number values[step]{};
      for (std::size_t k = 0; k < Count; ++k) values[k] = static_cast<number>(from[i + k]);
      return simd_value<number, Arch>{vec::load_aligned(values)};
    }
  }

  F function_;
};

}  // namespace levada
