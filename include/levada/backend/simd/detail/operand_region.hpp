// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/operand_region.hpp: regions and chains with parameters as operands: the parameters become inputs
// of a region that has none, which the other kernels of regions compute; the kernel here keeps them and hands them in.

#include <cstddef>
#include <cstring>
#include <tuple>

#include <levada/backend/detail/chain_region.hpp>
#include <levada/backend/detail/operand_region.hpp>
#include <levada/backend/simd/detail/parameter.hpp>
#include <levada/backend/simd/detail/region.hpp>
#include <levada/graph/detail/op_region.hpp>

namespace levada {

namespace detail {

template <class List>
struct parameters_kept;
template <class... T>
struct parameters_kept<type_list<T...>> {
  std::tuple<T...> values;

  explicit parameters_kept(const void* const* from) {
    std::apply([&](T&... each) { (std::memcpy(each.data(), *from++, sizeof each.values), ...); }, values);
  }
  auto behind(const auto& inputs) const {
    return std::tuple_cat(inputs, std::apply([](const T&... each) { return std::tie(each...); }, values));
  }
};

}  // namespace detail

template <class Arch, class... In, class... RegionOps>
  requires(
      (detail::joins_parameter<typename RegionOps::op_type> || ...) &&
      requires {
        sizeof(
            simd_region_kernel<Arch, typename detail::with_operands<op_region<type_list<In...>, RegionOps...>>::type>);
      })
struct simd_region_kernel<Arch, op_region<type_list<In...>, RegionOps...>> {
  using parts = detail::with_operands<op_region<type_list<In...>, RegionOps...>>;
  using kernel = simd_region_kernel<Arch, typename parts::type>;
  using out_type = typename op_region<type_list<In...>, RegionOps...>::out_type;

  static constexpr std::size_t scratch_bytes = kernel::scratch_bytes;
  static constexpr std::size_t weight_bytes =
      detail::weight_bytes_of<kernel> + sizeof(detail::parameters_kept<typename parts::parameter_list>);
  static constexpr std::string_view method = detail::method_of<kernel>;

  simd_region_kernel(const typename RegionOps::op_type&... ops, parameter_values p)
      : simd_region_kernel(typename parts::sorted_parameters(p), ops...) {}

  void operator()(const auto& given, out_type& out, std::byte* scratch) const {
    kernel_(parameters_.behind(detail::all_inputs(given)), out, scratch);
  }

 private:
  explicit simd_region_kernel(const typename parts::sorted_parameters& p, const typename RegionOps::op_type&... ops)
      : kernel_(parts::template form<typename RegionOps::op_type>::op(ops)..., p.own_values()),
        parameters_(p.joined.data()) {}

  kernel kernel_;
  detail::parameters_kept<typename parts::parameter_list> parameters_;
};

/// A chain with a parameter as an operand, or behind a product with one.
template <class Arch, class In, class First, class Second, class... Rest>
  requires detail::run_takes<In, First, Second, Rest...> &&
           (detail::is_matmul_parameter<First> || detail::joins_parameter<First> || detail::joins_parameter<Second> ||
            (detail::joins_parameter<Rest> || ...)) &&
           requires { sizeof(simd_region_kernel<Arch, detail::chain_region_t<In, First, Second, Rest...>>); }
struct simd_kernel<Arch, In, First, Second, Rest...>
    : simd_region_kernel<Arch, detail::chain_region_t<In, First, Second, Rest...>> {
  using simd_region_kernel<Arch, detail::chain_region_t<In, First, Second, Rest...>>::simd_region_kernel;
};

}  // namespace levada
