// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/detail/reshape.hpp: the ops that only rename axes.

#include <levada/backend/detail/definition.hpp>
#include <levada/backend/reference/detail/kernel.hpp>
#include <levada/nn/reshape.hpp>

namespace levada {

template <class In>
  requires op_takes<flatten_op, In>
struct reference_kernel<In, flatten_op> : detail::plain_kernel<flatten_op> {
  using detail::plain_kernel<flatten_op>::plain_kernel;

  void operator()(const In& in, flatten_op::output<In>& out, std::byte*) const {
    detail::move_elements(in.data(), out.data(), In::elements);
  }
};

template <class In, std::size_t... Dims>
  requires op_takes<reshape_op<Dims...>, In>
struct reference_kernel<In, reshape_op<Dims...>> : detail::plain_kernel<reshape_op<Dims...>> {
  using detail::plain_kernel<reshape_op<Dims...>>::plain_kernel;

  void operator()(const In& in, typename reshape_op<Dims...>::template output<In>& out, std::byte*) const {
    detail::move_elements(in.data(), out.data(), In::elements);
  }
};

}  // namespace levada
