// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/deployment.hpp: a program with its workers and devices, which all sessions of an app share. Types
// are erased here; run/detail/session/session.hpp and run/detail/deploy/executable.hpp put them back on.

#include <algorithm>
#include <cstddef>
#include <utility>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/engine/engine_links.hpp>
#include <levada/run/detail/program/item_team.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/session/left_session.hpp>
#include <levada/run/detail/session/regions.hpp>
#include <levada/run/detail/workers/executor.hpp>
#include <levada/run/detail/workers/permits.hpp>
#include <levada/run/detail/workers/threading.hpp>
#include <levada/run/detail/workers/worker.hpp>

namespace levada::detail {

/// A device that the program uses, with its queue.
struct attached_device {
  device_id id{};
  owner<device_queue> queue;
};

/// The state that all sessions of an app share, for any executor.
template <class = void>
struct basic_deployed_code {
  [[gnu::cold]] basic_deployed_code(program&& code_, owner<later_code>&& later_,
                                    fixed_array<attached_device>&& devices_, backbone_code make_backbone_,
                                    const worker_settings& workers_, int most_workers)
      : code(std::move(code_)),
        later(std::move(later_)),
        devices(std::move(devices_)),
        make_backbone(make_backbone_),
        workers(workers_),
        concurrency_limit(code.threads, most_workers) {}

  program code;
  owner<later_code> later;                 ///< where the rate changes
  fixed_array<attached_device> devices;    ///< behind the program, whose kernels they hold
  open_bridge_code open_bridge = nullptr;  ///< where the plan uses devices
  const branch_calls* branches = nullptr;  ///< where the plan runs some at once
  backbone_code make_backbone;             ///< null where workers go from segment to segment by themselves
  worker_settings workers;
  permits concurrency_limit;
  owner<unit_team> team;         ///< where the plan divides units
  atomic<bool> measures{false};  ///< sessions measure themselves from their start

  const program& program_of(std::size_t region) const { return region == 0 ? code : later->code(region - 1); }
  std::size_t regions() const { return later ? 1 + later->count() : 1; }
  /// The program of the last region: its results leave the pipeline.
  const program& last_code() const { return program_of(regions() - 1); }
  /// Null where it has no such device.
  device_queue* queue_of(device_id id) const {
    for (const attached_device& device : devices)
      if (device.id == id) return device.queue.get();
    return nullptr;
  }
  /// Of all its devices.
  fixed_array<deployed_streams> streams_at_servers() const {
    return {devices.size(), [this](std::size_t i) {
              return deployed_streams{devices[i].id, devices[i].queue->streams()};
            }};
  }
};
using deployed_code = basic_deployed_code<>;

template <class Executor>
class session_core;

/// The same with the executor, which brings the workers.
template <class Executor>
struct deployment : deployed_code {
  [[gnu::cold]] deployment(program code_, owner<later_code> later_, fixed_array<attached_device> devices_,
                           backbone_code make_backbone_, const worker_settings& workers_)
      : deployed_code(std::move(code_), std::move(later_), std::move(devices_), make_backbone_, workers_,
                      Executor::workers(code_.threads, workers_)),
        executor(code.threads, workers) {}

  Executor executor;
  left_session<session_core<Executor>> kept;  ///< last, since it uses all the others
};

/// For a plan that divides units, of some region.
template <class Executor>
[[gnu::cold]] void make_team(deployment<Executor>& app) {
  std::size_t part_bytes = 0, alignment = 0;
  for (std::size_t r = 0; r < app.regions(); ++r) {
    part_bytes = std::max(part_bytes, app.program_of(r).part_bytes);
    alignment = std::max(alignment, app.program_of(r).alignment);
  }
  const auto invite = [](void* own, worker_call call) { static_cast<Executor*>(own)->invite(call); };
  app.team = owner<unit_team>(new item_team<>(app.concurrency_limit, part_bytes, alignment, invite, &app.executor));
  app.code.team = app.team.get();
  if (app.later) app.later->be_divided_by(*app.team);
}

/// A segment as its device has to know it, of so many units that it computes by itself.
template <class = void>
[[gnu::cold]] inline device_segment segment_for_device(const program& code, std::size_t s, std::size_t units) {
  const program_segment& of = code.segments[s];
  const auto number_in = [](const value_list& values, std::size_t v) {
    return static_cast<std::size_t>(std::find(values.begin(), values.end(), v) - values.begin());
  };
  const auto size_of_list = [](const value_list& values) {
    return static_cast<std::size_t>(values.end() - values.begin());
  };
  device_segment segment;
  segment.index = code.first_segment + s;
  segment.inner_bytes = of.device_bytes;
  segment.alignment = code.alignment;
  segment.units = fixed_array<device_segment::unit>(units);
  if (units == 0) return segment;
  segment.inputs = fixed_array<device_segment::value>(size_of_list(of.inputs));
  segment.outputs = fixed_array<device_segment::value>(size_of_list(of.outputs));
  const auto place_of = [&](std::size_t v) {
    using enum device_place::part;
    if (const std::size_t i = number_in(of.inputs, v); i != segment.inputs.size()) return device_place{input, i};
    if (const std::size_t i = number_in(of.outputs, v); i != segment.outputs.size()) return device_place{output, i};
    return device_place{inner, code.values[v].offset};
  };
  static_assert(device_segment::most_inputs >= most_inputs);
  for (std::size_t u = 0; u < units; ++u) {
    const program_unit& unit = code.units[of.first + u];
    device_segment::unit& made = segment.units[u];
    made.kernel = unit.kernel;
    made.scratch_offset = unit.scratch_offset;
    made.inputs = 0;
    for_each_input(unit, [&](std::size_t v) { made.takes[made.inputs++] = place_of(v); });
    made.gives = place_of(unit.out);
    if (made.gives.where == device_place::part::output) segment.outputs[made.gives.at].bytes = unit.kernel->out_bytes;
    std::size_t i = 0;
    for_each_input(unit, [&](std::size_t v) {
      const device_place& place = made.takes[i++];
      if (place.where != device_place::part::input) return;
      device_segment::value& input = segment.inputs[place.at];
      const std::size_t bytes = made.inputs == 1 ? unit.kernel->in_bytes : code.values[v].copied_bytes;
      input.bytes = std::max(input.bytes, bytes);
      if (made.inputs == 1) input.pack = unit.kernel->pack;
    });
  }
  return segment;
}

/// Makes the devices ready for the segments that they compute by themselves.
template <class = void>
inline void prepare_devices(deployed_code& app, const program& code) {
  for (std::size_t s = 0; s < code.segments.size(); ++s) {
    const program_segment& of = code.segments[s];
    const program_unit* const units = code.units.begin() + of.first;  // a region may have none
    std::size_t count = 0;
    while (count < of.end - of.first && units[count].kernel != nullptr) ++count;
    if (of.device_bytes == 0 && count == 0) continue;  // the processor's
    const device_segment segment = segment_for_device(code, s, count);
    for (const attached_device& device : app.devices) {
      if (device.id != of.device) continue;
      device.queue->prepare(segment);
      if (!code.board) continue;
      for (std::size_t u = 0; u < count; ++u) code.board->compute_on(of.first + u, *device.queue);
    }
  }
}
template <class = void>
inline void prepare_devices(deployed_code& app) {
  prepare_devices(app, app.code);
  for (std::size_t r = 1; r < app.regions(); ++r) prepare_devices(app, app.program_of(r));
}

}  // namespace levada::detail
