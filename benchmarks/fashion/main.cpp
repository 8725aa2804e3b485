// SPDX-License-Identifier: Apache-2.0
// The demo's network: levada, its kernels alone, and, where they are found, oneDNN and ONNX Runtime, on the same
// weights. Names are fashion/<contender>/<measurement>.
//
// - one: the model on one picture, one thread, in CPU time.
// - inline: from picture to label over all pictures, one thread.
// - streamed: the same on two threads.
//
// All give the same logits and labels before anything is timed, levada_int8 and levada_bf16 98 % of the labels.
// Repetitions of all contenders are interleaved. A table of the medians ends the output; `ratio` is how many times as
// long as levada a contender takes.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "../common/interleaved.hpp"
#include "../common/progress.hpp"
#include "contenders.hpp"
#include "expectation.hpp"
#include "kernels.hpp"
#include "onednn.hpp"
#include "onnxruntime.hpp"
#include "table.hpp"

namespace {

using namespace fashion;

/// Checks what it is given and registers its benchmarks.
class contest {
 public:
  template <class Network, class... Arguments>
  void add_one(const std::string& contender, const Arguments&... arguments) {
    const auto network = std::make_shared<Network>(arguments...);
    expected_.check_logits(contender, *network);
    register_one(contender, network);
  }
  /// Of smaller precision: its labels are those of the others but for some.
  template <class Network, class Labels>
  void add_rounded(const std::string& contender) {
    register_one(contender, std::make_shared<Network>());
    const auto many = std::make_shared<Labels>();
    labels to(the_pictures().pictures.size(), -1);
    many->inline_(the_pictures().pictures, to);
    if (!the_pictures().are_noise) expected_.check_most_labels(contender, to);
    register_pass(contender + "/inline", [many](const auto& pictures, labels& out) { many->inline_(pictures, out); });
    register_pass(contender + "/streamed",
                  [many](const auto& pictures, labels& out) { many->streamed(pictures, out); });
  }

  template <class Labels>
  void add_many(const std::string& contender) {
    const auto many = std::make_shared<Labels>();
    add_pass(contender + "/inline", [many](const auto& pictures, labels& to) { many->inline_(pictures, to); });
    add_pass(contender + "/streamed", [many](const auto& pictures, labels& to) { many->streamed(pictures, to); });
  }

  template <class Network>
  void add_peer(const std::string& contender) {
    add_one<Network>(contender, std::make_shared<typename Network::shared>());
    add_many<peer_labels<Network>>(contender);
  }

  const std::vector<std::string>& contenders() const { return contenders_; }

 private:
  template <class Network>
  void register_one(const std::string& contender, const std::shared_ptr<Network>& network) {
    if (contenders_.empty() || contenders_.back() != contender) contenders_.push_back(contender);
    const auto run = [network, name = contender + "/one"](benchmark::State& state) {
      progress::show(name);
      normalise(the_pictures().pictures[0], network->in);
      for (auto _ : state) {
        benchmark::DoNotOptimize(network->run().data());
        benchmark::ClobberMemory();
      }
      state.SetItemsProcessed(state.iterations());
    };
    benchmark::RegisterBenchmark(("fashion/" + contender + "/one").c_str(), run)->Unit(benchmark::kMicrosecond);
  }

  template <class Pass>
  void add_pass(const std::string& name, Pass pass) {
    labels to(the_pictures().pictures.size(), -1);
    pass(the_pictures().pictures, to);
    expected_.check_labels(name, to);
    register_pass(name, pass);
  }
  template <class Pass>
  void register_pass(const std::string& name, Pass pass) {
    const std::vector<picture>& pictures = the_pictures().pictures;
    labels to(pictures.size(), -1);
    const auto run = [=, &pictures](benchmark::State& state) mutable {
      progress::show(name);
      for (auto _ : state) {
        pass(pictures, to);
        benchmark::DoNotOptimize(to.data());
        benchmark::ClobberMemory();
      }
      state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pictures.size()));
    };
    benchmark::RegisterBenchmark(("fashion/" + name).c_str(), run)->UseRealTime()->Unit(benchmark::kMillisecond);
  }

  expectation expected_;
  std::vector<std::string> contenders_;
};

/// Registers all; returns what is missing, each after a comma.
std::string add_all(contest& all) {
  std::string missing;
  all.add_one<with_levada<>>("levada");
  all.add_many<levada_labels<deployed_demo>>("levada");
  all.add_rounded<with_levada<by_integers>, levada_labels<quantized_demo>>("levada_int8");
  all.add_rounded<with_levada<example::fashion_mnist::by_bfloat16>, levada_labels<bfloat16_demo>>("levada_bf16");
  all.add_one<with_simd>("simd");
  all.add_one<with_reference>("reference");
#if LEVADA_HAS_ONEDNN
  using tag = dnnl::memory::format_tag;
  all.add_peer<with_onednn<tag::nChw16c>>("onednn");
  all.add_peer<with_onednn<tag::any>>("onednn_any");
#else
  missing += ", oneDNN (Debian: libdnnl-dev)";
#endif
#if LEVADA_HAS_ONNXRUNTIME
  if (ort::find() != nullptr)
    all.add_peer<with_onnxruntime>("onnxruntime");
  else
    missing += ", ONNX Runtime (the library found is older than its header)";
#else
  missing += ", ONNX Runtime (its C header and library, in the folder ONNXRUNTIME_ROOT)";
#endif
  return missing;
}

int compare(std::vector<char*> arguments) {
  if (!interleaved::initialize(std::move(arguments), "0.1")) return 1;

  contest all;
  if (const std::string missing = add_all(all); !missing.empty())
    std::printf("Without %s.\n", missing.substr(2).c_str());
  with_table reporter;
  if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0) return 1;
  std::printf("\n%zu %s, instruction set %s, medians\n", the_pictures().pictures.size(), the_pictures().origin.c_str(),
              xsimd::default_arch::name());
  reporter.print(all.contenders());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  // oneDNN's OpenMP reads its number of threads when the library is loaded: start again with one.
  if (const char* const threads = std::getenv("OMP_NUM_THREADS");
      threads == nullptr || std::strcmp(threads, "1") != 0) {
    setenv("OMP_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", arguments);
  }
  return example::run([&] { return compare({arguments, arguments + count}); });
}
