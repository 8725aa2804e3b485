// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/quantize_linear.hpp: numbers of float as integers, behind the transform that gives them in the
// same pass, and bytes as numbers.

#include <levada/backend/detail/define/quantized.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/quads.hpp>
#include <levada/backend/simd/detail/transform.hpp>

namespace levada {

namespace detail {

template <class Arch, quantized_element To>
class quantizing {
 public:
  explicit quantizing(quantization to)
      : rounding_(to.zero_point, std::numeric_limits<To>::min(), std::numeric_limits<To>::max()), scale_(to.scale) {}

  LEVADA_INLINE vector<std::int32_t, Arch> operator()(const vector<float, Arch>& x) const {
    return rounding_(x / vector<float, Arch>(scale_));
  }

 private:
  step_rounding<Arch> rounding_;
  float scale_;
};

}  // namespace detail

template <class Arch, class In, class To, class Region>
  requires op_takes<quantize_linear_op<To, Region>, In>
struct simd_kernel<Arch, In, quantize_linear_op<To, Region>> {
  static constexpr std::size_t scratch_bytes = 0;

  simd_kernel(const quantize_linear_op<To, Region>& op, parameter_values) : quantized_(op.to) {}

  void operator()(const In& in, with_element_t<To, In>& out, std::byte*) const {
    using namespace detail;
    for_each_vector<float, Arch, In::elements>(
        [&](std::size_t i) { store_as(out.data() + i, quantized_(load<float, Arch>(in.data() + i))); },
        [&](std::size_t i, auto n) {
          store_part_as<n>(out.data() + i, quantized_(load_part<n, float, Arch>(in.data() + i)));
        });
  }

 private:
  detail::quantizing<Arch, To> quantized_;
};

/// What the transform makes of an element is quantized in the register.
template <class Arch, class In, class F, class To, class Region>
  requires detail::run_takes<In, transform_op<F>, quantize_linear_op<To, Region>> &&
           (detail::lanes_in<promoted_t<typename In::value_type>, Arch> == detail::lanes_in<float, Arch>) &&
           ir::is_scalar<promoted_t<typename In::value_type>> && (!std::is_class_v<typename In::value_type>) &&
           (!std::same_as<typename In::value_type, bool>)
struct simd_kernel<Arch, In, transform_op<F>, quantize_linear_op<To, Region>> {
  using argument = promoted_t<typename In::value_type>;

  static constexpr std::size_t scratch_bytes = 0;

  simd_kernel(const transform_op<F>& first, const quantize_linear_op<To, Region>& op, parameter_values)
      : function_(first.function), quantized_(op.to) {}

  void operator()(const In& in, with_element_t<To, In>& out, std::byte*) const {
    using namespace detail;
    const auto computed = [&](const vector<argument, Arch>& x) LEVADA_INLINE {
      return quantized_(transformed_vector<Arch, argument, float>(function_, x));
    };
    for_each_vector<float, Arch, In::elements>(
        [&](std::size_t i) { store_as(out.data() + i, computed(load_as<argument, Arch>(in.data() + i))); },
        [&](std::size_t i, auto n) {
          store_part_as<n>(out.data() + i, computed(load_part_as<n, argument, Arch>(in.data() + i)));
        });
  }

 private:
  [[no_unique_address]] F function_;
  detail::quantizing<Arch, To> quantized_;
};

/// int32 is computed by its definition: its difference from a zero point may be beyond int32.
template <class Arch, class In>
  requires op_takes<dequantize_linear_op, In> && quantized_element<typename In::value_type>
struct simd_kernel<Arch, In, dequantize_linear_op> {
  static constexpr std::size_t scratch_bytes = 0;

  simd_kernel(const dequantize_linear_op& op, parameter_values) : from_(op.from) {}

  void operator()(const In& in, with_element_t<float, In>& out, std::byte*) const {
    using namespace detail;
    const auto* const from = in.data();
    for_each_vector<float, Arch, In::elements>(
        [&](std::size_t i) LEVADA_INLINE {
          dequantized<Arch>(load_as<std::int32_t, Arch>(from + i), from_).store_unaligned(out.data() + i);
        },
        [&](std::size_t i, auto n) LEVADA_INLINE {
          store_part<n>(out.data() + i, dequantized<Arch>(load_part_as<n, std::int32_t, Arch>(from + i), from_));
        });
  }

 private:
  quantization from_;
};

}  // namespace levada
