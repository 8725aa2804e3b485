// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/inline_call.hpp: one item through a program on the calling thread, without slots, tickets or workers.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

#include <levada/core/error.hpp>
#include <levada/core/storage.hpp>
#include <levada/run/engine.hpp>
#include <levada/run/program.hpp>

namespace levada::detail {

/// The memory and stage state of one inline call at a time.
class inline_context {
 public:
  [[gnu::cold]] explicit inline_context(const program& code)
      : code_(code),
        slot_(code.slot_bytes, code.alignment),
        scratch_(most_scratch(code), code.alignment),
        states_(code),
        versions_(code.board ? code.board->open() : owner<object_versions>()) {}

  /// Where the result is after `run` said `value`; the caller destroys it.
  void* result() { return in_slot(code_.result); }
  /// Where the input may be constructed for `run`.
  void* input() { return in_slot(0); }
  const std::exception_ptr& error() const { return error_; }
  void forget_error() { error_ = nullptr; }

  /// While it lasts, results are constructed in memory of the caller.
  class redirection {
   public:
    redirection(inline_context& of, void* into) : of_(of) { of_.into_ = static_cast<std::byte*>(into); }
    ~redirection() { of_.into_ = nullptr; }
    redirection(const redirection&) = delete;
    redirection& operator=(const redirection&) = delete;

   private:
    inline_context& of_;
  };

  /// Runs all units over `item`, which is the pipeline's own where it is at `input()`.
  item_state run(const void* item) noexcept {
    const bool owned = item == input();
    ++calls_;
    void* const* const objects = versions_ ? versions_->current(calls_, calls_) : nullptr;
    item_state state = item_state::value;
    for (const program_segment& s : code_.segments) {
      for (std::size_t u = s.first; u < s.end; ++u) {
        const program_unit& unit = code_.units[u];
        unit_call call;
        const void* gathered[most_inputs];
        call.object = unit.shared == nullptr ? states_.objects[unit.own]
                      : objects != nullptr   ? objects[u]
                                             : unit.shared;
        if (!unit.more.empty()) {
          const void** next = gathered;
          for_each_input(unit, [&](std::size_t v) {
            const program_value& value = code_.values[v];
            *next++ = value.of_input ? part_of(item, value) : place(s, v);
          });
          call.in = reinterpret_cast<std::byte*>(gathered);
        } else if (code_.values[unit.in].of_input) {
          gathered[0] = part_of(item, code_.values[unit.in]);
          call.inputs = gathered;
        } else
          call.in = place(s, unit.in);
        if (unit.has_out) call.out = place(s, unit.out);
        call.scratch = scratch_.get() + unit.scratch_offset;
        call.state = &state;
        call.error = &error_;
        if (unit.sides != nullptr) {
          call.places = unit.sides;
          call.sides = slot_.get() + code_.side_offset;
          call.envelopes = &envelope_;
        }
        call.count = 1;
        unit.run(call);
        const value_list& ended = call.lost_some ? unit.alive : unit.dying;
        for (const std::size_t v : ended)
          if (!code_.values[v].of_input || owned) code_.values[v].destroy(place(s, v));
        if (call.lost_some) {
          state = state == item_state::failing ? item_state::failed : item_state::filtered;
          tell_units_behind(u, state);
          return state;
        }
      }
    }
    return state;
  }

 private:
  /// The item ended at unit `u`.
  void tell_units_behind(std::size_t u, item_state& as) noexcept {
    while (++u < code_.units.size()) {
      const program_unit& unit = code_.units[u];
      if (!unit.told) continue;
      const void* none = nullptr;
      unit_call call;
      call.object = unit.shared != nullptr ? unit.shared : states_.objects[unit.own];
      call.inputs = &none;
      call.state = &as;
      call.count = 1;
      call.some_ended = true;
      unit.run(call);
    }
  }

  static std::size_t most_scratch(const program& code) {
    std::size_t most = 0;
    for (const program_segment& s : code.segments) most = std::max(most, s.scratch_bytes);
    return most;
  }

  static const void* part_of(const void* item, const program_value& part) {
    return static_cast<const std::byte*>(item) + part.within;
  }
  std::byte* in_slot(std::size_t v) const {
    const program_value& value = code_.values[v];
    return into_ != nullptr && value.is_result ? into_ + value.within : slot_.get() + value.offset;
  }
  std::byte* place(const program_segment& s, std::size_t v) const {
    const program_value& value = code_.values[v];
    if (value.where == placement::slot) return in_slot(v);
    const std::size_t base = value.where == placement::grain ? s.grain * s.item_bytes : 0;
    return scratch_.get() + base + value.offset;
  }

  const program& code_;
  arena_bytes slot_;
  arena_bytes scratch_;
  session_states states_;
  owner<object_versions> versions_;  ///< where parameters can be replaced
  std::uint64_t calls_ = 0;
  item_envelope envelope_;
  std::exception_ptr error_;
  std::byte* into_ = nullptr;
};

/// Contexts for as many inline calls at once as the processor's threads; a single one where stages have state. Made when
/// first needed.
class inline_contexts {
 public:
  explicit inline_contexts(const program& code)
      : code_(code), places_(code.states.empty() ? static_cast<std::size_t>(code.threads) : 1) {}

  class lease {
   public:
    explicit lease(inline_contexts& of) : of_(of), index_(of.take()) {}
    ~lease() { of_.give_back(index_); }
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    inline_context& operator*() const { return *of_.places_[index_].context; }
    inline_context* operator->() const { return &**this; }

   private:
    inline_contexts& of_;
    std::size_t index_;
  };

 private:
  struct alignas(64) place {
    std::atomic<bool> busy{false};
    owner<inline_context> context;
  };

  std::size_t take() {
    for (;;) {
      const std::uint32_t seen = returned_.load();
      for (std::size_t i = 0; i < places_.size(); ++i) {
        bool expected = false;
        if (places_[i].busy.load(std::memory_order_relaxed) || !places_[i].busy.compare_exchange_strong(expected, true))
          continue;
        if (!places_[i].context) {
          try {
            places_[i].context = owner<inline_context>(new inline_context(code_));
          } catch (...) {
            give_back(i);
            throw;
          }
        }
        return i;
      }
      waiters_.fetch_add(1);
      returned_.wait(seen);
      waiters_.fetch_sub(1);
    }
  }

  void give_back(std::size_t index) {
    places_[index].busy.store(false);
    returned_.fetch_add(1);
    if (waiters_.load() != 0) returned_.notify_all();
  }

  const program& code_;
  fixed_array<place> places_;
  std::atomic<std::uint32_t> returned_{0}, waiters_{0};
};

}  // namespace levada::detail
