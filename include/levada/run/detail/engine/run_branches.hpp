// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/run_branches.hpp: the branches of an item run at once (run/detail/program/branches.hpp), for plans
// that say so. Branches are offered while fewer items are in flight than there are threads: else these have items of
// their own, and the branches run one after the other as all units do.

#include <cstddef>
#include <utility>

#include <levada/run/detail/engine/engine_links.hpp>
#include <levada/run/detail/engine/run_units.hpp>
#include <levada/run/detail/measure/grain_watch.hpp>
#include <levada/run/detail/program/branches.hpp>

namespace levada::detail {

/// Runs the branches of one item on several threads.
template <class = void>
class basic_branch_runner : public unit_runner {
 public:
  /// Of deployments whose plans run branches at once; no other program compiles them.
  static const branch_calls* calls() {
    static constexpr branch_calls all{
        [](basic_branch_runner& of, segment& seg, grain& g) noexcept { return of.run_branches(seg, g); },
        [](basic_branch_runner& of, std::size_t s, grain*& goes_on) noexcept {
          return of.help_with_branch(s, goes_on);
        }};
    return &all;
  }

 protected:
  using unit_runner::unit_runner;

  static shared_branches& branches_of(segment& seg, const grain& g) {
    return seg.branches[static_cast<std::size_t>(&g - seg.grains.begin())];
  }
  bool may_run_branches(const grain& g, const program_fork& fork) const;
  /// Where they are offered there may be none yet, or none any more: whoever opens them tells others behind that.
  static bool has_unclaimed_branch(const segment& seg) {
    for (const shared_branches& b : seg.branches)
      if (b.has_unclaimed()) return true;
    return false;
  }
  bool run_branches_from(segment& seg, grain& g, std::size_t branch, grain_watch& watch) noexcept;
  bool run_branches(segment& seg, grain& g) noexcept;
  bool help_with_branch(std::size_t s, grain*& goes_on) noexcept;
  void run_branch(segment& seg, grain& g, std::size_t branch, grain_watch& watch) noexcept;
  void join_branches(segment& seg, grain& g) noexcept;
  bool is_left(shared_branches& all, std::size_t v) const;
};
using branch_runner = basic_branch_runner<>;

template <class T>
inline bool basic_branch_runner<T>::may_run_branches(const grain& g, const program_fork& fork) const {
  if (branches_ == nullptr || concurrency_limit_.count() == 1 || g.end - g.begin != 1 || g.some_ended) return false;
  if (settings_.dedicated || settings_.inline_when_idle) return false;  // one thread alone is to run the item
  if (fork.divided && may_divide(g) && code_.team->is_ready()) return false;
  return ring_.pushed.load(std::memory_order_relaxed) - finished() < static_cast<sequence>(concurrency_limit_.count());
}

/// Runs branches of the grain's item on this thread from the given one on, as long as there are some. True: all are
/// done, and the grain goes on here. While a branch is the caller's, the others cannot be those of another item.
template <class T>
inline bool basic_branch_runner<T>::run_branches_from(segment& seg, grain& g, std::size_t branch,
                                                      grain_watch& watch) noexcept {
  shared_branches& all = branches_of(seg, g);
  bool is_last = false;
  for (;;) {
    run_branch(seg, g, branch, watch);
    if (!all.claim(branch, is_last)) break;
    if (is_last) seg.offered.fetch_sub(1);
    all.finish();  // the one before; not the last of all
  }
  if (!all.finish()) return false;
  join_branches(seg, g);
  return true;
}

/// The grain is before a fork. True: all branches are done, and it goes on here; else on another thread.
template <class T>
[[gnu::noinline]] inline bool basic_branch_runner<T>::run_branches(segment& seg, grain& g) noexcept {
  shared_branches& all = branches_of(seg, g);
  const program_fork& fork = *code_.units[g.unit].fork;
  grain_watch watch = g.watch;
  seg.offered.fetch_add(1);
  all.open(fork);
  waker_.offer(fork.branches - 1, concurrency_limit_);
  if (!run_branches_from(seg, g, 0, watch)) return false;
  g.watch.joined(true);
  return true;
}

/// Runs a branch of an item that another thread has, if there is one. `goes_on`: its grain, where that branch was the
/// last to be done: what is behind is for the caller to run.
template <class T>
[[gnu::noinline]] inline bool basic_branch_runner<T>::help_with_branch(std::size_t s, grain*& goes_on) noexcept {
  segment& seg = segments_[s];
  for (std::size_t i = 0; i < seg.branches.size(); ++i) {
    std::size_t branch = 0;
    bool is_last = false;
    if (!seg.branches[i].has_unclaimed() || !seg.branches[i].claim(branch, is_last)) continue;
    if (is_last) seg.offered.fetch_sub(1);
    grain& g = seg.grains[i];
    bool all_done = false;
    {
      meter::turn turn(measuring());
      grain_watch watch = g.watch.on_branch(turn, s, g.begin);
      all_done = run_branches_from(seg, g, branch, watch);
    }
    if (!all_done) return true;
    g.watch.joined(false);
    goes_on = &g;
    return true;
  }
  return false;
}

template <class T>
inline void basic_branch_runner<T>::run_branch(segment& seg, grain& g, std::size_t branch,
                                               grain_watch& watch) noexcept {
  shared_branches& all = branches_of(seg, g);
  const program_fork& fork = all.fork();
  shared_branches::outcome& item = all.of(branch);
  for (item.unit = fork.first; item.unit < fork.end; ++item.unit) {
    const std::size_t u = item.unit;
    const program_unit& unit = code_.units[u];
    if (unit.branch != branch) continue;
    if (all.ended_at() < u) return;
    if (cancelled_.load(std::memory_order_relaxed))
      item.state = item_state::cancelled;
    else if (settings_.deadline.count() != 0 && ring_.envelope[g.slot].captured < settings_.oldest_in_time())
      item.state = item_state::dropped;
    if (item.state != item_state::value) {
      if (watch) watch.ended(u, item.state);
      return all.end_at(u);
    }
    const void* inputs[most_inputs];
    const bool gathers = needs_gathering(unit);
    if (gathers) gather(seg, g, unit, 0, inputs);
    unit_call call = call_of(unit, u, grain_places{*this, seg, g, 0, gathers ? inputs : nullptr}, 1);
    call.state = &item.state;
    call.error = &item.error;
    unit.run(call);
    if (call.lost_some) {
      item.state = item.state == item_state::failing ? item_state::failed : item_state::filtered;
      if (watch) watch.ended(u, item.state), watch.ran(u, call, g.begin);
      return all.end_at(u);
    }
    // What was there before the fork others may take yet.
    for (const std::size_t v : unit.dying)
      if (code_.values[v].born > fork.first) destroy(seg, g, v, 0);
    if (watch) watch.ran(u, call, g.begin);
  }
}

/// All branches are done: what they have taken from before is destroyed; where the item ended in one, all there is of
/// it.
template <class T>
inline void basic_branch_runner<T>::join_branches(segment& seg, grain& g) noexcept {
  shared_branches& all = branches_of(seg, g);
  const program_fork& fork = all.fork();
  const std::size_t ended_at = all.ended_at();
  g.unit = fork.end;
  if (ended_at == fork.end) {
    for (std::size_t u = fork.first; u < fork.end; ++u)
      for (const std::size_t v : code_.units[u].dying)
        if (code_.values[v].born <= fork.first) destroy(seg, g, v, 0);
    return;
  }
  for (std::size_t v = 0; v < code_.values.size(); ++v) {
    const program_value& value = code_.values[v];
    if (value.destroy != nullptr && value.where != placement::none && is_left(all, v)) destroy(seg, g, v, 0);
  }
  shared_branches::outcome& first = all.of(code_.units[ended_at].branch);
  ring_.error[g.slot] = std::move(first.error);
  for (std::size_t b = 0; b < fork.branches; ++b) all.of(b).error = nullptr;
  if (first.state == item_state::failed) tell_of_failure(g.slot);
  set_state(ring_.state[g.slot], first.state);
  g.some_ended = true;
}

/// The value is there where its item has ended in a branch.
template <class T>
inline bool basic_branch_runner<T>::is_left(shared_branches& all, std::size_t v) const {
  const program_fork& fork = all.fork();
  const program_value& value = code_.values[v];
  if (value.born > fork.first) {
    const std::size_t maker = value.born - 1u;
    if (maker >= fork.end) return false;
    const std::size_t stopped_at = all.of(code_.units[maker].branch).unit;
    return maker < stopped_at && value.last_use >= stopped_at;
  }
  if (value.last_use < fork.first) return false;
  if (value.last_use >= fork.end) return true;
  // A stage that changed it where it lies has made another value of it.
  const program_unit& taker = code_.units[value.last_use];
  const bool ran = value.last_use < all.of(taker.branch).unit;
  if (!ran) return true;
  for (const std::size_t dying : taker.dying)
    if (dying == v) return true;
  return false;
}

}  // namespace levada::detail
