// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/measure.hpp: what a call takes: the median of many, warm, in the state of the caches that a pipeline
// leaves.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <levada/core/detail/storage.hpp>
#include <levada/interop/profile/machine.hpp>
#include <levada/plan/detail/cost.hpp>

namespace levada::detail {

/// The memory of a pipeline's other stages: what they read and write goes through the caches between two calls of one.
class cache_sweep {
 public:
  /// `working_set`: the bytes that an item's way through the pipeline touches. What the second-level cache holds stays
  /// there.
  explicit cache_sweep(std::size_t working_set)
      : bytes_(working_set > (std::size_t{1} << 20) ? std::min(working_set, std::size_t{64} << 20) : 0, 1) {}

  bool needed() const { return !bytes_.empty(); }
  void operator()() {
    for (std::size_t i = 0; i < bytes_.size(); i += 64) ++bytes_[i];
    asm volatile("" : : "r"(bytes_.data()) : "memory");
  }

 private:
  std::vector<unsigned char> bytes_;
};

/// The median, and half of what the middle half spans. Without the samples far above: an interrupt, a page that was not
/// there. And what 19 of 20 samples do not exceed, of all of them.
inline cost summary_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double part) {
    return samples[static_cast<std::size_t>(part * static_cast<double>(samples.size() - 1) + 0.5)];
  };
  const double far = at(0.75) + 3 * (at(0.75) - at(0.25)), p95 = at(0.95);
  std::erase_if(samples, [&](double s) { return s > far; });
  return cost::measured(at(0.5), (at(0.75) - at(0.25)) / 2, p95);
}

/// `call()` once warm, for about `seconds` in all. `before()` makes ready what it takes, untimed.
template <class Call, class Before>
cost measure_call(Call call, Before before, cache_sweep& sweep, double seconds) {
  call();
  const double clock = [] {
    const double start = thread_seconds();
    for (int i = 0; i < 100; ++i) thread_seconds();
    return (thread_seconds() - start) / 100;
  }();
  const auto timed = [&](std::size_t calls) {
    const double start = thread_seconds();
    for (std::size_t i = 0; i < calls; ++i) call();
    return std::max(thread_seconds() - start - clock, 1e-10) / static_cast<double>(calls);
  };
  // So many calls at once that the clock does not matter; one, where each is to find the caches as they are in a
  // pipeline.
  std::size_t calls = 1;
  if (!sweep.needed())
    while (calls < (std::size_t{1} << 20) && timed(calls) * static_cast<double>(calls) < 100 * clock + 5e-5) calls *= 2;
  std::vector<double> samples;
  const double start = thread_seconds();
  while (samples.size() < 9 || (samples.size() < 200 && thread_seconds() - start < seconds)) {
    if (sweep.needed()) {
      sweep();
      before();
    }
    samples.push_back(timed(calls));
  }
  return summary_of(std::move(samples));
}

/// An item copied into the slots of a deployment by turns, as `push` does.
inline cost cost_of_copy(const std::byte* item, std::size_t bytes, cache_sweep& sweep, double seconds) {
  constexpr std::size_t slots = 8;
  const arena_bytes places(slots * bytes, 64);
  std::size_t at = 0;
  return measure_call([&] { std::memcpy(places.get() + bytes * (at++ % slots), item, bytes); }, [] {}, sweep, seconds);
}

}  // namespace levada::detail
