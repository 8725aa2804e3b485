// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/batch.hpp: a run of ops on a batch, as many dispatches as on an item: their grids go over all
// items. The modules are made from the kernels' instructions when the first such kernel is.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <levada/backend/spirv/detail/transform.hpp>
#include <levada/graph/detail/op_on.hpp>
#include <levada/kernel/detail/grid_of_items.hpp>

namespace levada {

namespace detail {

/// How far the items of a batch lie from each other in memory of that role.
struct item_steps {
  std::size_t input = 0, output = 0, scratch = 0;

  std::size_t of(buffer_role role) const {
    switch (role) {
      case buffer_role::input:
        return input;
      case buffer_role::output:
        return output;
      case buffer_role::scratch:
        return scratch;
      case buffer_role::weights:
        return 0;
    }
    return 0;
  }
};

using spirv_words = std::vector<std::uint32_t>;

/// The modules of the dispatches of a kernel, each for so many items.
inline std::vector<spirv_words> modules_of_items(const std::vector<dispatch>& dispatches, std::size_t items,
                                                 const item_steps& steps) {
  std::vector<spirv_words> modules;
  for (const dispatch& d : dispatches) {
    std::vector<std::uint32_t> elements;
    for (std::size_t b = 0; b < d.buffers.size(); ++b)
      elements.push_back(static_cast<std::uint32_t>(steps.of(d.buffers[b].role) / d.program.buffers[b].element_bytes));
    modules.push_back(assemble_grid(ir::grid_of_items(d.program, static_cast<std::uint32_t>(items), elements).view()));
  }
  return modules;
}

/// Makes the dispatches go over so many items, by these modules.
inline void go_over_items(std::vector<dispatch>& dispatches, std::size_t items, const item_steps& steps,
                          const std::vector<spirv_words>& modules) {
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    dispatch& d = dispatches[i];
    d.module = modules[i];
    for (dispatch_buffer& b : d.buffers) b.bytes += (items - 1) * steps.of(b.role);
    ir::grid_info over = d.program.grid;
    over.extents[2] *= static_cast<std::uint32_t>(items);
    d.groups = over.group_counts();
  }
}

/// Bytes from one item of a batch to the next.
template <class Item>
inline constexpr std::size_t batch_step = sizeof(Item);
template <any_tensor Item>
inline constexpr std::size_t batch_step<Item> = sizeof(typename Item::value_type) * Item::elements;

/// The kernel of an item can be made one of several.
template <class Item, class... Ops>
inline constexpr bool goes_over_items = !element_wise_run<Item, Ops...>;

}  // namespace detail

template <class Item, std::size_t N, class... Ops>
  requires op_kernel<spirv, Item, Ops...> && detail::goes_over_items<Item, Ops...>
struct spirv_batch_kernel<batch_tensor<Item, N>, Ops...> : spirv_kernel<Item, Ops...> {
  using of_item = spirv_kernel<Item, Ops...>;
  using made = run_output_t<Item, Ops...>;

  static constexpr detail::item_steps steps{detail::batch_step<Item>, detail::batch_step<made>,
                                            (of_item::scratch_bytes + 255) / 256 * 256};
  static constexpr std::size_t scratch_bytes = N * steps.scratch;

  spirv_batch_kernel(const Ops&... ops, parameter_values p) : of_item(ops..., p) {
    static const auto modules = detail::modules_of_items(this->dispatches, N, steps);
    detail::go_over_items(this->dispatches, N, steps, modules);
    this->in_bytes = sizeof(batch_tensor<Item, N>);
    this->out_bytes = sizeof(typename detail::batch_of<made, N>::type);
  }
};

/// Elements that are made of one element each do not mind whose they are.
template <class Item, std::size_t N, class... Ops>
  requires detail::element_wise_run<Item, Ops...>
struct spirv_batch_kernel<batch_tensor<Item, N>, Ops...>
    : detail::element_wise_kernel<tensor<typename Item::value_type, N * Item::elements>,
                                  typename run_output_t<Item, Ops...>::value_type, Ops...> {
  spirv_batch_kernel(const Ops&... ops, parameter_values) : spirv_batch_kernel::element_wise_kernel(ops...) {
    this->in_bytes = sizeof(batch_tensor<Item, N>);
    this->out_bytes = sizeof(typename detail::batch_of<run_output_t<Item, Ops...>, N>::type);
  }
};

}  // namespace levada
