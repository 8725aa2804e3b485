// SPDX-License-Identifier: Apache-2.0
// Sessions with a name whose stage has a state by key: the next driver goes on with the states where they are.

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "files.hpp"
#include "fleet/counters.hpp"
#include "fleet/named_counters.hpp"
#include "fleet/named_drivers.hpp"
#include "fleet/nats_server.hpp"
#include "run/progress.hpp"

namespace fleet_named_by_key {

namespace lv = levada;
using namespace levada::test;
using namespace std::chrono_literals;

lv::jetstream briefly(const nats_server& server) {
  lv::jetstream to{{server.url()}};
  to.lease = 500ms;
  return to;
}
auto deploy_to(const lv::jetstream& to) { return lv::deploy<counter_box, counter_version>(counters(), to); }
auto work_for(const lv::jetstream& to) { return lv::work<counter_box, "counters", counter_version>(counters(), to); }

/// Pushes what the session goes on with, up to `until`, on a thread of its own.
std::jthread push_up_to(auto& session, std::uint64_t until) {
  return std::jthread([&session, until, n = session.next_item()]() mutable {
    for (; n < until; ++n) session.push(frame_of(static_cast<int>(n)));
  });
}
/// Pops those outcomes, which have to be exact.
void pop_exactly(auto& session, std::uint64_t from, std::uint64_t until) {
  const std::vector<std::int64_t> exact = exact_counts(until);
  lv::item_envelope of;
  for (std::uint64_t n = from; n < until; ++n) {
    const auto r = session.pop(of);
    REQUIRE(r);
    CHECK(of.sequence == n);
    CHECK((r->has_value() ? r->value().count : written_outcome::failed) == exact[n]);
  }
}
std::string refusal_of(const auto& call) {
  try {
    call();
  } catch (const lv::remote_error& e) {
    return e.what();
  }
  return {};
}

TEST_CASE("by key a session with a name goes on where its driver ended, with every count") {
  if (!has_nats_server()) return;
  const nats_server server;
  const lv::jetstream to = briefly(server);
  auto app = deploy_to(to);
  {
    // No worker yet: all that is pushed is stored, and has no outcome.
    auto session = lv::open_named<lv::dedicated>(app, "camera 1");
    CHECK(session.next_item() == 0);
    push_up_to(session, 20).join();
  }
  const lv::fleet_worker works = work_for(to);
  {
    auto session = lv::open_named<lv::dedicated>(app, "camera 1");
    CHECK(session.next_item() == 0);
    const auto source = push_up_to(session, 60);
    pop_exactly(session, 0, 37);
  }
  {
    // The last that was popped was not done. What the states may lack is pushed once more, and comes to nobody.
    auto session = lv::open_named<lv::dedicated>(app, "camera 1");
    CHECK(session.next_item() <= 36);
    const auto source = push_up_to(session, 80);
    pop_exactly(session, 36, 50);
    session.acknowledge();
  }
  CHECK(refusal_of([&] { static_cast<void>(app.open()); }) ==
        "levada: fleet \"counters\": outcomes of the session `camera 1` are not done: open that, and pop them first");
  CHECK(refusal_of([&] { static_cast<void>(lv::open_named(app, "camera 2")); }) ==
        "levada: fleet \"counters\": outcomes of the session `camera 1` are not done: open that, and pop them first");
  {
    auto session = lv::open_named<lv::dedicated>(app, "camera 1", 52);
    CHECK(session.next_item() <= 50);
    auto source = push_up_to(session, 100);
    pop_exactly(session, 52, 100);
    source.join();
    session.close();
    CHECK_FALSE(session.pop());
  }
  {
    auto session = app.open<lv::dedicated>();
    session.push(frame_of(100));
    CHECK(session.pop()->value().count == exact_counts(101)[100]);
  }
  CHECK(refusal_of([&] { static_cast<void>(lv::open_named(app, "camera 1", 25)); }) ==
        "levada: fleet \"counters\": the session `camera 1` cannot go back before item 100: another had its "
        "partitions since");
  auto session = lv::open_named<lv::dedicated>(app, "camera 1");
  CHECK(session.next_item() == 100);
  for (int i = 101; i < 150; ++i) session.push(frame_of(i));
  const std::vector<std::int64_t> exact = exact_counts(150);
  for (std::size_t i = 101; i < 150; ++i) {
    const auto r = session.pop();
    CHECK((r->has_value() ? r->value().count : written_outcome::failed) == exact[i]);
  }
}

TEST_CASE("by key a driver whose session another takes fails in a sentence") {
  if (!has_nats_server()) return;
  const nats_server server;
  const lv::jetstream to = briefly(server);
  auto app = deploy_to(to);
  const lv::fleet_worker works = work_for(to);
  auto first = lv::open_named<lv::dedicated>(app, "camera 1");
  push_up_to(first, 30).join();
  pop_exactly(first, 0, 10);
  auto second = lv::open_named<lv::dedicated>(app, "camera 1");
  constexpr auto lost = "levada: fleet \"counters\": another driver has taken the session `camera 1`";
  std::string why;
  CHECK(eventually([&] {
    why = refusal_of([&] { static_cast<void>(first.try_pop()); });
    return !why.empty();
  }));
  CHECK(why == lost);
  CHECK(refusal_of([&] { first.push(frame_of(30)); }) == lost);
  const auto source = push_up_to(second, 50);
  lv::item_envelope of;
  REQUIRE(second.pop(of));
  CHECK(of.sequence <= 9);
  pop_exactly(second, of.sequence + 1, 50);
}

TEST_CASE("by key a driver that ends before it knows that it is lost leaves the partitions to the next") {
  if (!has_nats_server()) return;
  const nats_server server;
  const lv::jetstream to = briefly(server);
  auto app = deploy_to(to);
  const auto second = [&app] {
    const auto first = lv::open_named<lv::dedicated>(app, "camera 1");
    return lv::open_named<lv::dedicated>(app, "camera 1");
  }();
  const lv::detail::nats_connection by("a test", to, "test");
  const lv::detail::lease_bucket leases(by, lv::detail::keyed_names("counters", 8).leases);
  CHECK_FALSE(leases.take(lv::detail::keyed_names::driver_key, "a test").has_value());
}

TEST_CASE("by key an item that was run is not run again for a caller who goes back") {
  if (!has_nats_server()) return;
  const nats_server server;
  const lv::jetstream to = briefly(server);
  auto app = deploy_to(to);
  const lv::fleet_worker works = work_for(to);
  {
    auto session = lv::open_named<lv::dedicated>(app, "camera 1");
    const auto source = push_up_to(session, 40);
    pop_exactly(session, 0, 40);
    session.acknowledge();
    const lv::detail::nats_connection by("a test", to, "test");
    const lv::detail::keyed_names names("counters", 8);
    CHECK(eventually([&] {
      for (std::size_t p = 0; p < 8; ++p)
        if (lv::detail::last_message(by, names.chain_stream(p), names.outcomes(p))) return false;
      return true;
    }));
  }
  auto session = lv::open_named<lv::dedicated>(app, "camera 1", 25);
  CHECK(session.next_item() == 25);
  const auto source = push_up_to(session, 50);
  for (int i = 25; i < 40; ++i)
    CHECK(failure_of(session.pop()->error()) == "levada: fleet \"counters\", worker " + works.name() + ", item " +
                                                    std::to_string(i) + ": its outcome is kept no longer");
  pop_exactly(session, 40, 50);
}

TEST_CASE("by key drivers of a session that are killed at random, and workers, leave each count exact") {
  if (!has_nats_server()) return;
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const bool keeps : {true, false}) {
    const nats_server server;
    const process first = counting.start(server.url());
    process second = counting.start(server.url());
    const temporary_folder folder;
    const driving as{server.url(), folder.file("outcomes"), "camera 1", 5000, keeps};
    const int deaths = drive_and_kill(driving_counters, as, 1000, random, [&] {
      if (random() % 4 != 0) return;
      second.kill();
      second = counting.start(server.url());
    });
    const std::uint64_t again = check_counts(outcome_file(as.path).all(), as.count, keeps);
    MESSAGE(deaths << " drivers were killed, " << again << " outcomes came again");
    CHECK(deaths > 0);
  }
}

}  // namespace fleet_named_by_key
