// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/qlinear_add.hpp: the sum of two tensors of bytes in one pass.

#include <cstdint>
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
    const auto* const a = std::get<0>(in).data();
    const auto* const b = std::get<1>(in).data();
    for_each_vector<float, Arch, A::elements>(
        [&](std::size_t i) LEVADA_INLINE {
          store_as(out.data() + i, sum(load_as<std::int32_t, Arch>(a + i), load_as<std::int32_t, Arch>(b + i)));
        },
        [&](std::size_t i, auto n) LEVADA_INLINE {
          store_part_as<n>(out.data() + i,
                           sum(load_part_as<n, std::int32_t, Arch>(a + i), load_part_as<n, std::int32_t, Arch>(b + i)));
        });
  }

 private:
  using ints = detail::vector<std::int32_t, Arch>;
  using floats = detail::vector<float, Arch>;

  LEVADA_INLINE ints sum(const ints& a, const ints& b) const {
    return rounding_((numbers(a, op_.a) + numbers(b, op_.b)) / floats(op_.y.scale));
  }
  /// With a bound as the definition has it.
  LEVADA_INLINE static floats numbers(const ints& integers, const quantization& of) {
    return xsimd::min(detail::dequantized<Arch>(integers, of), floats(std::numeric_limits<float>::max()));
  }

  qlinear_add_op<To> op_;
  detail::step_rounding<Arch> rounding_;
};

}  // namespace levada
