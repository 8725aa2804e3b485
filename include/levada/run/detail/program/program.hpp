// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/program.hpp: a deployed pipeline with its types erased, as the engine runs it: the plan's units
// with their code, objects and buffers. One indirect call runs a unit over the items of a grain.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <levada/core/detail/storage.hpp>
#include <levada/core/device_queue.hpp>
#include <levada/core/error.hpp>
#include <levada/graph/detail/missing.hpp>
#include <levada/graph/detail/side_data.hpp>
#include <levada/plan/detail/plan.hpp>
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

/// An object of a type that is no longer known, on cache lines of its own: two stages run on two processors.
class erased_object {
 public:
  erased_object() = default;
  /// Constructs a `T` from the arguments.
  template <class T, class... Arguments>
  static erased_object make(Arguments&&... arguments) {
    erased_object o;
    o.object_ = new own_lines<T>{T(std::forward<Arguments>(arguments)...)};
    o.destroy_ = [](void* p, std::align_val_t) noexcept { delete static_cast<own_lines<T>*>(p); };
    if constexpr (std::is_copy_constructible_v<T>)
      o.copy_ = [](const void* p, std::size_t, std::align_val_t) -> void* {
        return new own_lines<T>{*static_cast<const T*>(p)};
      };
    return o;
  }
  /// The same for trivially copyable types, with no code for each.
  static erased_object make_trivial(const void* from, std::size_t bytes, std::size_t alignment) {
    erased_object o;
    o.bytes_ = bytes;
    o.alignment_ = std::align_val_t{alignment < cache_line ? cache_line : alignment};
    o.object_ = copy_bytes(from, bytes, o.alignment_);
    o.destroy_ = [](void* p, std::align_val_t aligned) noexcept { ::operator delete(p, aligned); };
    o.copy_ = &copy_bytes;
    return o;
  }

  erased_object(erased_object&& other) noexcept { swap(other); }
  erased_object& operator=(erased_object&& other) noexcept {
    swap(other);
    return *this;
  }
  ~erased_object() {
    if (object_ != nullptr) destroy_(object_, alignment_);
  }

  void* get() const { return object_; }
  bool copyable() const { return copy_ != nullptr; }
  erased_object copy() const {
    erased_object o;
    o.bytes_ = bytes_;
    o.alignment_ = alignment_;
    o.object_ = copy_(object_, bytes_, alignment_);
    o.destroy_ = destroy_;
    o.copy_ = copy_;
    return o;
  }

 private:
  static constexpr std::size_t cache_line = 64;
  template <class T>
  struct alignas(alignof(T) < cache_line ? cache_line : alignof(T)) own_lines {
    T object;
  };

  static void* copy_bytes(const void* from, std::size_t bytes, std::align_val_t alignment) {
    return std::memcpy(::operator new((bytes + cache_line - 1) / cache_line * cache_line, alignment), from, bytes);
  }
  void swap(erased_object& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(bytes_, other.bytes_);
    std::swap(alignment_, other.alignment_);
    std::swap(destroy_, other.destroy_);
    std::swap(copy_, other.copy_);
  }

  void* object_ = nullptr;
  std::size_t bytes_ = 0;
  std::align_val_t alignment_{1};
  void (*destroy_)(void*, std::align_val_t) noexcept = nullptr;
  void* (*copy_)(const void*, std::size_t, std::align_val_t) = nullptr;
};

/// A unit's code, and how its object comes about: a constant for each stage.
struct unit_descriptor {
  std::string_view name{};
  unit_code run = nullptr;
  erased_object (*make)(void* callable) = nullptr;  ///< where the object owns something
  std::size_t bytes = 0, alignment = 0;             ///< where it is copied as bytes; 0: it is a kernel, and made before
  bool own_copy = false;                            ///< each session has a copy of the object: it has state
  destroy_code destroy = nullptr;                   ///< of what it gives
  bool told = false;                                ///< its code is also called for items that ended before
  std::size_t sides = 0;                            ///< how many places it is given beside its item
  const device_kernel* (*on_device)(const void* kernel) = nullptr;  ///< where a device computes it by itself
  bool holds_pipelines = false;
  bool copyable = true;  ///< the object, where `make` is there

  /// What cannot be copied and is called by several threads at once unconditionally is shared by all sessions.
  constexpr bool is_copied_per_session(concurrency order) const {
    return own_copy && (copyable || order == concurrency::serial);
  }
};

/// Units that follow one another, as one.
struct chain_text {
  chain_code run = nullptr;
  std::size_t units = 0;
  chain_code run_one = nullptr;  ///< a single item, where a few chains are all there is
};

/// Values by index.
struct value_list {
  const std::uint16_t* first = nullptr;
  const std::uint16_t* last = nullptr;
  const std::uint16_t* begin() const { return first; }
  const std::uint16_t* end() const { return last; }
};

/// Units that fall into branches of an item, which may run at once: run/detail/program/branches.hpp.
struct program_fork {
  std::size_t first = 0, end = 0;
  std::size_t branches = 0;
};

/// A unit of the program.
struct program_unit {
  std::string name;  ///< of its stages
  unit_code run = nullptr;
  void* shared = nullptr;  ///< the object that all sessions use, or null where each has its own
  std::size_t own = 0;     ///< else its index among the session's copies
  bool told = false;       ///< its code is also called where all items ended before
  bool holds_pipelines = false;
  bool serial = false;
  std::size_t ticket = 0;  ///< of a serial unit: its index in its segment
  std::size_t in = 0, out = 0;
  more_inputs more;
  bool has_out = true;
  std::size_t group_end = 0;
  bool item_by_item = false;
  chain_code chain = nullptr;      ///< it and those that follow, up to `chain_end`
  chain_code chain_one = nullptr;  ///< a single item, where a few chains are all there is
  std::size_t chain_end = 0;
  std::size_t scratch_offset = 0;
  const program_fork* fork = nullptr;     ///< that begins with it, if one does
  std::size_t branch = 0;                 ///< in a fork
  const side_place* sides = nullptr;      ///< what it takes beside its item, if anything
  const device_kernel* kernel = nullptr;  ///< where a device computes it by itself
  value_list dying;                       ///< values to destroy behind the unit
  value_list alive;                       ///< values to destroy when an item ends here
  erased_object object;                   ///< what `shared` points to
};

inline void unit_call::take_version(const program_unit& unit, void* of_version) {
  if (unit.holds_pipelines)
    inside = of_version;
  else if (unit.shared != nullptr)
    object = of_version;
}

/// A value of the program.
struct program_value {
  placement where = placement::none;
  std::size_t offset = 0;
  std::size_t within = 0;          ///< where in the input or in the result, if it is a part of it
  destroy_code destroy = nullptr;  ///< null where nothing needs to be done
  bool of_input = false;           ///< it is the pipeline's input, or a part of it
  bool by_address = false;         ///< its address lies there
  bool is_result = false;          ///< it becomes the result, or a part of it, where it is
  std::uint16_t born = 0;          ///< the step behind the unit that makes it; 0: it comes in
  std::uint16_t last_use = 0;      ///< the last unit that takes it; behind all: it leaves
};

struct program_segment {
  device_id device{};
  std::size_t first = 0, end = 0;
  std::size_t grain = 1, grains = 1;
  std::size_t item_bytes = 0, scratch_bytes = 0;
  std::size_t tickets = 0;
  bool forks = false;            ///< some branches may run at once
  std::size_t device_bytes = 0;  ///< that an item needs on a device that computes by itself, between input and output
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t takes_from = none;  ///< the segment whose output is taken from its device's memory, if the devices can
  bool keeps = false;             ///< only such segments take what it gives
};

/// The objects of units that are replaced now and then, for one session: run/detail/program/parameter_board.hpp.
class object_versions {
 public:
  virtual ~object_versions() = default;
  /// The objects of all units for items pushed now. `pushed` and `popped` count items: what those before used is given
  /// up.
  virtual void* const* current(std::uint64_t pushed, std::uint64_t popped) noexcept = 0;
};
class object_board {
 public:
  virtual ~object_board() = default;
  /// For so many items in flight at most.
  virtual owner<object_versions> open(std::size_t items) const = 0;
  /// That unit is computed by a device, where its parameters have to be.
  virtual void compute_on(std::size_t unit, device_queue& device) = 0;
};

/// A stage state that sessions own copies of.
struct program_state {
  std::string_view name;
  erased_object prototype;
  mutable atomic<bool> given_away = false;  ///< a move-only state went to the one session it allows
};

/// The whole: immutable while it runs, shared by all sessions.
struct program {
  fixed_array<program_unit> units;
  fixed_array<program_value> values;
  fixed_array<program_segment> segments;
  fixed_array<program_fork> forks;
  fixed_array<program_state> states;
  fixed_array<std::uint16_t> ended;  ///< the units' lists of values
  fixed_array<side_place> sides;     ///< of all units, in order
  owner<object_board> board;         ///< where parameters can be replaced
  std::size_t slots = 1, slot_bytes = 0, side_offset = 0;
  std::size_t alignment = 64;     ///< of slots and scratchpads
  std::size_t first_segment = 0;  ///< its number among those of all regions of a deployment
  std::size_t result = 0;         ///< the value that leaves
  bool has_result = true;
  bool owns_input = false;         ///< a unit changes or consumes the input, or it is the result
  bool first_takes_input = false;  ///< no other unit than the first, where a chain begins, looks at what comes in
  bool has_source = false;
  int threads = 1;
};

/// One session's copies of the stage states. A state that cannot be copied goes to the first who asks.
struct session_states {
  [[gnu::cold]] explicit session_states(const program& code) : copies(code.states.size()), objects(code.states.size()) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const program_state& s = code.states[i];
      if (s.prototype.copyable())
        copies[i] = s.prototype.copy();
      else if (s.given_away.exchange(true))
        refuse_second(s.name);
      objects[i] = (s.prototype.copyable() ? copies[i] : s.prototype).get();
    }
  }

  /// Copies the states once more.
  void reset(const program& code) {
    fixed_array<erased_object> fresh(copies.size());
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      const program_state& s = code.states[i];
      if (!s.prototype.copyable()) refuse_reset(s.name);
      fresh[i] = s.prototype.copy();
    }
    copies = std::move(fresh);
    for (std::size_t i = 0; i < copies.size(); ++i) objects[i] = copies[i].get();
  }

  fixed_array<erased_object> copies;
  fixed_array<void*> objects;

 private:
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse_reset(std::string_view stage) {
    std::string message("levada: stage \"");
    message.append(stage).append("\": its state cannot be copied, so it cannot be reset");
    throw error(message);
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse_second(std::string_view stage) {
    std::string message("levada: stage \"");
    message.append(stage).append(
        "\": its state cannot be copied, so one session has it, and one has had it; calls of the app, app(item), count "
        "as a "
        "session. parallel(f) lets all share an f that several threads may call at once");
    throw error(message);
  }
};

/// What the run time needs of a plan, as small numbers: a constant of some bytes a unit, where a whole plan would
/// become thousands of store instructions in the function that deploys.
struct program_layout {
  struct unit {
    std::uint16_t in, out, group_end, segment;
    more_inputs more;
    form how;
    concurrency order;
    bool item_by_item;
    std::uint16_t stage;
    std::uint16_t state_of;
    std::uint32_t scratch_offset;
    branch_place branch;
  };
  struct value {
    std::uint64_t offset, within;
    std::uint16_t storage, part_of;  ///< `part_of`: itself where it is no part
    placement where;
    bool by_address;
  };
  struct segment {
    std::uint64_t item_bytes, scratch_bytes, kernel_offset;
    std::uint32_t grain, grains;
    std::uint16_t first, end;
    device_id device;
    std::uint16_t takes_from;  ///< itself: none
    bool keeps;
  };

  std::uint64_t slots, slot_bytes, side_offset;
  std::uint32_t alignment;
  std::uint16_t unit_count, value_count, segment_count;
  std::uint16_t stage_count, fork_count;
  std::uint16_t result;
  bool has_result, has_source;
};

/// The arrays of a layout.
struct layout_arrays {
  const program_layout::unit* units;
  const program_layout::value* values;
  const program_layout::segment* segments;
  const std::string_view* names;  ///< of the ops

  /// The unit changes its item where it is.
  bool keeps_place(std::size_t u) const {
    return units[u].how == form::in_place && values[units[u].in].storage == values[units[u].out].storage;
  }
};

template <std::size_t N>
struct layout_of_units : program_layout {
  unit units[N];
  value values[N + 1];
  segment segments[N];
  std::string_view names[N];

  layout_arrays arrays() const { return {units, values, segments, names}; }
};

template <std::size_t N>
constexpr layout_of_units<N> layout_of(const plan_info<N>& plan) {
  layout_of_units<N> l{};
  const auto small = [](std::size_t n) { return static_cast<std::uint16_t>(n); };
  l.unit_count = small(plan.units);
  l.value_count = small(plan.value.size());
  l.segment_count = small(plan.segments);
  l.stage_count = small(plan.nodes);
  for (const planned_fork& f : plan.fork)
    if (f.order == branch_order::at_once) ++l.fork_count;
  l.result = small(plan.graph.result);
  for (const planned_unit& u : plan.unit)  // a callable's text has its name
    if (u.backend != partition_unit::callable)
      for (std::size_t n = u.first; n < u.first + u.count; ++n) l.names[n] = plan.graph.nodes[n].name;
  l.slots = plan.slots;
  l.slot_bytes = plan.slot_bytes;
  l.side_offset = plan.side_offset;
  l.alignment = static_cast<std::uint32_t>(plan.alignment);
  l.has_result = plan.has_result;
  l.has_source = !plan.graph.source.empty();
  for (std::size_t u = 0; u < plan.units; ++u) {
    const planned_unit& p = plan.unit[u];
    const concurrency admits = p.in_loop ? concurrency::parallel : p.order;  // the head of its feedback does
    l.units[u] = {small(p.in),
                  small(p.out),
                  small(p.group_end),
                  small(p.segment),
                  p.more,
                  p.how,
                  admits,
                  p.item_by_item,
                  small(p.first),
                  small(p.state_of),
                  static_cast<std::uint32_t>(p.scratch_offset),
                  p.branch};
  }
  for (std::size_t v = 0; v < plan.value.size(); ++v) {
    const planned_value& p = plan.value[v];
    const value_info& of = plan.graph.values[v];
    l.values[v] = {p.offset, p.within,     small(p.storage), small(is_part_value(of) ? of.part_of : v),
                   p.where,  of.by_address};
  }
  for (std::size_t s = 0; s < plan.segments; ++s) {
    const planned_segment& p = plan.segment[s];
    l.segments[s] = {p.item_bytes,
                     p.scratch_bytes(),
                     p.grain * p.item_bytes + p.kernel_offset,
                     static_cast<std::uint32_t>(p.grain),
                     static_cast<std::uint32_t>(p.grains),
                     small(p.first),
                     small(p.first + p.count),
                     p.device,
                     small(p.takes == hand_over::direct ? p.takes_from : s),
                     p.keeps};
  }
  return l;
}

/// Which values each unit has to destroy: for good, and when an item ends there. Ports are destroyed with what they are
/// parts of, the whole of several outputs with them; the result is its popper's.
[[gnu::cold]] inline void list_ended_values(program& p, const layout_arrays& of) {
  struct life {
    std::size_t born = 0, last_use = 0;
  };
  fixed_array<life> lives(p.values.size());
  const auto for_each_whole = [&](std::size_t v, auto visit) {
    for (; of.values[v].part_of < v; v = of.values[v].part_of) visit(v);
    visit(v);
  };
  for (std::size_t u = 0; u < p.units.size(); ++u) {
    for_each_input(of.units[u],
                   [&](std::size_t v) { for_each_whole(v, [&](std::size_t w) { lives[w].last_use = u; }); });
    if (p.units[u].has_out) lives[of.units[u].out].born = u + 1;
  }
  if (p.has_result) {
    lives[p.result].last_use = p.units.size();
    for (std::size_t v = 0; v < p.result; ++v) {
      if (of.values[v].part_of != p.result) continue;
      lives[v].last_use = p.units.size();
      lives[p.result].born = p.units.size() + 1;  // its parts are there before
    }
  }
  for (std::size_t v = 0; v < lives.size(); ++v) {
    p.values[v].born = static_cast<std::uint16_t>(lives[v].born);
    p.values[v].last_use = static_cast<std::uint16_t>(lives[v].last_use);
  }
  std::size_t count = 0;
  for (const life& l : lives) count += l.last_use >= l.born ? l.last_use - l.born + 2 : 0;
  p.ended = fixed_array<std::uint16_t>(count);
  std::uint16_t* next = p.ended.begin();
  for (std::size_t u = 0; u < p.units.size(); ++u) {
    program_unit& unit = p.units[u];
    unit.alive.first = next;
    for (std::size_t v = 0; v < lives.size(); ++v)
      if (p.values[v].where != placement::none && p.values[v].destroy != nullptr && lives[v].born <= u &&
          lives[v].last_use >= u)
        *next++ = static_cast<std::uint16_t>(v);
    unit.alive.last = unit.dying.first = next;
    const bool keeps = of.keeps_place(u);
    const auto list = [&](std::size_t v) {
      const program_value& in = p.values[v];
      const bool listed = std::find(unit.dying.first, static_cast<const std::uint16_t*>(next), v) != next;
      if (!keeps && !listed && in.where != placement::none && in.destroy != nullptr && lives[v].last_use == u)
        *next++ = static_cast<std::uint16_t>(v);
    };
    for_each_input(unit, [&](std::size_t v) { for_each_whole(v, list); });
    unit.dying.last = next;
  }
}

/// What a program is made from. The stages' objects and the kernels, which are in the order of their units, are moved
/// from.
struct program_parts {
  layout_arrays plan;
  const unit_descriptor* const* texts;
  destroy_code destroy_input, destroy_result;
  void* const* stages;
  erased_object* kernels;
  const side_place* sides;             ///< of all stages in order
  const chain_text* chains = nullptr;  ///< of the units, where some make chains
};

inline bool takes_input_first(const program& p, const layout_arrays& of) {
  if (p.units.size() == 0 || p.units[0].chain == nullptr || consumes(of.units[0].how) != p.owns_input) return false;
  bool by_others = false;
  for (std::size_t u = 1; u < p.units.size() && !p.owns_input; ++u)
    for_each_input(p.units[u], [&](std::size_t v) { by_others = by_others || p.values[v].of_input; });
  return !by_others;
}

/// A program that all sessions of a deployment share.
[[gnu::cold]] inline program make_program(const program_layout& plan, const program_parts& parts, int threads) {
  const layout_arrays& of = parts.plan;
  erased_object* kernels = parts.kernels;
  program p;
  p.slots = plan.slots;
  p.slot_bytes = plan.slot_bytes;
  p.side_offset = plan.side_offset;
  p.alignment = plan.alignment;
  p.has_result = plan.has_result;
  p.has_source = plan.has_source;
  p.threads = threads;
  p.values = fixed_array<program_value>(plan.value_count);
  p.units = fixed_array<program_unit>(plan.unit_count);
  p.segments = fixed_array<program_segment>(plan.segment_count);
  p.forks = fixed_array<program_fork>(plan.fork_count);
  for (std::size_t v = 0; v < plan.value_count; ++v)
    p.values[v] = {of.values[v].where,
                   of.values[v].offset,
                   of.values[v].within,
                   nullptr,
                   of.values[v].storage == 0,
                   of.values[v].by_address,
                   plan.has_result && of.values[v].storage == of.values[plan.result].storage};
  p.values[0].destroy = parts.destroy_input;
  p.result = plan.result;
  if (plan.has_result) p.values[plan.result].destroy = parts.destroy_result;

  std::size_t states = 0, sides = 0;
  for (std::size_t u = 0; u < plan.unit_count; ++u) {
    states += parts.texts[u]->is_copied_per_session(of.units[u].order) ? 1u : 0u;
    sides += parts.texts[u]->sides;
  }
  p.sides = fixed_array<side_place>(sides);
  std::copy_n(parts.sides, sides, p.sides.begin());
  const side_place* next_side = p.sides.begin();
  p.states = fixed_array<program_state>(states);
  states = 0;
  for (std::size_t i = 0; i < plan.segment_count; ++i) {
    const auto& s = of.segments[i];
    program_segment& segment = p.segments[i];
    segment = {s.device, s.first, s.end, s.grain, s.grains, s.item_bytes, s.scratch_bytes, 0, 0};
    if (s.takes_from != i) segment.takes_from = s.takes_from;
    segment.keeps = s.keeps;
    for (std::size_t u = segment.first; u < segment.end; ++u) {
      const auto& planned = of.units[u];
      const unit_descriptor& text = *parts.texts[u];
      program_unit& unit = p.units[u];
      void* const stage = parts.stages[planned.stage];
      const bool borrows = planned.state_of != u;  // of a unit before it
      erased_object object = borrows                ? erased_object()
                             : text.make != nullptr ? text.make(stage)
                             : text.bytes != 0
                                 ? erased_object::make_trivial(text.own_copy ? stage : "", text.bytes, text.alignment)
                                 : std::move(*kernels++);
      unit.run = text.run;
      unit.name = text.name;
      if (text.name.empty()) {
        const std::size_t next = u + 1 < plan.unit_count ? of.units[u + 1].stage : plan.stage_count;
        for (std::size_t n = planned.stage; n < next; ++n)
          unit.name.append(n > planned.stage ? " + " : "").append(of.names[n]);
      }
      unit.told = text.told;
      unit.holds_pipelines = text.holds_pipelines;
      if (text.sides != 0) unit.sides = std::exchange(next_side, next_side + text.sides);
      if (text.on_device != nullptr) unit.kernel = text.on_device(object.get());
      if (planned.how != form::sink) p.values[planned.out].destroy = text.destroy;
      if (borrows) {
        unit.own = p.units[planned.state_of].own;
      } else if (text.is_copied_per_session(planned.order)) {
        unit.own = states;
        p.states[states].name = text.name;
        p.states[states++].prototype = std::move(object);
      } else {
        unit.shared = object.get();
        unit.object = std::move(object);
      }
      unit.serial = planned.order == concurrency::serial;
      if (unit.serial) unit.ticket = segment.tickets++;
      unit.in = planned.in;
      unit.more = planned.more;
      unit.out = planned.out;
      unit.has_out = planned.how != form::sink;
      unit.group_end = planned.group_end;
      unit.item_by_item = planned.item_by_item;
      if (parts.chains != nullptr) {
        unit.chain = parts.chains[u].run;
        unit.chain_one = parts.chains[u].run_one;
      }
      if (unit.chain != nullptr) unit.chain_end = u + parts.chains[u].units;
      for (std::size_t n = u; n < unit.chain_end; ++n)
        if (of.units[n].how == form::in_place && !of.keeps_place(n)) unit.chain = nullptr;
      unit.scratch_offset = s.kernel_offset + planned.scratch_offset;
      if (planned.branch) {
        unit.branch = planned.branch.branch;
        program_fork& fork = p.forks[planned.branch.fork];
        if (fork.branches == 0) fork.first = u;
        fork.end = u + 1;
        fork.branches = std::max<std::size_t>(fork.branches, unit.branch + 1u);
        p.units[fork.first].fork = &fork;
        segment.forks = true;
      }
    }
    if (segment.first != segment.end &&
        p.units[segment.first].kernel != nullptr) {  // its scratchpads are on the device, one for each slot
      segment.device_bytes = std::exchange(segment.scratch_bytes, 0);
      segment.grains = 1;
    }
  }
  list_ended_values(p, of);
  for (std::size_t u = 0; u < plan.unit_count; ++u)
    if (p.values[of.units[u].in].of_input && consumes(of.units[u].how)) p.owns_input = true;
  if (p.has_result && p.values[p.result].of_input) p.owns_input = true;
  p.first_takes_input = takes_input_first(p, of);
  return p;
}

}  // namespace levada::detail
