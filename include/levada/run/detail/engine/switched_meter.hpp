// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/switched_meter.hpp: the meter of an engine, which is made when it is first asked for, and measures
// while it is switched on.

#include <atomic>
#include <cstddef>

#include <levada/run/detail/measure/meter.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/program/session_options.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Any thread may switch it.
template <class = void>
class basic_switched_meter {
 public:
  explicit basic_switched_meter(const program& code) : code_(code) {}
  basic_switched_meter(const basic_switched_meter&) = delete;
  basic_switched_meter& operator=(const basic_switched_meter&) = delete;
  [[gnu::cold]] ~basic_switched_meter() { delete made_.load(); }

  /// Null: nothing is measured.
  meter* measuring() const { return has_statistics ? measuring_.load(std::memory_order_acquire) : nullptr; }
  /// What was ever measured; null: nothing.
  meter* made() const { return made_.load(); }

  /// From now on, or not. The first time allocates.
  void measure(bool on) {
    if constexpr (!has_statistics) return;
    if (on) make();
    meter* const made = made_.load();
    if (on) made->set_share(share_measured);
    measuring_.store(on ? made : nullptr);
  }
  /// Measures, with fewer timed grains until that is asked for, and items that take too long are heard of. Before the
  /// session is used.
  [[gnu::cold]] void watch(const watched_latency& what) {
    if constexpr (!has_statistics) return;
    make();
    meter& made = *made_.load();
    made.watch_by(what.make(what, code_, made));
    made.set_share(share_watched);
    measuring_.store(&made);
  }
  /// Measures, and keeps so many events a worker, from now on; goes on as before where there is no memory for them.
  void trace(std::size_t events) {
    if constexpr (!has_statistics) return;
    if (events != 0) make();
    if (meter* m = made_.load()) m->trace(events);
    if (events != 0) measure(true);
  }

 private:
  /// Who asks for statistics gives them up to a hundredth of the time; watching, with all of its costs, takes no more.
  static constexpr std::uint32_t share_measured = 100, share_watched = 200;

  [[gnu::noinline, gnu::cold]] void make() {
    if (made_.load() != nullptr) return;
    auto* const fresh = new meter(code_);
    meter* none = nullptr;
    if (!made_.compare_exchange_strong(none, fresh)) delete fresh;
  }

  const program& code_;
  atomic<meter*> made_{nullptr};
  atomic<meter*> measuring_{nullptr};  ///< the same, while it is switched on
};
using switched_meter = basic_switched_meter<>;

}  // namespace levada::detail
