// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random questions of placement, and their answer by trying every cover.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <tuple>
#include <vector>

#include <levada/plan/detail/placement.hpp>

#include "small_graph.hpp"

namespace levada::test {

using placement16 = placement_problem<16>;
using set16 = node_set<16>;

class random_placement {
 public:
  explicit random_placement(unsigned seed) : random_(seed) {}

  /// Up to 10 ops on up to 4 places of up to 3 devices. Costs are small whole numbers half of the time, so that there
  /// are ties.
  placement16 make() {
    make_graph();
    make_places();
    make_offers();
    return problem_;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool once_in(std::size_t n) { return below(n) == 0; }
  double amount() { return whole_ ? static_cast<double>(below(4)) : 0.001 * static_cast<double>(below(4000)); }

  void make_graph() {
    graph_info<16> graph = graph_of({});
    count_ = 1 + below(10);
    const std::size_t reach = 1 + below(4);
    for (std::size_t i = 0; i < count_; ++i) {
      node_info node;
      node.how = form::op;
      node.in = i - below(std::min(i + 1, reach));
      for (std::size_t more = once_in(2) ? below(3) : 0; more > 0; --more)
        node.more.push_back(static_cast<std::uint16_t>(i - below(std::min(i + 1, 2 * reach))));
      node.out = graph.result = graph.values.size();
      graph.values.push_back({64 * (1 + below(4)), 64, element::f32, {}, true, i});
      graph.nodes.push_back(node);
    }
    problem_ = make_problem(graph);
    while (once_in(4)) problem_.flow.leaving.insert(below(count_));
    whole_ = once_in(2);
  }

  void make_places() {
    const std::size_t devices = 1 + below(3), places = devices + below(2);
    for (std::size_t d = 0; d < devices; ++d)
      problem_.devices.push_back({once_in(3) ? 2 + static_cast<int>(below(3)) : 1, device_capacity::any});
    for (std::size_t p = 0; p < places; ++p)
      problem_.places.push_back({p < devices ? p : below(devices), once_in(3) ? amount() : 0});
    const std::size_t kind = below(3);  // nothing is moved for something; all is for the same; each for its own
    const crossing same{amount(), 0.001 * amount()};
    for (std::size_t a = 0; a < places; ++a)
      for (std::size_t b = 0; b < places; ++b)
        if (kind == 1)
          problem_.crossings[a][b] = same;
        else if (kind == 2 && !once_in(4))
          problem_.crossings[a][b] = {amount(), 0.001 * amount()};
    if (once_in(2)) problem_.host = below(places);
  }

  void make_offers() {
    const bool has_serial = once_in(4), has_unknown = once_in(10), has_memory = once_in(3);
    const auto add = [&](const set16& nodes, std::size_t place) {
      const double size = static_cast<double>(nodes.size());
      problem_.offers.push_back({nodes, place, below(3),
                                 has_unknown && once_in(8) ? cost{} : cost::measured(amount() * size), below(4),
                                 has_serial && once_in(3), problem_.offers.size()});
    };
    const std::size_t places = problem_.places.size();
    std::vector<std::size_t> pin(count_, places);
    for (std::size_t n = 0; n < count_; ++n) {
      if (once_in(6)) pin[n] = below(places);
      bool taken = false;
      for (std::size_t p = 0; p < places; ++p) {
        if (pin[n] != places ? pin[n] != p : once_in(3)) continue;
        if (taken && problem_.offers.size() > 20) continue;  // or there are too many covers to try
        add({n}, p);
        taken = true;
      }
    }
    for (std::size_t more = below(2 * count_ + 3); more > 0; --more) {
      set16 nodes{below(count_)};
      for (std::size_t grow = 1 + below(4); grow > 0; --grow) {
        set16 beside;
        nodes.for_each([&](std::size_t n) { beside |= problem_.flow.producers[n] | problem_.flow.takers[n]; });
        std::vector<std::size_t> choices;
        (beside - nodes).for_each([&](std::size_t n) { choices.push_back(n); });
        if (once_in(12)) choices = {below(count_)};  // from anywhere: often not legal
        if (!choices.empty()) nodes.insert(choices[below(choices.size())]);
      }
      const std::size_t place = below(places);
      bool allowed = true;
      nodes.for_each([&](std::size_t n) { allowed = allowed && (pin[n] == places || pin[n] == place); });
      if (allowed) add(nodes, place);
    }
    if (has_memory)
      for (device_capacity& d : problem_.devices)
        if (once_in(2)) d.memory = below(2 * count_ + 1);
  }

  std::mt19937 random_;
  std::size_t count_ = 0;
  bool whole_ = false;
  placement16 problem_;
};

/// Regions can run one after the other: all that each takes from others comes before it. In the order given, or in any.
inline bool can_run(const placement16& problem, const std::vector<std::size_t>& chosen, bool in_this_order) {
  set16 done;
  std::vector<std::size_t> open = chosen;
  while (!open.empty()) {
    const auto ready = std::find_if(open.begin(), open.end(), [&](std::size_t o) {
      set16 taken;
      problem.offers[o].nodes.for_each([&](std::size_t n) { taken |= problem.flow.producers[n]; });
      return done.contains(taken - problem.offers[o].nodes);
    });
    if (ready == open.end() || (in_this_order && ready != open.begin())) return false;
    done |= problem.offers[*ready].nodes;
    open.erase(ready);
  }
  return true;
}

/// What a cover is judged by, the first first.
struct judgement {
  std::pair<std::size_t, std::size_t> order;  // ranks of nodes of unknown cost, regions with such nodes
  std::int64_t objective = 0;                 // picoseconds
  std::vector<std::int64_t> amounts;          // loads, the longest serial region, bytes
  std::vector<set16> sets;
  std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> offers;  // rank, place, index

  friend bool operator<(const judgement& a, const judgement& b) {
    if (a.order != b.order) return a.order < b.order;
    if (a.objective != b.objective) return a.objective < b.objective;
    if (a.amounts != b.amounts) return a.amounts < b.amounts;
    if (a.sets != b.sets)
      return std::lexicographical_compare(a.sets.begin(), a.sets.end(), b.sets.begin(), b.sets.end());
    return a.offers < b.offers;
  }
};

/// What a cover costs, counted from scratch; none where a device's memory does not hold it.
inline std::optional<judgement> judge(const placement16& problem, objective goal, std::vector<std::size_t> chosen) {
  using detail::to_picoseconds;
  const auto nodes_of = [&](std::size_t o) { return problem.offers[o].nodes; };
  std::sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) { return nodes_of(a) < nodes_of(b); });
  const auto move = [&](std::size_t bytes, std::size_t from, std::size_t to) {
    const crossing& c = problem.crossings[from][to];
    return from == to ? 0 : to_picoseconds(c.seconds + c.seconds_per_byte * static_cast<double>(bytes));
  };
  const auto is_unknown = [&](std::size_t o) { return problem.offers[o].price.origin == cost_origin::unknown; };
  set16 uncertain;
  for (std::size_t o = 0; o < problem.offers.size(); ++o)
    if (is_unknown(o)) uncertain |= nodes_of(o);

  judgement j;
  std::vector<std::int64_t> load(problem.devices.size());
  std::int64_t total = 0, longest_serial = 0;
  std::vector<std::size_t> memory(problem.devices.size());
  const auto spend = [&](std::size_t place, std::int64_t time) {
    load[problem.places[place].device] += time;
    total += time;
  };
  std::size_t place_of[16]{};
  for (const std::size_t o : chosen)
    nodes_of(o).for_each([&](std::size_t n) { place_of[n] = problem.offers[o].place; });
  for (const std::size_t o : chosen) {
    const offer<16>& taken = problem.offers[o];
    const place& at = problem.places[taken.place];
    const std::int64_t time = to_picoseconds(at.launch_seconds + (is_unknown(o) ? 0 : taken.price.seconds));
    spend(taken.place, time);
    if (taken.serial) longest_serial = std::max(longest_serial, time);
    memory[at.device] += taken.bytes;
    const std::size_t open = (taken.nodes & uncertain).size();
    j.order.first += taken.rank * open;
    j.order.second += open != 0;
    j.sets.push_back(taken.nodes);
    j.offers.push_back({taken.rank, taken.place, o});
  }
  // Each value goes once to each place where another region takes it, or where it is wanted. Places on one device that
  // nothing tells apart count as one; the generator makes none that differ only by chance.
  const auto alike = [&](std::size_t a, std::size_t b) {
    if (a == b) return true;
    bool same = problem.places[a].device == problem.places[b].device;
    for (std::size_t p = 0; p < problem.places.size(); ++p)
      for (const std::size_t bytes : {0u, 1u}) {
        const bool own = p == a || p == b;
        same = same && (own ? move(bytes, a, b) == 0 && move(bytes, b, a) == 0
                            : move(bytes, a, p) == move(bytes, b, p) && move(bytes, p, a) == move(bytes, p, b));
      }
    return same;
  };
  const auto deliver = [&](std::size_t bytes, std::size_t from, const std::vector<std::size_t>& wanted) {
    std::vector<std::size_t> there{from};
    for (const std::size_t to : wanted) {
      if (std::any_of(there.begin(), there.end(), [&](std::size_t t) { return alike(t, to); })) continue;
      spend(to, move(bytes, from, to));
      there.push_back(to);
    }
  };
  for (std::size_t n = 0; n < problem.flow.nodes; ++n) {
    std::vector<std::size_t> wanted;
    if (problem.host != problem.nowhere && problem.flow.leaving.contains(n)) wanted.push_back(problem.host);
    for (const std::size_t o : chosen) {
      set16 taken;
      nodes_of(o).for_each([&](std::size_t t) { taken |= problem.flow.producers[t]; });
      if (!nodes_of(o).contains(n) && taken.contains(n)) wanted.push_back(problem.offers[o].place);
    }
    deliver(problem.bytes[n], place_of[n], wanted);
  }
  if (problem.host != problem.nowhere) {
    std::vector<std::size_t> wanted;
    for (const std::size_t o : chosen)
      if (nodes_of(o).intersects(problem.flow.takes_input)) wanted.push_back(problem.offers[o].place);
    deliver(problem.input_bytes, problem.host, wanted);
  }

  if (goal == objective::latency) {
    j.objective = total;
    j.amounts = {total};
  } else {
    bool several = false, serial = false;
    for (std::size_t d = 0; d < load.size(); ++d) {
      const std::int64_t workers = problem.devices[d].workers;
      several = several || workers > 1;
      j.objective = std::max(j.objective, load[d] / workers + (load[d] % workers != 0));
    }
    for (const offer<16>& o : problem.offers) serial = serial || o.serial;
    j.amounts = load;
    if (several && serial) {
      j.objective = std::max(j.objective, longest_serial);
      j.amounts.push_back(longest_serial);
    }
  }
  for (std::size_t d = 0; d < memory.size(); ++d) {
    if (problem.devices[d].memory == device_capacity::any) continue;
    if (memory[d] > problem.devices[d].memory) return {};
    j.amounts.push_back(static_cast<std::int64_t>(memory[d]));
  }
  return j;
}

/// Calls `visit(chosen)` with the offers of each cover, in no order.
template <class Visit>
void for_each_cover(const placement16& problem, const Visit& visit) {
  std::vector<std::size_t> chosen;
  const auto cover_rest = [&](auto self, set16 covered) -> void {
    const std::size_t first = covered.first_missing();
    if (first == problem.flow.nodes) return visit(std::as_const(chosen));
    for (std::size_t o = 0; o < problem.offers.size(); ++o) {
      const set16& nodes = problem.offers[o].nodes;
      if (!nodes.contains(first) || nodes.intersects(covered)) continue;
      chosen.push_back(o);
      self(self, covered | nodes);
      chosen.pop_back();
    }
  };
  cover_rest(cover_rest, {});
}

/// The best of all covers, by trying them; none where there is none.
struct tried {
  std::vector<std::size_t> chosen;  // in no order
  std::optional<judgement> best;
  std::size_t covers = 0;
};

inline tried try_all(const placement16& problem, objective goal) {
  tried result;
  for_each_cover(problem, [&](const std::vector<std::size_t>& chosen) {
    ++result.covers;
    if (!can_run(problem, chosen, false)) return;
    auto found = judge(problem, goal, chosen);
    if (!found || (result.best && !(*found < *result.best))) return;
    result.best = std::move(found);
    result.chosen = chosen;
  });
  return result;
}

}  // namespace levada::test
