// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/sharing.hpp: values that lie in each other's memory, so that nothing is copied and less of it is needed:
// what an element-wise op makes of its input in place, views, and inputs that are made where they will be joined.
//
// Values that share a buffer are a group; the buffer is that of one of them, their `storage`. A byte that a unit
// overwrites must not be one of another value that is alive then. Groups stay inside one segment of the processor. The
// pipeline's input, which may be the caller's own object, is in none; the result, which may be written to the caller's
// memory, only in one with what stages make it of in place.

#include <algorithm>
#include <array>
#include <cstddef>

#include <levada/core/detail/device.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/plan/detail/branches.hpp>

namespace levada::detail {

/// How a unit may share: as its node does; a run of nodes that all work in place does too.
template <class Plan>
constexpr reuse reuse_of(const Plan& plan, std::size_t unit) {
  const auto& u = plan.unit[unit];
  const auto& nodes = plan.graph.nodes;
  for (std::size_t n = u.first; u.count > 1 && n < u.first + u.count; ++n)
    if (nodes[n].reuses != reuse::in_place) return reuse::none;
  return nodes[u.first].reuses;
}

/// Extends the sharing that in-place stages ask for. `Plan` is a `plan_info<N>` whose lifetimes are known.
template <class Plan, std::size_t N>
class buffer_sharing {
 public:
  constexpr explicit buffer_sharing(Plan& plan) : plan_(plan) {
    for (std::size_t v = 0; v < plan.value.size(); ++v) home_[v] = changed_at_[v] = nowhere;
    for (std::size_t u = 0; u < plan.units; ++u) {
      const auto& unit = plan.unit[u];
      if (unit.how != form::sink) home_[unit.out] = unit.segment;
      if (consumes(unit.how)) changed_at_[unit.in] = u + 1;
    }
    for (const auto& unit : plan.unit)
      for_each_input(unit, [&](std::size_t v) {
        if (home_[v] != unit.segment) home_[v] = nowhere;
      });
    if (plan.has_result) leaves_[plan.graph.result] = true;
    for (std::size_t u = plan.units; u-- > 0;)
      if (plan.unit[u].how == form::in_place && leaves_[plan.unit[u].out]) leaves_[plan.unit[u].in] = true;
  }

  /// Of all units; of those that join values only if `joins`.
  constexpr void share(bool joins) {
    for (std::size_t u = 0; u < plan_.units; ++u) {
      const auto& unit = plan_.unit[u];
      if (unit.how == form::in_place) {
        // A part of a whole has its place there: it is moved to it or from it.
        if (!is_part(unit.in) && !is_part(unit.out)) follow(unit.in, unit.out, 0);
      } else if (const reuse how = reuse_of(plan_, u); how != reuse::none) {
        if (is_part(unit.out) || leaves_[unit.out] || !is_at_home(unit.out, unit.segment)) continue;
        if (how == reuse::in_place)
          for_each_input(unit, [&](std::size_t v) { share_in_place(u, v); });
        else if (how == reuse::view)
          share_view(u);
        else if (joins)
          join(u);
      }
    }
  }

 private:
  static constexpr std::size_t nowhere = ~std::size_t{0};

  constexpr bool is_at_home(std::size_t v, std::size_t segment) const {
    const auto kind = plan_.segment[segment].device.kind;
    return home_[v] == segment && (kind == device_kind::cpu || kind == device_kind::simulated);
  }
  constexpr bool is_part(std::size_t v) const { return is_part_value(plan_.graph.values[v]); }
  constexpr std::size_t group(std::size_t v) const { return plan_.value[v].storage; }
  constexpr bool has_own_buffer(std::size_t v) const { return group(v) == v; }

  constexpr bool overlap(std::size_t a, std::size_t b) const {
    const auto &x = plan_.value[a], &y = plan_.value[b];
    return x.within < y.within + y.bytes && y.within < x.within + x.bytes;
  }
  /// It was made before that step, and is taken then or later.
  constexpr bool is_alive(std::size_t v, std::size_t step) const {
    return plan_.value[v].first < step && plan_.value[v].last >= step;
  }

  /// `v` lies in the buffer of `of` from now on, that many bytes behind it.
  constexpr void follow(std::size_t of, std::size_t v, std::size_t behind) {
    plan_.value[v].storage = plan_.value[of].storage;
    plan_.value[v].within = plan_.value[of].within + behind;
  }

  /// A unit that runs beside the one of that step, in another branch of the item, takes it.
  constexpr bool is_taken_beside(std::size_t v, std::size_t step) const {
    const branch_place here = plan_.unit[step - 1].branch;
    if (!here) return false;
    const planned_fork& fork = plan_.fork[here.fork];
    bool taken = false;
    for (std::size_t u = fork.first; u < fork.first + fork.count; ++u)
      if (run_at_once(here, plan_.unit[u].branch))
        for_each_input(plan_.unit[u], [&](std::size_t w) { taken = taken || v == w; });
    return taken;
  }

  /// Where `v` lies may be changed at `step`: no other value that is there before is taken then or later.
  constexpr bool may_change(std::size_t v, std::size_t step) const {
    if (plan_.value[v].last > step || is_taken_beside(v, step)) return false;
    for (std::size_t other = 0; other < plan_.value.size(); ++other)
      if (other != v && group(other) == group(v) && overlap(other, v) &&
          (is_alive(other, step) || is_taken_beside(other, step)))
        return false;
    return true;
  }
  /// What stages change or consume is nobody else's then, in the group of `v`.
  constexpr bool changes_are_safe(std::size_t v) const {
    for (std::size_t c = 0; c < plan_.value.size(); ++c)
      if (group(c) == group(v) && changed_at_[c] != nowhere && !may_change(c, changed_at_[c])) return false;
    return true;
  }

  constexpr bool of_one_type(std::size_t a, std::size_t b) const {
    const value_info &x = plan_.graph.values[a], &y = plan_.graph.values[b];
    return x.type != element::other && x.type == y.type && x.bytes == y.bytes &&
           x.extents.elements() == y.extents.elements();
  }

  constexpr void share_in_place(std::size_t u, std::size_t in) {
    const auto& unit = plan_.unit[u];
    if (!has_own_buffer(unit.out) || !of_one_type(in, unit.out) || !is_at_home(group(in), unit.segment)) return;
    if (may_change(in, u + 1)) follow(in, unit.out, 0);
  }

  constexpr void share_view(std::size_t u) {
    const auto& unit = plan_.unit[u];
    const auto &in = plan_.value[unit.in], &out = plan_.value[unit.out];
    const std::size_t behind = plan_.graph.nodes[unit.first].view_offset;
    if (!is_at_home(group(unit.in), unit.segment) || behind + out.bytes > in.bytes ||
        (in.within + behind) % out.alignment != 0)
      return;
    follow(unit.in, unit.out, behind);
    if (!changes_are_safe(unit.out)) own_buffer(unit.out);
  }

  /// The inputs of a unit that joins them are made in its output's buffer: those that have a buffer for themselves.
  constexpr void join(std::size_t u) {
    const auto& unit = plan_.unit[u];
    std::size_t behind = 0;
    for_each_input(unit, [&](std::size_t v) {
      const value_info& value = plan_.graph.values[v];
      const std::size_t bytes = value.extents.elements() * size_of(value.type), owner = group(v);
      if (is_at_home(owner, unit.segment) && owner != unit.out && plan_.value[owner].bytes == bytes &&
          fits_behind(owner, unit.out, behind)) {
        move_group(owner, unit.out, behind);
        if (!changes_are_safe(unit.out)) move_group_back(owner, unit.out, behind, bytes);
      }
      behind += bytes;
    });
  }
  constexpr bool fits_behind(std::size_t owner, std::size_t out, std::size_t behind) const {
    for (std::size_t v = 0; v < plan_.value.size(); ++v) {
      const std::size_t alignment = plan_.value[v].alignment;
      if (group(v) == owner && (leaves_[v] || behind % alignment != 0 || alignment > plan_.value[out].alignment))
        return false;
    }
    return true;
  }
  constexpr void move_group(std::size_t owner, std::size_t to, std::size_t behind) {
    for (auto& value : plan_.value)
      if (value.storage == owner) {
        value.storage = to;
        value.within += behind;
      }
  }
  constexpr void move_group_back(std::size_t owner, std::size_t from, std::size_t behind, std::size_t bytes) {
    for (std::size_t v = 0; v < plan_.value.size(); ++v) {
      auto& value = plan_.value[v];
      if (v == from || value.storage != from || value.within < behind || value.within >= behind + bytes) continue;
      value.storage = owner;
      value.within -= behind;
    }
  }
  constexpr void own_buffer(std::size_t v) {
    plan_.value[v].storage = v;
    plan_.value[v].within = 0;
  }

  Plan& plan_;
  std::array<std::size_t, N> home_{};        ///< the segment inside which a value is made and taken, if one
  std::array<std::size_t, N> changed_at_{};  ///< the step of the stage that changes or consumes a value, if any
  std::array<bool, N> leaves_{};             ///< the result, and what stages make it of in place
};

}  // namespace levada::detail
