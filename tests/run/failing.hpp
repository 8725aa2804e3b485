// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/failing.hpp: a stage that throws for three items in a hundred and one that filters, before a stage with state;
// and the loop that does the same.

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/run/deploy.hpp>

#include "items.hpp"

namespace levada::test {

struct unlucky : std::runtime_error {
  explicit unlucky(int of) : std::runtime_error("item " + std::to_string(of)), item(of) {}
  int item;
};

constexpr bool fails(int v) { return v % 100 == 7 || v % 100 == 8 || v % 100 == 61; }
constexpr bool is_filtered(int v) { return v % 10 == 4; }

/// An item whose move throws for those three in a hundred, while it is said to.
struct fragile {
  static inline std::atomic<bool> breaks{false};

  fragile(int v) : held(v) {}
  fragile(fragile&& other) : held(std::move(other.unharmed())) {}
  fragile& operator=(fragile&&) = delete;
  int value() const { return held.checked(); }

  tracked<0> held;

 private:
  tracked<0>& unharmed() {
    if (breaks && fails(value())) throw unlucky(value());
    return held;
  }
};

/// The sum over the items that reach it, and what it was told of the others.
struct told_sum {
  long sum = 0;
  long operator()(tracked<0>&& t) { return sum += t.checked(); }
  void missed(missing why) noexcept { sum += why == missing::failed ? 1'000'000 : 1'000'000'000; }
};
/// The same, where they are skipped.
struct skipping_sum {
  long sum = 0;
  long operator()(tracked<0>&& t) { return sum += t.checked(); }
};

/// Throws for three items in a hundred, drops one in ten, and sums up.
template <class Sum>
auto failing_sum() {
  return input<int> | stage<"make">([](const int& v) {
           if (fails(v)) throw unlucky(v);
           return tracked<0>(v);
         }) |
         stage<"keep">([](tracked<0>&& t) {
           return is_filtered(t.checked()) ? std::nullopt : std::optional<tracked<0>>(std::move(t));
         }) |
         stage<"sum">(Sum{});
}

/// What becomes of the items 0 to `count` - 1 in the loop.
struct expectation {
  std::map<int, long> values;  ///< of the items that give one
  int failed = 0, filtered = 0;
};
template <class Sum>
expectation expected_of(int count) {
  expectation e;
  Sum sum;
  for (int v = 0; v < count; ++v) {
    if (fails(v) || is_filtered(v)) {
      (fails(v) ? e.failed : e.filtered) += 1;
      if constexpr (observes_missing<Sum>) sum.missed(fails(v) ? missing::failed : missing::filtered);
    } else {
      e.values[v] = sum(tracked<0>(v));
    }
  }
  return e;
}

/// Checks results in input order, each item once.
class in_order {
 public:
  explicit in_order(const expectation& e) : expected_(e), next_(e.values.begin()) {}

  template <class Result>
  void operator()(Result& r) {
    if (r) {
      if (next_ == expected_.values.end() || *r != next_->second || next_->first <= last_)
        ++wrong_;
      else
        last_ = (next_++)->first;
    } else {
      ++failed_;
      try {
        std::rethrow_exception(r.error());
      } catch (const unlucky& u) {
        if (u.item <= last_ || !fails(u.item)) ++wrong_;
        last_ = u.item;
      } catch (...) {
        ++wrong_;
      }
    }
  }
  void at_end() const {
    CHECK(wrong_ == 0);
    CHECK(failed_ == expected_.failed);
    CHECK(next_ == expected_.values.end());
  }

 private:
  const expectation& expected_;
  std::map<int, long>::const_iterator next_;
  int last_ = -1, failed_ = 0, wrong_ = 0;
};

}  // namespace levada::test
