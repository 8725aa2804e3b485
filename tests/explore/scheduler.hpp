// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/scheduler.hpp: a scheduler that runs one thread at a time and chooses the next before every operation on what
// threads share. The choices come from a seed, and the same seed gives the same schedule again. Threads are contexts of
// the one thread that explores, so that going from one to the next takes no longer than a call of the system.
//
// The choices are those of one of two ways.
// - PCT (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010): threads have random priorities, and at a few random
//   steps the one that runs gets the lowest. So does a thread that spins or sleeps, sooner or later.
// - A search through all schedules of few preemptions (preemptions.hpp), in which a thread that spins lets the others
//   go on in turn.
//
// Stores that are not sequentially consistent may stay in the buffer of their thread until it comes to an operation
// that empties it (x86-TSO: Owens, Sarkar, Sewell, TPHOLs 2009).

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <cxxabi.h>
#include <ucontext.h>
#include <csetjmp>

#include <explore/causal_order.hpp>
#include <explore/preemptions.hpp>
#include <explore/program_memory.hpp>

namespace levada::test {

/// What one execution is run with.
struct exploration {
  std::uint64_t seed = 1;
  int changes = 3;                     ///< of priorities, at random steps
  std::uint64_t steps_expected = 500;  ///< among which these are
  std::uint64_t walk = 0;              ///< one step in so many goes on with any thread; 0: none does
  bool delays_stores = true;
  std::uint64_t most_steps = 200'000;   ///< more: it never ends
  preemption_search* search = nullptr;  ///< chooses in place of priorities; stores come as late as they can
};

class scheduler {
 public:
  using clock = std::chrono::steady_clock;

  /// Runs `body` as the first thread, and returns when it and all that it started have ended. Says how many steps it
  /// took.
  std::uint64_t run(const exploration& with, std::function<void()> body) {
    how_ = with;
    random_.seed(with.seed);
    threads_.clear();
    steps_ = 0, time_ = 0;
    lowest_ = -1, highest_ = 1'000'001;
    change_at_.clear();
    for (int i = 0; i < with.changes; ++i) change_at_.push_back(1 + random_() % with.steps_expected);
    std::sort(change_at_.begin(), change_at_.end());
    order_.restart();
    passed_over_.clear();
    program_memory::all().restart();
    active() = this;
    running_ = &add_thread(std::move(body));
    program_memory::all().switch_on(with.search != nullptr);
    go_to(nobody_, *running_);
    program_memory::all().switch_on(false);
    active() = nullptr;
    return steps_;
  }

  /// What the execution came to: the same number where all operations that depend on each other were in one order.
  std::uint64_t end_state() const { return state(); }
  /// Threads were seen to share more places than before: a search that did not know begins again.
  bool knows_more() const { return order_.has_grown(); }
  void forget_shared() { order_.forget_all(); }

  static scheduler*& active() {
    static scheduler* one = nullptr;
    return one;
  }

  // ---- operations, by the thread that runs ----

  /// Before each operation, at that place; null: at none that others may use.
  void step(const void* at, access to = access::write) {
    time_ += 20;
    running_->past.add(1), running_->past.time += 20;
    running_->next_at = at, running_->next_access = to;
    is_shared_ = at == everything() || uses_shared(at, to);
    advance();
  }
  /// Behind it.
  void reads(const void* at) {
    if (how_.search == nullptr) return;
    const own_memory mine;
    order_.reads(running_->past, at);
    rouse(at, false);
  }
  void writes(const void* at) {
    if (how_.search == nullptr) return;
    const own_memory mine;
    order_.writes(running_->past, at);
    rouse(at, true);
  }
  /// Changes what is there without an atomic operation, as a stage does.
  void changes(const void* at) { step(at), writes(at); }
  /// The stage that runs takes so long.
  void takes(std::chrono::nanoseconds ns) {
    time_ += ns.count(), running_->past.time += ns.count();
    step(nullptr);
  }
  /// The thread has nothing to do for a moment. Now and then it goes on all the same, as it does where others are held
  /// up. In a search it spins only a few times before it parks.
  void yield(std::uint64_t ns) {
    const bool held_up = how_.search == nullptr && random_() % 4 == 0;
    time_ += static_cast<std::int64_t>(held_up ? 200 * ns : ns);
    running_->past.time += std::max<std::int64_t>(static_cast<std::int64_t>(ns), 8'000);
    flush();
    running_->past.add(2);
    if (random_() % 16 == 0 || ++running_->yields % 64 == 0) running_->priority = lowest_--;
    is_shared_ = true;
    yields_ = true;
    advance();
  }
  /// Until `wake(at)`.
  void block(const void* at) {
    flush();
    writes(at);
    park(at);
  }
  void wake(const void* at) {
    writes(at);
    for (const auto& t : threads_)
      if (t->waits_for == at) t->waits_for = nullptr;
  }
  clock::time_point now() {
    time_ += 20;
    return clock::time_point(
        std::chrono::nanoseconds(1'000'000'000 + (how_.search != nullptr ? running_->past.time : time_)));
  }
  /// A place that is all places.
  const void* everything() const { return this; }

  // ---- stores that others see later ----

  struct late_store {
    const void* at;
    unsigned char bytes[16];
    void (*apply)(void* at, const unsigned char* bytes);
    causal_order::past past;  ///< of the thread, when it stored
  };
  bool delays() {
    return how_.delays_stores && (how_.search != nullptr || !running_->buffer.empty() || random_() % 4 == 0);
  }
  void store_later(const late_store& s) {
    const own_memory mine;
    running_->buffer.push_back(s);
    running_->buffer.back().past = running_->past;
  }
  /// The newest of this thread's own.
  const late_store* own_store(const void* at) const {
    for (auto s = running_->buffer.rbegin(); s != running_->buffer.rend(); ++s)
      if (s->at == at) return &*s;
    return nullptr;
  }
  void flush() { flush(*running_); }
  void flush_all() {
    rouse_all();
    for (const auto& t : threads_) flush(*t);
  }
  /// Who stores there is still waiting to be seen, and the place is about to go.
  void forget(const void* at) {
    for (const auto& t : threads_)
      if (std::any_of(t->buffer.begin(), t->buffer.end(), [&](const late_store& s) { return s.at == at; })) {
        flush(*t);
      }
    const own_memory mine;
    if (how_.search != nullptr) order_.forget(at);
  }

  // ---- threads ----

  /// What the runtime of C++ keeps of a thread's exceptions.
  struct exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };
  struct thread_state {
    std::function<void()> body;
    ucontext_t context{};  ///< where it begins
    std::jmp_buf left;     ///< and where it was left
    bool has_begun = false;
    exceptions own;
    causal_order::past past;
    const void* waits_for = nullptr;
    const void* next_at = nullptr;  ///< the operation that comes next, where it was preempted before one
    access next_access = access::write;
    bool is_passed_over = false;
    bool ended = false;
    std::int64_t priority = 0;
    std::uint64_t yields = 0;
    std::deque<late_store> buffer;
  };
  const void* running() const { return running_; }

  thread_state& start(std::function<void()> body) {
    step(nullptr);  // all that the new one does comes later anyway
    thread_state& t = add_thread(std::move(body));
    t.past.start(running_->past, threads_.size() - 1);
    return t;
  }
  /// To wait for its end and to find that it has ended are the same, so neither this nor the end is in an order.
  void join(thread_state& t) {
    step(nullptr);
    flush();
    while (!t.ended) park(end_of(t));
    reads(end_of(t));
  }

  [[noreturn]] void fail(const char* what) {
    if (how_.search != nullptr)
      std::fprintf(stderr, "\nexplore: %s: %s schedule \"%s\", %llu steps\n", what,
                   how_.delays_stores ? "late" : "early", how_.search->text().c_str(),
                   static_cast<unsigned long long>(steps_));
    else
      std::fprintf(stderr, "\nexplore: %s: seed %llu, %d changes, %llu steps\n", what,
                   static_cast<unsigned long long>(how_.seed), how_.changes, static_cast<unsigned long long>(steps_));
    std::fflush(nullptr);
    std::_Exit(1);
  }

 private:
  thread_state& add_thread(std::function<void()> body) {
    const own_memory mine;
    threads_.push_back(std::make_unique<thread_state>());
    thread_state& t = *threads_.back();
    t.priority = static_cast<std::int64_t>(random_() % 1'000'000) + 1;
    t.body = std::move(body);
    getcontext(&t.context);
    t.context.uc_stack.ss_sp = program_memory::all().stack(threads_.size() - 1);
    t.context.uc_stack.ss_size = program_memory::stack_bytes;
    t.context.uc_link = nullptr;
    makecontext(&t.context, &begin, 0);
    order_.is_alone(threads_.size() == 1);
    return t;
  }
  void park(const void* at) {
    running_->waits_for = at;
    advance();
  }
  const void* end_of(const thread_state& t) const { return &ends_[t.past.thread]; }
  static void begin() { active()->run_thread(); }
  void run_thread() {
    thread_state& t = *running_;
    t.body();
    step(nullptr);
    flush(t);
    t.ended = true;
    wake(end_of(t));
    order_.is_alone(std::count_if(threads_.begin(), threads_.end(), [](const auto& o) { return !o->ended; }) == 1);
    thread_state* const next = choose_own(true);
    running_ = next;
    go_to(t, next != nullptr ? *next : nobody_);
  }
  void go_to(thread_state& from, thread_state& to) {
    auto* const now = reinterpret_cast<exceptions*>(abi::__cxa_get_globals());
    from.own = std::exchange(*now, to.own);
    from.has_begun = true;
    if (_setjmp(from.left) != 0) return;
    if (to.has_begun) _longjmp(to.left, 1);  // takes no call of the system, as setcontext does
    setcontext(&to.context);
  }
  /// Of all that has happened.
  std::uint64_t state() const {
    std::uint64_t all = 0;
    for (const auto& t : threads_) all += hashed(t->past.number, t->past.thread);
    return all;
  }
  bool uses_shared(const void* at, access to) {
    if (how_.search == nullptr || !how_.search->reduces()) return true;
    const own_memory mine;
    return (at != nullptr && order_.is_shared(running_->past, at, to)) ||
           std::any_of(running_->buffer.begin(), running_->buffer.end(),
                       [&](const late_store& s) { return order_.is_shared(running_->past, s.at, access::write); });
  }

  void flush(thread_state& t) {
    if (t.buffer.empty()) return;
    const own_memory mine;
    while (!t.buffer.empty()) {
      const late_store s = t.buffer.front();
      t.buffer.pop_front();
      s.apply(const_cast<void*>(s.at), s.bytes);
      if (how_.search != nullptr) order_.writes_late(running_->past, s.past, s.at), rouse(s.at, true);
    }
  }

  /// A thread that was preempted is not gone back to by another preemption before an operation that its next one
  /// depends on: to preempt it behind that one costs as many and comes to the same.
  void pass_over(thread_state& t) {
    if (t.next_at == everything()) return;
    t.is_passed_over = true;
    passed_over_.push_back(&t);
  }
  void rouse(const void* at, bool writes) {
    if (passed_over_.empty()) return;
    std::erase_if(passed_over_, [&](thread_state* t) {
      const bool depends =
          (t->next_at == at && (writes || t->next_access == access::write)) ||
          std::any_of(t->buffer.begin(), t->buffer.end(), [&](const late_store& s) { return s.at == at; });
      if (depends) t->is_passed_over = false;
      return depends;
    });
  }
  void rouse_all() {
    for (thread_state* const t : passed_over_) t->is_passed_over = false;
    passed_over_.clear();
  }

  static bool is_ready(const thread_state& t) { return !t.ended && t.waits_for == nullptr; }

  /// The running one first, where it goes on, and then those behind it in turn. Who spins lets the next of these go on.
  thread_state* choose_by_search(bool is_ending) {
    const bool is_running_ready = is_ready(*running_), goes_on = is_running_ready && !yields_;
    if (goes_on && !is_shared_) return running_;
    std::size_t own = 0;
    while (threads_[own].get() != running_) ++own;
    ready_.clear();
    if (goes_on)
      ready_.push_back(running_);
    else
      rouse_all();
    for (std::size_t i = 1; i < threads_.size(); ++i)
      if (thread_state* const t = threads_[(own + i) % threads_.size()].get(); is_ready(*t) && !t->is_passed_over)
        ready_.push_back(t);
    if (ready_.empty() && is_running_ready) return running_;  // it spins, and nobody else can go on
    if (!ready_.empty()) {
      thread_state* const next = ready_[how_.search->choose(ready_.size(), is_running_ready, steps_, [&] {
        std::uint64_t of_passed_over = 0;
        for (std::size_t i = 0; i < threads_.size(); ++i)
          of_passed_over |= std::uint64_t{threads_[i]->is_passed_over} << i;
        return hashed(hashed(state(), 2 * own + goes_on), of_passed_over);
      })];
      if (goes_on && next != running_ && how_.search->reduces()) pass_over(*running_);
      return next;
    }
    if (!is_ending || std::any_of(threads_.begin(), threads_.end(), [](const auto& t) { return !t->ended; }))
      fail("no thread can go on");
    return nullptr;
  }

  /// The ready thread of the highest priority.
  thread_state* choose(bool is_ending) {
    if (how_.search != nullptr) {
      thread_state* const next = choose_by_search(is_ending);
      yields_ = false;
      return next;
    }
    yields_ = false;
    thread_state* best = nullptr;
    bool all_ended = true;
    for (const auto& t : threads_) {
      all_ended = all_ended && t->ended;
      if (is_ready(*t) && (best == nullptr || t->priority > best->priority)) best = t.get();
    }
    if (best == nullptr && !(is_ending && all_ended)) fail("no thread can go on");
    return best;
  }

  thread_state* choose_own(bool is_ending) {
    const own_memory mine;
    return choose(is_ending);
  }

  void advance() {
    if (++steps_ > how_.most_steps) fail("it never ends");
    if (how_.search == nullptr && !running_->buffer.empty() && random_() % 8 == 0) flush();
    if (!change_at_.empty() && steps_ >= change_at_.front()) {
      change_at_.erase(change_at_.begin());
      running_->priority = lowest_--;
    }
    if (how_.walk != 0 && random_() % how_.walk == 0) threads_[random_() % threads_.size()]->priority = ++highest_;
    thread_state* const next = choose_own(false);
    if (next == running_) return;
    go_to(*std::exchange(running_, next), *next);
  }

  exploration how_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<thread_state>> threads_;
  thread_state* running_ = nullptr;
  bool yields_ = false;  ///< the one that runs
  std::vector<thread_state*> passed_over_;
  std::vector<thread_state*> ready_;
  thread_state nobody_;          ///< who explores
  std::array<char, 32> ends_{};  ///< a place for each thread
  causal_order order_;
  bool is_shared_ = true;  ///< what the one that runs is about to use
  std::uint64_t steps_ = 0;
  std::int64_t time_ = 0, lowest_ = -1, highest_ = 0;
  std::vector<std::uint64_t> change_at_;
};

}  // namespace levada::test
