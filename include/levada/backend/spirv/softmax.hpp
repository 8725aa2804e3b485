// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/softmax.hpp: softmax along the last axis, one invocation for each row.

#include <levada/backend/spirv/grid.hpp>
#include <levada/nn/activation.hpp>

namespace levada {

namespace detail {

template <std::size_t Length>
struct softmax_source {
  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    constexpr int length = static_cast<int>(Length);
    const auto row = g.x();
    const auto largest =
        g.fold(1, length, in(row, 0), [&](auto i, auto l) { return select(in(row, i) > l, in(row, i), l); });
    const auto sum = g.fold(0, length, g.value(0.0f), [&](auto i, auto s) { return s + exp(in(row, i) - largest); });
    g.loop(0, length, [&](auto i) { out(row, i) = exp(in(row, i) - largest) / sum; });
  }
};

}  // namespace detail

template <class In>
  requires op_takes<softmax_op, In> && std::same_as<typename In::value_type, float>
struct spirv_kernel<In, softmax_op> : dispatch_kernel {
  static constexpr std::size_t length = In::extents[In::rank - 1], rows = In::elements / length;

  spirv_kernel(const softmax_op&, parameter_values) {
    using table = tensor<float, rows, length>;
    in_bytes = out_bytes = sizeof(In);
    add_grid<"softmax", table, table, grid<rows>>(*this, detail::softmax_source<length>{});
  }
};

}  // namespace levada
