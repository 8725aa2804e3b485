// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/device.hpp: where stages can run, as tags; and `target`, the list of what a deployment has.

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace levada {

/// The kinds of device. `equal` is one of pins alone: any equal devices, as many as the index says. Elsewhere are
/// `remote`, another machine, and `fleet`, any number of processes, both with an index made of their name; and `mpi`, a
/// rank of the program.
enum class device_kind : std::uint8_t { none, cpu, vulkan, simulated, equal, remote, fleet, mpi };

/// A device as a value: its kind and index. `none` means that nobody has chosen yet.
struct device_id {
  device_kind kind = device_kind::none;
  int index = 0;            ///< of several equal ones the smallest
  std::uint32_t equal = 0;  ///< of several equal ones that count as one: bit i says that device i is among them

  constexpr explicit operator bool() const { return kind != device_kind::none; }
  friend constexpr bool operator==(device_id, device_id) = default;
};

/// Its parts are computed by another process.
constexpr bool is_elsewhere_kind(device_kind kind) {
  return kind == device_kind::remote || kind == device_kind::fleet || kind == device_kind::mpi;
}

/// How many equal devices it stands for.
constexpr int count_of(device_id d) { return d.equal == 0 ? 1 : std::popcount(d.equal); }
template <class = void>
constexpr bool share_a_device(device_id a, device_id b) {
  const auto members = [](device_id d) {
    return d.equal != 0 || d.index < 0 || d.index >= 32 ? d.equal : std::uint32_t{1} << d.index;
  };
  return a.kind == b.kind && (a.index == b.index || (members(a) & members(b)) != 0);
}
/// A stage that is pinned there may run on that device.
constexpr bool admits(device_id pin, device_id device) {
  return pin == device || (pin.kind == device_kind::equal && device.equal != 0 && count_of(device) == pin.index);
}

/// So many bytes: of all that a plan needs, for `budget`; of what it may keep on a device, `vulkan<0, memory<64_MiB>>`.
template <std::size_t Bytes>
struct memory {};

/// Numbers of processors as the system counts them; empty: any.
struct processor_set {
  int count = 0;
  short numbers[64]{};
};

/// The processors on which workers stay: `cpu<2, affinity<0, 1>>`. Threads that call and help stay where they are.
template <int... Numbers>
  requires(sizeof...(Numbers) <= 64 && ((Numbers >= 0 && Numbers < 1024) && ...))
inline constexpr processor_set affinity{static_cast<int>(sizeof...(Numbers)), {static_cast<short>(Numbers)...}};

/// The size of a cache: `l2<2_MiB>`.
struct cache_bytes {
  std::size_t bytes;
};

/// The second-level cache of a processor, half of which a grain's items may fill: `cpu<4, l2<2_MiB>>`; 1 MiB where not
/// said.
template <std::size_t Bytes>
inline constexpr cache_bytes l2{Bytes};

namespace detail {

/// The option of type `T`, or its default.
template <class T>
consteval T cpu_option(T otherwise) {
  return otherwise;
}
template <class T, class First, class... Rest>
consteval T cpu_option(T otherwise, First first, Rest... rest) {
  if constexpr (std::same_as<T, First>)
    return first;
  else
    return cpu_option<T>(otherwise, rest...);
}

template <class T>
inline constexpr bool is_cpu_option =
    std::same_as<T, int> || std::same_as<T, processor_set> || std::same_as<T, cache_bytes>;
/// Each kind of option at most once.
template <class... Options>
inline constexpr bool are_cpu_options =
    (is_cpu_option<Options> && ...) && (((0 + ... + static_cast<int>(std::same_as<Options, int>)) <= 1) &&
                                        ((0 + ... + static_cast<int>(std::same_as<Options, processor_set>)) <= 1) &&
                                        ((0 + ... + static_cast<int>(std::same_as<Options, cache_bytes>)) <= 1));

}  // namespace detail

/// The processor. `cpu<N>`: at most `N` threads run stages at once, helping callers included; `cpu<Min, Max>`: the
/// number is bound at start-up by what the machine has. Further options: `affinity<...>`, `l2<bytes>`.
template <int Min, auto... Options>
struct cpu {
  static constexpr device_id id{device_kind::cpu, 0};
  static constexpr int min_threads = Min, max_threads = detail::cpu_option<int>(Min, Options...);
  static constexpr processor_set processors = detail::cpu_option<processor_set>({}, Options...);
  static constexpr std::size_t l1_bytes = 32 << 10;
  static constexpr std::size_t l2_bytes = detail::cpu_option<cache_bytes>({1 << 20}, Options...).bytes;
};

namespace detail {

inline constexpr std::size_t any_bytes = ~std::size_t{0};
template <class Option>
inline constexpr std::size_t bytes_in_option = any_bytes;
template <std::size_t Bytes>
inline constexpr std::size_t bytes_in_option<memory<Bytes>> = Bytes;
template <class... Options>
inline constexpr std::size_t memory_bound = std::min({any_bytes, bytes_in_option<Options>...});
/// A bound on its memory, or nothing.
template <class... Options>
inline constexpr bool are_device_options =
    sizeof...(Options) == 0 || (sizeof...(Options) == 1 && ((bytes_in_option<Options> != any_bytes) && ...));

}  // namespace detail

/// The Vulkan device of that index; `vulkan<0, memory<64_MiB>>`: plans keep no more on it.
template <int Index, class... Options>
struct vulkan {
  static constexpr device_id id{device_kind::vulkan, Index};
  static constexpr std::size_t memory_bytes = detail::memory_bound<Options...>;
};

/// A device for tests: a thread of its own that completes out of band and out of order, with delays and failures as
/// told.
template <int Index, class... Options>
struct simulated {
  static constexpr device_id id{device_kind::simulated, Index};
  static constexpr std::size_t memory_bytes = detail::memory_bound<Options...>;
};

/// Anything that names a device.
template <class T>
concept device_tag = requires { device_id{T::id}; };

namespace detail {

template <class Device>
constexpr std::size_t device_memory() {
  if constexpr (requires { Device::memory_bytes; })
    return Device::memory_bytes;
  else
    return any_bytes;
}

template <class = void>
constexpr device_id joint_id(std::initializer_list<device_id> devices) {
  device_id all = *devices.begin();
  for (const device_id d : devices) {
    all.index = std::min(all.index, d.index);
    if (d.index >= 0 && d.index < 32) all.equal |= std::uint32_t{1} << d.index;
  }
  return all;
}

}  // namespace detail

/// Several equal devices as one device of a target: `target<cpu<2>, any_of<vulkan<0>, vulkan<1>>>`. A segment there is
/// on each of them, and an item goes to the one that has the fewest to do.
template <device_tag... Devices>
struct any_of {
  static constexpr device_id id = detail::joint_id({Devices::id...});
  static constexpr std::size_t memory_bytes = std::min({detail::device_memory<Devices>()...});
};

/// The `any_of` of the target that has so many devices, as a pin: see `replicate`.
template <int Count>
struct equal_devices {
  static constexpr device_id id{device_kind::equal, Count};
};

/// The devices of a deployment, each once, the preferred one first. `deploy` names the mistake in one.
template <class... Devices>
struct target {};

}  // namespace levada
