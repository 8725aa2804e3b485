// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/activation.hpp: relu, softmax and bias on vectors.

#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/bias.hpp>

namespace levada {

template <class Arch, class In>
  requires op_takes<relu_op, In>
struct simd_kernel<Arch, In, relu_op> : detail::plain_simd_kernel<Arch, relu_op> {
  using detail::plain_simd_kernel<Arch, relu_op>::plain_simd_kernel;
  using value = typename In::value_type;

  void operator()(const In& in, In& out, std::byte*) const {
    using namespace detail;
    for_each_vector<value, Arch, In::elements>(
        [&](std::size_t i) { relu_of(load<value, Arch>(in.data() + i)).store_unaligned(out.data() + i); },
        [&](std::size_t i, auto n) {
          store_part<n>(out.data() + i, relu_of(load_part<n, value, Arch>(in.data() + i)));
        });
  }
};

template <class Arch, class In>
  requires op_takes<softmax_op, In>
struct simd_kernel<Arch, In, softmax_op> : detail::plain_simd_kernel<Arch, softmax_op> {
  using detail::plain_simd_kernel<Arch, softmax_op>::plain_simd_kernel;
  using value = typename In::value_type;

  void operator()(const In& in, In& out, std::byte*) const {
    for (std::size_t row = 0; row < In::elements; row += length) softmax(in.data() + row, out.data() + row);
  }

 private:
  static constexpr std::size_t length = In::extents[In::rank - 1];

  static void softmax(const value* in, value* out) {
    using namespace detail;
    using vec = vector<value, Arch>;
    value largest = in[0];
    if constexpr (length >= vec::size) {
      vec most = load<value, Arch>(in);
      for (std::size_t i = vec::size; i + vec::size <= length; i += vec::size)
        most = xsimd::max(most, load<value, Arch>(in + i));
      largest = largest_of(most);
    }
    for (std::size_t i = length / vec::size * vec::size; i < length; ++i) largest = in[i] > largest ? in[i] : largest;

    vec sums(value{0});
    value sum = 0;
    for_each_vector<value, Arch, length>(
        [&](std::size_t i) {
          const vec e = xsimd::exp(load<value, Arch>(in + i) - vec(largest));
          sums = sums + e;
          e.store_unaligned(out + i);
        },
        [&](std::size_t i, auto n) {
          const vec e = xsimd::exp(load_part<n, value, Arch>(in + i) - vec(largest));
          store_part<n>(out + i, e);
          for (std::size_t k = i; k < length; ++k) sum += out[k];
        });
    const vec total(sum + sum_of(sums));
    for_each_vector<value, Arch, length>(
        [&](std::size_t i) { (load<value, Arch>(out + i) / total).store_unaligned(out + i); },
        [&](std::size_t i, auto n) { store_part<n>(out + i, load_part<n, value, Arch>(out + i) / total); });
  }
};

template <class Arch, class In>
  requires op_takes<bias_op, In>
struct simd_kernel<Arch, In, bias_op> {
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  simd_kernel(const bias_op&, parameter_values p) { std::memcpy(bias_.data(), p.get<value>(0), sizeof bias_.values); }

  void operator()(const In& in, In& out, std::byte*) const {
    using namespace detail;
    if constexpr (In::rank == 1) {
      for_each_vector<value, Arch, In::elements>(
          [&](std::size_t i) {
            (load<value, Arch>(in.data() + i) + load<value, Arch>(bias_.data() + i)).store_unaligned(out.data() + i);
          },
          [&](std::size_t i, auto n) {
            store_part<n>(out.data() + i,
                          load_part<n, value, Arch>(in.data() + i) + load_part<n, value, Arch>(bias_.data() + i));
          });
    } else {
      constexpr std::size_t plane = In::elements / In::extents[0];
      for (std::size_t c = 0; c < In::extents[0]; ++c) {
        const vector<value, Arch> b(bias_[c]);
        const value* from = in.data() + c * plane;
        value* to = out.data() + c * plane;
        for_each_vector<value, Arch, plane>(
            [&](std::size_t i) { (load<value, Arch>(from + i) + b).store_unaligned(to + i); },
            [&](std::size_t i, auto n) { store_part<n>(to + i, load_part<n, value, Arch>(from + i) + b); });
      }
    }
  }

 private:
  tensor<value, In::extents[0]> bias_;
};

}  // namespace levada
