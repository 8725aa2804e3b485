// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/operand_region.hpp: regions and chains with parameters as operands: the parameters become inputs
// of a region that has none, which the other kernels of regions compute; the kernel here keeps them and hands them in.

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>

#include <levada/backend/detail/chain_region.hpp>
#include <levada/backend/simd/detail/parameter.hpp>
#include <levada/backend/simd/detail/region.hpp>
#include <levada/graph/detail/op_region.hpp>

namespace levada {

namespace detail {

template <class Op>
concept joins_parameter = requires { requires Op::joins_parameter; };

/// The parameter of an op as a list, empty where it has none as an operand.
template <class Op, class In>
struct operand_of : type_tag<type_list<>> {};
template <joins_parameter Op, class In>
struct operand_of<Op, In> : type_tag<type_list<typename Op::template parameter<In>>> {};

/// How many of the first `Count` of these ops have a parameter as an operand.
template <class... RegionOps>
constexpr std::size_t operands_before(std::size_t count) {
  const bool joins[] = {joins_parameter<typename RegionOps::op_type>...};
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) found += joins[i] ? 1 : 0;
  return found;
}

/// The region whose inputs are followed by the parameters.
template <class Region, class Indices>
struct operand_region;
template <class... In, class... RegionOps, std::size_t... I>
struct operand_region<op_region<type_list<In...>, RegionOps...>, std::index_sequence<I...>> {
  static constexpr std::size_t inputs = sizeof...(In), operands = operands_before<RegionOps...>(sizeof...(RegionOps));
  static constexpr std::size_t shifted(std::size_t origin) { return origin < inputs ? origin : origin + operands; }

  template <class Op>
  struct form {  // an op without parameters among its operands, as it is
    template <std::size_t, class T, std::size_t... From>
    static auto of(std::index_sequence<From...>) -> region_op<Op, T, shifted(From)...>;
    static const Op& op(const Op& given) { return given; }
  };
  template <class F, parameter_place Place, std::size_t... Dims>
  struct form<parameter_op<F, Place, Dims...>> {
    template <std::size_t Parameter, class T, std::size_t From>
    static auto of(std::index_sequence<From>)
        -> region_op<broadcast_op<F>, typename parameter_op<F, Place, Dims...>::template operands<T>::type,
                     (Place == parameter_place::first ? Parameter : shifted(From)),
                     (Place == parameter_place::first ? shifted(From) : Parameter)>;
    static broadcast_op<F> op(const parameter_op<F, Place, Dims...>&) { return broadcast_op<F>(F{}); }
  };

  using parameter_list =
      concatenated<typename operand_of<typename RegionOps::op_type, typename RegionOps::in_type>::type...>;
  using type =
      op_region<concatenated<type_list<In...>, parameter_list>,
                decltype(form<typename RegionOps::op_type>::template of<inputs + operands_before<RegionOps...>(I),
                                                                        typename RegionOps::in_type>(
                    typename RegionOps::origins{}))...>;

  /// The parameters of the ops that have them for themselves, and those that are operands.
  struct sorted_parameters {
    std::array<const void*, (RegionOps::op_type::template parameters<typename RegionOps::in_type>.size() + ... + 1)>
        own{};
    std::size_t own_count = 0;
    std::array<const void*, operands + 1> joined{};

    explicit sorted_parameters(parameter_values p) {
      std::size_t next = 0, joined_count = 0;
      const auto sort = [&](bool joins, std::size_t count) {
        for (; count > 0; --count) (joins ? joined[joined_count++] : own[own_count++]) = p.get<std::byte>(next++);
      };
      (sort(joins_parameter<typename RegionOps::op_type>,
            RegionOps::op_type::template parameters<typename RegionOps::in_type>.size()),
       ...);
    }
    parameter_values own_values() const { return parameter_values(std::span(own).first(own_count)); }
  };
};
template <class Region>
using with_operands = operand_region<Region, std::make_index_sequence<Region::ops>>;

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

template <class Op>
inline constexpr bool is_matmul_parameter = false;
template <parameter_place Place, std::size_t... Dims>
inline constexpr bool is_matmul_parameter<matmul_parameter_op<Place, Dims...>> = true;

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
