// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/branches.hpp: which branches of one item run at once. Units in a row of a segment fall into branches,
// none of which takes what another makes; where two of these are well worth the hand-over between processors, idle
// threads may take them. Branches are found in the values that units take and give, however the pipeline was written.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <levada/core/detail/bounded.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/plan/detail/cost.hpp>

namespace levada {

/// A branch that takes less stays on its item's thread: to wake another takes some 5 us, and its caches do not have the
/// item.
inline constexpr double branch_worth_a_thread = 20e-6;

/// How the branches of an item run, and why.
enum class branch_order : std::uint8_t {
  at_once,     ///< two of them or more are worth a thread of their own
  too_short,   ///< they are not
  unknown,     ///< of some callable nobody knows what it takes
  serial,      ///< a stage among them takes items in order, or hears of more than its items
  one_thread,  ///< the processor has no other thread
  no_workers   ///< they run on the thread of what holds them, as in another stage
};

/// Units in a row that fall into branches.
struct planned_fork {
  std::size_t first = 0, count = 0;  ///< its units
  std::size_t branches = 0;
  branch_order order = branch_order::at_once;
  cost price{};         ///< of all of them one after the other, known as well as the least known
  double longest = 0;   ///< seconds of the longest branch
  double shortest = 0;  ///< of the shortest one
  /// Of branches that run at once: a lone item is done sooner where each of their units is divided instead
  /// (plan/detail/division.hpp).
  bool divided = false;
};

/// Where among the branches that run at once something is; the default is none of these.
struct branch_place {
  static constexpr std::uint16_t none = 0xffff;
  std::uint16_t fork = none;  ///< its index among all forks
  std::uint16_t branch = 0;

  constexpr explicit operator bool() const { return fork != none; }
  friend constexpr bool operator==(const branch_place&, const branch_place&) = default;
};

/// Whether two things may be at work at the same time.
constexpr bool run_at_once(const branch_place& a, const branch_place& b) {
  return a && a.fork == b.fork && a.branch != b.branch;
}

namespace detail {

/// Finds the forks of a plan whose units are connected. `Plan` is a `plan_info<N>`; `prices` are those of its units.
template <class Plan, std::size_t N>
class branch_finder {
 public:
  constexpr branch_finder(Plan& plan, std::span<const cost> prices, bool has_workers)
      : plan_(plan), prices_(prices), has_workers_(has_workers) {
    std::array<std::size_t, N> unit_of{};
    for (std::size_t u = 0; u < plan.units; ++u) {
      for (std::size_t n = plan.unit[u].first; n < plan.unit[u].first + plan.unit[u].count; ++n) unit_of[n] = u;
      changes_some_ = changes_some_ || consumes(plan.unit[u].how);
    }
    for (std::size_t v = 0; v < plan.graph.values.size(); ++v) {
      const std::size_t node = plan.graph.values[v].producer;
      maker_[v] = node < plan.nodes ? unit_of[node] : nobody;
      whole_[v] = is_part_value(plan.graph.values[v]) && is_port_value(plan.graph, v)
                      ? whole_[plan.graph.values[v].part_of]
                      : v;
    }
    for (std::size_t u = 1; u < plan.units; ++u) mark_start(u);
  }

  /// First those that run at once, the outer ones of nested; then the others, with the reason.
  constexpr void find() {
    if (has_workers_ && plan_.threads > 1)
      for (std::size_t u = 0; u < plan_.units; ++u)
        if (starts_[u] && grow(u, branch_worth_a_thread, true)) {
          add_fork(u, branch_order::at_once);
          u = end_ - 1;
        }
    const std::size_t at_once = plan_.fork.size();
    for (std::size_t u = 0; u < plan_.units; ++u) {
      if (!starts_[u] || !grow(u, 0, false)) continue;
      bool known = false;
      for (std::size_t f = 0; f < at_once; ++f)
        known = known || (plan_.fork[f].first < end_ && u < plan_.fork[f].first + plan_.fork[f].count);
      if (known) continue;
      add_fork(u, why_not(u));
      u = end_ - 1;
    }
  }

 private:
  static constexpr std::size_t nobody = ~std::size_t{0};

  /// Units that two branches of a fork could be of: those before `u` that it does not wait for.
  constexpr void mark_start(std::size_t u) {
    std::size_t start = 0;
    for_each_input(plan_.unit[u], [&](std::size_t v) {
      if (maker_[v] != nobody) start = std::max(start, maker_[v] + 1);
    });
    if (start >= u) return;
    starts_[start] = true;
    for (std::size_t before = u; before-- > start;)
      if (!may_run_aside(before)) {  // no branch that runs at once goes beyond it
        if (before + 1 < u) starts_[before + 1] = true;
        return;
      }
  }

  /// Nothing but its items ties it to what runs before it.
  constexpr bool may_run_aside(std::size_t u) const {
    const auto& unit = plan_.unit[u];
    if (unit.order == concurrency::serial || unit.in_loop) return false;
    for (std::size_t n = unit.first; n < unit.first + unit.count; ++n)
      if (plan_.graph.nodes[n].takes_more_than_items || plan_.graph.nodes[n].border != loop_border::none) return false;
    return true;
  }
  /// One of them changes what both take.
  constexpr bool changes_what_is_shared(std::size_t a, std::size_t b) const {
    const auto &x = plan_.unit[a], &y = plan_.unit[b];
    if (!consumes(x.how) && !consumes(y.how)) return false;
    bool shared = false;
    for_each_input(x, [&](std::size_t v) {
      for_each_input(y, [&](std::size_t w) {
        shared =
            shared || (whole_[v] == whole_[w] && ((consumes(x.how) && v == x.in) || (consumes(y.how) && w == y.in)));
      });
    });
    return shared;
  }

  /// Takes units from `first` on until two parts worth so much come together. Whether there are two such.
  constexpr bool grow(std::size_t first, double worth, bool only_aside) {
    const auto& segment = plan_.segment[plan_.unit[first].segment];
    if (segment.device.kind != device_kind::cpu) return false;
    parts_ = 0;
    for (end_ = first; end_ < segment.first + segment.count; ++end_) {
      if (only_aside && !may_run_aside(end_)) break;
      std::array<bool, N> waits_for{};  // parts
      for_each_input(plan_.unit[end_], [&](std::size_t v) {
        if (maker_[v] != nobody && maker_[v] >= first) waits_for[part_[maker_[v]]] = true;
      });
      for (std::size_t u = first; changes_some_ && u < end_; ++u)
        if (changes_what_is_shared(u, end_)) waits_for[part_[u]] = true;
      std::size_t worthy = 0;
      for (std::size_t p = 0; p < parts_; ++p) worthy += waits_for[p] && seconds_[p] >= worth ? 1u : 0u;
      if (worthy > 1) break;
      join(first, waits_for);
    }
    std::size_t worthy = 0;
    for (std::size_t p = 0; p < parts_; ++p) worthy += seconds_[p] >= worth ? 1u : 0u;
    return worthy > 1;
  }

  /// The unit at the end and the parts that it waits for become one.
  constexpr void join(std::size_t first, const std::array<bool, N>& waits_for) {
    std::array<std::size_t, N> now{};
    std::size_t kept = 0, joined = nobody;
    for (std::size_t p = 0; p < parts_; ++p) {
      if (waits_for[p] && joined != nobody) {
        seconds_[joined] += seconds_[p];
        now[p] = joined;
        continue;
      }
      if (waits_for[p]) joined = kept;
      seconds_[kept] = seconds_[p];
      now[p] = kept++;
    }
    for (std::size_t u = first; kept != parts_ && u < end_; ++u) part_[u] = now[part_[u]];
    if (joined == nobody) seconds_[joined = kept++] = 0;
    seconds_[joined] += prices_[end_].seconds;
    part_[end_] = joined;
    parts_ = kept;
  }

  /// What `grow` found; those that run at once as few branches as there may be, in the order of their first units.
  constexpr void add_fork(std::size_t first, branch_order order) {
    planned_fork fork{first, end_ - first, parts_, order, cost::measured(0)};
    for (std::size_t u = first; u < end_; ++u) {
      fork.price.seconds += prices_[u].seconds;
      fork.price.spread += prices_[u].spread;
      fork.price.origin = std::min(fork.price.origin, prices_[u].origin);
    }
    if (order == branch_order::at_once) {
      const double worth = branch_worth_a_thread;
      std::array<std::size_t, N> branch_of{};
      std::array<double, most_branches> load{};
      std::size_t branches = 0;
      for (std::size_t p = 0; p < parts_; ++p)
        if (seconds_[p] >= worth && branches < most_branches) load[branch_of[p] = branches++] = seconds_[p];
      std::size_t left = branches;
      for (std::size_t p = 0; p < parts_; ++p) {
        if (seconds_[p] >= worth && left != 0) {
          --left;
          continue;
        }
        const auto shortest = std::min_element(load.begin(), load.begin() + static_cast<std::ptrdiff_t>(branches));
        *shortest += seconds_[p];
        branch_of[p] = static_cast<std::size_t>(shortest - load.begin());
      }
      for (std::size_t u = first; u < end_; ++u)
        plan_.unit[u].branch = {static_cast<std::uint16_t>(plan_.fork.size()),
                                static_cast<std::uint16_t>(branch_of[part_[u]])};
      fork.branches = branches;
      fork.longest = *std::max_element(load.begin(), load.begin() + static_cast<std::ptrdiff_t>(branches));
      fork.shortest = *std::min_element(load.begin(), load.begin() + static_cast<std::ptrdiff_t>(branches));
    } else {
      fork.longest = fork.shortest = seconds_[0];
      for (std::size_t p = 1; p < parts_; ++p) {
        fork.longest = std::max(fork.longest, seconds_[p]);
        fork.shortest = std::min(fork.shortest, seconds_[p]);
      }
    }
    plan_.fork.push_back(fork);
  }

  constexpr branch_order why_not(std::size_t first) const {
    if (!has_workers_) return branch_order::no_workers;
    if (plan_.threads < 2) return branch_order::one_thread;
    bool aside = true, known = true;
    for (std::size_t u = first; u < end_; ++u) {
      aside = aside && may_run_aside(u);
      known = known && prices_[u].origin != cost_origin::unknown;
    }
    return !aside ? branch_order::serial : !known ? branch_order::unknown : branch_order::too_short;
  }

  Plan& plan_;
  std::span<const cost> prices_;
  const bool has_workers_;
  bool changes_some_ = false;
  std::array<std::size_t, N + 1> maker_{};  ///< the unit that makes a value, if any
  std::array<std::size_t, N + 1> whole_{};  ///< the value that it is a part of: itself where it is none
  std::array<bool, N> starts_{};            ///< where a fork may begin

  // Of the last `grow`: the units before `end_` in parts that have nothing to do with each other.
  std::size_t end_ = 0, parts_ = 0;
  std::array<std::size_t, N> part_{};
  std::array<double, N> seconds_{};
};

}  // namespace detail
}  // namespace levada
