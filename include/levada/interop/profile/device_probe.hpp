// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/device_probe.hpp: one item after the other through a device, and when it was where: what a kernel
// takes there, and what the ways there and back do.

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <levada/core/detail/device_queue.hpp>
#include <levada/plan/detail/placement.hpp>
#include <levada/run/detail/measure/meter.hpp>

namespace levada::detail {

/// Seconds of the parts of an item's way.
struct device_trip {
  double there = 0, computing = 0, back = 0;
};

/// The only client of a lane, with one item on its way.
class device_probe final : public device_client {
 public:
  device_probe(device_queue& queue, std::size_t segment, std::vector<const void*> in, void* out)
      : in_(std::move(in)), out_(out), lane_(queue.open(segment, 1, *this)) {}

  /// Throws what the device reports.
  device_trip run() {
    is_done_ = false;
    began_ = ended_ = 0;
    const std::uint64_t start = meter::now();
    lane_->submit(item_++);
    lane_->flush();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_done_; });
    const std::uint64_t end = meter::now();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    // Without a clock of the device's own all of it counts as computing.
    if (began_ == 0) began_ = start, ended_ = end;
    const auto seconds = [](std::uint64_t from, std::uint64_t to) {
      return to > from ? 1e-9 * static_cast<double>(to - from) : 0;
    };
    return {seconds(start, began_), seconds(began_, ended_), seconds(ended_, end)};
  }

 private:
  // Of a device whose work the host computes: there is none.
  void execute(std::size_t, std::uint64_t, computed_memory&) noexcept override { began_ = ended_ = meter::now(); }
  const void* input(std::size_t, std::uint64_t, std::size_t which) noexcept override { return in_[which]; }
  void* output(std::size_t, std::uint64_t, std::size_t) noexcept override { return out_; }
  bool asks_times() const noexcept override { return true; }
  void timed(std::size_t, std::uint64_t, const device_times& at) noexcept override {
    const auto& computing = at.parts[static_cast<std::size_t>(device_part::compute)];
    began_ = computing.begin, ended_ = computing.end;
  }
  void complete(std::size_t, std::uint64_t) noexcept override { finish(nullptr); }
  void fail(std::size_t, std::uint64_t, std::exception_ptr why) noexcept override { finish(std::move(why)); }
  void finish(std::exception_ptr why) noexcept {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(why);
    is_done_ = true;
    changed_.notify_one();  // under the lock: the probe may be gone right behind it
  }

  const std::vector<const void*> in_;
  void* out_;
  std::uint64_t item_ = 0, began_ = 0, ended_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
  std::exception_ptr failure_;
  std::unique_ptr<device_lane> lane_;
};

/// What was measured of the ways to or from a device: bytes, seconds.
using measured_ways = std::vector<std::pair<double, double>>;

/// A line through them that few far off do not move: the median of the slopes of all pairs, and of what that leaves
/// (Theil, Sen).
inline crossing line_through(const measured_ways& ways, crossing otherwise) {
  const auto median = [](std::vector<double>& of) {
    std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
    return of[of.size() / 2];
  };
  if (ways.empty()) return otherwise;
  std::vector<double> slopes, rests;
  for (std::size_t i = 0; i < ways.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (ways[i].first != ways[j].first)
        slopes.push_back((ways[i].second - ways[j].second) / (ways[i].first - ways[j].first));
  const double slope = slopes.empty() ? otherwise.seconds_per_byte : std::max(0.0, median(slopes));
  for (const auto& [bytes, seconds] : ways) rests.push_back(seconds - slope * bytes);
  return {std::max(0.0, median(rests)), slope};
}

}  // namespace levada::detail
