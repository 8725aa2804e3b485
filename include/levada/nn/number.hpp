// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/number.hpp: arithmetic of each element with one number (ONNX Add, Sub, Mul, Div, Pow, Min, Max of a constant that
// has one element). The number is a value: one type of op for all numbers of a type.

#include <concepts>
#include <limits>
#include <type_traits>

#include <levada/nn/transform.hpp>

namespace levada {

namespace detail {

/// How a function object holds a number: as a uniform, which devices take, where the kernel language has its type.
template <class K>
struct held_number {
  using type = K;
};
template <class K>
  requires ir::is_scalar<K>
struct held_number<K> {
  using type = uniform<K>;
};
template <class K>
using held_number_t = typename held_number<K>::type;

/// An element of type T is computed with a number of type K and keeps its type.
template <class T, class K>
inline constexpr bool takes_number =
    std::is_floating_point_v<T> || (std::is_integral_v<K> && !ir::is_scalar<T>) || std::is_same_v<T, K> ||
    (std::is_integral_v<K> && !ir::is_scalar<K> && !std::is_same_v<T, bool>);

template <class V>
struct element_in : kernel_detail::element<V> {};
template <class V>
struct element_in<lanes<V>> {
  using type = typename lanes<V>::element;
};

/// A value whose elements are computed with a number of type K.
template <class V, class K>
concept beside_number = takes_number<typename element_in<V>::type, K>;

/// The number as what stands beside `x`: of the kernel language it has the type of `x`.
template <class V, class Held>
constexpr decltype(auto) beside(const V& x, const Held& k) {
  if constexpr (kernel_detail::is_value<V> && kernel_detail::is_uniform<Held>)
    return kernel_detail::lift<typename V::element>(x, k);
  else
    return (k);
}

/// What is computed now, not traced for a device: a captured number is known.
template <class V>
inline constexpr bool is_computed_now = is_lanes<V>;
template <class T, class M>
  requires requires { M::lanes; }
inline constexpr bool is_computed_now<kernel_value<T, M>> = true;

template <class K>
struct offset_by {
  static constexpr std::string_view kind = "offset";
  held_number_t<K> k;
  template <beside_number<K> V>
  constexpr auto operator()(V x) const {
    return x + beside(x, k);
  }
};
template <class K>
struct scaled_by {
  static constexpr std::string_view kind = "scale";
  held_number_t<K> k;
  template <beside_number<K> V>
  constexpr auto operator()(V x) const {
    return x * beside(x, k);
  }
};
template <class K>
struct divided_by {
  static constexpr std::string_view kind = "divide_by";
  held_number_t<K> k;
  template <beside_number<K> V>
  constexpr auto operator()(V x) const {
    return x / beside(x, k);
  }
};
template <class K>
struct number_over_element {
  static constexpr std::string_view kind = "number_over";
  held_number_t<K> k;
  template <beside_number<K> V>
  constexpr auto operator()(V x) const {
    return beside(x, k) / x;
  }
};
template <class K>
struct number_minus_element {
  static constexpr std::string_view kind = "number_minus";
  held_number_t<K> k;
  template <beside_number<K> V>
  constexpr auto operator()(V x) const {
    return beside(x, k) - x;
  }
};
template <class K>
struct not_below {
  static constexpr std::string_view kind = "at_least";
  held_number_t<K> k;
  template <beside_number<K> V>
  constexpr auto operator()(V x) const {
    return max(x, beside(x, k));
  }
};
template <class K>
struct not_above {
  static constexpr std::string_view kind = "at_most";
  held_number_t<K> k;
  template <beside_number<K> V>
  constexpr auto operator()(V x) const {
    return min(x, beside(x, k));
  }
};

template <class K>
struct to_the_power {
  static constexpr std::string_view kind = "power";
  held_number_t<K> k;
  template <beside_number<K> V>
  constexpr auto operator()(V x) const {
    // Products, a quotient and a root are rounded less, and a tenth of the work. A device computes one power for all
    // numbers, as it is traced before the number is known.
    if constexpr (is_computed_now<V>) {
      const K number = number_of(k);
      if (number == K{2}) return x * x;
      if (number == K{3}) return x * x * x;
      if (number == K{-1}) return 1.0f / x;
      // As pow: infinite at -infinity, and +0 at -0.
      if (number == K{0.5f}) return select(x < -std::numeric_limits<K>::max(), abs(x), sqrt(x + 0.0f));
    }
    return pow(x, beside(x, k));
  }
};
template <class K>
struct power_of_number {
  static constexpr std::string_view kind = "number_power";
  held_number_t<K> k;
  template <beside_number<K> V>
  constexpr auto operator()(V x) const {
    return pow(beside(x, k), x);
  }
};

}  // namespace detail

/// A number that elements are computed with: float and double for floating elements, integers for all.
template <class K>
concept element_number = (std::integral<K> || std::floating_point<K>)&&!std::same_as<K, bool>;

namespace nn {

/// x + k.
template <element_number K>
constexpr auto offset(K k) {
  return transform<"offset">(detail::offset_by<K>{{k}});
}
/// x k.
template <element_number K>
constexpr auto scale(K k) {
  return transform<"scale">(detail::scaled_by<K>{{k}});
}
/// x / k.
template <element_number K>
constexpr auto divide_by(K k) {
  return transform<"divide_by">(detail::divided_by<K>{{k}});
}
/// k / x.
template <element_number K>
constexpr auto number_over(K k) {
  return transform<"number_over">(detail::number_over_element<K>{{k}});
}
/// k - x.
template <element_number K>
constexpr auto number_minus(K k) {
  return transform<"number_minus">(detail::number_minus_element<K>{{k}});
}
/// max(x, k); NaN stays NaN.
template <element_number K>
constexpr auto at_least(K k) {
  return transform<"at_least">(detail::not_below<K>{{k}});
}
/// min(x, k); NaN stays NaN.
template <element_number K>
constexpr auto at_most(K k) {
  return transform<"at_most">(detail::not_above<K>{{k}});
}
/// x to the power of k, as C has it.
template <std::floating_point K>
constexpr auto power(K k) {
  return transform<"power">(detail::to_the_power<K>{{k}});
}
/// k to the power of x.
template <std::floating_point K>
constexpr auto number_power(K k) {
  return transform<"number_power">(detail::power_of_number<K>{{k}});
}

}  // namespace nn
}  // namespace levada
