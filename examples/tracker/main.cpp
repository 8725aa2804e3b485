// SPDX-License-Identifier: Apache-2.0
// The program of docs/start.md: a camera, a network that finds a bright spot, and a tracker that follows it.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <thread>

#include <levada/graph/parameter_map.hpp>
#include <levada/interop/html_report.hpp>
#include <levada/interop/report.hpp>
#include <levada/levada.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr std::size_t height = 48, width = 64;
using frame = lv::tensor<std::uint8_t, 1, height, width>;  // planes, rows, columns
using heat = lv::tensor<float, 1, height, width>;          // how likely an object is at each pixel

struct spot {
  float row = 0, column = 0;
};

/// The likeliest pixel.
spot locate(const heat& map) {
  const auto best = static_cast<std::size_t>(std::max_element(map.begin(), map.end()) - map.begin());
  return {static_cast<float>(best / width), static_cast<float>(best % width)};
}

/// Follows the spot and forgives single outliers. It has a state, so it sees the frames one by one, in their order.
struct tracker {
  spot at{height / 2.0f, width / 2.0f};

  spot operator()(const spot& found) {
    at.row += 0.5f * (found.row - at.row);
    at.column += 0.5f * (found.column - at.column);
    return at;
  }
};

/// Stages in the order in which a frame goes through them. Weights stand for those of a trained network.
auto watch(const lv::parameter_map& weights) {
  // clang-format off
  return lv::input<frame>
      | lv::transform<"normalise">([](auto pixel) { return to_float(pixel) / 255.0f; })
      | lv::nn::conv2d<"detect", 1, lv::size<5, 5>, lv::padding<2>>(weights) | lv::nn::relu
      | lv::stage<"locate">(locate)
      | lv::stage<"track">(tracker{});
  // clang-format on
}

namespace {

/// A camera for want of one: a bright square that moves to the right.
frame shot(int number) {
  frame picture{};
  const auto left = static_cast<std::size_t>(number % static_cast<int>(width - 6));
  for (std::size_t row = 20; row < 25; ++row)
    for (std::size_t column = left; column < left + 5; ++column) picture(0, row, column) = 255;
  return picture;
}

}  // namespace

int main() {
  lv::parameter_map weights;
  lv::tensor<float, 1, 1, 5, 5> filter;
  for (float& x : filter) x = 0.04f;
  weights.set("detect.weight", filter);
  weights.set("detect.bias", lv::tensor<float, 1>{});

  using box = lv::target<lv::cpu<2>>;
  auto app = lv::deploy<box>(watch(weights));
  const spot first = app(shot(10));
  std::printf("%s", lv::report(app).c_str());
  if (std::abs(first.row - 23) > 1) return 1;

  auto session = app.open<lv::latest_only, lv::deadline<200_ms>>();
  session.measure();
  std::jthread camera([&] {
    for (int number = 0; number < 50; ++number) {
      session.push(shot(number), std::chrono::steady_clock::now());  // the time of capture
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    session.close();
  });
  spot last;
  while (const auto result = session.pop()) last = result->value();
  std::printf("the spot is at row %.0f, column %.0f\n", static_cast<double>(last.row),
              static_cast<double>(last.column));

  std::printf("%s", lv::report(session.statistics()).c_str());
  lv::report(app, session, "plan.html");
  const lv::item_counts counts = session.counts();
  if (counts.delivered + counts.dropped != 50) return 1;
  return counts.delivered == 0 || std::abs(last.row - 22) < 2 ? 0 : 1;  // on a busy machine all may be too old
}
