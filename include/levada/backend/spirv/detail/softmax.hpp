// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/softmax.hpp: softmax and log_softmax along the last axis.

#include <levada/backend/spirv/detail/rows.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/norm.hpp>

namespace levada {

namespace detail {

template <class Team, bool Log>
struct softmax_source {
  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    const auto row = Team::row(g);
    const auto larger = [](auto l, auto x) { return select(x > l, x, l); };
    const auto largest = Team::fold(
        g, in(row, 0), [&](auto i, auto l) { return larger(l, in(row, i)); }, larger);
    const auto sum = Team::fold(
        g, 0.0f, [&](auto i, auto s) { return s + exp(in(row, i) - largest); }, [](auto s, auto t) { return s + t; });
    if constexpr (Log) {
      const auto logarithm = log(sum);
      Team::each(g, [&](auto i) { out(row, i) = in(row, i) - largest - logarithm; });
    } else {
      Team::each(g, [&](auto i) { out(row, i) = exp(in(row, i) - largest) / sum; });
    }
  }
};

template <fixed_string Name, class In, bool Log>
struct softmax_kernel : dispatch_kernel {
  softmax_kernel() {
    constexpr std::size_t length = In::extents[In::rank - 1], rows = In::elements / length;
    using table = tensor<float, rows, length>;
    using team = row_team<rows, length>;
    in_bytes = out_bytes = sizeof(In);
    add_grid<Name, table, table, typename team::over>(*this, softmax_source<team, Log>{});
  }
};

}  // namespace detail

template <class In>
  requires op_takes<softmax_op, In> && std::same_as<typename In::value_type, float>
struct spirv_kernel<In, softmax_op> : detail::softmax_kernel<"softmax", In, false> {
  spirv_kernel(const softmax_op&, parameter_values) {}
};

template <class In>
  requires op_takes<log_softmax_op, In> && std::same_as<typename In::value_type, float>
struct spirv_kernel<In, log_softmax_op> : detail::softmax_kernel<"log_softmax", In, true> {
  spirv_kernel(const log_softmax_op&, parameter_values) {}
};

}  // namespace levada
