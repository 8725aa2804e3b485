// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random graphs of stages with random candidates, backends and devices, for properties that every plan has.

#include <array>
#include <random>
#include <string_view>
#include <vector>

#include <levada/plan/detail/plan.hpp>

namespace levada::test {

inline constexpr std::size_t largest_line = 24;

/// What a partition is chosen from. Names are drawn from a list with quotes, spaces, controls and UTF-8 in it.
struct random_deployment {
  graph_info<largest_line> graph;
  std::vector<device_info> devices;
  std::vector<backend_info> backends;
  std::vector<candidate> candidates;
  plan_request request;
  std::vector<cost> node_prices{};

  partition<largest_line> parts() const { return choose_partition(graph, devices, candidates, backends); }
  plan_info<largest_line> plan() const { return plan_with(parts(), request.slots); }
  plan_info<largest_line> plan_with(const partition<largest_line>& units, std::size_t slots) const {
    std::vector<cost> prices;
    for (const partition_unit& u : units) prices.push_back(node_prices[u.first]);
    return make_plan(graph, units, {slots, prices}, devices, candidates, backends);
  }
};

class random_source {
 public:
  explicit random_source(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(engine_); }
  bool once_in(std::size_t n) { return below(n) == 0; }
  template <class T, std::size_t N>
  T one_of(const T (&choices)[N]) {
    return choices[below(N)];
  }

 private:
  std::mt19937 engine_;
};

inline value_info random_value(random_source& random, std::size_t producer) {
  value_info value;
  value.alignment = random.one_of<std::size_t>({1, 4, 8, 64, 64, 128});
  value.bytes = value.alignment * (1 + random.below(random.once_in(4) ? 400 : 6));
  value.producer = producer;
  value.type = element::u8;
  value.extents = shape(value.bytes - random.below(random.once_in(4) ? value.alignment : 1));
  return value;
}

/// An op says that its output may share memory; `values` are what it takes and what else there is.
template <class Values>
value_info random_output(random_source& random, node_info& node, const Values& values, std::size_t producer) {
  const value_info& in = values[node.in];
  value_info out = random_value(random, producer);
  switch (node.how == form::op ? random.below(5) : 0) {
    case 1:
    case 2:
      node.reuses = reuse::in_place;
      out = in;
      break;
    case 3:
      node.reuses = reuse::view;
      node.view_offset = random.once_in(2) ? 0 : random.below(in.extents.elements());
      out.alignment = in.alignment;
      out.extents = shape(1 + random.below(in.extents.elements() - node.view_offset));
      if (random.once_in(2)) out.extents = shape(in.extents.elements() - node.view_offset);
      break;
    case 4: {
      node.reuses = reuse::joins;
      std::size_t elements = 0;
      for_each_input(node, [&](std::size_t v) {
        elements += values[v].extents.elements();
        out.alignment = std::max(out.alignment, values[v].alignment);
      });
      out.extents = shape(elements);
      break;
    }
    default:
      break;
  }
  if (node.reuses == reuse::view || node.reuses == reuse::joins)
    out.bytes = (out.extents.elements() + out.alignment - 1) / out.alignment * out.alignment;
  out.producer = producer;
  return out;
}

inline node_info random_node(random_source& random, bool last) {
  using namespace std::string_view_literals;
  node_info node;
  node.name =
      random.one_of({"decode"sv, "conv1"sv, "two words"sv, "a \"quoted\" one"sv, "back\\slash"sv, "größe, 大きさ"sv,
                     "tab\tand\nline"sv, "nul\0inside"sv, ""sv, "cpu: \"x\" | slots"sv, "\xff broken"sv});
  node.how = random.once_in(2) ? form::op
                               : random.one_of({form::map, form::consume, form::in_place, form::destination,
                                                form::filter, form::consume_filter});
  if (last && random.once_in(5)) node.how = form::sink;
  node.kind = node.how == form::op ? "some op"sv : "callable"sv;
  if (node.how != form::op && random.once_in(3)) node.order = concurrency::serial;
  node.split_after = random.once_in(8);
  node.flops = static_cast<double>(random.below(1000)) * 1e3;
  return node;
}

/// A line, or a graph in which nodes take any values that nobody has changed or consumed.
inline graph_info<largest_line> random_graph(random_source& random, std::size_t count, bool is_line) {
  graph_info<largest_line> graph;
  graph.values.push_back(random_value(random, value_info::nobody));
  if (random.once_in(4)) graph.source = "camera";
  std::vector<std::size_t> there{0};  // what may still be taken
  for (std::size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count || there.size() == 1;
    node_info node = random_node(random, is_line ? i + 1 == count : !last && random.once_in(3));
    const auto take = [&] {
      return there[is_line || random.once_in(2) ? there.size() - 1 : random.below(there.size())];
    };
    node.in = take();
    if (consumes(node) || is_line)
      std::erase(there, node.in);
    else
      for (std::size_t more = random.once_in(2) ? 0 : random.below(4); more != 0; --more)
        node.more.push_back(static_cast<std::uint16_t>(take()));
    if (node.how != form::sink) {
      there.push_back(graph.values.size());
      value_info out = random_output(random, node, graph.values, i);
      if (node.how == form::in_place) out = graph.values[node.in];
      out.producer = i;
      graph.values.push_back(out);
    }
    node.out = node.how == form::sink ? node.in : graph.values.size() - 1;
    graph.nodes.push_back(node);
  }
  graph.ends_in_sink = there.empty();
  if (!graph.ends_in_sink) graph.result = there.back();
  return graph;
}

inline graph_info<largest_line> random_graph(random_source& random) {
  const std::size_t count = 1 + random.below(largest_line);
  return random_graph(random, count, random.once_in(2));
}

/// A deployment that can be covered: the last backend takes every single op on the processor.
inline random_deployment make_random_deployment(unsigned seed) {
  random_source random(seed);
  random_deployment d;
  d.graph = random_graph(random);
  d.devices.push_back(
      {cpu<2>::id, 1 + static_cast<int>(random.below(8)), 256u << random.below(8), 256u << random.below(13)});
  if (random.once_in(2)) d.devices.push_back({simulated<3>::id});
  if (random.once_in(3)) d.devices.insert(d.devices.begin(), {vulkan<0>::id});
  d.backends = {{"fast"}, {"spirv", device_kind::vulkan}, {"a \"b\" \\c\n"}, {"reference"}};
  for (std::size_t first = 0; first < d.graph.nodes.size(); ++first)
    for (std::size_t b = 0; b < d.backends.size(); ++b)
      for (std::size_t n = 1; n <= 4 && first + n <= d.graph.nodes.size() && is_op(d.graph.nodes[first + n - 1]); ++n)
        if (b + 1 == d.backends.size() ? n == 1 : random.once_in(3))
          d.candidates.push_back({first, n, b, random.once_in(2) ? random.below(500) : 0, random.below(10000)});
  for (node_info& node : d.graph.nodes)
    if (random.once_in(6)) node.pin = d.devices[random.below(d.devices.size())].id;
  // A pin to the device without callables, or without a kernel for the op, would leave the graph uncovered.
  for (std::size_t i = 0; i < d.graph.nodes.size(); ++i)
    if (d.graph.nodes[i].pin.kind == device_kind::vulkan) d.graph.nodes[i].pin = {};
  d.request.slots = random.one_of<std::size_t>({1, 2, 7, 64, 64, 200});
  for (std::size_t n = 0; n < d.graph.nodes.size(); ++n)
    d.node_prices.push_back(cost::measured(random.one_of({1e-6, 15e-6, 30e-6, 1e-4})));
  return d;
}

}  // namespace levada::test
