// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/device_queue.hpp: how a session hands items to a device other than the processor, and hears of them again.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

namespace levada::detail {

/// Items [begin, end) at one segment of a session. The device runs them where its work is computed by the host (as a
/// simulated one's is) and then, on a thread of its own, out of band and in any order, reports them done or failed.
class device_client {
 public:
  virtual void execute(std::size_t segment, std::uint64_t item) noexcept = 0;
  virtual void complete(std::size_t segment, std::uint64_t item) noexcept = 0;
  virtual void fail(std::size_t segment, std::uint64_t item, std::exception_ptr why) noexcept = 0;

 protected:
  ~device_client() = default;
};

struct device_job {
  device_client* client = nullptr;
  std::size_t segment = 0;
  std::uint64_t item = 0;
};

/// A device's queue: takes jobs in order, never blocks for long, never runs a stage on the submitting thread.
class device_queue {
 public:
  virtual ~device_queue() = default;
  virtual void submit(const device_job& job) = 0;
};

}  // namespace levada::detail

namespace levada {

/// How a device of the target is opened: `std::unique_ptr<detail::device_queue> device_driver<Device>::open()`. Specialised by
/// the header that brings the device.
template <class Device>
struct device_driver;

}  // namespace levada
