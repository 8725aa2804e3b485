// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/priced_graph.hpp: small graphs whose ops have prices, and their plans.

#include <initializer_list>
#include <span>

#include <levada/plan/detail/plan.hpp>

namespace levada::test {

/// A graph of ops, each with its price.
struct priced_graph {
  graph_info<8> info;
  bounded<cost, 8> prices;
  int threads = 2;
  std::size_t scratch = 0, tiles = 1;  ///< of each kernel

  constexpr priced_graph() { info.values.push_back({64, 64, element::f32, shape(16), true}); }

  constexpr std::size_t op(double seconds, std::initializer_list<std::size_t> from, std::size_t floats = 16,
                           reuse how = reuse::none) {
    node_info node;
    node.name = "op";
    node.how = form::op;
    node.reuses = how;
    return add(node, cost::measured(seconds), from, floats);
  }
  constexpr std::size_t callable(cost price, std::initializer_list<std::size_t> from, form how = form::map,
                                 concurrency order = concurrency::parallel) {
    node_info node;
    node.name = "stage";
    node.how = how;
    node.order = order;
    return add(node, price, from, 16);
  }

  constexpr auto plan(bool has_workers = true) const {
    const device_info devices[] = {{cpu<2>::id, threads}};
    constexpr backend_info backends[] = {{"simd"}};
    bounded<candidate, 8> each;
    for (std::size_t n = 0; n < info.nodes.size(); ++n)
      if (is_op(info.nodes[n])) each.push_back({n, 1, 0, scratch, 0, {}, tiles});
    const std::span<const candidate> candidates(each.data(), each.size());
    return make_plan(info, choose_partition(info, std::span(devices), candidates, std::span(backends)),
                     {64, {prices.data(), prices.size()}, has_workers}, devices, candidates, backends);
  }

 private:
  constexpr std::size_t add(node_info node, cost price, std::initializer_list<std::size_t> from, std::size_t floats) {
    node.in = *from.begin();
    for (auto more = from.begin() + 1; more != from.end(); ++more)
      node.more.push_back(static_cast<std::uint16_t>(*more));
    node.out = info.result = info.values.size();
    info.values.push_back({4 * floats, 64, element::f32, shape(floats), true, info.nodes.size()});
    info.nodes.push_back(node);
    prices.push_back(price);
    return node.out;
  }
};

}  // namespace levada::test
