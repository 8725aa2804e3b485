// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/time_feed.hpp: items of several ports, each pushed by a thread of its own with its capture time,
// meet by these times and become the items of a session: graph/sync.hpp says the rule. Each port has a ring; whoever
// pushes or pops lets them meet, one thread at a time. What is to become of an item whose ring is full, the `overflow`
// of its port says, or the session's.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/exchange.hpp>
#include <levada/core/error.hpp>
#include <levada/graph/sync.hpp>
#include <levada/run/detail/engine/admission_queue.hpp>
#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/session/port_feed.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Items with their times, from one thread to another.
template <class T>
class timed_ring {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::size_t capacity = 256;

  timed_ring() : memory_(capacity * sizeof(T), alignof(T)) {}
  ~timed_ring() { clear(); }

  std::size_t size() const { return static_cast<std::size_t>(end_.load() - begin_.load()); }
  bool full() const { return size() == capacity; }
  T& at(std::size_t i) {
    return *std::launder(reinterpret_cast<T*>(place(begin_.load(std::memory_order_relaxed) + i)));
  }
  time_point time(std::size_t i) const { return times_[index(begin_.load(std::memory_order_relaxed) + i)]; }

  /// By the thread that fills it, where it is not full.
  template <class Make>
  void push(Make& make, time_point when) {
    const std::uint64_t at = end_.load(std::memory_order_relaxed);
    ::new (place(at)) T(make());
    times_[index(at)] = when;
    end_.store(at + 1);
  }
  /// By who empties it. Says whether it was full: then who fills it may wait.
  bool pop() {
    std::destroy_at(&at(0));
    const std::uint64_t begin = begin_.load(std::memory_order_relaxed);
    begin_.store(begin + 1);
    return end_.load() - begin == capacity;
  }
  void clear() {
    while (size() != 0) pop();
  }

 private:
  static std::size_t index(std::uint64_t at) { return static_cast<std::size_t>(at % capacity); }
  void* place(std::uint64_t at) const { return memory_.get() + index(at) * sizeof(T); }

  arena_bytes memory_;
  std::array<time_point, capacity> times_{};
  alignas(64) atomic<std::uint64_t> begin_{0};
  alignas(64) atomic<std::uint64_t> end_{0};
};

template <class Items>
class time_feed;

template <class Rule, class First, class... Others>
class time_feed<synced_items<Rule, First, Others...>> final : public admission_queue {
 public:
  using items = synced_items<Rule, First, Others...>;
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::size_t ports = 1 + sizeof...(Others);

  bool is_used() const { return used_.load(std::memory_order_relaxed); }
  /// All that was pushed has met or was dropped.
  bool is_empty() const { return ring<0>().size() == 0; }
  /// And nothing more comes that could meet.
  bool is_over() const override { return gates_.is_closed(0) && is_empty(); }
  bool is_over(const engine&) const { return is_over(); }

  template <std::size_t P>
  bool takes() const {
    return gates_.takes(P);
  }
  void close(engine& of, std::size_t port) {
    used_.store(true, std::memory_order_relaxed);
    gates_.close(port);
    meet(of);
  }
  void close_all(engine& of) {
    gates_.close_all();
    meet(of);
  }

  template <std::size_t P>
  bool has_room(engine& of) {
    if (!ring<P>().full()) return true;
    meet(of);
    return !ring<P>().full();
  }
  /// The oldest item of a full port gives way. False while another thread lets items meet: it may be in use.
  template <std::size_t P>
  bool drop_oldest(engine& of) {
    const std::uint32_t asked = asked_.load();
    bool expected = false;
    if (!busy_.compare_exchange_strong(expected, true)) return false;
    if (ring<P>().full()) {
      ring<P>().pop();
      if (P == 0) of.count_dropped_at_admission(drop_reason::replaced);
    }
    busy_.store(false);
    if (asked_.load() != asked || of.is_cancelled()) meet(of);
    return true;
  }
  /// It waits for partners, not for room behind it.
  template <std::size_t P>
  bool is_ahead(const engine& of) const {
    return of.free_slots() != 0;
  }
  const port_threads<ports>& pushers() const { return pushers_; }
  /// As of port_feed.
  bool are_all_of_this_thread() const {
    return pushers_.are_all_of_this_thread([this](std::size_t p) { return gates_.is_closed(p); });
  }

  /// Puts an item captured at that time into the ring of port `P`. Throws levada::error where an earlier one of it was
  /// captured later. False: the port was closed meanwhile.
  template <std::size_t P, class Make>
  bool place(engine& of, Make& make, time_point captured) {
    if (captured < last_[P]) throw error("levada: push: an item of this port was captured later than this one");
    used_.store(true, std::memory_order_relaxed);
    pushers_.note(P);
    {
      const typename port_gates<ports>::visit here(gates_, P);
      if (!here) return false;
      ring<P>().push(make, captured);
      last_[P] = captured;
    }
    meet(of);
    return true;
  }

  /// Lets items meet as far as it is known which. Any thread. What throws there is a failed item's.
  void meet(engine& of) noexcept {
    for (;;) {
      const std::uint32_t asked = asked_.fetch_add(1) + 1;
      bool expected = false;
      if (!busy_.compare_exchange_strong(expected, true)) return;  // who is at it looks again
      // Asked once an item: a slot that comes free behind the last answer finds that this waits for it.
      bool is_full = false, any = false;
      while (!(is_full = of.free_slots() == 0) && meet_one(of)) any = true;
      const bool freed = exchange_value(freed_, false);
      const bool ends = is_over() && !exchange_value(has_told_end_, true);
      // Nothing new is not told: who waits looks here again, and would wake itself.
      const bool tells = note(due_of_next(), is_full && !is_empty()) || freed || ends || (any && gates_.is_closed(0));
      busy_.store(false);
      if (tells || of.is_cancelled()) of.tell_waiters();  // who waits for the end waits for who is busy, too
      if (asked_.load() == asked && !opens(of)) return;
    }
  }
  void let_in(engine& of) noexcept override { meet(of); }

  /// Items of the first port that wait for partners.
  std::uint64_t incomplete(const engine&) const { return ring<0>().size(); }
  std::uint64_t partnerless() const { return 0; }  // they are counted as it is known
  /// Nobody pushes any more; a worker that lets items meet just now is waited for, and none does from now on.
  void discard(engine&) noexcept {
    while (busy_.exchange(true)) yield_thread();
  }

 private:
  template <std::size_t P>
  using part = std::remove_cvref_t<decltype(std::declval<items&>().template at<P>())>;
  template <std::size_t P>
  auto& ring() {
    return std::get<P>(rings_);
  }
  template <std::size_t P>
  const auto& ring() const {
    return std::get<P>(rings_);
  }

  /// The partner of an item: of two neighbours in time, where between, or nobody.
  struct partner {
    bool known = false, there = false;
    std::size_t before = 0, behind = 0;
    double at = 0;
  };

  /// Where the next item of the first port has waited as long as it may; never where it waits for partners, however
  /// long.
  std::int64_t due_of_next() const {
    return is_empty() || gates_.are_all_closed() ? session_settings::never : due_of(ring<0>().time(0));
  }
  static std::int64_t due_of(time_point when) {
    constexpr std::int64_t stall = Rule::stall.count();
    const std::int64_t at = std::chrono::nanoseconds(when.time_since_epoch()).count();
    return stall == 0 ? session_settings::never : session_settings::due_after(at, stall);
  }

  /// Where there is a slot. Behind a cancel nothing meets: nobody may ever come back to end it.
  bool meet_one(engine& of) noexcept {
    if (is_empty() || of.is_cancelled()) return false;
    return meet_at(of, ring<0>().time(0), std::make_index_sequence<sizeof...(Others)>());
  }
  template <std::size_t... O>
  bool meet_at(engine& of, time_point when, std::index_sequence<O...>) {
    const bool waits_no_more = of.settings().has_come(due_of(when));
    const partner partners[] = {find<O + 1>(when, waits_no_more)...};
    bool known = true, there = true;
    for (const partner& p : partners) {
      known = known && p.known;
      there = there && p.there;
    }
    if (!known) return false;
    if (there) {
      put_together<O...>(of, when, partners);
    } else {
      of.count_dropped_at_admission(drop_reason::partnerless);
    }
    freed_ |= ring<0>().pop();
    return true;
  }

  /// Where a part throws, the item is one that has failed, and the others are destroyed.
  template <std::size_t... O>
  void put_together(engine& of, time_point when, const partner* partners) noexcept {
    const item_envelope envelope{of.next_sequence(), when};
    std::byte* const at = static_cast<std::byte*>(of.input_place());
    std::size_t made = 0;
    try {
      ::new (static_cast<void*>(at)) part<0>(std::move(ring<0>().at(0)));
      ++made;
      ((construct<O + 1>(at, partners[O]), ++made), ...);
      of.input_envelope() = envelope;
      of.set_input(0, at);
      of.publish(1);
    } catch (...) {
      destroy_if<0>(made > 0, at);
      (destroy_if<O + 1>(made > O + 1, at), ...);
      try {
        of.fail_at_admission(std::current_exception(), envelope);
      } catch (...) {  // no memory even for that
        of.count_dropped_at_admission(drop_reason::rejected);
      }
    }
  }
  template <std::size_t P>
  static void destroy_if(bool is_made, std::byte* items_at) noexcept {
    if (is_made) std::destroy_at(std::launder(reinterpret_cast<part<P>*>(items_at + items::template offset<P>())));
  }
  template <std::size_t P>
  void construct(std::byte* items_at, const partner& with) {
    void* const at = items_at + items::template offset<P>();
    auto& of = ring<P>();
    if constexpr (requires { typename type_at<typename Rule::ways, P>::function; }) {
      if (with.before != with.behind) {
        ::new (at) part<P>(typename type_at<typename Rule::ways, P>::function{}(
            std::as_const(of.at(with.before)), std::as_const(of.at(with.behind)), with.at));
        return;
      }
    }
    ::new (at) part<P>(std::as_const(of.at(with.before)));
  }

  template <std::size_t P>
  partner find(time_point when, bool waits_no_more) {
    using way = type_at<typename Rule::ways, P>;
    auto& of = ring<P>();
    waits_no_more = waits_no_more || gates_.is_closed(P);  // before its ring is looked at: then all of it is there
    // What lies before the last one that is not later is of no use to this item, nor to those behind it.
    std::size_t size = of.size();  // once: it grows meanwhile
    for (; size > 1 && of.time(1) <= when; --size) freed_ |= of.pop();
    const bool has_before = size > 0 && of.time(0) <= when;
    const bool exact = has_before && of.time(0) == when;
    const std::size_t behind = has_before && !exact ? 1 : 0;
    const bool has_behind = exact || behind < size;
    partner p;
    p.known = has_behind || waits_no_more;
    if (!p.known) return p;
    const auto since = has_before ? when - of.time(0) : std::chrono::nanoseconds::max();
    const auto until = has_behind ? of.time(behind) - when : std::chrono::nanoseconds::max();
    if constexpr (std::is_same_v<way, held_in_time>) {
      p.there = has_before && since <= Rule::tolerance;
    } else if constexpr (std::is_same_v<way, nearest_in_time>) {
      p.before = p.behind = since <= until ? 0 : behind;
      p.there = std::min(since, until) <= Rule::tolerance;
    } else {
      p.there = has_before && has_behind && since <= Rule::tolerance && until <= Rule::tolerance;
      p.behind = behind;
      if (p.there && !exact)
        p.at = static_cast<double>(since.count()) / static_cast<double>(since.count() + until.count());
    }
    return p;
  }

  std::tuple<timed_ring<typename First::item>, timed_ring<typename Others::item>...> rings_;
  time_point last_[ports] = {((void)sizeof(Others), time_point::min())..., time_point::min()};
  port_gates<ports> gates_;
  port_threads<ports> pushers_;
  atomic<bool> used_{false};
  atomic<std::uint32_t> asked_{0};
  bool freed_ = false;         ///< a full ring has room again; written by the busy thread
  bool has_told_end_ = false;  ///< that nothing more comes; the busy thread's
};

template <class Item>
struct feed_of : std::conditional_t<is_named_items<Item>, type_tag<port_feed<Item>>, type_tag<no_port_feed<Item>>> {};
template <class Rule, class... Named>
struct feed_of<synced_items<Rule, Named...>> : type_tag<time_feed<synced_items<Rule, Named...>>> {};
template <class Item>
using port_feed_of = typename feed_of<Item>::type;

template <class Items>
admission_queue* admission_queue_of(time_feed<Items>& feed) {
  return &feed;
}
template <class Feed>
admission_queue* admission_queue_of(Feed&) {
  return nullptr;
}

}  // namespace levada::detail
