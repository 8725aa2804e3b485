// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/held_results.hpp: large results that were popped and are looked at in their slots, which are free
// in the order of items.

#include <cstddef>
#include <cstdio>
#include <exception>
#include <optional>

#include <levada/core/detail/slot_result.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/core/error.hpp>
#include <levada/run/detail/engine/engine.hpp>

namespace levada::detail {

/// Which items are held, of as many as there are slots. By one thread at a time.
class held_items {
 public:
  using sequence = engine::sequence;

  /// Throws levada::error where all are: nothing could come any more.
  void check_free() const {
    if (count_ != 0 && count_ == held_.size())
      throw error("levada: pop: every slot is held by a result that was popped before");
  }
  void hold(sequence item, std::size_t slots) {
    if (held_.empty()) held_ = fixed_array<bool>(slots);
    held_[place_of(item)] = true;
    ++count_;
  }
  void leave(sequence item) {
    held_[place_of(item)] = false;
    --count_;
  }
  bool any() const { return count_ != 0; }
  /// From `from` on; `end` where none before that is.
  sequence first(sequence from, sequence end) const {
    if (count_ == 0) return end;
    while (from != end && !held_[place_of(from)]) ++from;
    return from;
  }

 private:
  std::size_t place_of(sequence item) const { return static_cast<std::size_t>(item % held_.size()); }

  fixed_array<bool> held_;
  std::size_t count_ = 0;
};

/// What is left of them would be looked at in memory that is no more.
template <class = void>
[[noreturn, gnu::cold]] void end_with_results_held() {
  std::fputs("levada: a session ends while a result that was popped in its slot is still held\n", stderr);
  std::terminate();
}

/// Of a session whose results are popped by value: none.
template <class Out>
class held_results {
 public:
  void check_free() const {}
  void free(engine& of) { of.free_kept(); }
};

template <class Out>
  requires is_large_result<Out>
class held_results<Out> final : public slot_holder {
 public:
  ~held_results() {
    if (items_.any()) end_with_results_held();
  }
  void check_free() const { items_.check_free(); }

  /// The value at the head.
  void hand_out(engine& of, std::optional<slot_result<Out>>& taken) {
    of_ = &of;
    Out& value = *static_cast<Out*>(of.head_value());
    items_.hold(of.head(), of.slots());
    taken.emplace(value, *this, of.head());
    of.hold_head();
  }
  /// The slots of results before the first that is held.
  void free(engine& of) { of.free_kept_before(items_.first(of.first_kept(), of.head())); }

  void leave_slot(std::uint64_t item) noexcept override {
    items_.leave(item);
    of_->leave_held(item);
    free(*of_);
  }

 private:
  held_items items_;
  engine* of_ = nullptr;
};

}  // namespace levada::detail
