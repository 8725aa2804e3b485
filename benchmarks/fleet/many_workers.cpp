// SPDX-License-Identifier: Apache-2.0
// 64 worker processes whose stage sleeps, beside what the arithmetic of docs/howto/a_thousand_devices.md says. Results
// a second are the least of
//   workers / service,
//   messages in flight / (service + the time there and back),
//   what server, driver and workers of this machine bring through.
// The last is what came of items of 1 ms, the first row. The time there and back is that of a lone item that takes
// none. As many messages are in flight as there are slots; as each worker fetches one ahead of the one that it runs,
// half of them may wait there: `expected_least`. `ratio`: measured by `expected_most`.

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <levada/fleet/deploy.hpp>
#include <levada/fleet/work.hpp>
#include <levada/levada.hpp>

#include "../kernels/alternate.hpp"
#include "fleet/worker_program.hpp"
#include "server_counts.hpp"

namespace {

namespace lv = levada;
using namespace std::chrono_literals;

/// An item has its own time, so that one program serves all rows.
struct nap {
  std::int32_t microseconds = 0;
};
using box = lv::target<lv::cpu<2>, lv::fleet<"naps", lv::cpu<1>>>;
using v1 = lv::version<"1">;

auto naps() {
  return lv::input<nap> | lv::on<lv::fleet<"naps">>(lv::stage<"sleep">([](const nap& n) {
           if (n.microseconds != 0) std::this_thread::sleep_for(std::chrono::microseconds(n.microseconds));
           return n.microseconds;
         }));
}

const levada::test::worker_program working{"LEVADA_BENCH_NAPS", [](const std::string& url) {
                                             const auto works = lv::work<box, "naps", v1>(naps(), {{url}});
                                             for (;;) ::pause();
                                           }};

/// Messages that the server was sent and sent, a second.
double messages_per_second(const counting_server& server, std::chrono::duration<double> within) {
  const server_counts before = server.counts();
  std::this_thread::sleep_for(within);
  const server_counts behind = server.counts();
  return (behind.in + behind.out - before.in - before.out) / within.count();
}

/// Items a second of the first row.
double brought_through = 0;

template <std::size_t Slots>
void many_workers(benchmark::State& state) {
  const auto workers = static_cast<std::size_t>(state.range(0)),
             milliseconds = static_cast<std::size_t>(state.range(1));
  const auto service = static_cast<double>(milliseconds) * 1e-3, all = static_cast<double>(workers);
  const counting_server server;
  auto app = lv::deploy<box, v1, lv::slots<Slots>>(naps(), lv::jetstream{{server.url()}});
  std::vector<levada::test::process> processes;
  for (std::size_t i = 0; i < workers; ++i) processes.push_back(working.start(server.url()));

  const nap item{static_cast<std::int32_t>(1000 * milliseconds)};
  const auto stream = [&](std::size_t count) {
    const std::vector<nap> items(count, item);
    for (auto&& r : app.stream(items)) r.value();
  };
  // Until all have come: more of them bring no more.
  const double most = all / service;
  for (double rate = 0, before = -1; rate > 1.02 * before;) {
    before = rate;
    const std::size_t some = 20 * workers;
    rate = static_cast<double>(some) * 1e6 / kernels::microseconds([&] { stream(some); });
  }
  std::this_thread::sleep_for(1s);
  const double idle = messages_per_second(server, 3s);

  std::vector<double> lone;
  {
    auto session = app.template open<lv::dedicated>();
    for (int i = 0; i < 200; ++i)
      lone.push_back(kernels::microseconds([&] {
        session.push(nap{});
        session.pop()->value();
      }));
  }
  const double there_and_back = kernels::median(lone) * 1e-6;

  const auto count = static_cast<std::size_t>(std::min(5 * most, 20'000.0));
  std::vector<double> rates, messages;
  for (auto _ : state) {
    const server_counts before = server.counts();
    const double took = kernels::microseconds([&] { stream(count); }) * 1e-6;
    const server_counts behind = server.counts();
    rates.push_back(static_cast<double>(count) / took);
    messages.push_back((behind.in + behind.out - before.in - before.out) / static_cast<double>(count));
    state.SetIterationTime(took);
    state.counters["server_MiB"] = behind.memory / (1 << 20);
  }
  const double measured = kernels::median(rates);
  if (brought_through == 0) brought_through = measured;
  const auto expected = [&](double in_flight) {
    return std::min({most, in_flight / (service + there_and_back), brought_through});
  };
  state.counters["expected_least"] = expected(static_cast<double>(Slots) / 2);
  state.counters["expected_most"] = expected(static_cast<double>(Slots));
  state.counters["measured"] = measured;
  state.counters["ratio"] = measured / expected(static_cast<double>(Slots));
  state.counters["there_and_back_us"] = there_and_back * 1e6;
  state.counters["messages_an_item"] = kernels::median(messages);
  state.counters["idle_messages_per_s"] = idle;
}

}  // namespace

// Workers and the milliseconds of an item.
BENCHMARK((many_workers<256>))
    ->Name("workers/256_slots")
    ->Args({64, 1})
    ->Args({64, 10})
    ->Args({64, 20})
    ->Args({64, 50})
    ->Args({64, 200})
    ->Args({16, 50})
    ->UseManualTime()
    ->Iterations(3);
BENCHMARK((many_workers<64>))->Name("workers/64_slots")->Args({64, 50})->UseManualTime()->Iterations(3);
BENCHMARK((many_workers<128>))->Name("workers/128_slots")->Args({64, 50})->UseManualTime()->Iterations(3);
BENCHMARK((many_workers<2048>))->Name("workers/2048_slots")->Args({64, 50})->UseManualTime()->Iterations(3);
