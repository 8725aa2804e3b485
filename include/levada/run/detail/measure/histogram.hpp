// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/measure/histogram.hpp: counts of durations, or of any whole numbers, in buckets whose width grows with
// them: fixed memory, and quantiles within a sixteenth.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <levada/core/detail/exchange.hpp>
#include <levada/run/detail/measure/statistics.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Eight buckets for each power of two; below 16 each number has its own. What is 2^41 or more (in nanoseconds: 36
/// minutes) falls into the last bucket.
struct log_buckets {
  static constexpr unsigned sub_bits = 3;
  static constexpr unsigned most_bits = 41;
  static constexpr std::size_t count = (most_bits - sub_bits + 1) << sub_bits;

  static constexpr std::size_t of(std::uint64_t value) {
    if (value < 2u << sub_bits) return static_cast<std::size_t>(value);
    const unsigned top = static_cast<unsigned>(std::bit_width(value)) - 1;
    if (top >= most_bits) return count - 1;
    const auto within = static_cast<std::size_t>(value >> (top - sub_bits)) & ((1u << sub_bits) - 1);
    return (static_cast<std::size_t>(top - sub_bits + 1) << sub_bits) + within;
  }
  /// The number in the middle of a bucket: at most a sixteenth of it away from all others there.
  static constexpr std::uint64_t middle(std::size_t bucket) {
    if (bucket < 2u << sub_bits) return bucket;
    const auto above = static_cast<unsigned>(bucket >> sub_bits) - 1;  // its width is 2^above
    const std::uint64_t first = ((std::uint64_t{1} << sub_bits) + (bucket & ((1u << sub_bits) - 1))) << above;
    return first + ((std::uint64_t{1} << above) - 1) / 2;
  }
};

/// To a counter with one writer at a time: no locked addition.
inline void add_alone(atomic<std::uint64_t>& to, std::uint64_t more) {
  to.store(to.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

/// One thread at a time adds, any may read.
template <class = void>
class basic_histogram {
 public:
  /// `weight` numbers, all counted as `value`, whose sum is `total`.
  void add(std::uint64_t value, std::uint64_t weight, std::uint64_t total) {
    add_alone(buckets_[log_buckets::of(value)], weight);
    add_alone(sum_, total);
    if (value < min_.load(std::memory_order_relaxed)) min_.store(value, std::memory_order_relaxed);
    if (value > max_.load(std::memory_order_relaxed)) max_.store(value, std::memory_order_relaxed);
  }
  void add(std::uint64_t value, std::uint64_t weight = 1) { add(value, weight, value * weight); }

 private:
  template <class>
  friend class basic_merged_histogram;
  std::array<atomic<std::uint64_t>, log_buckets::count> buckets_{};
  atomic<std::uint64_t> sum_{0}, min_{~std::uint64_t{0}}, max_{0};
};
using histogram = basic_histogram<>;

/// Adds numbers to a histogram, equal neighbours at once: items that came together.
template <class = void>
class basic_adding_runs {
 public:
  explicit basic_adding_runs(histogram& to) : to_(to) {}
  ~basic_adding_runs() {
    if (count_ != 0) to_.add(value_, count_);
  }
  void add(std::uint64_t value) {
    if (value != value_ && count_ != 0) to_.add(value_, exchange_value(count_, 0));
    value_ = value;
    ++count_;
  }

 private:
  histogram& to_;
  std::uint64_t value_ = 0, count_ = 0;
};
using adding_runs = basic_adding_runs<>;

/// The numbers of several histograms together, at one moment.
template <class = void>
class basic_merged_histogram {
 public:
  void add(const histogram& h) {
    for (std::size_t b = 0; b < log_buckets::count; ++b) add_bucket(b, h.buckets_[b].load(std::memory_order_relaxed));
    sum_ += h.sum_.load(std::memory_order_relaxed);
    min_ = std::min(min_, h.min_.load(std::memory_order_relaxed));
    max_ = std::max(max_, h.max_.load(std::memory_order_relaxed));
  }
  /// Zeros that nobody took the time to count one by one.
  void add_zeros(std::uint64_t count) {
    if (count == 0) return;
    add_bucket(0, count);
    min_ = 0;
  }
  std::uint64_t count() const { return count_; }

  distribution summary() const {
    if (count_ == 0) return {};
    return {count_, sum_, min_, quantile(1, 2), quantile(99, 100), max_};
  }

 private:
  void add_bucket(std::size_t b, std::uint64_t count) {
    buckets_[b] += count;
    count_ += count;
  }
  /// The smallest number that at least that part of all do not exceed.
  std::uint64_t quantile(std::uint64_t part, std::uint64_t of) const {
    const std::uint64_t rank = count_ / of * part + (count_ % of * part + of - 1) / of;
    std::uint64_t before = 0;
    std::size_t b = 0;
    while (b + 1 < log_buckets::count && (before += buckets_[b]) < rank) ++b;
    return std::clamp(log_buckets::middle(b), min_, std::max(min_, max_));
  }

  std::array<std::uint64_t, log_buckets::count> buckets_{};
  std::uint64_t count_ = 0, sum_ = 0, min_ = ~std::uint64_t{0}, max_ = 0;
};
using merged_histogram = basic_merged_histogram<>;

}  // namespace levada::detail
