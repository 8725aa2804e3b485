// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/rate_bounds.hpp: how many items a part of a pipeline has given by when: between two lines of one slope.
// Branches whose lines have one slope can meet again (the balance equations of synchronous dataflow), and the lines say
// how many items wait for that, at most.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace levada {

/// A number n / d, in lowest terms.
struct rational {
  std::int64_t n = 0, d = 1;

  constexpr rational() = default;
  constexpr rational(std::int64_t numerator, std::int64_t denominator = 1) : n(numerator), d(denominator) {
    const std::int64_t common = std::gcd(n, d);
    if (common != 0) n /= common, d /= common;
  }
  friend constexpr bool operator==(const rational&, const rational&) = default;
  friend constexpr bool operator<(const rational& a, const rational& b) { return a.n * b.d < b.n * a.d; }
  friend constexpr rational operator+(const rational& a, const rational& b) {
    return {a.n * b.d + b.n * a.d, a.d * b.d};
  }
  friend constexpr rational operator*(const rational& a, const rational& b) { return {a.n * b.n, a.d * b.d}; }
};

/// Of n items that were taken at least n slope - lag and at most n slope + lead were given; at most n slope + at_end
/// when what was begun is given short. From item `settled` on what is given repeats itself every `period` items.
struct rate_bounds {
  rational slope{1}, lag{0}, lead{0}, at_end{0};
  std::int64_t period = 1, settled = 0;
};

/// Whole groups of `takes` items for groups of `gives`: batches, repetitions, M items for N.
constexpr rate_bounds bounds_of_groups(std::int64_t takes, std::int64_t gives, bool short_at_end = false) {
  return {{gives, takes}, {gives * (takes - 1), takes}, {0}, {short_at_end ? 1 : 0}, takes};
}
/// The first of each `takes` items.
constexpr rate_bounds bounds_of_firsts(std::int64_t takes) {
  return {{1, takes}, {0}, {takes - 1, takes}, {takes - 1, takes}, takes};
}
/// Windows of `size` samples, one every `step`, over chunks of `chunk`.
template <class = void>
constexpr rate_bounds bounds_of_windows(std::int64_t size, std::int64_t step, std::int64_t chunk,
                                        bool short_at_end = false) {
  const rational lead(size < step ? step - size : 0, step);
  return {{chunk, step},
          {size - 1, step},
          lead,
          lead + rational(short_at_end ? 1 : 0),
          step / std::gcd(step, chunk),
          (size + chunk - 1) / chunk};
}

/// A period longer than this is not looked at any closer.
inline constexpr std::int64_t longest_period = 1 << 20;

/// One behind the other.
template <class = void>
constexpr rate_bounds behind(const rate_bounds& first, const rate_bounds& next) {
  const std::int64_t given = first.period * first.slope.n / first.slope.d;  // in a period of the first
  const rational until = rational(next.settled) + first.lag;                // items taken by the first, times its slope
  const std::int64_t settled = (until.n * first.slope.d + until.d * first.slope.n - 1) / (until.d * first.slope.n);
  return {first.slope * next.slope,
          first.lag * next.slope + next.lag,
          first.lead * next.slope + next.lead,
          first.at_end * next.slope + next.at_end,
          std::min(first.period * (next.period / std::gcd(given, next.period)), longest_period),
          std::max(first.settled, settled)};
}

/// The first branch that gives at another rate than those before it; their number where all agree.
constexpr std::size_t unbalanced_branch(std::span<const rate_bounds> branches) {
  std::size_t i = 1;
  while (i < branches.size() && branches[i].slope == branches[0].slope) ++i;
  return i;
}

/// What branches that meet again give together: as much as the last of them.
template <class = void>
constexpr rate_bounds joined(std::span<const rate_bounds> branches) {
  rate_bounds all = branches[0];
  for (const rate_bounds& b : branches) {
    if (all.lag < b.lag) all.lag = b.lag;
    if (b.lead < all.lead) all.lead = b.lead;
    if (b.at_end < all.at_end) all.at_end = b.at_end;
    all.period = std::min(std::lcm(all.period, b.period), longest_period);
    all.settled = std::max(all.settled, b.settled);
  }
  return all;
}

/// How many items of a branch wait for the others, at most, if each branch takes every item at once. See
/// graph/detail/buffer_capacity.hpp for how many exactly.
constexpr std::size_t waiting_room(std::span<const rate_bounds> branches, std::size_t branch) {
  const rational most = branches[branch].slope + branches[branch].at_end + joined(branches).lag;
  return static_cast<std::size_t>(most.n / most.d);
}

}  // namespace levada
