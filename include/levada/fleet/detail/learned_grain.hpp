// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/learned_grain.hpp: how many items share a message, by the time that they take: small items of short work
// do, long ones are spread over all workers.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace levada::detail {

class learned_grain {
 public:
  explicit learned_grain(std::size_t most) : most_(most) {}

  std::size_t now() const { return now_; }
  /// Nanoseconds that an item took a worker.
  void learn(std::uint64_t took) {
    constexpr std::uint64_t worth_a_message = 1'000'000;
    each_ = each_ == 0 ? took : (7 * each_ + took) / 8;
    now_ = std::clamp<std::size_t>(worth_a_message / std::max<std::uint64_t>(1, each_), 1, most_);
  }

 private:
  const std::size_t most_;
  std::size_t now_ = 1;
  std::uint64_t each_ = 0;
};

}  // namespace levada::detail
