// SPDX-License-Identifier: Apache-2.0
// A light wanders over the pictures of a camera that has a stuck pixel. The detector that finds it comes from a shared
// library; while pictures stream, it is replaced by a better one from another.
//
//   hot_swap LIBRARY BETTER_LIBRARY

#include <atomic>
#include <cstdio>
#include <exception>
#include <thread>

#include <levada/interop/pipeline_library.hpp>
#include <levada/run/hot_swap.hpp>

#include "detector.hpp"

namespace lv = levada;

namespace {

constexpr int frames = 10'000, swap_behind = 4'000;

int light_x(int number) { return 10 + number * 7 % 40; }
int light_y(int number) { return 10 + number * 5 % 30; }

frame camera(int number) {
  frame f{number, {}};
  for (int i = 0; i < 9; ++i) f.picture(0, light_y(number) - 1 + i / 3, light_x(number) - 1 + i % 3) = 200;
  if (number % 3 == 0) f.picture(0, 3, 5) = 255;  // the stuck pixel
  return f;
}

struct tally {
  int detected = 0, right = 0, first = -1, last = -1;
};

int run(const char* library, const char* better) {
  lv::hot_swap<detection(frame)> detectors(lv::load_pipeline<detection(frame)>(library));
  auto session = detectors.open();
  std::atomic<bool> pushing{false};
  std::thread pusher([&] {
    for (int i = 0; i < frames; ++i) {
      session.push(camera(i));
      pushing.store(true);
      pushing.notify_one();
    }
    session.close();
  });
  pushing.wait(false);

  tally of[2];
  int next = 0, out_of_order = 0;
  while (auto r = session.pop()) {
    const detection& d = r->value();
    out_of_order += d.frame != next++;
    tally& t = of[d.detector - 1];
    if (t.detected++ == 0) t.first = d.frame;
    t.last = d.frame;
    // The brightest pixel is any of the light's nine.
    const int dx = d.x - light_x(d.frame), dy = d.y - light_y(d.frame);
    t.right += dx * dx <= 1 && dy * dy <= 1;
    if (next == swap_behind) detectors.swap(lv::load_pipeline<detection(frame)>(better));
  }
  pusher.join();

  for (const tally& t : of)
    std::printf("detector %d: pictures %d to %d, right in %d of %d\n", static_cast<int>(&t - of) + 1, t.first, t.last,
                t.right, t.detected);
  const lv::item_counts c = session.counts();
  std::printf("pushed %ld, delivered %ld, in flight %ld; %d out of order\n", static_cast<long>(c.pushed),
              static_cast<long>(c.delivered), static_cast<long>(c.in_flight), out_of_order);
  const bool all = c.pushed == frames && c.delivered == frames && out_of_order == 0 && next == frames;
  const bool swapped = of[0].last + 1 == of[1].first && of[0].right < of[0].detected && of[1].right == of[1].detected;
  return all && swapped ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "hot_swap LIBRARY BETTER_LIBRARY\n");
    return 2;
  }
  try {
    return run(arguments[1], arguments[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
