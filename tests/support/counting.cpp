// SPDX-License-Identifier: Apache-2.0
// The allocation counters count: without this test a count of 0 elsewhere would prove nothing.

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/flow_graph.h>

#include "counting.hpp"

namespace {

template <class F>
allocation_counts counted(F f) {
  const allocation_counts before = allocations_now();
  f();
  return allocations_now() - before;
}

// Keeps the compiler from removing an allocation that nobody uses.
void use(void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

struct alignas(256) wide {
  char bytes[256];
};

}  // namespace

TEST_CASE("every form of operator new is counted once, as new") {
  if (!counts_allocations) return;
  const auto once = [](auto make) {
    const auto counts = counted([&] { use(std::unique_ptr(make()).get()); });
    return counts.news == 1 && counts.mallocs == 0;
  };
  CHECK(once([] { return std::make_unique<int>(); }));
  CHECK(once([] { return std::make_unique<int[]>(100); }));
  CHECK(once([] { return std::make_unique<wide>(); }));
  CHECK(once([] { return std::make_unique<wide[]>(3); }));
  CHECK(once([] { return std::unique_ptr<int>(new (std::nothrow) int); }));
  CHECK(counted([] { use(std::vector<int>(1000).data()); }).news == 1);
}

TEST_CASE("every function of the malloc family is counted once, as malloc") {
  if (!counts_allocations) return;
  const auto once = [](auto allocate) {
    const auto counts = counted([&] {
      void* const memory = allocate();
      use(memory);
      std::free(memory);
    });
    return counts.mallocs == 1 && counts.news == 0;
  };
  CHECK(once([] { return std::malloc(10); }));
  CHECK(once([] { return std::calloc(10, 10); }));
  CHECK(once([] { return std::realloc(nullptr, 10); }));
  CHECK(once([] { return std::aligned_alloc(128, 256); }));
  CHECK(once([]() -> void* {
    void* memory = nullptr;
    return posix_memalign(&memory, 128, 10) == 0 ? memory : nullptr;
  }));
  CHECK(once([] { return strdup("text of some length, longer than small"); }));
}

TEST_CASE("allocations of other threads and inside the standard library are counted") {
  if (!counts_allocations) return;
  std::uint64_t inside = 0;
  std::thread([&] { inside = counted([] { use(std::to_string(1e300).data()); }).heap(); }).join();
  CHECK(inside >= 1);
  CHECK(counted([] { std::thread([] {}).join(); }).heap() >= 1);
}

TEST_CASE("code that does not allocate counts nothing") {
  std::vector<int> values(100);
  const auto counts = counted([&] {
    for (int& v : values) ++v;
  });
  CHECK(counts.heap() == 0);
  CHECK(counts.tbb_pooled == 0);
}

TEST_CASE("oneTBB's pooled messages are counted, which operator new and malloc do not show") {
  if (!counts_allocations) return;
  namespace flow = oneapi::tbb::flow;
  flow::graph graph;
  int sum = 0;
  flow::function_node<int, int> node(graph, flow::serial, [&](int v) { return sum += v; });
  constexpr int messages = 1000;
  const auto stream = [&] {
    for (int i = 0; i < messages; ++i) {
      node.try_put(1);
      graph.wait_for_all();
    }
  };
  stream();
  const auto steady = counted(stream);
  CHECK(sum == 2 * messages);
  CHECK(steady.tbb_pooled >= messages);
  CHECK(steady.heap() < messages / 10);
}

TEST_CASE("oneTBB's own heap is counted") {
  if (!counts_allocations) return;
  oneapi::tbb::concurrent_queue<int> queue;
  const auto counts = counted([&] {
    for (int i = 0; i < 10'000; ++i) queue.push(i);
  });
  CHECK(counts.tbb_heap > 0);
}
