// SPDX-License-Identifier: Apache-2.0
#pragma once
// overhead/taskflow_chain.hpp: the chain as a pipeline of Taskflow with 16 lines.

#if LEVADA_HAS_TASKFLOW
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include <taskflow/algorithm/pipeline.hpp>
#include <taskflow/taskflow.hpp>

#include "work.hpp"

namespace overhead {

template <class Item, class Chain>
std::uint64_t taskflow_pipeline(const std::vector<Item>& items, Chain chain) {
  constexpr std::size_t lines = 16;
  static tf::Executor executor(2);
  std::array<Item, lines> slots{};
  std::uint64_t sum = 0;
  std::vector<tf::Pipe<>> pipes;
  pipes.emplace_back(tf::PipeType::SERIAL, [&](tf::Pipeflow& flow) {
    if (flow.token() == items.size())
      flow.stop();
    else
      slots[flow.line()] = items[flow.token()];
  });
  const auto add = [&](auto& stage) {
    const bool parallel = std::is_same_v<std::remove_cvref_t<decltype(stage)>, parallel_stage>;
    pipes.emplace_back(parallel ? tf::PipeType::PARALLEL : tf::PipeType::SERIAL, [&](tf::Pipeflow& flow) {
      Item& item = slots[flow.line()];
      item.value = stage.step(item.value);
    });
  };
  std::apply([&](auto&... s) { (add(s), ...); }, chain.stages);
  pipes.emplace_back(tf::PipeType::SERIAL, [&](tf::Pipeflow& flow) { sum = mix(sum, slots[flow.line()].value); });
  tf::ScalablePipeline pipeline(lines, pipes.begin(), pipes.end());
  tf::Taskflow flow;
  flow.composed_of(pipeline);
  executor.run(flow).wait();
  return sum;
}

}  // namespace overhead
#endif
