// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/joined_region.hpp: a convolution, a dense layer or a matrix product with the element-wise ops
// behind it that join its result with other values, such as a residual sum, at its end.

#include <levada/backend/detail/region_kind.hpp>
#include <levada/backend/spirv/detail/conv_norm.hpp>
#include <levada/backend/spirv/detail/dense.hpp>
#include <levada/backend/spirv/detail/kernel_end.hpp>
#include <levada/backend/spirv/detail/matmul.hpp>
#include <levada/backend/spirv/detail/region.hpp>

namespace levada {

namespace detail {

/// How the first ops of a region are one kernel with an `end`: how many `ops`, of how many `buffers` it is made beside
/// those of its end, and `add(to, end, inputs of the end, parameters, ops...)`.
template <class... RegionOps>
struct joined_head;

template <std::size_t Filters, class... Options, class In, std::size_t Picture, class... Rest>
  requires device_conv_run<In, conv2d_op<Filters, Options...>>
struct joined_head<region_op<conv2d_op<Filters, Options...>, In, Picture>, Rest...> {
  using op_type = conv2d_op<Filters, Options...>;
  using kernel = conv_base<In, op_type>;
  static constexpr std::size_t ops = 1, buffers = 4;

  static void add(auto& to, const auto& end, const auto& which, parameter_values p, const auto&...) {
    to.template add_with_end<float>(p.template get<float>(0), op_type::has_bias ? p.template get<float>(1) : nullptr,
                                    end, Picture, which);
  }
};

/// A norm or bias behind a convolution is folded into its weights.
template <std::size_t Filters, class... Options, class In, std::size_t Picture, class Folded, class Convolved,
          std::size_t From, class... Rest>
  requires device_conv_run<In, conv2d_op<Filters, Options...>> && folds_into_conv<Folded, Filters>
struct joined_head<region_op<conv2d_op<Filters, Options...>, In, Picture>, region_op<Folded, Convolved, From>,
                   Rest...> {
  using op_type = conv2d_op<Filters, Options...>;
  using kernel = conv_base<In, op_type>;
  static constexpr std::size_t ops = 2, buffers = 4;

  static void add(auto& to, const auto& end, const auto& which, parameter_values p, const op_type&,
                  const Folded& folded, const auto&...) {
    const normed_weights<op_type, typename kernel::s::weight, Filters> weights(folded, p);
    to.template add_with_end<float>(weights.weight.data(), weights.bias.data(), end, Picture, which);
  }
};

template <std::size_t Outputs, class... Options, class In, std::size_t Vector, class... Rest>
  requires device_dense<dense_op<Outputs, Options...>, In>
struct joined_head<region_op<dense_op<Outputs, Options...>, In, Vector>, Rest...> {
  using kernel = dense_base<In, dense_op<Outputs, Options...>, Outputs>;
  static constexpr std::size_t ops = 1, buffers = 4;

  static void add(auto& to, const auto& end, const auto& which, parameter_values p, const auto&...) {
    to.template add_with_end<float>(p, end, Vector, which);
  }
};

/// A product with a vector on the right has its places along another axis.
template <class A, class B, std::size_t Left, std::size_t Right, class... Rest>
  requires std::same_as<typename A::value_type, float> && (B::rank > 1)
struct joined_head<region_op<matmul_op, std::tuple<A, B>, Left, Right>, Rest...> {
  using kernel = matmul_base<A, B>;
  static constexpr std::size_t ops = 1, buffers = 3;

  static void add(auto& to, const auto& end, const auto& which, parameter_values, const auto&...) {
    auto places = tensors_in<std::tuple<A, B>>::places_apart();
    places[0].which = Left, places[1].which = Right;
    to.template add_with_end<float>(places[0], places[1], end, which);
  }
};

/// What a region ends with whose first `Join` ops are a kernel with `end_of`.
template <class Region, std::size_t Join, class Inputs = std::make_index_sequence<Region::inputs>>
struct region_end;
template <class... In, class... RegionOps, std::size_t Join, std::size_t... I>
struct region_end<op_region<type_list<In...>, RegionOps...>, Join, std::index_sequence<I...>> {
  using region = op_region<type_list<In...>, RegionOps...>;
  using behind = function_behind<region, Join>;
  using results = typename type_at<typename region::op_list, Join - 1>::out_type;

  template <class T>
  static constexpr operand_layout layout(std::size_t input) {
    constexpr std::size_t axes = place_axes(type_at<typename region::op_list, 0>::op_type::kind);
    return behind::reads(input) ? layout_beside(shape_of<T>, shape_of<results>, axes) : operand_layout::other;
  }
  template <class Kernel>
  using on = typename Kernel::template end_of<typename behind::type, layout<In>(I)...>;

  /// The inputs that it reads, by their numbers.
  static constexpr std::array<std::size_t, sizeof...(In)> which{I...};
  static constexpr std::size_t buffers = ((behind::reads(I) ? std::size_t{1} : 0) + ... + 0);
};

/// All ops behind the first `Join` are element-wise.
template <class... RegionOps>
constexpr bool ends_element_wise(std::size_t join) {
  constexpr bool is[] = {element_op<typename RegionOps::op_type>...};
  for (std::size_t op = join; op < sizeof...(RegionOps); ++op)
    if (!is[op]) return false;
  return true;
}

template <class Region>
inline constexpr bool is_joined_on_device = false;
template <class Inputs, class... RegionOps>
  requires(is_joined_region(region_info(infos_of_region<op_region<Inputs, RegionOps...>>::value))) &&
              requires { sizeof(joined_head<RegionOps...>); } &&
              (ends_element_wise<RegionOps...>(joined_head<RegionOps...>::ops))
inline constexpr bool is_joined_on_device<op_region<Inputs, RegionOps...>> = [] {
  using head = joined_head<RegionOps...>;
  using end = region_end<op_region<Inputs, RegionOps...>, head::ops>;
  return head::buffers + end::buffers <= dispatch::most_buffers && pushable<typename end::behind::type>;
}();

}  // namespace detail

template <class... In, class... RegionOps>
  requires detail::is_joined_on_device<op_region<type_list<In...>, RegionOps...>>
struct spirv_region_kernel<op_region<type_list<In...>, RegionOps...>>
    : detail::region_base<op_region<type_list<In...>, RegionOps...>,
                          typename detail::joined_head<RegionOps...>::kernel> {
  using head = detail::joined_head<RegionOps...>;
  using end = detail::region_end<op_region<type_list<In...>, RegionOps...>, head::ops>;

  spirv_region_kernel(const typename RegionOps::op_type&... ops, parameter_values p) {
    using end_type = typename end::template on<typename head::kernel>;
    head::add(*this, end_type{end::behind::make(ops...)}, end::which, p, ops...);
    this->finish();
  }
};

}  // namespace levada
