// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/device_clock.hpp: the timestamps of a queue as times of the steady clock. How far the two are
// apart nobody says, but an item's commands begin after it was submitted and end before it was found done: the distance
// is kept between these bounds, item by item, so that drift does not add up.

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace levada::detail {

class device_clock {
 public:
  device_clock() = default;
  /// A timestamp counts in steps of `period` nanoseconds and has so many valid bits.
  device_clock(float period, std::uint32_t bits)
      : period_(static_cast<double>(period)), mask_(bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1) {}

  static std::uint64_t now() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
  }

  /// Nanoseconds of the device.
  std::int64_t nanoseconds(std::uint64_t ticks) const {
    return static_cast<std::int64_t>(static_cast<double>(ticks & mask_) * period_);
  }

  /// What ran from `begin` to `end`, by the device, was submitted and found done at these times.
  void lies_between(std::int64_t begin, std::int64_t end, std::uint64_t submitted, std::uint64_t done) {
    const std::int64_t least = static_cast<std::int64_t>(submitted) - begin,
                       most = static_cast<std::int64_t>(done) - end;
    distance_ = std::min(std::max(distance_, least), most);
  }
  std::uint64_t steady(std::int64_t nanoseconds) const { return static_cast<std::uint64_t>(nanoseconds + distance_); }

 private:
  double period_ = 0;
  std::uint64_t mask_ = 0;
  std::int64_t distance_ = 0;
};

}  // namespace levada::detail
