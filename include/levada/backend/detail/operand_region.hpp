// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/operand_region.hpp: a region with parameters as operands as one that has none: the parameters become
// inputs behind its own.

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include <levada/graph/detail/op_region.hpp>
#include <levada/nn/parameter.hpp>

namespace levada::detail {

template <class Op>
concept joins_parameter = requires { requires Op::joins_parameter; };
template <class Op>
inline constexpr bool is_matmul_parameter = false;
template <parameter_place Place, std::size_t... Dims>
inline constexpr bool is_matmul_parameter<matmul_parameter_op<Place, Dims...>> = true;
/// Its parameter becomes an input; that of a product where `Products`.
template <class Op, bool Products>
concept gives_up_parameter = joins_parameter<Op> || (Products && is_matmul_parameter<Op>);

/// The parameter of an op as a list, empty where it keeps it.
template <class Op, class In, bool Products>
struct operand_of : type_tag<type_list<>> {};
template <class Op, class In, bool Products>
  requires gives_up_parameter<Op, Products>
struct operand_of<Op, In, Products> : type_tag<type_list<typename Op::template parameter<In>>> {};

/// How many of the first `Count` of these ops give up a parameter.
template <bool Products, class... RegionOps>
constexpr std::size_t operands_before(std::size_t count) {
  const bool joins[] = {gives_up_parameter<typename RegionOps::op_type, Products>...};
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) found += joins[i] ? 1 : 0;
  return found;
}

/// The region whose inputs are followed by the parameters.
template <class Region, bool Products, class Indices>
struct operand_region;
template <class... In, class... RegionOps, bool Products, std::size_t... I>
struct operand_region<op_region<type_list<In...>, RegionOps...>, Products, std::index_sequence<I...>> {
  static constexpr std::size_t inputs = sizeof...(In),
                               operands = operands_before<Products, RegionOps...>(sizeof...(RegionOps));
  static constexpr std::size_t shifted(std::size_t origin) { return origin < inputs ? origin : origin + operands; }

  template <class Op>
  struct form {  // an op without parameters among its operands, as it is
    template <std::size_t, class T, std::size_t... From>
    static auto of(std::index_sequence<From...>) -> region_op<Op, T, shifted(From)...>;
    static const Op& op(const Op& given) { return given; }
  };
  /// `Op` is `Two`, an op of two inputs, one of which is a parameter.
  template <class Op, class Two, parameter_place Place>
  struct form_of_two {
    template <std::size_t Parameter, class T, std::size_t From>
    static auto of(std::index_sequence<From>)
        -> region_op<Two, typename Op::template operands<T>::type,
                     (Place == parameter_place::first ? Parameter : shifted(From)),
                     (Place == parameter_place::first ? shifted(From) : Parameter)>;
    static Two op(const Op&) { return Two{}; }
  };
  template <class F, parameter_place Place, std::size_t... Dims>
  struct form<parameter_op<F, Place, Dims...>> : form_of_two<parameter_op<F, Place, Dims...>, broadcast_op<F>, Place> {
    static broadcast_op<F> op(const parameter_op<F, Place, Dims...>&) { return broadcast_op<F>(F{}); }
  };
  template <parameter_place Place, std::size_t... Dims>
    requires Products
  struct form<matmul_parameter_op<Place, Dims...>>
      : form_of_two<matmul_parameter_op<Place, Dims...>, matmul_op, Place> {};

  using parameter_list =
      concatenated<typename operand_of<typename RegionOps::op_type, typename RegionOps::in_type, Products>::type...>;
  using type = op_region<concatenated<type_list<In...>, parameter_list>,
                         decltype(form<typename RegionOps::op_type>::template of<
                                  inputs + operands_before<Products, RegionOps...>(I), typename RegionOps::in_type>(
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
      (sort(gives_up_parameter<typename RegionOps::op_type, Products>,
            RegionOps::op_type::template parameters<typename RegionOps::in_type>.size()),
       ...);
    }
    parameter_values own_values() const { return parameter_values(std::span(own).first(own_count)); }
  };
};
/// Products keep their parameters, which they may pack, or give them up, too.
template <class Region, bool Products = false>
using with_operands = operand_region<Region, Products, std::make_index_sequence<Region::ops>>;

}  // namespace levada::detail
