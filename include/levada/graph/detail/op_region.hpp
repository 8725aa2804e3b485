// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/op_region.hpp: a region as a type: what a kernel of several ops depends on, and nothing of the pipeline
// in which they stand.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <levada/core/detail/named_items.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/op_info.hpp>

namespace levada {

/// An op of a region with the type that it takes, a tensor or a tuple of tensors. `From` says where its operands come
/// from: an input of the region by its number; behind the inputs the ops before it are numbered on.
template <class Op, class In, std::size_t... From>
struct region_op {
  using origins = std::index_sequence<From...>;
  using op_type = Op;
  using in_type = In;
  using out_type = typename Op::template output<In>;
};

/// A region: the tensors that it takes, and its ops in an order in which they can run. Its output is
/// that of the last op.
///
/// `Backend::region_kernel<op_region<...>>` is the kernel of one that `Backend::takes(region_info)`. It is constructed
/// and called as any kernel (`op_kernel` of graph/op.hpp): from all ops and their parameters in order, with the inputs
/// as a tuple of references where there are several.
template <class Inputs, class... RegionOps>
struct op_region;
template <class... Inputs, class... RegionOps>
struct op_region<type_list<Inputs...>, RegionOps...> {
  static constexpr std::size_t inputs = sizeof...(Inputs);
  static constexpr std::size_t ops = sizeof...(RegionOps);
  using input_list = type_list<Inputs...>;
  using op_list = type_list<RegionOps...>;
  using out_type = typename type_at<op_list, ops - 1>::out_type;
};

/// A region of several outputs, for backends that say `most_outputs`: what its ops of these numbers give. A kernel
/// writes them side by side: `out.at<0>()`, `out.at<1>()`, ...
template <class Inputs, class Outputs, class... RegionOps>
struct op_region_of_outputs;
template <class... Inputs, std::size_t... Output, class... RegionOps>
struct op_region_of_outputs<type_list<Inputs...>, std::index_sequence<Output...>, RegionOps...> {
  static constexpr std::size_t inputs = sizeof...(Inputs);
  static constexpr std::size_t ops = sizeof...(RegionOps);
  static constexpr std::array<std::uint16_t, sizeof...(Output)> outputs{Output...};
  using input_list = type_list<Inputs...>;
  using op_list = type_list<RegionOps...>;
  using out_type = named_items<named_item<"output", typename type_at<op_list, Output>::out_type>...>;
};

namespace detail {

/// The ops of a region as values; inputs and ops are numbered as `region_op` does.
template <class Region>
struct infos_of_region;
template <class Inputs, class... RegionOps>
struct infos_of_region<op_region<Inputs, RegionOps...>> {
  template <class RegionOp, std::size_t... From>
  static constexpr op_info info(std::size_t number, std::index_sequence<From...>) {
    op_info op = describe_op<typename RegionOp::in_type, typename RegionOp::op_type>();
    (op.from.push_back(static_cast<std::uint16_t>(From)), ...);
    op.to = static_cast<std::uint16_t>(number);
    return op;
  }
  static constexpr auto value = [] {
    std::size_t number = Inputs::size;
    return std::array{info<RegionOps>(number++, typename RegionOps::origins{})...};
  }();
};

template <class Inputs, class Outputs, class... RegionOps>
struct infos_of_region<op_region_of_outputs<Inputs, Outputs, RegionOps...>>
    : infos_of_region<op_region<Inputs, RegionOps...>> {};

}  // namespace detail
}  // namespace levada
