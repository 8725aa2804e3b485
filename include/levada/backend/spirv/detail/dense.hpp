// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/dense.hpp: a matrix times a vector, one invocation for each output; times many vectors, in
// tiles. The matrix lies turned, so that invocations side by side read weights side by side.

#include <array>
#include <vector>

#include <levada/backend/spirv/detail/batch.hpp>
#include <levada/backend/spirv/detail/element_wise.hpp>
#include <levada/backend/spirv/detail/grid.hpp>
#include <levada/backend/spirv/detail/kernel_end.hpp>
#include <levada/backend/spirv/detail/product.hpp>
#include <levada/nn/dense.hpp>

namespace levada {

namespace detail {

template <std::size_t Inputs, class End>
struct dense_source {
  [[no_unique_address]] End end;

  template <class G, class Vector, class Weight, class Bias, class... Rest>
  constexpr void operator()(const G& g, const Vector& in, const Weight& weight, const Bias& bias,
                            const Rest&... rest) const {
    const auto o = g.x();
    const auto product = [&](auto i, auto s) { return s + in(i)*weight(i, o); };
    end.into(rest...)(0, o, g.fold(0, static_cast<int>(Inputs), bias(o), product));
  }
};

/// Each row of the product is an item.
template <class Tiles, class End>
struct dense_batch_source {
  [[no_unique_address]] End end;

  template <class G, class Items, class Weight, class Bias, class Out>
  constexpr void operator()(const G& g, const Items& in, const Weight& weight, const Bias& bias, const Out& out) const {
    Tiles::run(
        g, [&](const auto&, const auto& o) { return bias(o); },
        [&](const auto& item, const auto& i) { return in(item, i); },
        [&](const auto& i, const auto& o) { return weight(i, o); },
        [&](const auto& item, const auto& o, const auto& sum) { out(item, o) = end(sum); });
  }
};

/// The weights of a dense layer as they lie on the device.
template <class Op, std::size_t Inputs, std::size_t Outputs>
struct dense_weights {
  using weight = tensor<float, Inputs, Outputs>;
  using bias = tensor<float, Outputs>;
  static constexpr std::size_t bytes = sizeof(weight) + sizeof(bias);

  std::vector<float> turned;
  const float* biases;

  explicit dense_weights(parameter_values p)
      : turned(weight::elements), biases(Op::has_bias ? p.template get<float>(1) : nullptr) {
    for (std::size_t o = 0; o < Outputs; ++o)
      for (std::size_t i = 0; i < Inputs; ++i) turned[i * Outputs + o] = p.template get<float>(0)[o * Inputs + i];
  }
  std::array<const void*, 2> list() const { return {turned.data(), biases}; }
};

/// A dense layer; its vector is the input `vector_at`.
template <class In, class Op, std::size_t Outputs>
struct dense_base : dispatch_kernel {
  using weights_type = dense_weights<Op, In::elements, Outputs>;
  template <class F, operand_layout... Operands>
  using end_of = kernel_end<F, 1, Outputs, Operands...>;

  static constexpr std::size_t weight_bytes = weights_type::bytes;

  /// Gives elements of that type.
  template <class Element, class End, std::size_t Operands>
  void add_with_end(parameter_values p, const End& end, std::size_t vector_at,
                    const std::array<std::size_t, Operands>& operands) {
    using weight = typename weights_type::weight;
    using bias = typename weights_type::bias;
    const weights_type made(p);
    add_bound_grid<"dense", typename End::template inputs<In, weight, bias>, typename End::template output<Element>,
                   grid<Outputs>>(*this, dense_source<In::elements, End>{end},
                                  End::bound({{buffer_role::input, 0, nullptr, 0, vector_at},
                                              {buffer_role::weights, 0, made.turned.data()},
                                              {buffer_role::weights, 0, made.biases}},
                                             operands));
  }
};

/// Of a vector of float.
template <class Op, class In>
concept device_dense = op_takes<Op, In> && In::rank == 1 && std::same_as<typename In::value_type, float>;

}  // namespace detail

template <class In, std::size_t Outputs, class... Options, class... End>
  requires detail::device_dense<dense_op<Outputs, Options...>, In> &&
           (detail::give_words<float, tensor<float, Outputs>, End...>) && detail::pushable<detail::fused_t<End...>>
struct spirv_kernel<In, dense_op<Outputs, Options...>, End...>
    : detail::dense_base<In, dense_op<Outputs, Options...>, Outputs> {
  using out_type = run_output_t<tensor<float, Outputs>, End...>;

  spirv_kernel(const dense_op<Outputs, Options...>&, const End&... end, parameter_values p) {
    using end_type = typename spirv_kernel::template end_of<detail::fused_t<End...>>;
    this->in_bytes = sizeof(In);
    this->out_bytes = sizeof(out_type);
    this->template add_with_end<typename out_type::value_type>(p, end_type{detail::fused<End...>::of(end...)}, 0,
                                                               std::array<std::size_t, 0>{});
  }
};

/// Where the items fill tiles each weight is fetched once for many of them.
template <class Item, std::size_t N, std::size_t Outputs, class... Options, class... End>
  requires op_kernel<spirv, Item, dense_op<Outputs, Options...>, End...> &&
           detail::tiled_product<N, Outputs, Item::elements, 1>::pays
struct spirv_batch_kernel<batch_tensor<Item, N>, dense_op<Outputs, Options...>, End...> : dispatch_kernel {
  using op_type = dense_op<Outputs, Options...>;
  using out_type = run_output_t<tensor<float, Outputs>, End...>;
  using weights_type = detail::dense_weights<op_type, Item::elements, Outputs>;

  static constexpr std::size_t weight_bytes = weights_type::bytes;

  spirv_batch_kernel(const op_type&, const End&... end, parameter_values p) {
    using tiles = detail::tiled_product<N, Outputs, Item::elements, 1>;
    using source = detail::dense_batch_source<tiles, detail::fused_t<End...>>;
    in_bytes = sizeof(batch_tensor<Item, N>);
    out_bytes = sizeof(batch_tensor<out_type, N>);
    add_grid<"dense", tensor<float, N, Item::elements>, tensor<typename out_type::value_type, N, Outputs>,
             typename tiles::over, typename weights_type::weight, typename weights_type::bias>(
        *this, source{detail::fused<End...>::of(end...)}, weights_type(p).list());
  }
};

}  // namespace levada
