// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/reasons.hpp: why a plan is as it is: what each unit costs, who else could have computed its nodes, and by
// how much the whole would be slower then. Everything but the one unit stays where it is: the search itself is not
// asked again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/detail/plan_info.hpp>

namespace levada {

/// What a plan was chosen from.
struct plan_choice {
  std::span<const device_info> devices{};
  std::span<const candidate> candidates{};
  std::span<const backend_info> backends{};
  const cost_table* costs = nullptr;  ///< none: devices and backends went by the order in which they are named
  objective goal = objective::latency;
  bool is_saved = false;   ///< the partition is that of a saved plan
  bool is_within = false;  ///< the cheapest did not keep what is promised: plan/detail/partition_within.hpp
};

/// Why a unit is computed where it is.
enum class plan_reason : std::uint8_t {
  only_way,    ///< nobody else takes it
  pinned,      ///< only its device was asked
  preference,  ///< of several, the device and the backend named first, and its longest run
  cost,        ///< of several, the cheapest for the whole
  noise,       ///< another is cheaper by less than what the measurements are sure of
  saved,       ///< a saved plan says so
  whole,       ///< the plan was measured as a whole, and faster than others
  promise      ///< another is cheaper, but does not keep what is promised, or needs more of what was to be small
};

/// Another way to compute the nodes of a unit, or of it and units behind it as one.
struct plan_alternative {
  std::size_t backend = partition_unit::callable;
  device_id device{};
  std::size_t kernels = 1;    ///< that it takes for them
  std::size_t units = 1;      ///< that it would take the place of
  cost price{};               ///< of its kernels; known as well as the least known of them
  double more_seconds = 0;    ///< by which the objective would grow
  bool within_noise = false;  ///< which is less than the spreads of the costs
};

struct unit_reason {
  plan_reason why = plan_reason::only_way;
  cost price{};
  double move_seconds = 0;               ///< of moving to its device what it takes
  std::vector<plan_alternative> others;  ///< the best first
};

struct device_load {
  device_id device{};
  int workers = 1;
  double seconds = 0;  ///< of each item
};

struct plan_reasons {
  bool has_costs = false;
  double seconds = 0;        ///< that the plan takes by its costs, of the objective
  double least_seconds = 0;  ///< by these costs no plan is known to take less; 0: nobody knows
  std::vector<device_load> loads;
  std::vector<unit_reason> units;
};

namespace detail {

/// Prices a plan and its neighbours, in whole picoseconds as the search does.
template <std::size_t N>
class plan_pricer {
 public:
  plan_pricer(const plan_info<N>& plan, const plan_choice& choice)
      : plan_(plan),
        choice_(choice),
        problem_(deployment_problem(plan.graph, choice.devices, choice.candidates, choice.backends,
                                    choice.costs != nullptr ? *choice.costs : cost_table{})),
        is_measured_whole_(
            choice.costs != nullptr && choice.goal == objective::latency && !choice.is_within &&
            !measured_partition(plan.graph, choice.devices, choice.candidates, choice.backends, *choice.costs).empty()),
        starting_at_(plan.nodes) {
    for (std::size_t o = 0; o < problem_.offers.size(); ++o)
      starting_at_[problem_.offers[o].nodes.first()].push_back(o);
    for (const planned_unit& unit : plan.unit) taken_.push_back(offer_of(unit));
  }

  plan_reasons explain() const {
    plan_reasons found;
    found.has_costs = choice_.costs != nullptr;
    const loads now = loads_of(taken_);
    found.seconds = to_seconds(objective_of(now));
    for (std::size_t d = 0; d < choice_.devices.size(); ++d)
      found.loads.push_back({choice_.devices[d].id, problem_.devices[d].workers, to_seconds(now.of_device[d])});
    for (std::size_t u = 0; u < plan_.units; ++u) found.units.push_back(reason_of(u, now));
    if (found.has_costs && std::find(taken_.begin(), taken_.end(), none) == taken_.end())
      found.least_seconds =
          best_cover(problem_, is_of_load() ? objective::throughput : objective::latency, beam_to_compare).bound;
    return found;
  }

 private:
  using offers = std::vector<std::size_t>;
  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::size_t beam_to_compare = 256;

  struct loads {
    picoseconds of_device[most_places]{};
    picoseconds longest_serial = 0;
    std::vector<picoseconds> moves;  // of each offer
  };

  std::size_t place_of(device_id device) const {
    std::size_t d = 0;
    while (d < choice_.devices.size() && choice_.devices[d].id != device) ++d;
    return d;
  }
  /// The offer that a unit is; none where the partition has what was not offered, as a saved plan may.
  std::size_t offer_of(const planned_unit& unit) const {
    const std::size_t place = place_of(plan_.segment[unit.segment].device);
    for (const std::size_t o : starting_at_[unit.first]) {
      const offer<N>& made = problem_.offers[o];
      if (made.place == place && made.nodes.size() == unit.count && made.candidate == unit.candidate) return o;
    }
    return none;
  }

  picoseconds price_of(std::size_t o) const {
    return to_picoseconds(problem_.places[problem_.offers[o].place].launch_seconds + problem_.offers[o].price.seconds);
  }

  loads loads_of(const offers& chosen) const {
    loads sum;
    std::size_t place_at[N]{};
    for (const std::size_t o : chosen)
      if (o != none) problem_.offers[o].nodes.for_each([&](std::size_t n) { place_at[n] = problem_.offers[o].place; });
    node_set<N> moved_to[most_places];
    bool has_input[most_places]{};
    for (const std::size_t o : chosen) {
      sum.moves.push_back(0);
      if (o == none) continue;
      const offer<N>& made = problem_.offers[o];
      picoseconds& load = sum.of_device[problem_.places[made.place].device];
      const auto move = [&](std::size_t bytes, std::size_t from) {
        if (from == made.place) return;
        sum.moves.back() += to_picoseconds(problem_.crossings[from][made.place].seconds_for(bytes));
      };
      node_set<N> takes;
      made.nodes.for_each([&](std::size_t n) { takes |= problem_.flow.producers[n]; });
      (takes - made.nodes).for_each([&](std::size_t v) {
        const bool is_there = made.place == problem_.host && problem_.flow.leaving.contains(v);
        if (is_there || moved_to[made.place].contains(v)) return;
        moved_to[made.place].insert(v);
        move(problem_.bytes[v], place_at[v]);
      });
      if (problem_.host != problem_.nowhere) {
        if (made.nodes.intersects(problem_.flow.takes_input) && !std::exchange(has_input[made.place], true))
          move(problem_.input_bytes, problem_.host);
        if (made.place != problem_.host)
          (made.nodes & problem_.flow.leaving).for_each([&](std::size_t v) {
            sum.of_device[problem_.places[problem_.host].device] +=
                to_picoseconds(problem_.crossings[made.place][problem_.host].seconds_for(problem_.bytes[v]));
          });
      }
      const picoseconds price = price_of(o);
      load += price + sum.moves.back();
      if (made.serial) sum.longest_serial = std::max(sum.longest_serial, price);
    }
    return sum;
  }

  bool is_of_load() const { return choice_.goal == objective::throughput; }
  picoseconds objective_of(const loads& sum) const {
    picoseconds all = 0, most = sum.longest_serial;
    for (std::size_t d = 0; d < problem_.devices.size(); ++d) {
      const picoseconds workers = problem_.devices[d].workers;
      all += sum.of_device[d];
      most = std::max(most, (sum.of_device[d] + workers - 1) / workers);
    }
    return is_of_load() ? most : all;
  }

  bool is_op_unit(std::size_t u) const { return plan_.unit[u].candidate != partition_unit::callable; }

  /// The cheapest kernels of one backend at one place for the nodes of a unit, other than the kernel that it is.
  offers kernels_for(std::size_t u, std::size_t backend, std::size_t place) const {
    const planned_unit& unit = plan_.unit[u];
    struct way {
      picoseconds price = 0;
      std::size_t kernels = none, last = none;
    };
    std::vector<way> best(unit.count + 1);
    best[0].kernels = 0;
    for (std::size_t i = 0; i < unit.count; ++i) {
      if (best[i].kernels == none) continue;
      for (const std::size_t o : starting_at_[unit.first + i]) {
        const offer<N>& made = problem_.offers[o];
        const std::size_t end = i + made.nodes.size();
        const bool is_of =
            made.candidate != partition_unit::callable ? made.rank == backend : backend == partition_unit::callable;
        if (!is_of || made.place != place || end > unit.count || o == taken_[u]) continue;
        const way through{best[i].price + price_of(o), best[i].kernels + 1, o};
        way& there = best[end];
        if (there.kernels == none || std::tie(through.price, through.kernels) < std::tie(there.price, there.kernels))
          there = through;
      }
    }
    offers backwards;
    for (std::size_t i = unit.count; i > 0 && best[i].kernels != none; i -= problem_.offers[best[i].last].nodes.size())
      backwards.push_back(best[i].last);
    std::reverse(backwards.begin(), backwards.end());
    return backwards;
  }

  cost sum_of(std::span<const std::size_t> kernels) const {
    cost sum = cost::measured(0);
    for (const std::size_t o : kernels) {
      const cost price = o == none ? cost{} : problem_.offers[o].price;
      sum.seconds += price.seconds;
      sum.spread += price.spread;
      sum.origin = std::min(sum.origin, price.origin);
    }
    return sum;
  }

  plan_alternative instead(std::size_t u, std::size_t units, const offers& kernels, picoseconds now) const {
    offers chosen(taken_.begin(), taken_.begin() + static_cast<std::ptrdiff_t>(u));
    chosen.insert(chosen.end(), kernels.begin(), kernels.end());
    chosen.insert(chosen.end(), taken_.begin() + static_cast<std::ptrdiff_t>(u + units), taken_.end());
    const offer<N>& first = problem_.offers[kernels.front()];
    plan_alternative other;
    if (first.candidate != partition_unit::callable) other.backend = first.rank;
    other.device = choice_.devices[first.place].id;
    other.kernels = kernels.size();
    other.units = units;
    other.price = sum_of(kernels);
    const picoseconds more = objective_of(loads_of(chosen)) - now;
    other.more_seconds = to_seconds(more);
    const double spread = other.price.spread + sum_of(std::span(taken_).subspan(u, units)).spread;
    other.within_noise = std::max(more, -more) <= to_picoseconds(spread) && spread > 0;
    return other;
  }

  /// The units from `u` on that end where a run of so many nodes ends; 0 where none does.
  std::size_t units_of_run(std::size_t u, std::size_t count) const {
    std::size_t units = 0, nodes = 0;
    while (nodes < count && u + units < plan_.units) nodes += plan_.unit[u + units++].count;
    return nodes == count ? units : 0;
  }

  unit_reason reason_of(std::size_t u, const loads& now) const {
    unit_reason reason;
    reason.price = sum_of(std::span(taken_).subspan(u, 1));
    reason.move_seconds = to_seconds(now.moves[u]);
    const picoseconds all = objective_of(now);
    for (std::size_t d = 0; d < choice_.devices.size(); ++d) {
      const std::size_t backends = is_op_unit(u) ? choice_.backends.size() : 1;
      for (std::size_t b = 0; b < backends; ++b)
        if (const offers kernels = kernels_for(u, is_op_unit(u) ? b : partition_unit::callable, d); !kernels.empty())
          reason.others.push_back(instead(u, 1, kernels, all));
    }
    for (const std::size_t o : starting_at_[plan_.unit[u].first])
      if (const std::size_t units = units_of_run(u, problem_.offers[o].nodes.size()); units > 1)
        reason.others.push_back(instead(u, units, {o}, all));
    const auto order = [&](const plan_alternative& other) {
      const bool unknown = other.price.origin == cost_origin::unknown;
      return std::tuple(unknown, unknown ? 0 : other.more_seconds, other.units, place_of(other.device), other.backend);
    };
    std::sort(reason.others.begin(), reason.others.end(),
              [&](const plan_alternative& a, const plan_alternative& b) { return order(a) < order(b); });
    reason.why = why(u, reason);
    return reason;
  }

  plan_reason why(std::size_t u, const unit_reason& reason) const {
    if (choice_.is_saved) return plan_reason::saved;
    bool pinned = false, unknown = reason.price.origin == cost_origin::unknown, noise = false, cheaper = false;
    for (std::size_t n = plan_.unit[u].first; n < plan_.unit[u].first + plan_.unit[u].count; ++n)
      pinned = pinned || plan_.graph.nodes[n].pin;
    for (const plan_alternative& other : reason.others) {
      unknown = unknown || other.price.origin == cost_origin::unknown;
      noise = noise || (other.within_noise && other.more_seconds < 0);
      cheaper = cheaper || (!other.within_noise && other.more_seconds < 0);
    }
    if (reason.others.empty()) return pinned ? plan_reason::pinned : plan_reason::only_way;
    if (is_measured_whole_) return plan_reason::whole;
    if (choice_.costs == nullptr || unknown) return plan_reason::preference;
    const bool is_of_time = choice_.goal == objective::latency || is_of_load();
    if (cheaper && (choice_.is_within || !is_of_time)) return plan_reason::promise;
    return noise ? plan_reason::noise : plan_reason::cost;
  }

  const plan_info<N>& plan_;
  const plan_choice& choice_;
  const placement_problem<N> problem_;
  const bool is_measured_whole_;
  std::vector<offers> starting_at_;  // each node
  offers taken_;                     // for each unit
};

}  // namespace detail

/// Why the plan is as it is; `choice` is what it was made from. Of each unit nothing is known where there are more
/// devices than a search takes.
template <std::size_t N>
plan_reasons explain(const plan_info<N>& plan, const plan_choice& choice) {
  if constexpr (N > 0)
    if (choice.devices.size() <= most_places) return detail::plan_pricer<N>(plan, choice).explain();
  plan_reasons none;
  none.units.resize(plan.units);
  return none;
}

}  // namespace levada
