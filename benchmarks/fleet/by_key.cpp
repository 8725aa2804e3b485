// SPDX-License-Identifier: Apache-2.0
// A state by key on a fleet: items of 64 keys through one worker of two threads, in this process, by the number of
// partitions, each of which has streams and a lease of its own at the server. `idle_messages_per_s`: what the server is
// sent and sends while nothing is to be done.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <levada/fleet/deploy.hpp>
#include <levada/fleet/work.hpp>
#include <levada/levada.hpp>

#include "../kernels/alternate.hpp"
#include "server_counts.hpp"

namespace {

namespace lv = levada;
using namespace std::chrono_literals;

struct sample {
  std::int32_t key = 0, value = 0;
};
struct running_sum {
  std::int64_t sum = 0;
  std::int64_t operator()(const sample& s) { return sum += s.value; }
};
using box = lv::target<lv::cpu<2>, lv::fleet<"sums", lv::cpu<2>>>;
using v1 = lv::version<"1">;

template <std::size_t Partitions>
void by_key(benchmark::State& state) {
  const auto p = [] {
    return lv::input<sample> |
           lv::on<lv::fleet<"sums">, lv::by<&sample::key>, lv::partitions<Partitions>>(lv::stage<"sum">(running_sum{}));
  };
  const counting_server server;
  const lv::jetstream to{{server.url()}};
  auto app = lv::deploy<box, v1, lv::slots<1024>>(p(), to);
  lv::fleet_worker works = lv::work<box, "sums", v1, lv::slots<1024>>(p(), to);
  while (works.counts().partitions != Partitions) std::this_thread::sleep_for(10ms);
  std::vector<sample> items(50'000);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = {static_cast<std::int32_t>(i % 64), 1};
  const auto stream = [&] {
    for (auto&& r : app.stream(items)) benchmark::DoNotOptimize(r.value());
  };
  stream();
  std::vector<double> rates, messages;
  for (auto _ : state) {
    const server_counts before = server.counts();
    const double took = kernels::microseconds(stream) * 1e-6;
    const server_counts behind = server.counts();
    rates.push_back(static_cast<double>(items.size()) / took);
    messages.push_back((behind.in + behind.out - before.in - before.out) / static_cast<double>(items.size()));
    state.SetIterationTime(took);
    state.counters["server_MiB"] = behind.memory / (1 << 20);
  }
  std::this_thread::sleep_for(2s);
  const server_counts before = server.counts();
  std::this_thread::sleep_for(4s);
  const server_counts behind = server.counts();
  state.counters["items_per_s"] = kernels::median(rates);
  state.counters["messages_an_item"] = kernels::median(messages);
  state.counters["idle_messages_per_s"] = (behind.in + behind.out - before.in - before.out) / 4;
}

}  // namespace

BENCHMARK(by_key<4>)->Name("by_key/4_partitions")->UseManualTime()->Iterations(3);
BENCHMARK(by_key<16>)->Name("by_key/16_partitions")->UseManualTime()->Iterations(3);
BENCHMARK(by_key<64>)->Name("by_key/64_partitions")->UseManualTime()->Iterations(3);
