// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/measure/grain_watch.hpp: the reports of a grain to the meter on its way through the units.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <levada/core/detail/exchange.hpp>
#include <levada/run/detail/measure/meter.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/detail/program/unit_call.hpp>

namespace levada::detail {

/// A grain on its way, as the meter sees it. It belongs to the thread that runs the grain.
template <class = void>
class basic_grain_watch {
 public:
  /// The grain holds items that nobody has begun, and is not measured before `runs`.
  void restart() {
    turn_ = nullptr;
    state_ = claimed;
  }
  /// It is left to another worker.
  void deposited() {
    if (state_ == running) state_ = left;
  }
  /// The same grain for a thread that runs a branch of its item.
  basic_grain_watch on_branch(meter::turn& turn, std::size_t s, std::uint64_t first) const {
    basic_grain_watch w;
    if (!turn) return w;
    w.turn_ = &turn;
    if (mark_ != 0) turn.takes(s, first, 1, w.mark_ = meter::now());
    return w;
  }
  /// The branches of its item are done: what is behind them begins now, here or where `runs` says so next.
  void joined(bool here) {
    if (!has_statistics || state_ != running) return;
    if (mark_ != 0) mark_ = meter::now();
    if (!here) state_ = moved;
  }
  bool was_left() const { return has_statistics && __builtin_expect(state_ == left, false); }
  /// A worker runs it from here on, from this unit of segment `s`.
  void runs(meter::turn& turn, std::size_t s, std::size_t unit, std::uint64_t first, std::size_t count,
            std::uint64_t expected_ns) {
    turn_ = nullptr;
    if (turn) [[unlikely]]
      measures(turn, s, unit, first, count, expected_ns);
    else
      state_ = unknown;
  }

  /// Whether anything is measured: the only thing to be asked where nothing is.
  explicit operator bool() const { return has_statistics && __builtin_expect(turn_ != nullptr, false); }

  /// It stood before the unit.
  [[gnu::noinline]] void waited(std::size_t unit, std::uint64_t ns) {
    if (mark_ == 0) return;
    note(trace_kind::waiting, unit, mark_, mark_ + ns);
    if (unit != waited_at_) waited_ = 0;
    waited_at_ = unit;
    waited_ += ns;
    mark_ += ns;
  }
  /// An item ended at the unit.
  [[gnu::noinline]] void ended(std::size_t unit, item_state as) {
    if (as == item_state::failed || as == item_state::filtered) ++lost_;
    meter::ended(turn_->lane(), unit, as);
  }
  /// The unit ran, with items from that on.
  [[gnu::noinline]] void ran(std::size_t unit, const unit_call& call, std::uint64_t first) {
    std::size_t count = call.count;
    const std::size_t lost = exchange_value(lost_, 0);
    if (call.some_ended) {
      count = lost;
      for (std::size_t i = 0; i < call.count; ++i) count += state_of(call.state[i]) == item_state::value ? 1u : 0u;
      if (count == 0) return;
    }
    auto& record = turn_->lane().units[unit];
    add_alone(record.items, count);
    if (mark_ == 0) return;
    const std::uint64_t at = meter::now(), took = at - mark_;
    note(trace_kind::stage, unit, mark_, at);
    mark_ = at;
    turn_->of().ran(unit, first, call.count, at);
    record.time.add(count == 1 ? took : took / count, count, took);
    if (waited_ != 0 && unit == waited_at_) record.waited.add(waited_, count);
  }
  /// The grain is ready for segment `s`.
  void ready(std::size_t s, std::uint64_t first, std::size_t count) {
    turn_->of().ready(s, first, count, mark_ != 0 ? mark_ : meter::now());
  }

 private:
  [[gnu::noinline]] void measures(meter::turn& turn, std::size_t s, std::size_t unit, std::uint64_t first,
                                  std::size_t count, std::uint64_t expected_ns) {
    turn_ = &turn;
    const auto came = exchange_value(state_, running);
    if (came == unknown) mark_ = 0;
    if (came == claimed) {
      mark_ = waited_ = 0;
      if (!turn.lane().times(expected_ns, turn.lane().units.size())) return;
      mark_ = meter::now();
      turn.of().begun(turn.lane(), s, first, count, mark_);
      turn.takes(s, first, count, mark_);
    } else if (came == moved) {
      if (mark_ != 0) turn.takes(s, first, count, mark_);
    } else if (mark_ != 0) {
      const std::uint64_t at = meter::now();
      turn.takes(s, first, count, at);
      waited(unit, at - mark_);
    }
  }
  void note(trace_kind kind, std::size_t unit, std::uint64_t begin, std::uint64_t end) const {
    if (!turn_->traces()) return;
    trace_event e = turn_->grain();
    e.kind = kind, e.what = meter::small(unit), e.begin = begin, e.end = end;
    turn_->note(e);
  }

  const meter::turn* turn_ = nullptr;
  std::uint64_t mark_ = 0;  ///< when what is timed next began; 0: this grain is not timed
  enum : std::uint8_t { claimed, running, left, moved, unknown } state_ = claimed;
  std::size_t lost_ = 0;      ///< items that the unit lost
  std::uint64_t waited_ = 0;  ///< before the unit
  std::size_t waited_at_ = 0;
};
using grain_watch = basic_grain_watch<>;

}  // namespace levada::detail
