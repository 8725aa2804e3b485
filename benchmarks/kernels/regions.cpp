// SPDX-License-Identifier: Apache-2.0
// kernels/region: ops that are no chain as one dispatch against a dispatch for each chain of them, as items of a
// session on the device. `units` and `units_of_chains` are the dispatches, `ratio` is how many times as long the chains
// take.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <levada/backend/spirv/ops.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/nn/residual.hpp>

#include "device.hpp"

namespace {

using namespace kernels;
using box = lv::target<lv::vulkan<0>, lv::cpu<2>>;

/// spirv as if it took chains alone.
struct spirv_of_chains {
  static constexpr std::string_view name = "spirv";
  static constexpr lv::device_kind device = lv::device_kind::vulkan;
  static constexpr std::size_t longest_run = lv::spirv::longest_run;

  template <class In, class... Ops>
  using kernel = lv::spirv_kernel<In, Ops...>;
};

template <class In, class Make>
void compare(benchmark::State& state, Make make) {
  const auto whole = lv::deploy<box>(make());
  const auto chains = lv::deploy<box, lv::backends<spirv_of_chains>>(make());
  auto first = chains.open();
  auto second = whole.open();
  const auto in = std::make_unique<In>();
  in->fill(0.5f);
  const auto run = [&](auto& session) {
    session.push(*in);
    auto result = session.pop();
    benchmark::DoNotOptimize(result);
  };
  run(first);
  run(second);
  const compared c = alternate_on_device(
      state, [&] { run(first); }, [&] { run(second); });
  state.counters["chains_us"] = c.first;
  state.counters["region_us"] = c.second;
  state.counters["ratio"] = c.ratio;
  state.counters["units_of_chains"] = static_cast<double>(decltype(chains)::plan.units);
  state.counters["units"] = static_cast<double>(decltype(whole)::plan.units);
}

/// A block of ResNet.
void residual(benchmark::State& state) {
  using picture = lv::tensor<float, 16, 28, 28>;
  static lv::parameter_map weights;
  static std::vector<float> weight(16 * 16 * 9, 0.01f), bias(16, 0.1f);
  for (const char* const name : {"a", "b"}) {
    weights.set((std::string(name) + ".weight").c_str(), lv::element::f32, lv::shape(16, 16, 3, 3), weight.data());
    weights.set((std::string(name) + ".bias").c_str(), lv::element::f32, lv::shape(16), bias.data());
  }
  compare<picture>(state, [] {
    return lv::input<picture> |
           lv::residual(lv::nn::conv2d<"a", 16, lv::size<3>, lv::padding<1>>(weights) | lv::nn::relu |
                        lv::nn::conv2d<"b", 16, lv::size<3>, lv::padding<1>>(weights)) |
           lv::nn::relu;
  });
}

/// (2 x) sigmoid(2 x) - x^2, of 4 MiB.
void element_wise(benchmark::State& state) {
  using table = lv::tensor<float, 1024, 1024>;
  compare<table>(state, [] {
    return lv::input<table> |
           lv::fork(lv::transform<"twice">([](auto x) { return 2.0f * x; }) | lv::fork(lv::identity, lv::nn::sigmoid) |
                        lv::nn::mul,
                    lv::fork(lv::identity, lv::identity) | lv::nn::mul) |
           lv::nn::sub;
  });
}

/// Softmax as its parts.
void rows(benchmark::State& state) {
  using table = lv::tensor<float, 256, 512>;
  compare<table>(state, [] {
    return lv::input<table> | lv::fork(lv::identity, lv::nn::reduce_max<-1>) | lv::nn::sub | lv::nn::exp |
           lv::fork(lv::identity, lv::nn::reduce_sum<-1>) | lv::nn::div;
  });
}

const bool added = [] {
  if (device() == nullptr) return false;
  const auto add = [](const char* name, void (*f)(benchmark::State&)) {
    benchmark::RegisterBenchmark(name, f)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(51);
  };
  add("kernels/region/residual", residual);
  add("kernels/region/element_wise", element_wise);
  add("kernels/region/softmax_of_parts", rows);
  return true;
}();

}  // namespace
