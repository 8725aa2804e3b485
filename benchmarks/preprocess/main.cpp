// SPDX-License-Identifier: Apache-2.0
// A camera's frame as a network takes it: NV12 of 1920 x 1080 to normalised float planes of 224 x 224 and of 640 x 640,
// by levada's pipeline, OpenCV and libyuv, one thread. Names are preprocess/<contender>/<size>; the time is that of the
// thread.
//
// All sample at the centres of pixels, bilinear. Before anything is timed levada is within one level of 255 of its
// reference, which makes colours of all pixels, rounds them to bytes, resizes and rounds again. Who resizes the planes
// first rounds Y', Cb and Cr instead and takes chroma from between two samples where `to_rgb` repeats it: peers have to
// be within `most_levels` everywhere and within `mean_levels` in the mean, on a frame without colours that are cut off.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <levada/backend/reference.hpp>
#include <levada/levada.hpp>

#include "../../examples/common/run.hpp"
#include "../common/interleaved.hpp"
#include "../common/progress.hpp"
#include "frame.hpp"
#include "peers.hpp"

namespace {

namespace lv = levada;
using namespace preprocess;

constexpr double most_levels = 10, mean_levels = 3;

template <std::size_t Height, std::size_t Width>
auto pipeline() {
  return lv::input<preprocess::view> | lv::image::to_rgb<> |
         lv::image::resize<Height, Width, lv::resize_mode::bilinear, lv::layout::hwc> | lv::image::to_chw |
         lv::image::normalize(mean, deviation, 1 / 255.0f);
}

const frame& the_frame() {
  static const frame only;
  return only;
}

/// Throws where a result is not what was expected; differences in levels of 255.
void check(const std::string& who, const float* expected, const float* computed, std::size_t plane, double most,
           double in_the_mean) {
  double largest = 0, sum = 0;
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = c * plane; i < (c + 1) * plane; ++i) {
      const double levels = std::abs(double{expected[i]} - double{computed[i]}) * 255 * double{deviation[c]};
      largest = std::max(largest, levels), sum += levels;
    }
  const double average = sum / (3 * static_cast<double>(plane));
  std::printf("%s: at most %.2f levels from levada's reference, %.3f in the mean\n", who.c_str(), largest, average);
  if (!(largest <= most && average <= in_the_mean)) throw lv::error(who + " gives something else");
}

class contest {
 public:
  template <std::size_t Height, std::size_t Width>
  void add_size() {
    using planes = lv::tensor<float, 3, Height, Width>;
    const std::string size = std::to_string(Height) + "x" + std::to_string(Width);
    sizes_.push_back(size);
    const auto expected = std::make_shared<planes>();
    lv::deploy<lv::target<lv::cpu<1>>, lv::backends<lv::reference>, lv::slots<1>>(pipeline<Height, Width>())(
        the_frame().view(), *expected);
    const auto add = [&](const std::string& contender, double most, double in_the_mean, auto run) {
      const auto out = std::make_shared<planes>();
      run(out.get());
      const std::string name = "preprocess/" + contender + "/" + size;
      check(name, expected->data(), out->data(), Height * Width, most, in_the_mean);
      const auto measure = [out, run, name](benchmark::State& state) mutable {
        progress::show(name);
        for (auto _ : state) {
          run(out.get());
          benchmark::DoNotOptimize(out->data());
          benchmark::ClobberMemory();
        }
        state.SetItemsProcessed(state.iterations());
      };
      benchmark::RegisterBenchmark(name.c_str(), measure)->Unit(benchmark::kMicrosecond);
      if (std::find(contenders_.begin(), contenders_.end(), contender) == contenders_.end())
        contenders_.push_back(contender);
    };
    const auto app = std::make_shared<decltype(deployed<Height, Width>())>(deployed<Height, Width>());
    add("levada", 1.01, 0.01, [app](planes* out) { (*app)(the_frame().view(), *out); });
    const auto add_peer = [&](const std::string& contender, auto peer) {
      add(contender, most_levels, mean_levels, [peer](planes* out) { (*peer)(the_frame(), out->data()); });
    };
#if LEVADA_HAS_OPENCV
    add_peer("opencv_convert_first", std::make_shared<opencv_convert_first<Height, Width>>());
    add_peer("opencv_resize_first", std::make_shared<opencv_resize_first<Height, Width>>());
#endif
#if LEVADA_HAS_LIBYUV
    add_peer("libyuv", std::make_shared<libyuv_resize_first<Height, Width, 3>>());
    add_peer("libyuv_four_bytes", std::make_shared<libyuv_resize_first<Height, Width, 4>>());
#endif
  }

  void print(const interleaved::medians& measured) const {
    for (const std::string& size : sizes_) {
      std::printf("\n%-24s %10s %22s\n", size.c_str(), "us", "levada's time of it");
      const double ours = measured.seconds("preprocess/levada/" + size);
      double best = 0;
      for (const std::string& contender : contenders_) {
        const double theirs = measured.seconds("preprocess/" + contender + "/" + size);
        std::printf("%-24s %10.1f %22.2f\n", contender.c_str(), theirs * 1e6, theirs == 0 ? 0 : ours / theirs);
        if (contender != "levada" && theirs != 0 && (best == 0 || theirs < best)) best = theirs;
      }
      if (best != 0) std::printf("of the best peer %30.2f\n", ours / best);
    }
  }

 private:
  template <std::size_t Height, std::size_t Width>
  static auto deployed() {
    return lv::deploy<lv::target<lv::cpu<1>>, lv::slots<1>>(pipeline<Height, Width>());
  }

  std::vector<std::string> sizes_, contenders_;
};

int compare(std::vector<char*> arguments) {
  if (!interleaved::initialize(std::move(arguments), "0.05")) return 1;
#if !LEVADA_HAS_OPENCV
  std::puts("Without OpenCV (Debian: libopencv-imgproc-dev).");
#endif
#if !LEVADA_HAS_LIBYUV
  std::puts("Without libyuv (Debian: libyuv-dev).");
#endif
  contest all;
  all.add_size<224, 224>();
  all.add_size<640, 640>();
  interleaved::medians reporter;
  if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0) return 1;
  all.print(reporter);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  return example::run([&] { return compare({arguments, arguments + count}); });
}
