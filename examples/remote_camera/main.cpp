// SPDX-License-Identifier: Apache-2.0
// A camera whose network is on another machine: shots are made small here, the network finds faces there, and here they
// are followed from shot to shot. The camera looks at the face of a photograph, turns away, and looks at it again.
//
//   remote_camera                  starts its own node, as a process of this machine
//   remote_camera --kill           kills that in a second film, and starts it again
//   remote_camera serve ADDRESS    is a node until SIGTERM
//   remote_camera ADDRESS          has the network there

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../common/child.hpp"
#include "../common/png.hpp"
#include "../common/progress.hpp"
#include "../common/run.hpp"
#include "../face/faces.hpp"
#include "tracker.hpp"

#include <CLI/CLI.hpp>
#include <levada/interop/report.hpp>
#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/grpc.hpp>

namespace {

namespace lv = levada;

constexpr std::size_t side = 320;               // of a shot
constexpr float face_x = 225, face_y = 128.5f;  // on the photograph
using shot = lv::tensor<std::uint8_t, side, side, 3>;

using box = lv::target<lv::cpu<2>, lv::remote<"node", lv::cpu<1>>>;
using program = lv::version<"1">;

auto watch(const lv::safetensors& weights) {
  // clang-format off
  return lv::input<shot>
      | example::scaled_down()
      | lv::on<lv::remote<"node">>(face_front::graph(weights) | lv::join<"heads">(example::gather))
      | lv::stage<"faces">(example::find_faces)
      | lv::stage<"track">(example::face_tracker{});
  // clang-format on
}

struct corner {
  std::size_t row, column;
};
/// Where the camera looks: about the face, but in the middle third of its film.
corner look(int number, int shots) {
  if (3 * number / shots == 1) return {192, 10};
  const double angle = 0.2 * number;
  return {static_cast<std::size_t>(std::lround(40 + 20 * std::sin(angle))),
          static_cast<std::size_t>(std::lround(96 + 20 * std::cos(angle)))};
}
void take(const example::astronaut& of, corner from, shot& into) {
  for (std::size_t y = 0; y < side; ++y) std::copy_n(&of(from.row + y, from.column, 0), 3 * side, &into(y, 0, 0));
}

/// How the ends know each other: not at all on one machine.
struct security {
  std::string authority, certificate, key, name;

  std::shared_ptr<lv::transport> transport() const {
    if (authority.empty()) return std::make_shared<lv::grpc_transport>(lv::plain_text{});
    return std::make_shared<lv::grpc_transport>(lv::certificate_files{authority, certificate, key, name});
  }
};

int serve(const security& as, const std::string& address) {
  // Before any thread is there, so that none takes them.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM), sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const lv::safetensors weights{face_front::weights_file};
  const lv::remote_node node = lv::serve<box, "node", program>(watch(weights), {as.transport(), address});
  std::printf("listening at %s until SIGTERM\n", node.address().c_str());
  std::fflush(stdout);
  int which = 0;
  sigwait(&ends, &which);
  return 0;
}

/// This program as a node, of this machine alone.
class own_node {
 public:
  const std::string& address() const { return address_; }
  /// Kills it (-9), and returns when another one listens.
  void replace() {
    process_.kill();
    process_ = start();
  }
  bool end() { return process_.end(); }

 private:
  /// Returns when it listens.
  example::child start() const {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw lv::error("there is no pipe to be had");
    example::child made({"/proc/self/exe", "serve", address_}, ends[1]);
    ::close(ends[1]);
    char first = 0;
    const bool listens = ::read(ends[0], &first, 1) == 1;
    ::close(ends[0]);
    if (!listens) throw lv::error("the node does not listen");
    return made;
  }

  std::string address_ = "unix-abstract:levada_remote_camera_" + std::to_string(::getpid());
  example::child process_ = start();
};

/// What stands before the empty line that is behind so many parts.
std::string first_parts(const std::string& of, int parts) {
  std::size_t end = 0;
  for (; parts != 0 && end != of.npos; --parts) end = of.find("\n\n", end + 1);
  return of.substr(0, end) + '\n';
}

/// A face in a shot, by its place on the photograph.
struct sight {
  int shot = 0, track = 0;
  float x = 0, y = 0;

  bool operator==(const sight&) const = default;
};
struct film {
  std::vector<sight> sights;
  int tracks = 0, delivered = 0;
};

template <class App>
film record(App& app, const example::astronaut& of, int shots, own_node* to_kill) {
  using clock = std::chrono::steady_clock;
  auto session = app.open();
  session.measure();
  std::jthread camera([&] {
    const auto taken = std::make_unique<shot>();
    try {
      for (int i = 0; i < shots; ++i) {
        take(of, look(i, shots), *taken);
        session.push(*taken);
      }
      session.close();
    } catch (const lv::cancelled&) {  // nobody waits for its shots
    }
  });
  film result;
  try {
    example::progress bar("shots", static_cast<std::size_t>(shots));
    for (int i = 0; const auto r = session.pop(); ++i, bar.advance()) {
      if (to_kill != nullptr && i == shots / 6) {
        const auto begin = clock::now();
        to_kill->replace();
        std::printf("the node was killed behind shot %d, and another one was there %.0f ms later\n", i,
                    std::chrono::duration<double, std::milli>(clock::now() - begin).count());
      }
      if (!r->has_value()) continue;
      ++result.delivered;
      const corner at = look(i, shots);
      for (const example::face_track& t : r->value()) {
        if (t.id == 0 || t.unseen != 0) continue;
        result.tracks = std::max(result.tracks, t.id);
        result.sights.push_back({i, t.id, (t.at.low.x + t.at.high.x) / 2 * side + static_cast<float>(at.column),
                                 (t.at.low.y + t.at.high.y) / 2 * side + static_cast<float>(at.row)});
      }
    }
  } catch (...) {
    session.cancel();
    throw;
  }
  if (to_kill == nullptr) std::printf("%s\n", first_parts(lv::report(session.statistics()), 1).c_str());
  std::printf("%d of %d shots came back\n", result.delivered, shots);
  return result;
}

/// Says what became of the face. It is seen before the camera turns away and behind that, and known by its third shot.
bool show(const film& result, int shots) {
  bool is_right = result.delivered == shots && result.tracks == 2;
  for (int id = 1; id <= result.tracks; ++id) {
    int first = shots, last = 0, count = 0;
    float off = 0;
    for (const sight& s : result.sights) {
      if (s.track != id) continue;
      first = std::min(first, s.shot), last = s.shot, ++count;
      off = std::max(off, std::hypot(s.x - face_x, s.y - face_y));
    }
    std::printf("track %d: a face in %d shots, %d to %d, at most %.0f pixels from where it is\n", id, count, first,
                last, static_cast<double>(off));
    is_right = is_right && off < 20 && count == shots / 3 - 2;
  }
  return is_right;
}

/// The shortest way of a lone shot there and back, in milliseconds.
template <class App>
double lone_shot(App& app, const example::astronaut& of) {
  const auto taken = std::make_unique<shot>();
  take(of, look(0, 1), *taken);
  std::chrono::duration<double, std::milli> shortest = std::chrono::hours(1);
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    static_cast<void>(app(*taken));
    shortest = std::min<decltype(shortest)>(shortest, std::chrono::steady_clock::now() - begin);
  }
  return shortest.count();
}

int drive(const std::string& picture, const security& as, std::string address, int shots, bool kills) {
  const auto all = example::read_photograph<example::astronaut>(picture);
  std::unique_ptr<own_node> own;
  if (address.empty()) {
    own = std::make_unique<own_node>();
    address = own->address();
  }
  const lv::safetensors weights{face_front::weights_file};
  bool is_right = true;
  {
    auto app = lv::deploy<box, program, lv::slots<4>>(watch(weights), lv::endpoints<"node">{as.transport(), {address}});
    std::printf("%s\n", first_parts(lv::report(app), 2).c_str());
    std::printf("a lone shot takes %.1f ms, there and back\n\n", lone_shot(app, *all));
    const film result = record(app, *all, shots, nullptr);
    is_right = show(result, shots);
    if (kills) {
      const bool is_same = record(app, *all, shots, own.get()).sights == result.sights;
      std::printf("with a node that was killed the tracks %s\n", is_same ? "are the same" : "differ");
      is_right = is_right && is_same;
    }
  }
  if (own && !own->end()) is_right = false;
  return is_right ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  std::string picture = example::astronaut_file, to, from;
  security as;
  int shots = 60;
  bool kills = false;
  CLI::App line("Follows a face by a network on another machine.", "remote_camera");
  CLI::Option* const node = line.add_option("address", to, "of the node, where it is not this program's own");
  line.add_option("--picture", picture, "a PNG of 512 x 512 pixels")->capture_default_str();
  line.add_option("--shots", shots, "of a film, in thirds")->check(CLI::Range(12, 3000))->capture_default_str();
  line.add_flag("--kill", kills, "a second film, in which the node is killed")->excludes(node);
  CLI::Option* const authority = line.add_option("--authority", as.authority, "PEM file of who signed certificates");
  for (auto& [option, file] : {std::pair{"--certificate", &as.certificate}, {"--key", &as.key}}) {
    CLI::Option* const own = line.add_option(option, *file, "PEM file of this end's own")->needs(authority);
    authority->needs(own);
  }
  line.add_option("--name", as.name, "that the node's certificate has, where it is not its address");
  CLI::App* const serving = line.add_subcommand("serve", "Is a node until SIGTERM.")->fallthrough();
  serving->add_option("address", from, "where it listens")->required();
  CLI11_PARSE(line, count, arguments);
  return example::run(
      [&] { return serving->parsed() ? serve(as, from) : drive(picture, as, to, shots / 3 * 3, kills); });
}
