// SPDX-License-Identifier: Apache-2.0
// A photograph as a network wants it: bytes H, W, C -> resized -> float C, H, W -> normalised; and back to bytes, as a
// PNG to look at. The numbers are those that networks trained on ImageNet expect.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "../common/png.hpp"
#include "../common/run.hpp"

#include <CLI/CLI.hpp>
#include <levada/interop/report.hpp>
#include <levada/levada.hpp>

namespace {

namespace lv = levada;

using photograph = lv::tensor<std::uint8_t, 512, 512, 3>;
using network_input = lv::tensor<float, 3, 224, 224>;
using thumbnail = lv::tensor<std::uint8_t, 224, 224, 3>;

constexpr std::array mean{0.485f, 0.456f, 0.406f}, deviation{0.229f, 0.224f, 0.225f};

/// What the network would see, for human eyes.
void to_picture(const network_input& planes, thumbnail& picture) {
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t y = 0; y < 224; ++y)
      for (std::size_t x = 0; x < 224; ++x) {
        const float grey = (planes(c, y, x) * deviation[c] + mean[c]) * 255.0f;
        picture(y, x, c) = static_cast<std::uint8_t>(std::clamp(std::lround(grey), 0L, 255L));
      }
}

int preprocess(const std::string& from, const std::string& to) {
  const auto photo = example::read_photograph<photograph>(from);

  // clang-format off
  const auto prepare = lv::input<photograph>
      | lv::image::resize<224, 224, lv::resize_mode::bilinear, lv::layout::hwc>
      | lv::image::to_chw
      | lv::image::normalize(mean, deviation, 1 / 255.0f)
      | lv::stage<"to_picture", thumbnail>(to_picture);
  // clang-format on
  auto app = lv::deploy<lv::target<lv::cpu<1>>, lv::slots<2>>(prepare);  // pictures are large: two in flight at most

  const auto small = std::make_unique<thumbnail>(app(*photo));
  example::write_png(to, *small);
  std::printf("%s\n%s: 512 x 512 -> 224 x 224, written to %s\n", lv::report(app).c_str(), from.c_str(), to.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string picture = "/usr/lib/python3/dist-packages/skimage/data/astronaut.png", output = "astronaut_224.png";
  CLI::App arguments("Prepares a photograph for a network.");
  arguments.add_option("--picture", picture, "A PNG of 512 x 512 pixels")->capture_default_str();
  arguments.add_option("--output", output, "Where the small picture goes")->capture_default_str();
  CLI11_PARSE(arguments, argc, argv);
  return example::run([&] { return preprocess(picture, output); });
}
