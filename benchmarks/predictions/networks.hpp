// SPDX-License-Identifier: Apache-2.0
#pragma once
// predictions/networks.hpp: networks by the costs that `profile` measured on this machine, on one thread and on two.
// Each is a unit of its own. The headers in costs/ are of the machine that they name.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <levada/interop/profile.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>
#include <levada/run/promises.hpp>

#include "../../examples/models/random_weights.hpp"
#include "prediction.hpp"

namespace predictions {

using processor = lv::backends<lv::simd>;

template <class Pipeline>
using item_of = typename lv::detail::pipeline_types<lv::detail::flat<Pipeline>>::input_item;

template <class Item>
std::vector<Item> samples_of() {
  std::vector<Item> items(2);
  std::uint32_t seed = 0;
  for (Item& item : items)
    if constexpr (std::is_integral_v<typename Item::value_type>) {
      for (auto& v : item) v = static_cast<typename Item::value_type>(seed++ * 37 % 251);
    } else {
      example::models::fill_randomly(item, ++seed);
    }
  return items;
}

/// Measures the kernels of `pipeline` that are not in costs/`name`.costs.hpp for this machine. The program has to be
/// built again then.
template <class Pipeline>
void profile_network(const std::string& name, const Pipeline& pipeline) {
  lv::profile_options options;
  options.progress = &lv::print_progress;
  const std::string header = LEVADA_SOURCE_DIR "/benchmarks/predictions/costs/" + name + ".costs.hpp";
  const lv::profile_result r =
      lv::profile<lv::target<lv::cpu<1>>, processor>(pipeline, samples_of<item_of<Pipeline>>(), header, options);
  std::printf("%s: %zu measured, %zu known before\n", name.c_str(), r.measured, r.reused);
}

template <unsigned Threads, const lv::cost_table& Costs, class Pipeline>
prediction predict_network(const std::string& name, const Pipeline& pipeline) {
  constexpr lv::duration any_time{1'000'000'000};
  const auto app = lv::deploy<lv::target<lv::cpu<Threads>>, lv::slots<8>, processor, lv::costs<Costs>,
                              lv::budget<lv::interval<any_time>>>(pipeline);
  const auto samples = samples_of<item_of<Pipeline>>();
  const double expected = app.verify(samples.front(), 2).latency.expected;
  const auto items = static_cast<std::size_t>(std::clamp(0.5 / expected, 10.0, 2000.0));
  const lv::verification v = app.verify(samples.front(), items);
  return {name + ", cpu<" + std::to_string(Threads) + ">", v.latency, v.interval};
}
/// A network that nobody has profiled yet promises nothing.
template <const lv::cost_table& Costs, class Pipeline>
void predict_network(const std::string& name, const Pipeline& pipeline, std::vector<prediction>& all) {
  if constexpr (!Costs.kernels.empty()) {
    all.push_back(predict_network<1, Costs>(name, pipeline));
    all.push_back(predict_network<2, Costs>(name, pipeline));
  }
}

/// `profile` measures a network, `predict` adds its predictions.
struct network {
  void (*profile)();
  void (*predict)(std::vector<prediction>& all);
};
/// `Source().with(f)` calls `f(pipeline)` while the weights of its pipeline are there.
template <lv::fixed_string Name, const lv::cost_table& Costs, class Source>
constexpr network network_of() {
  return {
      [] { Source().with([](const auto& pipeline) { profile_network(std::string(Name.view()), pipeline); }); },
      [](std::vector<prediction>& all) {
        Source().with([&](const auto& pipeline) { predict_network<Costs>(std::string(Name.view()), pipeline, all); });
      }};
}

/// The source of a pipeline that `Make(weights)` gives, with the weights that its ops ask for, random.
template <auto Make>
struct random_source {
  template <class F>
  void with(F f) const {
    lv::parameter_map weights;
    example::models::set_randomly(weights, Make, 2026);
    f(Make(weights));
  }
};

extern const network demo, resnet18, mobilenet_v1, face, page_lines;

}  // namespace predictions
