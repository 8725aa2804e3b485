// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/generated_graphs.hpp: generated graphs as values, planned and run by what plans and runs pipelines, on any
// executor; their stages are bytes that depend on all they take. Every item is what a loop over the nodes, each value
// in memory of its own, makes of it. Run under oneTBB by run/generated_graphs.cpp, on plain threads by tsan/.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include <levada/run/detail/deploy/bind_plan.hpp>
#include <levada/run/detail/program/make_program.hpp>
#include <levada/run/detail/program/program_layout.hpp>
#include <levada/run/detail/program/unit.hpp>
#include <levada/run/detail/session/session_core.hpp>
#include <levada/run/simulated.hpp>

#include <plan/random_graph.hpp>

namespace levada::test {

using bytes_in = std::span<const std::uint8_t>;
using bytes_out = std::span<std::uint8_t>;

inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
  return x ^ (x >> 29);
}
inline std::uint64_t hash_of(bytes_in bytes, std::uint64_t seed) {
  std::size_t i = 0;
  for (std::uint64_t word; i + sizeof word <= bytes.size(); i += sizeof word) {
    std::memcpy(&word, bytes.data() + i, sizeof word);
    seed = mixed(seed ^ word);
  }
  for (; i < bytes.size(); ++i) seed = mixed(seed + bytes[i] + 1);
  return seed;
}
inline void fill(bytes_out to, std::uint64_t seed) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (i % 8 == 0) seed = mixed(seed + i);
    to[i] = static_cast<std::uint8_t>(seed >> (i % 8 * 8));
  }
}

/// A node by itself: what it takes and gives, without where.
struct generated_node {
  node_info info;
  std::size_t number = 0;
  std::vector<std::size_t> in;
  std::size_t out = 0;
};

inline std::uint64_t draw_of(const generated_node& node, std::uint64_t hash) { return mixed(hash + 7 * node.number); }

/// What the node does to one item. `out` may be where an input is, in the ways that the node's `reuses` says. `seen` is
/// a serial stage's state. False: it is filtered.
inline bool compute(const generated_node& node, std::span<const bytes_in> in, bytes_out out, std::uint64_t& seen) {
  if (node.info.reuses == reuse::view) {
    if (out.data() != in[0].data() + node.info.view_offset)
      std::memmove(out.data(), in[0].data() + node.info.view_offset, out.size());
    return true;
  }
  if (node.info.reuses == reuse::joins) {
    for (const bytes_in part : in) {
      if (out.data() != part.data()) std::memmove(out.data(), part.data(), part.size());
      out = out.subspan(part.size());
    }
    return true;
  }
  const bool element_wise = node.info.reuses == reuse::in_place;
  std::uint64_t hash = node.number;
  for (const bytes_in part : in)
    if (!element_wise || part.size() != out.size()) hash = hash_of(part, hash);
  if (node.info.order == concurrency::serial) hash = mixed(hash + ++seen);
  if (!is_op(node.info) && draw_of(node, hash) % 29 == 0) throw std::runtime_error("generated");
  if (filters(node.info) && draw_of(node, hash) % 5 == 0) return false;
  if (element_wise) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      unsigned sum = static_cast<unsigned>(hash >> (i % 7));
      for (const bytes_in part : in)
        if (part.size() == out.size()) sum = 31 * sum + part[i];
      out[i] = static_cast<std::uint8_t>(sum);
    }
  } else if (node.info.how != form::sink) {
    fill(out, hash);
  }
  return true;
}

/// What becomes of an item.
struct ending {
  enum { value, failed, filtered } how = value;
  std::vector<std::uint8_t> bytes;
  friend bool operator==(const ending&, const ending&) = default;
};

/// A graph with its nodes one after the other, each value in a vector.
class graph_loop {
 public:
  explicit graph_loop(const std::vector<generated_node>& nodes, const random_deployment& of)
      : nodes_(nodes), of_(of), values_(of.graph.values.size()), seen_(nodes.size()) {}

  ending operator()(bytes_in item) {
    values_[0].assign(item.begin(), item.end());
    for (const generated_node& node : nodes_) {
      std::vector<bytes_in> in;
      for (const std::size_t v : node.in) in.emplace_back(values_[v]);
      std::vector<std::uint8_t> out(node.info.how == form::sink ? 0 : of_.graph.values[node.out].extents.elements());
      try {
        if (!compute(node, in, out, seen_[node.number])) return {ending::filtered, {}};
      } catch (const std::runtime_error&) {
        return {ending::failed, {}};
      }
      if (node.info.how != form::sink) values_[node.out] = std::move(out);
    }
    if (of_.graph.ends_in_sink) return {};
    return {ending::value, values_[of_.graph.result]};
  }

 private:
  const std::vector<generated_node>& nodes_;
  const random_deployment& of_;
  std::vector<std::vector<std::uint8_t>> values_;
  std::vector<std::uint64_t> seen_;
};

/// How many values there are that stages have made and nobody has destroyed yet.
inline std::atomic<long>& values_alive() {
  static std::atomic<long> count{0};
  return count;
}

/// A unit of a plan as the engine runs it: its nodes, in memory that the plan says.
struct generated_unit {
  std::vector<generated_node> nodes;
  std::vector<std::size_t> takes;     ///< the values that come from outside, in the order of the plan
  std::vector<std::size_t> elements;  ///< of each value of the graph
  std::vector<std::size_t> offsets;  ///< of each value in the whole that the unit gives; `nowhere`: it is no part of it
  std::size_t scratch_bytes = 0;
  bool makes_something = false;  ///< that has to be destroyed
  std::uint64_t seen = 0;
  static constexpr std::size_t nowhere = ~std::size_t{0};

  static void run(detail::unit_call& call) noexcept {
    auto& unit = *static_cast<generated_unit*>(call.object);
    detail::for_each_item(call, [&](void* in, void* out, std::size_t) {
      std::vector<bytes_in> values(unit.elements.size());
      for (std::size_t i = 0; i < unit.takes.size(); ++i)
        values[unit.takes[i]] = {
            static_cast<const std::uint8_t*>(unit.takes.size() == 1 ? in : static_cast<void* const*>(in)[i]),
            unit.elements[unit.takes[i]]};
      const bool kept = unit.compute_all(values, static_cast<std::uint8_t*>(out), call.scratch);
      if (kept && unit.makes_something) ++values_alive();
      return kept;
    });
  }

 private:
  /// `values`: of the graph, those that are there.
  bool compute_all(std::vector<bytes_in>& values, std::uint8_t* out, std::byte* scratch) {
    if (nodes.size() != 1) std::memset(scratch, 0xcd, scratch_bytes);
    auto* inside = reinterpret_cast<std::uint8_t*>(scratch);
    for (const generated_node& node : nodes) {
      const bool is_last = &node == &nodes.back();
      const bool is_part = node.info.how != form::sink && offsets[node.out] != nowhere;
      bytes_out to;
      if (node.info.how != form::sink)
        to = {is_part ? out + offsets[node.out] : is_last ? out : inside, elements[node.out]};
      std::vector<bytes_in> inputs;
      for (const std::size_t v : node.in) inputs.push_back(values[v]);
      if (!compute(node, inputs, to, seen)) return false;
      if (!is_last && !is_part) inside += to.size();
      if (node.info.how != form::sink) values[node.out] = to;
    }
    return true;
  }
};

inline std::vector<generated_node> nodes_of(const graph_info<largest_line>& graph) {
  std::vector<generated_node> nodes;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const node_info& info = graph.nodes[n];
    nodes.push_back({info, n, {}, info.out});
    for (std::size_t v = info.out + 1; v < graph.values.size(); ++v)  // of several outputs of a region its own
      if (graph.has_joined_outputs && graph.values[v].part_of == info.out && graph.values[v].producer == n)
        nodes.back().out = v;
    for_each_input(info, [&](std::size_t v) { nodes.back().in.push_back(v); });
  }
  return nodes;
}

/// A generated graph with its plan, and the program that the engine runs.
struct generated_graph {
  explicit generated_graph(unsigned seed) : of(make_random_deployment(seed)) {
    of.graph.source = {};
    std::erase_if(of.devices, [](const device_info& d) { return d.id.kind == device_kind::vulkan; });
    nodes = nodes_of(of.graph);
    set_scratch();
    plan = of.plan();
  }
  /// In a partition that somebody chose. `written`: the nodes of the graph as it was written, of which `order` has the
  /// places.
  generated_graph(random_deployment with, const partition<largest_line>& parts,
                  const std::vector<generated_node>& written, std::span<const std::size_t> order)
      : of(std::move(with)) {
    nodes = nodes_of(of.graph);
    set_scratch();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i].number = order[i];
      nodes[i].info.reuses = written[order[i]].info.reuses;
    }
    plan = of.plan_with(parts, of.request.slots);
  }

  void set_scratch() {
    for (candidate& c : of.candidates) {
      c.scratch_bytes = 0;
      for (std::size_t n = c.first; n + 1 < c.first + c.count; ++n) c.scratch_bytes += elements_of(nodes[n].out);
    }
  }

  std::size_t elements_of(std::size_t value) const { return of.graph.values[value].extents.elements(); }

  /// Values that own something, which has to be destroyed once: of callables, where no op and no change in place may
  /// lie, and which somebody takes, as pipelines ask for.
  bool owns_something(std::size_t v) const {
    if (v == 0 || (!of.graph.ends_in_sink && of.graph.result == v)) return false;
    bool taken = false;
    for (const generated_node& node : nodes) {
      const bool takes = std::find(node.in.begin(), node.in.end(), v) != node.in.end();
      if ((takes || node.out == v) && (is_op(node.info) || node.info.how == form::in_place)) return false;
      taken = taken || takes;
    }
    return taken;
  }

  bool runs_branches_at_once() const { return !plan.fork.empty() && plan.fork[0].order == branch_order::at_once; }

  detail::program make_program() const {
    const auto layout = detail::layout_of(plan);
    std::vector<generated_unit> units;
    std::vector<detail::unit_descriptor> texts;
    std::vector<detail::stage_address> stages(nodes.size());
    for (const planned_unit& u : plan.unit) {
      generated_unit unit;
      for (std::size_t n = u.first; n < u.first + u.count; ++n) unit.nodes.push_back(nodes[n]);
      for_each_input(u, [&](std::size_t v) { unit.takes.push_back(v); });
      for (std::size_t v = 0; v < of.graph.values.size(); ++v) {
        const value_info& value = of.graph.values[v];
        unit.elements.push_back(elements_of(v));
        const bool is_part = u.count > 1 && is_port_value(of.graph, v) && value.part_of == u.out;
        unit.offsets.push_back(is_part ? value.part_offset : generated_unit::nowhere);
      }
      unit.scratch_bytes = u.scratch_bytes;
      unit.makes_something = u.how != form::sink && owns_something(u.out);
      detail::unit_descriptor text;
      text.name = u.backend == partition_unit::callable ? std::string_view("generated") : std::string_view();
      text.run = &generated_unit::run;
      text.make = [](void* from) {
        return detail::erased_object::make<generated_unit>(*static_cast<generated_unit*>(from));
      };
      text.own_copy = u.order == concurrency::serial;
      if (unit.makes_something) text.destroy = [](void*) noexcept { --values_alive(); };
      texts.push_back(text);
      units.push_back(std::move(unit));
    }
    std::vector<const detail::unit_descriptor*> places;
    for (std::size_t u = 0; u < units.size(); ++u) {
      stages[plan.unit[u].first].object = &units[u];
      places.push_back(&texts[u]);
    }
    return detail::make_program(
        layout, {layout.arrays(), places.data(), nullptr, nullptr, stages.data(), nullptr, nullptr}, plan.threads);
  }

  random_deployment of;
  std::vector<generated_node> nodes;
  plan_info<largest_line> plan;
};

/// Items of the graph through a session, pushed and popped by two threads, equal the loop. `one_by_one`: each alone, so
/// that idle threads take its branches.
template <class Executor>
void equals_the_loop(const generated_graph& graph, std::size_t items, bool one_by_one = false) {
  using core = detail::session_core<Executor>;
  const auto& of = graph.of;
  detail::fixed_array<detail::attached_device> devices(of.devices.size() - 1);  // all but the processor
  bool on_devices = false;
  for (std::size_t i = 0, next = 0; i < of.devices.size(); ++i) {
    if (of.devices[i].id.kind == device_kind::cpu) continue;
    REQUIRE(of.devices[i].id == simulated<3>::id);
    devices[next++] = {of.devices[i].id,
                       detail::owner<detail::device_queue>(device_driver<simulated<3>>::open().release())};
    on_devices = true;
  }
  detail::backbone_code backbone = nullptr;
  if constexpr (requires { &Executor::template make_backbone<true>; })
    if (on_devices || graph.plan.segments > 1) backbone = &Executor::template make_backbone<true>;
  constexpr detail::used_parts used{.devices = true, .division = false, .branches = true};
  const auto app = detail::make_deployment<Executor, used>(graph.make_program(), {}, std::move(devices), backbone, {});
  const std::size_t item_bytes = graph.elements_of(0);
  const auto make_item = [&](std::size_t i, bytes_out to) { fill(to, 1000 + i); };

  graph_loop loop(graph.nodes, of);
  std::vector<ending> expected;
  std::uint64_t filtered = 0;
  std::vector<std::uint8_t> item(item_bytes);
  for (std::size_t i = 0; i < items; ++i) {
    make_item(i, item);
    ending e = loop(item);
    filtered += e.how == ending::filtered ? 1 : 0;
    if (e.how == ending::failed || (e.how == ending::value && !of.graph.ends_in_sink)) expected.push_back(std::move(e));
  }

  {
    core session(app, false, {});
    detail::engine& engine = session.items();
    std::vector<ending> found;
    std::thread popper([&] {
      for (;;) {
        session.wait_until([&] { return engine.has_result() || session.is_over(); });
        if (!engine.has_result()) return;
        if (engine.head_state() == detail::item_state::failed) {
          found.push_back({ending::failed, {}});
        } else {
          const auto* const bytes = static_cast<const std::uint8_t*>(engine.head_value());
          found.push_back({ending::value, {bytes, bytes + graph.elements_of(of.graph.result)}});
        }
        engine.drop_head();
        engine.free_kept();
      }
    });
    for (std::size_t i = 0; i < items; ++i) {
      session.wait_until([&] { return one_by_one ? engine.all_finished() : engine.free_slots() != 0; });
      if (engine.free_slots() == 0) session.wait_until([&] { return engine.free_slots() != 0; });
      void* const at = engine.input_place();
      make_item(i, {static_cast<std::uint8_t*>(at), item_bytes});
      engine.set_input(0, at);
      engine.publish(1);
    }
    session.close();
    popper.join();
    CHECK(found == expected);
    const item_counts counts = engine.counts();
    CHECK(counts.pushed == items);
    CHECK(counts.filtered == filtered);
    CHECK(counts.in_flight == 0);
  }
}

/// Graphs by number. Nothing that their stages made is left behind.
template <class Executor>
void generated_graphs_equal_the_loop(unsigned first, unsigned count, std::size_t items) {
  for (unsigned seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    const generated_graph graph(seed);
    REQUIRE(covered_nodes(graph.of.parts()) == graph.nodes.size());
    equals_the_loop<Executor>(graph, items);
    CHECK(values_alive().exchange(0) == 0);
    if (!graph.runs_branches_at_once()) continue;
    equals_the_loop<Executor>(graph, items, true);
    CHECK(values_alive().exchange(0) == 0);
  }
}

}  // namespace levada::test
