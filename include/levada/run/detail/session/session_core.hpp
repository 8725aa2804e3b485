// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/session_core.hpp: one session of a deployment with its workers: how they are invited, what they
// do, and when they go.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/start_thread.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/engine/admission_queue.hpp>
#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/session/deployment.hpp>
#include <levada/run/detail/session/helped_session.hpp>
#include <levada/run/detail/session/lambda_ref.hpp>
#include <levada/run/detail/session/session_engines.hpp>
#include <levada/run/detail/session/stop_watch.hpp>
#include <levada/run/detail/workers/executor.hpp>
#include <levada/run/detail/workers/permits.hpp>
#include <levada/run/detail/workers/session_gate.hpp>
#include <levada/run/detail/workers/threading.hpp>
#include <levada/run/detail/workers/worker.hpp>

namespace levada::detail {

/// The callback of a request to stop.
template <class Engines>
struct cancel_session {
  Engines* of;
  void operator()() const { of->cancel(); }
};

/// One running instance: its engines, their backbone, the callers that help, and the workers that are invited.
template <class Executor>
class session_core final : public helped_session<Executor> {
  using base = helped_session<Executor>;

 public:
  [[gnu::cold]] session_core(std::shared_ptr<deployment<Executor>> of, bool borrows_input, std::stop_token stop,
                             const session_settings& settings = {}, admission_queue* before = nullptr)
      : base(alone(std::move(of)), borrows_input, settings, before),
        backbone_(backbone_for(*deployment_)),
        gate_(this),
        own_workers_(settings.unordered   ? static_cast<std::size_t>(deployment_->concurrency_limit.count())
                     : settings.dedicated ? 1
                                          : 0) {
    cancel_on(std::move(stop));
    app().kept.end();  // one that was left meanwhile
    if (!deployment_->last_code().has_result) this->invite_always();
    if (settings.watched != nullptr) this->results().watch(*settings.watched);
    if (deployment_->measures.load()) this->measure(true);
    try {
      for (thread& own : own_workers_) own = start_thread<thread>("the worker of a session", [this] { serve_alone(); });
    } catch (...) {
      end_own_workers();
      throw;
    }
  }

  /// Cancels the items in flight; returns when nothing of this session runs any more.
  [[gnu::cold]] ~session_core() {
    this->close();
    if (!this->all_finished()) this->cancel();
    this->wait_until([&] { return this->all_finished(); });
    for_each_engine([](engine& e) { e.wait_for_devices(); });
    absence_.end();
    end_own_workers();
  }

  /// Of a stream: the session that the last one has left, where that had the same settings; else a new one.
  static owner<session_core> begin(std::shared_ptr<deployment<Executor>> of, bool borrows_input, std::stop_token stop) {
    owner<session_core> left = of->kept.take();
    if (left && left->engine_.borrows_input() != borrows_input) left = owner<session_core>();
    if (!left) return owner<session_core>(new session_core(std::move(of), borrows_input, std::move(stop)));
    left->begin_again(of);
    left->cancel_on(std::move(stop));
    if (left->deployment_->measures.load()) left->measure(true);
    return left;
  }
  /// With settings of its own: always a new one.
  static owner<session_core> begin(std::shared_ptr<deployment<Executor>> of, bool borrows_input, std::stop_token stop,
                                   const session_settings& settings) {
    return owner<session_core>(new session_core(std::move(of), borrows_input, std::move(stop), settings));
  }
  /// The stream is over: what it has of its own ends, and the rest is left to the next one. Only where its session is
  /// the one of its deployment: threads of others have short ways where there is no other. A worker that is here stays
  /// for a moment, as for items that may come.
  static void leave(owner<session_core> ended) noexcept {
    ended->on_stop_.end();
    if (!ended->deployment_->concurrency_limit.has_one_session() || !ended->end_for_another()) return;
    const std::shared_ptr<deployed_code> of = std::move(ended->owned_deployment_);  // perhaps the last that has it
    auto& app = static_cast<deployment<Executor>&>(*of);
    app.kept.leave(std::move(ended));
    if (!app.concurrency_limit.has_one_session()) app.kept.end();  // another began, and looked for one before
  }

  void invite() noexcept override {
    if (engine_.settings().dedicated) return;
    worker_awake();
    bring_awake_worker();
  }

 private:
  using base::at_work_, base::deployment_, base::engine_, base::event_;
  using base::can_help, base::for_each_engine, base::has_work, base::isolated, base::let_in, base::look_again_soon;
  using base::pays_for_a_worker, base::spin_until, base::visit_all, base::visit_with_permit, base::wait_for_permit;
  using base::worker_asleep, base::worker_awake, base::worker_begins, base::worker_ends;

  /// As `invite`, by a thread that is not at this session, or leaves it. It counts the worker as awake, and nothing of
  /// its own: who pushes meanwhile relies on one that is.
  void invite_from_elsewhere() noexcept {
    for_each_engine([](engine& e) { e.worker_awake_again(); });
    bring_awake_worker();
  }
  void bring_awake_worker() noexcept {
    gate_.get()->add_holder();
    invited_.fetch_add(1);
    try {
      executor().invite({&session_core::work, gate_.get()});
    } catch (...) {  // no memory for a task: those who wait do the work themselves
      invited_.fetch_sub(1);
      worker_asleep();
      gate_.get()->remove_holder();
    }
  }

  deployment<Executor>& app() const { return static_cast<deployment<Executor>&>(*deployment_); }
  Executor& executor() const { return app().executor; }
  static std::shared_ptr<deployment<Executor>> alone(std::shared_ptr<deployment<Executor>> of) {
    of->kept.end();
    return of;
  }
  void cancel_on(std::stop_token stop) { on_stop_.begin(std::move(stop), cancel_session<session_engines>{this}); }

  // The steps of a visit are numbered: the segments of a region, the rate converter to the next, its segments.
  owner<backbone> backbone_for(const deployed_code& d) {
    if (d.make_backbone == nullptr) return {};
    std::size_t steps = 0;
    for (std::size_t r = 0; r < d.regions(); ++r) steps += (r != 0 ? 1 : 0) + d.program_of(r).segments.size();
    fixed_array<bool> on_device(steps);
    bool* next = on_device.begin();
    for (std::size_t r = 0; r < d.regions(); ++r) {
      if (r != 0) *next++ = false;
      for (const program_segment& s : d.program_of(r).segments) *next++ = d.queue_of(s.device) != nullptr;
    }
    return d.make_backbone(on_device, this, [](void* session, std::size_t step, visit& v) noexcept {
      v.any |= static_cast<session_core*>(session)->take_step(step);
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

  void end_own_workers() {
    ending_.store(true);
    event_.notify_all();
    for (thread& own : own_workers_)
      if (own.joinable()) own.join();
  }

  /// The worker of a dedicated session, which is the only one it has; or one of several, who count as awake throughout.
  void serve_alone() noexcept {
    apply_worker_settings_for_good(deployment_->workers);
    const bool is_one_of_several = own_workers_.size() > 1;
    if (is_one_of_several) for_each_engine([](engine& e) { e.worker_awake_again(); });
    while (!ending_.load(std::memory_order_relaxed)) {
      if (has_work() && acquire_permit()) {
        serve_with_permit([] { return true; });
      } else if (engine_.settings().polls) {
        if (!engine_.look_at_devices()) spin_pause();
      } else {
        const std::uint32_t epoch = event_.prepare();
        if (has_work() || ending_.load()) {
          event_.cancel();
        } else if (this->due() != session_settings::never) {
          event_.cancel();
          look_again_soon();
        } else {
          event_.wait(epoch);
        }
      }
    }
    if (is_one_of_several) worker_asleep();
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
      leaves = goes() && has_work();  // not where there was none, and some has come since
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
  /// Of the concurrency limit: a permit is left for the worker that has gone.
  static void call_worker(void* session) noexcept { static_cast<session_core*>(session)->invite_from_elsewhere(); }

  /// Sessions that share the workers wait for one; this one's own invitations aside.
  bool others_wait() const { return executor().invited() > invited_.load(); }
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
      // Others of the same workers do not wait for one that waits itself.
      if (stays && spin_until([&] { return ending_.load() || others_wait(); })) continue;
      worker_asleep();
      // What came between the last look and now found a worker awake and invited nobody.
      const bool waits = engine_.invites_always();  // for a permit; else those who have one look for more themselves
      if (!pays_for_a_worker() || !(waits ? has_work() : can_help())) return;
      if (goes) return invite_from_elsewhere();  // it comes back behind them
      for_each_engine([](engine& e) { e.worker_awake_again(); });
    }
  }

  owner<backbone> backbone_;
  atomic<bool> ending_{false};
  atomic<int> invited_{0};  ///< workers that have not come yet
  permits::absence absence_{deployment_->concurrency_limit, &call_worker, this};
  atomic<permits::clock::rep> waits_since_{0};  ///< its workers, for a permit; 0: none does
  static constexpr std::int64_t shortest_stay_us = 200, longest_stay_us = 100'000;
  atomic<std::int64_t> stay_us_{shortest_stay_us};  ///< in a line, of a worker that is wanted elsewhere
  const open_gate gate_;  ///< behind all that a worker looks at, which has left when it is closed
  fixed_array<thread> own_workers_;
  stop_watch<cancel_session<session_engines>> on_stop_;
};

}  // namespace levada::detail
