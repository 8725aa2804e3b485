// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/deploy_options.hpp: what a deployment is asked for, as values: its options, the devices of its
// target, its backends.

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/device_queue.hpp>
#include <levada/plan/detail/budget.hpp>
#include <levada/plan/detail/candidate.hpp>
#include <levada/plan/detail/device_memory.hpp>
#include <levada/plan/detail/options.hpp>
#include <levada/plan/detail/pinned.hpp>
#include <levada/run/detail/program/accuracy.hpp>
#include <levada/run/detail/workers/executor.hpp>
#include <levada/run/detail/workers/worker.hpp>

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

/// 0 where no option says it.
template <class... Options>
consteval std::size_t slot_count_of() {
  std::size_t count = 0;
  ((count = slot_count_in<Options> != 0 ? slot_count_in<Options> : count), ...);
  return count;
}

/// What stands in a `budget`; others are known to the headers that check them.
template <class Bound>
inline constexpr bool is_bound = false;
template <std::size_t Bytes>
inline constexpr bool is_bound<memory<Bytes>> = true;
template <points Most>
inline constexpr bool is_bound<accuracy_loss<Most>> = true;

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

/// Whether an option bounds time, and whether a pipeline says when its items come: run/promises.hpp.
template <class Option>
inline constexpr bool promises_time = false;
template <class Pipeline>
inline constexpr bool is_paced = false;
/// The types of a deployment, and what it promises, if anything.
template <class Types, class Pipeline, class Target, class... Options>
struct with_promises : type_tag<Types> {};

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

/// The option that chooses the partition, if any: `costs<table>` (plan/detail/partition_by_cost.hpp).
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

struct thread_bounds {
  int least = 1, most = 1;
};

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
  static constexpr thread_bounds threads() {
    thread_bounds bounds;
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

/// The devices of a target, with so many items in flight; 0: the usual number.
template <class Target, std::size_t Slots>
inline constexpr auto devices_of = [] {
  std::array<device_info, std::size(target_values<Target>::list)> all;
  for (std::size_t d = 0; d < all.size(); ++d) {
    all[d] = target_values<Target>::list[d];
    if (Slots != 0) all[d].slots = Slots;
  }
  return all;
}();

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
}  // namespace detail
}  // namespace levada
