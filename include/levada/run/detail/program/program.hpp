// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/program.hpp: a deployed pipeline with its types erased, as the engine runs it: the plan's units
// with their code, objects and buffers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/core/error.hpp>
#include <levada/graph/detail/side_data.hpp>
#include <levada/plan/detail/plan_info.hpp>
#include <levada/run/detail/program/erased_object.hpp>
#include <levada/run/detail/program/unit_call.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

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
  bool divided = false;  ///< of a lone item one branch runs after the other, each of their units in parts
};

/// A unit of the program.
struct program_unit {
  std::string name;  ///< of its stages
  unit_code run = nullptr;
  void* shared = nullptr;         ///< the object that all sessions use, or null where each has its own
  std::size_t own = 0;            ///< else its index among the session's copies
  bool observes_missing = false;  ///< its code is also called where all items ended before
  bool holds_pipelines = false;
  bool serial = false;
  bool has_out = true;
  bool item_by_item = false;
  std::size_t ticket = 0;  ///< of a serial unit: its index in its segment
  std::size_t in = 0, out = 0;
  more_inputs more;
  std::size_t group_end = 0;
  chain_code chain = nullptr;      ///< it and those that follow, up to `chain_end`
  chain_code chain_one = nullptr;  ///< a single item, where a few chains are all there is
  std::size_t chain_end = 0;
  std::size_t scratch_offset = 0;
  tiles_code of_tiles = nullptr;  ///< of a unit that is divided: run/detail/program/item_team.hpp
  std::size_t tiles = 1;
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
  std::uint16_t made_in = 0;       ///< the segment; behind all: it comes in
  bool reaches_host = false;       ///< from the device of that segment
  std::size_t copied_bytes = 0;    ///< that a device whose work the host computes has in its own memory
};

struct program_segment {
  device_id device{};
  std::size_t first = 0, end = 0;
  std::size_t grain = 1, grains = 1;
  std::size_t item_bytes = 0, scratch_bytes = 0;
  std::size_t tickets = 0;
  bool forks = false;            ///< some branches may run at once
  std::size_t device_bytes = 0;  ///< that an item needs on its device: between input and output where that computes by
                                 ///< itself, else a scratchpad with a slot behind it
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t takes_from = none;  ///< the segment whose output is taken from its device's memory, if the devices can
  bool keeps = false;             ///< only such segments take what it gives
  value_list inputs, outputs;     ///< that come to and from a device that computes by itself
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

/// Threads that compute units of a lone item together: run/detail/program/item_team.hpp.
class unit_team {
 public:
  virtual ~unit_team() = default;
  /// Computes a unit of one item, whose thread has a permit. False: it did not, since nobody would help.
  virtual bool compute(const program_unit& unit, const unit_call& call) noexcept = 0;
  /// The same on a thread that has none yet.
  virtual bool compute_with_permit(const program_unit& unit, const unit_call& call) noexcept = 0;
  /// It has no other item, and to divide one saves time.
  virtual bool is_ready() noexcept = 0;
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
  fixed_array<std::uint16_t> moved;  ///< the segments' lists of values
  owner<object_board> board;         ///< where parameters can be replaced
  std::size_t slots = 1, slot_bytes = 0, side_offset = 0;
  std::size_t part_bytes = 0;     ///< of scratch, for each part of a unit but the first
  std::size_t alignment = 64;     ///< of slots and scratchpads
  std::size_t first_segment = 0;  ///< its number among those of all regions of a deployment
  std::size_t result = 0;         ///< the value that leaves
  bool has_result = true;
  bool owns_input = false;         ///< a unit changes or consumes the input, or it is the result
  bool first_takes_input = false;  ///< no other unit than the first, where a chain begins, looks at what comes in
  bool has_source = false;
  unit_team* team = nullptr;  ///< the deployment's, where some units are divided
  int threads = 1;
};

/// One session's copies of the stage states. A state that cannot be copied goes to the first who asks, and comes back
/// where nothing ran with it: where the session could not be opened.
template <class = void>
struct basic_session_states {
  [[gnu::cold]] explicit basic_session_states(const program& code) : basic_session_states(code, code.states.size()) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const program_state& s = code.states[i];
      if (s.prototype.copyable())
        copies[i] = s.prototype.copy();
      else if (s.given_away.exchange(true))
        refuse_second(s.name);
      objects[i] = (s.prototype.copyable() ? copies[i] : s.prototype).get();
    }
  }
  basic_session_states(const basic_session_states&) = delete;
  basic_session_states& operator=(const basic_session_states&) = delete;
  [[gnu::cold]] ~basic_session_states() {
    for (std::size_t i = 0; !used && i < objects.size(); ++i)
      if (objects[i] != nullptr && !code_.states[i].prototype.copyable()) code_.states[i].given_away.store(false);
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
    use_copies();
  }

  bool can_reset() const {
    for (const program_state& s : code_.states)
      if (!s.prototype.copyable()) return false;
    return true;
  }
  /// Ends the copies, in the order in which a session does. None is used until `begin_again`.
  void end() noexcept {
    for (std::size_t i = copies.size(); i != 0;) copies[--i].end();
  }
  void begin_again() {
    for (std::size_t i = 0; i < copies.size(); ++i)
      if (!copies[i].copy_again(code_.states[i].prototype)) copies[i] = code_.states[i].prototype.copy();
    use_copies();
  }

  fixed_array<erased_object> copies;
  fixed_array<void*> objects;  ///< null: not this session's
  bool used = false;           ///< a stage may have run

 private:
  basic_session_states(const program& code, std::size_t count) : copies(count), objects(count), code_(code) {}

  void use_copies() {
    for (std::size_t i = 0; i < copies.size(); ++i) objects[i] = copies[i].get();
  }
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

  const program& code_;
};
using session_states = basic_session_states<>;

}  // namespace levada::detail
