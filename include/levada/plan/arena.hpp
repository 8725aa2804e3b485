// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/arena.hpp: how little memory the values of one item could take: how good a plan's `arena_size` is.

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <levada/plan/detail/plan_info.hpp>

namespace levada {

namespace detail {

/// When each value is made and last taken (a plan's own lifetimes are those of whole buffers), and those of one buffer
/// in a list.
template <std::size_t N>
struct value_lifetimes {
  static constexpr std::size_t none = N + 1;
  std::array<std::size_t, N + 1> first{}, last{}, head{}, next{};

  constexpr explicit value_lifetimes(const plan_info<N>& plan) {
    for (std::size_t u = 0; u < plan.units; ++u) {
      for_each_input(plan.unit[u], [&](std::size_t v) { last[v] = u + 1; });
      if (plan.unit[u].how != form::sink) first[plan.unit[u].out] = last[plan.unit[u].out] = u + 1;
    }
    if (plan.has_result) last[plan.graph.result] = plan.units + 1;
    head.fill(none);
    for (std::size_t v = 0; v < plan.value.size(); ++v) next[v] = std::exchange(head[plan.value[v].storage], v);
  }
};

/// The bytes of a buffer in which some value lies that `is_alive`.
template <std::size_t N, class IsAlive>
constexpr std::size_t bytes_alive(const plan_info<N>& plan, const value_lifetimes<N>& lives, std::size_t owner,
                                  IsAlive is_alive) {
  std::size_t covered = 0;
  for (std::size_t at = 0;;) {
    std::size_t begin = ~std::size_t{0}, end = at;
    for (std::size_t i = lives.head[owner]; i != lives.none; i = lives.next[i]) {
      const planned_value& v = plan.value[i];
      if (!is_alive(i) || v.within + v.bytes <= at) continue;
      begin = std::min(begin, v.within);
      if (v.within <= at) end = std::max(end, v.within + v.bytes);
    }
    if (begin == ~std::size_t{0}) return covered;
    covered += end - at;
    at = end > at ? end : begin;
  }
}

/// The sum over the buffers that `counts` names.
template <std::size_t N, class Counts, class IsAlive>
constexpr std::size_t all_alive(const plan_info<N>& plan, const value_lifetimes<N>& lives, Counts counts,
                                IsAlive is_alive) {
  std::size_t alive = 0;
  for (std::size_t v = 0; v < plan.value.size(); ++v)
    if (plan.value[v].storage == v && counts(plan.value[v])) alive += bytes_alive(plan, lives, v, is_alive);
  return alive;
}

/// While the branches of a fork run at once: each may be where most of what it makes is alive.
template <std::size_t N, class Counts>
constexpr std::size_t most_alive_in(const plan_info<N>& plan, const value_lifetimes<N>& lives, const planned_fork& fork,
                                    Counts counts) {
  const std::size_t begin = fork.first + 1, end = fork.first + fork.count;  // steps
  const auto branch_at = [&](std::size_t step) { return plan.unit[step - 1].branch.branch; };
  std::array<std::size_t, most_branches> most{}, peak{};  // of each branch, and the step
  for (std::size_t step = begin; step <= end; ++step) {
    const std::size_t branch = branch_at(step);
    const std::size_t alive = all_alive(plan, lives, counts, [&](std::size_t v) {
      return lives.first[v] >= begin && lives.first[v] <= step && lives.last[v] >= step &&
             branch_at(lives.first[v]) == branch;
    });
    if (alive >= most[branch]) most[branch] = alive, peak[branch] = step;
  }
  std::array<bool, N + 1> taken_yet{};  // then, in some branch
  for (std::size_t step = begin; step <= end; ++step)
    if (step >= peak[branch_at(step)]) for_each_input(plan.unit[step - 1], [&](std::size_t v) { taken_yet[v] = true; });
  return all_alive(plan, lives, counts, [&](std::size_t v) {
    if (lives.first[v] < begin) return lives.last[v] > end || taken_yet[v];
    if (lives.first[v] > end) return false;
    const std::size_t at = peak[branch_at(lives.first[v])];
    return lives.first[v] <= at && lives.last[v] >= at;
  });
}

/// The largest sum over the steps of the buffers that `counts` names.
template <std::size_t N, class Counts>
constexpr std::size_t most_alive(const plan_info<N>& plan, Counts counts) {
  const value_lifetimes<N> lives(plan);
  std::size_t most = 0;
  for (std::size_t step = 0; step <= plan.units + 1; ++step)
    most = std::max(
        most, all_alive(
                  plan, lives, [&](const planned_value& v) { return v.first <= step && v.last >= step && counts(v); },
                  [&](std::size_t v) { return lives.first[v] <= step && lives.last[v] >= step; }));
  for (const planned_fork& fork : plan.fork)
    if (fork.order == branch_order::at_once) most = std::max(most, most_alive_in(plan, lives, fork, counts));
  return most;
}

}  // namespace detail

/// The largest sum of values that are alive at one step, or while branches run at once: no arena can be smaller.
template <std::size_t N>
constexpr std::size_t arena_bound(const plan_info<N>& plan) {
  return detail::most_alive(plan, [](const planned_value& v) { return v.where != placement::none; });
}

/// The same of the values alone that lie in the scratchpad of a segment.
template <std::size_t N>
constexpr std::size_t scratchpad_bound(const plan_info<N>& plan, std::size_t segment) {
  const planned_segment& s = plan.segment[segment];
  return detail::most_alive(plan, [&](const planned_value& v) {
    return (v.where == placement::item || v.where == placement::grain) && v.first > s.first &&
           v.first <= s.first + s.count;
  });
}

}  // namespace levada
