// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/deployment.hpp: a program with its workers and devices, and one session of it. Types are erased
// here; run/detail/session/session.hpp and run/detail/deploy/executable.hpp put them back on.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include <levada/core/detail/start_thread.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/core/error.hpp>
#include <levada/run/detail/engine/admission_queue.hpp>
#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/session/regions.hpp>
#include <levada/run/detail/workers/executor.hpp>
#include <levada/run/detail/workers/thread_mark.hpp>
#include <levada/run/detail/workers/threading.hpp>
#include <levada/run/detail/workers/worker.hpp>

namespace levada::detail {

/// A device that the program uses, with its queue.
struct attached_device {
  device_id id{};
  owner<device_queue> queue;
};

/// What all sessions of an app share.
template <class Executor>
struct deployment {
  [[gnu::cold]] deployment(program code_, owner<later_code> later_, fixed_array<attached_device> devices_,
                           backbone_code make_backbone_, const worker_settings& workers_)
      : code(std::move(code_)),
        later(std::move(later_)),
        devices(std::move(devices_)),
        make_backbone(make_backbone_),
        workers(workers_),
        concurrency_limit(code.threads, Executor::workers(code.threads, workers)),
        executor(code.threads, workers) {}

  program code;
  owner<later_code> later;               ///< where the rate changes
  fixed_array<attached_device> devices;  ///< behind the program, whose kernels they hold
  backbone_code make_backbone;           ///< null where workers go from segment to segment by themselves
  worker_settings workers;
  permits concurrency_limit;
  atomic<bool> measures{false};  ///< sessions measure themselves from their start
  Executor executor;

  const program& program_of(std::size_t region) const { return region == 0 ? code : later->code(region - 1); }
  std::size_t regions() const { return later ? 1 + later->count() : 1; }
  /// The program whose results leave.
  const program& last_code() const { return program_of(regions() - 1); }
};

/// Makes the devices ready for the segments that they compute by themselves.
template <class Executor>
void prepare_devices(deployment<Executor>& app, const program& code) {
  for (std::size_t s = 0; s < code.segments.size(); ++s) {
    const program_segment& of = code.segments[s];
    const program_unit* const units = code.units.begin() + of.first;  // a region may have none
    std::size_t count = 0;
    while (count < of.end - of.first && units[count].kernel != nullptr) ++count;
    if (count == 0) continue;  // the host computes it
    const device_segment segment{
        code.first_segment + s, of.device_bytes, fixed_array<device_segment::unit>(count, [&](std::size_t u) {
          const program_unit& unit = units[u];
          return device_segment::unit{unit.kernel, code.values[unit.out].offset, unit.scratch_offset};
        })};
    for (const attached_device& device : app.devices) {
      if (device.id != of.device) continue;
      device.queue->prepare(segment);
      if (!code.board) continue;
      for (std::size_t u = 0; u < count; ++u) code.board->compute_on(of.first + u, *device.queue);
    }
  }
}
template <class Executor>
void prepare_devices(deployment<Executor>& app) {
  prepare_devices(app, app.code);
  for (std::size_t r = 1; r < app.regions(); ++r) prepare_devices(app, app.program_of(r));
}

/// The door between a session and workers that were invited and may come late, when the session and its deployment are
/// gone, or never: a session that has closed it is not touched again. Doors are used again and never destroyed.
class session_gate {
 public:
  /// A door to `session`, held by the caller.
  static session_gate& open(void* session) {
    pool& all = gates();
    const std::lock_guard lock(all.mutex);
    session_gate* gate = all.free;
    if (gate == nullptr)
      gate = new session_gate;
    else
      all.free = gate->next_free_;
    gate->holders_.store(1);
    gate->session_.store(session);
    return *gate;
  }

  void add_holder() { holders_.fetch_add(1); }
  void remove_holder() {
    if (holders_.fetch_sub(1) != 1) return;
    pool& all = gates();
    const std::lock_guard lock(all.mutex);
    next_free_ = std::exchange(all.free, this);
  }

  /// The session, kept alive until `leave`; or null where it has closed.
  void* enter() {
    inside_.fetch_add(1);
    void* const session = session_.load();
    if (session == nullptr) leave();
    return session;
  }
  void leave() {
    if (inside_.fetch_sub(1) == 1) inside_.notify_all();
  }
  /// From here on nobody enters; returns when nobody is inside. Whoever is has been told to go, and is gone in a
  /// moment.
  void close() {
    session_.store(nullptr);
    for (int i = 0; i < 1'000 && inside_.load() != 0; ++i) spin_pause();
    for (int inside = inside_.load(); inside != 0; inside = inside_.load()) inside_.wait(inside);
  }

 private:
  /// Reachable to the end of the process, since an invitation may outlive everything else: the list of all gates, too.
  struct pool {
    detail::mutex mutex;
    session_gate* free = nullptr;
    session_gate* all = nullptr;
  };
  static pool& gates() {
    static pool& p = *new pool;
    return p;
  }

  session_gate() : next_(std::exchange(gates().all, this)) {}

  atomic<void*> session_{nullptr};
  atomic<int> inside_{0};
  atomic<int> holders_{0};
  session_gate* next_free_ = nullptr;
  session_gate* next_;
};

/// Open to a session as long as it lives.
class open_gate {
 public:
  explicit open_gate(void* session) : gate_(session_gate::open(session)) {}
  open_gate(const open_gate&) = delete;
  open_gate& operator=(const open_gate&) = delete;
  ~open_gate() {
    gate_.close();
    gate_.remove_holder();
  }
  session_gate* get() const { return &gate_; }

 private:
  session_gate& gate_;
};

template <class Core>
struct cancel_session {
  Core* of;
  void operator()() const { of->cancel(); }
};

/// Refers to a lambda, so that one function serves all.
template <class Result>
class lambda_ref {
 public:
  template <class F>
  lambda_ref(const F& f)  // NOLINT: made where it is called
      : of_(&f), call_([](const void* of) { return static_cast<Result>((*static_cast<const F*>(of))()); }) {}
  Result operator()() const { return call_(of_); }

 private:
  const void* of_;
  Result (*call_)(const void*);
};

/// A question asked again and again while a thread waits.
using condition = lambda_ref<bool>;

/// One running instance: an engine, its backbone, and the ways a calling thread helps and waits.
template <class Executor>
class session_core final : public engine_host {
 public:
  [[gnu::cold]] session_core(std::shared_ptr<deployment<Executor>> of, bool borrows_input, std::stop_token stop,
                             const session_settings& settings = {}, admission_queue* before = nullptr)
      : deployment_(std::move(of)),
        admission_(before),
        engine_(deployment_->code, queues(*deployment_, deployment_->code), deployment_->concurrency_limit, event_,
                *this, borrows_input, deployment_->later ? settings.inside() : settings),
        later_(deployment_->later ? deployment_->later->open(
                                        {engine_, deployment_->concurrency_limit, event_, *this, behind(settings)},
                                        &queues_of, deployment_.get())
                                  : owner<later_regions>()),
        backbone_(backbone_for(*deployment_)),
        gate_(this),
        on_stop_(std::move(stop), cancel_session<session_core>{this}) {
    if (!deployment_->last_code().has_result) invite_always();
    if (deployment_->measures.load()) measure(true);
    if (settings.dedicated) own_worker_ = start_thread("the worker of a session", [this] { serve_alone(); });
  }
  session_core(const session_core&) = delete;
  session_core& operator=(const session_core&) = delete;

  /// What is in flight becomes cancelled; returns when nothing of this session runs any more.
  [[gnu::cold]] ~session_core() {
    close();
    if (!all_finished()) cancel();
    wait_until([&] { return all_finished(); });
    for_each_engine([](engine& e) { e.wait_for_devices(); });
    ending_.store(true);
    absence_.end();
    if (own_worker_.joinable()) {
      event_.notify_all();
      own_worker_.join();
    }
  }

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
  template <class Trace = session_trace>
  Trace traced() const {
    Trace all = engine_.template traced<Trace>();
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
    return holds_before_door([&] {
      return engine_.all_settled() && (!later_ || later_->all_finished(engine_.is_closed(), !has_own_clock()));
    });
  }
  /// That is so, and no item comes in behind it but those that others push or make room for.
  bool holds_before_door(condition so) const {
    if (admission_ == nullptr) return so();
    const engine::sequence pushed = engine_.pushed();
    return so() && !lets_more_in() && engine_.pushed() == pushed;
  }
  /// Results wait to be popped before more can be finished.
  bool is_backed_up() const { return later_ && later_->is_backed_up(); }
  /// When something will be given whatever comes, by the session's clock; never where nothing was begun.
  std::int64_t due() const {
    const std::int64_t later = later_ ? later_->due() : session_settings::never;
    return has_door() ? std::min(later, admission_->due(engine_)) : later;
  }

  /// No more items will be pushed.
  void close() {
    engine_.close();
    event_.notify_all();
  }
  bool is_closed() const { return engine_.is_closed() || is_cancelled(); }
  bool is_cancelled() const { return engine_.is_cancelled(); }
  /// What will come out has come.
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

  /// Runs what is ready on this thread, a grain a segment at most. Says whether anything was done.
  bool help() {
    if (engine_.settings().dedicated || !may_have_work()) return false;
    engine_.enter();
    if (!deployment_->concurrency_limit.try_acquire()) return false;
    return help_with_permit();
  }

  /// Where a lone item waits for this thread, which pops: runs it and hands its value to `take`. Says whether there was
  /// one.
  template <class Take>
  bool pop_single_item(const Take& take) {
    if (!engine_.may_have_single_item() || later_ || !engine_.claim_single_item()) return false;
    bool is_value = false;
    Executor::isolated([&] { is_value = engine_.run_single_item(); });
    if (is_value) {
      take(engine_.head_value());
      engine_.leave_single_item();
    } else {
      engine_.give_back_single_item();
    }
    return is_value;
  }

  /// Helps, spins and parks until `done()`.
  void wait_until(condition done) {
    while (!done()) {
      if (help()) continue;
      if (spin_until(done)) continue;
      park_unless(done);
    }
  }

  /// Like `wait_until`, where only another thread can bring `done()` about once nothing is in flight. `other` is the
  /// last thread that did so: where that is nobody, or this thread itself, it looks again for some seconds and throws
  /// levada::error.
  void wait_for_another(condition done, const atomic<thread_mark>& other, const char* otherwise) {
    int looks = 0;  // and no clock: the process may have been stopped meanwhile
    while (!done()) {
      if (help()) continue;
      if (spin_until(done)) continue;
      const thread_mark last = other.load();
      if (all_finished() && !lets_more_in() && (last == nullptr || last == this_thread_mark())) {
        if (++looks > 10'000) throw error(otherwise);
        sleep_thread(std::chrono::microseconds(200));
        continue;
      }
      const bool was_finished = all_finished();
      park_unless([&] { return done() || all_finished() != was_finished; });
    }
  }

  void invite() noexcept override {
    if (engine_.settings().dedicated) return;
    gate_.get()->add_holder();
    worker_awake();
    invited_.fetch_add(1);
    try {
      deployment_->executor.invite({&session_core::work, gate_.get()});
    } catch (...) {  // no memory for a task: those who wait do the work themselves
      invited_.fetch_sub(1);
      worker_asleep();
      gate_.get()->remove_holder();
    }
  }

 private:
  static device_queue* queue_of(const deployment<Executor>& d, device_id id) {
    for (const attached_device& device : d.devices)
      if (device.id == id) return device.queue.get();
    return nullptr;
  }
  static fixed_array<device_queue*> queues_of(const void* d, const program& code) {
    return queues(*static_cast<const deployment<Executor>*>(d), code);
  }
  static fixed_array<device_queue*> queues(const deployment<Executor>& d, const program& code) {
    return fixed_array<device_queue*>(code.segments.size(),
                                      [&](std::size_t s) { return queue_of(d, code.segments[s].device); });
  }
  /// Regions behind the first take all that comes, however old.
  static session_settings behind(session_settings settings) {
    settings.overflow = overflow_policy::block;
    settings.latest_only = false;
    return settings;
  }

  // The steps of a visit are numbered: the segments of a region, the relay to the next, its segments.
  owner<backbone> backbone_for(const deployment<Executor>& d) {
    if (d.make_backbone == nullptr) return {};
    std::size_t steps = 0;
    for (std::size_t r = 0; r < d.regions(); ++r) steps += (r != 0 ? 1 : 0) + d.program_of(r).segments.size();
    fixed_array<bool> on_device(steps);
    bool* next = on_device.begin();
    for (std::size_t r = 0; r < d.regions(); ++r) {
      if (r != 0) *next++ = false;
      for (const program_segment& s : d.program_of(r).segments) *next++ = queue_of(d, s.device) != nullptr;
    }
    return d.make_backbone(on_device, this, [](void* session, std::size_t step, visit& v) noexcept {
      v.any |= static_cast<session_core*>(session)->take_step(step);
    });
  }
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
  bool has_door() const { return admission_ != nullptr && !engine_.is_cancelled(); }
  /// Or close behind the last.
  bool can_let_in() const {
    return has_door() && (admission_->can_let_in(engine_) || (admission_->is_over() && !engine_.is_closed()));
  }
  /// Items wait before the door that come in whatever others do. In the time of a clock of its own: as far as that has
  /// come.
  bool lets_more_in() const {
    if (admission_ != nullptr && is_cancelled()) return admission_->is_busy();  // by who came before
    return has_door() &&
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

  static void isolated(lambda_ref<void> f) { Executor::isolated(f); }

  bool can_work() { return has_work() && deployment_->concurrency_limit.available(); }
  bool can_help() { return !engine_.settings().dedicated && can_work(); }

  /// With a permit, which it gives back.
  bool visit_with_permit(condition visits) noexcept {
    at_work_.fetch_add(1);
    const bool any = visits();
    at_work_.fetch_sub(1);
    engine_.give_back_permit();
    return any;
  }
  bool help_with_permit() noexcept {
    return visit_with_permit([this] {
      bool any = false;
      isolated([&] {
        any = visit_all();
        // Cheap items that only this thread works on: all that wait, in one go.
        while (any && !engine_.is_shared() && !engine_.has_devices() && (later_ || engine_.may_have_more()) &&
               !deployment_->concurrency_limit.are_overdue() && visit_all()) {
        }
      });
      return any;
    });
  }
  /// A worker: visits as long as there is work and `more()`, and nobody waits for the worker or the permit.
  bool serve_with_permit(condition more) noexcept {
    return visit_with_permit([&] {
      const auto since = thread_time();
      visit v;
      do {
        isolated([&] {
          v.any = false;
          if (backbone_) {
            v.any = let_in();
            backbone_->enter(v);
          } else {
            v.any = visit_all();
          }
        });
      } while (v.any && more() && !gives_way(since));
      return v.any;
    });
  }

  /// The worker of a dedicated session, which is the only one it has.
  void serve_alone() noexcept {
    apply_worker_settings_for_good(deployment_->workers);
    while (!ending_.load(std::memory_order_relaxed)) {
      if (has_work() && acquire_permit()) {
        serve_with_permit([] { return true; });
      } else if (engine_.settings().polls) {
        spin_pause();
      } else {
        const std::uint32_t epoch = event_.prepare();
        if (has_work() || ending_.load()) {
          event_.cancel();
        } else if (due() != session_settings::never) {
          event_.cancel();
          look_again_soon();
        } else {
          event_.wait(epoch);
        }
      }
    }
  }
  /// Nobody wakes this thread when it is time.
  static void look_again_soon() { sleep_thread(std::chrono::microseconds(100)); }

  /// Parks until something changes, unless `reason()`. A session that others have left no permit waits for the next
  /// one.
  void park_unless(condition reason) {
    for_each_engine([](engine& e) {
      e.enter();
      e.helper_parks();
    });
    bool permitted = false;
    const std::uint32_t epoch = event_.prepare();
    if (reason() || can_help()) {
      event_.cancel();
    } else if (is_left_out()) {
      event_.cancel();
      permitted = wait_for_permit(reason);
    } else if (engine_.settings().polls || due() != session_settings::never) {
      event_.cancel();
      look_again_soon();
    } else {
      event_.wait(epoch);
    }
    for_each_engine([](engine& e) { e.helper_goes(); });
    if (permitted) help_with_permit();
  }

  /// Spins until `done()`, or until there is work again. To bring a thread back takes longer than to keep one that has
  /// nothing to do for a moment.
  bool spin_until(condition done) {
    const auto until = thread_time() + std::chrono::microseconds(20);
    do {
      const std::uint32_t seen = hints();
      if (done() || can_help()) return true;
      for (int i = 0; i < 16 && hints() == seen; ++i) spin_pause();
    } while (thread_time() < until);
    return false;
  }

  /// An invited worker: visits as long as there is work, spins shortly, and goes.
  static void work(void* gate_pointer) noexcept {
    auto* const gate = static_cast<session_gate*>(gate_pointer);
    if (auto* const self = static_cast<session_core*>(gate->enter())) {
      self->invited_.fetch_sub(1);
      self->work_here();
      gate->leave();
    }
    gate->remove_holder();
  }

  /// There is work, and perhaps others have all permits: who gives one back tells its own session, and the lines. Where
  /// nobody of this session is at work, another's thread had the permit, though that session may have ended since.
  bool is_left_out() const {
    return !engine_.settings().dedicated && has_work() &&
           (at_work_.load() == 0 || !deployment_->concurrency_limit.has_one_session());
  }
  /// Waits for a permit, in a line, as long as there is work and not `done()`. Says whether it has it. Looks again
  /// soon, not only when it is told, where `soon()`.
  bool wait_for_permit(condition done) noexcept {
    return wait_for_permit(
        done, [] { return false; }, permits::clock::time_point::max());
  }
  bool wait_for_permit(condition done, condition soon, permits::clock::time_point since) noexcept {
    while (has_work() && !done()) {
      const bool hurries = at_work_.load() == 0;
      permits::place place(deployment_->concurrency_limit, event_, hurries, since);
      do {
        if (place.try_acquire()) return true;
        if (engine_.settings().polls) {
          spin_pause();
          continue;
        }
        const std::uint32_t epoch = event_.prepare();
        if (!has_work() || done() || place.may_acquire() || (!hurries && at_work_.load() == 0)) {
          event_.cancel();
        } else if (soon()) {
          event_.cancel();
          look_again_soon();
        } else {
          event_.wait(epoch);
        }
      } while (has_work() && !done() && (hurries || at_work_.load() != 0));
    }
    return false;
  }
  /// Of a worker: it waits where nobody may ever come back for the work of this session.
  bool acquire_permit() noexcept {
    return deployment_->concurrency_limit.try_acquire() ||
           ((engine_.invites_always() || engine_.settings().dedicated) && wait_for_permit([] { return false; }));
  }

  /// The same of one that was invited. It leaves the line where others, of whatever app, wait for a worker: what they
  /// have to do may be what who has the permit waits for.
  bool acquire_permit_unless_wanted(bool& leaves) noexcept {
    if constexpr (requires { typename Executor::waiting_worker; }) {
      if (deployment_->concurrency_limit.try_acquire()) return got_permit();
      if (!engine_.invites_always()) return false;
      const typename Executor::waiting_worker here(event_);
      const auto came = thread_time();
      permits::clock::rep first = 0;
      waits_since_.compare_exchange_strong(first, came.time_since_epoch().count());
      const permits::clock::time_point since{permits::clock::duration(waits_since_.load())};
      const auto stay = std::chrono::microseconds(stay_us_.load());
      const auto is_wanted = [&] { return Executor::invited_to_all() > invited_.load(); };
      const auto goes = [&] { return is_wanted() && thread_time() - came > stay; };
      if (wait_for_permit(goes, is_wanted, since)) return got_permit();
      leaves = has_work();
      // The longer, the more often that was in vain: a permit is left only now and then.
      if (leaves) stay_us_.store(std::min(2 * stay.count(), longest_stay_us));
      return false;
    } else {
      return acquire_permit();
    }
  }
  bool got_permit() noexcept {
    waits_since_.store(0);
    stay_us_.store(shortest_stay_us);
    return true;
  }
  /// Of the crew: a permit is left for the worker that has gone.
  static void call_worker(void* session) noexcept {
    auto& self = *static_cast<session_core*>(session);
    self.for_each_engine([](engine& e) { e.worker_awake_again(); });
    self.invite();
    self.worker_asleep();
  }

  /// Sessions that share the workers wait for one; this one's own invitations aside.
  bool others_wait() const { return deployment_->executor.invited() > invited_.load(); }
  /// A worker, which has been here for a while, is wanted elsewhere, or its permit.
  bool gives_way(std::chrono::steady_clock::time_point since) const {
    return deployment_->concurrency_limit.wants_back(since) ||
           (others_wait() && thread_time() - since > std::chrono::microseconds(200));
  }

  void work_here() noexcept {
    for (;;) {
      bool leaves = false;
      if (acquire_permit_unless_wanted(leaves)) {
        worker_begins();
        const bool any = serve_with_permit([&] { return pays_for_a_worker(); });
        worker_ends();
        if (any && pays_for_a_worker() && !others_wait()) continue;  // it was the permit
      } else if (leaves) {
        absence_.begin();
        return worker_asleep();
      }
      const bool goes = others_wait();
      const bool stays =
          !goes && !deployment_->concurrency_limit.are_overdue() && !ending_.load() && pays_for_a_worker();
      if (stays && spin_until([&] { return ending_.load(); })) continue;
      worker_asleep();
      // What came between the last look and now found a worker awake and invited nobody.
      const bool waits = goes || engine_.invites_always();  // for its turn, or for a permit
      if (!pays_for_a_worker() || !(waits ? has_work() : can_help())) return;
      for_each_engine([](engine& e) { e.worker_awake_again(); });
      if (!goes) continue;
      invite();  // it comes back behind them
      return worker_asleep();
    }
  }

  std::shared_ptr<deployment<Executor>> deployment_;
  const permits::session in_limit_{deployment_->concurrency_limit};
  event_count event_;
  admission_queue* const admission_;
  engine engine_;
  owner<later_regions> later_;  ///< where the rate changes
  engine* const results_ = later_ ? &later_->items(later_->count() - 1) : &engine_;
  owner<backbone> backbone_;
  atomic<bool> ending_{false}, is_over_{false};
  atomic<int> invited_{0};  ///< workers that have not come yet
  atomic<int> at_work_{0};  ///< threads with a permit
  permits::absence absence_{deployment_->concurrency_limit, &call_worker, this};
  atomic<permits::clock::rep> waits_since_{0};  ///< its workers, for a permit; 0: none does
  static constexpr std::int64_t shortest_stay_us = 200, longest_stay_us = 100'000;
  atomic<std::int64_t> stay_us_{shortest_stay_us};  ///< in a line, of a worker that is wanted elsewhere
  const open_gate gate_;  ///< behind all that a worker looks at, which has left when it is closed
  std::thread own_worker_;
  std::stop_callback<cancel_session<session_core>> on_stop_;
};

}  // namespace levada::detail
