// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/region.hpp: element-wise ops of any shape as one dispatch: an invocation for each element of the
// result loads what it needs of each input once, and what lies between the ops stays in registers.

#include <levada/backend/detail/region_function.hpp>
#include <levada/backend/spirv/detail/broadcast.hpp>
#include <levada/graph/detail/op_region.hpp>

namespace levada {

namespace detail {

/// A kernel as that of a region, each of whose inputs comes by itself.
template <class Region, class Kernel = dispatch_kernel>
struct region_base : Kernel {
  static constexpr bool takes_several = true;
  using out_type = typename Region::out_type;

 protected:
  region_base() {
    this->in_bytes = sizeof(type_at<typename Region::input_list, 0>);  // where it is the only one
    this->out_bytes = sizeof(out_type);
  }
  /// All dispatches were added.
  void finish() {
    if (Region::inputs > 1) this->dispatches_apart.swap(this->dispatches);
  }
};

}  // namespace detail

template <class... In, class... RegionOps>
  requires(detail::element_op<typename RegionOps::op_type> && ...) && (sizeof...(In) < dispatch::most_buffers) &&
          detail::pushable<typename detail::function_behind<op_region<type_list<In...>, RegionOps...>, 0>::type>
struct spirv_region_kernel<op_region<type_list<In...>, RegionOps...>>
    : detail::region_base<op_region<type_list<In...>, RegionOps...>> {
  using region = op_region<type_list<In...>, RegionOps...>;
  using out_type = typename spirv_region_kernel::out_type;
  using parts = detail::function_behind<region, 0>;

  spirv_region_kernel(const typename RegionOps::op_type&... ops, parameter_values) {
    using source =
        detail::broadcast_source<shape_of<out_type>, detail::no_leads, typename parts::type, detail::same_value, In...>;
    std::size_t which = 0;
    add_bound_grid<"element_wise", std::tuple<detail::row_of<In>...>, std::tuple<detail::row_of<out_type>>,
                   typename detail::each_element<shape_of<out_type>>::over>(
        *this, source{{}, parts::make(ops...), {}},
        {bound_tensor{buffer_role::input, 0, nullptr, sizeof(typename In::value_type) * In::elements, which++}...,
         bound_tensor{buffer_role::output}});
    this->finish();
  }
};

}  // namespace levada
