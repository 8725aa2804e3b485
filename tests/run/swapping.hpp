// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/swapping.hpp: versions of one pipeline that are swapped under load, on any executor. Run under oneTBB by
// run/hot_swap.cpp, under ThreadSanitizer by tsan/.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <levada/run/deploy.hpp>
#include <levada/run/hot_swap.hpp>

namespace levada::test {

/// What comes out: the item, which version worked on it, and how many items that version's session had seen.
struct versioned {
  int item, version, seen;
};
using versioned_pipeline = any_pipeline<std::optional<versioned>(int)>;
using versioned_swap = hot_swap<std::optional<versioned>(int)>;

struct version_failure : std::runtime_error {
  explicit version_failure(versioned of) : std::runtime_error("version"), at(of) {}
  versioned at;
};

inline std::atomic<int> versions_alive{0};

inline bool version_filters(int item) { return item % 5 == 2; }
inline bool version_fails(int item) { return item % 7 == 3 && !version_filters(item); }

/// Marks with `version`, fails, and counts in `worked` the items that it works on.
template <class Executor, int Slots = 16>
versioned_pipeline make_version(int version, std::atomic<int>* worked = nullptr) {
  struct living {
    living() { ++versions_alive; }
    ~living() { --versions_alive; }
  };
  auto mark = [version, worked, alive = std::make_shared<living>()](const int& item) -> std::optional<versioned> {
    if (worked != nullptr) ++*worked;
    if (version_filters(item)) return std::nullopt;
    return versioned{item, version, 0};
  };
  auto count = [seen = 0](versioned& v) mutable {
    v.seen = ++seen;
    if (version_fails(v.item)) throw version_failure(v);
  };
  return deploy<target<cpu<2>>, slots<Slots>, run_by<Executor>>(input<int> | stage<"mark">(parallel(mark)) |
                                                                stage<"count">(count));
}

inline versioned outcome_of(const result<versioned>& r) {
  if (r) return *r;
  try {
    std::rethrow_exception(r.error());
  } catch (const version_failure& e) {
    return e.at;
  }
}

/// The outcomes of the items 0, 1, ... are in order, the failures in their places, each version's one after the other.
class outcomes_in_order {
 public:
  versioned add(const result<versioned>& r) {
    const versioned v = outcome_of(r);
    while (version_filters(next_)) ++next_;
    seen_ = v.version == version_ ? seen_ + 1 : 1;
    wrong_ += v.item != next_ || r.has_value() == version_fails(v.item) || v.version < version_ || v.seen != seen_;
    version_ = v.version;
    ++next_;
    return v;
  }
  int wrong() const { return wrong_; }

 private:
  int next_ = 0, version_ = 0, seen_ = 0, wrong_ = 0;
};

/// Of the items below `pushed`, all popped.
inline void check_final(const item_counts& c, int pushed) {
  std::uint64_t filtered = 0, failed = 0;
  for (int i = 0; i < pushed; ++i) filtered += version_filters(i), failed += version_fails(i);
  const auto all = static_cast<std::uint64_t>(pushed);
  CHECK(c.pushed == all);
  CHECK(c.filtered == filtered);
  CHECK(c.failed == failed);
  CHECK(c.delivered == all - filtered - failed);
  CHECK(c.dropped == 0);
  CHECK(c.cancelled == 0);
  CHECK(c.in_flight == 0);
}

/// One thread pushes, one pops, one swaps; each version gets an item.
template <class Executor>
void swaps_under_load(int swaps) {
  const int alive_before = versions_alive.load();
  std::vector<std::atomic<int>> worked(static_cast<std::size_t>(swaps) + 1);
  {
    versioned_swap hot(make_version<Executor>(0, &worked[0]));
    auto session = hot.open();
    std::atomic<int> pushed{0}, swapped{0}, most_alive{0};
    std::atomic<bool> swapping{true};
    // How many swaps were done when the push of an item began, for more items than ever are in flight.
    std::vector<std::atomic<int>> swapped_before(1024);
    const auto push_one = [&] {
      const int item = pushed.load();
      swapped_before[static_cast<std::size_t>(item) % swapped_before.size()].store(swapped.load());
      session.push(item);
      pushed.fetch_add(1);
      pushed.notify_all();
    };
    push_one();
    std::thread swapper([&] {
      for (int version = 1; version <= swaps; ++version) {
        hot.swap(make_version<Executor>(version, &worked[static_cast<std::size_t>(version)]));
        swapped.store(version);
        most_alive.store(std::max(most_alive.load(), versions_alive.load()));
        // The second push from here on began behind the swap.
        int now = pushed.load();
        for (const int until = now + 2; now < until; now = pushed.load()) pushed.wait(now);
      }
      swapping.store(false);
    });
    outcomes_in_order outcomes;
    int elsewhere = 0;
    std::atomic<bool> popping{false};
    std::thread popper([&] {
      while (auto r = session.pop()) {
        const versioned v = outcomes.add(*r);
        const int before = swapped_before[static_cast<std::size_t>(v.item) % swapped_before.size()].load();
        elsewhere += v.version < before || v.version > swapped.load() + 1;  // a swap is counted once it is done
        popping.store(true);
        popping.notify_all();
      }
    });
    popping.wait(false);  // a session takes it for a mistake where nobody pops for two seconds
    while (swapping.load()) push_one();
    session.close();
    swapper.join();
    popper.join();

    check_final(session.counts(), pushed.load());
    CHECK(session.is_over());
    CHECK(outcomes.wrong() == 0);
    int unused = 0;
    for (const std::atomic<int>& w : worked) unused += w.load() == 0;
    CHECK(elsewhere == 0);
    CHECK(unused == 0);
    // The current, the next and a replaced one; two open sessions', and one that is popped from for the last time.
    CHECK(most_alive.load() - alive_before <= 6);
  }
  CHECK(versions_alive.load() == alive_before);
}

}  // namespace levada::test
