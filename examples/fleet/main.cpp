// SPDX-License-Identifier: Apache-2.0
// A film of two cameras, which look about a photograph of coins: worker processes find one of the coins in each picture
// by a network, and follow it for each camera. The program starts four workers and the server between, and kills one on
// the way. Its pictures go to others, and what it knew of a camera the next one knows.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "../common/child.hpp"
#include "../common/png.hpp"
#include "../common/progress.hpp"
#include "../common/run.hpp"

#include <CLI/CLI.hpp>
#include <levada/fleet/deploy.hpp>
#include <levada/fleet/work.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>

namespace {

namespace lv = levada;

constexpr std::size_t height = 96, width = 128;  // of a picture
constexpr std::size_t step = 4, side = 7;        // the network sees means of 4 x 4 pixels, the coin as 7 x 7 of these
constexpr int cameras = 2, coin_row = 92, coin_column = 140;  // the coin's corner on the photograph
using photograph = lv::tensor<std::uint8_t, 303, 384, 3>;
using picture = lv::tensor<std::uint8_t, 1, height, width>;
using heat = lv::tensor<float, 1, height / step - side + 1, width / step - side + 1>;

/// Which camera looks where.
struct place {
  int camera = 0, row = 0, column = 0;
};
struct view {
  place at;
  picture seen;
};
/// Where the coin is on the photograph.
struct sight {
  int camera = 0;
  float row = 0, column = 0;
};
struct track {
  int camera = 0, pictures = 0;
  float row = 0, column = 0;
};

/// What is known of the coin by one camera.
struct tracker {
  int pictures = 0;
  float row = 0, column = 0;

  track operator()(const sight& s) {
    const float weight = pictures == 0 ? 1.0f : 0.25f;
    row += weight * (s.row - row);
    column += weight * (s.column - column);
    return {s.camera, ++pictures, row, column};
  }
};

view look(const photograph& at, int camera, int number) {
  const double angle = 0.05 * number + camera;
  view v{{camera, coin_row - 32 + static_cast<int>(30 * std::sin(angle)),
          coin_column - 48 + static_cast<int>(45 * std::cos(2 * angle))},
         {}};
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x)
      v.seen(0, y, x) = at(static_cast<std::size_t>(v.at.row) + y, static_cast<std::size_t>(v.at.column) + x, 0);
  return v;
}

/// A filter that is like the coin: the network's only layer. What is bright everywhere weighs nothing.
lv::parameter_map weights_of(const photograph& all) {
  lv::tensor<float, 1, 1, side, side> filter;
  float mean = 0;
  for (std::size_t y = 0; y < side; ++y)
    for (std::size_t x = 0; x < side; ++x) {
      float& w = filter(0, 0, y, x) = 0;
      for (std::size_t i = 0; i < step * step; ++i)
        w += all(coin_row + step * y + i / step, coin_column + step * x + i % step, 0) / (255.0f * step * step);
      mean += w / (side * side);
    }
  for (float& w : filter) w -= mean;
  lv::parameter_map w;
  w.set("coin.weight", filter);
  w.set("coin.bias", lv::tensor<float, 1>{});
  return w;
}

sight locate(const place& looked, const heat& map) {
  const auto best = static_cast<int>(std::max_element(map.begin(), map.end()) - map.begin());
  constexpr int columns = heat::extents[2];
  return {looked.camera, static_cast<float>(looked.row + static_cast<int>(step) * (best / columns)),
          static_cast<float>(looked.column + static_cast<int>(step) * (best % columns))};
}

using box = lv::target<lv::cpu<2>, lv::fleet<"find", lv::cpu<1>>, lv::fleet<"follow", lv::cpu<1>>>;
using program = lv::version<"1">;

auto film(const lv::parameter_map& weights) {
  // clang-format off
  return lv::input<view>
      | lv::on<lv::fleet<"find">>(
            lv::fork(lv::stage<"place">([](const view& v) { return v.at; }),
                     lv::stage<"picture", picture>([](const view& v, picture& p) { p = v.seen; })
                         | lv::transform<"scale">([](auto pixel) { return to_float(pixel) / 255.0f; })
                         | lv::nn::avg_pool2d<step>
                         | lv::nn::conv2d<"coin", 1, lv::size<side>>(weights))
                | lv::join<"locate">(locate))
      | lv::on<lv::fleet<"follow">, lv::by<&sight::camera>, lv::partitions<4>>(lv::stage<"track">(tracker{}));
  // clang-format on
}

int work(const std::string& photo, const lv::jetstream& from) {
  const auto weights = weights_of(*example::read_photograph<photograph>(photo));
  const lv::fleet_worker finds = lv::work<box, "find", program>(film(weights), from);
  const lv::fleet_worker follows = lv::work<box, "follow", program>(film(weights), from);
  for (;;) ::pause();
}

int drive(const std::string& photo, int pictures) {
  using clock = std::chrono::steady_clock;
  const auto all = example::read_photograph<photograph>(photo);
  const example::nats_server server;
  const lv::jetstream to{{server.url()}};
  std::vector<example::child> workers;
  for (int i = 0; i < 4; ++i)
    workers.emplace_back(std::vector<std::string>{"/proc/self/exe", "--picture", photo, "--work", server.url()});

  auto app = lv::deploy<box, program>(film(weights_of(*all)), to);
  auto session = app.open<lv::dedicated>();
  std::jthread source([&] {
    for (int i = 0; i < cameras * pictures; ++i) session.push(look(*all, i % cameras, i / cameras));
    session.close();
  });
  int came = 0;
  bool is_right = true;
  auto before = clock::now();
  std::chrono::duration<double> longest{0};
  {
    example::progress bar("pictures", static_cast<std::size_t>(cameras * pictures));
    while (const auto r = session.pop()) {
      const track t = r->value();
      is_right = is_right && t.camera == came % cameras && t.pictures == came / cameras + 1 &&
                 std::abs(t.row - coin_row) < step && std::abs(t.column - coin_column) < step;
      const auto now = clock::now();
      if (came != 0) longest = std::max<std::chrono::duration<double>>(longest, now - before);
      before = now;
      if (++came == pictures) workers.front().kill();
      bar.advance();
    }
  }
  std::printf("%d pictures of %d cameras; one of 4 workers was killed, and the next result came within %.1f s\n", came,
              cameras, longest.count());
  std::printf("the coin %s\n", is_right ? "is where it was, in each of them" : "was lost");
  return is_right && came == cameras * pictures ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string photo = "/usr/lib/python3/dist-packages/skimage/data/coins.png", server;
  int pictures = 300;
  CLI::App arguments("Follows a coin through the films of two cameras, on worker processes.");
  arguments.add_option("--picture", photo, "A PNG of 384 x 303 pixels")->capture_default_str();
  arguments.add_option("--pictures", pictures, "Of each camera")->capture_default_str();
  arguments.add_option("--work", server, "Work for a driver, by the server of that address");
  CLI11_PARSE(arguments, argc, argv);
  return example::run([&] { return server.empty() ? drive(photo, pictures) : work(photo, {{server}}); });
}
