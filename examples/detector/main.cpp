// SPDX-License-Identifier: Apache-2.0
// Coins on a photograph: a backbone with two heads finds them, as many as there are, and a second network looks at each
// by itself. Where the picture lies in the network's input goes with it as side data, so that boxes find their way
// back.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "../common/png.hpp"
#include "../common/run.hpp"
#include "network.hpp"

#include <CLI/CLI.hpp>
#include <levada/interop/report.hpp>
#include <levada/levada.hpp>

namespace {

using namespace example;

constexpr std::size_t height = 303, width = 384, most_coins = 64;
using photograph = lv::tensor<std::uint8_t, height, width, 3>;
using grey = lv::tensor<float, 1, height, width>;
using close_up = lv::tensor<float, 1, 32, 32>;

/// A box in pixels of the photograph.
struct found_coin {
  float x, y, width, height;
};
using found_coins = lv::bounded<found_coin, most_coins>;

/// What is known of a coin at the end.
struct coin {
  found_coin at{};
  float relief = 0;
};
using coins = lv::bounded<coin, most_coins>;

/// The brightness, and where `letterbox` will put it.
void brightness(const photograph& in, grey& out, lv::letterbox_place& place) {
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x)
      out(0, y, x) = static_cast<float>(in(y, x, 0) + in(y, x, 1) + in(y, x, 2)) / (3 * 255);
  place = lv::letterbox_place::of(height, width, side, side);
}

/// From what the head says of each cell to boxes on the photograph.
void decode(const box_head& head, boxes& out, const lv::letterbox_place& place) {
  const float scale = static_cast<float>(step) * static_cast<float>(width) / static_cast<float>(place.width);
  for (std::size_t r = 0; r < radii.size(); ++r)
    for (std::size_t y = 0; y < cells; ++y)
      for (std::size_t x = 0; x < cells; ++x) {
        const auto in_cells = [](std::size_t pixels) { return static_cast<float>(pixels) / static_cast<float>(step); };
        const std::size_t n = (r * cells + y) * cells + x;
        out(n, 0) = (static_cast<float>(x) + head(4 * r, y, x) - in_cells(place.left)) * scale;
        out(n, 1) = (static_cast<float>(y) + head(4 * r + 1, y, x) - in_cells(place.top)) * scale;
        out(n, 2) = head(4 * r + 2, y, x) * scale;
        out(n, 3) = head(4 * r + 3, y, x) * scale;
      }
}

/// The boxes that were kept, but for those that the photograph's edge cuts.
found_coins pick(const lv::bounded<lv::selected_box, most_coins>& kept, const boxes& all) {
  const auto inside = [](float centre, float size, std::size_t end) {
    return centre - size / 2 >= 0 && centre + size / 2 <= static_cast<float>(end);
  };
  found_coins found;
  for (const lv::selected_box& k : kept) {
    const auto n = static_cast<std::size_t>(k.box);
    const found_coin c{all(n, 0), all(n, 1), all(n, 2), all(n, 3)};
    if (inside(c.x, c.width, width) && inside(c.y, c.height, height)) found.push_back(c);
  }
  return found;
}

/// What is inside a box, in another size.
void cut(const grey& from, const found_coin& at, close_up& to) {
  const auto pixel = [](float centre, float size, std::size_t i, std::size_t end) {
    const float p = centre + size * ((static_cast<float>(i) + 0.5f) / 32 - 0.5f);
    return static_cast<std::size_t>(std::clamp(p, 0.0f, static_cast<float>(end - 1)));
  };
  for (std::size_t y = 0; y < 32; ++y)
    for (std::size_t x = 0; x < 32; ++x)
      to(0, y, x) = from(0, pixel(at.y, at.height, y, height), pixel(at.x, at.width, x, width));
}

int detect(const std::string& from, const std::string& to, int expected) {
  const auto photo = read_photograph<photograph>(from);
  const lv::parameter_map w = weights();

  // clang-format off
  const auto backbone = lv::image::letterbox<side, side, lv::layout::chw>(0)
      | lv::nn::conv2d<"half", 1, lv::size<3>, lv::stride<2>, lv::padding<1>>(w) | lv::nn::relu
      | lv::nn::conv2d<"quarter", 1, lv::size<3>, lv::stride<2>, lv::padding<1>>(w) | lv::nn::relu;
  const auto score = lv::nn::conv2d<"score", radii.size(), lv::size<15>, lv::padding<7>>(w)
      | lv::nn::reshape<1, places>;
  const auto box = lv::nn::conv2d<"box", 4 * radii.size(), lv::size<1>>(w) | lv::stage<"decode", boxes>(decode);
  const auto look = lv::join<"cut", close_up>(cut)
      | lv::nn::conv2d<"edges", 4, lv::size<3>>(w) | lv::nn::relu
      | lv::nn::avg_pool2d<30> | lv::nn::flatten | lv::nn::dense<"relief", 1>(w);

  const auto find = lv::input<photograph> | lv::stage<"brightness", grey>(brightness)
      | lv::graph(lv::port<"picture", grey>,
                  lv::node<"features", "picture">(backbone),
                  lv::node<"boxes", "features">(box),
                  lv::node<"scores", "features">(score),
                  lv::node<"kept", "boxes", "scores">(
                      lv::nn::non_max_suppression<most_coins, lv::box_format::centre>(0.2f, 0.1f)),
                  lv::node<"found", "kept", "boxes">(lv::join<"pick">(pick)),
                  lv::node<"looked", "picture", "found">(lv::for_each<"each coin", most_coins>(look) | lv::collect),
                  lv::node<"coins", "found", "looked">(lv::join<"coins">(
                      [](const found_coins& found, const lv::bounded<lv::tensor<float, 1>, most_coins>& relief) {
                        coins all;
                        for (std::size_t i = 0; i < found.size(); ++i) all.push_back({found[i], relief[i](0)});
                        return all;
                      })),
                  lv::output<"coins", "coins">);
  // clang-format on
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(find);
  std::printf("%s\n", lv::report(app).c_str());

  coins all = app(*photo);
  std::sort(all.begin(), all.end(), [](const coin& a, const coin& b) { return a.relief > b.relief; });
  std::printf("%zu coins, the least worn first\n     x     y  diameter  relief\n", all.size());
  for (const coin& c : all)
    std::printf("  %4.0f  %4.0f      %4.0f  %6.4f\n", static_cast<double>(c.at.x), static_cast<double>(c.at.y),
                static_cast<double>(c.at.width), static_cast<double>(c.relief));

  for (const coin& c : all)  // a green frame around each
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < width; ++x) {
        const float dx = std::abs(static_cast<float>(x) - c.at.x), dy = std::abs(static_cast<float>(y) - c.at.y);
        if (std::abs(std::max(dx, dy) - c.at.width / 2) > 1) continue;
        (*photo)(y, x, 0) = (*photo)(y, x, 2) = 0;
        (*photo)(y, x, 1) = 255;
      }
  write_png(to, *photo);
  return expected < 0 || all.size() == static_cast<std::size_t>(expected) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string picture = "/usr/lib/python3/dist-packages/skimage/data/coins.png", output = "coins_found.png";
  CLI::App arguments("Finds the coins on a photograph.");
  arguments.add_option("--picture", picture, "A PNG of 384 x 303 pixels")->capture_default_str();
  arguments.add_option("--output", output, "Where the photograph with frames goes")->capture_default_str();
  int expected = -1;
  arguments.add_option("--expect", expected, "Fail unless there are so many");
  CLI11_PARSE(arguments, argc, argv);
  return example::run([&] { return detect(picture, output, expected); });
}
