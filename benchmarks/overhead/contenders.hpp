// SPDX-License-Identifier: Apache-2.0
#pragma once
// overhead/contenders.hpp: one chain of stages over a vector of items, as levada, a hand-written loop, oneTBB and
// threads with rings would have it: in order, on two threads. Each returns a checksum over the results in order.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <levada/levada.hpp>

#include "work.hpp"

namespace overhead {

/// The hand-written loop, one thread: all stages of an item, then the next item.
template <class Item, class Chain>
std::uint64_t fused_loop(const std::vector<Item>& items, Chain chain) {
  std::uint64_t sum = 0;
  for (const Item& given : items) {
    Item item = given;
    std::apply([&](auto&... s) { ((item.value = s.step(item.value)), ...); }, chain.stages);
    sum = mix(sum, item.value);
  }
  return sum;
}

/// What two threads gain on this machine at best: two such loops at once, that share nothing.
template <class Item, class Chain>
std::uint64_t two_loops(const std::vector<Item>& items, const Chain& chain) {
  std::uint64_t other_sum = 0;
  std::thread other([&] { other_sum = fused_loop(items, chain); });
  const std::uint64_t sum = fused_loop(items, chain);
  other.join();
  return sum == other_sum ? sum : 0;
}

// ---- levada ----

/// In place: the payload stays in its slot.
template <class Item, class Stage>
struct in_place_step {
  Stage stage;
  void operator()(Item& item) { item.value = stage.step(item.value); }
};

template <class Item, class Stage>
auto levada_stage(const Stage& stage) {
  const in_place_step<Item, Stage> step{stage};
  if constexpr (std::is_same_v<Stage, parallel_stage>)
    return levada::stage<"work">(levada::parallel(step));
  else
    return levada::stage<"work">(step);
}

template <class Item, class Target = levada::target<levada::cpu<2>>, class Chain>
auto levada_app(const Chain& chain) {
  return std::apply(
      [](const auto&... s) { return levada::deploy<Target>((levada::input<Item> | ... | levada_stage<Item>(s))); },
      chain.stages);
}

template <class App, class Item>
std::uint64_t levada_stream(App& app, const std::vector<Item>& items) {
  std::uint64_t sum = 0;
  for (auto&& r : app.stream(items)) sum = mix(sum, r->value);
  return sum;
}

/// One item at a time, pushed and popped by one thread: as a caller has it that needs each answer.
template <class App, class Item>
std::uint64_t levada_push_pop(App& app, const std::vector<Item>& items) {
  auto session = app.open();
  std::uint64_t sum = 0;
  for (const Item& item : items) {
    session.push(item);
    sum = mix(sum, (*session.pop())->value);
  }
  return sum;
}

// ---- oneTBB ----

template <class Item, class Chain>
std::uint64_t flow_graph(const std::vector<Item>& items, const Chain& chain) {
  namespace flow = oneapi::tbb::flow;
  struct message {
    std::size_t sequence;
    Item item;
  };
  flow::graph graph;
  std::size_t next = 0;
  std::uint64_t sum = 0;
  flow::input_node<message> source(graph, [&](oneapi::tbb::flow_control& control) -> message {
    if (next == items.size()) {
      control.stop();
      return {};
    }
    const std::size_t i = next++;
    return {i, items[i]};
  });
  flow::limiter_node<message> limiter(graph, 64);
  std::vector<std::unique_ptr<flow::function_node<message, message>>> nodes;
  std::vector<std::unique_ptr<flow::sequencer_node<message>>> orders;
  flow::sender<message>* last = &limiter;
  const auto order = [&] {
    orders.push_back(
        std::make_unique<flow::sequencer_node<message>>(graph, [](const message& m) { return m.sequence; }));
    flow::make_edge(*last, *orders.back());
    last = orders.back().get();
  };
  const auto add = [&](const auto& stage) {
    constexpr bool parallel = std::is_same_v<std::remove_cvref_t<decltype(stage)>, parallel_stage>;
    // A chain of serial queueing nodes does not keep the order by itself.
    if (!parallel) order();
    nodes.push_back(std::make_unique<flow::function_node<message, message>>(
        graph, parallel ? flow::unlimited : flow::serial, [s = stage](message m) mutable {
          m.item.value = s.step(m.item.value);
          return m;
        }));
    flow::make_edge(*last, *nodes.back());
    last = nodes.back().get();
  };
  std::apply([&](const auto&... s) { (add(s), ...); }, chain.stages);
  order();
  flow::function_node<message, flow::continue_msg> sink(graph, flow::serial, [&](const message& m) {
    sum = mix(sum, m.item.value);
    return flow::continue_msg();
  });
  flow::make_edge(*last, sink);
  flow::make_edge(sink, limiter.decrementer());
  flow::make_edge(source, limiter);
  source.activate();
  graph.wait_for_all();
  return sum;
}

template <class Item, class Chain>
std::uint64_t parallel_pipeline(const std::vector<Item>& items, const Chain& chain) {
  namespace tbb = oneapi::tbb;
  std::size_t next = 0;
  std::uint64_t sum = 0;
  tbb::filter<void, Item> filters(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& control) -> Item {
    if (next == items.size()) {
      control.stop();
      return {};
    }
    return items[next++];
  });
  const auto add = [&](const auto& stage) {
    using stage_type = std::remove_cvref_t<decltype(stage)>;
    constexpr auto mode =
        std::is_same_v<stage_type, parallel_stage> ? tbb::filter_mode::parallel : tbb::filter_mode::serial_in_order;
    filters = filters & tbb::filter<Item, Item>(mode, [s = std::make_shared<stage_type>(stage)](Item item) {
                item.value = s->step(item.value);
                return item;
              });
  };
  std::apply([&](const auto&... s) { (add(s), ...); }, chain.stages);
  tbb::parallel_pipeline(16, filters & tbb::filter<Item, void>(tbb::filter_mode::serial_in_order,
                                                               [&](const Item& item) { sum = mix(sum, item.value); }));
  return sum;
}

// ---- a thread for each stage, rings between them ----

/// One producer, one consumer; both spin shortly and then yield.
template <class Item>
class ring {
 public:
  void push(const Item& item) {
    const std::size_t at = tail_.load(std::memory_order_relaxed);
    wait([&] { return at - head_.load(std::memory_order_acquire) < size; });
    items_[at % size] = item;
    tail_.store(at + 1, std::memory_order_release);
  }
  Item pop() {
    const std::size_t at = head_.load(std::memory_order_relaxed);
    wait([&] { return tail_.load(std::memory_order_acquire) != at; });
    Item item = items_[at % size];
    head_.store(at + 1, std::memory_order_release);
    return item;
  }

 private:
  static constexpr std::size_t size = 64;
  template <class Ready>
  static void wait(Ready ready) {
    for (int spins = 0; !ready(); ++spins)
      if (spins > 64) std::this_thread::yield();
  }
  std::array<Item, size> items_{};
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
};

template <class Item, class Chain>
std::uint64_t thread_per_stage(const std::vector<Item>& items, const Chain& chain) {
  constexpr std::size_t count = Chain::size;
  std::vector<std::unique_ptr<ring<Item>>> rings;
  for (std::size_t i = 0; i <= count; ++i) rings.push_back(std::make_unique<ring<Item>>());
  std::vector<std::jthread> threads;
  threads.reserve(count + 1);
  const auto add = [&](const auto& stage) {
    threads.emplace_back([&, i = threads.size(), s = stage]() mutable {
      for (std::size_t n = 0; n < items.size(); ++n) {
        Item item = rings[i]->pop();
        item.value = s.step(item.value);
        rings[i + 1]->push(item);
      }
    });
  };
  std::apply([&](const auto&... s) { (add(s), ...); }, chain.stages);
  threads.emplace_back([&] {
    for (const Item& item : items) rings[0]->push(item);
  });
  std::uint64_t sum = 0;
  for (std::size_t n = 0; n < items.size(); ++n) sum = mix(sum, rings[count]->pop().value);
  return sum;
}

}  // namespace overhead
