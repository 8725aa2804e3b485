// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/library_regions.hpp: a region as one kernel of a backend, against `reference` op by op.

#include <tuple>
#include <utility>
#include <vector>

#include <levada/backend/detail/define/broadcast.hpp>
#include <levada/backend/detail/define/parameters.hpp>
#include <levada/backend/detail/define/transform.hpp>
#include <levada/graph/detail/op_region.hpp>

#include "backend/library.hpp"

namespace levada::testing {

/// An op of a region and where its operands come from: inputs first, then ops.
template <class Op, std::size_t... From>
struct used_op {
  Op op;
};
template <std::size_t... From, class Op>
constexpr used_op<Op, From...> of(const Op& op) {
  return {op};
}
template <std::size_t... From, fixed_string Name, class Op>
constexpr used_op<Op, From...> of(const op_stage<Name, Op>& stage) {
  return {stage.description};
}

/// The region of ops whose operands are of `Values`.
template <class Inputs, class Values, class Done, class... Uses>
struct made_region;
template <class Inputs, class Values, class... Done>
struct made_region<Inputs, Values, type_list<Done...>> : type_tag<op_region<Inputs, Done...>> {};
template <class... T>
struct operands_type : type_tag<std::tuple<T...>> {};
template <class T>
struct operands_type<T> : type_tag<T> {};
template <class Inputs, class... V, class... Done, class Op, std::size_t... From, class... Rest>
struct made_region<Inputs, type_list<V...>, type_list<Done...>, used_op<Op, From...>, Rest...> {
  using in = typename operands_type<type_at<type_list<V...>, From>...>::type;
  using type = typename made_region<Inputs, type_list<V..., typename Op::template output<in>>,
                                    type_list<Done..., region_op<Op, in, From...>>, Rest...>::type;
};
template <class Inputs, class... Uses>
using region_of = typename made_region<Inputs, Inputs, type_list<>, Uses...>::type;

/// `Backend` takes the region.
template <class Backend, class Inputs, class... Uses>
inline constexpr bool takes_region_of =
    Backend::takes(region_info(detail::infos_of_region<region_of<Inputs, Uses...>>::value));
template <class Backend, class... In, class... Uses>
constexpr std::bool_constant<takes_region_of<Backend, type_list<In...>, Uses...>> takes(type_list<In...>, Uses...) {
  return {};
}

/// What `reference` makes of values, op by op; the last op's.
template <class In, class... T>
In operands_among(const std::tuple<T...>& values, auto... at) {
  if constexpr (sizeof...(at) == 1)
    return (*std::get<at>(values), ...);
  else
    return In(*std::get<at>(values)...);
}
template <class RegionOps, std::size_t I = 0, class... T>
auto by_reference(std::span<const void* const> parameters, const std::tuple<T...>& values, const auto&... ops) {
  if constexpr (I == RegionOps::size) {
    return *std::get<sizeof...(T) - 1>(values);
  } else {
    using region_op = type_at<RegionOps, I>;
    using in = typename region_op::in_type;
    const auto& op = std::get<I>(std::tie(ops...));
    const std::size_t own = region_op::op_type::template parameters<in>.size();
    const auto operands = [&]<std::size_t... From>(std::index_sequence<From...>) {
      return on_heap<in>(operands_among<in>(values, std::integral_constant<std::size_t, From>()...));
    }(typename region_op::origins());
    const auto made = by_one_kernel<reference>(*operands, parameters.first(own), op);
    return by_reference<RegionOps, I + 1>(parameters.subspan(own), std::tuple_cat(values, std::make_tuple(&*made)),
                                          ops...);
  }
}

/// The same in one kernel of `Backend`, within so many epsilon.
template <class Backend, class... In, class... Uses>
void check_region(type_list<In...>, double products, const Uses&... uses) {
  using region = region_of<type_list<In...>, Uses...>;
  static_assert(takes_region_of<Backend, type_list<In...>, Uses...>);
  const std::tuple<on_heap<In>...> in(random_tensor<In>()...);
  random_parameters parameters;
  [&]<class... R>(type_list<R...>) {
    (parameters.add<typename R::in_type, typename R::op_type>(), ...);
    std::span<const void* const> left = parameters.all();
    ((mend_variances<typename R::in_type, typename R::op_type>(left),
      left = left.subspan(R::op_type::template parameters<typename R::in_type>.size())),
     ...);
  }(typename region::op_list());
  const auto expected = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return on_heap<typename region::out_type>(
        by_reference<typename region::op_list>(parameters.all(), std::make_tuple(&*std::get<I>(in)...), uses.op...));
  }(std::index_sequence_for<In...>());
  using kernel = typename Backend::template region_kernel<region>;
  const on_heap<kernel> k(uses.op..., parameter_values(parameters.all()));
  aligned_bytes scratch(kernel::scratch_bytes);
  const auto out = unwritten<typename region::out_type>();
  for (int repeat = 0; repeat < 2; ++repeat)  // the values on the way are used again
    std::apply(
        [&](const on_heap<In>&... each) {
          if constexpr (sizeof...(In) == 1)
            (*k)(*each..., *out, scratch.data());
          else
            (*k)(std::tie(*each...), *out, scratch.data());
        },
        in);
  check_difference(largest_difference(*expected, *out), products * epsilon, __PRETTY_FUNCTION__);
}

}  // namespace levada::testing
