// SPDX-License-Identifier: Apache-2.0
// Where workers stay, what they are called, what they do first, and whose arena they come from.

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>
#include <sched.h>

#include <levada/levada.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

namespace run_workers {

namespace lv = levada;
using namespace lv::literals;

std::atomic<int> begun{0};
void begin() noexcept { ++begun; }

struct place {
  std::string name;
  int processor = -1;
  bool on_caller = false;
};

/// Says where it runs. `try_push` and `try_pop` alone, so that a worker has to come.
template <class App>
place visit(const App& app) {
  auto session = app.open();
  CHECK(session.try_push(0));
  for (;;) {
    if (auto r = session.try_pop()) return std::move(**r);
    std::this_thread::yield();
  }
}

auto where() {
  return lv::input<int> | lv::stage<"where">([caller = std::this_thread::get_id()](const int&) {
           char name[16] = {};
           pthread_getname_np(pthread_self(), name, sizeof name);
           return place{name, sched_getcpu(), std::this_thread::get_id() == caller};
         });
}

int first_of_ours() {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  int i = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(i), &set)) ++i;
  return i;
}

template <class... Options>
void check_dressed() {
  begun = 0;
  // Processor 0 is not everybody's.
  if (first_of_ours() == 0) {
    const auto app = lv::deploy<lv::target<lv::cpu<2, lv::affinity<0>>>, lv::worker_name<"levada test">,
                                lv::on_worker_start<&begin>, Options...>(where());
    for (int i = 0; i < 20; ++i) {
      const place p = visit(app);
      CHECK(p.name == "levada test");
      CHECK(p.processor == 0);
      CHECK_FALSE(p.on_caller);
    }
    CHECK(begun >= 1);
  }
  using elsewhere = lv::target<lv::cpu<1, lv::affinity<1023>>>;
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::deploy<elsewhere, Options...>(where())),
                       "levada: affinity: this process may not run on processor 1023", lv::error);
}

static_assert(lv::cpu<2>::max_threads == 2 && lv::cpu<1, 8>::max_threads == 8 && lv::cpu<1, 8>::min_threads == 1);
static_assert(lv::cpu<2, lv::affinity<3, 5>>::processors.count == 2 && lv::cpu<2>::processors.count == 0);
static_assert(lv::cpu<2, 4, lv::l2<2_MiB>>::l2_bytes == 2_MiB && lv::cpu<2>::l2_bytes == 1_MiB);

TEST_CASE("workers stay on their processors, have their name, and begin with the hook") {
  SUBCASE("oneTBB") { check_dressed<>(); }
  SUBCASE("std::thread") { check_dressed<lv::run_by<lv::thread_executor>>(); }
}

TEST_CASE("workers stay where the thread that deploys them does not run") {
  cpu_set_t ours;
  REQUIRE(sched_getaffinity(0, sizeof ours, &ours) == 0);
  if (!CPU_ISSET(0, &ours) || !CPU_ISSET(1, &ours)) return;
  std::thread([] {
    cpu_set_t first, after;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    CHECK(sched_setaffinity(0, sizeof first, &first) == 0);
    const auto app = lv::deploy<lv::target<lv::cpu<2, lv::affinity<1>>>>(where());
    CHECK(visit(app).processor == 1);
    using elsewhere = lv::target<lv::cpu<1, lv::affinity<1, 1023>>>;
    CHECK_THROWS_WITH_AS(static_cast<void>(lv::deploy<elsewhere>(where())),
                         "levada: affinity: this process may not run on processor 1023", lv::error);
    CHECK(sched_getaffinity(0, sizeof after, &after) == 0);
    CHECK(CPU_EQUAL(&first, &after));
  }).join();
}

TEST_CASE("a oneTBB worker is undressed when it leaves") {
  {
    const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::worker_name<"dressed">>(where());
    CHECK(visit(app).name == "dressed");
  }
  const auto plain = lv::deploy<lv::target<lv::cpu<2>>>(where());
  for (int i = 0; i < 50; ++i) CHECK(visit(plain).name != "dressed");
}

TEST_CASE("the second-level cache bounds the grain") {
  using item = lv::tensor<std::uint8_t, 64 * 1024>;
  const auto p = lv::input<item> | lv::stage<"copy", item>([](const item& in, item& out) { out = in; });
  const auto small = lv::deploy<lv::target<lv::cpu<2, lv::l2<256_KiB>>>>(p);
  const auto large = lv::deploy<lv::target<lv::cpu<2, lv::l2<2_MiB>>>>(p);
  CHECK(small.plan.segment[0].grain < large.plan.segment[0].grain);
}

TEST_CASE("the caller's arena brings the workers") {
  oneapi::tbb::task_arena mine(2, 1);
  std::atomic<int> elsewhere{0}, seen{0};
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"arena">([&](const int& x) {
                                                        ++seen;
                                                        elsewhere +=
                                                            oneapi::tbb::this_task_arena::max_concurrency() != 2;
                                                        return x;
                                                      }),
                                                      lv::in_arena(mine));
  auto session = app.open();
  for (int i = 0; i < 100; ++i) {
    while (!session.try_push(i)) std::this_thread::yield();
    while (!session.try_pop()) std::this_thread::yield();
  }
  CHECK(seen == 100);
  CHECK(elsewhere == 0);
  using threads = lv::run_by<lv::thread_executor>;
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::deploy<lv::target<lv::cpu<2>>, threads>(where(), lv::in_arena(mine))),
                       "levada: thread_executor works in no arena", lv::error);
}

}  // namespace run_workers
