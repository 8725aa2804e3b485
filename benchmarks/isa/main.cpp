// SPDX-License-Identifier: Apache-2.0
// What it costs that a program takes its instruction set when it starts (levada_add_kernels with ISA): the same
// networks compiled by `-march=native`, for several sets, and for the least of them alone, one item at a time on one
// thread.
//   isa/<network>/native, isa/<network>/sets, isa/<network>/least

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "../common/interleaved.hpp"
#include "networks.hpp"

namespace {

using namespace isa_networks;

template <class In, class App>
void add(const std::string& network, const std::string& how, const std::shared_ptr<compiled>& all, App compiled::*app) {
  benchmark::RegisterBenchmark(("isa/" + network + "/" + how).c_str(), [=](benchmark::State& state) {
    const auto item = std::make_unique<In>();
    for (std::size_t i = 0; i < In::elements; ++i) (*item)[i] = static_cast<typename In::value_type>(i * 7 % 251);
    for (auto _ : state) {
      auto result = ((*all).*app)(*item);
      benchmark::DoNotOptimize(result);
    }
    state.SetLabel(all->set);
  })->Unit(benchmark::kMicrosecond);
}

}  // namespace

int main(int count, char** arguments) {
  if (!interleaved::initialize({arguments, arguments + count}, "0.1")) return 1;
  const std::pair<const char*, compiled (*)()> all[] = {
    {"native", by_native},
#if LEVADA_HAS_SETS
    {"sets", by_sets},
    {"least", by_least},
#endif
  };
  for (const auto& [how, make] : all) {
    const auto networks = std::make_shared<compiled>(make());
    add<picture>("fashion", how, networks, &compiled::fashion);
    add<planes>("block", how, networks, &compiled::block);
  }
  benchmark::RunSpecifiedBenchmarks();
}
