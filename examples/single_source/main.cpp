// SPDX-License-Identifier: Apache-2.0
// One source, two machines: an unsharp mask, written once as a grid kernel, runs on the CPU's vectors and on a Vulkan
// device. Both pictures are written as PNGs and compared byte by byte.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "../common/png.hpp"
#include "../common/run.hpp"

#include <CLI/CLI.hpp>
#include <levada/backend/simd/kernel_stage.hpp>
#include <levada/backend/spirv.hpp>
#include <levada/levada.hpp>

namespace {

namespace lv = levada;

constexpr std::size_t height = 240, width = 320;
using picture = lv::tensor<std::uint8_t, height, width, 3>;
using grey = lv::tensor<std::uint8_t, height, width>;

/// What a pixel differs from the mean of its neighbours, added to it: edges become clearer.
auto sharpen(float amount) {
  return lv::kernel_stage(lv::grid_kernel<"sharpen", grey, grey>(
      lv::grid<width, height>{}, [amount = lv::uniform{amount}](auto g, auto in, auto out) {
        const auto x = g.x();
        const auto y = g.y();
        auto sum = g.value(0.0f);
        for (int dy = -2; dy <= 2; ++dy)
          for (int dx = -2; dx <= 2; ++dx) sum += to_float(in.padded_with(in(y, x), y + dy, x + dx));
        const auto here = to_float(in(y, x));
        const auto sharpened = here + (here - sum * (1.0f / 25)) * amount;
        out(y, x) = to_int(clamp(sharpened, 0.0f, 255.0f) + 0.5f);
      }));
}

/// Rings and a slope, blurred at their edges.
std::unique_ptr<grey> drawing() {
  auto made = std::make_unique<grey>();
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      const int dx = static_cast<int>(x) - 160, dy = static_cast<int>(y) - 120;
      const int ring = (dx * dx + dy * dy) / 160 % 40;
      (*made)(y, x) = static_cast<std::uint8_t>((ring < 20 ? ring : 40 - ring) * 6 + static_cast<int>(x) / 4);
    }
  return made;
}

template <class App>
std::unique_ptr<grey> run(const App& app, const grey& from) {
  auto made = std::make_unique<grey>();
  for (const auto& result : app.stream(std::span(&from, 1))) *made = result.value();
  return made;
}

void save(const std::string& path, const grey& from) {
  auto rgb = std::make_unique<picture>();
  for (std::size_t i = 0; i < grey::elements; ++i)
    for (std::size_t c = 0; c < 3; ++c) (*rgb)[3 * i + c] = from[i];
  example::write_png(path, *rgb);
}

int compare(const std::string& folder, float amount) {
  const auto stage = sharpen(amount);
  const auto on_cpu = lv::deploy<lv::target<lv::cpu<1>>, lv::slots<2>>(lv::input<grey> | stage);
  const auto original = drawing(), by_cpu = run(on_cpu, *original);

  std::unique_ptr<grey> by_gpu;
  try {
    const auto on_gpu =
        lv::deploy<lv::target<lv::cpu<1>, lv::vulkan<0>>, lv::slots<2>>(lv::input<grey> | lv::on<lv::vulkan<0>>(stage));
    by_gpu = run(on_gpu, *original);
  } catch (const lv::device_error& e) {
    throw example::missing_data(e.what());
  }

  std::size_t unlike = 0, changed = 0;
  for (std::size_t i = 0; i < grey::elements; ++i) {
    unlike += (*by_cpu)[i] != (*by_gpu)[i];
    changed += (*by_cpu)[i] != (*original)[i];
  }
  save(folder + "/original.png", *original);
  save(folder + "/sharpened_by_cpu.png", *by_cpu);
  save(folder + "/sharpened_by_gpu.png", *by_gpu);
  std::printf("%zu pixels, %zu sharpened, %zu of them unlike on the GPU; PNGs in %s\n", grey::elements, changed, unlike,
              folder.c_str());
  return unlike == 0 && changed > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder = ".";
  float amount = 1.5f;
  CLI::App arguments("Sharpens a picture on the CPU and on a Vulkan device, from one source.");
  arguments.add_option("--folder", folder, "Where the PNGs are written")->check(CLI::ExistingDirectory);
  arguments.add_option("--amount", amount, "How much");
  CLI11_PARSE(arguments, argc, argv);
  return example::run([&] { return compare(folder, amount); });
}
