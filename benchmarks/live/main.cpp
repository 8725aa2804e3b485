// SPDX-License-Identifier: Apache-2.0
// How old results are when they arrive, and what waiting for them costs. Items come at random moments (a Poisson
// process) for a serial stage of 200 us, at 0.5, 0.9 and 1.2 times the rate that it can take. One thread pushes, one
// pops. The peer is written by hand: a thread with a queue, a mutex and two condition variables. Names are
// live/<what>/<contender>/<load>.
//
// - age_p50_us, age_p999_us: from the moment an item is made to the moment its result is popped.
// - delivered: the share of the items that came out. cpu_us_per_item: processor time of the process for each item made.
// - pickup_p50_us, pickup_p99_us (live/pickup): from before try_push to the beginning of the first stage, with an item
//   each ms.
// - added_p50_ns, added_p99_ns (live/single_item): how much longer than its stages a single item takes, after 2 ms of
//   idleness.
// - items_per_s, least_share (live/sessions): of so many sessions that are fed without end, by two threads each,
//   through two stages of 50 us on cpu<2>. The first counts what came out of all; the second is the share of the last
//   session, 1 being as much as the others have.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <levada/levada.hpp>

#include "../overhead/bar.hpp"
#include "../overhead/busy_threads.hpp"
#include "../overhead/work.hpp"

namespace {

namespace lv = levada;
using clock_type = std::chrono::steady_clock;
using overhead::rounds_of;
using overhead::spin;
using box = lv::target<lv::cpu<2>>;

constexpr std::chrono::microseconds service{200};
constexpr std::chrono::milliseconds length{1500};

struct sample {
  std::uint64_t value = 0;
  clock_type::time_point captured{};
};

struct outcome {
  std::vector<double> ages_us;
  std::size_t made = 0;
};

double quantile(std::vector<double>& values, double q) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double since_us(clock_type::time_point then) {
  return std::chrono::duration<double, std::micro>(clock_type::now() - then).count();
}

double processor_us() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  const auto us = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec); };
  return us(u.ru_utime) + us(u.ru_stime);
}

/// What we hold ourselves to, and what was measured.
struct bar {
  const char* what;
  double value, at_most;
};
std::vector<bar> bars;

void print_bars() {
  if (!bars.empty()) std::printf("\nwhat we hold ourselves to (other threads asleep)\n");
  for (const bar& b : bars) overhead::print_bar(b.what, b.value, b.at_most, true);
}

/// Calls `make` at the moments of a Poisson process.
template <class Make>
std::size_t arrivals(double load, Make make) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> gap(load / std::chrono::duration<double>(service).count());
  const auto start = clock_type::now();
  auto next = start;
  std::size_t made = 0;
  while (next - start < length) {
    next += std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>(gap(random)));
    std::this_thread::sleep_until(next);
    make(sample{made++, clock_type::now()});
  }
  return made;
}

std::uint64_t work(std::uint64_t x) {
  static const std::uint32_t rounds = rounds_of(200'000);
  return spin(x, rounds);
}

auto app_of_one_stage() {
  return lv::deploy<box>(lv::input<sample> | lv::stage<"work">(lv::serial([](sample& s) { s.value = work(s.value); })));
}

template <class... Options>
outcome by_levada(double load) {
  static const auto app = app_of_one_stage();
  auto session = app.template open<Options...>();
  outcome o;
  std::jthread popper([&] {
    while (auto r = session.pop()) o.ages_us.push_back(since_us((*r)->captured));
  });
  o.made = arrivals(load, [&](const sample& s) { session.push(s, s.captured); });
  session.close();
  popper.join();
  return o;
}

/// A queue of 64 that blocks.
class queue {
 public:
  void push(const sample& s) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return items_.size() < 64; });
    items_.push_back(s);
    lock.unlock();
    there_.notify_one();
  }
  std::optional<sample> pop() {
    std::unique_lock lock(mutex_);
    there_.wait(lock, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    const sample s = items_.front();
    items_.pop_front();
    lock.unlock();
    room_.notify_one();
    return s;
  }
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    there_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable there_, room_;
  std::deque<sample> items_;
  bool closed_ = false;
};

outcome by_queue(double load) {
  queue items;
  outcome o;
  std::jthread worker([&] {
    while (auto s = items.pop()) {
      benchmark::DoNotOptimize(work(s->value));
      o.ages_us.push_back(since_us(s->captured));
    }
  });
  o.made = arrivals(load, [&](const sample& s) { items.push(s); });
  items.close();
  worker.join();
  return o;
}

void add_ages(const std::string& what, const std::string& contender, double load, bool neighbour,
              outcome (*run)(double)) {
  const std::string name = "live/" + what + "/" + contender + "/" + std::to_string(load).substr(0, 3);
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 const overhead::busy_threads noise(neighbour ? 1 : 0);
                                 const double before = processor_us();
                                 outcome o;
                                 for (auto _ : state) o = run(load);
                                 const double spent = processor_us() - before;
                                 state.counters["age_p50_us"] = quantile(o.ages_us, 0.5);
                                 state.counters["age_p999_us"] = quantile(o.ages_us, 0.999);
                                 state.counters["delivered"] =
                                     static_cast<double>(o.ages_us.size()) / static_cast<double>(o.made);
                                 if (!neighbour)
                                   state.counters["cpu_us_per_item"] = spent / static_cast<double>(o.made);
                               })
      ->Iterations(1)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

// ---- being picked up ----

constexpr int picked_items = 3000;

template <class... Options>
void add_pickup(const std::string& contender) {
  benchmark::RegisterBenchmark(("live/pickup/" + contender).c_str(),
                               [contender](benchmark::State& state) {
                                 std::vector<double> waited_us;
                                 waited_us.reserve(picked_items);
                                 const auto app = lv::deploy<box>(
                                     lv::input<clock_type::time_point> |
                                     lv::stage<"begins">(lv::serial([&waited_us](const clock_type::time_point& pushed) {
                                       waited_us.push_back(since_us(pushed));
                                       return pushed;
                                     })));
                                 auto session = app.template open<Options...>();
                                 const double before = processor_us();
                                 for (auto _ : state) {
                                   for (int i = 0; i < picked_items; ++i) {
                                     std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                     static_cast<void>(session.try_push(clock_type::now()));
                                     while (!session.try_pop()) std::this_thread::yield();
                                   }
                                 }
                                 state.counters["cpu_us_per_item"] = (processor_us() - before) / picked_items;
                                 state.counters["pickup_p50_us"] = quantile(waited_us, 0.5);
                                 state.counters["pickup_p99_us"] = quantile(waited_us, 0.99);
                                 state.counters["pickup_max_us"] = quantile(waited_us, 1);
                                 if (contender == "levada_realtime")
                                   bars.push_back({"realtime, picked up, us (p99)", quantile(waited_us, 0.99), 100});
                               })
      ->Iterations(1)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

// ---- single items ----

constexpr int single_items = 1000;

/// Four stages of 1 us.
std::uint64_t four_stages(std::uint64_t x) {
  static const std::uint32_t rounds = rounds_of(1000);
  for (int i = 0; i < 4; ++i) x = spin(x, rounds);
  return x;
}

auto app_of_four() {
  const auto step = [rounds = rounds_of(1000)](std::uint64_t x) { return spin(x, rounds); };
  return lv::deploy<box>(lv::input<std::uint64_t> | lv::stage<"a">(step) | lv::stage<"b">(step) | lv::stage<"c">(step) |
                         lv::stage<"d">(step));
}

void add_single_item(const std::string& contender, std::function<std::function<std::uint64_t(std::uint64_t)>()> open) {
  benchmark::RegisterBenchmark(("live/single_item/" + contender).c_str(),
                               [=](benchmark::State& state) {
                                 const auto call = open();
                                 std::vector<double> alone, through;
                                 const auto timed = [](const auto& f, std::uint64_t x) {
                                   const auto start = clock_type::now();
                                   benchmark::DoNotOptimize(f(x));
                                   return std::chrono::duration<double, std::nano>(clock_type::now() - start).count();
                                 };
                                 for (auto _ : state) {
                                   for (std::uint64_t i = 0; i < single_items; ++i) {
                                     std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                     through.push_back(timed(call, i));
                                     std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                     alone.push_back(timed(&four_stages, i));  // as cold as the other
                                   }
                                 }
                                 const double base = quantile(alone, 0.5);
                                 const double added_p50 = quantile(through, 0.5) - base;
                                 const double added_p99 = quantile(through, 0.99) - quantile(alone, 0.99);
                                 state.counters["added_p50_ns"] = added_p50;
                                 state.counters["added_p99_ns"] = added_p99;
                                 if (contender != "levada_push_pop") return;
                                 bars.push_back({"a cold single item, added us (median)", added_p50 / 1000, 1});
                                 bars.push_back({"a cold single item, added us (p99)", added_p99 / 1000, 3});
                               })
      ->Iterations(1)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

template <class... Options>
std::function<std::uint64_t(std::uint64_t)> push_and_pop() {
  static const auto app = app_of_four();
  using session_type = decltype(app.template open<Options...>());
  auto session = std::make_shared<session_type>(app.template open<Options...>());
  return [session](std::uint64_t x) {
    session->push(x);
    return **session->pop();
  };
}

// ---- sessions side by side ----

std::uint64_t half_work(std::uint64_t x) {
  static const std::uint32_t rounds = rounds_of(50'000);
  return spin(x, rounds);
}

/// Runs for a while; then `feed(stop, count)` of each session ends, and has counted its results.
using feeding = std::function<void(const std::atomic<bool>& stop, std::atomic<std::size_t>& count)>;

void add_sessions(const std::string& contender, std::size_t sessions, std::function<feeding()> open) {
  benchmark::RegisterBenchmark(
      ("live/sessions/" + contender + "/" + std::to_string(sessions)).c_str(),
      [=](benchmark::State& state) {
        half_work(1);
        std::vector<std::atomic<std::size_t>> counts(sessions);
        for (auto _ : state) {
          std::atomic<bool> stop{false};
          std::vector<std::jthread> threads;
          for (auto& count : counts) threads.emplace_back([&, feed = open()] { feed(stop, count); });
          std::this_thread::sleep_for(length);
          stop = true;
        }
        std::size_t all = 0, least = ~std::size_t{0};
        for (const auto& count : counts) all += count, least = std::min(least, count.load());
        state.counters["items_per_s"] = static_cast<double>(all) / std::chrono::duration<double>(length).count();
        state.counters["least_share"] = static_cast<double>(least * sessions) / static_cast<double>(all);
      })
      ->Iterations(1)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

template <class... Options>
feeding fed_session() {
  static const auto app = lv::deploy<box>(lv::input<std::uint64_t> | lv::stage<"first">(lv::serial(half_work)) |
                                          lv::stage<"second">(lv::serial(half_work)));
  return [](const std::atomic<bool>& stop, std::atomic<std::size_t>& count) {
    auto session = app.template open<Options...>();
    const std::jthread pusher([&] {
      while (!stop) session.push(1);
      session.close();
    });
    while (session.pop())
      if (!stop) ++count;
  };
}

/// A thread that computes what comes: the system shares the processors out.
feeding thread_of_its_own() {
  return [](const std::atomic<bool>& stop, std::atomic<std::size_t>& count) {
    for (std::uint64_t x = 1; !stop; ++count) benchmark::DoNotOptimize(x = half_work(half_work(x)));
  };
}

}  // namespace

int main(int argc, char** argv) {
  work(1);  // calibrated before anything is timed
  four_stages(1);
  for (const double load : {0.5, 0.9, 1.2}) {
    add_ages("age", "levada_block", load, false, &by_levada<>);
    add_ages("age", "levada_latest_only", load, false, &by_levada<lv::latest_only>);
    add_ages("age", "levada_dedicated", load, false, &by_levada<lv::dedicated>);
    add_ages("age", "queue_and_thread", load, false, &by_queue);
  }
  for (const double load : {0.5, 0.9}) {
    add_ages("neighbour", "levada_block", load, true, &by_levada<>);
    add_ages("neighbour", "levada_latest_only", load, true, &by_levada<lv::latest_only>);
    add_ages("neighbour", "queue_and_thread", load, true, &by_queue);
  }
  add_pickup<>("levada_try_push");
  add_pickup<lv::dedicated>("levada_dedicated");
  add_pickup<lv::realtime>("levada_realtime");
  add_single_item("levada_push_pop", &push_and_pop<>);
  add_single_item("levada_dedicated", &push_and_pop<lv::dedicated>);
  add_single_item("levada_realtime", &push_and_pop<lv::realtime>);
  add_single_item("levada_inline_call", [] {
    return std::function<std::uint64_t(std::uint64_t)>(
        [app = std::make_shared<decltype(app_of_four())>(app_of_four())](std::uint64_t x) { return (*app)(x); });
  });

  for (const std::size_t sessions : {1, 2, 4, 8}) {
    add_sessions("levada", sessions, &fed_session<>);
    add_sessions("levada_dedicated", sessions, &fed_session<lv::dedicated>);
    add_sessions("thread_each", sessions, &thread_of_its_own);
  }

  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  print_bars();
}
