// SPDX-License-Identifier: Apache-2.0
// Whole programs: one network and its first item, on levada with the weights as a part of the program, packed in a
// file (levada_pack) or at start (levada_unpacked), and on ONNX Runtime with the ONNX file. All have one thread and are
// begun by turns. Names are programs/<contender>/<network>.
//
// - first: from `exec` until the first result has been read.
// - resident: the most memory until then.
// - program: its file, and the one that it reads. Programs are stripped.
// - libraries: the files of all others that it has mapped, libstdc++ and libc too.
// - joules: of the whole processor until the first result, where they can be read.
//
// Both give the same outputs before anything is timed.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include <levada/core/error.hpp>

#include "../../examples/common/run.hpp"
#include "../common/interleaved.hpp"
#include "../common/progress.hpp"
#include "../common/tensors.hpp"
#include "energy.hpp"
#include "running_program.hpp"

namespace {

using programs::running_program;

/// A program, and what it took each time.
struct contender {
  std::string name, network;
  std::vector<std::string> command;  ///< the program and the file that it reads
  std::vector<double> resident = {}, joules = {};
  std::size_t libraries = 0;

  std::string row() const { return "programs/" + name + "/" + network; }
  std::size_t program() const {
    std::size_t bytes = 0;
    for (const std::string& file : command) bytes += std::filesystem::file_size(file);
    return bytes;
  }
};

double median(std::vector<double> of) {
  if (of.empty()) return 0;
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

/// Those that CMake built, each network's one behind the other.
std::vector<std::shared_ptr<contender>> contenders() {
  std::vector<std::shared_ptr<contender>> all;
  const auto add = [&](const char* name, const char* network, std::vector<std::string> command) {
    all.push_back(std::make_shared<contender>(contender{name, network, std::move(command)}));
  };
#include "programs.inc"
  return all;
}

void check(const contender& one, const contender& other) {
  progress::show("the outputs of " + one.network);
  const auto result_of = [](const contender& c) {
    running_program program(c.command);
    std::vector<float> result = program.result();
    if (program.end() != 0) throw levada::error(c.row() + " failed");
    return result;
  };
  const std::vector<float> expected = result_of(one), got = result_of(other);
  tensors::check(one.row() + " and " + other.name, 1e-4f, {expected}, {got});
}

void measure(benchmark::State& state, contender& c) {
  progress::show(c.row());
  for (auto _ : state) {
    const auto before = programs::joules();
    const auto start = std::chrono::steady_clock::now();
    running_program program(c.command);
    benchmark::DoNotOptimize(program.result());
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const auto after = programs::joules();
    state.SetIterationTime(taken.count());
    if (before && after && *after >= *before) c.joules.push_back(*after - *before);
    c.resident.push_back(static_cast<double>(program.resident()));
    c.libraries = program.libraries();
  }
  state.SetItemsProcessed(state.iterations());
}

void print(const interleaved::medians& times, const std::vector<std::shared_ptr<contender>>& all) {
  std::printf("\n%-18s %-12s %12s %12s %12s %12s %12s\n", "network", "contender", "first, ms", "resident, MB",
              "program, MB", "libraries, MB", "joules");
  const contender* ours = nullptr;
  double our_time = 0;
  for (const auto& c : all) {
    const double taken = times.seconds(c->row()), resident = median(c->resident);
    if (taken == 0) continue;
    const auto program = static_cast<double>(c->program());
    std::printf("%-18s %-12s %12.2f %12.2f %12.2f %12.2f ", c->network.c_str(), c->name.c_str(), 1e3 * taken,
                1e-6 * resident, 1e-6 * program, 1e-6 * static_cast<double>(c->libraries));
    c->joules.empty() ? std::printf("%12s\n", "-") : std::printf("%12.3f\n", median(c->joules));
    if (c->name == "levada") {
      ours = c.get(), our_time = taken;
    } else if (ours != nullptr && ours->network == c->network) {
      std::printf("%-18s %-12s %12.2f %12.2f %12.2f %12.2f\n", "", "ratio", our_time / taken,
                  median(ours->resident) / resident, static_cast<double>(ours->program()) / program,
                  static_cast<double>(ours->libraries) / static_cast<double>(c->libraries));
    }
  }
}

int compare(std::vector<char*> arguments) {
  if (!interleaved::initialize(std::move(arguments), "0.05")) return 1;
  const auto all = contenders();
  if (std::none_of(all.begin(), all.end(), [](const auto& c) { return c->name == "onnxruntime"; }))
    std::puts("Without ONNX Runtime: its C header and library, in the folder ONNXRUNTIME_ROOT.");
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i]->network == all[i - 1]->network) check(*all[i - 1], *all[i]);
  for (const auto& c : all)
    benchmark::RegisterBenchmark(c->row().c_str(), [c](benchmark::State& state) { measure(state, *c); })
        ->Unit(benchmark::kMillisecond)
        ->UseManualTime();
  interleaved::medians reporter;
  if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0) return 1;
  print(reporter, all);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  return example::run([&] { return compare({arguments, arguments + count}); });
}
