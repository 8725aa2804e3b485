// SPDX-License-Identifier: Apache-2.0
// Sessions with a name: what a driver left another goes on with.

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "files.hpp"
#include "fleet/named_drivers.hpp"
#include "fleet/named_orders.hpp"
#include "fleet/nats_server.hpp"
#include "fleet/orders.hpp"
#include "run/progress.hpp"

namespace fleet_named {

namespace lv = levada;
using namespace levada::test;
using namespace std::chrono_literals;

std::string refusal_of(const auto& call) {
  try {
    call();
  } catch (const lv::error& e) {
    return e.what();
  }
  return {};
}

auto deploy_to(const lv::jetstream& to) { return lv::deploy<fleet_box, fleet_version>(orders(), to); }

TEST_CASE("a session with a name goes on where its driver ended") {
  if (!has_nats_server()) return;
  const nats_server server;
  const lv::jetstream to = with_long_lease(server);
  auto app = deploy_to(to);
  {
    // No worker yet: all that is pushed is stored, and has no outcome.
    auto session = lv::open_named<lv::dedicated>(app, "camera 1");
    CHECK(session.next_item() == 0);
    CHECK(session.name() == "camera 1");
    for (int i = 0; i < 10; ++i) session.push(order{i});
    CHECK(session.next_item() == 10);
  }
  const lv::fleet_worker works = lv::work<fleet_box, "orders", fleet_version>(orders(), to);
  lv::item_envelope of;
  {
    auto session = lv::open_named<lv::dedicated>(app, "camera 1");
    CHECK(session.next_item() == 0);
    for (int i = 0; i < 20; ++i) session.push(order{i});
    for (int i = 0; i < 7; ++i) {
      CHECK(session.pop(of)->value() == 2 * i);
      CHECK(of.sequence == static_cast<std::uint64_t>(i));
    }
  }
  {
    // The last that was popped was not done.
    auto session = lv::open_named<lv::dedicated>(app, "camera 1");
    CHECK(session.next_item() == 6);
    for (int i = 6; i < 30; ++i) session.push(order{i, i == 12 ? act::fails : act::nothing});
    for (int i = 6; i < 15; ++i) {
      const auto r = session.pop(of);
      CHECK(of.sequence == static_cast<std::uint64_t>(i));
      CHECK(r->has_value() == (i != 12 || of.sequence < 20));
    }
    session.acknowledge();
  }
  {
    auto session = lv::open_named<lv::dedicated>(app, "camera 1");
    CHECK(session.next_item() == 15);
    for (int i = 15; i < 40; ++i) session.push(order{i, i == 35 ? act::fails : act::nothing});
    session.close();
    int came = 15;
    while (const auto r = session.pop(of)) {
      CHECK(of.sequence == static_cast<std::uint64_t>(came));
      if (came == 35)
        CHECK(failure_of(r->error()) == "levada: fleet \"orders\", worker " + works.name() + ", item 35: no 35");
      ++came;
    }
    CHECK(came == 40);
  }
  CHECK(works.counts().items == 40);  // each once
  CHECK(lv::open_named(app, "camera 1").next_item() == 40);
  CHECK(lv::open_named(app, "camera 1", 25).next_item() == 25);
  CHECK(lv::open_named(app, "camera 2").next_item() == 0);
}

TEST_CASE("a driver whose session another takes fails in a sentence") {
  if (!has_nats_server()) return;
  const nats_server server;
  const lv::jetstream to{{server.url()}};
  auto app = deploy_to(to);
  const lv::fleet_worker works = lv::work<fleet_box, "orders", fleet_version>(orders(), to);
  auto first = lv::open_named<lv::dedicated>(app, "camera 1");
  first.push(order{0});
  CHECK(first.pop()->value() == 0);
  auto second = lv::open_named<lv::dedicated>(app, "camera 1");
  CHECK(second.next_item() == 0);
  constexpr auto lost = "levada: fleet \"orders\": another driver has taken the session `camera 1`";
  std::string why;
  CHECK(eventually([&] {
    why = refusal_of([&] { static_cast<void>(first.try_pop()); });
    return !why.empty();
  }));
  CHECK(why == lost);
  CHECK(refusal_of([&] { first.push(order{1}); }) == lost);
  for (int i = 0; i < 40; ++i) second.push(order{i});
  for (int i = 0; i < 40; ++i) CHECK(second.pop()->value() == 2 * i);
}

TEST_CASE("a session cannot be opened by every name, nor everywhere") {
  if (!has_nats_server()) return;
  const nats_server server;
  const lv::jetstream to{{server.url()}};
  const auto app = deploy_to(to);
  static_cast<void>(lv::open_named(app, "makes the stream"));
  const auto opening = [&](const std::string& name) {
    return refusal_of([&] { static_cast<void>(lv::open_named(app, name)); });
  };
  CHECK(opening("") == "levada: fleet \"orders\": the name of a session has 1 to 200 bytes");
  CHECK(opening(std::string(201, 'x')) == "levada: fleet \"orders\": the name of a session has 1 to 200 bytes");
  const auto here =
      lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::stage<"twice">([](int v) { return 2 * v; }));
  CHECK(refusal_of([&] { static_cast<void>(lv::open_named(here, "x")); }) ==
        "levada: open_named: no part of the pipeline is on a fleet");

  const lv::detail::nats_connection by("a test", to, "test");
  const lv::detail::fleet_names names("orders", 0);
  const std::string subject = names.session(lv::detail::number_of_session("x"));
  const auto store = [&](std::span<const std::byte> bytes) {
    by.check(js_Publish(nullptr, by.stored(), subject.c_str(), bytes.data(), static_cast<int>(bytes.size()), nullptr,
                        nullptr),
             "cannot be stored");
  };
  lv::detail::fleet_writer writer;
  writer.begin("x");
  store(writer.end({}));
  CHECK(opening("x") == "levada: fleet \"orders\": what is stored of the session `x` is none of a driver");
  writer.begin("y");
  writer.add(lv::detail::frame_kind::item, 1, {});
  store(writer.end({lv::detail::fleet_message::session, 0, 0, 0, 1, 0}));
  CHECK(opening("x") ==
        "levada: fleet \"orders\": the sessions `x` and `y` have the same number: give one another name");
}

TEST_CASE("drivers of a session that are killed at random leave each item with one outcome") {
  if (!has_nats_server()) return;
  const nats_server server;
  const process first = start_worker(server.url());
  process second = start_worker(server.url());
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const bool keeps : {true, false}) {
    const temporary_folder folder;
    const driving as{server.url(), folder.file("outcomes"), keeps ? "kept here" : "kept there", 10'000, keeps};
    const int deaths = drive_and_kill(driving_orders, as, 1000, random, [&] {
      if (random() % 4 != 0) return;
      second.kill();
      second = start_worker(server.url());
    });
    const std::uint64_t again = check_outcomes(outcome_file(as.path).all(), as.count, keeps);
    MESSAGE(deaths << " drivers were killed, " << again << " outcomes came again");
    CHECK(deaths > 0);
  }
}

}  // namespace fleet_named
