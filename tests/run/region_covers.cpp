// SPDX-License-Identifier: Apache-2.0
// Generated graphs with regions of any shape as candidates, at costs by chance: the units of the program are the cover
// that the search chooses of all of them, and items become what a loop over the nodes makes of them.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/plan/detail/apart_regions.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/detail/search.hpp>
#include <levada/run/detail/program/inline_run.hpp>

#include <run/generated_graphs.hpp>
#include <sanitizer.hpp>
#include <soak.hpp>

namespace run_region_covers {

namespace lv = levada;
using namespace levada::test;

constexpr std::size_t n = largest_line;
using set = lv::node_set<n>;

/// Nodes that a backend takes as one at that cost.
struct region_candidate {
  set nodes;
  std::size_t backend = 0, outputs = 1;
  double seconds = 0;
};

/// Each op is of a kind of its own, so that a region's signature is its own, too.
constexpr auto kinds = [] {
  std::array<std::array<char, 3>, n> all{};
  for (std::size_t i = 0; i < n; ++i) all[i] = {'k', static_cast<char>('a' + i / 10), static_cast<char>('0' + i % 10)};
  return all;
}();

struct generated_regions {
  explicit generated_regions(unsigned seed) : random(seed) {
    const std::size_t count = 1 + random.below(12);
    of.graph = random_graph(random, count, random.once_in(8));
    of.graph.source = {};
    for (std::size_t i = 0; i < of.graph.nodes.size(); ++i) {
      lv::node_info& node = of.graph.nodes[i];
      node.name = {kinds[i].data(), kinds[i].size()};
      if ((node.how == lv::form::map || node.how == lv::form::destination) && !random.once_in(6)) {
        node.how = lv::form::op;
        node.order = lv::concurrency::parallel;
      }
      node.kind = lv::is_op(node) ? node.name : std::string_view("callable");
      if (!random.once_in(3)) node.split_after = false;
    }
    of.devices.push_back({lv::cpu<2>::id, 2});
    if (random.once_in(2)) of.devices.push_back({lv::simulated<3>::id});
    of.backends = {{"first"}, {"second"}, {"any"}};
    of.request.slots = 4;
    add_candidates();
    write_table();
  }

  void add_candidates() {
    const lv::region_order<n> orders(of.graph);
    for (std::size_t i = 0; i < of.graph.nodes.size(); ++i)
      if (lv::is_op(of.graph.nodes[i])) candidates.push_back({{i}, 2, 1, cost_of(1)});
    for (std::size_t tries = 3 * of.graph.nodes.size(); tries != 0; --tries) {
      set nodes{random.below(of.graph.nodes.size())};
      for (std::size_t grow = 1 + random.below(4); grow != 0; --grow) {
        set beside;
        nodes.for_each([&](std::size_t i) {
          beside |= orders.flow().producers[i] | orders.flow().takers[i];
          orders.flow().producers[i].for_each([&](std::size_t p) { beside |= orders.flow().takers[p]; });
        });
        std::vector<std::size_t> choices;
        (beside - nodes).for_each([&](std::size_t i) { choices.push_back(i); });
        if (!choices.empty()) nodes.insert(choices[random.below(choices.size())]);
      }
      const std::size_t outputs = lv::exits_of(orders.flow(), nodes).size();
      const auto order = orders.order_with(lv::bounded<set, 1>{nodes});
      const region_candidate added{nodes, random.below(2), outputs, cost_of(nodes.size())};
      const bool is_known = std::any_of(candidates.begin(), candidates.end(), [&](const region_candidate& c) {
        return c.nodes == added.nodes && c.backend == added.backend;
      });
      if (!is_known && orders.is_region(nodes, 3) && orders.is_complete(order)) candidates.push_back(added);
    }
  }
  /// Several ops as one take less, more often than not.
  double cost_of(std::size_t nodes) {
    return 1e-9 * static_cast<double>((nodes + 1) / 2 * (1000 + random.below(1'000'000)));
  }

  void write_table() {
    const lv::region_order<n> orders(of.graph);
    for (const region_candidate& c : candidates) {
      auto order = orders.order_with(lv::bounded<set, 1>{c.nodes});
      if (c.outputs > 1) order.joined.push_back({c.nodes, c.backend, true});
      signatures.push_back(std::make_unique<std::string>());
      lv::append_signature(*signatures.back(), lv::graph_in_order(of.graph, order), order.place_of(c.nodes.first()),
                           c.nodes.size());
      kernels.push_back({of.backends[c.backend].name, *signatures.back(), c.seconds});
    }
    if (of.devices.size() > 1)
      for (const auto& [from, to] : {std::pair{0, 1}, std::pair{1, 0}})
        ways.push_back({of.devices[static_cast<std::size_t>(from)].id, of.devices[static_cast<std::size_t>(to)].id,
                        1e-9 * static_cast<double>(random.below(500'000)), 1e-12});
    table.machine = "nobody measured";
    table.kernels = kernels;
    table.transfers = ways;
  }

  /// The question as the search is asked it, without orders of nodes, signatures or tables.
  lv::placement_problem<n> problem() const {
    auto asked = lv::make_problem(of.graph);
    lv::detail::add_places(asked, of.devices, table);
    for (std::size_t d = 0; d < of.devices.size(); ++d) {
      for (std::size_t i = 0; i < of.graph.nodes.size(); ++i)
        if (!lv::is_op(of.graph.nodes[i]) && lv::detail::may_run_on(of.graph.nodes[i], of.devices[d].id))
          asked.offers.push_back({{i},
                                  d,
                                  0,
                                  lv::cost::estimated(0),
                                  0,
                                  of.graph.nodes[i].order == lv::concurrency::serial,
                                  candidates.size()});
      for (std::size_t c = 0; c < candidates.size(); ++c)
        asked.offers.push_back(
            {candidates[c].nodes, d, candidates[c].backend, lv::cost::measured(candidates[c].seconds, 0), 0, false, c});
    }
    return asked;
  }

  /// Those in a row in an order of the nodes, as a deployment finds them there.
  std::vector<lv::candidate> in_order(const lv::node_places<n>& order) const {
    std::vector<lv::candidate> found;
    for (const region_candidate& c : candidates) {
      set places;
      for (std::size_t i = 0; i < order.node.size(); ++i)
        if (c.nodes.contains(order.node[i])) places.insert(i);
      bool stays = lv::is_in_a_row(places) && c.outputs == 1;
      for (const auto& joined : order.joined) {
        if (joined.nodes == c.nodes && joined.backend == c.backend)
          stays = lv::is_in_a_row(places);
        else
          stays = stays && !joined.nodes.intersects(c.nodes);
      }
      if (stays) found.push_back({places.first(), c.nodes.size(), c.backend});
    }
    return found;
  }
  /// Those that do not stand in a row as the graph is written.
  lv::apart_regions<n> apart() const {
    lv::apart_regions<n> regions;
    for (const region_candidate& c : candidates)
      if (!lv::is_in_a_row(c.nodes) || c.outputs > 1) regions.push_back({c.nodes, c.backend, c.outputs > 1});
    return regions;
  }

  random_source random;
  random_deployment of;
  std::vector<region_candidate> candidates;
  std::vector<std::unique_ptr<std::string>> signatures;
  std::vector<lv::kernel_cost> kernels;
  std::vector<lv::transfer_cost> ways;
  lv::cost_table table;
};

/// What is computed as one, and by whom; callables by nobody.
using unit_of_cover = std::pair<std::vector<std::size_t>, std::size_t>;

std::vector<unit_of_cover> units_of(const generated_regions& regions, const lv::placement_problem<n>& problem,
                                    const lv::cover<n>& cover) {
  std::vector<unit_of_cover> units;
  for (const std::size_t o : cover.chosen) {
    const auto& taken = problem.offers[o];
    units.emplace_back();
    taken.nodes.for_each([&](std::size_t i) { units.back().first.push_back(i); });
    units.back().second = taken.candidate == regions.candidates.size() ? lv::partition_unit::callable : taken.rank;
  }
  std::sort(units.begin(), units.end());
  return units;
}
std::vector<unit_of_cover> units_of(const lv::plan_info<n>& plan, const lv::node_places<n>& order) {
  std::vector<unit_of_cover> units;
  for (const auto& unit : plan.unit) {
    units.emplace_back();
    for (std::size_t i = unit.first; i < unit.first + unit.count; ++i) units.back().first.push_back(order.node[i]);
    std::sort(units.back().first.begin(), units.back().first.end());
    units.back().second = unit.backend;
  }
  std::sort(units.begin(), units.end());
  return units;
}

/// An item through the program on this thread, as the loop over the nodes as they were written has it.
void gives_what_the_loop_gives(const generated_graph& graph, const generated_regions& regions,
                               const std::vector<generated_node>& nodes) {
  const lv::detail::program code = graph.make_program();
  const auto memory = lv::detail::arena_bytes(code.slot_bytes + lv::detail::most_scratch(code) + 64, 64);
  std::vector<lv::detail::erased_object> copies;
  std::vector<void*> states;
  for (const auto& state : code.states) {
    copies.push_back(state.prototype.copy());
    states.push_back(copies.back().get());
  }
  graph_loop loop(nodes, regions.of);
  std::vector<std::uint8_t> item(graph.elements_of(0));
  for (std::size_t i = 0; i < 3; ++i) {
    fill(item, 1000 + i);
    const ending expected = loop(item);
    std::byte* const scratch = memory.get() + (code.slot_bytes + 63) / 64 * 64;
    lv::detail::inline_run run{code, memory.get(), scratch, states.data()};
    std::memcpy(run.input(), item.data(), item.size());
    const auto state = run(run.input());
    REQUIRE((state == lv::detail::item_state::failed) == (expected.how == ending::failed));
    REQUIRE((state == lv::detail::item_state::filtered) == (expected.how == ending::filtered));
    if (expected.how != ending::value || regions.of.graph.ends_in_sink) continue;
    REQUIRE(std::memcmp(run.result(), expected.bytes.data(), expected.bytes.size()) == 0);
  }
}

TEST_CASE("the units of a program are the best cover by regions of any shape, and give what a loop gives") {
  const unsigned graphs = static_cast<unsigned>(20'000 * soak_scale() / sparse);
  std::size_t reordered = 0, joined = 0, in_regions = 0;
  for (unsigned seed = 0; seed < graphs; ++seed) {
    CAPTURE(seed);
    const generated_regions regions(seed);
    const random_deployment& of = regions.of;
    const lv::placement_problem<n> problem = regions.problem();
    const lv::cover<n> chosen = lv::cheapest_latency(problem);
    REQUIRE(chosen.complete);
    REQUIRE(chosen.exact);

    const lv::node_places<n> written = lv::region_order<n>(of.graph).order_with(lv::bounded<set, 1>{});
    REQUIRE(written.is_as_written());
    auto apart = regions.apart();
    lv::price_apart(of.graph, of.backends, regions.table, apart);
    const auto order = lv::order_by_cost(of.graph, of.devices, regions.in_order(written), of.backends, regions.table,
                                         lv::objective::latency, apart);
    random_deployment ordered = of;
    ordered.graph = lv::graph_in_order(of.graph, order);
    ordered.candidates = regions.in_order(order);
    const auto parts = lv::partition_of_order(order, ordered.graph, ordered.candidates);
    ordered.node_prices.resize(n);
    const std::vector<generated_node> nodes = nodes_of(of.graph);
    const generated_graph graph(ordered, parts, nodes, {order.node.data(), order.node.size()});
    REQUIRE(units_of(graph.plan, order) == units_of(regions, problem, chosen));
    gives_what_the_loop_gives(graph, regions, nodes);
    reordered += !order.is_as_written();
    joined += order.joined.size();
    for (const auto& unit : graph.plan.unit) in_regions += unit.count > 1;
  }
  MESSAGE(graphs << " graphs, " << reordered << " put into another order, " << in_regions << " regions, " << joined
                 << " of several outputs");
  CHECK(reordered > graphs / 10);
  CHECK(joined > graphs / 20);
}

}  // namespace run_region_covers
