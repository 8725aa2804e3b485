// SPDX-License-Identifier: Apache-2.0
// Speech in a recording, by Silero VAD, which CMake makes of its ONNX file: chunks of 512 samples as a microphone gives
// them -> with the end of the chunk before -> network, whose state comes back with the next chunk -> segments.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../common/recorded.hpp"
#include "../common/run.hpp"

#include <CLI/CLI.hpp>
#include <levada/interop/report.hpp>
#include <levada/run/promises.hpp>
#include <silero.onnx.hpp>

namespace {

namespace lv = levada;

using namespace lv::literals;
constexpr std::size_t rate = 16'000, chunk_size = 512, context_size = 64;
using samples = lv::tensor<std::int16_t, chunk_size>;
using window = silero::input_type;
static_assert(window::elements == context_size + chunk_size);

/// Chunks of a file of 16-bit samples; the last one ends in silence. A header of a .wav file is skipped.
class recording {
 public:
  explicit recording(const std::string& path) : file_(path, std::ios::binary) {
    if (!file_) throw example::missing_data(path + " is not there. It is in Debian's package pocketsphinx-testdata.");
    std::array<char, 44> header{};
    file_.read(header.data(), header.size());
    if (std::string_view(header.data(), 4) != "RIFF") file_.seekg(0);
  }

  std::optional<samples> operator()() {
    samples chunk{};
    file_.read(reinterpret_cast<char*>(chunk.data()), sizeof(std::int16_t) * chunk_size);
    return file_.gcount() == 0 ? std::nullopt : std::optional(chunk);
  }

 private:
  std::ifstream file_;
};

/// A chunk as numbers from -1 to 1, behind the last samples of the one before.
struct with_context {
  std::array<float, context_size> before{};

  void operator()(const samples& chunk, window& out) {
    std::copy(before.begin(), before.end(), out.begin());
    std::transform(chunk.begin(), chunk.end(), out.begin() + context_size,
                   [](std::int16_t sample) { return static_cast<float>(sample) / 32768.0f; });
    std::copy(out.end() - context_size, out.end(), before.begin());
  }
};

/// Where speech is: it begins above one probability and ends below a lower one.
class segments {
 public:
  void add(float probability) {
    constexpr float begins = 0.5f, ends = 0.35f;
    if (!speaks_ && probability >= begins) first_ = chunk_, speaks_ = true;
    if (speaks_ && probability < ends) end();
    ++chunk_;
  }
  void end() {
    if (!speaks_) return;
    std::printf("  speech from %.2f to %.2f s\n", seconds(first_), seconds(chunk_));
    speaks_ = false;
    ++count_;
  }
  std::size_t count() const { return count_; }
  double length() const { return seconds(chunk_); }

 private:
  static double seconds(std::size_t chunks) { return static_cast<double>(chunks * chunk_size) / rate; }

  bool speaks_ = false;
  std::size_t first_ = 0, chunk_ = 0, count_ = 0;
};

int listen(const std::string& file, const std::string& recorded, bool with_report) {
  const lv::safetensors weights{silero::weights_file};
  // clang-format off
  auto detect = lv::source<"microphone", lv::every<32_ms>>(recording(file))  // a chunk
      | lv::stage<"context", window>(with_context{})
      | silero::graph(weights);
  // clang-format on
  // Of costs that are estimated: `profile` measures them on the machine that listens.
  auto app = lv::deploy<lv::target<lv::cpu<1>>, lv::budget<lv::latency<10_ms>>, lv::estimates_count>(std::move(detect));
  if (with_report) std::printf("%s\n", lv::report(app).c_str());

  std::printf("%s:\n", file.c_str());
  segments found;
  std::vector<float> probabilities;
  for (auto&& result : app.stream()) {
    const float probability = result.value()[0];
    found.add(probability);
    probabilities.push_back(probability);
  }
  found.end();
  std::printf("%zu segments in %.2f s\n", found.count(), found.length());
  if (recorded.empty()) return 0;
  example::recorded_outputs same(recorded);
  same.check("output", probabilities);
  return same.report() && found.count() > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string file = "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0870.wav",
              recorded;
  bool with_report = false;
  CLI::App arguments("Finds speech in a recording of 16-bit samples, 16 kHz.");
  arguments.add_option("--file", file, "A .wav file, or samples alone")->capture_default_str();
  arguments.add_option("--recorded", recorded, "Outputs of ONNX Runtime for that file, to compare with");
  arguments.add_flag("--report", with_report, "Shows the plan");
  CLI11_PARSE(arguments, argc, argv);
  return example::run([&] { return listen(file, recorded, with_report); });
}
