// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/cost.hpp: what a kernel or a transfer takes, and how that is known.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <levada/core/detail/device.hpp>

namespace levada {

/// How a cost is known.
enum class cost_origin : std::uint8_t { unknown, estimated, measured };

constexpr std::string_view name_of(cost_origin origin) {
  constexpr std::string_view names[] = {"unknown", "estimated", "measured"};
  return names[static_cast<unsigned>(origin)];
}

/// Seconds for one item.
struct cost {
  double seconds = 0;
  double spread = 0;  ///< measured again, it lies within so many seconds of it
  cost_origin origin = cost_origin::unknown;
  double p95 = 0;  ///< 19 of 20 samples take no more; 0: nobody knows

  static constexpr cost measured(double seconds, double spread = 0, double p95 = 0) {
    return {seconds, spread, cost_origin::measured, p95};
  }
  static constexpr cost estimated(double seconds) { return {seconds, 0, cost_origin::estimated}; }
};

/// What it takes to move a value from one place to another: a transfer between devices, another layout, the change from
/// one backend to another.
struct crossing {
  double seconds = 0;
  double seconds_per_byte = 0;

  constexpr double seconds_for(std::size_t bytes) const {
    return seconds + seconds_per_byte * static_cast<double>(bytes);
  }
  friend constexpr bool operator==(const crossing&, const crossing&) = default;
};

/// What was measured to take a value from one device to another.
struct transfer_cost {
  device_id from{}, to{};
  double seconds = 0;
  double seconds_per_byte = 0;

  constexpr crossing way() const { return {seconds, seconds_per_byte}; }
};

/// Where nobody has measured a transfer.
inline constexpr crossing assumed_transfer{10e-6, 1e-10};

/// What it takes to move values between two devices, if somebody measured it; of equal ones what it takes with the
/// first. No pointer: g++ 12 with sanitizers takes no comparison of one for a constant.
template <class = void>
constexpr std::optional<crossing> find_transfer(std::span<const transfer_cost> measured, device_id from, device_id to) {
  from.equal = to.equal = 0;
  for (const transfer_cost& t : measured)
    if (t.from == from && t.to == to) return t.way();
  return {};
}

/// What a backend can do at most, where nobody measured (Williams et al., CACM 2009).
struct roofline {
  std::string_view backend;
  double flops_per_second = 0;
  double bytes_per_second = 0;
  double launch_seconds = 0;  ///< before each kernel
};

/// What a roofline allows: the slower of computing and moving.
constexpr cost estimate(const roofline& of, double flops, double bytes) {
  if (!(of.flops_per_second > 0 && of.bytes_per_second > 0)) return {};
  return cost::estimated(of.launch_seconds + std::max(flops / of.flops_per_second, bytes / of.bytes_per_second));
}

/// Threads that compute at once share caches, the way to memory and, as two of one core, its arithmetic units.
struct contention {
  int threads = 1;
  double slowdown = 1;  ///< how many times as long each takes for an item as one alone does
};

/// How many times as long an item takes where so many threads compute at once, from what was measured, by ascending
/// threads: between two numbers of threads on the line between them; more than were measured compute no more together.
/// 1 where nobody measured.
template <class = void>
constexpr double slowdown_of(std::span<const contention> measured, int threads) {
  contention before;
  if (threads <= before.threads) return 1;
  for (const contention& c : measured) {
    if (threads <= c.threads)
      return before.slowdown +
             (c.slowdown - before.slowdown) * (threads - before.threads) / (c.threads - before.threads);
    before = c;
  }
  return before.threads == 1 ? 1 : before.slowdown * threads / before.threads;
}

namespace detail {

/// Costs are added in whole picoseconds, so that sums do not hang on their order and equal ones are equal; at most 1000
/// s each.
using picoseconds = std::int64_t;
constexpr picoseconds to_picoseconds(double seconds) {
  constexpr double most = 1e3;
  return static_cast<picoseconds>((seconds < most ? seconds : most) * 1e12 + 0.5);
}
constexpr double to_seconds(picoseconds t) { return static_cast<double>(t) * 1e-12; }

}  // namespace detail
}  // namespace levada
