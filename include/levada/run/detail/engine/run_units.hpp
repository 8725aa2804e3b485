// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/run_units.hpp: a unit is called for items of a grain, and those that are lost there are ended.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <iterator>
#include <utility>

#include <levada/run/detail/engine/value_places.hpp>
#include <levada/run/detail/program/call_of.hpp>
#include <levada/run/detail/program/program.hpp>

namespace levada::detail {

/// Calls units for items.
template <class = void>
class basic_unit_runner : public basic_value_places<> {
 protected:
  template <class... Arguments>
  [[gnu::cold]] explicit basic_unit_runner(const program& code, Arguments&&... arguments)
      : basic_value_places<>(code, std::forward<Arguments>(arguments)...) {
    for (std::size_t s = 0; s < segments_.size(); ++s)
      for (std::size_t u = code.segments[s].first; u < code.segments[s].end; ++u)
        paths_[u] = path_of_unit(segments_[s], u);
    for (std::size_t u = 0; u < paths_.size(); ++u) is_chained_[u] = is_chained(code.units[u]);
  }

  /// Of the items of a grain from the given one on: `call_of`.
  struct grain_places {
    basic_unit_runner& of;
    const segment& seg;
    const grain& g;
    std::size_t first;
    const void** gathered;  ///< where their inputs are, if these were gathered

    std::size_t at() const { return g.slot + first; }
    void* object(std::size_t u) const { return *of.paths_[u].object; }
    bool has_versions() const { return static_cast<bool>(of.versions_); }
    void* version(std::size_t u) const { return of.objects_[at()][u]; }
    [[gnu::always_inline]] void put_inputs(const program_unit& unit, unit_call& call) const {
      if (gathered != nullptr)
        take_noted(call, unit, gathered);
      else if (of.is_borrowed(unit.in) && !of.is_copied(seg, unit.in))
        call.inputs = borrowed();
      else
        call.in = place(unit.in, call.in_stride);
    }
    const void* const* borrowed() const { return &of.ring_.input[at()]; }
    std::byte* place(std::size_t v, std::size_t& stride) const { return of.place(seg, g, v, first, stride); }
    std::byte* at_path(const value_path& value) const { return value.at(g.memory, g.slot, first); }
    std::byte* sides(std::size_t& stride) const {
      stride = of.ring_.slot_bytes;
      return of.ring_.slot(at()) + of.code_.side_offset;
    }
    const item_envelope* envelope() const { return &of.ring_.envelope[at()]; }
    std::byte* memory() const { return g.memory; }
    std::byte* scratch(const program_unit& unit) const { return g.memory + unit.scratch_offset; }
    item_state* state() const { return &of.ring_.state[at()]; }
    std::exception_ptr* error() const { return &of.ring_.error[at()]; }
    const items_end* end() const { return &of.end_of_items_; }
    bool some_ended() const { return g.some_ended; }
  };

  bool needs_gathering(const program_unit& unit) const;
  const void** gather(const segment& seg, const grain& g, const program_unit& unit, std::size_t i,
                      const void** next) const;
  void run_gathered(segment& seg, grain& g, std::size_t u, std::size_t first, std::size_t count) noexcept;
  void run_unit(segment& seg, grain& g, std::size_t u, std::size_t first, std::size_t count) noexcept;
  void run_unit_with_care(segment& seg, grain& g, std::size_t u, std::size_t first, std::size_t count,
                          const void** gathered = nullptr) noexcept;
  void call_unit(segment& seg, grain& g, std::size_t u, std::size_t first, unit_call& call) noexcept;
  void look_after_call(segment& seg, grain& g, std::size_t u, std::size_t first, std::size_t count,
                       const unit_call& call) noexcept;
  bool may_divide(const grain& g) const;
  [[gnu::cold]] unit_path path_of_unit(const segment& seg, std::size_t u) const;
  [[gnu::cold]] bool is_chained(const program_unit& first) const;
  [[gnu::cold]] bool is_all_chained() const;
  void end_inputs_of_kernels(std::size_t s, sequence item);
  void settle_lost(segment& seg, grain& g, const program_unit& unit, std::size_t first, std::size_t count);
  void tell_of_failure(std::size_t at) noexcept;
  void cancel_items(segment& seg, grain& g, const program_unit& unit, std::size_t first, std::size_t count);
  void drop_late_items(segment& seg, grain& g, const program_unit& unit, std::size_t first, std::size_t count);
  void end_item(segment& seg, grain& g, const program_unit& unit, std::size_t i, item_state as);
  std::size_t index_of(const program_unit& unit) const;
};
using unit_runner = basic_unit_runner<>;

template <class T>
inline bool basic_unit_runner<T>::needs_gathering(const program_unit& unit) const {
  return !unit.more.empty() || (is_borrowed(unit.in) && code_.values[unit.in].within != 0);
}

/// Where the inputs of the `i`-th item of a grain are.
template <class T>
inline const void** basic_unit_runner<T>::gather(const segment& seg, const grain& g, const program_unit& unit,
                                                 std::size_t i, const void** next) const {
  std::size_t stride;
  for_each_input(unit, [&](std::size_t v) {
    *next++ = is_borrowed(v) && !is_copied(seg, v) ? borrowed(v, g.slot + i) : place(seg, g, v, i, stride);
  });
  return next;
}

/// A unit of several inputs, or of a part of an item that is the caller's: where those of each item are is gathered
/// first.
template <class T>
inline void basic_unit_runner<T>::run_gathered(segment& seg, grain& g, std::size_t u, std::size_t first,
                                               std::size_t count) noexcept {
  const program_unit& unit = code_.units[u];
  const std::size_t inputs = 1 + unit.more.size();
  const void* gathered[most_inputs];
  for (const std::size_t most = std::size(gathered) / inputs; count != 0;) {
    const std::size_t n = std::min(count, most);
    const void** next = gathered;
    for (std::size_t i = 0; i < n; ++i) next = gather(seg, g, unit, first + i, next);
    run_unit_with_care(seg, g, u, first, n, gathered);
    first += n;
    count -= n;
  }
}

template <class T>
inline void basic_unit_runner<T>::run_unit(segment& seg, grain& g, std::size_t u, std::size_t first,
                                           std::size_t count) noexcept {
  const unit_path& path = paths_[u];
  if (!path.is_plain || cancelled_.load(std::memory_order_relaxed)) [[unlikely]]
    return run_unit_with_care(seg, g, u, first, count);
  unit_call call = call_of_plain(path, grain_places{*this, seg, g, first, nullptr}, count);
  call_unit(seg, g, u, first, call);
}

/// The same where more is to be done: the item may be over, its inputs are several, others look after it.
template <class T>
inline void basic_unit_runner<T>::run_unit_with_care(segment& seg, grain& g, std::size_t u, std::size_t first,
                                                     std::size_t count, const void** gathered) noexcept {
  const program_unit& unit = code_.units[u];
  if (gathered == nullptr && needs_gathering(unit)) return run_gathered(seg, g, u, first, count);
  // No two lie side by side; or each is looked at when its turn comes, since one before it may have taken long.
  if (count > 1 && (is_external(unit.in) || is_external(unit.out) || settings_.deadline.count() != 0)) [[unlikely]] {
    const std::size_t inputs = 1 + unit.more.size();
    for (std::size_t i = 0; i < count; ++i)
      run_unit_with_care(seg, g, u, first + i, 1, gathered == nullptr ? nullptr : gathered + i * inputs);
    return;
  }
  const bool is_over = cancelled_.load(std::memory_order_relaxed);
  if (is_over) {
    g.some_ended = true;
    cancel_items(seg, g, unit, first, count);
    if (!unit.observes_missing) return;
  } else if (settings_.deadline.count() != 0) {
    drop_late_items(seg, g, unit, first, count);
  }
  unit_call call = call_of(unit, u, grain_places{*this, seg, g, first, gathered}, count);
  call.some_ended = g.some_ended;
  if (!is_over) call.end = &end_of_items_;
  if (is_over || unit.of_tiles == nullptr || !may_divide(g) || !code_.team->compute(unit, call))
    call_unit(seg, g, u, first, call);
  else if (g.watch)
    g.watch.ran(u, call, g.begin);
  for (const std::size_t v : unit.dying) destroy_of_each(seg, g, v, first, count);
}

template <class T>
inline void basic_unit_runner<T>::call_unit(segment& seg, grain& g, std::size_t u, std::size_t first,
                                            unit_call& call) noexcept {
  const std::size_t count = call.count;
  paths_[u].run(call);
  if (call.lost_some || call.count != count || g.watch) [[unlikely]]
    look_after_call(seg, g, u, first, count, call);
}

/// Behind a call for so many items that some were lost in, that was cancelled, or that is measured.
template <class T>
[[gnu::noinline]] inline void basic_unit_runner<T>::look_after_call(segment& seg, grain& g, std::size_t u,
                                                                    std::size_t first, std::size_t count,
                                                                    const unit_call& call) noexcept {
  if (call.lost_some) {
    g.some_ended = true;
    settle_lost(seg, g, code_.units[u], first, call.count);
  }
  if (g.watch && call.count != 0) g.watch.ran(u, call, g.begin + first);
  if (call.count != count) {                                           // cancelled meanwhile
    static_cast<void>(end_of_items_.load(std::memory_order_acquire));  // which was said behind that
    run_unit_with_care(seg, g, u, first + call.count, count - call.count);
  }
}

/// The grain is a lone item: nothing else is in flight, so that other threads have none of their own.
template <class T>
inline bool basic_unit_runner<T>::may_divide(const grain& g) const {
  if (code_.team == nullptr || g.end - g.begin != 1 || g.some_ended) return false;
  if (!settings_.divides || settings_.dedicated || settings_.inline_when_idle) return false;
  return ring_.pushed.load(std::memory_order_relaxed) - finished() == 1;
}

template <class T>
inline unit_path basic_unit_runner<T>::path_of_unit(const segment& seg, std::size_t u) const {
  const program_unit& unit = code_.units[u];
  unit_path path;
  path.run = unit.run;
  path.object = unit.shared == nullptr ? &states_.objects[unit.own] : &unit.shared;
  path.in = path_of(seg, unit.in);
  if (unit.has_out) path.out = path_of(seg, unit.out);
  path.scratch_offset = unit.scratch_offset;
  path.borrows = is_borrowed(unit.in) && !is_copied(seg, unit.in);
  path.is_plain = unit.more.empty() && (!path.borrows || code_.values[unit.in].within == 0) && !is_external(unit.in) &&
                  !(unit.has_out && is_external(unit.out)) && settings_.deadline.count() == 0 &&
                  ((unit.shared == nullptr && !unit.holds_pipelines) || !versions_) && unit.sides == nullptr &&
                  unit.dying.begin() == unit.dying.end() && unit.of_tiles == nullptr;
  return path;
}

/// A chain begins there, nothing is to be done beside it, and what it takes and gives is there for all items at once.
template <class T>
inline bool basic_unit_runner<T>::is_chained(const program_unit& first) const {
  if (first.chain == nullptr) return false;
  const std::size_t begin = index_of(first);
  bool plain = !is_shared_place(first.in) && !is_shared_place(code_.units[first.chain_end - 1].out);
  for (std::size_t u = begin; plain && u < first.chain_end; ++u) plain = paths_[u].is_plain;
  return plain;
}

/// One chain behind the other, each with its way for single items, from end to end.
template <class T>
inline bool basic_unit_runner<T>::is_all_chained() const {
  std::size_t u = 0;
  while (u < is_chained_.size() && is_chained_[u] && code_.units[u].chain_one != nullptr) u = code_.units[u].chain_end;
  return segments_.size() == 1 && u != 0 && u == is_chained_.size();
}

/// What a device's kernels have read to the end is destroyed, as behind a unit that runs here.
template <class T>
inline void basic_unit_runner<T>::end_inputs_of_kernels(std::size_t s, sequence item) {
  segment& seg = segments_[s];
  grain g;  // only its slot is asked for, as in `fail`
  g.slot = ring_.index(item);
  if (state_of(ring_.state[g.slot]) != item_state::value || code_.units[seg.code.first].kernel == nullptr) return;
  for (std::size_t u = seg.code.first; u < seg.code.end; ++u)
    for (const std::size_t v : code_.units[u].dying) destroy(seg, g, v, 0);
}

/// The items that ended at this unit: what was alive before it is destroyed, and their state becomes final.
template <class T>
inline void basic_unit_runner<T>::settle_lost(segment& seg, grain& g, const program_unit& unit, std::size_t first,
                                              std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i) {
    item_state& state = ring_.state[g.slot + i];
    const item_state now = state_of(state);
    if (now != item_state::failing && now != item_state::filtering) continue;
    for (const std::size_t v : unit.alive) destroy(seg, g, v, i);
    if (now == item_state::failing) tell_of_failure(g.slot + i);
    set_state(state, now == item_state::failing ? item_state::failed : item_state::filtered);
    if (g.watch) g.watch.ended(index_of(unit), state_of(state));
  }
}

template <class T>
inline void basic_unit_runner<T>::tell_of_failure(std::size_t at) noexcept {
  if (on_failure_.call != nullptr) on_failure_.call(on_failure_.object, ring_.envelope[at].sequence, ring_.error[at]);
}

template <class T>
inline void basic_unit_runner<T>::cancel_items(segment& seg, grain& g, const program_unit& unit, std::size_t first,
                                               std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i) end_item(seg, g, unit, i, item_state::cancelled);
}

template <class T>
inline void basic_unit_runner<T>::drop_late_items(segment& seg, grain& g, const program_unit& unit, std::size_t first,
                                                  std::size_t count) {
  const auto oldest = settings_.oldest_in_time();
  for (std::size_t i = first; i < first + count; ++i) {
    if (ring_.envelope[g.slot + i].captured >= oldest) continue;
    g.some_ended = true;
    end_item(seg, g, unit, i, item_state::dropped);
  }
}

template <class T>
inline void basic_unit_runner<T>::end_item(segment& seg, grain& g, const program_unit& unit, std::size_t i,
                                           item_state as) {
  item_state& state = ring_.state[g.slot + i];
  if (state_of(state) != item_state::value) return;
  for (const std::size_t v : unit.alive) destroy(seg, g, v, i);
  set_state(state, as);
  if (g.watch) g.watch.ended(index_of(unit), as);
}

template <class T>
inline std::size_t basic_unit_runner<T>::index_of(const program_unit& unit) const {
  return static_cast<std::size_t>(&unit - code_.units.begin());
}

}  // namespace levada::detail
