// SPDX-License-Identifier: Apache-2.0
// What this machine does at most: roofline/multiply_adds in FLOPs a second, roofline/read/<bytes> in bytes a second out
// of whatever cache holds as many, each thread with its own. One thread, and two, which are counted together.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include <levada/interop/profile/machine.hpp>

namespace {

void multiply_adds(benchmark::State& state) {
  double flops = 0;
  for (auto _ : state) flops = levada::detail::peak_flops();
  state.counters["FLOPS"] = benchmark::Counter(flops);  // of all threads: they are added
}

void read(benchmark::State& state) {
  using vector [[gnu::vector_size(64)]] = float;
  constexpr std::size_t at_once = 8;
  const std::vector<vector> from(static_cast<std::size_t>(state.range(0)) / sizeof(vector) / at_once * at_once);
  vector sum[at_once] = {};
  for (auto _ : state) {
    for (std::size_t i = 0; i < from.size(); i += at_once)
      for (std::size_t k = 0; k < at_once; ++k) sum[k] += from[i + k];
    for (vector& s : sum) asm volatile("" : "+m"(s));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(from.size() * sizeof(vector)));
}

BENCHMARK(multiply_adds)->Name("roofline/multiply_adds")->Threads(1)->Threads(2)->Iterations(1)->UseRealTime();
BENCHMARK(read)
    ->Name("roofline/read")
    ->Arg(16 << 10)
    ->Arg(256 << 10)
    ->Arg(4 << 20)
    ->Arg(256 << 20)
    ->Threads(1)
    ->Threads(2)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
