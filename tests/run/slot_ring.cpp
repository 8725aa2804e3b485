// SPDX-License-Identifier: Apache-2.0
// The ring of slots: where items lie, what the pusher and the popper see of them.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include <levada/run/detail/engine/slot_ring.hpp>

namespace run_slot_ring {

using levada::detail::item_state;
using levada::detail::set_state;
using levada::detail::slot_ring;
using levada::detail::state_of;

void push(slot_ring& ring, std::size_t count) { ring.pushed.store(ring.pushed.load() + count); }
void pop(slot_ring& ring, std::size_t count) { ring.popped.store(ring.popped.load() + count); }

TEST_CASE("an item lies in the slot of its number, whether or not the number of slots is a power of two") {
  for (const std::size_t slots : {1u, 2u, 3u, 5u, 8u, 12u, 64u}) {
    CAPTURE(slots);
    const slot_ring ring(slots, 16, 64, false);
    CHECK(ring.slots_mask == ((slots & (slots - 1)) == 0 ? slots - 1 : 0));
    for (std::uint64_t item = 0; item < 5 * slots; ++item) CHECK(ring.index(item) == item % slots);
    const std::uint64_t large = (std::uint64_t{1} << 40) + 1;
    CHECK(ring.index(large) == large % slots);
  }
}

TEST_CASE("slots lie one behind the other, and the first is aligned") {
  slot_ring ring(3, 48, 128, false);
  CHECK(reinterpret_cast<std::uintptr_t>(ring.slot(0)) % 128 == 0);
  CHECK(ring.slot(1) == ring.slot(0) + 48);
  CHECK(ring.slot(2) == ring.slot(1) + 48);
}

TEST_CASE("what the pusher and the popper change, and what neither does, lies on lines of its own") {
  const slot_ring ring(4, 16, 64, false);
  const auto line = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) / 64; };
  CHECK(line(&ring.output) < line(&ring.head));
  CHECK(line(&ring.head) == line(&ring.kept));
  CHECK(line(&ring.kept) < line(&ring.pushed));
  CHECK(line(&ring.pushed) < line(&ring.popped));
  CHECK(line(&ring.popped) < line(&ring + 1));
}

TEST_CASE("places of results are there only where pushers say them") {
  CHECK(slot_ring(4, 16, 64, false).output.empty());
  CHECK(slot_ring(4, 16, 64, true).output.size() == 4);
}

TEST_CASE("a slot is free until its item is pushed, and again when it was popped") {
  slot_ring ring(3, 16, 64, false);
  CHECK(ring.free_slots() == 3);
  push(ring, 3);
  CHECK(ring.free_slots() == 0);
  CHECK(ring.has_slot_for(2));
  CHECK_FALSE(ring.has_slot_for(3));
  pop(ring, 2);
  CHECK(ring.free_slots() == 2);
  CHECK(ring.has_slot_for(4));
  CHECK_FALSE(ring.has_slot_for(5));
}

TEST_CASE("the pusher's next slots, and those of what it pushed last, go around the end") {
  slot_ring ring(5, 16, 64, false);
  push(ring, 4);
  pop(ring, 4);
  CHECK(ring.input_index(0) == 4);
  CHECK(ring.in_a_row_from(ring.input_index(0)) == 1);
  CHECK(ring.input_index(1) == 0);
  CHECK(ring.in_a_row_from(ring.input_index(1)) == 5);
  push(ring, 3);
  CHECK(ring.waiting_index(0, 3) == 4);
  CHECK(ring.waiting_index(1, 3) == 0);
  CHECK(ring.waiting_index(2, 3) == 1);
}

TEST_CASE("a row of inputs says where items, their states and their addresses are") {
  slot_ring ring(4, 32, 64, false);
  const auto row = ring.row_from(3, 8);
  CHECK(row.first == ring.slot(3) + 8);
  CHECK(row.stride == 32);
  CHECK(row.states == &ring.state[3]);
  CHECK(row.borrowed == &ring.input[3]);
}

TEST_CASE("values are set around the end, whatever the slots said before, and no further") {
  slot_ring ring(21, 16, 64, false);
  push(ring, 15);
  pop(ring, 15);
  for (auto& s : ring.state) set_state(s, item_state::cancelled);
  set_state(ring.state[17], item_state::value);
  ring.set_values(17);
  for (std::size_t i = 0; i < 21; ++i)
    CHECK(state_of(ring.state[i]) == (i >= 11 && i < 15 ? item_state::cancelled : item_state::value));
}

TEST_CASE("the head goes around the end, with the number of its item") {
  slot_ring ring(3, 16, 64, false);
  for (std::uint64_t item = 0; item < 10; ++item) {
    CHECK(ring.head == item);
    CHECK(ring.head_index == item % 3);
    ring.advance_head();
  }
  ring.move_head(23);
  CHECK(ring.head_index == 2);
}

TEST_CASE("slots that are kept lie before the head") {
  slot_ring ring(6, 16, 64, false);
  ring.move_head(4);
  ring.keep_head();
  CHECK(ring.head == 5);
  CHECK(ring.first_kept() == 4);
  ring.keep_row(1);
  CHECK(ring.head_index == 0);
  ring.keep_row(3);
  CHECK(ring.head == 9);
  CHECK(ring.head_index == 3);
  CHECK(ring.kept == 5);
  CHECK(ring.first_kept() == 4);
}

TEST_CASE("values side by side end at one that is none, at what has come, and at the last slot") {
  slot_ring ring(20, 16, 64, false);
  ring.known_finished = 18;
  CHECK(ring.values_in_a_row(100) == 18);
  CHECK(ring.values_in_a_row(7) == 7);
  for (const std::size_t at : {0u, 3u, 8u, 15u, 17u}) {
    set_state(ring.state[at], item_state::failed);
    CHECK(ring.values_in_a_row(100) == at);
    CHECK(ring.some_ended(at, 1));
    CHECK(ring.some_ended(0, at + 1));
    set_state(ring.state[at], item_state::value);
    CHECK_FALSE(ring.some_ended(0, 20));
  }
  ring.move_head(15);
  ring.known_finished = 30;
  CHECK(ring.values_in_a_row(100) == 5);
}

}  // namespace run_slot_ring
