// SPDX-License-Identifier: Apache-2.0
#pragma once
// stress/scenarios.hpp: everything that several threads do with levada at once, again and again until a time is over,
// while operations of the schedule are held up. On any executor.

#include <stress/held_up.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <remote/lost_nodes.hpp>
#include <run/random_runs.hpp>
#include <run/rows.hpp>
#include <run/single_items.hpp>
#include <run/swapping.hpp>
#include <stress/round_watch.hpp>

namespace levada::test {

/// Seconds for each scenario: 1, or LEVADA_STRESS.
inline std::chrono::duration<double> stress_time() {
  const char* const text = std::getenv("LEVADA_STRESS");
  const double seconds = text != nullptr ? std::atof(text) : 0;
  return std::chrono::duration<double>(seconds > 0 ? seconds : 1);
}

/// The seed of the first round: LEVADA_SEED, or another one each time.
inline std::uint64_t stress_seed() {
  const char* const text = std::getenv("LEVADA_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device{}();
}

/// Calls `once(seed)`, with a new seed each time and holding up now more operations and now fewer, until the time is
/// over. Each call says how many items it took.
template <class Once>
void again_and_again(const Once& once) {
  const auto end = std::chrono::steady_clock::now() + stress_time();
  std::uint64_t items = 0, seed = stress_seed();
  const std::uint64_t before = all_hold_ups.count.load();
  round_watch watch;
  do {
    seed %= 1'000'000'000;
    CAPTURE(seed);
    watch.begins(seed);
    all_hold_ups.seed.store(seed);
    all_hold_ups.most_ns.store(seed % 3 == 0 ? 100'000 : 30'000);
    all_hold_ups.one_in.store(64u << seed % 7);
    items += once(seed);
    seed = std::mt19937_64(seed)();
  } while (std::chrono::steady_clock::now() < end);
  all_hold_ups.one_in.store(0);
  MESSAGE(items << " items, " << all_hold_ups.count.load() - before << " operations held up");
}

/// Items large enough that two serial stages are worth a second thread, and small enough that grains meet at the
/// tickets all the time.
struct thousand_bytes {
  std::uint64_t value;
  std::array<std::uint64_t, 124> rest;
};
struct adding_up {
  std::uint64_t sum = 0;
  void operator()(thousand_bytes& x) {
    for (std::uint64_t& r : x.rest) r += x.value;
    x.value = sum += x.value;
  }
};

std::uint64_t grains_that_meet(const auto& app, std::uint64_t seed) {
  std::vector<thousand_bytes> items(2'000);
  for (std::size_t i = 0; i < items.size(); ++i) items[i].value = 1 + (i + seed) * 2'654'435'761u % 100'000;
  std::uint64_t first = 0, second = 0;
  std::size_t at = 0, wrong = 0;
  for (const auto& r : app.stream(items)) {
    second += first += items[at++].value;
    wrong += !r.has_value() || r->value != second;
  }
  CHECK(wrong == 0);
  CHECK(at == items.size());
  return items.size();
}

template <class Executor, class Target = target<cpu<2>>>
auto deployed_on(const auto& pipeline) {
  return deploy<Target, run_by<Executor>>(pipeline);
}

/// Streams whose grains wait for each other at the tickets of two and of three serial stages.
template <class Executor>
void stress_tickets() {
  const auto two = deployed_on<Executor>(input<thousand_bytes> | stage<"a">(adding_up{}) | stage<"b">(adding_up{}));
  const auto mixed = deployed_on<Executor, target<cpu<3>>>(input<std::uint64_t> | stage<"sum">(summing{}) |
                                                           stage<"slow">(parallel(slow{})) | stage<"mix">(mixing{}));
  again_and_again([&](std::uint64_t seed) -> std::uint64_t {
    if (seed % 8 != 0) return grains_that_meet(two, seed);
    CHECK(wrong_in_a_row(mixed, reference_of(summing{}, slow{}, mixing{}), items_in_a_row(500)) == 0);
    CHECK(wrong_until_stopped(mixed, reference_of(summing{}, slow{}, mixing{}), items_in_a_row(500), seed % 60) == 0);
    return 1'000;
  });
}

/// Sessions and streams, cancelled, failing, reopened, through devices too: one deployment at a time.
template <class Executor>
void stress_sessions() {
  again_and_again([](std::uint64_t seed) {
    switch (seed % 5) {
      case 0:
        return random_runs<in_four_segments, with_devices<3>, Executor>(seed, 2'000);
      case 1:
        return random_runs<device_in_the_middle, with_devices<2>, Executor>(seed, 500);
      case 2:
        return random_runs<two_devices, with_devices<1>, Executor>(seed, 500);
      default:
        return random_runs<on_the_processor, with_devices<2>, Executor>(seed, 2'000);
    }
  });
}

/// Five deployments with sessions and streams of their own at once.
template <class Executor>
void stress_five_apps() {
  const auto a = deploy<with_devices<1>, run_by<Executor>, slots<24>>(on_the_processor::make());
  const auto b = deploy<with_devices<2>, run_by<Executor>, slots<24>>(on_the_processor::make());
  const auto c = deploy<with_devices<3>, run_by<Executor>, slots<8>>(in_four_segments::make());
  const auto d = deploy<with_devices<2>, run_by<Executor>, slots<24>>(device_in_the_middle::make());
  const auto e = deploy<with_devices<1>, run_by<Executor>, slots<5>>(two_devices::make());
  again_and_again([&](std::uint64_t seed) {
    const nothing_leaks guard;
    const devices_that behave(0, 1 + seed % 12);
    std::atomic<std::uint64_t> items{0};
    std::vector<std::thread> threads;
    const auto run_beside = [&](const auto& app, std::uint64_t own) {
      threads.emplace_back([&items, &app, own] {
        std::mt19937 random(static_cast<std::uint32_t>(own));
        for (int round = 0; round < 4; ++round) items += random_run(app, random, 1'000);
      });
    };
    run_beside(a, seed), run_beside(b, seed + 1), run_beside(c, seed + 2), run_beside(d, seed + 3);
    run_beside(e, seed + 4);
    for (std::thread& t : threads) t.join();
    return items.load();
  });
}

/// Versions of a pipeline that are swapped under load.
template <class Executor>
void stress_swaps() {
  again_and_again([](std::uint64_t) -> std::uint64_t {
    swaps_under_load<Executor>(20);
    return 20;
  });
}

/// Single items, with others who push, cancel and look on.
template <class Executor>
void stress_single_items() {
  const auto app = deployed_on<Executor>(single_item_pipeline());
  const auto unordered = deployed_on<Executor>(unordered_pipeline());
  again_and_again([&](std::uint64_t seed) -> std::uint64_t {
    CHECK(wrong_with_a_pusher(app, 2'000) == 0);
    CHECK(wrong_with_a_pusher<unordered_reference>(unordered, 2'000) == 0);
    CHECK(wrong_until_cancelled(app, seed % 300) == 0);
    CHECK(wrong_while_watched(app, 1'000) == 0);
    return 5'000;
  });
}

/// A part on two nodes, which are lost now and then: streams, and items one at a time.
template <class Executor>
void stress_remote() {
  again_and_again([](std::uint64_t seed) -> std::uint64_t {
    constexpr int items = 2'000;
    streams_through_lost_nodes<Executor>(items, seed % 8 == 0 ? 2 : 0);
    return items + items / 4;
  });
}

}  // namespace levada::test
