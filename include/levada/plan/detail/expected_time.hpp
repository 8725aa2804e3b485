// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/expected_time.hpp: what time a plan takes by the costs of its units: from an item to its result, and
// between two results where items follow each other without a gap. Work of the stages and ways between devices count;
// what levada takes itself, some 100 ns a stage, does not.
//
// - Latency: all units one after the other, but for branches that run at once, and all ways between devices. An item
//   is copied into its slot, which counts where the table has it, as a way from the processor to itself.
// - Between results: the largest load. A device is loaded by the work of its units, divided by its workers, and by the
//   ways to it; a serial stage, and a feedback as a whole, by its own work. Slots are loaded by the latency, divided by
//   their number: an item stays in its slot so long. Threads that compute at once slow each other down.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <levada/core/detail/device.hpp>
#include <levada/plan/detail/constexpr_vector.hpp>
#include <levada/plan/detail/cost.hpp>
#include <levada/plan/detail/plan_info.hpp>
#include <levada/plan/detail/transfers.hpp>
#include <levada/plan/detail/value_places.hpp>

namespace levada {

/// Which of the samples of a kernel counts: the median, or what 19 of 20 do not exceed.
enum class quantile : std::uint8_t { median, p95 };

/// A unit, by its first stage, or the way of what a stage gives to another device.
struct timed_part {
  std::string_view stage;
  device_id device{};
  double seconds = 0;
  bool is_way = false;
};

/// What is busy with each item.
struct expected_load {
  enum kind : std::uint8_t { device, serial_stage, slots };

  kind of = device;
  device_id at{};           ///< of a device
  timed_part most{};        ///< what takes most of it; of a serial stage itself
  double work = 0;          ///< seconds for an item, for all workers together
  std::size_t workers = 1;  ///< of slots their number

  constexpr double seconds() const { return work / static_cast<double>(workers); }
};

/// How costs are known.
struct known_costs {
  std::size_t all = 0, measured = 0, estimated = 0;
  std::string_view unmeasured{};   ///< the first stage of which nobody measured the cost, or the way behind it
  std::string_view without_p95{};  ///< the first stage that was measured without that quantile

  constexpr std::size_t unknown() const { return all - measured - estimated; }
  constexpr void add(cost_origin origin, std::string_view stage) {
    if (origin != cost_origin::measured && unmeasured.empty()) unmeasured = stage;
    ++all;
    measured += origin == cost_origin::measured ? 1u : 0u;
    estimated += origin == cost_origin::estimated ? 1u : 0u;
  }
  constexpr void add(const known_costs& other) {
    if (unmeasured.empty()) unmeasured = other.unmeasured;
    if (without_p95.empty()) without_p95 = other.without_p95;
    all += other.all;
    measured += other.measured;
    estimated += other.estimated;
  }
};

/// Of one plan, for one item.
struct expected_time {
  double latency = 0;
  timed_part longest{};                             ///< what takes most of the latency
  detail::constexpr_vector<expected_load> loads{};  ///< devices, then serial stages, then slots
  known_costs known{};

  /// The largest load: the first of equals.
  constexpr const expected_load& bottleneck() const {
    std::size_t at = 0;
    for (std::size_t l = 1; l < loads.size(); ++l)
      if (loads[l].seconds() > loads[at].seconds()) at = l;
    return loads[at];
  }
  constexpr double interval() const { return loads.empty() ? 0 : bottleneck().seconds(); }
};

namespace detail {

constexpr double seconds_at(const cost& c, quantile at) {
  return at == quantile::p95 ? std::max(c.p95, c.seconds) : c.seconds;
}

/// Smaller items are copied into their slots in less time than handing them over takes.
inline constexpr std::size_t least_copied_bytes = 4096;

/// Adds up what a plan's units take.
template <std::size_t N>
class time_sum {
 public:
  constexpr time_sum(const plan_info<N>& plan, std::span<const cost> costs, const contention& threads, quantile at)
      : plan_(plan),
        costs_(costs),
        threads_(static_cast<std::size_t>(threads.threads)),
        slowdown_(threads.slowdown),
        at_(at) {}

  constexpr expected_time sum() {
    add_copy_of_item();
    for (std::size_t u = 0; u < plan_.units; ++u) add_unit(u);
    for (const planned_transfer& t : transfers_of(plan_)) add_way(t);
    for (std::size_t f = 0; f < plan_.fork.size(); ++f) time_.latency -= saved_by_branches(f);
    for (expected_load& load : time_.loads)
      if (load.at.kind == device_kind::cpu) load.work *= slowdown_, load.most.seconds *= slowdown_;
    add_serial_stages();
    time_.loads.push_back(
        {expected_load::slots, {}, time_.longest, time_.latency * slowdown_, std::max<std::size_t>(plan_.slots, 1)});
    return static_cast<expected_time&&>(time_);
  }

 private:
  constexpr double seconds_of(std::size_t unit) const { return seconds_at(costs_[unit], at_); }
  constexpr std::string_view name_of_unit(std::size_t unit) const {
    return plan_.graph.nodes[plan_.unit[unit].first].name;
  }
  constexpr device_id device_of_unit(std::size_t unit) const { return plan_.segment[plan_.unit[unit].segment].device; }
  constexpr timed_part part(std::size_t unit) const {
    return {name_of_unit(unit), device_of_unit(unit), seconds_of(unit)};
  }

  constexpr void add(const timed_part& part) {
    time_.latency += part.seconds;
    if (part.seconds > time_.longest.seconds || time_.longest.stage.empty()) time_.longest = part;
    for (expected_load& load : time_.loads)
      if (load.at == part.device) return add_to(load, part);
    const std::size_t workers =
        part.device.kind == device_kind::cpu ? threads_ : static_cast<std::size_t>(count_of(part.device));
    time_.loads.push_back({expected_load::device, part.device, part, part.seconds, std::max<std::size_t>(workers, 1)});
  }
  static constexpr void add_to(expected_load& load, const timed_part& part) {
    load.work += part.seconds;
    if (part.seconds > load.most.seconds) load.most = part;
  }
  constexpr void add_unit(std::size_t u) {
    time_.known.add(costs_[u].origin, name_of_unit(u));
    if (costs_[u].origin == cost_origin::measured && costs_[u].seconds > costs_[u].p95 &&
        time_.known.without_p95.empty())
      time_.known.without_p95 = name_of_unit(u);
    add(part(u));
  }
  /// Items that are no bytes are moved.
  constexpr void add_copy_of_item() {
    constexpr device_id processor{device_kind::cpu};
    const std::optional<crossing> copying = find_transfer(plan_.transfer_costs, processor, processor);
    const value_info& item = plan_.graph.values[0];
    if (!copying || !item.trivial || item.bytes < least_copied_bytes) return;
    time_.known.add(cost_origin::measured, "input");
    add({"input", processor, copying->seconds_for(item.bytes), true});
  }
  constexpr void add_way(const planned_transfer& t) {
    std::string_view stage = "input";
    for (std::size_t u = 0; u < plan_.units; ++u)
      if (plan_.unit[u].how != form::sink && plan_.unit[u].out == t.value)
        stage = plan_.graph.nodes[plan_.unit[u].first + plan_.unit[u].count - 1].name;
    time_.known.add(t.price.origin, stage);
    add({stage, t.to, t.seconds(), true});
  }
  /// Of branches that run at once no schedule of as many workers takes longer than the longest branch and the rest
  /// shared among them (Graham, 1966).
  constexpr double saved_by_branches(std::size_t f) const {
    const planned_fork& fork = plan_.fork[f];
    if (fork.order != branch_order::at_once) return 0;
    double all = 0, longest = 0, of_branch[most_branches]{};
    for (std::size_t u = fork.first; u < fork.first + fork.count; ++u) {
      const std::size_t branch = plan_.unit[u].branch.branch;
      all += seconds_of(u);
      of_branch[branch] += seconds_of(u);
      longest = std::max(longest, of_branch[branch]);
    }
    return (all - longest) * (1 - 1 / static_cast<double>(std::min(threads_, fork.branches)));
  }
  constexpr void add_serial_stages() {
    for (std::size_t u = 0, depth = 0; u < plan_.units; ++u) {
      const loop_border border = border_at(plan_, u);
      const bool goes_on = depth != 0;
      depth += border == loop_border::begins ? 1u : 0u;
      depth -= border == loop_border::ends ? 1u : 0u;
      if (goes_on)  // a feedback: the items go through all of it one by one
        time_.loads.back().work += seconds_of(u);
      else if (depth != 0 || plan_.unit[u].order == concurrency::serial)
        time_.loads.push_back({expected_load::serial_stage, device_of_unit(u), part(u), seconds_of(u), 1});
    }
  }

  const plan_info<N>& plan_;
  const std::span<const cost> costs_;
  const std::size_t threads_;
  const double slowdown_;
  const quantile at_;
  expected_time time_{};
};

}  // namespace detail

/// What time a plan is expected to take, on so many threads of the processor, by the costs of its units.
template <std::size_t N>
constexpr expected_time expected_time_of(const plan_info<N>& plan, std::span<const cost> costs,
                                         const contention& threads, quantile at = quantile::median) {
  return detail::time_sum<N>(plan, costs, threads, at).sum();
}

}  // namespace levada
