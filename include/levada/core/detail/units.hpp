// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/units.hpp: time, bytes and shares as template arguments (`budget<latency<2_ms>, memory<1_MiB>,
// accuracy_loss<0.5_points>>`). std::chrono durations are not structural, so they cannot be.

#include <cstddef>
#include <cstdint>

#include <levada/core/detail/clock.hpp>

namespace levada {

/// A span of time in nanoseconds; structural, and converts to std::chrono.
struct duration {
  std::int64_t nanoseconds = 0;

  constexpr operator std::chrono::nanoseconds() const { return std::chrono::nanoseconds(nanoseconds); }
  constexpr double seconds() const { return static_cast<double>(nanoseconds) * 1e-9; }
  friend constexpr auto operator<=>(const duration&, const duration&) = default;
};

/// A difference of two shares in thousandths of a percentage point; structural, as numbers of double are not for every
/// compiler.
struct points {
  std::int64_t thousandths = 0;

  friend constexpr auto operator<=>(const points&, const points&) = default;
};

inline namespace literals {
consteval points operator""_points(long double n) { return {static_cast<std::int64_t>(n * 1000 + 0.5L)}; }
consteval points operator""_points(unsigned long long n) { return {static_cast<std::int64_t>(n) * 1000}; }
consteval duration operator""_ns(unsigned long long n) { return {static_cast<std::int64_t>(n)}; }
consteval duration operator""_us(unsigned long long n) { return {static_cast<std::int64_t>(n) * 1'000}; }
consteval duration operator""_ms(unsigned long long n) { return {static_cast<std::int64_t>(n) * 1'000'000}; }
consteval duration operator""_s(unsigned long long n) { return {static_cast<std::int64_t>(n) * 1'000'000'000}; }
consteval std::size_t operator""_KiB(unsigned long long n) { return static_cast<std::size_t>(n) << 10; }
consteval std::size_t operator""_MiB(unsigned long long n) { return static_cast<std::size_t>(n) << 20; }
consteval std::size_t operator""_GiB(unsigned long long n) { return static_cast<std::size_t>(n) << 30; }
}  // namespace literals

}  // namespace levada
