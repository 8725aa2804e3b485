// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/fifo.hpp: a queue that keeps its memory. (std::deque takes and gives back a block every few values.)

#include <cstddef>
#include <utility>
#include <vector>

namespace levada::detail {

template <class T>
class fifo {
 public:
  bool empty() const { return first_ == values_.size(); }
  auto begin() const { return values_.begin() + static_cast<std::ptrdiff_t>(first_); }
  auto end() const { return values_.end(); }

  void push(T value) { values_.push_back(std::move(value)); }
  T pop() {
    T value = std::move(values_[first_++]);
    if (2 * first_ >= values_.size()) {
      values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    return value;
  }

 private:
  std::vector<T> values_;
  std::size_t first_ = 0;  ///< of those that are there
};

}  // namespace levada::detail
