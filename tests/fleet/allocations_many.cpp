// SPDX-License-Identifier: Apache-2.0
// What a fleet takes from the heap at both ends: nothing of ours for an item. libnats allocates for each message, by
// malloc; ours is `operator new`.

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include <levada/fleet/deploy.hpp>
#include <levada/fleet/detail/by_key.hpp>
#include <levada/fleet/work.hpp>
#include <levada/levada.hpp>

#include "fleet/nats_server.hpp"
#include "fleet/worker_processes.hpp"
#include "resident.hpp"
#include "soak.hpp"

#include <support/counting.hpp>

namespace {

namespace lv = levada;
using namespace levada::test;

struct reading {
  std::int32_t sensor = 0, number = 0;
  std::array<std::int32_t, 14> values{};
};
struct sum {
  std::int64_t of = 0;
  std::int64_t operator()(const reading& r) { return of += r.number; }
};

using box = lv::target<lv::cpu<2>, lv::fleet<"readings", lv::cpu<1>>>;
using version = lv::version<"1">;

/// Items through a driver and a worker of this process, at most so many at once.
template <class Pipeline>
void takes_nothing(Pipeline p, int warm, int count) {
  const nats_server server;
  const lv::jetstream at{{server.url()}};
  const lv::fleet_worker works = lv::work<box, "readings", version>(p(), at);
  auto app = lv::deploy<box, version>(p(), at);
  auto session = app.template open<lv::dedicated>();
  int good = 0;
  const auto run = [&](int items) {
    for (int pushed = 0, popped = 0; popped < items; ++popped) {
      while (pushed < items && session.try_push(reading{pushed % 40, pushed, {}})) ++pushed;
      good += session.pop()->has_value() ? 1 : 0;
    }
  };
  run(warm);
  const std::size_t memory = resident();
  const allocation_counts before = allocations_now();
  run(count);
  const allocation_counts taken = allocations_now() - before;
  const std::size_t memory_now = resident();
  CHECK(good == warm + count);
  MESSAGE(count << " items: " << taken.news << " allocations of ours, " << taken.mallocs << " of libnats; "
                << (memory >> 20) << " MiB, and then " << (memory_now >> 20));
  if (!counts_allocations) return;
  // The memory of messages grows until each was as long as one may be; by key, streams are purged now and then.
  CHECK(taken.news < static_cast<std::uint64_t>(count) / 100);
  CHECK(memory_now < memory + (std::size_t{8} << 20));
}

}  // namespace

TEST_CASE("an item on a fleet takes nothing from the heap, and memory stays as it is") {
  if (!has_nats_server()) return;
  takes_nothing(
      [] {
        return lv::input<reading> |
               lv::on<lv::fleet<"readings">>(lv::stage<"sum">([](const reading& r) { return r.number; }));
      },
      50'000, 1'000'000 * soak_scale());
}

TEST_CASE("an item of a stage with a state by key takes nothing from the heap, and memory stays as it is") {
  if (!has_nats_server()) return;
  takes_nothing(
      [] {
        return lv::input<reading> |
               lv::on<lv::fleet<"readings">, lv::by<&reading::sensor>, lv::partitions<4>>(lv::stage<"sum">(sum{}));
      },
      50'000, 200'000 * soak_scale());
}
