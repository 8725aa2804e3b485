// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/call_mistake.hpp: what is wrong with the target and the options that `deploy` is called with.

#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include <levada/core/detail/device.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/said_once.hpp>
#include <levada/plan/detail/options.hpp>
#include <levada/run/detail/deploy/deploy_options.hpp>
#include <levada/run/detail/workers/executor.hpp>
#include <levada/run/detail/workers/worker.hpp>

namespace levada::detail {

/// What `deploy` takes behind its target.
template <class T>
inline constexpr bool is_option = pins_plan<T> || chooses_partition<T>;
template <class First, class... More>
inline constexpr bool is_option<budget<First, More...>> = is_bound<First> && (is_bound<More> && ...);
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

template <class One, class Other>
  requires(pins_plan<One> && pins_plan<Other>) || (chooses_partition<One> && chooses_partition<Other>)
inline constexpr bool say_the_same<One, Other> = true;
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

template <class... Options>
consteval auto option_said_twice() {
  return repeated_option([]<class First, class Again>() { return deploy_takes_each_option_once<First, Again>{}; },
                         type_list<Options...>{});
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
  requires(Device<Index, Options...>::id.kind != device_kind::mpi)  // what it has are devices
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
  } else if constexpr (decltype(option_said_twice<Options...>())::is_mistake)
    return option_said_twice<Options...>();
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

}  // namespace levada::detail
