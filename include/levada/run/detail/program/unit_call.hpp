// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/unit_call.hpp: how the code of units is called, and what they make of an item in its slot. One
// indirect call runs a unit, or a chain of units, over the items of a grain.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

#include <levada/graph/detail/missing.hpp>
#include <levada/graph/detail/side_data.hpp>
#include <levada/graph/detail/tile_range.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// What has become of an item in its slot. `failing` and `filtering` last from the unit's code to the engine's cleaning
/// up. `overdue`: dropped as a result.
enum class item_state : std::uint8_t { value, failing, failed, filtering, filtered, dropped, cancelled, overdue };

/// The state of an item is looked at by threads that may find its slot already taken by another item, and then drop
/// what they read: so it is written and read as an atomic.
inline item_state state_of(item_state& s) { return atomic_ref(s).load(std::memory_order_relaxed); }
inline void set_state(item_state& s, item_state value) { atomic_ref(s).store(value, std::memory_order_release); }

/// Of an item that ended.
constexpr missing missing_as(item_state s) {
  switch (s) {
    case item_state::failing:
    case item_state::failed:
      return missing::failed;
    case item_state::filtering:
    case item_state::filtered:
      return missing::filtered;
    case item_state::dropped:
    case item_state::overdue:
      return missing::dropped;
    default:
      return missing::cancelled;
  }
}

struct program_unit;

/// Where a loop over items ends, counted from behind the last: there, or before all, where it is to stop at once. It is
/// what the loop compares with anyway, so that to look whether it is to stop takes a load and no branch.
using items_end = atomic<std::ptrdiff_t>;
constexpr std::ptrdiff_t before_all_items = PTRDIFF_MIN;
inline const items_end behind_the_last{0};
/// Which of so many items that is.
constexpr std::size_t item_number(std::size_t count, std::ptrdiff_t from_behind) {
  return count + static_cast<std::size_t>(from_behind);
}

/// One unit over `count` consecutive items.
struct unit_call {
  void* object = nullptr;  ///< the callable or kernel
  void* inside = nullptr;  ///< of a stage that holds pipelines: where the objects of each are, if any are replaced
  const void* const* inputs = nullptr;  ///< where each item of the pipeline's input is; null for other values
  std::byte* in = nullptr;
  std::size_t in_stride = 0;
  std::byte* out = nullptr;
  std::size_t out_stride = 0;
  std::byte* scratch = nullptr;  ///< the kernel's
  item_state* state = nullptr;
  std::exception_ptr* error = nullptr;
  // What stages take beside their items: graph/detail/side_data.hpp.
  const side_place* places = nullptr;
  std::byte* sides = nullptr;
  std::size_t side_stride = 0;
  const item_envelope* envelopes = nullptr;
  const items_end* end = &behind_the_last;
  std::size_t count = 0;    ///< out: fewer, where it was stopped before the next
  bool some_ended = false;  ///< not every item is a value any more
  bool lost_some = false;   ///< out: an item failed or was filtered here

  /// The unit's object in the version of the items.
  void take_version(const program_unit& unit, void* of_version);
};

using unit_code = void (*)(unit_call&) noexcept;
/// Some tiles of one item's output.
using tiles_code = void (*)(const void* kernel, const void* in, void* out, std::byte* scratch,
                            tile_range some) noexcept;
using destroy_code = void (*)(void*) noexcept;

/// Where a value of an item is, in one session.
struct value_path {
  std::byte* first = nullptr;  ///< of the first slot; null: it lies in the grain's memory
  std::size_t offset = 0;      ///< there
  std::size_t stride = 0;

  /// For a grain whose first item is in that slot.
  std::byte* at(std::byte* memory, std::size_t slot, std::size_t i = 0) const {
    return first != nullptr ? first + (slot + i) * stride : memory + offset + i * stride;
  }
};
/// How a unit is called in one session.
struct unit_path {
  unit_code run = nullptr;
  void* const* object = nullptr;
  value_path in, out;
  std::size_t scratch_offset = 0;
  bool borrows = false;   ///< its items are the caller's own objects
  bool is_plain = false;  ///< nothing is to be done beside the call, while nothing is cancelled
};

/// Units that follow one another over `count` consecutive items, all values, all of each item before the next:
/// run/detail/program/chain.hpp.
struct chain_call {
  const unit_path* paths;
  std::byte* memory;  ///< the grain's
  std::size_t slot;   ///< of the first item
  const void* const* inputs;
  const std::byte* row;  ///< where items that are not the pipeline's own lie side by side, if they do
  item_state* state;
  std::exception_ptr* error;
  std::size_t count;       ///< out: as of unit_call
  bool lost_some = false;  ///< out: an item failed here
  const items_end* end = &behind_the_last;
};
using chain_code = void (*)(chain_call&) noexcept;

}  // namespace levada::detail
