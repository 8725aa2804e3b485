// SPDX-License-Identifier: Apache-2.0
// Which range of a line goes to another machine, against trying every range with every choice of kernels, on random
// lines of up to 8 stages; and the same by the search.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <levada/plan/detail/search.hpp>
#include <levada/remote/detail/ranges_there.hpp>

#include "soak.hpp"

namespace remote_ranges_there {

namespace lv = levada;
namespace detail = levada::detail;
using detail::picoseconds;

constexpr std::size_t most = 8;
constexpr std::size_t here = 0, there = 1;  // places
const unsigned lines = 1000u * static_cast<unsigned>(lv::test::soak_scale());

/// A line of stages whose kernels take so many microseconds, with ways to a node. A spread is an eighth of its price.
struct question {
  lv::graph_info<most> graph;
  std::vector<detail::part_of_line> line{{}};
  lv::placement_problem<most> problem;  ///< without offers of the node
  lv::placement_problem<most> node;     ///< its kernels
  detail::range_rules rules;
  bool has_spread = false;

  detail::two_ends ends(lv::objective goal) const {
    return {problem.devices[here].workers, problem.devices[there].workers, problem.crossings[here][there],
            problem.crossings[there][here], goal};
  }
  detail::range_of_parts cheapest(lv::objective goal) const {
    return detail::cheapest_range<most>(graph, line, {problem, here}, {node, 0}, ends(goal), rules);
  }
  lv::cover<most> searched(lv::objective goal) const {
    lv::placement_problem<most> with_ranges = problem;
    detail::add_ranges<most>(with_ranges, graph, there, problem.devices[there].workers, line, {node, 0}, 4, rules);
    return lv::best_cover(with_ranges, goal);
  }
  bool has_serial() const { return lv::has_serial_node(graph); }
};

class random_question {
 public:
  explicit random_question(unsigned seed) : random_(seed) {}

  question make() {
    is_coarse_ = once_in(2);
    make_line();
    make_machines();
    question& q = made_;
    q.has_spread = once_in(3);
    q.rules = {once_in(2), once_in(4) ? 64 * (2 + below(5)) : detail::any_traffic};
    add_kernels(q.problem, 2);
    add_kernels(q.node, 1);
    return q;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool once_in(std::size_t n) { return below(n) == 0; }
  double microseconds() { return 8e-6 * static_cast<double>(is_coarse_ ? below(4) : below(1000)); }

  void make_line() {
    question& q = made_;
    q.graph.values.push_back({.bytes = 64});
    q.line[0].out_bytes = once_in(12) ? 0 : 64;
    for (std::size_t parts = 1 + below(6); parts > 0 && q.graph.nodes.size() < most; --parts) {
      const std::size_t first = q.graph.nodes.size();
      detail::part_of_line part{first, std::min(1 + (once_in(3) ? below(3) : 0), most - first), !once_in(8),
                                once_in(12) ? 0 : 64 * (1 + below(4))};
      for (std::size_t n = first; n < part.behind(); ++n) {
        lv::node_info node;
        node.in = n;
        node.out = q.graph.result = n + 1;
        if (once_in(6)) node.order = lv::concurrency::serial;
        q.graph.nodes.push_back(node);
        q.graph.values.push_back({.bytes = part.out_bytes, .producer = n});
      }
      q.line.push_back(part);
    }
  }

  void make_machines() {
    lv::placement_problem<most>& p = made_.problem;
    p = lv::make_problem(made_.graph);
    for (const std::size_t place : {here, there}) {
      p.devices.push_back({1 + (once_in(2) ? static_cast<int>(below(4)) : 0)});
      p.places.push_back({place});
    }
    p.host = here;
    p.crossings[here][there] = {microseconds() / 4, 1e-9 * static_cast<double>(below(100))};
    p.crossings[there][here] = {microseconds() / 4, 1e-9 * static_cast<double>(below(100))};
    made_.node.flow.nodes = made_.graph.nodes.size();
  }

  /// One for each stage, as a rule, and some for several.
  void add_kernels(lv::placement_problem<most>& problem, int slowness) {
    const auto& nodes = made_.graph.nodes;
    const auto add = [&](std::size_t first, std::size_t count, bool is_serial) {
      const double price = slowness * microseconds();
      problem.offers.push_back({lv::node_set<most>::run(first, count), 0, below(3),
                                lv::cost::measured(price, made_.has_spread ? price / 8 : 0), 0, is_serial});
    };
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (nodes[n].order == lv::concurrency::serial) {
        add(n, 1, true);
        continue;
      }
      if (!once_in(20)) add(n, 1, false);
      std::size_t behind = n;
      while (behind < nodes.size() && nodes[behind].order != lv::concurrency::serial) ++behind;
      for (std::size_t more = below(3); more > 0; --more)
        add(n, 1 + below(std::min<std::size_t>(behind - n, 4)), false);
    }
  }

  std::mt19937 random_;
  bool is_coarse_ = false;
  question made_;
};

/// Tries every range with every choice of kernels, and counts what each takes from scratch.
class trial {
 public:
  /// None: all stays.
  using range = std::optional<std::pair<std::size_t, std::size_t>>;
  struct sums {
    picoseconds here = 0, there = 0, longest_serial = 0;
  };
  /// The objective of the best choice, and the least that the kernels on each side can take.
  struct best {
    picoseconds objective = 0;
    sums least;
  };

  trial(const question& q, lv::objective goal) : q_(q), goal_(goal) {
    try_from(0, {}, {});
    for (std::size_t i = 1; i < q.line.size(); ++i)
      for (std::size_t behind = i + 1; behind <= q.line.size(); ++behind)
        if (may_go(i, behind)) try_from(0, {{i, behind}}, {});
  }

  const std::map<range, best>& found() const { return found_; }
  /// With the spread of what was measured of the stages of a range: of what is no longer here, and of what is there.
  picoseconds at_worst(const range& r) const {
    const sums &taken = found_.at(r).least, &all = found_.at({}).least;
    if (!q_.has_spread) return objective_of(r, taken, 0);
    return objective_of(r, taken, std::max<picoseconds>(all.here - taken.here, 0) / 8 + taken.there / 8);
  }

 private:
  bool may_go(std::size_t i, std::size_t behind) const {
    const std::size_t in = q_.line[i - 1].out_bytes, out = q_.line[behind - 1].out_bytes;
    bool may = in != 0 && out != 0 && (q_.rules.most_bytes == detail::any_traffic || in + out <= q_.rules.most_bytes);
    for (std::size_t p = i; p < behind; ++p) {
      may = may && q_.line[p].may_go;
      for (std::size_t n = q_.line[p].first; n < q_.line[p].behind(); ++n)
        may = may && (q_.rules.states_go || q_.graph.nodes[n].order != lv::concurrency::serial);
    }
    return may;
  }

  void try_from(std::size_t n, const range& r, const sums& so_far) {
    if (n == q_.graph.nodes.size()) return judge(r, so_far);
    const std::size_t first = r ? q_.line[r->first].first : most, behind = r ? q_.line[r->second - 1].behind() : most;
    const bool is_there = n >= first && n < behind;
    const std::size_t border = is_there ? behind : n < first ? first : most;
    for (const lv::offer<most>& o : is_there ? q_.node.offers : q_.problem.offers) {
      if (o.nodes.first() != n || n + o.nodes.size() > border) continue;
      sums more = so_far;
      const picoseconds time = detail::to_picoseconds(o.price.seconds);
      (is_there ? more.there : more.here) += time;
      if (o.serial) more.longest_serial = std::max(more.longest_serial, time);
      try_from(n + o.nodes.size(), r, more);
    }
  }
  void judge(const range& r, const sums& taken) {
    const picoseconds objective = objective_of(r, taken, 0);
    best& b = found_.try_emplace(r, best{objective, taken}).first->second;
    b.objective = std::min(b.objective, objective);
    b.least.here = std::min(b.least.here, taken.here);
    b.least.there = std::min(b.least.there, taken.there);
  }

  picoseconds objective_of(const range& r, const sums& taken, picoseconds more) const {
    const auto moved = [&](std::size_t from, std::size_t to, std::size_t part) {
      return detail::to_picoseconds(q_.problem.crossings[from][to].seconds_for(q_.line[part].out_bytes));
    };
    const picoseconds load_here = taken.here + (r ? moved(there, here, r->second - 1) : 0),
                      load_there = taken.there + (r ? moved(here, there, r->first - 1) : 0);
    if (goal_ == lv::objective::latency) return load_here + load_there + more;
    const auto shared = [&](picoseconds load, std::size_t place) {
      const picoseconds workers = q_.problem.devices[place].workers;
      return (load + more) / workers + ((load + more) % workers != 0 ? 1 : 0);
    };
    return std::max({shared(load_here, here), shared(load_there, there), taken.longest_serial + more});
  }

  const question& q_;
  const lv::objective goal_;
  std::map<range, best> found_;
};

TEST_CASE("the range that goes to another machine is the cheapest, and saves more than the spread of its costs") {
  unsigned placed = 0, kept = 0, in_noise = 0, uncovered = 0;
  for (unsigned seed = 0; seed < lines; ++seed) {
    const question q = random_question(seed).make();
    for (const lv::objective goal : {lv::objective::latency, lv::objective::throughput}) {
      CAPTURE(seed);
      CAPTURE(static_cast<int>(goal));
      const trial all(q, goal);
      const auto& tried = all.found();
      const detail::range_of_parts range = q.cheapest(goal);
      const bool goes = range.first != range.behind;
      const auto home = tried.find(trial::range());
      if (home == tried.end()) {  // not to be compared with
        ++uncovered;
        REQUIRE(!goes);
        continue;
      }
      std::optional<picoseconds> least;
      for (const auto& [r, taken] : tried) {
        if (!r || taken.objective >= home->second.objective) continue;
        if (all.at_worst(r) >= home->second.objective)
          ++in_noise;
        else
          least = std::min(least.value_or(taken.objective), taken.objective);
      }
      REQUIRE(goes == least.has_value());
      ++(goes ? placed : kept);
      if (goes) REQUIRE(tried.at({{range.first, range.behind}}).objective == *least);
    }
  }
  MESSAGE(placed << " placed, " << kept << " kept, " << uncovered << " without a cover; " << in_noise
                 << " ranges saved less than the spread");
  CHECK(placed > lines / 2);
  CHECK(kept > lines / 4);
  CHECK(in_noise > 10);
}

TEST_CASE("a search, with a node and without, finds nothing cheaper") {
  for (unsigned seed = 0; seed < lines; ++seed) {
    const question q = random_question(seed).make();
    if (q.has_spread) continue;
    for (const lv::objective goal : {lv::objective::latency, lv::objective::throughput}) {
      // A search takes all of a range for serial where one stage of it is.
      if (goal == lv::objective::throughput && q.has_serial()) continue;
      CAPTURE(seed);
      CAPTURE(static_cast<int>(goal));
      const trial all(q, goal);
      const auto& tried = all.found();
      const auto home = tried.find(trial::range());
      const lv::cover<most> stays = lv::best_cover(q.problem, goal), goes = q.searched(goal);
      REQUIRE(stays.complete == (home != tried.end()));
      REQUIRE(goes.complete == !tried.empty());
      if (!stays.complete) continue;
      REQUIRE(detail::to_picoseconds(stays.seconds) == home->second.objective);
      picoseconds least = home->second.objective;
      for (const auto& [r, taken] : tried) least = std::min(least, taken.objective);
      REQUIRE(detail::to_picoseconds(goes.seconds) == least);
    }
  }
}

}  // namespace remote_ranges_there
