// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/inline_run.hpp: one item through a program on the calling thread, in memory that the caller has:
// an inline call's own (run/detail/session/inline_call.hpp), or the scratchpad of a stage that holds pipelines
// (run/detail/deploy/nested.hpp).

#include <cstddef>
#include <exception>

#include <levada/run/detail/program/call_of.hpp>
#include <levada/run/detail/program/program.hpp>

namespace levada::detail {

/// The most that any segment wants for the one item.
inline std::size_t most_scratch(const program& code) {
  std::size_t most = 0;
  for (const program_segment& s : code.segments) most = s.scratch_bytes > most ? s.scratch_bytes : most;
  return most;
}

/// One item after the other through the units of a program.
template <class = void>
struct basic_inline_run {
  const program& code;
  std::byte* slot;                 ///< `code.slot_bytes`
  std::byte* scratch;              ///< `most_scratch(code)` bytes
  void* const* states;             ///< the objects of the units that have their own
  void* const* objects = nullptr;  ///< of all units, where parameters are replaced
  std::byte* into = nullptr;       ///< where the result is made, if not in the slot
  std::exception_ptr error = {};   ///< why the item failed
  item_envelope envelope = {};

  /// Where the result is after `item` said `value`; the caller destroys it.
  void* result() const { return in_slot(code.result); }
  /// Where the input may be constructed.
  void* input() const { return in_slot(0); }

  /// Runs all units over `item`, which is the pipeline's own where it is at `input()`.
  item_state operator()(const void* item) noexcept {
    const bool owned = item == input();
    item_state state = item_state::value;
    for (const program_segment& s : code.segments) {
      for (std::size_t u = s.first; u < s.end; ++u) {
        const program_unit& unit = code.units[u];
        const void* gathered[most_inputs];
        unit_call call = call_of(unit, u, places{*this, s, item, state, gathered}, 1);
        if (unit.of_tiles == nullptr || !is_computed_by_team(unit, call)) unit.run(call);
        const value_list& ended = call.lost_some ? unit.alive : unit.dying;
        for (const std::size_t v : ended)
          if (!code.values[v].of_input || owned) code.values[v].destroy(place(s, v));
        if (call.lost_some) {
          state = state == item_state::failing ? item_state::failed : item_state::filtered;
          tell_units_behind(u, state);
          return state;
        }
      }
    }
    return state;
  }

 private:
  /// Of the one item: `call_of`.
  struct places {
    basic_inline_run& run;
    const program_segment& s;
    const void* item;
    item_state& of;
    const void** gathered;

    void* object(std::size_t u) const { return run.object(run.code.units[u]); }
    bool has_versions() const { return run.objects != nullptr; }
    void* version(std::size_t u) const { return run.objects[u]; }
    [[gnu::always_inline]] void put_inputs(const program_unit& unit, unit_call& call) const {
      if (!unit.more.empty()) {
        const void** next = gathered;
        for_each_input(unit, [&](std::size_t v) {
          const program_value& value = run.code.values[v];
          *next++ = value.of_input ? part_of(item, value) : run.place(s, v);
        });
        take_noted(call, unit, gathered);
      } else if (run.code.values[unit.in].of_input) {
        gathered[0] = part_of(item, run.code.values[unit.in]);
        call.inputs = gathered;
      } else {
        call.in = run.place(s, unit.in);
      }
    }
    std::byte* place(std::size_t v, std::size_t&) const { return run.place(s, v); }
    std::byte* sides(std::size_t&) const { return run.slot + run.code.side_offset; }
    const item_envelope* envelope() const { return &run.envelope; }
    std::byte* scratch(const program_unit& unit) const { return run.scratch + unit.scratch_offset; }
    item_state* state() const { return &of; }
    std::exception_ptr* error() const { return &run.error; }
  };

  [[gnu::noinline]] bool is_computed_by_team(const program_unit& unit, const unit_call& call) const noexcept {
    return code.team != nullptr && code.team->compute_with_permit(unit, call);
  }
  void* object(const program_unit& unit) const { return unit.shared == nullptr ? states[unit.own] : unit.shared; }
  /// The item ended at unit `u`.
  void tell_units_behind(std::size_t u, item_state& as) noexcept {
    while (++u < code.units.size()) {
      const program_unit& unit = code.units[u];
      if (!unit.observes_missing) continue;
      const void* none = nullptr;
      unit_call call = call_of_ended(object(unit), none, as);
      unit.run(call);
    }
  }

  static const void* part_of(const void* item, const program_value& part) {
    const std::byte* const at = static_cast<const std::byte*>(item) + part.within;
    return part.by_address ? *reinterpret_cast<const void* const*>(at) : at;
  }
  std::byte* in_slot(std::size_t v) const {
    const program_value& value = code.values[v];
    return into != nullptr && value.is_result ? into + value.within : slot + value.offset;
  }
  std::byte* place(const program_segment& s, std::size_t v) const {
    const program_value& value = code.values[v];
    if (value.where == placement::slot) return in_slot(v);
    const std::size_t base = value.where == placement::grain ? s.grain * s.item_bytes : 0;
    return scratch + base + value.offset;
  }
};
using inline_run = basic_inline_run<>;

}  // namespace levada::detail
