// SPDX-License-Identifier: Apache-2.0
// The parts of a fleet with partitions that need no server: where a key belongs, the order of items, and what
// of a chain is needed no more.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <levada/fleet/detail/key_partition.hpp>
#include <levada/fleet/detail/keyed_inputs.hpp>
#include <levada/fleet/detail/passed_messages.hpp>

namespace fleet_keyed_parts {

using namespace levada::detail;

constexpr std::uint64_t number_of_program = 42;

nats_message message(fleet_message kind, std::uint64_t session, std::uint64_t first, std::uint64_t count) {
  fleet_writer to;
  to.begin();
  for (std::uint64_t i = 0; i < count; ++i) to.add(frame_kind::item, i, {});
  const auto raw = to.end({kind, 0, 0, number_of_program, session, first});
  natsMsg* made = nullptr;
  REQUIRE(natsMsg_Create(&made, "x", nullptr, reinterpret_cast<const char*>(raw.data()),
                         static_cast<int>(raw.size())) == NATS_OK);
  return nats_message(made);
}

TEST_CASE("a key has the same partition for ever") {
  const auto of = [](auto key) { return partition_of(bytes_of_key(key), 16); };
  CHECK(hash_of_key(bytes_of_key(std::int32_t{1})) == 0xde9c7b03a9c84fc0);
  CHECK(of(std::int32_t{0}) == 5);
  CHECK(of(std::int32_t{1}) == 0);
  CHECK(of(std::int64_t{1}) == 5);
  std::map<std::size_t, int> spread;
  for (std::int32_t key = 0; key < 16'000; ++key) ++spread[of(key)];
  CHECK(spread.size() == 16);
  for (const auto& [partition, keys] : spread) CHECK((keys > 850 && keys < 1150));
}

TEST_CASE("messages are taken in the order of their numbers, whatever that of the stream, and each once") {
  REQUIRE(nats_Open(-1) == NATS_OK);  // else it frees no message
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    // Of two sessions, in any order and some twice; those of the first go on behind the begin of the second.
    struct sent {
      std::uint64_t session, first, count;
    };
    std::vector<sent> stream;
    for (const std::uint64_t session : {1u, 2u}) {
      stream.push_back({session, 1, 0});
      const auto begin = static_cast<std::ptrdiff_t>(stream.size());
      for (std::uint64_t first = 1; first < 40;) {
        const std::uint64_t count = 1 + random() % 5;
        stream.push_back({session, first, count});
        if (random() % 4 == 0) stream.push_back(stream.back());
        first += count;
      }
      std::shuffle(stream.begin() + begin, stream.end(), random);
    }
    stream.push_back({1, 100, 1});

    keyed_inputs inputs(1, {});
    std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;  // session, number
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const sent& s = stream[i];
      inputs.add(message(s.count == 0 ? fleet_message::begin : fleet_message::items, s.session, s.first, s.count),
                 i + 1, number_of_program);
      while (inputs.has_next() && random() % 3 != 0) {
        const keyed_input next = inputs.take();
        if (next.count == 0) continue;
        for (std::uint64_t n = 0; n < next.count; ++n) taken.emplace_back(next.session, next.first + n);
        // Who begins there misses none that has not been taken.
        for (std::size_t before = 1; before < inputs.needed_from(); ++before) {
          const sent& passed = stream[before - 1];
          REQUIRE((passed.first == 100 || passed.count == 0 ||
                   std::pair(passed.session, passed.first + passed.count - 1) <= taken.back()));
        }
      }
    }
    while (inputs.has_next()) {
      const keyed_input next = inputs.take();
      for (std::uint64_t n = 0; n < next.count; ++n) taken.emplace_back(next.session, next.first + n);
    }
    CHECK(std::is_sorted(taken.begin(), taken.end()));
    CHECK(std::adjacent_find(taken.begin(), taken.end()) == taken.end());
    CHECK(taken.size() >= 78);
    CHECK(inputs.needed_from() == stream.size() + 1);
  }
}

TEST_CASE("of a chain that is needed no more whose outcomes are done, up to the first that are not") {
  passed_messages chain;
  chain.add({.sequence = 10, .item = 5});
  chain.add({.sequence = 11, .item = 9, .inputs = 40});  // a state
  chain.add({.sequence = 14, .item = 20});
  chain.add({.sequence = 15});             // a mark
  chain.add({.sequence = 16, .item = 7});  // what is known no more, of a driver that went back
  CHECK_FALSE(chain.take(4).has_value());
  const auto first = chain.take(5);
  REQUIRE(first.has_value());
  CHECK(first->sequence == 10);
  CHECK(first->inputs == 0);
  const auto state = chain.take(19);  // not the mark: before it is what is not done
  REQUIRE(state.has_value());
  CHECK(state->sequence == 11);
  CHECK(state->inputs == 40);
  CHECK_FALSE(chain.take(19).has_value());
  CHECK(chain.size() == 3);

  // What was seen before a message without outcomes counts although it is not to be purged by.
  chain.clear();
  chain.add({.sequence = 17});
  CHECK_FALSE(chain.take(19).has_value());
  const auto last = chain.take(20);
  REQUIRE(last.has_value());
  CHECK(last->sequence == 17);

  chain.add({.sequence = 12, .item = 3});  // the reader has begun anew
  CHECK(chain.take(3)->sequence == 12);
}

}  // namespace fleet_keyed_parts
