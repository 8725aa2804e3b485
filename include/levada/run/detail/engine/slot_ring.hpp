// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/slot_ring.hpp: the ring of slots that the items of an engine wait in: the memory of each slot and
// what belongs to it, and how far its pusher and its popper are. Knows no values and no segments.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>

#include <levada/core/detail/storage.hpp>
#include <levada/graph/detail/side_data.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

class completion;

/// Where the next items go: places a slot apart, their states, and where their addresses are noted when they are
/// borrowed.
struct input_row {
  std::byte* first;
  std::size_t stride;
  item_state* states;
  const void** borrowed;
};

/// Slots, and what belongs to the item in each. An item is known by its number, `sequence`, and lies in slot
/// `index(number)`; those from `popped` to `pushed` have one.
template <class = void>
struct alignas(64) basic_slot_ring {
  using sequence = std::uint64_t;

  /// `has_outputs`: pushers say where each result goes.
  [[gnu::cold]] basic_slot_ring(std::size_t count, std::size_t bytes, std::size_t alignment, bool has_outputs)
      : slots(count),
        slots_mask((count & (count - 1)) == 0 ? count - 1 : 0),
        slot_bytes(bytes),
        memory(count, bytes, alignment),
        input(count),
        state(count),
        error(count),
        envelope(count),
        completions(count),
        output(has_outputs ? count : 0) {
    // The first touch of a page takes as long as many small items.
    for (std::size_t at = 0; at < std::min(count * bytes, touched_bytes); at += 4096) memory.get()[at] = std::byte{};
  }

  // ---- where an item is ----

  std::size_t index(sequence item) const {
    return static_cast<std::size_t>(slots_mask != 0 ? item & slots_mask : item % slots);
  }
  std::byte* slot(std::size_t i) const { return memory.get() + i * slot_bytes; }
  bool has_slot_for(sequence item) const { return item - popped.load() < slots; }
  /// How many places lie side by side from that slot on.
  std::size_t in_a_row_from(std::size_t at) const { return slots - at; }

  // ---- the pusher's ----

  [[gnu::always_inline]] std::size_t free_slots() const {
    return slots - static_cast<std::size_t>(pushed.load() - popped.load());
  }
  /// The slot of the item `ahead` places behind the last one pushed.
  std::size_t input_index(std::size_t ahead) const { return index(pushed.load(std::memory_order_relaxed) + ahead); }
  /// The slot of the `i`-th of the last `count` pushed.
  std::size_t waiting_index(std::size_t i, std::size_t count) const {
    return index(pushed.load(std::memory_order_relaxed) - count + i);
  }
  /// From slot `at` on, of inputs that lie so far within their slots.
  input_row row_from(std::size_t at, std::size_t offset) {
    return {slot(at) + offset, slot_bytes, &state[at], &input[at]};
  }
  /// The next `count` items are values.
  void set_values(std::size_t count) {
    for (std::size_t done = 0; done < count;) {
      const std::size_t at = input_index(done), n = std::min(count - done, in_a_row_from(at));
      item_state* const states = &state[at];
      for (std::size_t i = 0; (i += leading_values(states + i, n - i)) < n;) set_state(states[i], item_state::value);
      done += n;
    }
  }

  // ---- the popper's ----

  void move_head(sequence to) {
    head = to;
    head_index = index(to);
  }
  void advance_head() {
    ++head;
    head_index = head_index + 1 == slots ? 0 : head_index + 1;
  }
  /// Its slot is not free yet.
  void keep_head() {
    ++kept;
    advance_head();
  }
  /// The same of several that lie side by side.
  void keep_row(std::size_t count) {
    kept += count;
    head += count;
    head_index += count;
    if (head_index == slots) head_index = 0;
  }
  sequence first_kept() const { return head - kept; }
  /// How many values are known to wait from the head on, side by side; `most` at most.
  std::size_t values_in_a_row(std::size_t most) {
    const std::size_t there =
        std::min({most, static_cast<std::size_t>(known_finished - head), in_a_row_from(head_index)});
    return leading_values(&state[head_index], there);
  }

  /// Of states that nobody writes meanwhile: how many say `value` before one that does not.
  static std::size_t leading_values(item_state* states, std::size_t most) {
    constexpr std::uint64_t eight_values = 0x0101'0101'0101'0101 * static_cast<std::uint64_t>(item_state::value);
    std::size_t n = 0;
    for (std::uint64_t eight; n + sizeof eight <= most; n += sizeof eight) {
      std::memcpy(&eight, states + n, sizeof eight);
      if (eight != eight_values) break;
    }
    while (n < most && state_of(states[n]) == item_state::value) ++n;
    return n;
  }
  /// Not all of so many from that slot on are values.
  bool some_ended(std::size_t at, sequence count) {
    for (sequence i = 0; i < count; ++i)
      if (state_of(state[at + i]) != item_state::value) return true;
    return false;
  }

  static constexpr std::size_t touched_bytes = 64 * 1024;

  const std::size_t slots;
  const sequence slots_mask;  ///< where their number is a power of two; else 0
  const std::size_t slot_bytes;
  arena_bytes memory;
  fixed_array<const void*> input;  ///< the caller's own objects, where they are borrowed
  fixed_array<item_state> state;
  fixed_array<std::exception_ptr> error;
  fixed_array<item_envelope> envelope;
  fixed_array<completion*> completions;  ///< who is to be told of each
  fixed_array<std::byte*> output;        ///< where each item's result goes, if its pusher says so

  // The popper's own.
  alignas(64) sequence head = 0;  ///< the next result
  std::size_t head_index = 0;     ///< its slot
  sequence known_finished = 0;
  std::size_t kept = 0;  ///< slots before the head that are not free yet

  alignas(64) atomic<sequence> pushed{0};
  alignas(64) atomic<sequence> popped{0};
};
using slot_ring = basic_slot_ring<>;

}  // namespace levada::detail
