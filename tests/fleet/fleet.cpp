// SPDX-License-Identifier: Apache-2.0
// Parts of pipelines on a fleet, with a server of the test's own: what they give, and what becomes of items whose
// workers die.

#include <doctest/doctest.h>

#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <levada/fleet/server_configuration.hpp>
#include <levada/interop/report.hpp>
#include <levada/levada.hpp>

#include "fleet/kept_lines.hpp"
#include "fleet/nats_server.hpp"
#include "fleet/orders.hpp"
#include "full_disk.hpp"
#include "remote/certificates.hpp"
#include "run/progress.hpp"

namespace fleet_fleet {

namespace lv = levada;
using namespace levada::test;
using namespace std::chrono_literals;

auto deploy_to(const lv::jetstream& to) { return lv::deploy<fleet_box, fleet_version>(orders(), to); }

std::string refusal(const auto& call) {
  try {
    call();
  } catch (const lv::remote_error& e) {
    return e.what();
  }
  return {};
}

/// Messages.
std::uint64_t stored_items_of(const lv::detail::nats_connection& by) {
  jsStreamInfo* info = nullptr;
  by.check(js_GetStreamInfo(&info, by.stored(), "levada-orders-items", nullptr, nullptr), "a stream");
  const auto messages = info->State.Msgs;
  jsStreamInfo_Destroy(info);
  return messages;
}

/// The session of a driver, from what it publishes.
struct session_seen final : lv::detail::nats_hearer {
  void heard(lv::detail::nats_message m) noexcept override {
    try {
      number.store(lv::detail::fleet_reader(lv::detail::bytes_of(m.get())).envelope().session);
    } catch (const lv::wire_error&) {
    }
  }
  std::atomic<std::uint64_t> number{0};
};

TEST_CASE("a part on a fleet gives what it gives here, and each item has an outcome") {
  if (!has_nats_server()) return;
  const nats_server server;
  const lv::jetstream to = with_long_lease(server);
  const lv::fleet_worker works = lv::work<fleet_box, "orders", fleet_version>(orders(), to);
  auto app = deploy_to(to);
  constexpr auto plan = decltype(app)::plan;
  static_assert(plan.segments == 2);
  constexpr auto queue = lv::queues_of(plan)[0];
  static_assert(queue.of->items_a_message == 64 && queue.of->worker_threads == 2 && queue.of->partitions == 0);
  static_assert(queue.busy_threads == plan.slots && queue.sure_threads == 43);
  static_assert(queue.busy_workers == plan.slots / 2);
  const lv::detail::fleet_names names("orders", 0);
  CHECK(queue.of->streams[0].name == names.items_stream);
  CHECK(queue.of->streams[1].subject == names.all_outcomes);
  CHECK(queue.of->streams[2].name == names.sessions_stream);
  CHECK(queue.of->streams[0].message_bytes == 4096);
  const std::string report = lv::report(app);
  CAPTURE(report);
  CHECK(report.find("levada-orders-outcomes  levada.orders.outcomes.*  interest              4.0 KiB          1        "
                    "15420     64.0 MiB  1\n") != std::string::npos);
  CHECK(app(order{3}) == 6);
  CHECK(app(order{3, act::is_filtered}) == std::nullopt);

  constexpr int count = 5000;
  auto session = app.open<lv::dedicated>();
  tally came;
  std::thread popper([&] {
    while (auto r = session.pop()) came.add(*r);
  });
  for (int i = 0; i < count; ++i)
    session.push(order{i, i % 50 == 7 ? act::fails : i % 10 == 3 ? act::is_filtered : act::nothing});
  session.close();
  popper.join();
  const auto counts = session.counts();
  CHECK(came.in_order);
  CHECK(came.failed == count / 50);
  CHECK(came.delivered == count - count / 50 - count / 10);
  CHECK(counts.filtered == count / 10);
  CHECK(counts.pushed == counts.delivered + counts.failed + counts.filtered);
  CHECK(came.failures[0] == "levada: fleet \"orders\", worker " + works.name() + ", item 7: no 7");
  CHECK(works.counts().items == count + 2);
  CHECK(works.counts().run_alone == 0);
}

TEST_CASE("side data goes to workers, and comes back") {
  if (!has_nats_server()) return;
  struct asked {
    int times;
  };
  struct added {
    double what;
  };
  const auto p = lv::input<int> | lv::stage<"ask">([](const int& x, asked& a) {
                   a.times = x % 5;
                   return x;
                 }) |
                 lv::on<lv::fleet<"sides">>(lv::stage<"work">([](const int& x, const asked& a, added& b) {
                   b.what = x / 2.0;
                   return a.times * x;
                 })) |
                 lv::stage<"use">([](const int& x, const added& a) { return x + a.what; });
  using box = lv::target<lv::cpu<2>, lv::fleet<"sides", lv::cpu<2>>>;
  const nats_server server;
  const lv::jetstream to{{server.url()}};
  const lv::fleet_worker works = lv::work<box, "sides", fleet_version>(p, to);
  const auto app = lv::deploy<box, fleet_version>(p, to);
  auto session = app.open<lv::dedicated>();
  for (int i = 0; i < 40; ++i) session.push(i);
  for (int i = 0; i < 40; ++i) CHECK(session.pop()->value() == i % 5 * i + i / 2.0);
}

TEST_CASE("a worker may come before its driver, and a driver before its workers") {
  if (!has_nats_server()) return;
  const nats_server server;
  const lv::jetstream to{{server.url()}};
  const auto start = [&] { return lv::work<fleet_box, "orders", fleet_version>(orders(), to); };
  {
    const lv::fleet_worker first = start();
    auto app = deploy_to(to);
    CHECK(app(order{1}) == 2);
  }
  auto app = deploy_to(to);
  auto session = app.open<lv::dedicated>();
  for (int i = 0; i < 20; ++i) session.push(order{i});
  CHECK(!session.try_pop());
  const lv::fleet_worker late = start();
  for (int i = 0; i < 20; ++i) CHECK(session.pop()->value() == 2 * i);
}

TEST_CASE("programs that differ refuse each other with the first thing in which they do") {
  if (!has_nats_server()) return;
  const nats_server server;
  const lv::jetstream to{{server.url()}};
  constexpr std::string_view differ = "the driver has `version 2`, and the node `version 1`";
  {
    const lv::fleet_worker works = lv::work<fleet_box, "orders", fleet_version>(orders(), to);
    CHECK(refusal([&] { static_cast<void>(lv::deploy<fleet_box, lv::version<"2">>(orders(), to)); }) ==
          "levada: fleet \"orders\" has no worker of this program: " + std::string(differ));
  }
  auto app = lv::deploy<fleet_box, lv::version<"2">>(orders(), to);
  CHECK(refusal([&] { static_cast<void>(lv::work<fleet_box, "orders", fleet_version>(orders(), to)); }) ==
        "levada: fleet \"orders\" has no driver of this program: " + std::string(differ));
}

TEST_CASE("what the servers have is as it should be, or one sentence") {
  if (!has_nats_server()) return;
  CHECK(refusal([] { static_cast<void>(deploy_to({})); }) ==
        "levada: fleet \"orders\" has no server: `jetstream::urls` is empty");
  CHECK(refusal([] { static_cast<void>(deploy_to({{"nats://127.0.0.1:9"}})); }) ==
        "levada: fleet \"orders\" has no server: nats://127.0.0.1:9: No server available for connection");
  CHECK(refusal([] { static_cast<void>(deploy_to({{"nats://10.0.0.1:4222"}})); }) ==
        "levada: \"10.0.0.1:4222\" is not this machine, and plain text goes to no other: give jetstream certificates");
  const nats_server server;
  {
    lv::jetstream large{{server.url()}};
    large.most_bytes = std::size_t{1} << 50;
    CHECK(refusal([&] { static_cast<void>(deploy_to(large)); }) ==
          "levada: fleet \"orders\": the stream levada-orders-items of 1125899906842624 bytes does not fit in the "
          "server's store: lower `jetstream::most_bytes`, or raise its `max_file_store`");
  }
  const lv::jetstream to{{server.url()}};
  auto app = deploy_to(to);
  lv::jetstream other = to;
  other.most_bytes = 1 << 20;
  CHECK(refusal([&] { static_cast<void>(deploy_to(other)); }) ==
        "levada: fleet \"orders\": the stream levada-orders-items has max_bytes 67108864, and not 1048576");
  other = to;
  other.lease = 5s;
  CHECK(refusal([&] { static_cast<void>(deploy_to(other)); }).find("has a lease of 2000 ms, and not 5000") !=
        std::string::npos);
  const lv::detail::nats_connection by("levada: fleet \"orders\"", to, "test");
  CHECK(refusal([&] { lv::detail::check_payload(by, 100, 2'000'000); }) ==
        "levada: fleet \"orders\": a message is up to 2000559 bytes, and the server takes 1048576: raise its "
        "`max_payload`");
}

TEST_CASE("full streams are a full pipeline, and lose nothing") {
  if (!has_nats_server()) return;
  const nats_server server;
  lv::jetstream to{{server.url()}};
  to.most_bytes = 1000;
  CHECK(refusal([&] { static_cast<void>(deploy_to(to)); }) ==
        "levada: fleet \"orders\": a message is up to 4096 bytes, and a stream holds less: raise "
        "`jetstream::most_bytes`");
  to.most_bytes = 40'000;  // less than ten messages
  auto app = deploy_to(to);
  auto session = app.open<lv::dedicated>();
  int pushed = 0;
  while (session.try_push(order{pushed})) ++pushed;
  CHECK(pushed == static_cast<int>(decltype(app)::plan.slots));
  const lv::fleet_worker works = lv::work<fleet_box, "orders", fleet_version>(orders(), to);
  for (int i = 0; i < pushed; ++i) CHECK(session.pop()->value() == 2 * i);
}

TEST_CASE("a full disk of the server is one sentence, and nothing is missing when it goes on") {
  if (!has_nats_server()) return;
  const std::string why = with_small_disk("24m", [](const small_disk& disk) {
    // The server is started by another thread, which sees the disk by way of this one.
    const std::string store = "/proc/" + std::to_string(::gettid()) + "/root" + disk.file("store");
    nats_server server([&](const std::filesystem::path&, const std::string& listen) {
      return "listen: \"" + listen + "\"\njetstream { store_dir: \"" + store + "\", max_file_store: 1G }\n";
    });
    const lv::jetstream to{{server.url()}};
    auto app = deploy_to(to);
    auto session = app.open<lv::dedicated>();
    int pushed = 0;
    while (pushed < 20) session.push(order{pushed++});
    const lv::detail::nats_connection by("a test", to, "test");
    CHECK(eventually([&] { return stored_items_of(by) != 0; }));
    const kept_lines lines;
    disk.fill();
    while (session.try_push(order{pushed})) ++pushed;
    CHECK(eventually([&] {
      return lines.has_line(
          "levada: fleet \"orders\": no server has stored its items for 8 s: a disk is full, or too few servers are "
          "there");
    }));
    disk.free();
    server.kill();
    server.start();
    const lv::fleet_worker works = lv::work<fleet_box, "orders", fleet_version>(orders(), to);
    for (int i = 0; i < pushed; ++i) CHECK(session.pop()->value() == 2 * i);
  });
  if (!why.empty()) MESSAGE("not tested: " << why);
}

TEST_CASE("items that a server has lost are sent to it again") {
  if (!has_nats_server()) return;
  const nats_server server;
  const lv::jetstream to = with_long_lease(server);
  auto app = deploy_to(to);
  auto session = app.open<lv::dedicated>();
  for (int i = 0; i < 20; ++i) session.push(order{i});
  const lv::detail::nats_connection by("a test", to, "test");
  CHECK(eventually([&] { return stored_items_of(by) > 1; }));
  by.check(js_PurgeStream(by.stored(), "levada-orders-items", nullptr, nullptr), "purge");
  const lv::fleet_worker works = lv::work<fleet_box, "orders", fleet_version>(orders(), to);
  for (int i = 0; i < 20; ++i) CHECK(session.pop()->value() == 2 * i);
  CHECK(works.counts().items == 20);
}

TEST_CASE("a session that is cancelled ends without workers, and without a server") {
  if (!has_nats_server()) return;
  nats_server server;
  auto app = deploy_to({{server.url()}});
  {
    auto session = app.open<lv::dedicated>();
    for (int i = 0; i < 40; ++i) session.push(order{i});
    session.cancel();
    CHECK(!session.pop());
  }
  auto session = app.open<lv::dedicated>();
  for (int i = 0; i < 40; ++i) session.push(order{i});
  server.kill();
}

TEST_CASE("garbage is refused, counted and harms nobody") {
  if (!has_nats_server()) return;
  const nats_server server;
  const lv::jetstream to{{server.url()}};
  const lv::fleet_worker works = lv::work<fleet_box, "orders", fleet_version>(orders(), to);
  auto app = deploy_to(to);
  auto session = app.open<lv::dedicated>();
  session.push(order{1});
  CHECK(session.pop()->value() == 2);
  const lv::detail::nats_connection by("a test", to, "garbage");
  const kept_lines lines;
  constexpr auto program = [] {
    using place = lv::detail::place_there<lv::fleet<"orders">, decltype(orders())>::type;
    using identity = lv::detail::remote_identity<"orders", "1", place::pipeline, place::in, int>;
    return identity::hash;
  }();
  const lv::detail::fleet_names names("orders", program);
  for (int i = 0; i < 20; ++i) by.say(names.items.c_str(), std::string(static_cast<std::size_t>(7 * i), '\x01'));
  // What is a message, but not one for a worker: of a worker, of another program, without items, of a result.
  lv::detail::fleet_writer writer;
  using lv::detail::fleet_message, lv::detail::frame_kind;
  const auto send = [&](fleet_message kind, std::uint64_t of, int items, frame_kind each, const std::string& subject) {
    writer.begin("x");
    for (int i = 0; i < items; ++i) writer.add(each, 0, {});
    const auto raw = writer.end({kind, 0, 0, of, 1, 0});
    by.say(subject.c_str(), {reinterpret_cast<const char*>(raw.data()), raw.size()});
  };
  send(fleet_message::outcomes, program, 1, frame_kind::item, names.items);
  send(fleet_message::items, program + 1, 1, frame_kind::item, names.items);
  send(fleet_message::items, program, 0, frame_kind::item, names.items);
  send(fleet_message::items, program, 1, frame_kind::value, names.items);
  CHECK(eventually([&] { return works.counts().refused == 24; }));
  const auto refused = [&](std::string_view why) {
    return lines.has_line("levada: fleet \"orders\": a message is refused: " + std::string(why));
  };
  CHECK(refused("levada: it is none of a driver"));
  CHECK(refused("levada: it is of another program"));
  CHECK(refused("levada: it has another number of items than a message may"));

  // The same for a driver: of a session that is known by what it publishes.
  session_seen seen;
  {
    const lv::detail::nats_subscription all(by, "levada.orders.items.*", seen);
    by.check(natsConnection_Flush(by.get()), "the server hears");
    session.push(order{2});
    CHECK(session.pop()->value() == 4);
    CHECK(eventually([&] { return seen.number.load() != 0; }));
  }
  const auto answer = [&](std::uint64_t of, std::uint64_t item, frame_kind kind) {
    writer.begin("x");
    writer.add(kind, item, {});
    const auto raw = writer.end({fleet_message::outcomes, 0, 0, of, seen.number.load(), 0});
    by.say(names.outcomes(seen.number.load()).c_str(), {reinterpret_cast<const char*>(raw.data()), raw.size()});
  };
  answer(program + 1, 2, frame_kind::value);
  CHECK(eventually([&] {
    return lines.has_line("levada: fleet \"orders\": an outcome is refused: levada: it is of another program");
  }));
  answer(program, 1, frame_kind::value);  // which it has
  session.push(order{3, act::sleeps});
  answer(program, 2, frame_kind::item);
  const auto odd = session.pop();
  CHECK((odd->has_value() ||
         failure_of(odd->error()) == "levada: fleet \"orders\", worker x, item 2: x answers with what is no outcome"));
}

TEST_CASE("each role may do what it needs, by its certificate, and nothing else") {
  if (!has_nats_server()) return;
  const nats_server server([](const std::filesystem::path& folder, const std::string& listen) {
    const auto file = [&](const char* name, const char* text) {
      std::ofstream(folder / name) << text;
      return (folder / name).string();
    };
    return lv::server_configuration({.fleet = "orders",
                                     .driver = "driver",
                                     .worker = "edge",
                                     .authority = file("authority", authority_certificate),
                                     .certificate = file("certificate", edge_certificate),
                                     .key = file("key", edge_key),
                                     .listen = listen,
                                     .store = (folder / "store").string()});
  });
  const auto shows = [&](const char* certificate, const char* key) {
    return lv::jetstream{{server.url()}, lv::certificates{authority_certificate, certificate, key, "edge"}};
  };
  const lv::jetstream of_driver = shows(driver_certificate, driver_key), of_worker = shows(edge_certificate, edge_key);
  auto app = deploy_to(of_driver);
  const lv::fleet_worker works = lv::work<fleet_box, "orders", fleet_version>(orders(), of_worker);
  auto session = app.open<lv::dedicated>();
  for (int i = 0; i < 60; ++i) session.push(order{i, i == 50 ? act::fails : act::nothing});
  for (int i = 0; i < 60; ++i) CHECK(session.pop()->has_value() == (i != 50));
  {
    auto named = lv::open_named<lv::dedicated>(app, "camera 1");
    named.push(order{0});
    CHECK(named.pop()->value() == 0);
    named.acknowledge();
  }
  CHECK(lv::open_named(app, "camera 1").next_item() == 1);

  // Without a certificate, by one of another authority, and by a worker's what only a driver may.
  for (const lv::jetstream& stranger : {shows("", ""), shows(stranger_certificate, stranger_key)})
    CHECK(refusal([&] { static_cast<void>(deploy_to(stranger)); }).find("has no server") != std::string::npos);
  const lv::detail::nats_connection by("a test", of_worker, "worker");
  const lv::detail::nats_connection as_driver("a test", of_driver, "driver");
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = "levada-orders-items";
  jsOptions soon;
  jsOptions_Init(&soon);
  soon.Wait = 200;
  CHECK(js_AddStream(nullptr, by.stored(), &config, &soon, nullptr) != NATS_OK);
  CHECK(js_DeleteStream(by.stored(), "levada-orders-items", &soon, nullptr) != NATS_OK);
  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.MaxWait = 200;
  CHECK(js_Publish(nullptr, by.stored(), "levada.orders.items.0", "x", 1, &options, nullptr) != NATS_OK);
  CHECK(js_Publish(nullptr, as_driver.stored(), "levada.orders.outcomes.0", "x", 1, &options, nullptr) != NATS_OK);
  CHECK(js_Publish(nullptr, as_driver.stored(), "levada.orders.items.0", "x", 1, &options, nullptr) == NATS_OK);
  session.push(order{7});
  CHECK(session.pop()->value() == 14);
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::server_configuration({.fleet = "orders", .driver = "\"", .worker = ""})),
                       "levada: server_configuration: `\"` has a character that a configuration cannot", lv::error);
}

TEST_CASE("a worker that is killed delays its items, and loses none") {
  if (!has_nats_server()) return;
  const nats_server server;
  process first = start_worker(server.url());
  std::optional<process> second;
  const tally came = bring(
      server.url(), 300,
      [](int i) {
        return order{i, act::sleeps};
      },
      [&](const tally& t) {
        if (t.delivered != 50) return;
        second.emplace(start_worker(server.url()));
        first.kill();
      });
  CHECK(came.delivered == 300);
}

}  // namespace fleet_fleet
