// SPDX-License-Identifier: Apache-2.0
// An engine with a program that is written by hand, without stages, plans and threads: the calling thread does all
// there is to do, step by step.

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include <levada/run/detail/engine/engine.hpp>

namespace run_engine {

using levada::placement;
using levada::detail::device_queue;
using levada::detail::drop_reason;
using levada::detail::engine;
using levada::detail::engine_host;
using levada::detail::event_count;
using levada::detail::fixed_array;
using levada::detail::item_state;
using levada::detail::permits;
using levada::detail::program;
using levada::detail::program_segment;
using levada::detail::program_unit;
using levada::detail::program_value;
using levada::detail::session_settings;
using levada::detail::set_state;
using levada::detail::state_of;
using levada::detail::unit_call;

struct counting_host final : engine_host {
  void invite() noexcept override { ++invited; }
  int invited = 0;
};

/// Adds one to each item that is still a value. Below zero: fails; 99: is filtered.
void add_one(unit_call& call) noexcept {
  for (std::size_t i = 0; i < call.count; ++i) {
    if (call.some_ended && state_of(call.state[i]) != item_state::value) continue;
    int value = 0;
    std::memcpy(&value, call.in + i * call.in_stride, sizeof value);
    if (value < 0) call.error[i] = std::make_exception_ptr(std::domain_error("negative"));
    if (value < 0 || value == 99) {
      set_state(call.state[i], value < 0 ? item_state::failing : item_state::filtering);
      call.lost_some = true;
      continue;
    }
    ++value;
    std::memcpy(call.out + i * call.out_stride, &value, sizeof value);
  }
}

/// Serial units one behind the other, `per_segment` of them in each of so many segments.
program program_of(std::size_t slots, std::size_t segments, std::size_t per_segment) {
  program code;
  const std::size_t units = segments * per_segment;
  code.units = fixed_array<program_unit>(units, [&](std::size_t u) {
    program_unit unit;
    unit.run = &add_one;
    static char nothing = 0;
    unit.shared = &nothing;
    unit.serial = true;
    unit.ticket = u % per_segment;
    unit.in = u;
    unit.out = u + 1;
    unit.group_end = u + 1;
    return unit;
  });
  code.values = fixed_array<program_value>(units + 1, [](std::size_t v) {
    program_value value;
    value.where = placement::slot;
    value.offset = v * sizeof(int);
    value.of_input = v == 0;
    return value;
  });
  code.segments = fixed_array<program_segment>(segments, [&](std::size_t s) {
    program_segment segment;
    segment.first = s * per_segment;
    segment.end = segment.first + per_segment;
    segment.grains = 4;
    segment.tickets = per_segment;
    return segment;
  });
  code.slots = slots;
  code.slot_bytes = (units + 1) * sizeof(int);
  code.result = units;
  return code;
}

struct running {
  explicit running(std::size_t slots, std::size_t segments = 1, std::size_t per_segment = 2,
                   const session_settings& settings = {})
      : code(program_of(slots, segments, per_segment)),
        of(code, levada::detail::engine_links(), limit, event, host, false, settings) {}

  void push(int item) {
    std::memcpy(of.input_place(), &item, sizeof item);
    of.set_input(0, of.input_place());
    of.publish(1);
  }
  void run_all() {
    while (of.visit()) {
    }
  }
  int head() {
    int value = 0;
    std::memcpy(&value, of.head_value(), sizeof value);
    return value;
  }
  int pop() {
    const int value = head();
    of.drop_head();
    of.free_kept();
    return value;
  }

  program code;
  permits limit{2, 2};
  event_count event;
  counting_host host;
  engine of;
};

TEST_CASE("items go through all units in order, around the ring") {
  for (const std::size_t slots : {1u, 3u, 8u}) {
    for (const std::size_t segments : {1u, 3u}) {
      running r(slots, segments);
      const int added = static_cast<int>(2 * segments);
      int next = 0;
      for (int round = 0; round < 7; ++round) {
        int pushed = 0;
        for (; r.of.free_slots() != 0; ++pushed) r.push(100 + next + pushed);
        CHECK(pushed == static_cast<int>(slots));
        CHECK_FALSE(r.of.has_result());
        r.run_all();
        CHECK(r.of.all_finished());
        for (; r.of.has_result(); ++next) CHECK(r.pop() == 100 + next + added);
        CHECK(r.of.all_popped());
      }
      CHECK(r.of.counts().delivered == 7 * slots);
    }
  }
}

TEST_CASE("there is work while items wait, and a worker is asked for where nobody is here") {
  running r(4);
  r.of.invite_always();
  CHECK_FALSE(r.of.has_work());
  r.push(1);
  CHECK(r.of.has_work());
  CHECK(r.host.invited == 1);
  r.of.helper_parks();
  r.push(2);
  CHECK(r.host.invited == 1);
  r.of.helper_goes();  // and leaves the work
  CHECK(r.host.invited == 2);
  r.run_all();
  CHECK_FALSE(r.of.has_work());
}

TEST_CASE("failed items wait at their places, and filtered ones give their slots back") {
  running r(4);
  for (const int item : {1, -5, 99, 4}) r.push(item);
  r.run_all();
  CHECK(r.of.has_result());
  CHECK(r.pop() == 3);
  CHECK(r.of.has_result());
  CHECK(r.of.head_state() == item_state::failed);
  CHECK_THROWS_AS(std::rethrow_exception(r.of.head_error()), std::domain_error);
  r.of.drop_head();
  r.of.free_kept();
  CHECK(r.of.has_result());
  CHECK(r.pop() == 6);
  CHECK_FALSE(r.of.has_result());
  const auto c = r.of.counts();
  CHECK(c.delivered == 2);
  CHECK(c.failed == 1);
  CHECK(c.filtered == 1);
  CHECK(c.in_flight == 0);
}

TEST_CASE("an item that fails before it comes passes through, and who listens hears of it") {
  running r(4, 2);
  std::vector<std::uint64_t> heard;
  r.of.set_failure_hook({[](void* to, std::uint64_t item, const std::exception_ptr&) noexcept {
                           static_cast<std::vector<std::uint64_t>*>(to)->push_back(item);
                         },
                         &heard});
  r.push(1);
  levada::item_envelope envelope{};
  envelope.sequence = 17;
  r.of.fail_at_admission(std::make_exception_ptr(std::runtime_error("no")), envelope);
  r.run_all();
  CHECK(heard == std::vector<std::uint64_t>{17});
  CHECK(r.of.has_result());
  CHECK(r.pop() == 5);
  CHECK(r.of.has_result());
  CHECK(r.of.head_state() == item_state::failed);
}

TEST_CASE("items taken back wait, and are given back or drop") {
  running r(4);
  r.push(1);
  r.push(2);
  CHECK(r.of.take_back_waiting() == 2);
  CHECK_FALSE(r.of.has_work());
  r.of.count_dropped_at_admission(drop_reason::replaced);
  r.of.give_back(2);
  r.run_all();
  CHECK(r.of.has_result());
  CHECK(r.pop() == 3);
  CHECK(r.of.counts().drops.replaced == 1);
}

TEST_CASE("cancelled items are no results") {
  running r(4, 2);
  r.push(1);
  r.push(2);
  r.of.step(0);
  r.of.cancel();
  r.run_all();
  CHECK(r.of.all_finished());
  CHECK_FALSE(r.of.has_result());
  CHECK(r.of.counts().cancelled == 2);
  CHECK(r.of.all_popped());
}

TEST_CASE("what is not popped counts as cancelled") {
  running r(4);
  r.push(1);
  r.push(-1);
  r.run_all();
  r.of.discard_results();
  CHECK(r.of.counts().cancelled == 2);
  CHECK(r.of.all_popped());
}

TEST_CASE("results that were popped keep their slots until these are freed") {
  running r(3);
  for (const int item : {10, 20, 30}) r.push(item);
  r.run_all();
  REQUIRE(r.of.has_result());
  const std::uint64_t first = r.of.head();
  r.of.hold_head();
  REQUIRE(r.of.has_result());
  r.of.hold_head();
  CHECK(r.of.free_slots() == 0);
  CHECK(r.of.kept() == 2);
  r.of.free_kept_before(first + 1);
  CHECK(r.of.free_slots() == 1);
  CHECK(r.of.kept() == 1);
  REQUIRE(r.of.has_result());
  CHECK(r.head() == 32);
}

TEST_CASE("a permit that is given back tells who is parked") {
  running r(2);
  REQUIRE(r.limit.try_acquire());
  const auto epoch = r.event.prepare();
  r.of.give_back_permit();
  CHECK(r.event.prepare() != epoch);
  r.event.cancel();
  r.event.cancel();
  CHECK(r.limit.running() == 0);
}

}  // namespace run_engine
