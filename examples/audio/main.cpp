// SPDX-License-Identifier: Apache-2.0
// Speech found in a recording: chunks of 480 samples become windows of 400 every 160, their spectra log-mel features,
// and what is louder than the noise before it, speech. Chunks go in as they would come from a microphone; windows come
// out at another rate, each with the bands that a recogniser would take, and with what a gru (of random weights: nobody
// trained it) remembers of all windows up to this one.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace lv = levada;

namespace {

constexpr double rate = 16'000;
constexpr std::size_t chunk_size = 480, window_size = 400, step = 160, bands = 40, units = 32;

using samples = lv::tensor<std::int16_t, chunk_size>;
using features = lv::tensor<float, bands>;
using memory = lv::tensor<float, units>;

/// Of a gru called "gru".
lv::parameter_map random_weights() {
  lv::parameter_map map;
  std::mt19937 random(11);
  std::uniform_real_distribution<float> number(-0.15f, 0.15f);
  lv::tensor<float, 3 * units, bands> weight;
  lv::tensor<float, 3 * units, units> recurrence;
  lv::tensor<float, 6 * units> bias;
  for (float& w : weight) w = 0.2f * number(random);  // features are several units large
  for (float& w : recurrence) w = number(random);
  for (float& w : bias) w = number(random);
  map.set("gru.weight", weight);
  map.set("gru.recurrence", recurrence);
  map.set("gru.bias", bias);
  return map;
}

/// Chunks of a file of 16-bit samples; the last one ends in silence.
class recording {
 public:
  explicit recording(const std::string& path) : file_(path, std::ios::binary) {}
  bool is_open() const { return file_.is_open(); }

  std::optional<samples> operator()() {
    samples chunk{};
    file_.read(reinterpret_cast<char*>(chunk.data()), sizeof(std::int16_t) * chunk_size);
    if (file_.gcount() == 0) return std::nullopt;
    return chunk;
  }

 private:
  std::ifstream file_;
};

/// What is known of a window.
struct frame {
  features bands;
  memory remembered;
  float loudness = 0;  ///< the mean of its bands, natural logarithm
  float noise = 0;     ///< what it is without speech
  bool speech = false;
};

/// Follows the noise: fast down, slowly up; speech is louder by a margin, and lasts a little longer.
class detector {
 public:
  explicit detector(float margin) : margin_(margin) {}

  frame operator()(const features& f, const memory& m) {
    float loudness = 0;
    for (const float band : f) loudness += band / static_cast<float>(bands);
    noise_ = frames_++ == 0 ? loudness : noise_ + (loudness - noise_) * (loudness < noise_ ? 0.2f : 0.002f);
    if (loudness > noise_ + margin_)
      holds_ = 12;
    else if (holds_ > 0)
      --holds_;
    return {f, m, loudness, noise_, holds_ > 0};
  }

 private:
  float margin_;
  float noise_ = 0;
  int holds_ = 0;
  std::size_t frames_ = 0;
};

double seconds(std::size_t window) { return static_cast<double>(window * step) / rate; }

}  // namespace

int main(int argc, char** argv) {
  std::string path = "/usr/share/pocketsphinx/test/data/goforward.raw";
  float margin = 2.0f;
  CLI::App arguments("Finds speech in a recording of 16 kHz and prints its features");
  arguments.add_option("recording", path, "16-bit samples without a header")->capture_default_str();
  arguments.add_option("--margin", margin, "how much louder speech is, natural logarithm")->capture_default_str();
  CLI11_PARSE(arguments, argc, argv);

  recording file(path);
  if (!file.is_open()) {
    std::fprintf(stderr, "%s: no such recording; Debian's pocketsphinx-testdata has some\n", path.c_str());
    return 77;
  }

  const lv::parameter_map weights = random_weights();
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::source<"recording">(std::move(file)) |  //
      lv::window<window_size, step> | lv::stage<"scale">(+[](const lv::tensor<std::int16_t, window_size>& w) {
        lv::tensor<float, window_size> scaled;
        for (std::size_t t = 0; t < window_size; ++t) scaled[t] = static_cast<float>(w[t]) / 32'768.0f;
        return scaled;
      }) |
      lv::signal::taper<lv::window_function::hamming, lv::window_ends::symmetric> | lv::signal::power_spectrum<512> |
      lv::signal::mel<bands>({.sample_rate = rate, .low = 80, .high = 7'600}) |
      lv::transform<"log">([](auto power) { return log(max(power, 1e-10f)); }) |
      lv::fork(lv::identity, lv::feedback<"memory">(lv::nn::gru<"gru", units>(weights), memory{})) |
      lv::join<"detector">(detector(margin)));
  static_assert(decltype(app)::plan.repetitions == std::array<std::size_t, 2>{1, 3}, "three windows a chunk");

  std::size_t window = 0, spoken = 0, began = 0;
  bool inside = false, remembers = true;
  for (auto&& r : app.stream()) {
    const frame& f = r.value();
    if (f.speech && !inside) {
      began = window;
      std::printf("%6.2f s: speech begins; bands 0, 10, 20, 30: %.2f %.2f %.2f %.2f; remembered: %.3f %.3f %.3f\n",
                  seconds(window), f.bands[0], f.bands[10], f.bands[20], f.bands[30], f.remembered[0], f.remembered[1],
                  f.remembered[2]);
    }
    if (!f.speech && inside) std::printf("%6.2f s: and ends after %.2f s\n", seconds(window), seconds(window - began));
    for (const float m : f.remembered) remembers = remembers && std::abs(m) <= 1 && m != 0;
    inside = f.speech;
    spoken += f.speech ? 1 : 0;
    ++window;
  }
  std::printf("%zu windows, %.2f s, of which %.2f s are speech\n", window, seconds(window), seconds(spoken));
  return spoken > 0 && spoken < window && remembers ? 0 : 1;
}
