// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/grain.hpp: a few items that go through a segment together.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <levada/run/detail/measure/grain_watch.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Of a grain: free, running, or the number of its deposit, which no other deposit of that grain has. A claim names
/// the deposit that was looked at, and fails where it is another one by now: what was true of the grain then is true
/// of what was claimed.
enum class grain_state : std::uint64_t { free, running, first_deposit };
constexpr bool is_deposited(grain_state state) { return state >= grain_state::first_deposit; }

/// Belongs to who runs it. What others look at is atomic.
template <class = void>
struct alignas(64) basic_grain {
  using sequence = std::uint64_t;

  atomic<grain_state> state{grain_state::free};
  sequence begin = 0, end = 0;
  std::size_t slot = 0;  ///< of `begin`; a grain never wraps around the ring
  std::size_t unit = 0;  ///< the next to run
  std::byte* memory = nullptr;
  std::uint64_t waited_ns = 0;  ///< at tickets
  bool some_ended = false;      ///< not all of its items are values any more
  grain_watch watch;

  void begin_at(sequence from, sequence to, std::size_t at, std::size_t first_unit) {
    begin = from, end = to;
    slot = at, unit = first_unit;
    waited_ns = 0;
    some_ended = false;
    watch.restart();
  }

  /// The grain is deposited, as `seen` says, and its ticket has come to it. That stays so until the deposit is taken
  /// up: only who has the grain moves the ticket on. Where it was taken up meanwhile this may be about another deposit,
  /// and to take up that one fails.
  bool is_admitted(grain_state seen) const {
    return is_deposited(seen) &&
           ticket.load(std::memory_order_relaxed)->load() == first.load(std::memory_order_relaxed);
  }

  // Of a deposited grain, for those who look for one that is admitted now.
  atomic<const atomic<sequence>*> ticket{nullptr};
  atomic<sequence> first{0};
  atomic<sequence> always{0};                             ///< the ticket of a unit that has none
  grain_state next_deposit = grain_state::first_deposit;  ///< for who runs it
};
using grain = basic_grain<>;

}  // namespace levada::detail
