// SPDX-License-Identifier: Apache-2.0
// A part of a pipeline on any number of worker processes, by NATS JetStream. `nats-server -js` is there; alone the
// program is the driver and a worker; as several:
//   one_thing_worker_fleet work nats://127.0.0.1:4222
//   one_thing_worker_fleet drive nats://127.0.0.1:4222
//   one_thing_worker_fleet drive_on nats://127.0.0.1:4222
// and what a server is told whose members show certificates: one_thing_worker_fleet configure

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <levada/fleet/deploy.hpp>
#include <levada/fleet/server_configuration.hpp>
#include <levada/fleet/work.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

using picture = lv::tensor<std::uint8_t, 240, 320>;
using box = lv::target<lv::cpu<2>, lv::fleet<"detect", lv::cpu<2>>>;
using program = lv::version<"1">;  // changed with the body of any stage

auto bright_ones() {
  return lv::input<int> |
         lv::stage<"draw", picture>([](const int& n, picture& p) { p.fill(static_cast<std::uint8_t>(n)); }) |
         lv::on<lv::fleet<"detect">>(lv::stage<"mean">([](const picture& p) -> std::optional<double> {
           double sum = 0;
           for (const std::uint8_t x : p) sum += x;
           if (sum < 100.0 * picture::elements) return std::nullopt;
           return sum / picture::elements;
         })) |
         lv::stage<"round">([](double mean) { return static_cast<int>(mean + 0.5); });
}

lv::fleet_worker work(const lv::jetstream& from) { return lv::work<box, "detect", program>(bright_ones(), from); }

bool drive(const lv::jetstream& to) {
  auto app = lv::deploy<box, program>(bright_ones(), to);
  std::vector<int> items(200);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int>(i);
  int next = 100;
  for (auto&& r : app.stream(items))
    if (r.value() != next++) return false;
  std::printf("%d results of the fleet\n", next - 100);
  return next == 200;
}

/// Goes on where the driver before it ended, and it may be killed at any moment.
bool drive_on(const lv::jetstream& to) {
  auto app = lv::deploy<box, program>(bright_ones(), to);
  auto session = lv::open_named<lv::dedicated>(app, "film 1");
  std::jthread source([&session, next = session.next_item()] {
    for (std::uint64_t n = next; n < 200; ++n) session.push(static_cast<int>(n));
    session.close();
  });
  std::size_t results = 0;
  for (lv::item_envelope of; auto r = session.pop(of); ++results)  // of item of.sequence
    if (r->value() != static_cast<int>(of.sequence)) return false;
  std::printf("%zu results of `%s`\n", results, session.name().c_str());
  return session.next_item() == 200;
}

std::string configuration() {
  return lv::server_configuration({.fleet = "detect",
                                   .driver = "driver",
                                   .worker = "worker",
                                   .authority = "/etc/nats/authority.pem",
                                   .certificate = "/etc/nats/server.pem",
                                   .key = "/etc/nats/server.key"});
}

int main(int count, char** arguments) try {
  const std::string_view what = count > 1 ? arguments[1] : "both";
  if (what == "configure") return std::printf("%s", configuration().c_str()) > 0 ? 0 : 1;
  // To other machines than this one with certificates: jetstream::security.
  const lv::jetstream servers{{count > 2 ? arguments[2] : "nats://127.0.0.1:4222"}};
  if (what == "work") {
    const lv::fleet_worker worker = work(servers);
    std::printf("%s works until a line is read\n", worker.name().c_str());
    std::getchar();
    return 0;
  }
  if (what == "drive") return drive(servers) ? 0 : 1;
  if (what == "drive_on") return drive_on(servers) ? 0 : 1;
  const lv::fleet_worker worker = work(servers);
  return drive(servers) && drive_on(servers) ? 0 : 1;
} catch (const lv::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return std::string_view(e.what()).find("has no server") == std::string_view::npos ? 1 : 77;
}
