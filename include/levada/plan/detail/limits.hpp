// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/limits.hpp: the best cover of a graph among those that take no more than they may: least latency at a
// promised interval, least memory or fewest devices within a promised latency. The search is that of
// plan/detail/search.hpp, with an amount for each limit.
//
// Costs count as they are: no difference is lost in noise, and what is unknown takes no time. Whoever asks decides what
// may be offered.

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include <levada/core/detail/bounded.hpp>
#include <levada/plan/detail/expected_time.hpp>
#include <levada/plan/detail/prices.hpp>
#include <levada/plan/detail/search.hpp>

namespace levada {

/// What a cover takes at most, in seconds: by the median of its costs and by their upper quantile.
struct plan_limits {
  static constexpr double any = std::numeric_limits<double>::infinity();

  std::array<double, 2> latency{any, any};
  std::array<double, 2> interval{any, any};  ///< the load of each device and of each serial offer
  /// How often each node runs for an item that comes in; null: once. That counts for loads, not for the latency.
  const double* runs = nullptr;

  constexpr double& latency_at(quantile at) { return latency[static_cast<std::size_t>(at)]; }
  constexpr double& interval_at(quantile at) { return interval[static_cast<std::size_t>(at)]; }
  constexpr bool any_said() const {
    return latency != std::array<double, 2>{any, any} || interval != std::array<double, 2>{any, any};
  }
};

/// The answer: the best cover within limits; where there is none, the one that exceeds them least.
template <std::size_t N>
struct limited_cover {
  cover<N> best;      ///< its `seconds` are what the objective counts: those, bytes or devices as so many picoseconds
  bool fits = false;  ///< else `seconds` is the largest part of a limit that it takes, above 1
};

namespace detail {

/// What covers are compared by: the objective, or by what part of a limit they take at most.
enum class sought : std::uint8_t { best_within, nearest };

/// The amounts of a way: its latency, the loads and the longest serial offer, bytes, which devices compute, and the
/// memories. Only those that the objective or a limit asks for.
template <std::size_t N>
class limited_prices : public prices<N> {
 public:
  using base = prices<N>;
  using typename base::location;
  /// Latency, loads and the longest serial offer by two quantiles; bytes; the use and the memory of each device.
  static constexpr std::size_t most_amounts = 2 * (most_places + 2) + 1 + 2 * most_places;

  constexpr limited_prices(const placement_problem<N>& problem, objective goal, const plan_limits& limits, sought which)
      : base(problem, objective::latency, false), goal_(goal), which_(which), runs_(limits.runs) {
    for (std::size_t n = 0; runs_ != nullptr && n < problem.flow.nodes; ++n)
      most_runs_ = std::max(most_runs_, runs_[n]);
    for (const quantile at : {quantile::median, quantile::p95}) {
      const auto q = static_cast<std::size_t>(at);
      const bool is_goal = at == quantile::median;
      if (limits.latency[q] != plan_limits::any || (is_goal && goal != objective::throughput))
        add({amount::latency, 0, at, 1, limit_of(limits.latency[q])});
      if (limits.interval[q] == plan_limits::any && !(is_goal && goal == objective::throughput)) continue;
      for (std::size_t d = 0; d < problem.devices.size(); ++d)
        add({amount::load, d, at, problem.devices[d].workers, limit_of(limits.interval[q])});
      if (has_serial()) add({amount::longest, 0, at, 1, limit_of(limits.interval[q])});
    }
    if (goal == objective::memory) add({amount::bytes});
    for (std::size_t d = 0; d < problem.devices.size(); ++d) {
      all_workers_ += problem.devices[d].workers;
      if (goal == objective::devices) add({amount::computes, d});
    }
    for (std::size_t d = 0; d < problem.devices.size(); ++d)
      if (problem.devices[d].memory != device_capacity::any)
        add({amount::memory, d, quantile::median, 1, static_cast<picoseconds>(problem.devices[d].memory)});
  }

  constexpr std::size_t amounts() const { return amounts_.size(); }
  constexpr bool is_longest(std::size_t k) const {
    return amounts_[k].of == amount::longest || amounts_[k].of == amount::computes;
  }

  /// All amounts count: there is no preference.
  constexpr bool is_settled(std::size_t, const picoseconds*, const picoseconds*) const { return false; }

  /// Adds an offer's amounts, and of moving what it takes; false where that, and what is left to do at least, is too
  /// much.
  constexpr bool use(picoseconds* used, std::size_t o, picoseconds moved, picoseconds rest) const {
    const offer<N>& made = problem().offers[o];
    const std::size_t device = problem().places[made.place].device;
    const picoseconds to_host = base::priced(o).to_host;
    picoseconds loads[2]{};
    for (std::size_t k = 0; k < amounts_.size(); ++k) {
      const amount& a = amounts_[k];
      picoseconds least_more = 0;
      switch (a.of) {
        case amount::latency:
          used[k] += price(o, a.at) + moved + to_host;
          least_more = rest;
          break;
        case amount::load:
          if (a.device == device) used[k] += load(o, a.at) + often(moved, runs_of(o));
          if (to_host != 0 && a.device == problem().places[problem().host].device)
            used[k] += often(to_host, runs_of(o));
          loads[static_cast<std::size_t>(a.at)] += used[k];
          break;
        case amount::longest:
          if (made.serial) used[k] = std::max(used[k], load(o, a.at));
          break;
        case amount::bytes:
          used[k] += static_cast<picoseconds>(made.bytes);
          break;
        case amount::computes:
          if (a.device == device) used[k] = 1;
          break;
        case amount::memory:
          if (a.device == device) used[k] += static_cast<picoseconds>(made.bytes);
          break;
      }
      if (is_bound(a) && used[k] + least_more > a.most()) return false;
      if (which_ == sought::best_within && a.of == amount::load && a.limit != unlimited && runs_ == nullptr &&
          (loads[static_cast<std::size_t>(a.at)] + rest) / all_workers_ > a.limit)
        return false;
    }
    return true;
  }
  constexpr void add_regret(picoseconds* used, std::size_t bytes, location there, location elsewhere) const {
    for (std::size_t p = 0; p < problem().places.size(); ++p) {
      if ((there >> p & 1) != 0 || (base::alike(p) & ((1u << p) - 1)) != 0) continue;
      const picoseconds more = base::crossing_time(bytes, there, p);
      const picoseconds less = (elsewhere >> p & 1) != 0 ? 0 : base::crossing_time(bytes, elsewhere, p);
      if (more <= less) continue;
      for (std::size_t k = 0; k < amounts_.size(); ++k)
        if (amounts_[k].of == amount::latency)
          used[k] += more - less;
        else if (amounts_[k].of == amount::load && amounts_[k].device == problem().places[p].device)
          used[k] += often(more - less, most_runs_);
    }
  }

  constexpr picoseconds order(const picoseconds*) const { return 0; }
  constexpr picoseconds least(const picoseconds* used, picoseconds rest) const {
    return which_ == sought::nearest ? excess(used, rest) : of_goal(used, rest);
  }
  constexpr picoseconds bound(picoseconds left_out, picoseconds found) const { return std::min(left_out, found); }
  template <class Chosen>
  constexpr picoseconds without_noise(picoseconds* used, const Chosen&) const {
    return least(used, 0);
  }

 private:
  static constexpr picoseconds unlimited = std::numeric_limits<picoseconds>::max();

  struct amount {
    enum kind : std::uint8_t { latency, load, longest, bytes, computes, memory };
    kind of = latency;
    std::size_t device = 0;
    quantile at = quantile::median;
    picoseconds workers = 1;
    picoseconds limit = unlimited;

    constexpr picoseconds most() const { return limit * workers; }
  };

  constexpr const placement_problem<N>& problem() const { return base::problem(); }
  constexpr void add(const amount& a) { amounts_.push_back(a); }
  static constexpr picoseconds limit_of(double seconds) {
    return seconds == plan_limits::any ? unlimited : std::max<picoseconds>(to_picoseconds(seconds), 1);
  }
  constexpr bool has_serial() const {
    return std::any_of(problem().offers.begin(), problem().offers.end(), [](const offer<N>& o) { return o.serial; });
  }
  /// Memories are bounds whatever is sought.
  constexpr bool is_bound(const amount& a) const {
    return a.limit != unlimited && (which_ == sought::best_within || a.of == amount::memory);
  }
  constexpr picoseconds price(std::size_t o, quantile at) const {
    const offer<N>& made = problem().offers[o];
    const double seconds = base::is_known(made.price) ? seconds_at(made.price, at) : 0;
    return to_picoseconds(problem().places[made.place].launch_seconds + seconds);
  }

  /// Of what is taken for an item that comes in.
  static constexpr picoseconds often(picoseconds time, double runs) {
    return runs == 1 ? time : static_cast<picoseconds>(static_cast<double>(time) * runs + 0.5);
  }
  constexpr double runs_of(std::size_t o) const {
    return runs_ == nullptr ? 1 : runs_[problem().offers[o].nodes.first()];
  }
  constexpr picoseconds load(std::size_t o, quantile at) const { return often(price(o, at), runs_of(o)); }

  constexpr picoseconds of_goal(const picoseconds* used, picoseconds rest) const {
    picoseconds most = 0, sum = goal_ == objective::throughput ? rest : 0;
    for (std::size_t k = 0; k < amounts_.size(); ++k) {
      const amount& a = amounts_[k];
      if (a.at != quantile::median) continue;
      if (goal_ == objective::latency && a.of == amount::latency) return used[k] + rest;
      if (goal_ == objective::memory && a.of == amount::bytes) return used[k];
      if (goal_ == objective::devices && a.of == amount::computes) sum += used[k];
      if (goal_ != objective::throughput || (a.of != amount::load && a.of != amount::longest)) continue;
      most = std::max(most, (used[k] + a.workers - 1) / a.workers);
      if (a.of == amount::load) sum += used[k];
    }
    if (goal_ != objective::throughput) return sum;
    return runs_ != nullptr ? most : std::max(most, sum / all_workers_);
  }
  /// The largest part of a limit that is used; in picoseconds 1 is a second.
  constexpr picoseconds excess(const picoseconds* used, picoseconds rest) const {
    double most = 0;
    for (std::size_t k = 0; k < amounts_.size(); ++k) {
      const amount& a = amounts_[k];
      if (a.limit == unlimited || a.of == amount::memory) continue;
      const picoseconds more = a.of == amount::latency ? rest : 0;
      most = std::max(most, static_cast<double>(used[k] + more) / static_cast<double>(a.most()));
    }
    return to_picoseconds(std::min(most, 999.0));
  }

  objective goal_;
  sought which_;
  const double* runs_;
  double most_runs_ = 1;
  picoseconds all_workers_ = 0;
  bounded<amount, most_amounts> amounts_;
};

}  // namespace detail

/// The best cover that takes no more than it may.
template <std::size_t N>
constexpr limited_cover<N> best_cover_within(const placement_problem<N>& problem, objective goal,
                                             const plan_limits& limits, std::size_t beam = default_beam) {
  using detail::sought;
  using search = detail::cover_search<N, detail::limited_prices<N>>;
  if (cover<N> best = search(problem, beam, goal, limits, sought::best_within).best_cover(); best.complete)
    return {best, true};
  const cover<N> nearest = search(problem, beam, goal, limits, sought::nearest).best_cover();
  return {nearest, nearest.complete && nearest.seconds <= 1};  // it may fit where a beam left out what does
}

}  // namespace levada
