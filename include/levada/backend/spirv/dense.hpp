// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/dense.hpp: a matrix times a vector, one invocation for each output. The matrix lies turned, so that invocations
// side by side read weights side by side.

#include <vector>

#include <levada/backend/spirv/element_wise.hpp>
#include <levada/backend/spirv/grid.hpp>
#include <levada/nn/dense.hpp>

namespace levada {

namespace detail {

template <std::size_t Inputs, class End>
struct dense_source {
  [[no_unique_address]] End end;

  template <class G, class Vector, class Weight, class Bias, class Out>
  constexpr void operator()(const G& g, const Vector& in, const Weight& weight, const Bias& bias,
                            const Out& out) const {
    const auto o = g.x();
    out(o) = end(g.fold(0, static_cast<int>(Inputs), bias(o), [&](auto i, auto s) { return s + in(i)*weight(i, o); }));
  }
};

}  // namespace detail

template <class In, std::size_t Outputs, class... Options, class... End>
  requires op_takes<dense_op<Outputs, Options...>, In> && std::same_as<typename In::value_type, float> &&
           (detail::give_words<float, tensor<float, Outputs>, End...>) && detail::pushable<detail::fused_t<End...>>
struct spirv_kernel<In, dense_op<Outputs, Options...>, End...> : dispatch_kernel {
  using op_type = dense_op<Outputs, Options...>;
  using out_type = run_output_t<tensor<float, Outputs>, End...>;
  using weight = tensor<float, In::elements, Outputs>;
  using bias = tensor<float, Outputs>;

  static constexpr std::size_t weight_bytes = sizeof(weight) + sizeof(bias);

  spirv_kernel(const op_type&, const End&... end, parameter_values p) {
    using source = detail::dense_source<In::elements, detail::fused_t<End...>>;
    in_bytes = sizeof(In);
    out_bytes = sizeof(out_type);
    std::vector<float> turned(weight::elements);
    for (std::size_t o = 0; o < Outputs; ++o)
      for (std::size_t i = 0; i < In::elements; ++i)
        turned[i * Outputs + o] = p.template get<float>(0)[o * In::elements + i];
    add_grid<"dense", In, tensor<typename out_type::value_type, Outputs>, grid<Outputs>, weight, bias>(
        *this, source{detail::fused<End...>::of(end...)},
        {turned.data(), op_type::has_bias ? p.template get<float>(1) : nullptr});
  }
};

}  // namespace levada
