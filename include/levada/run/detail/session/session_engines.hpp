// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/session_engines.hpp: the engines of one session, that of the first region and those where the rate
// changes, seen as one: the numbers of items pushed, in flight, finished and popped.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/core/detail/trace_context.hpp>
#include <levada/run/detail/engine/admission_queue.hpp>
#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/engine/engine_links.hpp>
#include <levada/run/detail/session/deployment.hpp>
#include <levada/run/detail/session/lambda_ref.hpp>
#include <levada/run/detail/session/regions.hpp>
#include <levada/run/detail/workers/event_count.hpp>
#include <levada/run/detail/workers/permits.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// They are asked and told together. The derived class brings threads to them.
template <class = void>
class basic_session_engines : public engine_host {
 public:
  basic_session_engines(const basic_session_engines&) = delete;
  basic_session_engines& operator=(const basic_session_engines&) = delete;

  /// Of the results.
  std::size_t slots() const { return deployment_->last_code().slots; }
  /// Others than the calling thread are at work on the items.
  bool shares_work() const {
    bool shares = false;
    for_each_engine([&](const engine& e) { shares = shares || e.is_shared() || e.has_devices(); });
    return shares;
  }
  /// Where items are pushed, and where results are popped: the same where the rate does not change.
  engine& items() { return engine_; }
  const engine& items() const { return engine_; }
  engine& results() { return *results_; }
  const engine& results() const { return *results_; }
  bool changes_rate() const { return static_cast<bool>(later_); }

  /// Of the items of region `r`.
  item_counts counts(std::size_t r) const { return r == 0 ? engine_.counts() : later_->items(r - 1).counts(); }
  std::size_t regions() const { return deployment_->regions(); }

  void cancel() {
    for_each_engine([](engine& e) { e.cancel(); });
  }
  void invite_always() {
    for_each_engine([](engine& e) { e.invite_always(); });
  }
  void invite_if_idle() {
    for_each_engine([](engine& e) { e.invite_if_idle(); });
    if (changes_rate() && has_work()) engine_.invite_first();
  }
  void measure(bool on) {
    for_each_engine([=](engine& e) { e.measure(on); });
  }
  void trace(std::size_t events) {
    for_each_engine([=](engine& e) { e.trace(events); });
  }
  void trace(const trace_context& of, std::size_t events) {
    {
      const std::lock_guard lock(tracing_);
      trace_ = of;
    }
    trace(events);
    for_each_engine([&](engine& e) { e.trace_devices(of); });
  }
  template <class Trace = session_trace>
  Trace traced() const {
    Trace all = engine_.template traced<Trace>();
    {
      const std::lock_guard lock(tracing_);
      all.context = trace_;
    }
    for (std::size_t r = 1; r < regions(); ++r)
      append(all, later_->items(r - 1).template traced<Trace>(), deployment_->program_of(r).first_segment);
    return all;
  }
  template <class Statistics = session_statistics>
  Statistics statistics() const {
    Statistics all = engine_.template statistics<Statistics>();
    for (std::size_t r = 1; r < regions(); ++r) append(all, later_->items(r - 1).template statistics<Statistics>());
    return all;
  }
  void set_failure_hook(failure_hook hook) {
    for_each_engine([=](engine& e) { e.set_failure_hook(hook); });
  }
  /// Fresh copies of the stages' states; nothing may be in flight.
  void reset_states() {
    for_each_engine([](engine& e) { e.reset_states(); });
    if (later_) later_->reset_relays();
  }

  /// All that came to a region is finished there, and nothing can be carried to the next.
  bool all_finished() const {
    return engine_.all_finished() && (!later_ || later_->all_finished(engine_.is_closed(), true));
  }
  /// The same; and counted, where no result waits before it. In the time of a clock of its own: as far as that has
  /// come.
  bool all_settled() {
    return holds_before_admission([&] {
      return engine_.all_settled() && (!later_ || later_->all_finished(engine_.is_closed(), !has_own_clock()));
    });
  }
  /// That is so, and no item comes in behind it but those that others push or make room for.
  bool holds_before_admission(condition so) const {
    if (admission_ == nullptr) return so();
    const engine::sequence pushed = engine_.pushed();
    return so() && !lets_more_in() && engine_.pushed() == pushed;
  }
  /// Where threads park until something has changed.
  event_count& event() { return event_; }
  /// Some changes are not told there: one has to look.
  bool is_silent() const { return engine_.settings().polls || due() != session_settings::never; }
  /// Results wait to be popped before more can be finished.
  bool is_backed_up() const { return later_ && later_->is_backed_up(); }
  /// When something will be given whatever comes, by the session's clock; never where nothing was begun.
  std::int64_t due() const {
    const std::int64_t later = later_ ? later_->due() : session_settings::never;
    return has_admission_queue() ? std::min(later, admission_->due(engine_)) : later;
  }

  /// No more items will be pushed.
  void close() {
    engine_.close();
    event_.notify_all();
  }
  bool is_closed() const { return engine_.is_closed() || is_cancelled(); }
  bool is_cancelled() const { return engine_.is_cancelled(); }
  /// All results have come.
  bool has_all() const {
    if (!is_closed() || lets_more_in() || !all_finished()) return false;
    return (!later_ || later_->has_ended()) && results().all_finished();
  }
  /// Nothing more will come out. Once that is so it stays so, though a worker may look once more for something to
  /// carry.
  bool is_over() {
    if (is_over_.load(std::memory_order_relaxed)) return true;
    const bool is_over =
        has_all() && !results().has_result() && holds_for_all([](const engine& e) { return e.all_ended(); });
    if (is_over) is_over_.store(true, std::memory_order_relaxed);
    return is_over;
  }

 protected:
  [[gnu::cold]] basic_session_engines(std::shared_ptr<deployed_code> of, bool borrows_input,
                                      const session_settings& settings, admission_queue* before)
      : owned_deployment_(std::move(of)),
        admission_(before),
        engine_(deployment_->code, links_of(deployment_, deployment_->code), deployment_->concurrency_limit, event_,
                *this, borrows_input, deployment_->later ? settings.inside() : settings),
        later_(deployment_->later ? deployment_->later->open(
                                        {engine_, deployment_->concurrency_limit, event_, *this, behind(settings)},
                                        &links_of, deployment_)
                                  : owner<later_regions>()) {}
  ~basic_session_engines() = default;

  bool take_step(std::size_t step) noexcept {
    const std::size_t first = deployment_->code.segments.size();
    return step < first ? engine_.step(step) : later_->take_step(step - first, engine_.is_closed());
  }
  bool visit_all() noexcept {
    bool any = let_in();
    any |= engine_.visit();
    if (later_) any |= later_->visit_all(engine_.is_closed());
    return any;
  }
  bool may_have_work() const { return engine_.has_waiting() || has_work(); }
  bool has_work() const {
    return engine_.has_work() || (later_ && later_->has_work(engine_.is_closed())) || can_let_in();
  }

  bool has_own_clock() const { return engine_.settings().clock != nullptr; }
  bool has_admission_queue() const { return admission_ != nullptr && !engine_.is_cancelled(); }
  /// Or close behind the last.
  bool can_let_in() const {
    return has_admission_queue() &&
           (admission_->can_let_in(engine_) || (admission_->is_over() && !engine_.is_closed()));
  }
  /// Items wait for admission that come in whatever others do. In the time of a clock of its own: as far as that has
  /// come.
  bool lets_more_in() const {
    if (admission_ != nullptr && is_cancelled()) return admission_->is_busy();  // by who came before
    return has_admission_queue() &&
           (admission_->opens(engine_) || (!has_own_clock() && admission_->due(engine_) != session_settings::never));
  }
  bool let_in() noexcept {
    if (!can_let_in()) return false;
    admission_->let_in(engine_);
    if (admission_->is_over()) close();
    return true;
  }
  std::uint32_t hints() const {
    std::uint32_t all = 0;
    for_each_engine([&](const engine& e) { all += e.hints(); });
    return all;
  }
  bool pays_for_a_worker() const {
    bool pays = false;
    for_each_engine([&](const engine& e) { pays = pays || e.pays_for_a_worker(); });
    return pays;
  }
  void worker_awake() {
    for_each_engine([](engine& e) { e.worker_awake(); });
  }
  void worker_asleep() {
    for_each_engine([](engine& e) { e.worker_asleep(); });
  }
  void worker_begins() {
    for_each_engine([](engine& e) { e.worker_begins(); });
  }
  void worker_ends() {
    for_each_engine([](engine& e) { e.worker_ends(); });
  }

  /// It has ended well, and all that it had but its memory is gone. Says whether its engine can be used again.
  bool end_for_another() noexcept { return !later_ && is_over() && !is_cancelled() && engine_.end_for_another(); }
  /// Behind that: a session as a new one is. Throws what copying a state throws.
  void begin_again(const std::shared_ptr<deployed_code>& of) {
    engine_.begin_again();
    owned_deployment_ = of;
    is_over_.store(false);
  }

  template <class Visit>
  void for_each_engine(Visit visit) {
    visit(engine_);
    if (later_) later_->for_each(visit);
  }
  template <class Visit>
  void for_each_engine(Visit visit) const {
    visit(engine_);
    if (later_) later_->for_each([&](const engine& e) { visit(e); });
  }

  template <class Question>
  bool holds_for_all(Question question) const {
    bool holds = true;
    for_each_engine([&](const engine& e) { holds = holds && question(e); });
    return holds;
  }

  std::shared_ptr<deployed_code> owned_deployment_;  ///< null where it is the deployment that keeps this session
  deployed_code* const deployment_ = owned_deployment_.get();
  const permits::session in_limit_{deployment_->concurrency_limit};
  event_count event_;
  admission_queue* const admission_;
  engine engine_;
  owner<later_regions> later_;  ///< where the rate changes

 private:
  mutable mutex tracing_;
  std::optional<trace_context> trace_;

  static engine_links links_of(const void* d, const program& code) {
    const deployed_code& of = *static_cast<const deployed_code*>(d);
    const auto queue_of = [&](std::size_t s) { return of.queue_of(code.segments[s].device); };
    return {fixed_array<device_queue*>(of.open_bridge != nullptr ? code.segments.size() : 0, queue_of), of.open_bridge,
            of.branches};
  }
  /// Regions behind the first take all that comes, however old.
  static session_settings behind(session_settings settings) {
    settings.overflow = overflow_policy::block;
    settings.latest_only = false;
    return settings;
  }

  engine* const results_ = later_ ? &later_->items(later_->count() - 1) : &engine_;
  atomic<bool> is_over_{false};
};
using session_engines = basic_session_engines<>;

}  // namespace levada::detail
