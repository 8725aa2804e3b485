// SPDX-License-Identifier: Apache-2.0
// What a pipeline costs beside its work, and what two threads gain. On the same chains run levada, the hand-written
// loop, oneTBB, Taskflow, FastFlow and a thread for each stage; and two hand-written loops at once that share nothing,
// which is what the machine has. Names are overhead/<contender>/<payload>/<stages>/<work>.
//
// A round runs every contender once on the chain, one behind the other, so that they share the machine's moods.
// - `ns_per_item` is the median over the rounds.
// - `speedup` is the median of the fused loop's time over the contender's in the same round.
//
// The limits that we set ourselves are printed at the end, with what was measured.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include "bar.hpp"
#include "busy_threads.hpp"
#include "contenders.hpp"
#include "fastflow_chain.hpp"
#include "hand_over.hpp"
#include "taskflow_chain.hpp"

namespace {

using namespace overhead;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// What was measured, by the benchmark's name.
struct outcome {
  double ns_per_item = 0, speedup = 0;
};
std::map<std::string, outcome> measured;

/// What the contenders run beside.
struct surroundings {
  std::size_t threads = 2;  ///< that oneTBB may have
  int busy = 0;             ///< threads of somebody else that want a processor all the time
};

/// All contenders on one chain. The first that is asked for runs the rounds of all.
class contest {
 public:
  struct contender {
    std::string name;
    std::function<std::uint64_t()> run;
    double times = 1;  ///< that it goes over the items
    std::vector<double> ns{}, speedups{};
    std::string problem{};
  };

  contest(std::string chain, std::size_t items, surroundings beside = {})
      : chain_(std::move(chain)), items_(static_cast<double>(items)), beside_(beside) {}

  void add(std::string name, std::function<std::uint64_t()> run, double times = 1) {
    all_.push_back({std::move(name), std::move(run), times});
  }

  /// Registers them under `overhead/<name>/<chain>`.
  static void offer(const std::shared_ptr<contest>& self) {
    for (std::size_t i = 0; i < self->all_.size(); ++i) {
      const std::string name = "overhead/" + self->all_[i].name + "/" + self->chain_;
      benchmark::RegisterBenchmark(name.c_str(),
                                   [self, i, name](benchmark::State& state) {
                                     self->rounds();
                                     const contender& c = self->all_[i];
                                     if (!c.problem.empty()) state.SkipWithError(c.problem.c_str());
                                     const outcome o{median(c.ns), median(c.speedups)};
                                     for (auto _ : state) state.SetIterationTime(o.ns_per_item * self->items_ * 1e-9);
                                     state.counters["ns_per_item"] = o.ns_per_item;
                                     state.counters["speedup"] = o.speedup;
                                     measured[name] = o;
                                   })
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
    }
  }

 private:
  static constexpr int rounds_run = 11, rounds_beside_others = 41;

  void rounds() {
    if (!all_.front().ns.empty()) return;
    const oneapi::tbb::global_control allowed(oneapi::tbb::global_control::max_allowed_parallelism, beside_.threads);
    const busy_threads others(beside_.busy);
    const std::uint64_t expected = all_.front().run();
    for (contender& c : all_)
      if (c.run() != expected) c.problem = "another result than the fused loop's";  // and it is warm now
    for (int round = 0; round < (beside_.busy != 0 ? rounds_beside_others : rounds_run); ++round) {
      for (contender& c : all_) {
        const auto start = std::chrono::steady_clock::now();
        benchmark::DoNotOptimize(c.run());
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
        c.ns.push_back(took.count() / (items_ * c.times));
        c.speedups.push_back(all_.front().ns.back() / c.ns.back());
      }
    }
  }

  std::string chain_;
  double items_;
  surroundings beside_;
  std::vector<contender> all_;
};

template <class Item>
std::shared_ptr<std::vector<Item>> numbered_items(std::size_t count) {
  auto items = std::make_shared<std::vector<Item>>(count);
  for (std::size_t i = 0; i < count; ++i) (*items)[i].value = i;
  return items;
}

template <class Item, class Chain>
void add_chain(const std::string& payload, const std::string& work, std::array<double, Chain::size> nanoseconds) {
  const Chain chain(nanoseconds);
  double total = 0;
  for (const double ns : nanoseconds) total += ns;
  // About 20 ms of work a run, so that starting threads does not show; and no more memory than a cache has.
  const std::size_t most = std::min<std::size_t>(100'000, 64'000'000 / sizeof(Item));
  const std::size_t count =
      std::clamp<std::size_t>(static_cast<std::size_t>(20e6 / (total + 10.0 * Chain::size)), 500, most);
  const auto items = numbered_items<Item>(count);
  const auto app = std::make_shared<decltype(levada_app<Item>(chain))>(levada_app<Item>(chain));

  const auto all = std::make_shared<contest>(payload + "/" + std::to_string(Chain::size) + "/" + work, count);
  all->add("fused", [=] { return fused_loop(*items, chain); });
  if constexpr (Chain::size > 1)
    all->add(
        "two_loops", [=] { return two_loops(*items, chain); }, 2);
  all->add("levada", [=] { return levada_stream(*app, *items); });
  all->add("levada_push_pop", [=] { return levada_push_pop(*app, *items); });
  all->add("parallel_pipeline", [=] { return parallel_pipeline(*items, chain); });
  all->add("flow_graph", [=] { return flow_graph(*items, chain); });
  if constexpr (Chain::size <= 4) all->add("thread_per_stage", [=] { return thread_per_stage(*items, chain); });
#if LEVADA_HAS_TASKFLOW
  all->add("taskflow", [=] { return taskflow_pipeline(*items, chain); });
#endif
#if LEVADA_HAS_FASTFLOW
  if constexpr (Chain::size <= 4) all->add("fastflow", [=] { return fastflow_pipeline(*items, chain); });
#endif
  contest::offer(all);
}

/// Four equal serial stages: ours and parallel_pipeline with more threads than processors, or beside threads of others.
template <int Threads>
void add_beside(const std::string& work, double ns, surroundings beside) {
  using item = payload<8>;
  using target = levada::target<levada::cpu<Threads>>;
  const chain_of<serial_stage, 4> chain({ns, ns, ns, ns});
  const auto items = numbered_items<item>(static_cast<std::size_t>(20e6 / (4 * ns)));
  // An app has no more threads than oneTBB may have when it is deployed.
  const oneapi::tbb::global_control allowed(oneapi::tbb::global_control::max_allowed_parallelism, Threads);
  const auto app = std::make_shared<decltype(levada_app<item, target>(chain))>(levada_app<item, target>(chain));
  const auto all = std::make_shared<contest>("u64/4/" + work, items->size(), beside);
  all->add("fused", [=] { return fused_loop(*items, chain); });
  all->add("levada", [=] { return levada_stream(*app, *items); });
  const auto arena = std::make_shared<oneapi::tbb::task_arena>(Threads);
  all->add("parallel_pipeline", [=] { return arena->execute([&] { return parallel_pipeline(*items, chain); }); });
  contest::offer(all);
}

/// Streams of a few items, one behind the other: four serial stages of 1 us, ours and parallel_pipeline.
void add_few(std::size_t count) {
  using item = payload<8>;
  const chain_of<serial_stage, 4> chain({1000, 1000, 1000, 1000});
  const std::size_t streams = 5'000 / count;
  const auto items = numbered_items<item>(count);
  const auto app = std::make_shared<decltype(levada_app<item>(chain))>(levada_app<item>(chain));
  const auto all = std::make_shared<contest>("u64/4/serial_1us_" + std::to_string(count) + "items", streams * count);
  const auto add = [&](const char* name, auto stream) {
    all->add(name, [=] {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < streams; ++i) sum = mix(sum, stream());
      return sum;
    });
  };
  add("fused", [=] { return fused_loop(*items, chain); });
  add("levada", [=] { return levada_stream(*app, *items); });
  add("parallel_pipeline", [=] { return parallel_pipeline(*items, chain); });
  contest::offer(all);
}

std::string text_of(double ns) {
  return ns >= 1000 ? std::to_string(static_cast<int>(ns / 1000)) + "us" : std::to_string(static_cast<int>(ns)) + "ns";
}

template <std::size_t N>
void add_serial() {
  for (const double ns : {0.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 10000.0}) {
    std::array<double, N> all;
    all.fill(ns);
    add_chain<payload<8>, chain_of<serial_stage, N>>("u64", "serial_" + text_of(ns), all);
  }
}

template <std::size_t N>
void add_1kib() {
  for (const double ns : {0.0, 100.0}) {
    std::array<double, N> all;
    all.fill(ns);
    add_chain<payload<1024>, chain_of<serial_stage, N>>("1KiB", "serial_" + text_of(ns), all);
  }
}

// ---- what we hold ourselves to ----

void at_least(const std::string& chain, double bar) {
  if (const auto m = measured.find("overhead/levada/" + chain); m != measured.end())
    print_bar(chain + ", speed-up", m->second.speedup, bar, false);
}

void of_two_loops(const std::string& chain) {
  const auto ours = measured.find("overhead/levada/" + chain), loops = measured.find("overhead/two_loops/" + chain);
  if (ours != measured.end() && loops != measured.end())
    std::printf("  %-52s %9.2f  and %.2f of that by levada\n", (chain + ", two loops at once, speed-up").c_str(),
                loops->second.speedup, ours->second.speedup / loops->second.speedup);
}

void print_bars() {
  std::printf("\nwhat we hold ourselves to (two processors, medians; a line goes from one to the other in %.0f ns)\n",
              hand_over_ns());
  for (const char* n : {"1", "4", "8", "16"}) {
    const std::string chain = std::string("u64/") + n + "/serial_0ns";
    const auto ours = measured.find("overhead/levada/" + chain), fused = measured.find("overhead/fused/" + chain);
    if (ours != measured.end() && fused != measured.end())
      print_bar(chain + ", ns an item", ours->second.ns_per_item,
                std::max(fused->second.ns_per_item + 3, fused->second.ns_per_item * 1.5), true);
    const bool alone = std::string(n) == "1";
    for (const char* work : {"50ns", "100ns", "200ns", "500ns"})
      at_least(std::string("u64/") + n + "/serial_" + work, alone ? 0.95 : 1.9);
    for (const char* work : {"1us", "10us"}) {
      at_least(std::string("u64/") + n + "/serial_" + work, alone ? 0.95 : 1.95);
      of_two_loops(std::string("u64/") + n + "/serial_" + work);
    }
  }
  for (const char* work : {"50ns", "100ns"}) at_least(std::string("u64/1/recursive_") + work, 0.95);
  for (const char* work : {"100ns", "500ns", "1us"}) at_least(std::string("u64/4/parallel_") + work, 1.9);
  at_least("u64/4/unbalanced_1_1_6_1us", 1.45);
  at_least("u64/4/unbalanced_3_1_1_2us", 1.9);
  at_least("u64/4/mixed_s100_p100_p600_s100ns", 1.9);
  const auto few = measured.find("overhead/levada/1KiB/1/serial_0ns"),
             many = measured.find("overhead/levada/1KiB/16/serial_0ns");
  if (few != measured.end() && many != measured.end())
    print_bar("1KiB in place, no work, ns an item a stage", (many->second.ns_per_item - few->second.ns_per_item) / 15,
              1, true);
  at_least("u64/4/serial_500ns_8threads", 1.9);
  for (const char* work : {"500ns", "5us"}) {
    const std::string chain = std::string("u64/4/serial_") + work + "_2busy";
    const auto ours = measured.find("overhead/levada/" + chain),
               pipeline = measured.find("overhead/parallel_pipeline/" + chain);
    if (ours != measured.end() && pipeline != measured.end())
      print_bar(chain + ", throughput over parallel_pipeline", pipeline->second.ns_per_item / ours->second.ns_per_item,
                0.9, false);
  }
  if (const auto m = measured.find("overhead/levada_push_pop/u64/4/serial_0ns"); m != measured.end())
    print_bar("push and pop by one thread, no work, ns an item", m->second.ns_per_item, 30, true);
  for (const auto& [name, o] : measured) {
    const std::string chain = name.substr(name.find('/', name.find('/') + 1) + 1);
    const auto ours = measured.find("overhead/levada/" + chain);
    if (name.starts_with("overhead/fused/") || name.starts_with("overhead/two_loops/") ||
        name.starts_with("overhead/levada") || ours == measured.end())
      continue;
    if (ours->second.ns_per_item > o.ns_per_item)
      std::printf("  slower than another: %s, %.2f ns an item against %.2f\n", name.c_str(), ours->second.ns_per_item,
                  o.ns_per_item);
  }
}

}  // namespace

int main(int argc, char** argv) {
  add_serial<1>();
  for (const double ns : {50.0, 100.0})
    add_chain<payload<8>, chain_of<recursive_stage, 1>>("u64", "recursive_" + text_of(ns), {ns});
  add_serial<4>();
  add_serial<8>();
  add_serial<16>();
  for (const double ns : {100.0, 500.0, 1000.0})
    add_chain<payload<8>, chain_of<parallel_stage, 4>>("u64", "parallel_" + text_of(ns), {ns, ns, ns, ns});
  add_chain<payload<8>, chain_of<serial_stage, 4>>("u64", "unbalanced_1_1_6_1us", {1000, 1000, 6000, 1000});
  add_chain<payload<8>, chain_of<serial_stage, 4>>("u64", "unbalanced_3_1_1_2us", {3000, 1000, 1000, 2000});
  add_chain<payload<8>, chain<serial_stage, parallel_stage, parallel_stage, serial_stage>>(
      "u64", "mixed_s100_p100_p600_s100ns", {100, 100, 600, 100});
  add_1kib<1>();
  add_1kib<4>();
  add_1kib<16>();
  for (const std::size_t count : {2u, 4u, 8u, 16u, 64u}) add_few(count);
  for (const double ns : {500.0, 5000.0}) {
    add_beside<8>("serial_" + text_of(ns) + "_8threads", ns, {.threads = 8});
    add_beside<2>("serial_" + text_of(ns) + "_2busy", ns, {.busy = 2});
  }

  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  print_bars();
}
