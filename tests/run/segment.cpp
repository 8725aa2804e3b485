// SPDX-License-Identifier: Apache-2.0
// The schedule of a segment without its stages: claims, deposits at tickets, finished grains in any order.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <levada/run/detail/engine/segment.hpp>

namespace run_segment {

using levada::detail::claimed_items;
using levada::detail::grain;
using levada::detail::grain_state;
using levada::detail::program_segment;
using levada::detail::segment;
using levada::detail::slot_ring;

using sequence = std::uint64_t;

program_segment code_of(std::size_t grains, std::size_t tickets = 1, std::size_t units = 2) {
  program_segment code;
  code.end = units;
  code.grains = grains;
  code.tickets = tickets;
  code.scratch_bytes = 64;
  return code;
}

/// A segment and the ring that its items lie in.
struct scheduled {
  explicit scheduled(std::size_t slots, program_segment with = code_of(4))
      : code(with), ring(slots, 16, 64, false), of(code, slots, 16, 64, 2) {}

  claimed_items claim(sequence there, sequence most) {
    return of.claim([=] { return there; }, [=](sequence, sequence waiting) { return std::min(waiting, most); });
  }
  grain& claimed_grain(sequence there, sequence most) {
    const claimed_items claimed = claim(there, most);
    REQUIRE(claimed.by != nullptr);
    claimed.by->begin_at(claimed.begin, claimed.begin + claimed.count, ring.index(claimed.begin), 0);
    return *claimed.by;
  }
  /// Whether the frontier moved, and where it is.
  std::pair<bool, sequence> finish(sequence begin, sequence end) {
    sequence frontier = 0;
    const bool moved = of.finish(ring, begin, end, frontier);
    return {moved, frontier};
  }
  sequence finished() const { return of.finished.load(); }

  program_segment code;
  slot_ring ring;
  segment of;
};

// ---- claims ----

TEST_CASE("items are claimed in order, and nothing where none wait") {
  scheduled s(8);
  CHECK(s.claim(0, 4).by == nullptr);
  const claimed_items first = s.claim(5, 3);
  CHECK(first.begin == 0);
  CHECK(first.count == 3);
  const claimed_items second = s.claim(5, 3);
  CHECK(second.begin == 3);
  CHECK(second.count == 2);
  CHECK(s.claim(5, 3).by == nullptr);
  CHECK(s.of.claimed.load() == 5);
}

TEST_CASE("the first grain is for who finds nothing in flight, and each other for one claim") {
  scheduled s(8);
  CHECK(s.claim(8, 1).by == &s.of.grains[0]);
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(s.of.has_free_grain());
    const claimed_items claimed = s.claim(8, 1);
    CHECK(claimed.by == &s.of.grains[i]);
    CHECK(claimed.by->state.load() == grain_state::running);
  }
  CHECK_FALSE(s.of.has_free_grain());
  CHECK(s.claim(8, 1).by == nullptr);
  CHECK(s.of.claimed.load() == 4);

  s.of.grains[2].state.store(grain_state::free);
  CHECK(s.of.has_free_grain());
  CHECK(s.claim(8, 1).by == &s.of.grains[2]);

  // All that was claimed is finished: the first is free whatever the others are.
  s.of.finished.store(5);
  CHECK(s.of.has_free_grain());
  CHECK(s.claim(8, 1).by == &s.of.grains[0]);
}

TEST_CASE("a claim that finds the items gone gives its grain back") {
  scheduled s(8);
  static_cast<void>(s.claim(2, 1));
  CHECK(s.claim(1, 1).by == nullptr);
  CHECK(s.of.grains[1].state.load() == grain_state::free);
}

TEST_CASE("who is overtaken while it claims takes what is behind, with a grain of its own") {
  scheduled s(8);
  bool overtaken = false;
  const claimed_items claimed = s.of.claim([] { return sequence{8}; },
                                           [&](sequence, sequence) {
                                             if (!std::exchange(overtaken, true)) s.of.claimed.store(3);
                                             return sequence{2};
                                           });
  CHECK(claimed.begin == 3);
  CHECK(claimed.count == 2);
  CHECK(claimed.by == &s.of.grains[1]);
}

TEST_CASE("grains have memory side by side") {
  scheduled s(8);
  for (std::size_t i = 1; i < 4; ++i) CHECK(s.of.grains[i].memory == s.of.grains[i - 1].memory + 64);
}

TEST_CASE("grains of devices are taken one by one") {
  scheduled s(8);
  grain& first = s.of.grain_of_device();
  CHECK(&s.of.grain_of_device() != &first);
  first.state.store(grain_state::free);
  CHECK(&s.of.grain_of_device() == &first);
}

// ---- deposits ----

TEST_CASE("a deposited grain is taken up once its ticket has come to it, and by one only") {
  scheduled s(8);
  static_cast<void>(s.claimed_grain(8, 2));
  grain& g = s.claimed_grain(8, 2);
  auto& next = s.of.tickets[0].next;
  const grain_state as = s.of.deposit(g, &next);
  CHECK(s.of.deposited.load() == 1);
  CHECK(s.of.has_deposited_at(next));
  CHECK_FALSE(s.of.has_admitted_grain());
  CHECK(s.of.resume() == nullptr);
  next.store(1);
  CHECK(s.of.resume() == nullptr);
  next.store(2);
  CHECK(s.of.has_admitted_grain());
  CHECK(s.of.resume() == &g);
  CHECK(g.state.load() == grain_state::running);
  CHECK(s.of.deposited.load() == 0);
  CHECK(s.of.resume() == nullptr);
  CHECK_FALSE(s.of.take_up(g, as));
  CHECK_FALSE(s.of.has_deposited_at(next));
}

TEST_CASE("who has seen an earlier deposit of a grain does not take up a later one") {
  scheduled s(8);
  grain& g = s.claimed_grain(8, 2);
  const grain_state first = s.of.deposit(g, nullptr);
  CHECK(s.of.take_up(g, first));
  const grain_state second = s.of.deposit(g, nullptr);
  CHECK(first != second);
  CHECK_FALSE(s.of.take_up(g, first));
  CHECK(s.of.deposited.load() == 1);
  CHECK(s.of.take_up(g, second));
}

TEST_CASE("a grain without a ticket is admitted at once, whatever it was deposited at before") {
  scheduled s(8);
  static_cast<void>(s.claimed_grain(8, 2));
  grain& g = s.claimed_grain(8, 2);
  CHECK(s.of.take_up(g, s.of.deposit(g, &s.of.tickets[0].next)));
  s.of.deposit(g, nullptr);
  CHECK(s.of.has_admitted_grain());
  CHECK(s.of.resume() == &g);
}

TEST_CASE("of several deposits that one is resumed which is at the ticket asked for") {
  scheduled s(8, code_of(4, 2));
  grain& early = s.claimed_grain(8, 2);
  grain& late = s.claimed_grain(8, 2);
  auto &first = s.of.tickets[0].next, &second = s.of.tickets[1].next;
  s.of.deposit(early, &second);
  s.of.deposit(late, &first);
  first.store(2);
  CHECK(s.of.resume(&first) == &late);
  CHECK(s.of.resume(&first) == nullptr);
  CHECK(s.of.resume(&second) == &early);
}

TEST_CASE("all tickets are passed at once") {
  scheduled s(8, code_of(4, 3));
  s.of.pass_tickets(7);
  for (const auto& t : s.of.tickets) CHECK(t.next.load() == 7);
}

// ---- the frontier ----

TEST_CASE("grains that finish in order move the frontier one by one") {
  scheduled s(4);
  for (sequence item = 0; item < 11; ++item) CHECK(s.finish(item, item + 1) == std::pair{true, item + 1});
}

TEST_CASE("a grain that finishes early leaves a stamp, and who was waited for moves the frontier over it") {
  for (const std::size_t slots : {8u, 6u, 7u}) {
    CAPTURE(slots);
    scheduled s(slots);
    // Around the ring several times: old stamps say nothing.
    for (sequence round = 0; round < 5; ++round) {
      const sequence at = round * 6;
      CHECK(s.finish(at + 4, at + 6) == std::pair{false, at});
      CHECK(s.finish(at + 1, at + 3) == std::pair{false, at});
      CHECK(s.finished() == at);
      CHECK(s.finish(at, at + 1) == std::pair{true, at + 3});
      CHECK(s.finished() == at + 3);
      CHECK(s.finish(at + 3, at + 4) == std::pair{true, at + 6});
      CHECK(s.finished() == at + 6);
    }
  }
}

TEST_CASE("all orders of four grains end with the frontier behind the last") {
  for (int order = 0; order < 256; ++order) {
    int of[] = {order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6 & 3};
    if ((1 << of[0] | 1 << of[1] | 1 << of[2] | 1 << of[3]) != 15) continue;
    scheduled s(5);
    s.of.finished.store(3);
    for (const int i : of) {
      const auto before = s.finished();
      const auto [moved, frontier] = s.finish(3 + static_cast<sequence>(i), 4 + static_cast<sequence>(i));
      CHECK(moved == (s.finished() != before));
      CHECK(frontier == s.finished());
    }
    CHECK(s.finished() == 7);
  }
}

TEST_CASE("stamps left before are followed from where the frontier is") {
  scheduled s(8);
  CHECK_FALSE(s.finish(2, 5).first);
  s.of.finished.store(2);
  sequence frontier = 2;
  CHECK(s.of.follow_stamps(s.ring, frontier));
  CHECK(frontier == 5);
  CHECK_FALSE(s.of.follow_stamps(s.ring, frontier));
}

// ---- what items take ----

TEST_CASE("what items take is learned faster down than up") {
  scheduled s(64);
  CHECK_FALSE(s.of.is_cheap());  // not known
  s.of.learn(1'000);
  CHECK(s.of.item_ns.load() == 1'000);
  s.of.learn(500);
  CHECK(s.of.item_ns.load() == 750);
  s.of.learn(1'550);
  CHECK(s.of.item_ns.load() == 850);
  s.of.learn(0);
  CHECK(s.of.item_ns.load() == 425);
}

TEST_CASE("grains are as long as their items are cheap") {
  auto code = code_of(8);
  code.grain = 16;
  scheduled s(1024, code);
  CHECK(s.of.limit.load() == 1);
  s.of.learn(10);
  CHECK(s.of.is_cheap());
  CHECK(s.of.limit.load() == 800);
  scheduled dear(1024, code);
  dear.of.learn(1'000);
  CHECK_FALSE(dear.of.is_cheap());
  CHECK(dear.of.limit.load() == 32);
  dear.of.learn(10'000'000);
  CHECK(dear.of.limit.load() == 1);
}

TEST_CASE("a single stage in order is cheap where several stages are not") {
  scheduled lone(64, code_of(4, 1, 1)), several(64, code_of(4, 2, 2));
  CHECK(lone.of.is_single_stage());
  CHECK_FALSE(several.of.is_single_stage());
  lone.of.learn(200);
  several.of.learn(200);
  CHECK(lone.of.is_cheap());
  CHECK_FALSE(several.of.is_cheap());
}

TEST_CASE("the clock is looked at now and then") {
  scheduled s(64);
  int timed = 0, timed_alone = 0;
  for (std::uint32_t i = 0; i < 256; ++i) {
    s.of.grains_run.store(i);
    timed += s.of.is_timed(8);
    timed_alone += s.of.is_timed(1);
  }
  CHECK(timed == 16);
  CHECK(timed_alone == 4);
}

}  // namespace run_segment
