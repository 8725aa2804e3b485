// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/qlinear_add.hpp: the sum of two tensors of bytes in one pass.

#include <cstring>
#include <limits>
#include <tuple>

#include <levada/backend/detail/define/integers.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/quads.hpp>

namespace levada {

template <class Arch, class A, class B, class To>
  requires op_takes<qlinear_add_op<To>, std::tuple<A, B>>
struct simd_kernel<Arch, std::tuple<A, B>, qlinear_add_op<To>> {
  static constexpr std::size_t scratch_bytes = 0;

  simd_kernel(const qlinear_add_op<To>& op, parameter_values)
      : op_(op), rounding_(op.y.zero_point, detail::lowest_of<To>(op.y, op.relu), std::numeric_limits<To>::max()) {}

  void operator()(const auto& in, auto& out, std::byte*) const {
    using namespace detail;
    constexpr std::size_t lanes = lanes_in<float, Arch>;
    const auto* const a = std::get<0>(in).data();
    const auto* const b = std::get<1>(in).data();
    for_each_vector<float, Arch, A::elements>([&](std::size_t i)
                                                  LEVADA_INLINE { store_as(out.data() + i, sum(a + i, b + i)); },
                                              [&](std::size_t i, auto n) LEVADA_INLINE {
                                                typename A::value_type last_a[lanes]{};
                                                typename B::value_type last_b[lanes]{};
                                                std::memcpy(last_a, a + i, n);
                                                std::memcpy(last_b, b + i, n);
                                                store_part_as<n>(out.data() + i, sum(last_a, last_b));
                                              });
  }

 private:
  LEVADA_INLINE auto sum(const typename A::value_type* a, const typename B::value_type* b) const {
    return rounding_((numbers(a, op_.a) + numbers(b, op_.b)) / detail::vector<float, Arch>(op_.y.scale));
  }
  /// With a bound as the definition has it.
  LEVADA_INLINE static auto numbers(const auto* from, const quantization& of) {
    using floats = detail::vector<float, Arch>;
    const auto steps = detail::load_as<std::int32_t, Arch>(from) - detail::vector<std::int32_t, Arch>(of.zero_point);
    return xsimd::min(xsimd::to_float(steps) * floats(of.scale), floats(std::numeric_limits<float>::max()));
  }

  qlinear_add_op<To> op_;
  detail::step_rounding<Arch> rounding_;
};

}  // namespace levada
