// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/options.hpp: what can be said to `deploy<Target, Options...>` besides the target.

#include <cstddef>

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/fixed_string.hpp>

namespace levada {

/// `Count` items in flight at most.
///
/// By default 64; fewer of large ones, so that all slots take 16 MiB, but two for each thread and each segment; 256
/// where all segments run on the processor, the item that comes in and the one that goes out hold nothing but their own
/// bytes, and all slots together take half of a first-level cache.
template <std::size_t Count>
struct slots {};

namespace detail {

/// Slots are counted in 32 bits, so that their bytes can be counted in 64.
inline constexpr std::size_t most_counted_slots = 0xffff'ffff;
template <class Option>
inline constexpr bool has_uncounted_slots = false;
template <std::size_t Count>
inline constexpr bool has_uncounted_slots<slots<Count>> = (Count > most_counted_slots);

}  // namespace detail

/// The backends that compute ops, the preferred one first.
template <class... Backends>
struct backends {};

/// The partition and the slots of a plan that was saved: `pinned<saved<plan>()>`, or the line itself. The deployment
/// does not compile where the line no longer fits.
template <fixed_string Line>
struct pinned {};

/// Where a device of the target cannot be had when the program starts, or cannot do what the plan needs of it, the plan
/// that the processor alone would have is deployed instead, compiled beside the other; a line of the log says so.
/// Callables are copied.
struct cpu_fallback {};

/// The deployment does not compile when its plan needs more: `budget<memory<1_MiB>>` bounds all its bytes
/// (`bytes_total`).
template <class... Bounds>
struct budget;
template <std::size_t Bytes>
struct budget<memory<Bytes>> {};

}  // namespace levada
