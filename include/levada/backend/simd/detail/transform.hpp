// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/transform.hpp: the lambda called with a vector of elements at a time, or with one where vectors
// lack something: integers of 64 bits are not multiplied by all of them, and bool is no vector.

#include <levada/backend/detail/define/transform.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/selected.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/kernel/detail/composed.hpp>
#include <levada/kernel/detail/simd_machine.hpp>
#include <levada/nn/transform.hpp>

namespace levada {

template <class T, class Arch>
struct lane_traits<xsimd::batch<T, Arch>> {
  using element = T;

  static xsimd::batch<T, Arch> product(const xsimd::batch<T, Arch>& a, const xsimd::batch<T, Arch>& b) {
    return detail::product<T, Arch>(a, b);
  }
  template <class U>
  static xsimd::batch<U, Arch> convert(const xsimd::batch<T, Arch>& v) {
    if constexpr (std::is_same_v<U, T>)
      return v;
    else
      return detail::convert<U>(v);
  }
  template <class C>
  static xsimd::batch<T, Arch> select(const xsimd::batch_bool<C, Arch>& condition, const xsimd::batch<T, Arch>& a,
                                      const xsimd::batch<T, Arch>& b) {
    if constexpr (std::is_same_v<C, T>)
      return detail::selected<T, Arch>(condition, a, b);
    else  // the condition comes from lanes of another type
      return detail::selected<T, Arch>(
          detail::convert<T>(detail::selected<C, Arch>(condition, xsimd::batch<C, Arch>(C{1}),
                                                       xsimd::batch<C, Arch>(C{0}))) == xsimd::batch<T, Arch>(T{1}),
          a, b);
  }
};

template <class T, class Arch>
struct lane_traits<xsimd::batch_bool<T, Arch>> {
  using element = bool;
};

namespace detail {

/// A function of the C library, lane by lane.
template <class Arch, class F, class... V>
lanes<vector<double, Arch>> each_lane(F f, const V&... x) {
  constexpr std::size_t count = lanes_in<double, Arch>;
  alignas(Arch::alignment()) double values[sizeof...(V)][count];
  std::size_t operand = 0;
  (x.value.store_aligned(values[operand++]), ...);
  for (std::size_t i = 0; i < count; ++i)
    values[0][i] = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return f(values[I][i]...);
    }(std::index_sequence_for<V...>());
  return {vector<double, Arch>::load_aligned(values[0])};
}

}  // namespace detail

// Those of double in xsimd 8.1 do not compile for AVX-512, or are some units in the last place off.
#define LEVADA_LANES_FUNCTION(name)                                                    \
  template <class Arch>                                                                \
  lanes<xsimd::batch<double, Arch>> name(const lanes<xsimd::batch<double, Arch>>& x) { \
    return detail::each_lane<Arch>([](double v) { return std::name(v); }, x);          \
  }
LEVADA_LANES_FUNCTION(log)
LEVADA_LANES_FUNCTION(sin)
LEVADA_LANES_FUNCTION(cos)
LEVADA_LANES_FUNCTION(tan)
LEVADA_LANES_FUNCTION(asin)
LEVADA_LANES_FUNCTION(acos)
LEVADA_LANES_FUNCTION(atan)
LEVADA_LANES_FUNCTION(sinh)
LEVADA_LANES_FUNCTION(cosh)
LEVADA_LANES_FUNCTION(asinh)
LEVADA_LANES_FUNCTION(acosh)
LEVADA_LANES_FUNCTION(atanh)
#undef LEVADA_LANES_FUNCTION
template <class Arch>
lanes<xsimd::batch<double, Arch>> pow(const lanes<xsimd::batch<double, Arch>>& x,
                                      const lanes<xsimd::batch<double, Arch>>& y) {
  return detail::each_lane<Arch>([](double v, double w) { return std::pow(v, w); }, x, y);
}

namespace detail {

/// What the lambda makes of a vector: values of the kernel language, or lanes of a type that this does not compute
/// with.
template <class Arch, class T, class Result, class F>
auto transformed_vector(const F& f, const vector<T, Arch>& x) {
  if constexpr (ir::is_scalar<T>) {
    const simd_value<T, Arch> value{x};
    return kernel_detail::lift<Result>(value, f(value)).rep;
  } else {
    return f(lanes<vector<T, Arch>>(x)).value;
  }
}

/// The lambdas give vectors of as many elements as they take: else one register does not become one register.
template <class Arch, class T, class... F>
inline constexpr bool vectorizes = sizeof...(F) == 0;
template <class Arch, class T, class F, class... Rest>
  requires ir::is_scalar<T>
inline constexpr bool vectorizes<Arch, T, F, Rest...> =
    ir::is_scalar<transformed_t<F, T>> && !std::same_as<transformed_t<F, T>, bool> &&
    vectorizes<Arch, transformed_t<F, T>, Rest...>;
template <class Arch, class T, class F, class... Rest>
  requires std::floating_point<T> && (!ir::is_scalar<T>)
inline constexpr bool vectorizes<Arch, T, F, Rest...> = sizeof...(Rest) == 0 &&
                                                        requires(const F& f, lanes<vector<T, Arch>> x) {
                                                          {
                                                            f(x).value
                                                          } -> std::convertible_to<vector<transformed_t<F, T>, Arch>>;
                                                        } && lanes_in<transformed_t<F, T>, Arch> == lanes_in<T, Arch>;

}  // namespace detail

/// As many as stand in a row: what one makes of an element goes to the next in a register.
template <class Arch, class In, class... F>
  requires(sizeof...(F) > 0) && detail::run_takes<In, transform_op<F>...> &&
          detail::vectorizes<Arch, promoted_t<typename In::value_type>, F...>
struct simd_kernel<Arch, In, transform_op<F>...> {
  using out_type = run_output_t<In, transform_op<F>...>;
  using argument = promoted_t<typename In::value_type>;

  static constexpr std::size_t scratch_bytes = 0;

  simd_kernel(const transform_op<F>&... ops, parameter_values) : function_(compose(ops.function...)) {}

  void operator()(const In& in, out_type& out, std::byte*) const {
    using namespace detail;
    using result = typename out_type::value_type;
    constexpr std::size_t step = lanes_in<argument, Arch>, rest = In::elements % step;
    const auto computed = [&](const vector<argument, Arch>& x) -> vector<result, Arch> {
      return transformed_vector<Arch, argument, result>(function_, x);
    };
    std::size_t i = 0;
    for (; i + step <= In::elements; i += step) computed(loaded(in.data() + i)).store_unaligned(out.data() + i);
    if constexpr (rest != 0) {
      typename In::value_type last[step]{};
      for (std::size_t k = 0; k < rest; ++k) last[k] = in[i + k];
      store_part<rest>(out.data() + i, computed(loaded(last)));
    }
  }

 private:
  static detail::vector<argument, Arch> loaded(const typename In::value_type* p) {
    if constexpr (std::is_class_v<typename In::value_type> || std::is_same_v<typename In::value_type, bool>) {
      alignas(Arch::alignment()) argument values[detail::lanes_in<argument, Arch>];
      for (argument& v : values) v = static_cast<argument>(*p++);
      return detail::vector<argument, Arch>::load_aligned(values);
    } else {
      return detail::load_as<argument, Arch>(p);
    }
  }

  composed<F...> function_;
};

template <class Arch, class In, class F>
  requires op_takes<transform_op<F>, In> && (!detail::vectorizes<Arch, promoted_t<typename In::value_type>, F>)
struct simd_kernel<Arch, In, transform_op<F>> : detail::transform_by_element<simd_on<Arch>, In, F> {
  using detail::transform_by_element<simd_on<Arch>, In, F>::transform_by_element;
};

}  // namespace levada
