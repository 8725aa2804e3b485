// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/expected.hpp: what time a deployment is expected to take: its regions' plans by the costs that its
// options have.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/callable_rate.hpp>
#include <levada/graph/detail/rated_fork.hpp>
#include <levada/graph/detail/rated_graph.hpp>
#include <levada/graph/detail/rated_tee.hpp>
#include <levada/graph/detail/region.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/detail/pipeline_time.hpp>
#include <levada/plan/detail/unit_costs.hpp>
#include <levada/run/detail/deploy/deploy_options.hpp>
#include <levada/run/detail/deploy/paces.hpp>
#include <levada/run/detail/deploy/planned.hpp>

namespace levada::detail {

inline constexpr cost_table no_costs{};

/// The costs of a deployment's option, or none.
template <class Chooser>
consteval const cost_table& table_of_chooser() {
  if constexpr (requires { Chooser::table; })
    return Chooser::table;
  else
    return no_costs;
}

/// Of one region, whose plan is `Planning`.
template <class Planning>
constexpr expected_time expected_time_of_region(quantile at) {
  const cost_table& table = table_of_chooser<typename Planning::chooser>();
  const auto costs = unit_costs(Planning::plan, table);
  const int threads = Planning::target::threads().least;
  return expected_time_of(Planning::plan, {costs.data(), costs.size()},
                          {threads, slowdown_of(table.contentions, threads)}, at);
}

/// A rate that only copies items.
template <class Rate>
inline constexpr bool calls_stages = false;
template <fixed_string Name, std::size_t Takes, std::size_t Gives, class Out, class F>
inline constexpr bool calls_stages<callable_rate<Name, Takes, Gives, Out, F>> = true;
template <class Device, class... B>
inline constexpr bool calls_stages<fork_rate<Device, B...>> = true;
template <class Device, class B>
inline constexpr bool calls_stages<tee_rate<Device, B>> = true;
template <class Device, class... Parts>
inline constexpr bool calls_stages<graph_rate<Device, Parts...>> = true;

/// What leads from a region to the next.
template <class Rate, class In>
constexpr timed_rate timed_rate_of() {
  timed_rate rate{.name = Rate::name.view(), .ratio = Rate::template ratio<In>};
  if constexpr (Rate::template ratio<In>.takes != 0 && Rate::template ratio<In>.gives != 0) {
    constexpr auto of = [](const rational& x) { return static_cast<double>(x.n) / static_cast<double>(x.d); };
    const rate_bounds& bounds = bounds_of_rate<Rate, In>;
    rate.waits = of(bounds.lag) / of(bounds.slope);
  }
  rate.calls_stages = calls_stages<Rate>;
  if constexpr (requires { Rate::timeout; }) rate.timeout = Rate::timeout.seconds();
  return rate;
}

/// The plans of a pipeline, one for each region, as types.
template <class Pipeline, class Target, class... Options>
struct plannings_of {
  using parts = typename flatten<Pipeline, void>::type;
  static constexpr std::size_t regions = rates_of<parts>.count + 1;
  template <std::size_t R>
  using planning = planned<typename region<parts, R>::flat, Target, Options...>;
  template <std::size_t R>
  static constexpr timed_rate rate = timed_rate_of<typename region<parts, R>::rate, typename region<parts, R>::out>();
};
template <class Pipeline, class Target, class... Options>
  requires(!changes_rate<typename flatten<Pipeline, void>::type>)
struct plannings_of<Pipeline, Target, Options...> {
  static constexpr std::size_t regions = 1;
  template <std::size_t R>
  using planning = planned<flat_pipeline<typename flatten<Pipeline, void>::type>, Target, Options...>;
};

/// What time a deployment takes, by quantiles of its costs.
template <class Pipeline, class Target, class... Options>
struct timing_of {
  using plannings = plannings_of<Pipeline, Target, Options...>;
  static constexpr const cost_table& table = table_of_chooser<typename partition_option<Options...>::type>();

  static constexpr const head_paces& paces = paces_of<Pipeline>::value;

  /// Calls `take(regions, rates)`.
  template <class Take, std::size_t... R>
  static constexpr auto with_regions(quantile at, Take take, std::index_sequence<R...>) {
    const std::array<expected_time, sizeof...(R)> regions{
        expected_time_of_region<typename plannings::template planning<R>>(at)...};
    if constexpr (sizeof...(R) > 1) {
      return [&]<std::size_t... Border>(std::index_sequence<Border...>) {
        const timed_rate rates[] = {plannings::template rate<Border>...};
        return take(regions, rates);
      }(std::make_index_sequence<sizeof...(R) - 1>{});
    } else {
      return take(regions, std::span<const timed_rate>());
    }
  }
  template <quantile At>
  static constexpr pipeline_time time = with_regions(
      At, [](const auto& regions, const auto& rates) { return pipeline_time_of(regions, rates, arrival_of(paces)); },
      std::make_index_sequence<plannings::regions>{});

  /// For each item that comes in, by the median.
  static constexpr auto with_loads(auto use) {
    return with_regions(
        quantile::median,
        [&](const auto& regions, const auto& rates) {
          pipeline_sum sum(regions, rates, {});
          sum.sum();
          return use(sum.loads());
        },
        std::make_index_sequence<plannings::regions>{});
  }
  static constexpr auto loads = [] {
    std::array<expected_load, with_loads([](const auto& all) { return all.size(); })> loads;
    with_loads([&](const auto& all) {
      std::copy(all.begin(), all.end(), loads.begin());
      return 0;
    });
    return loads;
  }();
};

}  // namespace levada::detail
