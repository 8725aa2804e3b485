// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/cast.hpp: elements as another type. What gives words fuses with other element-wise ops.

#include <limits>

#include <levada/backend/spirv/detail/broadcast.hpp>
#include <levada/backend/spirv/detail/transform.hpp>
#include <levada/nn/cast.hpp>

namespace levada {

namespace detail {

/// An element as `To`, or as what is stored as one: integers lose their upper bits there.
template <class To>
struct cast_value {
  template <class V>
  constexpr auto operator()(const V& x) const {
    using from = typename V::element;
    if constexpr (std::same_as<To, bool>) {
      return x != 0;
    } else if constexpr (std::same_as<To, float> || std::same_as<To, half>) {
      return to_float(x);
    } else if constexpr (std::same_as<To, std::uint32_t>) {
      return to_uint(x);
    } else if constexpr (std::same_as<from, float> && sizeof(To) < 4) {
      using limits = std::numeric_limits<To>;
      return min(max(to_int(x), static_cast<int>(limits::lowest())), static_cast<int>(limits::max()));
    } else {
      return to_int(x);
    }
  }
};

template <word_element To>
struct element_wise<cast_op<To>> {
  using function = cast_value<To>;
  static constexpr function of(const cast_op<To>&) { return {}; }
};

template <class To>
struct cast_source {
  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    out(g.x()) = storable(cast_value<To>()(in(g.x())));
  }
};

}  // namespace detail

template <class In, class To>
  requires op_takes<cast_op<To>, In> && detail::device_element<typename In::value_type> && detail::device_element<To> &&
           (!detail::element_wise_run<In, cast_op<To>>)
struct spirv_kernel<In, cast_op<To>> : dispatch_kernel {
  spirv_kernel(const cast_op<To>&, parameter_values) {
    in_bytes = sizeof(In);
    out_bytes = sizeof(with_element_t<To, In>);
    add_grid<"cast", detail::row_of<In>, detail::row_of<with_element_t<To, In>>, grid<In::elements>>(
        *this, detail::cast_source<To>{});
  }
};

}  // namespace levada
