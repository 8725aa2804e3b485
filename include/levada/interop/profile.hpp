// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile.hpp: measures what each kernel that could compute a part of a pipeline takes on this machine, and
// writes the header that `deploy<box, costs<...>>` reads:
//
//   using kernels = lv::backends<lv::simd, lv::onednn>;
//   lv::profile<box, kernels>(pipeline, pictures, "box.costs.hpp");
//
//   #include "box.costs.hpp"
//   const auto app = lv::deploy<box, kernels, lv::costs<box_costs>>(pipeline);

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/graph/detail/sourced_graph.hpp>
#include <levada/interop/planned_from.hpp>
#include <levada/interop/profile/contention.hpp>
#include <levada/interop/profile/inside.hpp>
#include <levada/interop/profile/options.hpp>
#include <levada/interop/profile/profiler.hpp>
#include <levada/interop/profile/second_pass.hpp>
#include <levada/interop/profile/trial.hpp>
#include <levada/plan/detail/saved.hpp>
#include <levada/run/deploy.hpp>

namespace levada {

/// A measured call of a whole pipeline against the sum of what its kernels take (Collage's additive error).
struct additive_check {
  cost whole{};
  double sum = 0;
  std::size_t estimated = 0, unknown = 0;  ///< units whose cost nobody measured, or knows

  constexpr double error() const { return sum > 0 ? whole.seconds / sum - 1 : 0; }
};

namespace detail {

/// The devices of a target that compute by themselves, as far as they are there; the log says which are not.
template <class... Devices>
fixed_array<attached_device> open_devices(target<Devices...>) {
  std::vector<attached_device> found;
  const auto open = [&]<class Device>(type_tag<Device>) {
    if constexpr (has_driver<Device>) {
      try {
        found.push_back({Device::id, owner<device_queue>(device_driver<Device>::open().release())});
      } catch (const device_error& e) {
        log(log_level::warning, std::string("not measured: ") + e.what());
      }
    }
  };
  (open(type_tag<Devices>{}), ...);
  return fixed_array<attached_device>(found.size(), [&](std::size_t d) { return std::move(found[d]); });
}

/// Puts what the units of a plan took in their places into the header, the mean where several compute the same; their
/// sum.
template <std::size_t N>
double keep_in_place(const graph_info<N>& graph, const partition<N>& parts, std::span<const backend_info> backends,
                     const std::vector<cost>& taken, cost_header& costs) {
  std::map<std::pair<std::string, std::string>, std::vector<cost>> same;
  double sum = 0;
  for (std::size_t u = 0; u < parts.size(); ++u) {
    sum += taken[u].seconds;
    if (taken[u].origin != cost_origin::measured) continue;
    const bool is_callable = parts[u].candidate == partition_unit::callable;
    std::string signature;
    append_signature(signature, graph, parts[u].first, parts[u].count);
    same[{is_callable ? "callable" : std::string(backends[parts[u].backend].name), signature}].push_back(taken[u]);
  }
  for (const auto& [key, all] : same) {
    cost mean = cost::measured(0);
    for (const cost& c : all) {
      mean.seconds += c.seconds / static_cast<double>(all.size());
      mean.spread += c.spread / static_cast<double>(all.size());
      mean.p95 += c.p95 / static_cast<double>(all.size());
    }
    costs.set(key.first, key.second, mean);
  }
  return sum;
}

/// The order in which most regions apart are there to be measured, whoever is preferred.
struct every_region_apart {
  template <std::size_t N>
  static constexpr node_places<N> order_for(const graph_info<N>& graph, std::span<const device_info>,
                                            std::span<const candidate>, std::span<const backend_info>,
                                            const apart_regions<N>& apart) {
    return preferred_order(graph, apart, {});
  }
};

/// Tries whole plans by what is known of their kernels, and writes down the fastest.
template <class Target, class... Options, class Profiler, class Pipeline, class Samples>
whole_result try_wholes(Profiler& work, const Pipeline& pipeline, const Samples& samples, cost_header& costs,
                        const profile_options& options) {
  using flat = flat<Pipeline>;
  using deployment_types = pipeline_types<flat>;
  using in = typename deployment_types::input_item;
  using out = typename deployment_types::output_item;
  constexpr std::size_t slots = slots_wanted<flat, Options...>;
  constexpr const auto& graph = Profiler::graph;
  const std::span<const device_info> devices = target_values<Target>::list;
  const std::span<const candidate> candidates(Profiler::found::candidates.data(), Profiler::candidates);
  const std::span<const backend_info> backends = Profiler::found::values::values;
  const std::uint64_t question = question_of(graph, devices, backends);
  whole_result result;
  if (costs.has_whole(question)) return result;

  const cost_table table = costs.table();
  using parts = partition<Profiler::nodes_bound>;
  const auto program_for = [&](const parts& tried) {
    Pipeline copy(pipeline);
    stage_address stages[flat::stages];
    stage_addresses visit{stages};
    for_each_stage(copy, visit);
    return work.template program_of<in, out>(tried, slots, devices,
                                             stages_in_order<typename Profiler::flat>(stages).at);
  };
  second_pass<Profiler::nodes_bound> pass(
      graph, devices, candidates, backends, table,
      [&](const parts& tried) -> timed_plan {
        return [code = std::make_shared<trial<in, out, Samples>>(program_for(tried), samples)] { return (*code)(); };
      },
      options.seconds_wholes);
  if (options.progress)
    pass.progress = [&](std::size_t tried, double part) {
      options.progress({tried, tried + 1, (1 - part) * options.seconds_wholes, "whole plans", ""});
    };
  if (const parts kept = pass.run(result); !kept.empty()) {
    costs.set_whole(question, save(make_plan(graph, kept, {slots}, devices, candidates, backends)), result.kept);
    const double seconds = std::min(1.0, options.seconds_wholes / 4);
    result.sum_in_place =
        keep_in_place(graph, kept, backends, times_in_place<in, out>(program_for(kept), samples, seconds), costs);
    costs.set(measure_contentions(
        [&] {
          return [code = std::make_shared<trial<in, out, Samples>>(program_for(kept), samples)] { return (*code)(); };
        },
        static_cast<int>(std::thread::hardware_concurrency()), seconds));
    costs.write();
  }
  return result;
}

}  // namespace detail

/// Measures, on this thread, each kernel that could compute a part of the pipeline, with the first of the `samples` on
/// its way, each plain callable, and the ways to devices and back; and writes the header at `path` after each, whole at
/// any moment: what a header that is there already has of this machine is not measured again.
///
/// Then whole plans of the processor are called by turns, and the fastest goes into the header, too: those of one
/// backend each, what the costs choose, and neighbours. A device of the target that is not there is left out. `Options`
/// are those of `deploy`; the backends are those that it would have.
template <class Target, class... Options, class Pipeline, class Samples>
  requires correct<detail::deployment_mistake<Pipeline, Target, Options...>> &&
           (!detail::changes_rate<detail::flat_parts<Pipeline>>)
profile_result
    profile(Pipeline pipeline, const Samples& samples, const std::string& path, const profile_options& options = {}) {
  using backend_list = typename detail::backends_of<Target, Options...>::type;
  using flat = detail::ordered<detail::flat<Pipeline>, backend_list, Target, detail::every_region_apart>;
  using deployment_types = detail::pipeline_types<detail::flat<Pipeline>>;
  static_assert(!deployment_types::has_source, "a profile takes the samples in place of a source's items");
  static_assert(std::is_trivially_copyable_v<typename deployment_types::input_item>, "a profile copies its sample");
  detail::stage_address stages[flat::stages];
  detail::stage_addresses visit{stages};
  for_each_stage(pipeline, visit);
  const detail::stages_in_order<flat> in_order(stages);

  detail::cost_header costs(path, detail::machine_text());
  const roofline core{"", detail::peak_flops(), detail::peak_bandwidth(), 0};
  const typename deployment_types::input_item& sample = *std::begin(samples);
  const auto work = std::make_unique<detail::profiler<flat, backend_list>>(
      in_order.at, &sample, detail::open_devices(Target{}), costs, options);
  work->keep_rooflines(core);
  profile_result result = work->run();
  work->keep_rooflines(core);
  detail::profile_inside(*work, in_order.at, costs, options, result);
  costs.write();
  if constexpr (std::is_copy_constructible_v<Pipeline>)
    if (options.seconds_wholes > 0)
      result.wholes = detail::try_wholes<Target, Options...>(*work, pipeline, samples, costs, options);
  result.stale = costs.stale_machine();
  return result;
}

/// Calls an app on this thread with the samples by turns, and adds up what a table says of its units.
template <class App, class Samples>
additive_check check_sum(const App& app, const cost_table& table, const Samples& samples, double seconds = 1) {
  constexpr const auto& plan = App::plan;
  constexpr auto graph = detail::sourced_graph<typename detail::deployment_types_of<App>::type::planning::flat>;
  additive_check check;
  const graph_costs<std::remove_cvref_t<decltype(graph.nodes)>::capacity()> costs(
      graph, std::span<const backend_info>(plan.backend.data(), plan.backend.size()), table);
  for (const auto& unit : plan.unit) {
    const cost c = unit.backend == partition_unit::callable ? costs.of_callable(unit.first)
                                                            : costs.of_run(unit.backend, unit.first, unit.count);
    check.sum += c.seconds;
    check.estimated += c.origin == cost_origin::estimated;
    check.unknown += c.origin == cost_origin::unknown;
  }
  auto next = std::begin(samples);
  using out = typename App::output;
  std::vector<double> calls;
  const auto result = std::make_unique<std::remove_cvref_t<out>>();
  const auto call = [&] {
    if (next == std::end(samples)) next = std::begin(samples);
    const auto& sample = *next++;
    const double start = detail::thread_seconds();
    app(sample, *result);
    calls.push_back(detail::thread_seconds() - start);
  };
  call();
  calls.clear();
  const double start = detail::thread_seconds();
  while (calls.size() < 9 || (calls.size() < 100000 && detail::thread_seconds() - start < seconds)) call();
  check.whole = detail::summary_of(std::move(calls));
  return check;
}

}  // namespace levada
