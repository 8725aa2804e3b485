// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/deployment.hpp: a program with its workers and devices, and one session of it. Types are erased here; run/session.hpp
// and run/executable.hpp put them back on.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include <levada/core/error.hpp>
#include <levada/core/storage.hpp>
#include <levada/run/engine.hpp>
#include <levada/run/executor.hpp>
#include <levada/run/worker.hpp>

namespace levada::detail {

/// A device that the program uses, with its queue.
struct attached_device {
  device_id id{};
  owner<device_queue> queue;
};

/// What all sessions of an app share.
template <class Executor>
struct deployment {
  [[gnu::cold]] deployment(program code_, fixed_array<attached_device> devices_, backbone_code make_backbone_,
                           const worker_settings& workers_)
      : code(std::move(code_)),
        devices(std::move(devices_)),
        make_backbone(make_backbone_),
        workers(workers_),
        crew(code.threads),
        executor(code.threads, workers) {}

  program code;
  fixed_array<attached_device> devices;  ///< behind the program, whose kernels they hold
  backbone_code make_backbone;           ///< null where workers go from segment to segment by themselves
  worker_settings workers;
  permits crew;
  event_count event;
  std::atomic<bool> measures{false};  ///< sessions measure themselves from their start
  Executor executor;
};

/// Makes the devices ready for the segments that they compute by themselves.
template <class Executor>
void prepare_devices(deployment<Executor>& app) {
  const program& code = app.code;
  for (std::size_t s = 0; s < code.segments.size(); ++s) {
    const program_segment& of = code.segments[s];
    const program_unit* const units = &code.units[of.first];
    std::size_t count = 0;
    while (count < of.end - of.first && units[count].kernel != nullptr) ++count;
    if (count == 0) continue;  // the host computes it
    const device_segment segment{
        s, of.device_bytes, fixed_array<device_segment::unit>(count, [&](std::size_t u) {
          const program_unit& unit = units[u];
          return device_segment::unit{unit.kernel, code.values[unit.out].offset, unit.scratch_offset};
        })};
    for (const attached_device& device : app.devices)
      if (device.id == of.device) device.queue->prepare(segment);
  }
}

/// The door between a session and workers that were invited and may come late, when the session and its deployment are gone,
/// or never: a session that has closed it is not touched again. Doors are used again and never destroyed.
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
  /// From here on nobody enters; returns when nobody is inside.
  void close() {
    session_.store(nullptr);
    for (int inside = inside_.load(); inside != 0; inside = inside_.load()) inside_.wait(inside);
  }

 private:
  /// Reachable to the end of the process, since an invitation may outlive everything else: the list of all gates, too.
  struct pool {
    std::mutex mutex;
    session_gate* free = nullptr;
    session_gate* all = nullptr;
  };
  static pool& gates() {
    static pool& p = *new pool;
    return p;
  }

  session_gate() : next_(std::exchange(gates().all, this)) {}

  std::atomic<void*> session_{nullptr};
  std::atomic<int> inside_{0};
  std::atomic<int> holders_{0};
  session_gate* next_free_ = nullptr;
  session_gate* next_;
};

struct cancel_engine {
  engine* of;
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
                             const session_settings& settings = {})
      : deployment_(std::move(of)),
        engine_(deployment_->code, queues(*deployment_), deployment_->crew, deployment_->event, *this, borrows_input,
                settings),
        backbone_(backbone_for(*deployment_)),
        gate_(session_gate::open(this)),
        on_stop_(std::move(stop), cancel_engine{&engine_}) {
    if (!deployment_->code.has_result) engine_.invite_always();
    if (deployment_->measures.load()) engine_.measure(true);
    if (settings.dedicated) own_worker_ = std::thread([this] { serve_alone(); });
  }
  session_core(const session_core&) = delete;
  session_core& operator=(const session_core&) = delete;

  /// What is in flight becomes cancelled; returns when nothing of this session runs any more.
  [[gnu::cold]] ~session_core() {
    close();
    engine_.cancel();
    wait_until([&] { return engine_.all_finished(); });
    engine_.wait_for_devices();
    gate_.close();
    gate_.remove_holder();
    if (own_worker_.joinable()) {
      ending_.store(true);
      deployment_->event.notify_all();
      own_worker_.join();
    }
  }

  std::size_t slots() const { return deployment_->code.slots; }
  /// Others than the calling thread are at work on the items.
  bool shares_work() const { return engine_.is_shared() || engine_.has_devices(); }
  engine& items() { return engine_; }
  const engine& items() const { return engine_; }

  /// No more items will be pushed.
  void close() {
    closed_.store(true);
    deployment_->event.notify_all();
  }
  bool is_closed() const { return closed_.load() || engine_.is_cancelled(); }
  /// Nothing more will come out.
  bool is_over() { return is_closed() && engine_.all_finished() && !engine_.has_result() && engine_.all_counted(); }

  /// Runs what is ready on this thread, a grain a segment at most. Says whether anything was done.
  bool help() {
    if (engine_.settings().dedicated || !engine_.has_work() || !deployment_->crew.try_acquire()) return false;
    bool any = false;
    isolated([&] {
      any = engine_.visit();
      // Cheap items that only this thread works on: all that wait, in one go.
      while (any && !engine_.is_shared() && !engine_.has_devices() && engine_.visit()) {
      }
    });
    release_permit();
    return any;
  }

  /// Helps, spins and parks until `done()`.
  void wait_until(condition done) {
    while (!done()) {
      if (help()) continue;
      if (spin_until(done)) continue;
      park_unless([&] { return done() || can_help(); });
    }
  }

  /// Like `wait_until`, where only another thread can bring `done()` about once nothing is in flight. `other` is the last
  /// thread that did so: where that is nobody, or this thread itself, it looks again for some seconds and throws levada::error.
  void wait_for_another(condition done, const std::atomic<std::thread::id>& other, const char* otherwise) {
    int looks = 0;  // and no clock: the process may have been stopped meanwhile
    while (!done()) {
      if (help()) continue;
      if (spin_until(done)) continue;
      const std::thread::id last = other.load();
      if (engine_.all_finished() && (last == std::thread::id() || last == std::this_thread::get_id())) {
        if (++looks > 10'000) throw error(otherwise);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        continue;
      }
      const bool was_finished = engine_.all_finished();
      park_unless([&] { return done() || can_help() || engine_.all_finished() != was_finished; });
    }
  }

  void invite() noexcept override {
    if (engine_.settings().dedicated) return;
    gate_.add_holder();
    engine_.worker_awake();
    try {
      deployment_->executor.invite({&session_core::work, &gate_});
    } catch (...) {  // no memory for a task: those who wait do the work themselves
      engine_.worker_asleep();
      gate_.remove_holder();
    }
  }

 private:
  static device_queue* queue_of(const deployment<Executor>& d, std::size_t segment) {
    for (const attached_device& device : d.devices)
      if (device.id == d.code.segments[segment].device) return device.queue.get();
    return nullptr;
  }
  static fixed_array<device_queue*> queues(const deployment<Executor>& d) {
    return fixed_array<device_queue*>(d.code.segments.size(), [&](std::size_t s) { return queue_of(d, s); });
  }
  owner<backbone> backbone_for(const deployment<Executor>& d) {
    if (d.make_backbone == nullptr) return {};
    const fixed_array<bool> on_device(d.code.segments.size(), [&](std::size_t s) { return queue_of(d, s) != nullptr; });
    return d.make_backbone(on_device, this, [](void* self, std::size_t segment, visit& v) noexcept {
      v.any |= static_cast<session_core*>(self)->engine_.step(segment);
    });
  }

  static void isolated(lambda_ref<void> f) { Executor::isolated(f); }

  bool can_work() { return engine_.has_work() && deployment_->crew.available(); }
  bool can_help() { return !engine_.settings().dedicated && can_work(); }

  /// The worker of a dedicated session, which is the only one it has.
  void serve_alone() noexcept {
    dress_for_good(deployment_->workers);
    while (!ending_.load(std::memory_order_relaxed)) {
      if (can_work() && deployment_->crew.try_acquire()) {
        isolated([&] {
          while (engine_.visit()) {
          }
        });
        release_permit();
      } else if (engine_.settings().polls) {
        spin_pause();
      } else {
        const std::uint32_t epoch = deployment_->event.prepare();
        if (can_work() || ending_.load())
          deployment_->event.cancel();
        else
          deployment_->event.wait(epoch);
      }
    }
  }

  void park_unless(condition reason) {
    engine_.helper_parks();
    const std::uint32_t epoch = deployment_->event.prepare();
    if (reason()) {
      deployment_->event.cancel();
    } else if (engine_.settings().polls) {  // whose try_push and try_pop wake nobody
      deployment_->event.cancel();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    } else {
      deployment_->event.wait(epoch);
    }
    engine_.helper_goes();
  }

  /// Spins until `done()`, or until there is work again. To bring a thread back takes longer than to keep one that has
  /// nothing to do for a moment.
  bool spin_until(condition done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
    do {
      const std::uint32_t seen = engine_.hints();
      if (done() || can_help()) return true;
      for (int i = 0; i < 16 && engine_.hints() == seen; ++i) spin_pause();
    } while (std::chrono::steady_clock::now() < until);
    return false;
  }

  void release_permit() {
    deployment_->crew.release();
    deployment_->event.notify_all();  // to those who wait for a permit
  }

  /// An invited worker: visits as long as there is work, spins shortly, and goes.
  static void work(void* gate_pointer) noexcept {
    auto* const gate = static_cast<session_gate*>(gate_pointer);
    if (auto* const self = static_cast<session_core*>(gate->enter())) {
      self->work_here();
      gate->leave();
    }
    gate->remove_holder();
  }

  /// Where nobody may ever come back for the work of this session, its worker waits for a permit, and gets the next one.
  bool wait_for_permit() noexcept {
    if (!engine_.invites_always()) return false;
    permits& crew = deployment_->crew;
    event_count& event = deployment_->event;
    crew.reserve();
    while (engine_.has_work()) {
      if (crew.try_acquire_reserved()) return true;
      const std::uint32_t epoch = event.prepare();
      if (!engine_.has_work() || crew.any_left())
        event.cancel();
      else
        event.wait(epoch);
    }
    crew.give_up_reserved();
    event.notify_all();
    return false;
  }

  void work_here() noexcept {
    for (;;) {
      if (deployment_->crew.try_acquire() || wait_for_permit()) {
        visit v;
        do {
          isolated([&] {
            v.any = false;
            if (backbone_)
              backbone_->enter(v);
            else
              v.any = engine_.visit();
          });
        } while (v.any && engine_.pays_for_a_worker());
        release_permit();
      }
      if (engine_.pays_for_a_worker() && spin_until([] { return false; })) continue;
      engine_.worker_asleep();
      // What came between the last look and now found a worker awake and invited nobody.
      if (!engine_.pays_for_a_worker() || !can_help()) return;
      engine_.worker_awake();
    }
  }

  std::shared_ptr<deployment<Executor>> deployment_;
  engine engine_;
  owner<backbone> backbone_;
  session_gate& gate_;
  std::atomic<bool> closed_{false};
  std::atomic<bool> ending_{false};
  std::thread own_worker_;
  std::stop_callback<cancel_engine> on_stop_;
};

}  // namespace levada::detail
