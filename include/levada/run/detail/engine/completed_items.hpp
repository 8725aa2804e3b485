// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/completed_items.hpp: items in the order in which they are finished, for sessions whose results
// leave as they complete.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// A queue of the numbers of items with a result, and which items need their slots no more. An item is in it at most
/// once, so there is a place for each slot. Any thread appends and says that an item has left, one thread takes.
template <class = void>
class basic_completed_items {
 public:
  using sequence = std::uint64_t;

  [[gnu::cold]] explicit basic_completed_items(std::size_t slots) : places_(slots), left_(slots) {}

  /// What the item has become is seen by who takes it. The caller then tells whoever waits.
  void append(sequence item) { places_[index(end_.fetch_add(1))].store(item + 1); }

  /// Sets `item` to the next one. False: none has come.
  bool next(sequence& item) {
    const sequence there = places_[index(first_)].load();
    item = there - 1;
    return there != 0;
  }
  /// The next one is no longer here; its slot is still taken.
  sequence take() { return places_[index(first_++)].exchange(0) - 1; }

  /// It needs its slot no more, which is free once those of all items before it are.
  void leave(sequence item) { left_[index(item)].store(item + 1); }
  bool has_left(sequence item) const { return left_[index(item)].load() == item + 1; }

 private:
  std::size_t index(sequence at) const { return static_cast<std::size_t>(at % places_.size()); }

  fixed_array<atomic<sequence>> places_;  ///< an item's number and one; 0: none
  fixed_array<atomic<sequence>> left_;    ///< the last one of each slot that has left, and one
  sequence first_ = 0;
  alignas(64) atomic<sequence> end_{0};
};
using completed_items = basic_completed_items<>;

}  // namespace levada::detail
