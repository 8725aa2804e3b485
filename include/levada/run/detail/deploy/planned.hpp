// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/planned.hpp: the plan of a pipeline for a target, and what is wrong with it: asks the backends for
// candidates and has the plan made.

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/region.hpp>
#include <levada/plan/detail/device_memory.hpp>
#include <levada/plan/detail/given.hpp>
#include <levada/plan/detail/options.hpp>
#include <levada/plan/detail/plan.hpp>
#include <levada/plan/detail/regions.hpp>
#include <levada/plan/detail/unit_prices.hpp>
#include <levada/run/detail/deploy/deploy_options.hpp>
#include <levada/run/detail/program/accuracy.hpp>
#include <levada/run/detail/program/on_backend.hpp>
#include <levada/run/detail/workers/machine.hpp>
#include <levada/run/detail/workers/worker.hpp>

namespace levada {
namespace detail {

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

/// The backends that plan a pipeline: one more where stages hold pipelines themselves (run/detail/deploy/nested.hpp).
template <class Backends, class Flat, class Target, class... Options>
struct with_nested : type_tag<Backends> {};
/// The mistake in the plans of these.
template <class Flat, class Target, class... Options>
struct nested_mistake : type_tag<no_mistake> {};

/// Its items are run by the one thread that asks for them.
struct without_workers {};

/// How many items of a flattened pipeline are in flight, for make_plan.
template <class Flat, class... Options>
inline constexpr std::size_t slots_wanted = suitable_slots;
template <class Parts, std::size_t... I, class... Options>
inline constexpr std::size_t slots_wanted<flat_pipeline<Parts, std::index_sequence<I...>>, Options...> = [] {
  constexpr bool hold_nothing = std::is_trivially_destructible_v<typename place<Parts, 0>::out> &&
                                std::is_trivially_destructible_v<item_behind<Parts>>;
  constexpr std::size_t said = slot_count_of<Options...>();
  return said != 0 ? said : hold_nothing ? suitable_slots : slots_for_owners;
}();

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
  static consteval std::size_t first_uncovered_node() { return covered_nodes(preferred); }

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

  /// The first node of a segment of a device that computes by itself which is not in line with the others there, and
  /// the device.
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
      return make_with(preferred, slots_wanted<flat, Options...>);
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

/// Options of which one is enough, by kind.
template <class One, class Other>
inline constexpr bool say_the_same = std::same_as<One, Other> || (pins_plan<One> && pins_plan<Other>) ||
                                     (chooses_partition<One> && chooses_partition<Other>);
template <std::size_t One, std::size_t Other>
inline constexpr bool say_the_same<slots<One>, slots<Other>> = true;
template <class... One, class... Other>
inline constexpr bool say_the_same<backends<One...>, backends<Other...>> = true;
template <class... One, class... Other>
inline constexpr bool say_the_same<budget<One...>, budget<Other...>> = true;
template <class One, class Other>
inline constexpr bool say_the_same<run_by<One>, run_by<Other>> = true;
template <fixed_string One, fixed_string Other>
inline constexpr bool say_the_same<worker_name<One>, worker_name<Other>> = true;
template <priority One, priority Other>
inline constexpr bool say_the_same<worker_priority<One>, worker_priority<Other>> = true;
template <auto One, auto Other>
inline constexpr bool say_the_same<on_worker_start<One>, on_worker_start<Other>> = true;

/// The mistake of options that say what one before them says.
template <class... Options>
consteval auto repeated_option(type_list<Options...>) {
  return no_mistake{};
}
template <class First, class... Rest>
consteval auto repeated_option(type_list<First, Rest...>) {
  constexpr bool again[] = {say_the_same<First, Rest>..., true};
  if constexpr (constexpr std::size_t at = first_true(again); at < sizeof...(Rest))
    return deploy_takes_each_option_once<First, type_at<type_list<Rest...>, at>>{};
  else
    return repeated_option(type_list<Rest...>{});
}

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
  } else if constexpr (decltype(repeated_option(type_list<Options...>{}))::is_mistake)
    return repeated_option(type_list<Options...>{});
  else if constexpr ((std::same_as<Options, slots<0>> || ...))
    return deploy_needs_at_least_one_slot{};
  else if constexpr ((has_uncounted_slots<Options> || ...)) {
    constexpr bool too_many[] = {has_uncounted_slots<Options>...};
    return deploy_counts_slots_in_32_bits<type_at<type_list<Options...>, first_true(too_many)>>{};
  } else if constexpr ((names_at_length<Options> || ...)) {
    constexpr bool long_ones[] = {names_at_length<Options>...};
    return name_of_a_worker_has_15_characters_at_most<type_at<type_list<Options...>, first_true(long_ones)>>{};
  } else if constexpr ((has_wrong_hook<Options> || ...)) {
    constexpr bool wrong[] = {has_wrong_hook<Options>...};
    return hook_of_a_worker_is_a_noexcept_function_that_takes_and_returns_nothing<
        type_at<type_list<Options...>, first_true(wrong)>>{};
  } else
    return no_mistake{};
}

/// A backend that computes on such a device of the target, and whose kernels are not all included.
template <class Target, class Pin, class Backend>
consteval bool has_more_kernels() {
  if constexpr (requires { Backend::more_kernels; }) {
    for (const device_info& d : target_values<Target>::list) {
      bool here = d.id.kind == Backend::device;
      if constexpr (!std::is_void_v<Pin>) here = here && admits(Pin::id, d.id);
      if (here) return !has_all_kernels<Backend>;
    }
  }
  return false;
}
template <class Target, class Pin, class Backend>
struct more_kernels_of : type_tag<type_list<>> {};
template <class Target, class Pin, class Backend>
  requires(has_more_kernels<Target, Pin, Backend>())
struct more_kernels_of<Target, Pin, Backend>
    : type_tag<type_list<more_kernels_in<as_fixed_string<Backend::more_kernels.size()>(Backend::more_kernels)>>> {};

template <class Place, class Where, class... Header>
consteval auto no_backend_mistake(type_list<Header...>) {
  using stage = typename Place::part;
  return no_backend_takes_this_op_on_this_device<stage::name, typename stage::op_type, typename Place::in, Where,
                                                 Header...>{};
}
template <class Place, class Where, class Target, class... Backend>
consteval auto no_backend_of(type_list<Backend...>) {
  return no_backend_mistake<Place, Where>(
      (type_list<>{} + ... + typename more_kernels_of<Target, typename Place::device, Backend>::type{}));
}

/// The mistake in the plan of a pipeline, or of a region of it, that is right by itself.
template <class Flat, class Target, class... Options>
consteval auto plan_mistake() {
  if constexpr (nested_mistake<Flat, Target, Options...>::type::is_mistake) {
    return typename nested_mistake<Flat, Target, Options...>::type{};
  } else {
    using plan_type = planned<Flat, Target, Options...>;
    constexpr std::size_t node = plan_type::first_uncovered_node();
    if constexpr (decltype(given_mistake<plan_type>())::is_mistake) {
      return given_mistake<plan_type>();
    } else if constexpr (node < plan_type::nodes) {
      using place = typename plan_type::flat::template node_place<node>;
      using stage = typename place::part;
      if constexpr (!std::is_void_v<typename place::device>) {
        if constexpr (!plan_type::target::has(place::device::id))
          return stage_is_pinned_to_a_device_the_target_lacks<stage::name, typename place::device, Target>{};
        else if constexpr (plan_type::graph.nodes[node].order == concurrency::serial &&
                           plan_type::target::is_several(place::device::id))
          return stage_that_takes_its_items_in_order_cannot_run_on_several_devices_at_once<stage::name,
                                                                                           typename place::device>{};
        else if constexpr (!requires { typename stage::op_type; })
          return callable_cannot_run_on_this_device<stage::name, typename place::device>{};
        else
          return no_backend_of<place, typename place::device, Target>(typename plan_type::backend_types{});
      } else if constexpr (requires { typename stage::op_type; })
        return no_backend_of<place, Target, Target>(typename plan_type::backend_types{});
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

/// Plans what a rate holds: run/detail/deploy/rated_fork.hpp.
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
  else if constexpr (!std::is_copy_constructible_v<Pipeline>)
    return cpu_fallback_deploys_a_copy_of_a_pipeline_that_cannot_be_copied{};
  else
    return typename fallback<Pipeline, Target, Options...>::mistake{};
}

/// The first mistake of a deployment.
template <class Pipeline, class Target, class... Options>
using deployment_mistake = decltype(find_mistake_of_all<Pipeline, Target, Options...>());

/// The same of what `deploy` is called with, which is copied where it is somebody else's.
template <class Given, class Target, class... Options>
consteval auto find_call_mistake() {
  using pipeline = std::decay_t<Given>;
  if constexpr (!pipeline_part<pipeline> || std::is_constructible_v<pipeline, Given>)
    return deployment_mistake<pipeline, Target, Options...>{};
  else
    return pipeline_cannot_be_copied_write_std_move_around_it<std::remove_reference_t<Given>>{};
}
template <class Given, class Target, class... Options>
using deploy_call_mistake = decltype(find_call_mistake<Given&&, Target, Options...>());
}  // namespace detail
}  // namespace levada
