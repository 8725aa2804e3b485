// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/bind_plan.hpp: turns the answers of a plan back into types, by index, and binds them to the objects
// of the stages.

#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include <levada/core/detail/log.hpp>
#include <levada/graph/detail/rated_graph.hpp>
#include <levada/graph/detail/rated_tee.hpp>
#include <levada/graph/detail/region.hpp>
#include <levada/plan/detail/text.hpp>
#include <levada/run/detail/deploy/executable.hpp>
#include <levada/run/detail/deploy/planned.hpp>
#include <levada/run/detail/engine/report_devices.hpp>
#include <levada/run/detail/engine/run_branches.hpp>
#include <levada/run/detail/program/chain.hpp>
#include <levada/run/detail/program/flat_region.hpp>
#include <levada/run/detail/program/make_program.hpp>
#include <levada/run/detail/program/params.hpp>
#include <levada/run/detail/program/program_layout.hpp>
#include <levada/run/detail/program/stage_address.hpp>
#include <levada/run/detail/program/unit.hpp>
#ifdef LEVADA_KERNELS_APART
#include <levada/run/detail/program/apart_kernels.hpp>
#endif

namespace levada {
namespace detail {

// ---- back to types ----

struct no_source {};

template <class Part>
consteval auto source_callable_of() {
  if constexpr (is_source<Part>)
    return type_tag<typename Part::callable_type>{};
  else
    return type_tag<no_source>{};
}

/// The item that enters a pipeline: that of its first part, a source's or a declared one.
template <class Flat>
struct pipeline_types;
template <class Parts, std::size_t... I>
struct pipeline_types<flat_pipeline<Parts, std::index_sequence<I...>>> {
  using flat = flat_pipeline<Parts, std::index_sequence<I...>>;
  static constexpr std::size_t first_stage = flat::nth(flat::stage_flags, 0);  // behind all where there is none
  using first_part = typename type_at<Parts, (first_stage < Parts::size ? first_stage : 0)>::part;
  using source_callable = typename decltype(source_callable_of<first_part>())::type;
  static constexpr bool has_source = is_source<first_part>;
  using input_item = typename place<Parts, 0>::out;
  using last_out = item_behind<Parts>;
  using output_item = std::conditional_t<std::same_as<last_out, nothing_more>, void, last_out>;
};

constexpr bool filters_items(const auto& graph) {
  for (const node_info& n : graph.nodes)
    if (levada::filters(n)) return true;
  return false;
}

/// What the rates of a pipeline give of so many items, by their ratios alone.
template <class Parts, std::size_t... R>
consteval bool gives_one_for_each(std::index_sequence<R...>) {
  if constexpr (((region<Parts, R>::rate::template ratio<typename region<Parts, R>::out>.takes != 0) && ...)) {
    rate_bounds all;
    ((all = behind(all, bounds_of_rate<typename region<Parts, R>::rate, typename region<Parts, R>::out>)), ...);
    return all.slope == rational(1) && !(rational(0) < all.lag) && all.lead < rational(1) && all.at_end < rational(1);
  } else {
    return false;
  }
}

/// What the typed interface of an executable knows.
template <class Flat, class Target, class... Options>
struct deployment_types : pipeline_types<Flat> {
  using planning = planned<Flat, Target, Options...>;
  static constexpr bool changes_rate = false, gives_one_each = true;
  /// What has parameters of that name; void: there is none.
  template <fixed_string Group>
  using flat_of_group = std::conditional_t<has_group<Flat, Group>, Flat, void>;
  template <fixed_string Group>
  static parameter_board<>& board_of_group(const deployed_code& app) {
    return static_cast<parameter_board<>&>(*app.code.board);
  }
  static constexpr const auto& plan = planning::plan;
  static constexpr bool filters = filters_items(plan.graph);
  static constexpr bool on_devices = uses_devices(plan);
  /// The app needs an item of its own: a stage changes or consumes it, it is the result, or it goes through a session,
  /// as devices need.
  static constexpr bool owns_input =
      on_devices || (plan.has_result && plan.value[plan.graph.result].storage == 0) || [] {
        for (const node_info& n : plan.graph.nodes)
          if (consumes(n) && (n.in == 0 || plan.graph.values[n.in].part_of == 0)) return true;
        return false;
      }();
};

/// What leads to the `R`-th region.
template <class Parts, std::size_t R, class Planner>
consteval planned_rate rate_before() {
  if constexpr (R == 0) {
    return {};
  } else {
    using before = region<Parts, R - 1>;
    return {before::rate::name.view(), before::rate::template ratio<typename before::out>,
            state_of_rate<typename before::rate, typename before::out, Planner>::bytes,
            state_of_rate<typename before::rate, typename before::out, Planner>::rings};
  }
}

template <class Parts, class Target, class... Options, std::size_t... R>
consteval auto plan_regions(std::index_sequence<R...>) {
  return plan_of_regions<
      std::remove_cvref_t<decltype(planned<typename region<Parts, R>::flat, Target, Options...>::plan)>...>{
      {planned<typename region<Parts, R>::flat, Target, Options...>::plan...},
      {rate_before<Parts, R, planner_of_rates<Target, Options...>>()...}};
}

/// Of a pipeline that changes its rate.
template <class Parts, class Target, class... Options>
struct deployment_types_of_regions {
  template <std::size_t R>
  using planning = planned<typename region<Parts, R>::flat, Target, Options...>;
  template <std::size_t R>
  using types = pipeline_types<typename region<Parts, R>::flat>;
  static constexpr std::size_t regions = rates_of<Parts>.count + 1;
  using last = types<regions - 1>;

  using input_item = typename types<0>::input_item;
  using output_item = typename last::output_item;
  using source_callable = typename types<0>::source_callable;
  static constexpr bool has_source = types<0>::has_source;
  using planner = planner_of_rates<Target, Options...>;
  static constexpr bool changes_rate = true;
  /// Each item gives one result, and does not wait for another.
  static constexpr bool gives_one_each = gives_one_for_each<Parts>(std::make_index_sequence<regions - 1>());
  static constexpr bool filters = []<std::size_t... R>(std::index_sequence<R...>) {
    return (filters_items(planning<R>::plan.graph) || ...);
  }(std::make_index_sequence<regions>());
  static constexpr bool on_devices = true;
  static constexpr bool owns_input = true;
  template <fixed_string Group>
  using flat_of_group = typename decltype(group_in_parts<Parts, Group>())::type;
  template <fixed_string Group, std::size_t R = 0>
  static parameter_board<>& board_of_group(const deployed_code& app) {
    using here = region<Parts, R>;
    if constexpr (has_group<typename here::flat, Group>) {
      return static_cast<parameter_board<>&>(*app.program_of(R).board);
    } else if constexpr (holds_group<typename here::rate, typename here::out, Group>) {
      using state = typename state_of_rate<typename here::rate, typename here::out, planner>::type;
      return static_cast<const state*>(app.later->rate(R).prototype.get())->template board<Group>();
    } else {
      return board_of_group<Group, R + 1>(app);
    }
  }
  static constexpr auto plan = plan_regions<Parts, Target, Options...>(std::make_index_sequence<regions>());
};

/// A unit of the plan as a type that has its ops or its callable in its name, and not the pipeline.
template <bool Divided, class Kernel, class In, class Out, class... Ops>
struct kernel_unit {
  static constexpr const unit_descriptor* text = &made_kernel_text<Divided, Kernel, In, Out, Ops...>;
  static constexpr bool fits = false, gains = false;
  using step = void;
};
/// `Alone`: it takes one value and is in no feedback. `Serial`: it takes items one after the other.
template <class Place, bool Alone, bool Serial>
struct callable_unit {
  using callable = typename Place::part::callable_type;
  using call = typename Place::call;
  using in = typename Place::in;
  static constexpr const unit_descriptor* text =
      &callable_text<Place::part::name, callable, call::value, in, typename call::output>;
  /// It can be a step of a chain, and a chain of it alone is worth its code.
  static constexpr bool fits = Alone && fits_chain<callable, call::value, in, typename call::output>;
  static constexpr bool gains = fits && Serial && kept_in_registers<callable>;
  using step = chain_step<callable, call::value, in, typename call::output, Serial>;
};

/// So many ops from `First` on, computed as one.
template <class Flat, class Backend, std::size_t First, class Indices, bool Divided = false>
struct unit_of_ops;
template <class Flat, class Backend, std::size_t First, std::size_t... I, bool Divided>
struct unit_of_ops<Flat, Backend, First, std::index_sequence<I...>, Divided> {
  using run = typename flat_run<Flat, First, I...>::template on<Backend>;
  using type =
      kernel_unit<Divided, typename run::kernel, typename run::flowing, typename run::out, op_at<Flat, First + I>...>;
};
template <class Planning, std::size_t U, bool IsCallable = Planning::plan.unit[U].backend == partition_unit::callable>
struct find_unit
    : unit_of_ops<typename Planning::flat, backend_of_unit<Planning, U>, Planning::plan.unit[U].first,
                  std::make_index_sequence<Planning::plan.unit[U].count>, (Planning::plan.unit[U].parts > 1)> {};
template <class Planning, std::size_t U>
struct find_unit<Planning, U, true>
    : type_tag<callable_unit<typename Planning::flat::template node_place<Planning::plan.unit[U].first>,
                             !Planning::plan.unit[U].in_loop && Planning::plan.unit[U].more.empty(),
                             Planning::plan.unit[U].order == concurrency::serial>> {};
template <class Planning, std::size_t U>
using unit_at = typename find_unit<Planning, U>::type;

/// The most units of a chain: what a compiler still makes a good loop of.
inline constexpr std::size_t longest_chain = 8;

/// How many units from that one on make a chain, 0 behind its first.
template <class Planning, std::size_t... U>
consteval std::array<std::size_t, sizeof...(U)> chain_lengths(std::index_sequence<U...>) {
  const std::array<bool, sizeof...(U)> fits{unit_at<Planning, U>::fits...};
  const std::array<bool, sizeof...(U)> gains{unit_at<Planning, U>::gains...};
  std::array<std::size_t, sizeof...(U)> lengths{};
  const auto& units = Planning::plan.unit;
  for (std::size_t first = 0, u = 0; u < sizeof...(U); ++u) {
    const bool goes_on = u != 0 && fits[u] && lengths[first] != 0 && lengths[first] < longest_chain &&
                         units[u].segment == units[first].segment && units[u].in == units[u - 1].out;
    if (!goes_on) first = u;
    if (fits[u]) ++lengths[first];
  }
  for (std::size_t u = 0; u < sizeof...(U); ++u)
    if (lengths[u] == 1 && !gains[u] && (u == 0 || !fits[u - 1])) lengths[u] = 0;
  return lengths;
}
/// `AsLone`: for single items, too.
template <bool AsLone, class... Steps>
inline constexpr chain_text text_of_chain{};
template <bool AsLone, class First, class... Steps>
inline constexpr chain_text text_of_chain<AsLone, First, Steps...>{&run_chain<First, Steps...>, 1 + sizeof...(Steps)};
template <class First, class... Steps>
inline constexpr chain_text text_of_chain<true, First, Steps...>{&run_chain<First, Steps...>, 1 + sizeof...(Steps),
                                                                 &run_chain_once<First, Steps...>};
template <bool AsLone, class... Steps>
struct chain_of_steps {
  static constexpr const chain_text* text = &text_of_chain<AsLone, Steps...>;
};

/// All there is are a few chains: single items go through them in few steps.
template <std::size_t Units>
consteval bool are_all(const std::array<std::size_t, Units>& lengths) {
  std::size_t units = 0;
  for (const std::size_t length : lengths) units += length;
  return units == Units && Units <= 2 * longest_chain;
}
template <class Planning, bool AsLone, std::size_t U, class Indices>
struct chain_at;
template <class Planning, bool AsLone, std::size_t U, std::size_t... I>
struct chain_at<Planning, AsLone, U, std::index_sequence<I...>>
    : chain_of_steps<AsLone, typename unit_at<Planning, U + I>::step...> {};
template <class Planning, std::size_t... U>
consteval std::array<chain_text, sizeof...(U)> chain_texts(std::index_sequence<U...> units) {
  [[maybe_unused]] constexpr auto lengths = chain_lengths<Planning>(units);
  return {*chain_at<Planning, are_all(lengths), U, std::make_index_sequence<lengths[U]>>::text...};
}

/// What the stages take beside their items, in order.
template <class Flat>
consteval auto side_places() {
  if constexpr (Flat::has_sides)
    return Flat::sides().place;
  else
    return std::array<side_place, 0>{};
}

template <class Planning, std::size_t... U>
consteval std::array<const unit_descriptor*, sizeof...(U)> unit_texts(std::index_sequence<U...>) {
  return {unit_at<Planning, U>::text...};
}

/// The kernels of a deployment, in the order of its units.
[[gnu::cold]] inline fixed_array<erased_object> make_kernels(const unit_descriptor* const* texts,
                                                             const layout_arrays& plan, std::size_t units,
                                                             const stage_address* stages) {
  std::size_t count = 0, next = 0;
  for (std::size_t u = 0; u < units; ++u) count += texts[u]->make_kernel != nullptr ? 1u : 0u;
  fixed_array<erased_object> kernels(count);
  for (std::size_t u = 0; u < units; ++u)
    if (texts[u]->make_kernel != nullptr) kernels[next++] = texts[u]->make_kernel(stages + plan.units[u].stage);
  return kernels;
}

/// Opens those devices of the target that the plan uses.
template <bool... Used, class... Devices>
fixed_array<attached_device> open_used(target<Devices...>) {
  fixed_array<attached_device> devices((std::size_t{0} + ... + (Used ? 1 : 0)));
  [[maybe_unused]] std::size_t next = 0;
  (
      [&] {
        if constexpr (Used)
          devices[next++] = {Devices::id, owner<device_queue>(device_driver<Devices>::open().release())};
      }(),
      ...);
  return devices;
}
template <class Planning, class... Devices>
[[gnu::always_inline]] inline fixed_array<attached_device> attach_devices(target<Devices...> all) {
  return open_used<(has_driver<Devices> && Planning::uses(Devices::id))...>(all);
}

/// The threads of this machine within the bounds of `cpu<Min, Max>`.
inline int bind_threads(thread_bounds bounds) {
  const int here = processors();
  return here < bounds.least ? bounds.least : here < bounds.most ? here : bounds.most;
}

[[gnu::cold]] inline void log_deployed(const program& code) {
  std::string line = "deployed:";
  for (const program_unit& unit : code.units) {
    line += " \"";
    append_printable(line, unit.name);
    line += '"';
  }
  const char* const words[] = {"; segments: ", ", threads at once: ", ", slots: "};
  const std::size_t numbers[] = {code.segments.size(), static_cast<std::size_t>(code.threads), code.slots};
  for (std::size_t i = 0; i < std::size(numbers); ++i) line.append(words[i]).append(std::to_string(numbers[i]));
  log(log_level::info, line);
}

/// The parts of the run time that only some plans use.
struct used_parts {
  bool devices, division, branches;

  constexpr used_parts operator|(const used_parts& other) const {
    return {devices || other.devices, division || other.division, branches || other.branches};
  }
};
template <std::size_t N>
constexpr used_parts parts_used_by(const plan_info<N>& plan) {
  return {uses_devices(plan), divides(plan), runs_branches_at_once(plan)};
}

template <class Executor, used_parts Used>
[[gnu::cold]] std::shared_ptr<deployed<Executor>> make_deployment(program code, owner<later_code> later,
                                                                  fixed_array<attached_device> devices,
                                                                  backbone_code make_backbone,
                                                                  const worker_settings& workers) {
  auto app = std::make_shared<deployed<Executor>>(std::move(code), std::move(later), std::move(devices), make_backbone,
                                                  workers);
  if constexpr (Used.devices) {
    app->open_bridge = &device_reporter::open_bridge;
    prepare_devices(*app);
  }
  if constexpr (Used.division) make_team(*app);
  if constexpr (Used.branches) app->branches = branch_runner::calls();
  if (is_logged()) {
    log_deployed(app->code);
    for (std::size_t r = 1; r < app->regions(); ++r) log_deployed(app->program_of(r));
  }
  return app;
}

/// The stages of a pipeline in the order of its nodes.
template <class Flat>
struct stages_in_order {
  const stage_address* at;
  [[gnu::always_inline]] explicit stages_in_order(const stage_address* written) : at(written) {}
};
template <class Flat>
  requires is_reordered<Flat>
struct stages_in_order<Flat> {
  stage_address at[Flat::nodes];
  [[gnu::always_inline]] explicit stages_in_order(const stage_address* written) {
    for (std::size_t n = 0; n < Flat::nodes; ++n) at[n] = written[Flat::order.node[n]];
  }
};

/// A plan bound to the objects of its stages, which are moved from. `written` are those of the nodes.
template <class Planning, class In, class Out>
[[gnu::always_inline]] inline program bind_plan(const stage_address* written) {
  const stages_in_order<typename Planning::flat> in_order(written);
  const stage_address* const stages = in_order.at;
  // A local constant: a static one would become a symbol that spells out the pipeline.
  constexpr auto layout = layout_of(Planning::plan);
  using units = std::make_index_sequence<layout.unit_count>;
  const auto texts = unit_texts<Planning>(units{});
  const auto chains = chain_texts<Planning>(units{});
  constexpr auto sides = side_places<typename Planning::flat>();
  auto kernels = make_kernels(texts.data(), layout.arrays(), layout.unit_count, stages);
  program code = make_program(layout,
                              {layout.arrays(), texts.data(), destroy_code_of<In>(), destroy_code_of<Out>(), stages,
                               kernels.begin(), sides.data(), chains.data()},
                              bind_threads(Planning::target::threads()));
  if constexpr (holds_groups<typename Planning::flat>) make_board<Planning>(code, stages, units{});
  return code;
}

template <class Types>
[[gnu::always_inline]] inline typename Types::source_callable source_of([[maybe_unused]] const stage_address* stages) {
  if constexpr (Types::has_source)
    return std::move(*static_cast<typename Types::source_callable*>(stages[0].object));
  else
    return no_source{};
}

/// Binds a plan to the objects of its pipeline, which are moved from. `Types` is what its user sees.
template <class Types, class Planning, class Executor, class Pipeline>
[[gnu::always_inline]] inline auto deploy_plan(Pipeline& pipeline, const worker_settings& workers) {
  using flat = typename Planning::flat;
  stage_address stages[flat::stages];
  stage_addresses visit{stages};
  for_each_stage(pipeline, visit);
  constexpr std::size_t sources = Types::has_source ? 1 : 0;
  constexpr used_parts used = parts_used_by(Planning::plan);
  program code = bind_plan<Planning, typename Types::input_item, typename Types::output_item>(stages + sources);
  return executable<Types, Executor>(
      make_deployment<Executor, used>(std::move(code), {}, attach_devices<Planning>(typename Planning::target_type{}),
                                      backbone_of<Executor, used.devices, Planning::plan.segments>(), workers),
      source_of<Types>(stages));
}
}  // namespace detail
}  // namespace levada
