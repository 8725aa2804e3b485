// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/device_lanes.hpp: the bridge from an engine to the devices of its segments: what is ready is handed
// to each in order, and what the devices have is counted.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/engine/segment.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Segments are known by their index here, and to their device by the number behind those of the regions before.
template <class = void>
class basic_device_lanes {
 public:
  using sequence = std::uint64_t;

  /// `queues[s]` is the device of segment `s`, null for the processor; each reports to `client`.
  [[gnu::cold]] basic_device_lanes(const fixed_array<device_queue*>& queues, std::size_t first_segment,
                                   std::size_t slots, device_client& client)
      : lanes_(queues.size(), [&](auto s) {
          device_queue* const queue = queues[s];
          return owner<device_lane>(queue != nullptr ? queue->open(first_segment + s, slots, client).release()
                                                     : nullptr);
        }) {}

  /// Somebody has to look at what they have.
  bool has_silent() const { return has_silent_ && at_devices_.load(std::memory_order_relaxed) != 0; }
  /// Looks. Says whether it pays to look again at once.
  bool look() noexcept {
    bool again = false;
    for (const owner<device_lane>& lane : lanes_)
      if (lane) again = lane->look() || again;
    return again;
  }

  /// What can go from device to device does not come to the host. Before the first item.
  [[gnu::cold]] void connect(fixed_array<segment>& segments) {
    fixed_array<bool> kept(segments.size(), [&](std::size_t s) { return segments[s].code.keeps; });
    for (std::size_t s = 0; s < segments.size(); ++s) {
      const std::size_t from = segments[s].code.takes_from;
      if (from == program_segment::none || !lanes_[s] || !lanes_[from]) continue;
      segments[s].is_direct = lanes_[s]->take_from(*lanes_[from]);
      kept[from] = kept[from] && segments[s].is_direct;
    }
    for (std::size_t s = 0; s < segments.size(); ++s) {
      if (kept[s] && lanes_[s]) lanes_[s]->keep_output();
      has_silent_ = has_silent_ || (lanes_[s] && lanes_[s]->is_silent());
    }
  }

  /// Hands all items of segment `s` before `arrived()` to its device. `handed(item)` is called before each, and
  /// `failed(item, why)` where the device does not take it. Says whether there were some.
  template <class Arrived, class Handed, class Failed>
  bool submit(std::size_t s, segment& seg, Arrived arrived, Handed handed, Failed failed) noexcept {
    bool any = false;
    for (;;) {
      sequence item = seg.claimed.load();
      if (item >= arrived()) return any;
      // In order: one thread at a time submits.
      bool expected = false;
      if (!seg.submitting.compare_exchange_strong(expected, true)) return any;
      item = seg.claimed.load();
      for (const sequence there = arrived(); item < there; ++item) {
        seg.claimed.store(item + 1);
        handed(item);
        at_devices_.fetch_add(1);
        try {
          lanes_[s]->submit(item);
        } catch (...) {
          failed(item, std::current_exception());
        }
        any = true;
      }
      lanes_[s]->flush();
      seg.submitting.store(false);
    }
  }
  void cancel() noexcept {
    for (const owner<device_lane>& lane : lanes_)
      if (lane) lane->cancel();
  }
  void trace(const trace_context& of) noexcept {
    for (const owner<device_lane>& lane : lanes_)
      if (lane) lane->trace(of);
  }
  /// The last that a report of a device does: whoever destroys the session waits for it.
  void report_ends() noexcept { at_devices_.fetch_sub(1); }
  /// Until devices have nothing more to report and their threads are out of here: shortly, once all is finished.
  void wait_for_reports() const {
    while (at_devices_.load() != 0) yield_thread();
  }

 private:
  bool has_silent_ = false;
  fixed_array<owner<device_lane>> lanes_;          ///< null where the processor computes
  alignas(64) atomic<std::size_t> at_devices_{0};  ///< items handed to devices whose reports are not over
};
using device_lanes = basic_device_lanes<>;

}  // namespace levada::detail
