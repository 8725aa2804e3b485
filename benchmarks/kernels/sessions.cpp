// SPDX-License-Identifier: Apache-2.0
// What the way to a device and back costs. kernels/submit: a recorded dispatch of one workgroup, submitted and waited
// for, and the same as an item of a session, pushed and popped. kernels/overlap: a stream of items of 1 MiB that are
// copied to the device and back, with one slot and with eight; `ratio` is how many times as long one slot takes.

#include <memory>
#include <vector>

#include <levada/backend/spirv.hpp>
#include <levada/levada.hpp>

#include "device.hpp"
#include "kernels.hpp"

namespace {

using namespace kernels;
using box = lv::target<lv::cpu<2>, lv::vulkan<0>>;

void submit(benchmark::State& state) {
  on_device tiny(*device(), transform_dispatch<whole>(kernels::copy, 256), 1);
  for (auto _ : state) tiny.run();
}

void push_and_pop(benchmark::State& state) {
  using item = lv::tensor<float, 256>;
  const auto app = lv::deploy<box>(lv::input<item> | lv::on<lv::vulkan<0>>(lv::transform<"copy">(kernels::copy)));
  auto session = app.open();
  const auto in = std::make_unique<item>();
  for (auto _ : state) {
    session.push(*in);
    auto result = session.pop();
    benchmark::DoNotOptimize(result);
  }
}

template <int Slots, class Item>
void stream(const std::vector<Item>& items) {
  lv::vulkan_settings staging;
  staging.staging = true;
  lv::vulkan_device<0>() = staging;
  static const auto app =
      lv::deploy<box, lv::slots<Slots>>(lv::input<Item> | lv::on<lv::vulkan<0>>(lv::transform<"chain">(chain)));
  lv::vulkan_device<0>() = {};
  for (auto&& r : app.stream(items)) benchmark::DoNotOptimize(r->data());
}

void overlap(benchmark::State& state) {
  using item = lv::tensor<float, (1 << 20) / 4>;
  const std::vector<item> items(32);
  stream<1>(items);
  stream<8>(items);
  const compared c = alternate(
      state, [&] { stream<1>(items); }, [&] { stream<8>(items); });
  state.counters["one_slot_us"] = c.first / 32;
  state.counters["eight_slots_us"] = c.second / 32;
  state.counters["ratio"] = c.ratio;
}

const bool added = [] {
  if (device() == nullptr) return false;
  benchmark::RegisterBenchmark("kernels/submit/dispatch", submit)->UseRealTime()->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("kernels/submit/session", push_and_pop)->UseRealTime()->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("kernels/overlap", overlap)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(31);
  return true;
}();

}  // namespace
