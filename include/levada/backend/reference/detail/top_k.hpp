// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/detail/top_k.hpp: argmax and top_k as their definitions.

#include <levada/backend/reference/detail/kernel.hpp>
#include <levada/nn/top_k.hpp>

namespace levada {

template <class In>
  requires op_takes<argmax_op, In>
struct reference_kernel<In, argmax_op> : detail::plain_kernel<argmax_op> {
  using detail::plain_kernel<argmax_op>::plain_kernel;

  void operator()(const In& in, argmax_op::output<In>& out, std::byte*) const {
    constexpr std::size_t length = In::extents[In::rank - 1];
    for (std::size_t row = 0; row < out.elements; ++row) {
      const auto* values = in.data() + row * length;
      std::size_t best = 0;
      for (std::size_t i = 1; i < length; ++i)
        if (is_larger(values[i], values[best])) best = i;
      out[row] = static_cast<std::int64_t>(best);
    }
  }
};

template <class In, std::size_t K>
  requires op_takes<top_k_op<K>, In>
struct reference_kernel<In, top_k_op<K>> : detail::plain_kernel<top_k_op<K>> {
  using detail::plain_kernel<top_k_op<K>>::plain_kernel;

  void operator()(const In& in, typename top_k_op<K>::template output<In>& out, std::byte*) const {
    constexpr std::size_t length = In::extents[In::rank - 1];
    auto& [values, indices] = out;
    for (std::size_t row = 0; row < In::elements / length; ++row) {
      // The best so far, in order: each element moves those it beats one place back.
      auto* best = values.data() + row * K;
      auto* where = indices.data() + row * K;
      std::size_t found = 0;
      for (std::size_t i = 0; i < length; ++i) {
        const auto x = in[row * length + i];
        if (found == K && !is_larger(x, best[K - 1])) continue;
        std::size_t place = found < K ? found++ : K - 1;
        for (; place > 0 && is_larger(x, best[place - 1]); --place)
          best[place] = best[place - 1], where[place] = where[place - 1];
        best[place] = x, where[place] = static_cast<std::int64_t>(i);
      }
    }
  }
};

}  // namespace levada
