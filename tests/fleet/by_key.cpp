// SPDX-License-Identifier: Apache-2.0
// A stage with a state by key on a fleet: exact counts, whoever of the workers has a partition.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <levada/fleet/detail/ordered_reader.hpp>
#include <levada/fleet/server_configuration.hpp>
#include <levada/interop/report.hpp>

#include "fleet/counters.hpp"
#include "fleet/kept_lines.hpp"
#include "fleet/nats_server.hpp"
#include "remote/certificates.hpp"
#include "run/progress.hpp"

namespace fleet_by_key {

using namespace levada::test;
using namespace std::chrono_literals;

std::string refusal(const auto& call) {
  try {
    call();
  } catch (const levada::remote_error& e) {
    return e.what();
  }
  return {};
}
auto deploy_counters(const levada::jetstream& to) {
  return levada::deploy<counter_box, counter_version>(counters(), to);
}

TEST_CASE("a stage with a state by key counts on a fleet as it does here") {
  if (!has_nats_server()) return;
  const nats_server server;
  std::optional<levada::fleet_worker> works(work_on_counters(server.url()));
  auto app = deploy_counters({{server.url()}});
  constexpr auto plan = decltype(app)::plan;
  constexpr auto queue = levada::queues_of(plan)[0];
  static_assert(queue.of->partitions == 8 && queue.busy_threads == 8);
  const levada::detail::keyed_names names("counters", 8);
  CHECK(queue.of->streams[0].name == names.inputs_stream);
  CHECK(queue.of->streams[0].subject == names.all_inputs);
  CHECK(queue.of->streams[1].name == "levada-counters-8-chain-PARTITION");
  CHECK(queue.of->streams[1].subject == "levada.counters.8.chain.PARTITION.*");
  CHECK(queue.of->streams[2].name == names.leases_stream);
  CHECK(queue.of->streams[3].name == names.sessions_stream);
  const std::string report = levada::report(app);
  CAPTURE(report);
  CHECK(report.find(
            "counters: 8 partitions, each run by one thread at a time, and 64 slots keep up to 8 threads busy, of ") !=
        std::string::npos);
  expected_counts came;
  {
    auto session = app.open<levada::dedicated>();
    bring_frames(session, came, 3000, [](int) {});
    CHECK(came.wrong() == 0);
    CHECK(works->counts().partitions == 8);
    // A worker that ends leaves what it knows to the next.
    works.reset();
    works.emplace(work_on_counters(server.url()));
    bring_frames(session, came, 1000, [](int) {});
    CHECK(came.wrong() == 0);
    // Others that come get their share.
    const levada::fleet_worker other = work_on_counters(server.url());
    CHECK(eventually([&] { return works->counts().partitions == 4 && other.counts().partitions == 4; }));
    bring_frames(session, came, 1000, [](int) {});
    CHECK(came.wrong() == 0);
  }
  // The next session goes on with the same states.
  auto session = app.open<levada::dedicated>();
  bring_frames(session, came, 1000, [](int) {});
  CHECK(came.wrong() == 0);
}

TEST_CASE("another version of a program goes on with the states that the one before has left") {
  if (!has_nats_server()) return;
  const nats_server server;
  const levada::jetstream to{{server.url()}};
  expected_counts came;
  const auto bring_by = [&]<class Version>(Version) {
    const auto works = levada::work<counter_box, "counters", Version>(counters(), to);
    auto app = levada::deploy<counter_box, Version>(counters(), to);
    auto session = app.template open<levada::dedicated>();
    bring_frames(session, came, 500, [](int) {});
  };
  bring_by(counter_version{});
  bring_by(levada::version<"2">{});
  bring_by(counter_version{});
  CHECK(came.wrong() == 0);
}

TEST_CASE("partitions of a worker that is killed go on with another where they were") {
  if (!has_nats_server()) return;
  const nats_server server;
  process first = counting.start(server.url()), second = counting.start(server.url());
  auto app = deploy_counters({{server.url()}});
  auto session = app.open<levada::dedicated>();
  expected_counts came;
  const double longest = bring_frames(session, came, 2000, [&](int i) {
    if (i == 1000) first.kill();
  });
  CHECK(came.wrong() == 0);
  MESSAGE("the longest wait for a result: " << longest << " s");
}

TEST_CASE("a worker whose chain somebody has broken takes its partitions again, and goes on where they were") {
  if (!has_nats_server()) return;
  const nats_server server;
  const levada::jetstream to{{server.url()}};
  const levada::fleet_worker works = work_on_counters(server.url());
  auto app = deploy_counters(to);
  auto session = app.open<levada::dedicated>();
  const levada::detail::nats_connection by("a test", to, "test");
  const levada::detail::keyed_names names("counters", 8);
  expected_counts came;
  int marks = 0;
  bring_frames(session, came, 4000, [&](int i) {
    if (i % 500 != 250) return;
    for (std::size_t p = 0; p < 8; ++p)
      levada::detail::publish_mark(by, names, p, 0, "nobody", "mark." + std::to_string(++marks), {});
  });
  CHECK(came.wrong() == 0);
  CHECK(works.counts().taken > 8);
}

TEST_CASE("a reader that ends behind the begin of the next at its place takes nothing from it") {
  if (!has_nats_server()) return;
  const nats_server server;
  const levada::jetstream to{{server.url()}};
  const levada::fleet_worker works = work_on_counters(server.url());
  const auto app = deploy_counters(to);  // it makes the streams
  const levada::detail::nats_connection by("a test", to, "test");
  const levada::detail::keyed_names names("counters", 8);
  struct counted final : levada::detail::ordered_events {
    std::atomic<int> marks{0};
    void read(levada::detail::nats_message, std::uint64_t) noexcept override { ++marks; }
  } unheard, heard;
  levada::detail::ordered_readers places(by, 8);
  const auto begin = [&](counted& events) {
    return std::make_unique<levada::detail::ordered_reader>(places, 0, names.chain_stream(0), names.all_of_chain(0), 1,
                                                            events);
  };
  auto first = begin(unheard);
  const auto next = begin(heard);
  first.reset();
  levada::detail::publish_mark(by, names, 0, 0, "nobody", "mark", {});
  CHECK(eventually([&] { return heard.marks != 0; }));
}

TEST_CASE("a reader of all that a stream has asks once more for a number that is not there, and goes on") {
  if (!has_nats_server()) return;
  const nats_server server;
  const levada::jetstream to{{server.url()}};
  const auto app = deploy_counters(to);
  const levada::detail::nats_connection by("a test", to, "test");
  const levada::detail::keyed_names names("counters", 8);
  for (const char* id : {"1", "2", "3", "4", "5"}) levada::detail::publish_mark(by, names, 0, 0, "nobody", id, {});
  for (const std::uint64_t gone : {2u, 4u})
    by.check(js_DeleteMsg(by.stored(), names.chain_stream(0).c_str(), gone, nullptr, nullptr), "delete");
  struct sum final : levada::detail::ordered_events {
    std::atomic<std::uint64_t> digits{0};
    void read(levada::detail::nats_message, std::uint64_t sequence) noexcept override {
      digits = 10 * digits + sequence;
    }
  } came;
  levada::detail::ordered_readers places(by, 8);
  using levada::detail::ordered_reader;
  const ordered_reader reads(places, 0, names.chain_stream(0), names.all_of_chain(0), 1, came,
                             ordered_reader::share::all);
  CHECK(eventually([&] { return came.digits >= 135; }));
  CHECK(came.digits == 135);
}

TEST_CASE("with a state by key each role may do what it needs, and workers make no stream") {
  if (!has_nats_server()) return;
  const nats_server server([](const std::filesystem::path& folder, const std::string& listen) {
    const auto file = [&](const char* name, const char* text) {
      std::ofstream(folder / name) << text;
      return (folder / name).string();
    };
    return levada::server_configuration({.fleet = "counters",
                                         .driver = "driver",
                                         .worker = "edge",
                                         .authority = file("authority", authority_certificate),
                                         .certificate = file("certificate", edge_certificate),
                                         .key = file("key", edge_key),
                                         .listen = listen,
                                         .store = (folder / "store").string(),
                                         .partitions = 8});
  });
  const auto shows = [&](const char* certificate, const char* key) {
    return levada::jetstream{{server.url()}, levada::certificates{authority_certificate, certificate, key, "edge"}};
  };
  const levada::jetstream of_worker = shows(edge_certificate, edge_key);
  const kept_lines lines;
  auto app = deploy_counters(shows(driver_certificate, driver_key));
  auto session = app.open<levada::dedicated>();
  expected_counts came;
  for (int i = 0; i < 2; ++i) {  // the second takes what the first has left
    const auto works = levada::work<counter_box, "counters", counter_version>(counters(), of_worker);
    bring_frames(session, came, 500, [](int) {});
  }
  CHECK(came.wrong() == 0);
  session.close();
  CHECK_FALSE(session.pop());
  { const auto gone = std::move(session); }
  CHECK(levada::open_named(app, "camera 1").next_item() == 0);
  CHECK_FALSE(lines.has("ermission"));

  const levada::detail::nats_connection by("a test", of_worker, "worker");
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = "levada-counters-8-chain-0";
  jsOptions soon;
  jsOptions_Init(&soon);
  soon.Wait = 200;
  CHECK(js_AddStream(nullptr, by.stored(), &config, &soon, nullptr) != NATS_OK);
  CHECK(js_PurgeStream(by.stored(), "levada-counters-8-chain-0", &soon, nullptr) != NATS_OK);
  CHECK(lines.has("ermission"));
}

TEST_CASE("partitions that cannot be had are one sentence") {
  if (!has_nats_server()) return;
  const nats_server server;
  levada::jetstream to{{server.url()}};
  to.lease = 300ms;
  auto app = deploy_counters(to);
  {
    const auto session = app.open();
    CHECK(refusal([&] { static_cast<void>(app.open()); }) ==
          "levada: fleet \"counters\" has a session already: its partitions have one at a time");
  }
  levada::jetstream other = to;
  other.lease = 5s;
  CHECK(refusal([&] { static_cast<void>(deploy_counters(other)); }) ==
        "levada: fleet \"counters\": the bucket levada-counters-8-leases has a lease of 300 ms, and not 5000");
  other = to;
  other.most_bytes = 30'000;
  CHECK(refusal([&] { static_cast<void>(deploy_counters(other)); }) ==
        "levada: fleet \"counters\": a message is up to 4096 bytes, and a stream holds less than 8: raise "
        "`jetstream::most_bytes`");
}

TEST_CASE("states that do not load are one sentence, and so are items that another program left") {
  if (!has_nats_server()) return;
  const nats_server server;
  levada::jetstream to{{server.url()}};
  to.lease = 300ms;
  auto app = deploy_counters(to);
  {
    auto session = app.open();
    session.push(frame_of(0));
    session.cancel();
  }
  const levada::detail::nats_connection by("a test", to, "test");
  const levada::detail::keyed_names names("counters", 8);
  levada::detail::fleet_writer writer;
  const auto save = [&](const char* state) {
    writer.begin();
    writer.add(levada::detail::frame_kind::item, 1, {});
    if (*state != '\0')
      writer.add(levada::detail::frame_kind::value, 0, std::as_bytes(std::span(std::string_view(state))));
    levada::detail::publish_stored(by, names.states(0), state,
                                   writer.end({levada::detail::fleet_message::state, 0, 0, 7, 0, 0}));
    return refusal([&] { static_cast<void>(app.open()); });
  };
  const std::string refused =
      "levada: fleet \"counters\": the state of partition 0 cannot be loaded, purge the stream "
      "levada-counters-8-chain-0 to begin without: ";
  CHECK(save("what is no state of a key and of two numbers") == refused + "levada: a state goes on behind its end");
  CHECK(save("key") == refused + "levada: a message ends before what it should hold");
  constexpr std::string_view none = "no state of a partition at all..";
  levada::detail::publish_stored(by, names.states(0), "none", std::as_bytes(std::span(none)));
  CHECK(refusal([&] { static_cast<void>(app.open()); }) == refused + "levada: a message of no known kind");
  writer.begin();
  levada::detail::publish_stored(by, names.states(0), "mark",
                                 writer.end({levada::detail::fleet_message::mark, 0, 0, 7, 0, 0}));
  CHECK(refusal([&] { static_cast<void>(app.open()); }) == refused + "levada: it is none of a worker");
  CHECK(save("") ==
        "levada: fleet \"counters\": partition 0 has items of another program: start a worker of that, and "
        "wait for it");
}

TEST_CASE("an item of one key more than a partition has fails, and those of the others do not") {
  if (!has_nats_server()) return;
  const nats_server server;
  const levada::jetstream to{{server.url()}};
  const auto two = [] {
    return levada::input<frame> |
           levada::on<levada::fleet<"counters">, levada::by<[](const frame& f) { return f.number; }>,
                      levada::partitions<1, 2>>(
               levada::stage<"count">([n = 0](const frame& f) mutable -> std::optional<int> {
                 if (f.camera == 1) return std::nullopt;
                 return ++n;
               }));
  };
  const auto works = levada::work<counter_box, "counters", counter_version>(two(), to);
  auto app = levada::deploy<counter_box, counter_version>(two(), to);
  auto session = app.open<levada::dedicated>();
  for (const frame& f : {frame{0, 7}, frame{0, 8}, frame{0, 9}, frame{1, 7}, frame{0, 7}}) session.push(f);
  CHECK(session.pop()->value() == 1);
  CHECK(session.pop()->value() == 1);
  CHECK(failure_of(session.pop()->error()) ==
        "levada: fleet \"counters\", worker " + works.name() + ", item 2: levada: a partition has 2 keys already");
  CHECK(session.pop()->value() == 2);
}

}  // namespace fleet_by_key
