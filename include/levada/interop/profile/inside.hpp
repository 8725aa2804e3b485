// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/inside.hpp: the kernels and callables of pipelines that stand inside stages, measured as those around
// them.

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/for_each.hpp>
#include <levada/graph/detail/nested.hpp>
#include <levada/graph/detail/route.hpp>
#include <levada/interop/profile/profiler.hpp>

namespace levada::detail {

/// What a pipeline inside a stage is given of the stage's item: the item, or the first of its parts.
template <class Given, class Item>
Given sample_inside(const Item& item) {
  if constexpr (std::same_as<Given, Item>) {
    return item;
  } else {
    if (item.size() != 0) return item[0];
    return Given{};
  }
}

/// Where stages are, and what their parts are measured with: the node's item, or zeros.
template <class Flat, class Backends>
void profile_inside(const profiler<Flat, Backends>& around, const stage_address* stages, cost_header& costs,
                    const profile_options& options, profile_result& result) {
  const auto of_pipeline = [&]<std::size_t Node, std::size_t P>() {
    using place = typename Flat::template node_place<Node>;
    using op = typename place::part::op_type;
    using item = op_input_t<typename place::in>;
    using pipeline = type_at<typename op::template pipelines<item>, P>;
    using given = typename pipeline::in;
    using inner = profiler<typename pipeline::flat, Backends>;
    if constexpr (std::is_trivially_copyable_v<given> && std::is_trivially_copyable_v<item> &&
                  !is_branch_items<given>) {
      auto& holder = *static_cast<op*>(stages[Node].object);
      stage_address inner_stages[pipeline::flat::stages + 1];
      stage_addresses visit{inner_stages};
      for_each_stage(holder.template inside<P>(), visit);
      const auto sample = std::make_unique<given>(
          sample_inside<given>(*static_cast<const item*>(static_cast<const void*>(around.input_of(Node)))));
      const auto work =
          std::make_unique<inner>(inner_stages, sample.get(), fixed_array<attached_device>(), costs, options);
      const profile_result made = work->run();
      result.measured += made.measured;
      result.reused += made.reused;
      profile_inside(*work, inner_stages, costs, options, result);
    }
  };
  const auto of_node = [&]<std::size_t Node>() {
    using place = typename Flat::template node_place<Node>;
    if constexpr (is_nesting<typename place::part>) {
      using pipelines = typename place::part::op_type::template pipelines<op_input_t<typename place::in>>;
      [&]<std::size_t... P>(std::index_sequence<P...>) {
        (of_pipeline.template operator()<Node, P>(), ...);
      }(std::make_index_sequence<pipelines::size>{});
    }
  };
  if constexpr (has_nesting<Flat>)
    [&]<std::size_t... Node>(std::index_sequence<Node...>) {
      (of_node.template operator()<Node>(), ...);
    }(std::make_index_sequence<Flat::nodes>{});
}

}  // namespace levada::detail
