// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/make_program.hpp: makes a program from the layout of its plan, the code of its units and the
// objects of its stages.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <levada/core/detail/exchange.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/plan/detail/plan.hpp>
#include <levada/run/detail/program/erased_object.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/program/program_layout.hpp>
#include <levada/run/detail/program/unit_call.hpp>
#include <levada/run/detail/program/unit_descriptor.hpp>

namespace levada::detail {

/// The values that each unit has to destroy: for good, and when an item ends there. Ports are destroyed with what they
/// are parts of, the whole of several outputs with them; the result is its popper's.
template <class = void>
[[gnu::cold]] inline void list_ended_values(program& p, const layout_arrays& of) {
  struct life {
    std::size_t born = 0, last_use = 0;
  };
  fixed_array<life> lives(p.values.size());
  const auto for_each_whole = [&](std::size_t v, auto visit) {
    for (; of.values[v].part_of < v; v = of.values[v].part_of) visit(v);
    visit(v);
  };
  for (std::size_t u = 0; u < p.units.size(); ++u) {
    for_each_input(of.units[u],
                   [&](std::size_t v) { for_each_whole(v, [&](std::size_t w) { lives[w].last_use = u; }); });
    if (p.units[u].has_out) lives[of.units[u].out].born = u + 1;
  }
  if (p.has_result) {
    lives[p.result].last_use = p.units.size();
    for (std::size_t v = 0; v < p.result; ++v) {
      if (of.values[v].part_of != p.result) continue;
      lives[v].last_use = p.units.size();
      lives[p.result].born = p.units.size() + 1;  // its parts are there before
    }
  }
  for (std::size_t v = 0; v < lives.size(); ++v) {
    p.values[v].born = static_cast<std::uint16_t>(lives[v].born);
    p.values[v].last_use = static_cast<std::uint16_t>(lives[v].last_use);
  }
  std::size_t count = 0;
  for (const life& l : lives) count += l.last_use >= l.born ? l.last_use - l.born + 2 : 0;
  p.ended = fixed_array<std::uint16_t>(count);
  std::uint16_t* next = p.ended.begin();
  for (std::size_t u = 0; u < p.units.size(); ++u) {
    program_unit& unit = p.units[u];
    unit.alive.first = next;
    for (std::size_t v = 0; v < lives.size(); ++v)
      if (p.values[v].where != placement::none && p.values[v].destroy != nullptr && lives[v].born <= u &&
          lives[v].last_use >= u)
        *next++ = static_cast<std::uint16_t>(v);
    unit.alive.last = unit.dying.first = next;
    const bool keeps = of.keeps_place(u);
    const auto list = [&](std::size_t v) {
      const program_value& in = p.values[v];
      const bool listed = std::find(unit.dying.first, static_cast<const std::uint16_t*>(next), v) != next;
      if (!keeps && !listed && in.where != placement::none && in.destroy != nullptr && lives[v].last_use == u)
        *next++ = static_cast<std::uint16_t>(v);
    };
    for_each_input(unit, [&](std::size_t v) { for_each_whole(v, list); });
    unit.dying.last = next;
  }
}

/// What comes to a device that computes by itself, each value once in the order in which units take them, and what goes
/// from there: what lies in slots.
template <class = void>
[[gnu::cold]] inline void list_moved_values(program& p) {
  std::size_t most = 0;
  for (const program_unit& unit : p.units) most += unit.kernel != nullptr ? 2 + unit.more.size() : 0;
  if (most == 0) return;
  p.moved = fixed_array<std::uint16_t>(most);
  std::uint16_t* next = p.moved.begin();
  for (std::size_t s = 0; s < p.segments.size(); ++s) {
    program_segment& segment = p.segments[s];
    segment.inputs.first = next;
    for (std::size_t u = segment.first; u < segment.end && p.units[u].kernel != nullptr; ++u)
      for_each_input(p.units[u], [&](std::size_t v) {
        const bool listed = std::find(segment.inputs.first, static_cast<const std::uint16_t*>(next), v) != next;
        if (p.values[v].made_in != s && !listed) *next++ = static_cast<std::uint16_t>(v);
      });
    segment.inputs.last = segment.outputs.first = next;
    for (std::size_t u = segment.first; u < segment.end && p.units[u].kernel != nullptr; ++u)
      if (p.values[p.units[u].out].where == placement::slot) *next++ = static_cast<std::uint16_t>(p.units[u].out);
    segment.outputs.last = next;
  }
}

/// The parts of a program. The stages' objects and the kernels, which are in the order of their units, are moved
/// from.
struct program_parts {
  layout_arrays plan;
  const unit_descriptor* const* texts;
  destroy_code destroy_input, destroy_result;
  const stage_address* stages;
  erased_object* kernels;
  const side_place* sides;             ///< of all stages in order
  const chain_text* chains = nullptr;  ///< of the units, where some make chains
};

template <class = void>
inline bool takes_input_first(const program& p, const layout_arrays& of) {
  if (p.units.size() == 0 || p.units[0].chain == nullptr || consumes(of.units[0].how) != p.owns_input) return false;
  bool by_others = false;
  for (std::size_t u = 1; u < p.units.size() && !p.owns_input; ++u)
    for_each_input(p.units[u], [&](std::size_t v) { by_others = by_others || p.values[v].of_input; });
  return !by_others;
}

/// A program that all sessions of a deployment share.
template <class = void>
[[gnu::cold]] inline program make_program(const program_layout& plan, const program_parts& parts, int threads) {
  const layout_arrays& of = parts.plan;
  erased_object* kernels = parts.kernels;
  program p;
  p.slots = plan.slots;
  p.slot_bytes = plan.slot_bytes;
  p.side_offset = plan.side_offset;
  p.part_bytes = plan.part_bytes;
  p.alignment = plan.alignment;
  p.has_result = plan.has_result;
  p.has_source = plan.has_source;
  p.threads = threads;
  p.values = fixed_array<program_value>(plan.value_count);
  p.units = fixed_array<program_unit>(plan.unit_count);
  p.segments = fixed_array<program_segment>(plan.segment_count);
  p.forks = fixed_array<program_fork>(plan.fork_count);
  for (std::size_t v = 0; v < plan.value_count; ++v)
    p.values[v] = {of.values[v].where,
                   of.values[v].offset,
                   of.values[v].within,
                   nullptr,
                   of.values[v].storage == 0,
                   of.values[v].by_address,
                   plan.has_result && of.values[v].storage == of.values[plan.result].storage};
  for (std::size_t v = 0; v < plan.value_count; ++v) {
    p.values[v].made_in = of.values[v].made_in;
    p.values[v].reaches_host = of.values[v].reaches_host;
    p.values[v].copied_bytes = of.values[v].copied_bytes;
  }
  p.values[0].destroy = parts.destroy_input;
  p.result = plan.result;
  if (plan.has_result) p.values[plan.result].destroy = parts.destroy_result;

  std::size_t states = 0, sides = 0;
  for (std::size_t u = 0; u < plan.unit_count; ++u) {
    states += parts.texts[u]->is_copied_per_session(of.units[u].order) ? 1u : 0u;
    sides += parts.texts[u]->sides;
  }
  p.sides = fixed_array<side_place>(sides, [&](std::size_t i) { return parts.sides[i]; });
  const side_place* next_side = p.sides.begin();
  p.states = fixed_array<program_state>(states);
  states = 0;
  for (std::size_t i = 0; i < plan.segment_count; ++i) {
    const auto& s = of.segments[i];
    program_segment& segment = p.segments[i];
    segment.device = s.device;
    segment.first = s.first;
    segment.end = s.end;
    segment.grain = s.grain;
    segment.grains = s.grains;
    segment.item_bytes = s.item_bytes;
    segment.scratch_bytes = s.scratch_bytes;
    if (s.takes_from != i) segment.takes_from = s.takes_from;
    segment.keeps = s.keeps;
    for (std::size_t u = segment.first; u < segment.end; ++u) {
      const auto& planned = of.units[u];
      const unit_descriptor& text = *parts.texts[u];
      program_unit& unit = p.units[u];
      void* const stage = parts.stages[planned.stage].object;
      const bool borrows = planned.state_of != u;  // of a unit before it
      erased_object object = borrows                ? erased_object()
                             : text.make != nullptr ? text.make(stage)
                             : text.bytes != 0
                                 ? erased_object::make_trivial(text.own_copy ? stage : "", text.bytes, text.alignment)
                                 : std::move(*kernels++);
      unit.run = text.run;
      unit.of_tiles = text.of_tiles;
      unit.tiles = text.tiles;
      unit.name = text.name;
      if (text.name.empty()) {
        const std::size_t next = u + 1 < plan.unit_count ? of.units[u + 1].stage : plan.stage_count;
        for (std::size_t n = planned.stage; n < next; ++n)
          unit.name.append(n > planned.stage ? " + " : "").append(of.names[n]);
      }
      unit.observes_missing = text.observes_missing;
      unit.holds_pipelines = text.holds_pipelines;
      if (text.sides != 0) unit.sides = exchange_value(next_side, next_side + text.sides);
      if (text.on_device != nullptr) unit.kernel = text.on_device(object.get());
      if (planned.how != form::sink) p.values[planned.out].destroy = text.destroy;
      if (borrows) {
        unit.own = p.units[planned.state_of].own;
      } else if (text.is_copied_per_session(planned.order)) {
        unit.own = states;
        p.states[states].name = text.name;
        p.states[states++].prototype = std::move(object);
      } else {
        unit.shared = object.get();
        unit.object = std::move(object);
      }
      unit.serial = planned.order == concurrency::serial;
      if (unit.serial) unit.ticket = segment.tickets++;
      unit.in = planned.in;
      unit.more = planned.more;
      unit.out = planned.out;
      unit.has_out = planned.how != form::sink;
      unit.group_end = planned.group_end;
      unit.item_by_item = planned.item_by_item;
      if (parts.chains != nullptr) {
        unit.chain = parts.chains[u].run;
        unit.chain_one = parts.chains[u].run_one;
      }
      if (unit.chain != nullptr) unit.chain_end = u + parts.chains[u].units;
      for (std::size_t n = u; n < unit.chain_end; ++n)
        if (of.units[n].how == form::in_place && !of.keeps_place(n)) unit.chain = nullptr;
      unit.scratch_offset = s.kernel_offset + planned.scratch_offset;
      if (planned.branch) {
        unit.branch = planned.branch.branch;
        program_fork& fork = p.forks[planned.branch.fork];
        if (fork.branches == 0) fork.first = u;
        fork.end = u + 1;
        fork.divided = planned.in_divided_fork;
        fork.branches = std::max<std::size_t>(fork.branches, unit.branch + 1u);
        p.units[fork.first].fork = &fork;
        segment.forks = true;
      }
    }
    if (segment.first != segment.end &&
        p.units[segment.first].kernel != nullptr) {  // its scratchpads are on the device, one for each slot
      segment.device_bytes = exchange_value(segment.scratch_bytes, 0);
      segment.grains = 1;
    } else if (segment.device.kind == device_kind::simulated) {
      segment.device_bytes = exchange_value(segment.scratch_bytes, 0) + p.slot_bytes;
    }
  }
  list_moved_values(p);
  list_ended_values(p, of);
  for (std::size_t u = 0; u < plan.unit_count; ++u)
    if (p.values[of.units[u].in].of_input && consumes(of.units[u].how)) p.owns_input = true;
  if (p.has_result && p.values[p.result].of_input) p.owns_input = true;
  p.first_takes_input = takes_input_first(p, of);
  return p;
}

}  // namespace levada::detail
