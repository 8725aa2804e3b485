// SPDX-License-Identifier: Apache-2.0
// A chain of six stages of add, mul and max, fused. kernels/chain/device: against a kernel that copies the same 16 MiB,
// `ratio` being the chain's time over the copy's. kernels/chain/cpu: the six kernels one behind the other over 100 KiB,
// over the fused one, `ratio` being how many times as long they take.

#include <array>
#include <cstdlib>

#include <levada/backend/simd.hpp>

#include "device.hpp"
#include "kernels.hpp"

namespace {

using namespace kernels;

template <class F>
void against_copy(benchmark::State& state, const F& f) {
  on_device fused(*device(), transform_dispatch<whole>(f, elements), 1);
  on_device copied(*device(), transform_dispatch<whole>(kernels::copy, elements), 1);
  const compared c = alternate_on_device(
      state, [&] { fused.run(); }, [&] { copied.run(); });
  state.counters["chain_us"] = c.first;
  state.counters["copy_us"] = c.second;
  state.counters["ratio"] = c.ratio;
  state.counters["chain_GBps"] = 8.0 * elements / c.first * 1e-3;
}

using item = lv::tensor<float, 100 * 1024 / 4>;

struct on_cpu {
  std::array<item, 2> items;

  /// From one item to the other and back, a kernel each.
  void unfused() {
    one(shift, 0);
    one(stretch, 1);
    one(floor_at, 0);
    one(shift_back, 1);
    one(shrink, 0);
    one(floor_higher, 1);
  }
  void fused() { one(chain, 0); }

 private:
  template <class F>
  void one(const F& f, std::size_t from) {
    using op = lv::transform_op<F>;
    const lv::simd::kernel<item, op> kernel(op(f), lv::parameter_values(std::span<const void* const>{}));
    kernel(items[from], items[1 - from], nullptr);
    benchmark::ClobberMemory();
  }
};

void against_unfused(benchmark::State& state) {
  constexpr int times = 50;
  const auto both = std::make_unique<on_cpu>();
  const auto start = [&] {
    for (std::size_t i = 0; i < item::elements; ++i) both->items[0][i] = static_cast<float>(i % 4096) * 0x1p-11f - 1.0f;
  };
  start();
  both->fused();
  const auto expected = std::make_unique<item>(both->items[1]);
  both->unfused();
  if (!std::equal(expected->begin(), expected->end(), both->items[0].begin())) std::abort();
  start();
  const auto many = [&](auto run) {
    return [run] {
      for (int i = 0; i < times; ++i) run();
    };
  };
  const compared c = alternate<processor_clock>(state, many([&] { both->unfused(); }), many([&] { both->fused(); }));
  state.counters["unfused_us"] = c.first / times;
  state.counters["fused_us"] = c.second / times;
  state.counters["ratio"] = c.ratio;
}

const bool added = [] {
  const auto on_device_with = [](const char* name, const auto& f) {
    benchmark::RegisterBenchmark(name, [&f](benchmark::State& state) { against_copy(state, f); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(101);
  };
  if (device() != nullptr) {
    on_device_with("kernels/chain/device/captures", chain);
    on_device_with("kernels/chain/device/numbers", chain_of_numbers);
  }
  benchmark::RegisterBenchmark("kernels/chain/cpu", against_unfused)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(301);
  return true;
}();

}  // namespace
