// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/swap_point.hpp: where a pipeline is replaced by the next: run/hot_swap.hpp.

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include <levada/core/detail/log.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// The pipeline that is current, and how many were before it.
template <class Signature>
class swap_point {
 public:
  explicit swap_point(any_pipeline<Signature> first) : pipeline_(std::move(first)) {}

  std::uint64_t swaps() const { return swaps_.load(); }
  std::pair<any_pipeline<Signature>, std::uint64_t> current() const {
    const std::lock_guard lock(mutex_);
    return {pipeline_, swaps_.load()};
  }
  void swap(any_pipeline<Signature> next) {
    std::string line;  // made before the swap: where there is no memory for it nothing is swapped
    {
      const std::lock_guard lock(mutex_);
      if (is_logged()) line = "hot_swap: swapped for the " + std::to_string(swaps_.load() + 1) + ". time";
      std::swap(pipeline_, next);  // the old one ends with the argument, unlocked
      swaps_.fetch_add(1);
    }
    if (!line.empty()) log(log_level::info, line);
  }

 private:
  mutable std::mutex mutex_;
  any_pipeline<Signature> pipeline_;
  atomic<std::uint64_t> swaps_{0};
};

}  // namespace levada::detail
