// SPDX-License-Identifier: Apache-2.0
#pragma once
// overhead/fastflow_chain.hpp: the chain as a pipeline of FastFlow: a thread for each stage, pointers in its queues. It
// keeps the order where stages are serial; parallel ones run here as serial ones do.

#if LEVADA_HAS_FASTFLOW
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include <ff/ff.hpp>

#include "work.hpp"

namespace overhead {

template <class Item, class Chain>
std::uint64_t fastflow_pipeline(const std::vector<Item>& items, const Chain& chain) {
  std::vector<Item> slots = items;
  struct source final : ff::ff_node_t<Item> {
    explicit source(std::vector<Item>& of) : all(of) {}
    Item* svc(Item*) override {
      for (Item& item : all) this->ff_send_out(&item);
      return this->EOS;
    }
    std::vector<Item>& all;
  };
  struct sink final : ff::ff_node_t<Item> {
    Item* svc(Item* item) override {
      sum = mix(sum, item->value);
      return this->GO_ON;
    }
    std::uint64_t sum = 0;
  };
  source first(slots);
  sink last;
  ff::ff_pipeline pipeline;
  pipeline.add_stage(&first);
  std::vector<std::unique_ptr<ff::ff_node>> nodes;
  const auto add = [&]<class Stage>(const Stage& stage) {
    struct node final : ff::ff_node_t<Item> {
      explicit node(const Stage& s) : stage(s) {}
      Item* svc(Item* item) override {
        item->value = stage.step(item->value);
        return item;
      }
      Stage stage;
    };
    nodes.push_back(std::make_unique<node>(stage));
    pipeline.add_stage(nodes.back().get());
  };
  std::apply([&](const auto&... s) { (add(s), ...); }, chain.stages);
  pipeline.add_stage(&last);
  pipeline.blocking_mode(true);
  if (pipeline.run_and_wait_end() < 0) return 0;
  return last.sum;
}

}  // namespace overhead
#endif
