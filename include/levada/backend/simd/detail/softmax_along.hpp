// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/softmax_along.hpp: softmax along any axis: the last by its own kernel, others down the columns of
// vectors.

#include <levada/backend/detail/define/along_axis.hpp>
#include <levada/backend/simd/detail/activation.hpp>
#include <levada/backend/simd/detail/norm.hpp>
#include <levada/backend/simd/detail/vector.hpp>

namespace levada {

template <class Arch, class In, softmax_kind How, std::ptrdiff_t Axis>
  requires op_takes<softmax_along_op<How, Axis>, In> && (How != softmax_kind::hard) &&
           (detail::around_axis<In, Axis>::axis + 1 == In::rank)
struct simd_kernel<Arch, In, softmax_along_op<How, Axis>> {
  using last_op = std::conditional_t<How == softmax_kind::soft, softmax_op, log_softmax_op>;

  static constexpr std::size_t scratch_bytes = simd_kernel<Arch, In, last_op>::scratch_bytes;

  simd_kernel(const softmax_along_op<How, Axis>&, parameter_values p) : last_(last_op(), p) {}
  void operator()(const In& in, In& out, std::byte* scratch) const { last_(in, out, scratch); }

 private:
  simd_kernel<Arch, In, last_op> last_;
};

template <class Arch, class In, std::ptrdiff_t Axis>
  requires op_takes<softmax_along_op<softmax_kind::soft, Axis>, In> && std::same_as<typename In::value_type, float> &&
           (detail::around_axis<In, Axis>::axis + 1 < In::rank)
struct simd_kernel<Arch, In, softmax_along_op<softmax_kind::soft, Axis>>
    : detail::plain_simd_kernel<Arch, softmax_along_op<softmax_kind::soft, Axis>> {
  using op_type = softmax_along_op<softmax_kind::soft, Axis>;
  using detail::plain_simd_kernel<Arch, op_type>::plain_simd_kernel;

  void operator()(const In& in, In& out, std::byte*) const {
    for (std::size_t o = 0; o < around::outer; ++o) {
      const float* from = in.data() + o * around::length * around::inner;
      float* to = out.data() + o * around::length * around::inner;
      detail::for_each_vector<float, Arch, around::inner>([&](std::size_t i) { down<vec::size>(from + i, to + i); },
                                                          [&](std::size_t i, auto n) { down<n>(from + i, to + i); });
    }
  }

 private:
  using around = detail::around_axis<In, Axis>;
  using vec = detail::vector<float, Arch>;

  template <std::size_t Count>
  LEVADA_INLINE static void down(const float* from, float* to) {
    using namespace detail;
    vec largest = load_part<Count, float, Arch>(from);
    for (std::size_t i = 1; i < around::length; ++i)
      largest = xsimd::max(largest, load_part<Count, float, Arch>(from + i * around::inner));
    vec sum(0.0f);
    for (std::size_t i = 0; i < around::length; ++i) {
      const vec e = xsimd::exp(load_part<Count, float, Arch>(from + i * around::inner) - largest);
      sum = sum + e;
      store_part<Count>(to + i * around::inner, e);
    }
    for (std::size_t i = 0; i < around::length; ++i)
      store_part<Count>(to + i * around::inner, load_part<Count, float, Arch>(to + i * around::inner) / sum);
  }
};

}  // namespace levada
