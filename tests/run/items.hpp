// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/items.hpp: items that notice when they are lost, destroyed twice, copied, or moved as bytes.

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>

namespace levada::test {

struct life {
  static inline std::atomic<std::int64_t> alive{0};
  static inline std::atomic<std::int64_t> copies{0};
  static inline std::atomic<std::int64_t> broken{0};  ///< used or destroyed where no object is
};

/// A copyable item. `Kind` makes several types of it.
template <int Kind = 0>
class tracked {
 public:
  tracked(int v = 0) : value(v) { life::alive.fetch_add(1); }
  tracked(const tracked& other) : value(other.checked()) {
    life::alive.fetch_add(1);
    life::copies.fetch_add(1);
  }
  tracked(tracked&& other) noexcept : value(other.checked()) {
    other.value = -1;
    life::alive.fetch_add(1);
  }
  tracked& operator=(const tracked& other) {
    life::copies.fetch_add(1);
    value = other.checked();
    return *this;
  }
  tracked& operator=(tracked&& other) noexcept {
    value = other.checked();
    return *this;
  }
  ~tracked() {
    static_cast<void>(checked());
    self_ = nullptr;
    life::alive.fetch_sub(1);
  }

  int checked() const {
    if (self_ != this) life::broken.fetch_add(1);
    return value;
  }

  int value;

 private:
  const tracked* self_ = this;
};

/// At its end everything constructed since its beginning must be destroyed, once.
class nothing_leaks {
 public:
  nothing_leaks() { life::broken = 0; }
  ~nothing_leaks() {
    CHECK(life::alive.load() == alive_);
    CHECK(life::broken.load() == 0);
  }

 private:
  const std::int64_t alive_ = life::alive.load();
};

}  // namespace levada::test
