// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/device.hpp: where stages can run, as tags; and `target`, the list of what a deployment has.

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace levada {

/// The kinds of device.
enum class device_kind : std::uint8_t { none, cpu, vulkan, simulated };

/// A device as a value: its kind and index. `none` means that nobody has chosen yet.
struct device_id {
  device_kind kind = device_kind::none;
  int index = 0;

  constexpr explicit operator bool() const { return kind != device_kind::none; }
  friend constexpr bool operator==(device_id, device_id) = default;
};

/// Numbers of processors as the system counts them; empty: any.
struct processor_set {
  int count = 0;
  short numbers[64]{};
};

/// The processors on which workers stay: `cpu<2, affinity<0, 1>>`. Threads that call and help stay where they are.
template <int... Numbers>
  requires(sizeof...(Numbers) <= 64 && ((Numbers >= 0 && Numbers < 1024) && ...))
inline constexpr processor_set affinity{static_cast<int>(sizeof...(Numbers)), {static_cast<short>(Numbers)...}};

struct cache_bytes {
  std::size_t bytes;
};

/// The second-level cache of a processor, half of which a grain's items may fill: `cpu<4, l2<2_MiB>>`; 1 MiB where not said.
template <std::size_t Bytes>
inline constexpr cache_bytes l2{Bytes};

namespace detail {

/// The option of type `T`, or what stands in for it.
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

/// The processor. `cpu<N>`: at most `N` threads run stages at once, helping callers included; `cpu<Min, Max>`: the number is
/// bound at start-up by what the machine has. Further options: `affinity<...>`, `l2<bytes>`.
template <int Min, auto... Options>
struct cpu {
  static constexpr device_id id{device_kind::cpu, 0};
  static constexpr int min_threads = Min, max_threads = detail::cpu_option<int>(Min, Options...);
  static constexpr processor_set processors = detail::cpu_option<processor_set>({}, Options...);
  static constexpr std::size_t l1_bytes = 32 << 10;
  static constexpr std::size_t l2_bytes = detail::cpu_option<cache_bytes>({1 << 20}, Options...).bytes;
};

/// The Vulkan device of that index.
template <int Index>
struct vulkan {
  static constexpr device_id id{device_kind::vulkan, Index};
};

/// A device for tests: a thread of its own that completes out of band and out of order, with delays and failures as told.
template <int Index>
struct simulated {
  static constexpr device_id id{device_kind::simulated, Index};
};

/// Anything that names a device.
template <class T>
concept device_tag = requires { device_id{T::id}; };

/// What a deployment has: its devices, each once, the preferred one first. `deploy` says what is wrong with one.
template <class... Devices>
struct target {};

}  // namespace levada
