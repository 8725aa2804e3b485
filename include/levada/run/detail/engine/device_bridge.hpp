// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/device_bridge.hpp: the devices of an engine's segments, as an engine sees them. The class behind
// it, of report_devices.hpp, is a template, so that a program whose stages all run on the processor does not compile
// it.

#include <cstddef>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/core/detail/trace_context.hpp>

namespace levada::detail {

/// What is ready goes to the devices through it.
class device_bridge {
 public:
  virtual ~device_bridge() = default;
  /// Hands all that is ready at segment `s` to its device. Says whether there was something.
  virtual bool submit(std::size_t s) noexcept = 0;
  /// Somebody has to look at what they have.
  virtual bool has_silent() const noexcept = 0;
  /// Looks. Says whether it pays to look again at once.
  virtual bool look() noexcept = 0;
  virtual void cancel() noexcept = 0;
  virtual void trace(const trace_context& of) noexcept = 0;
  /// Until they have nothing more to report and their threads are out of here: shortly, once all is finished.
  virtual void wait_for_reports() const noexcept = 0;
};

template <class>
class basic_device_reporter;
using open_bridge_code = owner<device_bridge> (*)(basic_device_reporter<void>& to,
                                                  const fixed_array<device_queue*>& queues);

}  // namespace levada::detail
