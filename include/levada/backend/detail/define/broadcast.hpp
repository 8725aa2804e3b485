// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/broadcast.hpp: a lambda of several tensors, element by element.

#include <array>

#include <levada/backend/detail/define/transform.hpp>
#include <levada/backend/detail/definition.hpp>
#include <levada/nn/broadcast.hpp>

namespace levada {

template <class Backend, class... T, class F>
  requires op_takes<broadcast_op<F>, std::tuple<T...>>
struct definition<Backend, std::tuple<T...>, broadcast_op<F>> {
  using in_type = std::tuple<T...>;
  using out_type = typename broadcast_op<F>::template output<in_type>;

  static constexpr std::size_t scratch_bytes = 0;

  definition(const broadcast_op<F>& op, parameter_values) : function_(op.function) {}

  void operator()(const auto& in, out_type& out, std::byte*) const {
    auto* to = out.data();
    detail::for_each_index(shape_of<out_type>, [&](const shape& index) {
      *to++ = std::apply([&](const auto&... t) { return detail::unwrapped(function_(element(t, index)...)); }, in);
    });
  }

 private:
  template <class Tensor>
  static auto element(const Tensor& t, const shape& index) {
    using number = promoted_t<typename Tensor::value_type>;
    std::size_t at = 0;
    for (std::size_t axis = 0; axis < index.rank; ++axis)
      at += index[axis] * detail::broadcast_step(shape_of<Tensor>, shape_of<out_type>, axis);
    return detail::asked_among_t<Tensor, T...>{static_cast<number>(t[at])};
  }

  F function_;
};

}  // namespace levada
