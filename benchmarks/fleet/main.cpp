// SPDX-License-Identifier: Apache-2.0
// A part on a fleet beside a program written by hand with libnats, which fetches, publishes and acknowledges the same
// messages. Items of 8 and of 64 KiB have a message each here as well; small ones share messages. Both ends are in this
// process, and the server is another. `ratio` is the median of the pairs, our time by theirs.
//
// Then the gain of four workers over one, of a stage that sleeps for 10 ms.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <levada/fleet/deploy.hpp>
#include <levada/fleet/work.hpp>
#include <levada/levada.hpp>

#include "../kernels/alternate.hpp"
#include "by_hand.hpp"
#include "fleet/nats_server.hpp"

namespace {

namespace lv = levada;

using box = lv::target<lv::cpu<2>, lv::fleet<"bench", lv::cpu<1>>>;
using v1 = lv::version<"1">;

template <std::size_t Bytes, std::size_t Slots>
void compare(benchmark::State& state) {
  using item = lv::tensor<std::uint8_t, Bytes>;
  using slots = lv::slots<Slots>;
  constexpr std::size_t count = Bytes < 1024 ? 20'000 : Bytes < 32'768 ? 2'000 : 500;
  const auto p = [] {
    return lv::input<item> |
           lv::on<lv::fleet<"bench">>(lv::stage<"add">([](item& i) { i[0] = static_cast<std::uint8_t>(i[0] + 1); }));
  };
  const levada::test::nats_server server;
  const lv::jetstream to{{server.url()}};
  const lv::fleet_worker works = lv::work<box, "bench", v1, slots>(p(), to);
  auto app = lv::deploy<box, v1, slots>(p(), to);
  auto session = app.template open<lv::external_results>();
  by_hand::fleet hand(server.url(), "hand");

  const auto given = std::make_unique<item>();
  std::vector<item> results(Slots);
  std::vector<std::uint8_t> raw(Bytes);
  const auto ours = [&] {
    std::size_t pushed = 0, popped = 0;
    while (popped != count) {
      while (pushed != count && pushed - popped != Slots) session.push(*given, results[pushed++ % Slots]);
      session.pop()->value();
      ++popped;
    }
  };
  const auto theirs = [&] { hand.run(count, Slots, raw); };
  ours();
  theirs();
  const std::uint64_t messages = works.counts().messages, items = works.counts().items;
  const kernels::compared found = kernels::alternate(state, ours, theirs);
  state.counters["ours_items_per_s"] = static_cast<double>(count) * 1e6 / found.first;
  state.counters["hand_items_per_s"] = static_cast<double>(count) * 1e6 / found.second;
  state.counters["items_per_message"] =
      static_cast<double>(works.counts().items - items) / static_cast<double>(works.counts().messages - messages);
  state.counters["ratio"] = found.ratio;
}

/// Seconds that so many items take.
double seconds_with(int workers) {
  const auto p = [] {
    return lv::input<int> | lv::on<lv::fleet<"bench">>(lv::stage<"sleep">([](int x) {
             std::this_thread::sleep_for(std::chrono::milliseconds(10));
             return x;
           }));
  };
  const levada::test::nats_server server;
  const lv::jetstream to{{server.url()}};
  std::vector<lv::fleet_worker> all;
  for (int i = 0; i < workers; ++i) all.push_back(lv::work<box, "bench", v1>(p(), to));
  auto app = lv::deploy<box, v1>(p(), to);
  const std::vector<int> items(200);
  const auto stream = [&] {
    for (auto&& r : app.stream(items)) r.value();
  };
  stream();
  return kernels::microseconds(stream) * 1e-6;
}
void four_workers(benchmark::State& state) {
  for (auto _ : state) {
    const double one = seconds_with(1), four = seconds_with(4);
    state.SetIterationTime(one + four);
    state.counters["one_s"] = one;
    state.counters["four_s"] = four;
    state.counters["gain"] = one / four;
  }
}

}  // namespace

BENCHMARK((compare<64, 256>))->Name("items/64_bytes")->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK((compare<8192, 64>))->Name("items/8_KiB")->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK((compare<65'536, 64>))->Name("items/64_KiB")->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(four_workers)->Name("four_workers/10_ms")->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK_MAIN();
