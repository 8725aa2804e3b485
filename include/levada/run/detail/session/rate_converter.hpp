// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/rate_converter.hpp: what carries items from a region of a pipeline to the next, where the rate
// changes. It pops the results of one engine and pushes the items of another; whoever helps or works runs it, one
// thread at a time.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/graph/detail/rate.hpp>
#include <levada/plan/detail/regions.hpp>
#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/program/erased_object.hpp>
#include <levada/run/detail/program/unit_call.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// A rate as code, a constant for each and its items.
struct rate_code {
  std::string_view name;
  erased_object (*make)(const void* rate);  ///< the state of a session, to be copied for others
  rate_step (*step)(void* state, void* item, std::uint32_t parts, void* out);
  rate_step (*end)(void* state, void* out);
  std::size_t (*waiting)(const void* state) noexcept;
  void (*abandon)(void* state, void* out) noexcept;
  std::chrono::nanoseconds timeout;  ///< 0: none
};

template <class Rate>
inline constexpr std::chrono::nanoseconds timeout_of{0};
template <class Rate>
  requires requires { Rate::timeout; }
inline constexpr std::chrono::nanoseconds timeout_of<Rate> = Rate::timeout;

/// The state of a rate for one session. `Planner` plans what it holds; `bytes` is the memory of that, `rings` what
/// waits inside.
template <class Rate, class In, class Planner>
struct state_of_rate : type_tag<typename Rate::template state<In>> {
  static constexpr std::size_t bytes = 0;
  static constexpr std::array<planned_ring, 0> rings{};
  static const Rate& object(const void* part) { return static_cast<const rate_part<Rate>*>(part)->rate; }
};

/// What a rate_code has of a rate. Functions, since a lambda that becomes a pointer is three of them without
/// optimisation.
template <class Rate, class In, class Planner>
struct functions_of_rate {
  using of = state_of_rate<Rate, In, Planner>;
  using state = typename of::type;

  static erased_object make(const void* rate) { return erased_object::make<state>(of::object(rate)); }
  static rate_step step(void* s, void* item, std::uint32_t parts, void* out) {
    return static_cast<state*>(s)->step(*static_cast<In*>(item), parts, out);
  }
  static rate_step end(void* s, void* out) { return static_cast<state*>(s)->end(out); }
  static std::size_t waiting(const void* s) noexcept { return static_cast<const state*>(s)->waiting(); }
  static void abandon(void* s, void* out) noexcept { static_cast<state*>(s)->abandon(out); }
};

template <class Rate, class In, class Planner, class Of = functions_of_rate<Rate, In, Planner>>
inline constexpr rate_code code_of_rate{Rate::name.view(), &Of::make,    &Of::step,       &Of::end,
                                        &Of::waiting,      &Of::abandon, timeout_of<Rate>};

/// A rate of a deployment, with the state that its sessions copy.
struct program_rate {
  const rate_code* code = nullptr;
  erased_object prototype;
};

/// Between two engines of a session.
template <class = void>
class basic_rate_converter {
 public:
  basic_rate_converter(const program_rate& of, engine& from, engine& to)
      : of_(of), from_(from), to_(to), state_(of.prototype.copy()) {}
  ~basic_rate_converter() { of_.code->abandon(state_.get(), to_.input_place()); }

  /// Carries what it can, or cancels what it would have; says whether it carried anything. `no_more`: nothing will come
  /// from before.
  bool carry(bool no_more) noexcept {
    if (!can_carry(no_more)) return false;
    bool expected = false;
    if (!busy_.compare_exchange_strong(expected, true)) return false;
    bool any = false;
    while (!ended_.load(std::memory_order_relaxed) && !to_.is_cancelled() && step(no_more)) any = true;
    if (to_.is_cancelled())
      from_.discard_results();
    else
      from_.free_kept();
    busy_.store(false);
    return any;
  }
  /// Seen from outside: it could do something now.
  bool can_carry(bool no_more) const { return !busy_.load() && has_something(no_more); }
  /// What it has carried is finished, and it carries nothing more until items come to it, results leave, or time
  /// passes. Seen from outside, while others may carry: what is true of one moment here may not be true of the next.
  bool is_settled(bool no_more) {
    if (busy_.load()) return false;
    const engine::sequence pushed = to_.pushed();
    return to_.all_settled() && !has_something(no_more) && !busy_.load() && to_.pushed() == pushed;
  }
  /// When what it has begun will be given, whatever comes, in nanoseconds of the session's clock; never where it has
  /// begun nothing.
  std::int64_t due() const {
    const std::int64_t began = began_.load();
    return session_settings::due_after(began, of_.code->timeout.count());
  }
  /// Items wait for room behind it.
  bool is_backed_up() const { return from_.has_unpopped() && !to_.has_slot_for(to_.pushed()); }
  /// Nothing will come through any more.
  bool has_ended() const { return ended_.load() || from_.is_cancelled(); }

  /// As it was when the session was opened. Nothing may be in flight.
  void reset() {
    of_.code->abandon(state_.get(), to_.input_place());
    state_ = of_.prototype.copy();
  }

 private:
  /// To carry, and room for it; or to cancel.
  bool has_something(bool no_more) const {
    if (to_.is_cancelled()) return from_.has_unpopped();
    if (ended_.load() || !to_.has_slot_for(to_.pushed())) return false;
    return from_.has_unpopped() || (no_more && from_.all_finished()) || is_overdue();
  }

  bool step(bool no_more) noexcept {
    if (!to_.has_slot_for(to_.pushed())) return false;
    if (!from_.has_result()) {
      if (is_overdue()) return end();
      if (!no_more || !from_.all_finished() || from_.has_result()) return false;
      from_.free_kept();
      if (!end()) ended_.store(true);
      return true;
    }
    if (from_.head_state() == item_state::failed) {
      pass_failure(from_.head_error(), &engine::push_failed);
      return true;
    }
    const item_envelope& envelope = from_.head_envelope();
    if (!begun_) begin_with(envelope);
    try {
      const rate_step did = of_.code->step(state_.get(), from_.head_value(), envelope.parts, to_.input_place());
      if (did.gave) give(did.parts);
      if (did.gave && !did.took) begin_with(envelope);
      if (did.took) from_.drop_head();
    } catch (...) {
      pass_failure(std::current_exception(), &engine::fail_at_admission);
    }
    return true;
  }

  void begin_with(const item_envelope& envelope) {
    captured_ = envelope.captured;
    begun_ = true;
    if (of_.code->timeout.count() != 0) began_.store(now());
  }
  std::int64_t now() const { return from_.settings().now().time_since_epoch().count(); }
  bool is_overdue() const {
    const std::int64_t at = due();
    return at != session_settings::never && now() >= at;
  }

  /// What was begun, by the rule for what is not whole. Says whether that gave anything, or what it throws.
  bool end() noexcept {
    const std::size_t waiting = of_.code->waiting(state_.get());
    rate_step did;
    std::exception_ptr why;
    try {
      did = of_.code->end(state_.get(), to_.input_place());
    } catch (...) {
      why = std::current_exception();
    }
    if (did.gave)
      give(did.parts);
    else if (waiting != 0)
      from_.count_dropped_behind(waiting);
    if (why != nullptr) to_.fail_at_admission(why, {to_.pushed(), captured_});
    begun_ = false;
    began_.store(session_settings::never);
    return did.gave || why != nullptr;
  }

  /// The item at the head goes on as one that failed, behind the batches and windows begun before it. Who listens hears
  /// of failures of the rate here, and of others where they were.
  void pass_failure(const std::exception_ptr& why,
                    void (engine::*as)(const std::exception_ptr&, const item_envelope&)) noexcept {
    if (end()) return;  // and the failure when there is room again
    (to_.*as)(why, {to_.pushed(), from_.head_envelope().captured});
    from_.drop_head();
  }

  void give(std::uint32_t parts) {
    to_.input_envelope() = {to_.pushed(), captured_, parts};
    to_.set_input(0, to_.input_place());
    to_.publish(1);
    begun_ = false;
    began_.store(session_settings::never);
  }

  const program_rate& of_;
  engine& from_;
  engine& to_;
  erased_object state_;
  std::chrono::steady_clock::time_point captured_{};
  bool begun_ = false;                                   ///< an item was taken for the next that is given
  atomic<std::int64_t> began_{session_settings::never};  ///< when, by the session's clock, where there is a timeout
  atomic<bool> busy_{false}, ended_{false};
};
using rate_converter = basic_rate_converter<>;

}  // namespace levada::detail
