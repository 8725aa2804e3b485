// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/pooled_dense.hpp: the head of a classifier: what is pooled over each picture goes to the dense
// layer behind it in the kernel's scratch.

#include <new>

#include <levada/backend/simd/detail/dense.hpp>
#include <levada/backend/simd/detail/reduce.hpp>

namespace levada {

template <class Arch, class In, reduction How, reduced_axes Kept, std::ptrdiff_t... Axes, std::size_t Outputs,
          class... Options, class... Tail>
  requires op_kernel<simd_on<Arch>, In, reduce_op<How, Kept, Axes...>> &&
           op_kernel<simd_on<Arch>, run_output_t<In, reduce_op<How, Kept, Axes...>>, flatten_op,
                     dense_op<Outputs, Options...>, Tail...>
struct simd_kernel<Arch, In, reduce_op<How, Kept, Axes...>, flatten_op, dense_op<Outputs, Options...>, Tail...> {
  using reduced_op = reduce_op<How, Kept, Axes...>;
  using reduced = run_output_t<In, reduced_op>;
  using dense_kernel = simd_kernel<Arch, reduced, flatten_op, dense_op<Outputs, Options...>, Tail...>;

  static constexpr std::size_t own_bytes = detail::round_up(sizeof(reduced), 64);
  static constexpr std::size_t scratch_bytes = own_bytes + dense_kernel::scratch_bytes;
  static constexpr std::size_t weight_bytes = detail::weight_bytes_of<dense_kernel>;

  simd_kernel(const reduced_op& reduce, const flatten_op& flat, const dense_op<Outputs, Options...>& dense,
              const Tail&... tail, parameter_values p)
      : reduce_(reduce, p), dense_(flat, dense, tail..., p) {}

  void operator()(const In& in, auto& out, std::byte* scratch) const {
    reduced& between = *::new (static_cast<void*>(scratch)) reduced;
    reduce_(in, between, scratch + own_bytes);
    dense_(between, out, scratch + own_bytes);
  }

 private:
  simd_kernel<Arch, In, reduced_op> reduce_;
  dense_kernel dense_;
};

}  // namespace levada
