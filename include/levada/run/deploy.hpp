// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/deploy.hpp: from a pipeline to an executable. The one place that sees both the types and the plan: it asks the
// backends for candidates, has the plan made, and turns the plan's answers back into types, by index.

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include <levada/core/device.hpp>
#include <levada/core/device_queue.hpp>
#include <levada/core/log.hpp>
#include <levada/graph/describe.hpp>
#include <levada/graph/rated_graph.hpp>
#include <levada/graph/rated_tee.hpp>
#include <levada/graph/region.hpp>
#include <levada/plan/budget.hpp>
#include <levada/plan/device_memory.hpp>
#include <levada/plan/given.hpp>
#include <levada/plan/options.hpp>
#include <levada/plan/pinned.hpp>
#include <levada/plan/plan.hpp>
#include <levada/plan/regions.hpp>
#include <levada/plan/unit_prices.hpp>
#include <levada/run/accuracy.hpp>
#include <levada/run/chain.hpp>
#include <levada/run/executable.hpp>
#include <levada/run/executor.hpp>
#include <levada/run/machine.hpp>
#include <levada/run/on_backend.hpp>
#include <levada/run/params.hpp>
#include <levada/run/unit.hpp>

namespace levada {

/// The backends where no option (`void`) names any: specialised where one becomes the default (levada.hpp).
template <class Option>
struct default_backends {
  using type = backends<>;
};

namespace detail {

// ---- options ----

template <class Option>
inline constexpr std::size_t slot_count_in = 0;
template <std::size_t N>
inline constexpr std::size_t slot_count_in<slots<N>> = N;

template <class... Options>
consteval std::size_t slot_count_of() {
  std::size_t count = 64;
  ((count = slot_count_in<Options> != 0 ? slot_count_in<Options> : count), ...);
  return count;
}

template <class Bound>
inline constexpr std::size_t memory_allowed = ~std::size_t{0};
template <std::size_t Bytes>
inline constexpr std::size_t memory_allowed<memory<Bytes>> = Bytes;
template <class Option>
inline constexpr std::size_t memory_bound_in = ~std::size_t{0};
template <class... Bounds>
inline constexpr std::size_t memory_bound_in<budget<Bounds...>> =
    std::min({~std::size_t{0}, memory_allowed<Bounds>...});

/// The smallest loss of accuracy that options allow.
template <class... Options>
consteval points loss_bound_of() {
  points bound = any_loss;
  ((bound = std::min(bound, loss_allowed_by<Options>)), ...);
  return bound;
}

template <class... Options>
consteval std::size_t memory_bound_of() {
  std::size_t bound = ~std::size_t{0};
  ((bound = std::min(bound, memory_bound_in<Options>)), ...);
  return bound;
}

template <class Option>
inline constexpr bool pins_plan = false;
template <fixed_string Line>
inline constexpr bool pins_plan<pinned<Line>> = true;

template <class Option>
struct pinned_line;
template <fixed_string Line>
struct pinned_line<pinned<Line>> {
  static constexpr auto line = Line;
};
template <class... Options>
struct pinned_option : type_tag<void> {};
template <class First, class... Rest>
struct pinned_option<First, Rest...> : std::conditional_t<pins_plan<First>, type_tag<First>, pinned_option<Rest...>> {};

/// The option that chooses the partition, if any: `costs<table>` (plan/partition_by_cost.hpp).
template <class Option>
inline constexpr bool chooses_partition = requires { &Option::template partition_for<1>; };
template <class... Options>
struct partition_option : type_tag<void> {};
template <class First, class... Rest>
struct partition_option<First, Rest...>
    : std::conditional_t<chooses_partition<First>, type_tag<First>, partition_option<Rest...>> {};

/// The backends that the devices of a target bring, each once, behind `Known`.
template <class Known, class... Devices>
struct with_brought : type_tag<Known> {};
template <class... B, class First, class... Rest>
struct with_brought<backends<B...>, First, Rest...> : with_brought<backends<B...>, Rest...> {};
template <class... B, class First, class... Rest>
  requires requires { typename device_driver<First>::backend; } &&
           (!std::same_as<B, typename device_driver<First>::backend> && ...)
struct with_brought<backends<B...>, First, Rest...>
    : with_brought<backends<B..., typename device_driver<First>::backend>, Rest...> {};

/// The backends that an option names, else the default ones and those that come with the target's devices.
template <class Target, class... Options>
struct backends_of;
template <class... Devices>
struct backends_of<target<Devices...>>
    : with_brought<typename default_backends<std::conditional_t<sizeof...(Devices) != 0, void, target<>>>::type,
                   Devices...> {};
template <class Target, class... B, class... Rest>
struct backends_of<Target, backends<B...>, Rest...> : type_tag<backends<B...>> {};
template <class Target, class First, class... Rest>
struct backends_of<Target, First, Rest...> : backends_of<Target, Rest...> {};

template <class... Options>
struct executor_of : default_executor<std::conditional_t<sizeof...(Options) == 0, void, type_list<Options...>>> {};
template <class E, class... Rest>
struct executor_of<run_by<E>, Rest...> : type_tag<E> {};
template <class First, class... Rest>
struct executor_of<First, Rest...> : executor_of<Rest...> {};

/// What makes the backbone of a session. A segment alone has no edges, and an executor need not have any.
template <class Executor, bool OnDevices, std::size_t Segments>
consteval backbone_code backbone_of() {
  if constexpr (OnDevices || Segments > 1)
    if constexpr (requires { &Executor::template make_backbone<OnDevices>; })
      return &Executor::template make_backbone<OnDevices>;
  return nullptr;
}

// ---- target and backends as values ----

template <class Device>
inline constexpr bool has_driver = requires { device_driver<Device>::open(); };

template <class Device>
consteval device_info device_value() {
  device_info info{Device::id};
  if constexpr (Device::id.kind == device_kind::cpu)
    info = {Device::id, Device::max_threads, Device::l1_bytes, Device::l2_bytes};
  info.memory_bytes = device_memory<Device>();
  return info;
}

template <class Target>
struct target_values;
template <class... Devices>
struct target_values<target<Devices...>> {
  static constexpr device_info list[] = {device_value<Devices>()...};
  static constexpr bool has(device_id id) { return (admits(id, Devices::id) || ...); }
  static constexpr bool is_several(device_id pin) {
    return ((admits(pin, Devices::id) && count_of(Devices::id) > 1) || ...);
  }
  /// The bounds on the processor's threads; one where the target names none: the caller's.
  static constexpr std::pair<int, int> thread_bounds() {
    std::pair<int, int> bounds{1, 1};
    (
        [&] {
          if constexpr (Devices::id.kind == device_kind::cpu) bounds = {Devices::min_threads, Devices::max_threads};
        }(),
        ...);
    return bounds;
  }
  static constexpr processor_set processors() {
    processor_set set{};
    (
        [&] {
          if constexpr (Devices::id.kind == device_kind::cpu) set = Devices::processors;
        }(),
        ...);
    return set;
  }
};

/// The devices of a target, with so many items in flight.
template <class Target, std::size_t Slots>
inline constexpr auto devices_of = [] {
  std::array<device_info, std::size(target_values<Target>::list)> all;
  for (std::size_t d = 0; d < all.size(); ++d) {
    all[d] = target_values<Target>::list[d];
    all[d].slots = Slots;
  }
  return all;
}();

/// A backend may say what it can do at most: `static constexpr lv::roofline roofline`.
template <class B>
consteval backend_info info_of() {
  backend_info info{B::name, B::device};
  if constexpr (requires { B::roofline; }) info.own = B::roofline;
  return info;
}

template <class Backends>
struct backend_values;
template <class... B>
struct backend_values<backends<B...>> {
  using list = type_list<B...>;
  static constexpr std::size_t count = sizeof...(B);
  static constexpr std::array<backend_info, sizeof...(B)> values{info_of<B>()...};
  static constexpr std::size_t longest_run() {
    std::size_t longest = 0;
    ((longest = B::longest_run > longest ? B::longest_run : longest), ...);
    return longest;
  }
};

// ---- candidates ----

template <class Flat, std::size_t First, class Indices>
struct run_of_ops;
template <class Flat, std::size_t First, std::size_t... I>
struct run_of_ops<Flat, First, std::index_sequence<I...>> {
  using in = op_input_t<typename Flat::template node_place<First>::in>;
  template <class Backend>
  static constexpr bool taken_by =
      has_kernel_for<Backend, in, typename Flat::template node_place<First + I>::part::op_type...>;
  template <class Backend>
  using kernel = kernel_for_t<Backend, in, typename Flat::template node_place<First + I>::part::op_type...>;
};

/// All runs of ops that some backend takes as one.
template <class Flat, class Backends>
struct enumerated {
  using values = backend_values<Backends>;
  static constexpr auto graph = Flat::describe();
  static constexpr std::size_t nodes = Flat::nodes;
  static constexpr std::size_t most = nodes * values::longest_run() * values::count;
  using list = bounded<candidate, (most > 0 ? most : 1)>;

  static constexpr auto feeds = feeds_only_the_next(graph);

  static consteval std::size_t ops_from(std::size_t node) {
    std::size_t n = 0;
    while (node + n < nodes && is_op(graph.nodes[node + n]) && (n == 0 || feeds[node + n - 1])) ++n;
    return n;
  }

  template <std::size_t Node, std::size_t Length>
  using run = run_of_ops<Flat, Node, std::make_index_sequence<Length>>;

  template <std::size_t Node, std::size_t Backend, std::size_t Length>
  static consteval void add(list& found) {
    using backend = type_at<typename values::list, Backend>;
    if constexpr (run<Node, Length>::template taken_by<backend>) {
      using kernel = typename run<Node, Length>::template kernel<backend>;
      found.push_back({Node, Length, Backend, kernel::scratch_bytes, weight_bytes_of<kernel>});
    }
  }

  template <std::size_t Node, std::size_t Backend, std::size_t... L>
  static consteval void add_lengths(list& found, std::index_sequence<L...>) {
    (add<Node, Backend, L + 1>(found), ...);
  }

  template <std::size_t Node, std::size_t... B>
  static consteval void add_backends([[maybe_unused]] list& found, std::index_sequence<B...>) {
    [[maybe_unused]] constexpr std::size_t there = ops_from(Node);
    (add_lengths<Node, B>(
         found,
         std::make_index_sequence<std::min<std::size_t>(there, type_at<typename values::list, B>::longest_run)>{}),
     ...);
  }

  /// A backend may say which runs it takes by a rule, too: `static constexpr auto rules` (plan/rules.hpp).
  template <std::size_t Backend>
  static consteval void keep_ruled([[maybe_unused]] list& found) {
    using backend = type_at<typename values::list, Backend>;
    if constexpr (requires { backend::rules; }) keep_found(backend::rules, graph, Backend, found);
  }

  template <std::size_t... B>
  static consteval void keep_all_ruled([[maybe_unused]] list& found, std::index_sequence<B...>) {
    (keep_ruled<B>(found), ...);
  }

  template <std::size_t... Node>
  static consteval list all(std::index_sequence<Node...>) {
    list found;
    (add_backends<Node>(found, std::make_index_sequence<values::count>{}), ...);
    keep_all_ruled(found, std::make_index_sequence<values::count>{});
    if constexpr (Flat::gives_regions) keep_given(graph, values::values, found);
    return found;
  }

  static constexpr list candidates = all(std::make_index_sequence<nodes>{});
};

// ---- the plan ----

/// The backends that plan a pipeline: one more where stages hold pipelines themselves (run/nested.hpp).
template <class Backends, class Flat, class Target, class... Options>
struct with_nested : type_tag<Backends> {};
/// The mistake in the plans of these.
template <class Flat, class Target, class... Options>
struct nested_mistake : type_tag<no_mistake> {};

/// Its items are run by the one thread that asks for them.
struct without_workers {};

/// Of a flattened pipeline of one rate.
template <class Flat, class Target, class... Options>
struct planned {
  using flat = Flat;
  using backend_list =
      typename with_nested<typename backends_of<Target, Options...>::type, flat, Target, Options...>::type;
  using found = enumerated<flat, backend_list>;
  using target = target_values<Target>;
  using target_type = Target;
  static constexpr std::size_t nodes = flat::nodes;
  using backend_types = typename backend_values<backend_list>::list;

  static consteval std::span<const candidate> candidates() {
    return {found::candidates.data(), found::candidates.size()};
  }
  static consteval std::span<const backend_info> backend_infos() { return backend_values<backend_list>::values; }

  static constexpr const auto& graph = found::graph;
  static constexpr const auto& devices = devices_of<Target, slot_count_of<Options...>()>;
  using pin = typename pinned_option<Options...>::type;

  /// What follows from pins and preferences, or from costs; a plan that was saved may have another.
  static consteval auto prefer() {
    using chooser = typename partition_option<Options...>::type;
    if constexpr (std::is_void_v<chooser>)
      return choose_partition(graph, devices, candidates(), backend_infos());
    else
      return chooser::partition_for(graph, devices, candidates(), backend_infos());
  }
  static constexpr auto preferred = prefer();

  /// The first node that no device of the target can take: the partition stops short of it.
  static consteval std::size_t homeless() { return covered_nodes(preferred); }

  /// A device of the target that the plan uses and nobody has brought a driver for.
  template <class... Devices>
  static consteval auto driver_mistake(type_tag<levada::target<Devices...>>) {
    constexpr bool missing[] = {(Devices::id.kind != device_kind::cpu && !has_driver<Devices> && uses(Devices::id))...};
    constexpr std::size_t first = [] {
      for (std::size_t i = 0; i < sizeof...(Devices); ++i)
        if (missing[i]) return i;
      return sizeof...(Devices);
    }();
    if constexpr (first < sizeof...(Devices))
      return device_needs_the_header_that_brings_its_driver<type_at<type_list<Devices...>, first>>{};
    else
      return no_mistake{};
  }
  static consteval bool uses(device_id id) {
    for (const planned_segment& s : plan.segment)
      if (s.device == id) return true;
    return false;
  }

  /// The first node of a segment of a device that computes by itself which is not in line with the others there, and the device.
  struct branched_node {
    std::size_t node = nodes;
    device_id device{};
  };
  static consteval branched_node branched_on_device() {
    const auto& feeds = found::feeds;
    for (const planned_segment& s : plan.segment) {
      if (s.device.kind != device_kind::vulkan) continue;
      for (std::size_t u = s.first; u < s.first + s.count; ++u) {
        const std::size_t first = plan.unit[u].first;
        if (u == s.first ? !graph.nodes[first].more.empty() : !feeds[first - 1]) return {first, s.device};
      }
    }
    return {};
  }

  static consteval auto pin_mistake() {
    if constexpr (std::is_void_v<pin>)
      return no_mistake{};
    else
      return pinned_mistake<pinned_line<pin>::line, found::graph, target::list, found::candidates,
                            backend_values<backend_list>::values>{};
  }

  template <class Partition>
  static consteval auto make_with(const Partition& parts, std::size_t slots) {
    using chooser = typename partition_option<Options...>::type;
    const auto prices = [&] {
      if constexpr (requires { chooser::prices_for(graph, parts, backend_infos()); })
        return chooser::prices_for(graph, parts, backend_infos());
      else
        return unit_prices(graph, parts, backend_infos());
    }();
    constexpr bool has_workers = !(std::same_as<Options, without_workers> || ...);
    return make_plan(graph, parts, {slots, {prices.data(), prices.size()}, has_workers}, devices, candidates(),
                     backend_infos());
  }
  static consteval auto make() {
    if constexpr (std::is_void_v<pin>) {
      return make_with(preferred, slot_count_of<Options...>());
    } else {
      constexpr const auto& saved = pinned_partition<pinned_line<pin>::line, found::graph, target::list,
                                                     found::candidates, backend_values<backend_list>::values>;
      return make_with(saved.parts, saved.slots);
    }
  }
  static constexpr auto plan = make();
};

template <class T>
inline constexpr bool is_option =
    memory_bound_in<T> != ~std::size_t{0} || loss_allowed_by<T> != any_loss || pins_plan<T> || chooses_partition<T>;
template <std::size_t Count>
inline constexpr bool is_option<slots<Count>> = true;
template <class... B>
inline constexpr bool is_option<backends<B...>> = true;
template <class Executor>
inline constexpr bool is_option<run_by<Executor>> = true;
template <>
inline constexpr bool is_option<cpu_fallback> = true;
template <class Option>
  requires requires(worker_settings w) { Option::apply(w); }
inline constexpr bool is_option<Option> = true;

/// Options that mean one plan.
template <class Option>
inline constexpr bool goes_with_rates = !pins_plan<Option> && !std::same_as<Option, cpu_fallback>;

/// How the workers of a deployment are to be, from the target and the options.
template <class Target, class... Options>
constexpr worker_settings workers_of() {
  worker_settings w;
  w.processors = target_values<Target>::processors();
  (
      [&] {
        if constexpr (requires { Options::apply(w); }) Options::apply(w);
      }(),
      ...);
  return w;
}

template <class Device>
consteval auto device_mistake(type_tag<Device>) {
  if constexpr (device_tag<Device>)
    return no_mistake{};
  else
    return target_names_something_that_is_no_device<Device>{};
}
template <int Min, auto... Options>
consteval auto device_mistake(type_tag<cpu<Min, Options...>>) {
  if constexpr (!are_cpu_options<std::remove_cv_t<decltype(Options)>...>)
    return cpu_takes_a_maximum_an_affinity_and_an_l2_each_once<cpu<Min, Options...>>{};
  else if constexpr (constexpr int most = cpu<Min, Options...>::max_threads; Min >= 1 && most >= Min)
    return no_mistake{};
  else
    return cpu_needs_at_least_one_thread_and_a_maximum_not_below_its_minimum<Min, most>{};
}

template <template <int, class...> class Device, int Index, class... Options>
consteval auto device_mistake(type_tag<Device<Index, Options...>>) {
  if constexpr (are_device_options<Options...>)
    return no_mistake{};
  else
    return device_takes_a_bound_on_its_memory_and_nothing_else<Device<Index, Options...>>{};
}
template <class... Devices>
consteval auto device_mistake(type_tag<any_of<Devices...>>) {
  constexpr device_id ids[] = {Devices::id...}, all = any_of<Devices...>::id;
  constexpr bool alike = ((Devices::id.kind == all.kind && Devices::id.equal == 0) && ...);
  if constexpr (alike && all.kind != device_kind::cpu && count_of(all) == sizeof...(Devices) && std::size(ids) > 1)
    return no_mistake{};
  else
    return any_of_takes_different_devices_of_one_kind_that_is_not_the_processor<any_of<Devices...>>{};
}

template <class Target>
consteval auto target_mistake(type_tag<Target>) {
  return deploy_needs_a_target_first<Target>{};
}
consteval auto target_mistake(type_tag<target<>>) { return target_has_no_device{}; }
template <class... Devices>
consteval auto target_mistake(type_tag<target<Devices...>>) {
  constexpr std::size_t count = sizeof...(Devices);
  constexpr bool wrong[] = {decltype(device_mistake(type_tag<Devices>{}))::is_mistake...};
  if constexpr (constexpr std::size_t at = first_true(wrong); at < count) {
    return device_mistake(type_tag<type_at<type_list<Devices...>, at>>{});
  } else {
    constexpr device_id ids[] = {Devices::id...};
    constexpr std::size_t twice = [&] {
      for (std::size_t i = 1; i < count; ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (share_a_device(ids[i], ids[j])) return i;
      return count;
    }();
    if constexpr (twice < count)
      return target_names_a_device_twice<type_at<type_list<Devices...>, twice>>{};
    else
      return no_mistake{};
  }
}

/// The mistake in what `deploy` was called with, if any.
template <class Pipeline, class Target, class... Options>
consteval auto call_mistake() {
  if constexpr (!pipeline_part<Pipeline>)
    return only_a_pipeline_can_be_deployed<Pipeline>{};
  else if constexpr (decltype(target_mistake(type_tag<Target>{}))::is_mistake)
    return target_mistake(type_tag<Target>{});
  else if constexpr (!(is_option<Options> && ...)) {
    constexpr bool unknown[] = {!is_option<Options>...};
    return deploy_has_no_such_option<type_at<type_list<Options...>, first_true(unknown)>>{};
  } else if constexpr ((std::same_as<Options, slots<0>> || ...))
    return deploy_needs_at_least_one_slot{};
  else
    return no_mistake{};
}

/// The mistake in the plan of a pipeline, or of a region of it, that is right by itself.
template <class Flat, class Target, class... Options>
consteval auto plan_mistake() {
  if constexpr (nested_mistake<Flat, Target, Options...>::type::is_mistake) {
    return typename nested_mistake<Flat, Target, Options...>::type{};
  } else {
    using plan_type = planned<Flat, Target, Options...>;
    constexpr std::size_t node = plan_type::homeless();
    if constexpr (decltype(given_mistake<plan_type>())::is_mistake) {
      return given_mistake<plan_type>();
    } else if constexpr (node < plan_type::nodes) {
      using place = typename plan_type::flat::template node_place<node>;
      using stage = typename place::part;
      if constexpr (!std::is_void_v<typename place::device>) {
        if constexpr (!plan_type::target::has(place::device::id))
          return stage_is_pinned_to_a_device_the_target_lacks<stage::name, typename place::device>{};
        else if constexpr (plan_type::graph.nodes[node].order == concurrency::serial &&
                           plan_type::target::is_several(place::device::id))
          return stage_that_takes_its_items_in_order_cannot_run_on_several_devices_at_once<stage::name,
                                                                                           typename place::device>{};
        else if constexpr (!requires { typename stage::op_type; })
          return callable_cannot_run_on_this_device<stage::name, typename place::device>{};
        else
          return no_backend_takes_this_op_on_this_device<stage::name, typename stage::op_type, typename place::in,
                                                         typename place::device>{};
      } else if constexpr (requires { typename stage::op_type; })
        return no_backend_takes_this_op_on_this_device<stage::name, typename stage::op_type, typename place::in,
                                                       Target>{};
      else
        return callable_cannot_run_on_this_device<stage::name, Target>{};
    } else if constexpr (decltype(plan_type::pin_mistake())::is_mistake) {
      return plan_type::pin_mistake();
    } else if constexpr (constexpr auto at = plan_type::branched_on_device(); at.node < plan_type::nodes) {
      using place = typename plan_type::flat::template node_place<at.node>;
      return stages_on_this_device_have_to_be_in_a_line<place::part::name, vulkan<at.device.index>>{};
    } else if constexpr (decltype(plan_type::driver_mistake(type_tag<Target>{}))::is_mistake) {
      return plan_type::driver_mistake(type_tag<Target>{});
    } else if constexpr (device_memory_mistake<plan_type::plan, plan_type::devices>::is_mistake) {
      return device_memory_mistake<plan_type::plan, plan_type::devices>{};
    } else {
      using too_large = memory_mistake<plan_type::plan, memory_bound_of<Options...>()>;
      if constexpr (too_large::is_mistake)
        return too_large{};
      else
        return accuracy_mistake<Flat, loss_bound_of<Options...>()>();
    }
  }
}

/// Plans what a rate holds: run/rated_fork.hpp.
template <class Target, class... Options>
struct planner_of_rates;
/// What is wrong with the plans of what a rate holds.
template <class Rate, class In, class Planner>
struct planned_rate_mistake : type_tag<no_mistake> {};

template <class Region, class Target, class... Options>
using mistake_of_rate_plan = typename planned_rate_mistake<typename Region::rate, typename Region::out,
                                                           planner_of_rates<Target, Options...>>::type;

/// The first region whose plan has one.
template <class Parts, std::size_t R, class Target, class... Options>
consteval auto mistake_of_region_plans() {
  using here = region<Parts, R>;
  using found = decltype(plan_mistake<typename here::flat, Target, Options...>());
  if constexpr (found::is_mistake || here::is_last)
    return found{};
  else if constexpr (mistake_of_rate_plan<here, Target, Options...>::is_mistake)
    return mistake_of_rate_plan<here, Target, Options...>{};
  else
    return mistake_of_region_plans<Parts, R + 1, Target, Options...>();
}

template <class Pipeline>
using flat_parts = typename flatten<Pipeline, void>::type;

template <class Pipeline, class Target, class... Options>
consteval auto find_deployment_mistake() {
  using call_check = decltype(call_mistake<Pipeline, Target, Options...>());
  if constexpr (call_check::is_mistake) {
    return call_check{};
  } else if constexpr (pipeline_mistake<Pipeline>::is_mistake) {
    return pipeline_mistake<Pipeline>{};
  } else if constexpr (changes_rate<flat_parts<Pipeline>>) {
    constexpr std::size_t other = first_true<sizeof...(Options) + 1>({!goes_with_rates<Options>..., true});
    if constexpr (other < sizeof...(Options))
      return deploy_option_is_not_for_a_pipeline_that_changes_its_rate<type_at<type_list<Options...>, other>>{};
    else
      return mistake_of_region_plans<flat_parts<Pipeline>, 0, Target, Options...>();
  } else {
    return plan_mistake<flat<Pipeline>, Target, Options...>();
  }
}

// ---- without devices ----

/// A pipeline whose pins to devices that compute by themselves are lifted.
template <class Pipeline>
struct on_processor {};
template <class Pipeline>
inline constexpr bool is_part<on_processor<Pipeline>> = true;

template <class Device>
inline constexpr bool computes_by_itself = false;
template <int Index, class... Options>
inline constexpr bool computes_by_itself<vulkan<Index, Options...>> = true;
template <class... Devices>
inline constexpr bool computes_by_itself<any_of<Devices...>> = (computes_by_itself<Devices> || ...);
template <int Count>
inline constexpr bool computes_by_itself<equal_devices<Count>> = true;

/// A region given to a backend of such a device is anybody's.
template <class Part>
struct lifted_part : type_tag<Part> {};
template <class Backend>
  requires(Backend::device == device_kind::vulkan)
struct lifted_part<given_begin<Backend>> : type_tag<given_begin<anybody>> {};

template <class Flat>
struct lifted;
template <class... Part, class... Device>
struct lifted<type_list<flat_part<Part, Device>...>>
    : type_tag<type_list<flat_part<typename lifted_part<Part>::type,
                                   std::conditional_t<computes_by_itself<Device>, void, Device>>...>> {};
template <class Pipeline, class Device>
struct flatten<on_processor<Pipeline>, Device> : lifted<typename flatten<Pipeline, Device>::type> {};

template <class Devices>
struct target_of;
template <class... Devices>
struct target_of<type_list<Devices...>> : type_tag<target<Devices...>> {};
template <class Target>
struct processor_of;
template <class... Devices>
struct processor_of<target<Devices...>>
    : target_of<decltype((type_list<>{} + ... +
                          std::conditional_t<computes_by_itself<Devices>, type_list<>, type_list<Devices>>{}))> {};

/// Planned for the processor alone; what was said of the other plan's partition does not concern it.
template <class Pipeline, class Target, class Options>
struct fallback_of;
template <class Pipeline, class Target, class... Options>
struct fallback_of<Pipeline, Target, type_list<Options...>> {
  using pipeline = on_processor<Pipeline>;
  using target = typename processor_of<Target>::type;
  using planning = planned<flat<pipeline>, target, Options...>;
  using mistake = decltype(find_deployment_mistake<pipeline, target, Options...>());
};
template <class Pipeline, class Target, class... Options>
using fallback = fallback_of<Pipeline, Target,
                             decltype((type_list<>{} + ... +
                                       std::conditional_t<pins_plan<Options> || std::same_as<Options, cpu_fallback>,
                                                          type_list<>, type_list<Options>>{}))>;

template <class Pipeline, class Target, class... Options>
consteval auto find_mistake_of_all() {
  using first = decltype(find_deployment_mistake<Pipeline, Target, Options...>());
  if constexpr (first::is_mistake || !(std::same_as<Options, cpu_fallback> || ...))
    return first{};
  else
    return typename fallback<Pipeline, Target, Options...>::mistake{};
}

/// The first mistake of a deployment.
template <class Pipeline, class Target, class... Options>
using deployment_mistake = decltype(find_mistake_of_all<Pipeline, Target, Options...>());

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
struct rim_types;
template <class Parts, std::size_t... I>
struct rim_types<flat_pipeline<Parts, std::index_sequence<I...>>> {
  using flat = flat_pipeline<Parts, std::index_sequence<I...>>;
  static constexpr std::size_t first_stage = flat::nth(flat::stage_flags, 0);  // behind all where there is none
  using first_part = typename type_at<Parts, (first_stage < Parts::size ? first_stage : 0)>::part;
  using source_callable = typename decltype(source_callable_of<first_part>())::type;
  static constexpr bool has_source = is_source<first_part>;
  using input_item = typename place<Parts, 0>::out;
  using last_out = item_behind<Parts>;
  using output_item = std::conditional_t<std::same_as<last_out, nothing_more>, void, last_out>;
};

template <std::size_t N>
constexpr bool uses_devices(const plan_info<N>& plan) {
  for (const planned_segment& s : plan.segment)
    if (s.device.kind != device_kind::cpu) return true;
  return false;
}

template <class Parts, fixed_string Group, std::size_t R>
consteval std::size_t first_region_with_group() {
  if constexpr (has_group<typename region<Parts, R>::flat, Group> || region<Parts, R>::is_last)
    return R;
  else
    return first_region_with_group<Parts, Group, R + 1>();
}

/// What the typed rim of an executable knows.
template <class Flat, class Target, class... Options>
struct rim : rim_types<Flat> {
  using planning = planned<Flat, Target, Options...>;
  static constexpr bool changes_rate = false;
  /// The region that has parameters of that name, and which it is; void: there is none.
  template <fixed_string Group>
  using flat_of_group = std::conditional_t<has_group<Flat, Group>, Flat, void>;
  template <fixed_string Group>
  static constexpr std::size_t region_of_group = 0;
  static constexpr const auto& plan = planning::plan;
  static constexpr bool filters = [] {
    for (const node_info& n : plan.graph.nodes)
      if (levada::filters(n)) return true;
    return false;
  }();
  static constexpr bool on_devices = uses_devices(plan);
  /// The app needs an item of its own: a stage changes or consumes it, it is the result, or it goes through a session, as devices
  /// need.
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
struct rim_of_regions {
  template <std::size_t R>
  using planning = planned<typename region<Parts, R>::flat, Target, Options...>;
  template <std::size_t R>
  using types = rim_types<typename region<Parts, R>::flat>;
  static constexpr std::size_t regions = rates_of<Parts>.count + 1;
  using last = types<regions - 1>;

  using input_item = typename types<0>::input_item;
  using output_item = typename last::output_item;
  using source_callable = typename types<0>::source_callable;
  static constexpr bool has_source = types<0>::has_source;
  using planner = planner_of_rates<Target, Options...>;
  static constexpr bool changes_rate = true;
  static constexpr bool filters = true;
  static constexpr bool on_devices = true;
  static constexpr bool owns_input = true;
  template <fixed_string Group>
  static constexpr std::size_t region_of_group = first_region_with_group<Parts, Group, 0>();
  template <fixed_string Group>
  using flat_of_group = std::conditional_t<has_group<typename region<Parts, region_of_group<Group>>::flat, Group>,
                                           typename region<Parts, region_of_group<Group>>::flat, void>;
  static constexpr auto plan = plan_regions<Parts, Target, Options...>(std::make_index_sequence<regions>());
};

/// Collects where the stage objects of a pipeline are: the callables, and the ops with their weights.
struct stage_addresses {
  void** next;
  template <class Stage>
  [[gnu::always_inline]] void operator()(Stage& stage) {
    if constexpr (requires { stage.callable; })
      *next++ = const_cast<void*>(static_cast<const volatile void*>(std::addressof(stage.callable)));
    else
      *next++ = &stage;
  }
};

/// The unit of the plan as code.
template <class Planning, std::size_t U, std::size_t... I>
consteval const unit_text* text_of_run(std::index_sequence<I...>) {
  using flat = typename Planning::flat;
  constexpr std::size_t first = Planning::plan.unit[U].first;
  using flowing = typename flat::template node_place<first>::in;
  using in = op_input_t<flowing>;
  return &kernel_text<kernel_for_t<backend_of_unit<Planning, U>, in, typename stage_at<flat, first + I>::op_type...>,
                      flowing, flowing_output<in, typename stage_at<flat, first + I>::op_type...>>;
}
template <class Planning, std::size_t U>
consteval const unit_text* text_of_unit() {
  constexpr const auto& unit = Planning::plan.unit[U];
  if constexpr (unit.backend != partition_unit::callable) {
    return text_of_run<Planning, U>(std::make_index_sequence<unit.count>{});
  } else {
    using place = typename Planning::flat::template node_place<unit.first>;
    return &callable_text<place::part::name, typename place::part::callable_type, place::call::value,
                          typename place::in, typename place::call::output>;
  }
}

/// The most units of a chain: what a compiler still makes a good loop of.
inline constexpr std::size_t longest_chain = 8;

/// The unit as a step of a chain, if it can be one.
template <class Planning, std::size_t U, bool IsCallable>
struct chain_place {
  using step = void;
  static constexpr bool fits = false, gains = false;
};
template <class Planning, std::size_t U>
struct chain_place<Planning, U, true> {
  static constexpr const auto& unit = Planning::plan.unit[U];
  using place = typename Planning::flat::template node_place<unit.first>;
  using callable = typename place::part::callable_type;
  static constexpr bool fits =
      fits_chain<callable, place::call::value, typename place::in, typename place::call::output>;
  static constexpr bool is_serial = unit.order == concurrency::serial;
  /// A chain of it alone is worth its code.
  static constexpr bool gains = fits && is_serial && kept_in_registers<callable>;
  using step = chain_step<callable, place::call::value, typename place::in, typename place::call::output, is_serial>;
};
template <class Planning, std::size_t U>
using chain_place_of = chain_place<Planning, U,
                                   Planning::plan.unit[U].backend == partition_unit::callable &&
                                       !Planning::plan.unit[U].in_loop && Planning::plan.unit[U].more.empty()>;

/// How many units from that one on make a chain, 0 behind its first.
template <class Planning, std::size_t... U>
consteval std::array<std::size_t, sizeof...(U)> chain_lengths(std::index_sequence<U...>) {
  const std::array<bool, sizeof...(U)> fits{chain_place_of<Planning, U>::fits...};
  const std::array<bool, sizeof...(U)> gains{chain_place_of<Planning, U>::gains...};
  std::array<std::size_t, sizeof...(U)> lengths{};
  const auto& units = Planning::plan.unit;
  for (std::size_t first = 0, u = 0; u < sizeof...(U); ++u) {
    const bool goes_on = u != 0 && fits[u] && lengths[first] != 0 && lengths[first] < longest_chain &&
                         units[u].segment == units[first].segment && units[u].in == units[u - 1].out;
    if (!goes_on) first = u;
    if (fits[u]) ++lengths[first];
  }
  for (std::size_t u = 0; u < sizeof...(U); ++u)
    if (lengths[u] == 1 && !gains[u]) lengths[u] = 0;
  return lengths;
}
template <class Planning, std::size_t U, std::size_t... I>
consteval chain_text text_of_chain(std::index_sequence<I...>) {
  return {&run_chain<typename chain_place_of<Planning, U + I>::step...>, sizeof...(I)};
}
template <class Planning, std::size_t U, std::size_t Units>
consteval chain_text text_of_chain() {
  if constexpr (Units != 0)
    return text_of_chain<Planning, U>(std::make_index_sequence<Units>{});
  else
    return {};
}
template <class Planning, std::size_t... U>
consteval std::array<chain_text, sizeof...(U)> chain_texts(std::index_sequence<U...> units) {
  [[maybe_unused]] constexpr auto lengths = chain_lengths<Planning>(units);
  return {text_of_chain<Planning, U, lengths[U]>()...};
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
consteval std::array<const unit_text*, sizeof...(U)> unit_texts(std::index_sequence<U...>) {
  return {text_of_unit<Planning, U>()...};
}

template <class Planning, std::size_t U, std::size_t... I>
[[gnu::always_inline]] inline erased_object kernel_of_unit(void* const* stages, std::index_sequence<I...>) {
  using flat = typename Planning::flat;
  constexpr std::size_t first = Planning::plan.unit[U].first;
  using in = op_input_t<typename flat::template node_place<first>::in>;
  const std::string_view names[] = {stage_at<flat, first + I>::name.view()...};
  const parameter_source_ref sources[] = {static_cast<const stage_at<flat, first + I>*>(stages[first + I])->weights...};
  return make_kernel<backend_of_unit<Planning, U>, in, typename stage_at<flat, first + I>::op_type...>(
      static_cast<const stage_at<flat, first + I>*>(stages[first + I])->description..., names, sources);
}

/// The kernels of a deployment, in the order of its units.
template <class Planning, std::size_t... U>
[[gnu::always_inline]] inline fixed_array<erased_object> make_kernels([[maybe_unused]] void* const* stages,
                                                                      std::index_sequence<U...>) {
  constexpr std::size_t count =
      (std::size_t{0} + ... + (Planning::plan.unit[U].backend != partition_unit::callable ? 1 : 0));
  fixed_array<erased_object> kernels(count);
  [[maybe_unused]] std::size_t next = 0;
  (
      [&] {
        if constexpr (Planning::plan.unit[U].backend != partition_unit::callable)
          kernels[next++] =
              kernel_of_unit<Planning, U>(stages, std::make_index_sequence<Planning::plan.unit[U].count>{});
      }(),
      ...);
  return kernels;
}

/// Opens those devices of the target that the plan uses.
template <class Planning, class... Devices>
fixed_array<attached_device> attach_devices(target<Devices...>) {
  fixed_array<attached_device> devices(
      (std::size_t{0} + ... + (has_driver<Devices> && Planning::uses(Devices::id) ? 1 : 0)));
  [[maybe_unused]] std::size_t next = 0;
  (
      [&] {
        if constexpr (has_driver<Devices> && Planning::uses(Devices::id))
          devices[next++] = {Devices::id, owner<device_queue>(device_driver<Devices>::open().release())};
      }(),
      ...);
  return devices;
}

/// The threads of this machine within the bounds of `cpu<Min, Max>`.
inline int bind_threads(std::pair<int, int> bounds) {
  const int here = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(bounds.first, std::min(bounds.second, here));
}

[[gnu::cold]] inline void log_deployed(const program& code) {
  std::string line = "deployed:";
  for (const program_unit& unit : code.units) line += " \"" + unit.name + "\"";
  log(log_level::info, line + "; segments: " + std::to_string(code.segments.size()) + ", threads at once: " +
                           std::to_string(code.threads) + ", slots: " + std::to_string(code.slots));
}

template <class Executor, bool OnDevices>
[[gnu::cold]] std::shared_ptr<deployed<Executor>> make_deployment(program code, owner<later_code> later,
                                                                  fixed_array<attached_device> devices,
                                                                  backbone_code make_backbone,
                                                                  const worker_settings& workers) {
  auto app = std::make_shared<deployed<Executor>>(std::move(code), std::move(later), std::move(devices), make_backbone,
                                                  workers);
  if constexpr (OnDevices) prepare_devices(*app);
  if (is_logged()) {
    log_deployed(app->code);
    for (std::size_t r = 1; r < app->regions(); ++r) log_deployed(app->program_of(r));
  }
  return app;
}

/// A plan bound to the objects of its stages, which are moved from. `stages` are those of the nodes.
template <class Planning, class In, class Out>
[[gnu::always_inline]] inline program bind_plan(void* const* stages) {
  // A local constant: a static one would become a symbol that spells out the pipeline.
  constexpr auto layout = layout_of(Planning::plan);
  using units = std::make_index_sequence<layout.unit_count>;
  const auto texts = unit_texts<Planning>(units{});
  const auto chains = chain_texts<Planning>(units{});
  constexpr auto sides = side_places<typename Planning::flat>();
  auto kernels = make_kernels<Planning>(stages, units{});
  program code = make_program(layout,
                              {layout.arrays(), texts.data(), destroy_code_of<In>(), destroy_code_of<Out>(), stages,
                               kernels.begin(), sides.data(), chains.data()},
                              bind_threads(Planning::target::thread_bounds()));
  if constexpr (holds_groups<typename Planning::flat>) make_board<Planning>(code, stages, units{});
  return code;
}

template <class Rim>
[[gnu::always_inline]] inline typename Rim::source_callable source_of([[maybe_unused]] void* const* stages) {
  if constexpr (Rim::has_source)
    return std::move(*static_cast<typename Rim::source_callable*>(stages[0]));
  else
    return no_source{};
}

/// Binds a plan to the objects of its pipeline, which are moved from. `Rim` is what its user sees.
template <class Rim, class Planning, class Executor, class Pipeline>
[[gnu::always_inline]] inline auto deploy_plan(Pipeline& pipeline, const worker_settings& workers) {
  using flat = typename Planning::flat;
  void* stages[flat::stages];
  stage_addresses visit{stages};
  for_each_stage(pipeline, visit);
  constexpr std::size_t sources = Rim::has_source ? 1 : 0;
  constexpr bool on_devices = uses_devices(Planning::plan);
  program code = bind_plan<Planning, typename Rim::input_item, typename Rim::output_item>(stages + sources);
  return executable<Rim, Executor>(make_deployment<Executor, on_devices>(
                                       std::move(code), {}, attach_devices<Planning>(typename Planning::target_type{}),
                                       backbone_of<Executor, on_devices, Planning::plan.segments>(), workers),
                                   source_of<Rim>(stages));
}

// ---- where the rate changes ----

/// Where the stage objects of a pipeline are, and its rates, each in order.
struct stage_and_rate_addresses {
  void** next_stage;
  const void** next_rate;
  template <class Stage>
  [[gnu::always_inline]] void operator()(Stage& stage) {
    stage_addresses{next_stage}(stage);
    ++next_stage;
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

/// The devices of the target that any region uses, each once.
template <class... Planning>
struct uses_of_all {
  static consteval bool uses(device_id id) { return (Planning::uses(id) || ...); }
  static constexpr bool uses_devices = (detail::uses_devices(Planning::plan) || ...);
};

/// As many of the stages as there are before region `R`.
template <class Parts, std::size_t R>
consteval std::size_t stages_before() {
  if constexpr (R == 0)
    return 0;
  else
    return stages_before<Parts, R - 1>() + region<Parts, R - 1>::flat::stages;
}
template <class Parts, std::size_t R>
[[gnu::always_inline]] inline later_region bind_region(auto rim, void* const* stages, const void* rate,
                                                       std::size_t first_segment) {
  using before = region<Parts, R - 1>;
  using here = typename decltype(rim)::type::template types<R>;
  using planner = typename decltype(rim)::type::planner;
  program_rate with{&code_of_rate<typename before::rate, typename before::out, planner>, {}};
  with.prototype = with.code->make(rate);
  later_region bound{std::move(with),
                     bind_plan<typename decltype(rim)::type::template planning<R>, typename here::input_item,
                               typename here::output_item>(stages + stages_before<Parts, R>())};
  bound.code.first_segment = first_segment;
  return bound;
}

template <class Rim, class Parts, class Executor, class Pipeline, std::size_t... R>
[[gnu::always_inline]] inline auto deploy_regions(Pipeline& pipeline, const worker_settings& workers,
                                                  std::index_sequence<R...>) {
  void* stages[stages_before<Parts, Rim::regions>() + 1];
  const void* rates[Rim::regions];
  stage_and_rate_addresses visit{stages, rates};
  for_each_stage(pipeline, visit);
  constexpr std::size_t sources = Rim::has_source ? 1 : 0;
  using first = typename Rim::template types<0>;
  using all = uses_of_all<typename Rim::template planning<0>, typename Rim::template planning<R + 1>...>;
  constexpr bool on_devices = all::uses_devices;
  program code = bind_plan<typename Rim::template planning<0>, typename first::input_item, typename first::output_item>(
      stages + sources);
  std::size_t segments = code.segments.size();
  fixed_array<later_region> later(sizeof...(R));
  (
      [&] {
        later[R] = bind_region<Parts, R + 1>(type_tag<Rim>{}, stages, rates[R], segments);
        segments += later[R].code.segments.size();
      }(),
      ...);
  return executable<Rim, Executor>(
      make_deployment<Executor, on_devices>(std::move(code), owner<later_code>(new coded_regions<>(std::move(later))),
                                            attach_devices<all>(typename Rim::template planning<0>::target_type{}),
                                            backbone_of<Executor, on_devices, 2>(), workers),
      source_of<Rim>(stages));
}

/// A pipeline of one rate.
template <class Pipeline, class Target, class Executor, class... Options>
[[gnu::always_inline]] inline auto deploy_line(Pipeline& pipeline, const worker_settings& workers) {
  using rim = detail::rim<flat<Pipeline>, Target, Options...>;
  if constexpr ((std::same_as<Options, cpu_fallback> || ...) && rim::on_devices) {
    using planning = typename fallback<Pipeline, Target, Options...>::planning;
    try {
      Pipeline first(pipeline);
      return deploy_plan<rim, typename rim::planning, Executor>(first, workers);
    } catch (const device_error& e) {
      log(log_level::warning, std::string("the processor takes what was a device's: ") + e.what());
    }
    return deploy_plan<rim, planning, Executor>(pipeline, workers);
  } else {
    return deploy_plan<rim, typename rim::planning, Executor>(pipeline, workers);
  }
}

}  // namespace detail

/// Decides, while compiling, which device and backend runs what, where the pipeline is split, what is fused and buffered;
/// then binds the weights and returns the executable. A mistake is one compile error that names it: the overload below.
/// Throws levada::error when a parameter is missing from its source or has another shape or type, or when an affinity names
/// a processor that is not ours. `arena`: its workers work in place of some of our own.
template <class Target, class... Options, class Pipeline>
  requires correct<detail::deployment_mistake<Pipeline, Target, Options...>>
[[nodiscard, gnu::always_inline]] inline auto deploy(Pipeline pipeline, worker_arena arena = {}) {
  using executor = typename detail::executor_of<Options...>::type;
  using parts = detail::flat_parts<Pipeline>;
  auto workers = detail::workers_of<Target, Options...>();
  workers.arena = arena;
  (detail::check_machine_of<Options>(), ...);
  if constexpr (detail::changes_rate<parts>) {
    using rim = detail::rim_of_regions<parts, Target, Options...>;
    return detail::deploy_regions<rim, parts, executor>(pipeline, workers,
                                                        std::make_index_sequence<rim::regions - 1>());
  } else {
    return detail::deploy_line<Pipeline, Target, executor, Options...>(pipeline, workers);
  }
}
/// A wrong deployment.
template <class Target, class... Options, class Pipeline>
  requires(detail::deployment_mistake<Pipeline, Target, Options...>::is_mistake)
mistake_found<detail::deployment_mistake<Pipeline, Target, Options...>> deploy(Pipeline pipeline, worker_arena = {});

}  // namespace levada
