// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/causal_order.hpp: which operations of an execution come before which, as a number. Two operations of two
// threads are in order only where they are at the same place and one of them writes, or by others between them.
//
// All executions with one order come to the same state, whatever else comes first (Mazurkiewicz). So a search need not
// go on from there twice (Musuvathi, Qadeer, MSR-TR-2007-12).
//
// It also says which places threads share: only there it is of use to go on with another thread.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <explore/program_memory.hpp>

namespace levada::test {

/// Mixes all bits of both: both halves of one product (the step of wyhash).
constexpr std::uint64_t hashed(std::uint64_t a, std::uint64_t b) {
  __extension__ using wide = unsigned __int128;
  const wide product = wide{a ^ 0xa076'1d64'78bd'642fu} * (b ^ 0xe703'7ed1'a0b4'28dbu);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// What an operation does at its place. Two of two threads depend on each other where one writes.
enum class access { read, write };

class causal_order {
 public:
  /// What a thread has done and all that came before that. Its clock is part of that, too: it is never behind what the
  /// thread has seen.
  struct past {
    std::uint64_t number = 0;
    std::int64_t time = 0;
    std::size_t thread = 0;

    void add(std::uint64_t event) { number = hashed(number, event); }
    void start(const past& by, std::size_t index) { *this = {hashed(by.number, index + 1), by.time, index}; }
  };

  /// Another execution of the same program begins. Which threads were seen to use a place is kept.
  void restart() {
    used_now_ = 0, is_alone_ = true;
    if (has_grown_)
      for (place& x : places_) x.known = x.seen;
    has_grown_ = false;
  }
  void forget_all() { places_.assign(1 << 10, {}), now_.clear(), used_now_ = 0, has_grown_ = false; }
  /// All that is of one execution, to go back to.
  void add_to(memory_image& image) const {
    image.add(&used_now_, sizeof used_now_);
    image.add(&is_alone_, sizeof is_alone_);
    image.add(now_.data(), used_now_ * sizeof(state));
  }

  /// Where only one thread uses a place, nothing there says more than that this thread has come so far.
  void reads(past& p, const void* at) {
    place& x = find(at);
    state& s = note(x, p, access::read);
    if (!x.known.are_ordered()) return;
    p.add(s.written);
    p.time = std::max(p.time, s.time);
    s.reads += p.number;
  }
  void writes(past& p, const void* at) {
    place& x = find(at);
    state& s = note(x, p, access::write);
    if (!x.known.are_ordered()) return;
    p.add(hashed(s.written, s.reads));
    p.time = std::max(p.time, s.time);
    s.written = p.number, s.reads = 0, s.time = p.time;
  }
  /// A store that was left in a buffer, by who had done `when_stored` then, is seen by others: `by` emptied the buffer.
  void writes_late(past& by, const past& when_stored, const void* at) {
    past p = when_stored;
    writes(p, at);
    if (!find(at).known.are_ordered()) return;
    by.add(p.number);
    by.time = std::max(by.time, p.time);
  }
  /// The object there has ended.
  void forget(const void* at) { state_of(find(at)) = {}; }

  /// In some execution before this one another thread has used the place in a way that such an operation of `p`'s
  /// thread is in an order with: what only one thread ever writes it reads in no order with others. Or the place may
  /// have another address in each execution.
  bool is_shared(const past& p, const void* at, access to) { return find(at).known.has_other(p.thread, to); }
  /// Since this execution began, more was seen to be shared.
  bool has_grown() const { return has_grown_; }
  /// There is no other thread: nothing is noted as shared.
  void is_alone(bool alone) { is_alone_ = alone; }

 private:
  /// Threads that used a place, and those of them that wrote there: a bit each.
  struct users {
    std::uint32_t all = 0, writers = 0;

    void add(std::size_t thread, access to) {
      all |= std::uint32_t{1} << thread;
      if (to == access::write) writers |= std::uint32_t{1} << thread;
    }
    /// Says whether these were not all there.
    bool add(const users& more) {
      const users before = *this;
      all |= more.all, writers |= more.writers;
      return all != before.all || writers != before.writers;
    }
    bool are_ordered() const { return writers != 0 && (all & (all - 1)) != 0; }
    bool has_other(std::size_t thread, access to) const {
      return ((to == access::write ? all : writers) & ~(std::uint32_t{1} << thread)) != 0;
    }
  };

  /// What is kept of a place from one execution to the next.
  struct place {
    const void* at = nullptr;
    std::size_t number = 0;  ///< places in the order in which they were met
    users known, seen;       ///< in executions in which they were in an order
  };
  /// What is there in this execution.
  struct state {
    std::uint64_t written = 0;  ///< by whom last: the past of that
    std::uint64_t reads = 0;    ///< since then: the sum, as they are in no order
    std::int64_t time = 0;
    users now;  ///< while there were several threads
  };

  place& find(const void* at) {
    if (2 * now_.size() >= places_.size()) grow();
    place& x = look_up(places_, at);
    if (x.at == nullptr) {
      x.at = at, x.number = now_.size();
      now_.emplace_back();
      if (!program_memory::all().has(at)) x.known = x.seen = {~0u, ~0u};
    }
    return x;
  }
  state& state_of(const place& x) {
    while (used_now_ <= x.number) now_[used_now_++] = {};
    return now_[x.number];
  }
  static place& look_up(std::vector<place>& in, const void* at) {
    std::size_t i = hashed(0, reinterpret_cast<std::uintptr_t>(at)) & (in.size() - 1);
    while (in[i].at != nullptr && in[i].at != at) i = (i + 1) & (in.size() - 1);
    return in[i];
  }
  void grow() {
    std::vector<place> larger(std::max<std::size_t>(1 << 10, 2 * places_.size()));
    for (const place& x : places_)
      if (x.at != nullptr) look_up(larger, x.at) = x;
    places_.swap(larger);
  }
  state& note(place& x, const past& p, access to) {
    state& s = state_of(x);
    if (is_alone_) return s;
    s.now.add(p.thread, to);
    if (s.now.are_ordered() && x.seen.add(s.now)) has_grown_ = true;
    return s;
  }

  std::vector<place> places_;
  std::vector<state> now_;    ///< of all places, by their numbers
  std::size_t used_now_ = 0;  ///< of these were met in this execution
  bool has_grown_ = false, is_alone_ = true;
};

}  // namespace levada::test
