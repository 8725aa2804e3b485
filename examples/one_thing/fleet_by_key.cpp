// SPDX-License-Identifier: Apache-2.0
// A stage with a state for each key on worker processes, by NATS JetStream: what a worker knew of a camera, the next
// one knows. `nats-server -js` is there; alone the program is the driver and two workers, one of which leaves; as
// several:
//   one_thing_fleet_by_key work nats://127.0.0.1:4222
//   one_thing_fleet_by_key drive nats://127.0.0.1:4222

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include <levada/fleet/deploy.hpp>
#include <levada/fleet/work.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

struct sight {
  int camera = 0;
  float at = 0;
};
struct track {
  int camera = 0, seen = 0;
  float at = 0;  ///< smoothed
};

/// What is known of one camera. It is plain; another would have `save` and `load`.
struct tracker {
  int seen = 0;
  float at = 0;

  track operator()(const sight& s) {
    at = seen == 0 ? s.at : 0.75f * at + 0.25f * s.at;
    return {s.camera, ++seen, at};
  }
};

using box = lv::target<lv::cpu<1>, lv::fleet<"track", lv::cpu<1>>>;
using program = lv::version<"1">;  // changed with the body of any stage

auto tracks() {
  return lv::input<sight> |
         lv::on<lv::fleet<"track">, lv::by<&sight::camera>, lv::partitions<16>>(lv::stage<"track">(tracker{}));
}

lv::fleet_worker work(const lv::jetstream& from) { return lv::work<box, "track", program>(tracks(), from); }

/// The numbers that each camera's tracks have go on where they were, of this session and of those before it.
template <class Meanwhile>
bool drive(const lv::jetstream& to, Meanwhile meanwhile) {
  constexpr int cameras = 5, rounds = 200;
  auto app = lv::deploy<box, program>(tracks(), to);
  auto session = app.open<lv::dedicated>();
  int seen[cameras] = {};
  bool is_right = true;
  for (int round = 0; round < rounds; ++round) {
    if (round == rounds / 2) meanwhile();
    for (int c = 0; c < cameras; ++c) session.push(sight{c, static_cast<float>(round)});
    for (int c = 0; c < cameras; ++c) {
      const track t = session.pop()->value();
      is_right = is_right && t.camera == c && (round == 0 || t.seen == seen[c] + 1);
      seen[c] = t.seen;
    }
  }
  std::printf("%d cameras, each seen %d times so far\n", cameras, seen[0]);
  return is_right;
}

int main(int count, char** arguments) try {
  const std::string_view what = count > 1 ? arguments[1] : "both";
  const lv::jetstream servers{{count > 2 ? arguments[2] : "nats://127.0.0.1:4222"}};
  if (what == "work") {
    const lv::fleet_worker worker = work(servers);
    std::printf("%s works until a line is read\n", worker.name().c_str());
    std::getchar();
    return 0;
  }
  if (what == "drive") return drive(servers, [] {}) ? 0 : 1;
  std::optional<lv::fleet_worker> first(work(servers));
  const lv::fleet_worker second = work(servers);
  return drive(servers, [&] { first.reset(); }) ? 0 : 1;
} catch (const lv::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return std::string_view(e.what()).find("has no server") == std::string_view::npos ? 1 : 77;
}
