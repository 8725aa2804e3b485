// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/call_of.hpp: how the call of a unit is put together, wherever its items are: in the slots of a
// session, or in memory of a caller's own.

#include <cstddef>

#include <levada/run/detail/program/program.hpp>

namespace levada::detail {

/// Where the inputs of each item are was noted, one item behind the other.
inline void take_noted(unit_call& call, const program_unit& unit, const void** noted) {
  if (unit.more.empty()) {
    call.inputs = noted;
  } else {
    call.in = reinterpret_cast<std::byte*>(noted);
    call.in_stride = (1 + unit.more.size()) * sizeof(void*);
  }
}

/// What unit `u` does to some items. `at` says where what belongs to the first of them is: `object`, `version` (if it
/// `has_versions`), the inputs, which it puts into the call, `place` of a value with the way to that of the next item,
/// `sides`, `envelope`, `scratch`, `state`, `error`.
template <class Places>
[[gnu::always_inline]] inline unit_call call_of(const program_unit& unit, std::size_t u, const Places& at,
                                                std::size_t count) {
  unit_call call;
  call.object = at.object(u);
  if (at.has_versions()) [[unlikely]]
    call.take_version(unit, at.version(u));
  at.put_inputs(unit, call);
  if (unit.has_out) call.out = at.place(unit.out, call.out_stride);
  if (unit.sides != nullptr) {
    call.places = unit.sides;
    call.sides = at.sides(call.side_stride);
    call.envelopes = at.envelope();
  }
  call.scratch = at.scratch(unit);
  call.state = at.state();
  call.error = at.error();
  call.count = count;
  return call;
}

/// The same for a plain unit, which has nothing beside its items. Of `at` it takes `borrowed` inputs, the values
/// `at_path`, `memory`, `state`, `error`, `end` and `some_ended`. Every member stands here, so that none is cleared
/// first.
template <class Places>
[[gnu::always_inline]] inline unit_call call_of_plain(const unit_path& path, const Places& at, std::size_t count) {
  return {.object = *path.object,
          .inside = nullptr,
          .inputs = path.borrows ? at.borrowed() : nullptr,
          .in = at.at_path(path.in),
          .in_stride = path.in.stride,
          .out = at.at_path(path.out),
          .out_stride = path.out.stride,
          .scratch = at.memory() + path.scratch_offset,
          .state = at.state(),
          .error = at.error(),
          .places = nullptr,
          .sides = nullptr,
          .side_stride = 0,
          .envelopes = nullptr,
          .end = at.end(),
          .count = count,
          .some_ended = at.some_ended(),
          .lost_some = false};
}

/// Tells a unit that observes missing items of one that ended: `none`, a null pointer, is its input.
inline unit_call call_of_ended(void* object, const void* const& none, item_state& as) {
  unit_call call;
  call.object = object;
  call.inputs = &none;
  call.state = &as;
  call.count = 1;
  call.some_ended = true;
  return call;
}

}  // namespace levada::detail
