// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/fresh_items.hpp: the items of a session that wait to be sent, in their order.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <levada/core/detail/storage.hpp>

namespace levada::detail {

class fresh_items {
 public:
  explicit fresh_items(std::size_t most) : ring_(most) {}

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  void add(std::uint64_t item) { ring_[(first_ + count_++) % ring_.size()] = item; }
  std::uint64_t take() {
    --count_;
    return ring_[std::exchange(first_, (first_ + 1) % ring_.size())];
  }
  void clear() { count_ = 0; }
  /// One that is there, wherever.
  void remove(std::uint64_t item) {
    for (std::size_t left = count_; left != 0; --left)
      if (const std::uint64_t next = take(); next != item) add(next);
  }

 private:
  fixed_array<std::uint64_t> ring_;
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace levada::detail
