// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/cast.hpp: each element as another type (ONNX Cast).

#include <limits>

#include <levada/graph/detail/op_rules.hpp>

namespace levada {

/// Elements of type `To`. A floating number becomes the integer towards zero, the nearest where it does not fit, 0
/// where it is NaN; integers wrap; everything but 0 is true; half and bfloat16 round to nearest even.
template <tensor_element To>
struct cast_op : weightless_op {
  static constexpr std::string_view kind = "cast";
  static constexpr op_kind fuses_as = op_kind::element_wise;
  static constexpr std::string_view expects = "a tensor";

  template <any_tensor In>
  using output = with_element_t<To, In>;

  template <class In>
  static constexpr double flops = static_cast<double>(In::elements);

  template <class From>
  static constexpr To of(From x) {
    if constexpr (std::is_same_v<From, half> || std::is_same_v<From, bfloat16>) {
      return cast_op::of(static_cast<float>(x));
    } else if constexpr (std::is_same_v<To, half> || std::is_same_v<To, bfloat16>) {
      return To(static_cast<float>(x));
    } else if constexpr (std::is_same_v<To, bool>) {
      return x != From{};
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
      using limits = std::numeric_limits<To>;
      // The largest as From may round up, to a number that does not fit.
      if (x != x) return 0;
      if (x >= static_cast<From>(limits::max())) return limits::max();
      if (x <= static_cast<From>(limits::lowest())) return limits::lowest();
      return static_cast<To>(x);
    } else {
      return static_cast<To>(x);
    }
  }
};

namespace nn {

/// `nn::cast<std::uint8_t>`.
template <tensor_element To>
inline constexpr op_stage<"cast", cast_op<To>> cast{};

}  // namespace nn
}  // namespace levada
