// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/deploy.hpp: from a pipeline to an executable. With run/detail/deploy/planned.hpp and
// run/detail/deploy/bind_plan.hpp the one place that sees both the types and the plan. It declares the parts that a
// pipeline is written with.

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/batch.hpp>
#include <levada/graph/detail/callable_rate.hpp>
#include <levada/graph/detail/downsample.hpp>
#include <levada/graph/detail/fork.hpp>
#include <levada/graph/detail/graph.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/graph/detail/rate.hpp>
#include <levada/graph/detail/region.hpp>
#include <levada/graph/detail/window.hpp>
#include <levada/plan/detail/regions.hpp>
#include <levada/run/detail/deploy/bind_plan.hpp>
#include <levada/run/detail/deploy/deploy_options.hpp>
#include <levada/run/detail/deploy/deployment_mistake.hpp>
#include <levada/run/detail/deploy/executable.hpp>
#include <levada/run/detail/deploy/planned.hpp>
#include <levada/run/detail/session/session_handle.hpp>
#include <levada/run/detail/workers/machine.hpp>

namespace levada {
namespace detail {

// ---- where the rate changes ----

/// Where the stage objects of a pipeline are, and its rates, each in order.
struct stage_and_rate_addresses {
  stage_addresses stage;
  const void** next_rate;
  template <class Stage>
  [[gnu::always_inline]] void operator()(Stage& visited) {
    stage(visited);
  }
  template <class Rate>
  [[gnu::always_inline]] void operator()(rate_part<Rate>& rate) {
    *next_rate++ = &rate;
  }
  template <class... B>
  [[gnu::always_inline]] void operator()(fork_part<B...>& fork) {
    *next_rate++ = &fork;
  }
  template <class... Parts>
  [[gnu::always_inline]] void operator()(graph_part<Parts...>& graph) {
    *next_rate++ = &graph;
  }
  template <class B>
  [[gnu::always_inline]] void operator()(tee_part<B>& tee) {
    *next_rate++ = &tee;
  }
};

/// Of all rate regions: the devices of the target, each once, and the parts of the run time.
template <class... Planning>
struct uses_of_all {
  static consteval bool uses(device_id id) { return (Planning::uses(id) || ...); }
  static constexpr used_parts parts = (parts_used_by(Planning::plan) | ...);
};

/// As many of the stages as there are before rate region `R`.
template <class Parts, std::size_t R>
consteval std::size_t stages_before() {
  if constexpr (R == 0)
    return 0;
  else
    return stages_before<Parts, R - 1>() + region<Parts, R - 1>::flat::stages;
}
template <class Parts, std::size_t R>
[[gnu::always_inline]] inline later_region bind_region(auto deployment_types, const stage_address* stages,
                                                       const void* rate, std::size_t first_segment) {
  using before = region<Parts, R - 1>;
  using here = typename decltype(deployment_types)::type::template types<R>;
  using planner = typename decltype(deployment_types)::type::planner;
  program_rate with{&code_of_rate<typename before::rate, typename before::out, planner>, {}};
  with.prototype = with.code->make(rate);
  later_region bound{std::move(with), bind_plan<typename decltype(deployment_types)::type::template planning<R>,
                                                typename here::input_item, typename here::output_item>(
                                          stages + stages_before<Parts, R>())};
  bound.code.first_segment = first_segment;
  return bound;
}

template <class Types, class Parts, class Executor, class Pipeline, std::size_t... R>
[[gnu::always_inline]] inline auto deploy_regions(Pipeline& pipeline, const worker_settings& workers,
                                                  std::index_sequence<R...>) {
  stage_address stages[stages_before<Parts, Types::regions>() + 1];
  const void* rates[Types::regions];
  stage_and_rate_addresses visit{{stages}, rates};
  for_each_stage(pipeline, visit);
  constexpr std::size_t sources = Types::has_source ? 1 : 0;
  using first = typename Types::template types<0>;
  using all = uses_of_all<typename Types::template planning<0>, typename Types::template planning<R + 1>...>;
  program code =
      bind_plan<typename Types::template planning<0>, typename first::input_item, typename first::output_item>(stages +
                                                                                                               sources);
  std::size_t segments = code.segments.size();
  fixed_array<later_region> later(sizeof...(R));
  (
      [&] {
        later[R] = bind_region<Parts, R + 1>(type_tag<Types>{}, stages, rates[R], segments);
        segments += later[R].code.segments.size();
      }(),
      ...);
  return executable<Types, Executor>(
      make_deployment<Executor, all::parts>(std::move(code), owner<later_code>(new coded_regions<>(std::move(later))),
                                            attach_devices<all>(typename Types::template planning<0>::target_type{}),
                                            backbone_of<Executor, all::parts.devices, 2>(), workers),
      source_of<Types>(stages));
}

/// A pipeline of one rate.
template <class Types, class Pipeline, class Target, class Executor, class... Options>
[[gnu::always_inline]] inline auto deploy_line(Pipeline& pipeline, const worker_settings& workers) {
  using planning = typename Types::planning;
  if constexpr ((std::same_as<Options, cpu_fallback> || ...) && Types::on_devices) {
    using on_processor = typename fallback<Pipeline, Target, Options...>::planning;
    try {
      Pipeline first(pipeline);
      return deploy_plan<Types, planning, Executor>(first, workers);
    } catch (const device_error& e) {
      log(log_level::warning, std::string("the processor takes what was a device's: ") + e.what());
    }
    return deploy_plan<Types, on_processor, Executor>(pipeline, workers);
  } else {
    return deploy_plan<Types, planning, Executor>(pipeline, workers);
  }
}

/// What the user of a deployed pipeline sees.
template <class Pipeline, class Target, class... Options>
struct types_of_app
    : with_promises<deployment_types<flat<Pipeline>, Target, Options...>, Pipeline, Target, Options...> {};
template <class Pipeline, class Target, class... Options>
  requires changes_rate<flat_parts<Pipeline>>
struct types_of_app<Pipeline, Target, Options...>
    : with_promises<deployment_types_of_regions<flat_parts<Pipeline>, Target, Options...>, Pipeline, Target,
                    Options...> {};
/// The same, named after what makes the pipeline.
template <class Maker, class Target, class... Options>
struct types_made_by : types_of_app<made_pipeline<Maker>, Target, Options...>::type {};

/// A pipeline that is moved from.
template <class Types, class Target, class... Options, class Pipeline>
[[gnu::always_inline]] inline auto deploy_own(Pipeline& pipeline, worker_arena arena) {
  using executor = typename executor_of<Options...>::type;
  auto workers = workers_of<Target, Options...>();
  workers.arena = arena;
  (check_machine_of<Options>(), ...);
  if constexpr (Types::changes_rate)
    return deploy_regions<Types, flat_parts<Pipeline>, executor>(pipeline, workers,
                                                                 std::make_index_sequence<Types::regions - 1>());
  else
    return deploy_line<Types, Pipeline, Target, executor, Options...>(pipeline, workers);
}

}  // namespace detail

/// Decides, while compiling, which device and backend runs what, where the pipeline is split, what is fused and
/// buffered; then binds the weights and returns the executable. A mistake is one compile error that names it: the
/// overload below.
///
/// `given` is a pipeline, or a callable that makes one: `deploy<box>([&] { return resnet18(weights); })`. The
/// executable's type then has the name of the callable in place of all stages, and so have the symbols of functions
/// that take it.
///
/// Throws levada::error when a parameter is missing from its source or has another shape or type, or when an affinity
/// names a processor that is not ours. `arena`: its workers work in place of some of our own.
template <class Target, class... Options, class Given>
  requires correct<detail::deploy_call_mistake<Given, Target, Options...>>
[[nodiscard, gnu::always_inline]] inline auto deploy(Given&& given, worker_arena arena = {}) {
  if constexpr (detail::makes_pipeline<Given>) {
    detail::made_pipeline<Given> made(std::forward<Given>(given)());
    return detail::deploy_own<detail::types_made_by<std::remove_cvref_t<Given>, Target, Options...>, Target,
                              Options...>(made, arena);
  } else {
    using pipeline = std::decay_t<Given>;
    using types = typename detail::types_of_app<pipeline, Target, Options...>::type;
    if constexpr (std::is_lvalue_reference_v<Given> || std::is_const_v<Given>) {
      pipeline copy(std::forward<Given>(given));
      return detail::deploy_own<types, Target, Options...>(copy, arena);
    } else {
      return detail::deploy_own<types, Target, Options...>(given, arena);
    }
  }
}
/// A wrong deployment.
template <class Target, class... Options, class Given>
  requires(detail::deploy_call_mistake<Given, Target, Options...>::is_mistake)
mistake_found<detail::deploy_call_mistake<Given, Target, Options...>> deploy(Given&& given, worker_arena = {});

}  // namespace levada
