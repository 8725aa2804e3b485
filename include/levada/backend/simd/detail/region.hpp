// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/region.hpp: regions that are no chains. Element-wise ops of any shape are one pass over their
// inputs. A convolution, dense layer or matmul ends with the ops that join its results with other values, in registers.

#include <array>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>

#include <levada/backend/detail/region_function.hpp>
#include <levada/backend/simd/detail/broadcast.hpp>
#include <levada/backend/simd/detail/join.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/row_region.hpp>
#include <levada/graph/detail/op_info.hpp>
#include <levada/graph/detail/tile_range.hpp>

namespace levada {

namespace detail {

/// The wiring of a region: where each operand of each op comes from, as `region_op` counts.
template <class Region>
struct region_wiring;
template <class Inputs, class... RegionOps>
struct region_wiring<op_region<Inputs, RegionOps...>> {
  static constexpr std::size_t inputs = Inputs::size, ops = sizeof...(RegionOps);

  template <std::size_t... From>
  static constexpr bounded<std::size_t, most_inputs> listed(std::index_sequence<From...>) {
    return {From...};
  }
  static constexpr std::array<bounded<std::size_t, most_inputs>, ops> origins{listed(typename RegionOps::origins{})...};
  static constexpr std::size_t join = first_join(
      type_at<type_list<RegionOps...>, 0>::op_type::kind, ops,
      [](std::size_t op, std::size_t k) {
        return origins[op][k] < inputs ? region_info::outside : origins[op][k] - inputs;
      },
      [](std::size_t op) { return origins[op].size(); });
};

}  // namespace detail

/// Element-wise ops: their functions as that of one broadcast.
template <class Arch, class... In, class... RegionOps>
  requires(detail::element_op<typename RegionOps::op_type> && ...)
struct simd_region_kernel<Arch, op_region<type_list<In...>, RegionOps...>> {
  using parts = detail::function_behind<op_region<type_list<In...>, RegionOps...>, 0>;
  using function = typename parts::type;
  using kernel = simd_kernel<Arch, std::tuple<In...>, broadcast_op<function>>;
  using out_type = typename op_region<type_list<In...>, RegionOps...>::out_type;

  static constexpr std::size_t scratch_bytes = kernel::scratch_bytes;

  simd_region_kernel(const typename RegionOps::op_type&... ops, parameter_values p)
      : kernel_(broadcast_op<function>(parts::make(ops...)), p) {}

  void operator()(const auto& in, out_type& out, std::byte* scratch) const {
    kernel_(detail::all_inputs(in), out, scratch);
  }

 private:
  kernel kernel_;
};

namespace detail {

/// A region whose first op has weights, taken apart: the ops of its chain, and those behind.
template <class Region, class Chain = std::make_index_sequence<region_wiring<Region>::join>,
          class Behind = std::make_index_sequence<region_wiring<Region>::ops - region_wiring<Region>::join>>
struct joined_region;
template <class... In, class... RegionOps, std::size_t... C, std::size_t... B>
struct joined_region<op_region<type_list<In...>, RegionOps...>, std::index_sequence<C...>, std::index_sequence<B...>> {
  using region = op_region<type_list<In...>, RegionOps...>;
  using wiring = region_wiring<region>;
  using ops = type_list<RegionOps...>;
  static constexpr std::size_t chain_ops = sizeof...(C);

  using chain_in = typename type_at<ops, 0>::in_type;
  using chain_origins = typename type_at<ops, 0>::origins;
  template <class Arch>
  using kernel = simd_kernel<Arch, chain_in, typename type_at<ops, C>::op_type...>;
  /// What the chain gives, and with it the region.
  using results = typename type_at<ops, chain_ops - 1>::out_type;
  static constexpr std::size_t axes = place_axes(type_at<ops, 0>::op_type::kind);

  using behind = function_behind<region, chain_ops>;
  using function = typename behind::type;

  static constexpr bool ends_element_wise = (element_op<typename type_at<ops, chain_ops + B>::op_type> && ...);

  template <class Kernel>
  static Kernel make_kernel(parameter_values p, const auto&... all) {
    const auto list = std::tie(all...);
    return Kernel(std::get<C>(list)..., p);
  }
  template <std::size_t... From>
  static decltype(auto) input_of_chain(const auto& in, std::index_sequence<From...>) {
    if constexpr (sizeof...(From) == 1)
      return (std::get<From>(in), ...);
    else
      return std::tie(std::get<From>(in)...);
  }
};

/// The results of a chain meet other values.
constexpr bool joins_results_of(const region_info& region) {
  return is_joined_region(region) || is_separable_region(region);
}

/// A kernel that hands its results to a join.
template <class Kernel, class In, class Out>
concept joins_results =
    requires(const Kernel& kernel, const In& in, Out& out, std::byte* scratch) { kernel(in, out, scratch, no_join{}); };

/// And does so for some of its tiles: how many it has.
template <class Kernel, class In, class Out>
inline constexpr std::size_t joined_tiles = 1;
template <class Kernel, class In, class Out>
  requires requires(const Kernel& kernel, const In& in, Out& out) { kernel.of_tiles(in, out, nullptr, {}, no_join{}); }
inline constexpr std::size_t joined_tiles<Kernel, In, Out> = Kernel::tiles;

}  // namespace detail

/// An op with weights whose results meet other values.
template <class Arch, class... In, class... RegionOps>
  requires(!(detail::element_op<typename RegionOps::op_type> && ...)) &&
          (detail::joins_results_of(
              region_info(detail::infos_of_region<op_region<type_list<In...>, RegionOps...>>::value))) &&
          detail::joined_region<op_region<type_list<In...>, RegionOps...>>::ends_element_wise && requires {
            sizeof(typename detail::joined_region<op_region<type_list<In...>, RegionOps...>>::template kernel<Arch>);
          }
struct simd_region_kernel<Arch, op_region<type_list<In...>, RegionOps...>> {
  using parts = detail::joined_region<op_region<type_list<In...>, RegionOps...>>;
  using kernel = typename parts::template kernel<Arch>;
  using out_type = typename op_region<type_list<In...>, RegionOps...>::out_type;

  static constexpr std::size_t scratch_bytes = kernel::scratch_bytes;
  static constexpr std::size_t weight_bytes = detail::weight_bytes_of<kernel>;
  static constexpr std::string_view method = detail::method_of<kernel>;
  static constexpr std::size_t tiles = detail::joined_tiles<kernel, typename parts::chain_in, out_type>;

  simd_region_kernel(const typename RegionOps::op_type&... ops, parameter_values p)
      : kernel_(parts::template make_kernel<kernel>(p, ops...)), function_(parts::behind::make(ops...)) {}

  void operator()(const auto& given, out_type& out, std::byte* scratch) const {
    with_join(given, [&](const auto& in, const auto& join) { kernel_(in, out, scratch, join); });
  }
  void of_tiles(const auto& given, out_type& out, std::byte* scratch, detail::tile_range some) const {
    with_join(given, [&](const auto& in, const auto& join) { kernel_.of_tiles(in, out, scratch, some, join); });
  }

 private:
  /// Calls `f(input, join)` with what the chain takes and what its results meet.
  template <class F>
  void with_join(const auto& given, F f) const {
    const auto in = detail::all_inputs(given);
    std::apply(
        [&](const In&... each) {
          const detail::joined_results<Arch, out_type, parts::axes, typename parts::function, In...> join(function_,
                                                                                                          each...);
          f(parts::input_of_chain(in, typename parts::chain_origins{}), join);
        },
        in);
  }

  kernel kernel_;
  [[no_unique_address]] typename parts::function function_;
};

}  // namespace levada
