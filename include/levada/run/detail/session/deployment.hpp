// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/deployment.hpp: a program with its workers and devices, which all sessions of an app share. Types
// are erased here; run/detail/session/session.hpp and run/detail/deploy/executable.hpp put them back on.

#include <cstddef>
#include <utility>

#include <levada/core/detail/storage.hpp>
#include <levada/core/device_queue.hpp>
#include <levada/run/detail/program/program.hpp>
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

/// What all sessions of an app share, whoever brings its workers.
struct deployed_code {
  [[gnu::cold]] deployed_code(program&& code_, owner<later_code>&& later_, fixed_array<attached_device>&& devices_,
                              backbone_code make_backbone_, const worker_settings& workers_, int most_workers)
      : code(std::move(code_)),
        later(std::move(later_)),
        devices(std::move(devices_)),
        make_backbone(make_backbone_),
        workers(workers_),
        concurrency_limit(code.threads, most_workers) {}

  program code;
  owner<later_code> later;               ///< where the rate changes
  fixed_array<attached_device> devices;  ///< behind the program, whose kernels they hold
  backbone_code make_backbone;           ///< null where workers go from segment to segment by themselves
  worker_settings workers;
  permits concurrency_limit;
  atomic<bool> measures{false};  ///< sessions measure themselves from their start

  const program& program_of(std::size_t region) const { return region == 0 ? code : later->code(region - 1); }
  std::size_t regions() const { return later ? 1 + later->count() : 1; }
  /// The program whose results leave.
  const program& last_code() const { return program_of(regions() - 1); }
  /// Null where it has no such device.
  device_queue* queue_of(device_id id) const {
    for (const attached_device& device : devices)
      if (device.id == id) return device.queue.get();
    return nullptr;
  }
};

/// And what brings them.
template <class Executor>
struct deployment : deployed_code {
  [[gnu::cold]] deployment(program code_, owner<later_code> later_, fixed_array<attached_device> devices_,
                           backbone_code make_backbone_, const worker_settings& workers_)
      : deployed_code(std::move(code_), std::move(later_), std::move(devices_), make_backbone_, workers_,
                      Executor::workers(code_.threads, workers_)),
        executor(code.threads, workers) {}

  Executor executor;
};

/// Makes the devices ready for the segments that they compute by themselves.
inline void prepare_devices(deployed_code& app, const program& code) {
  for (std::size_t s = 0; s < code.segments.size(); ++s) {
    const program_segment& of = code.segments[s];
    const program_unit* const units = code.units.begin() + of.first;  // a region may have none
    std::size_t count = 0;
    while (count < of.end - of.first && units[count].kernel != nullptr) ++count;
    if (of.device_bytes == 0 && count == 0) continue;  // the processor's
    const device_segment segment{
        code.first_segment + s, of.device_bytes,
        fixed_array<device_segment::unit>(
            count,
            [&](std::size_t u) {
              const program_unit& unit = units[u];
              return device_segment::unit{unit.kernel, code.values[unit.out].offset, unit.scratch_offset};
            }),
        code.alignment};
    for (const attached_device& device : app.devices) {
      if (device.id != of.device) continue;
      device.queue->prepare(segment);
      if (!code.board) continue;
      for (std::size_t u = 0; u < count; ++u) code.board->compute_on(of.first + u, *device.queue);
    }
  }
}
inline void prepare_devices(deployed_code& app) {
  prepare_devices(app, app.code);
  for (std::size_t r = 1; r < app.regions(); ++r) prepare_devices(app, app.program_of(r));
}

}  // namespace levada::detail
