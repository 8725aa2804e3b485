// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/scheduler.hpp: a scheduler that runs one thread at a time and chooses the next before every operation on what
// threads share. The choices come from a seed, and the same seed gives the same schedule again. Threads are contexts of
// the one thread that explores, so that going from one to the next takes no longer than a call of the system.
//
// The choices are those of PCT (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010): threads have random
// priorities, and at a few random steps the one that runs gets the lowest. So does a thread that spins or sleeps,
// sooner or later. Or they are those of a search through all schedules of few preemptions (preemptions.hpp), in which a
// thread that spins lets the others go on in turn. Stores that are not sequentially consistent may stay in the buffer
// of their thread (x86-TSO: Owens, Sarkar, Sewell, TPHOLs 2009) until it comes to an operation that empties it.

#include <algorithm>
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

#include <explore/preemptions.hpp>

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
    active() = this;
    running_ = &add_thread(std::move(body));
    go_to(nobody_, *running_);
    active() = nullptr;
    return steps_;
  }

  static scheduler*& active() {
    static scheduler* one = nullptr;
    return one;
  }

  // ---- operations, by the thread that runs ----

  /// Before each operation.
  void step() {
    time_ += 20;
    advance();
  }
  /// The thread has nothing to do for a moment. Now and then it goes on all the same, as it does where others are held
  /// up.
  void yield(std::uint64_t ns) {
    const bool held_up = how_.search == nullptr && random_() % 4 == 0;
    time_ += static_cast<std::int64_t>(held_up ? 200 * ns : ns);
    flush();
    if (random_() % 16 == 0 || ++running_->yields % 64 == 0) running_->priority = lowest_--;
    yields_ = true;
    advance();
  }
  /// Until `wake(at)`.
  void block(const void* at) {
    flush();
    running_->waits_for = at;
    advance();
  }
  void wake(const void* at) {
    for (const auto& t : threads_)
      if (t->waits_for == at) t->waits_for = nullptr;
  }
  clock::time_point now() {
    time_ += 20;
    return clock::time_point(std::chrono::nanoseconds(1'000'000'000 + time_));
  }

  // ---- stores that others see later ----

  struct late_store {
    const void* at;
    unsigned char bytes[16];
    void (*apply)(void* at, const unsigned char* bytes);
  };
  bool delays() {
    return how_.delays_stores && (how_.search != nullptr || !running_->buffer.empty() || random_() % 4 == 0);
  }
  void store_later(const late_store& s) { running_->buffer.push_back(s); }
  /// The newest of this thread's own.
  const late_store* own_store(const void* at) const {
    for (auto s = running_->buffer.rbegin(); s != running_->buffer.rend(); ++s)
      if (s->at == at) return &*s;
    return nullptr;
  }
  void flush() { flush(*running_); }
  void flush_all() {
    for (const auto& t : threads_) flush(*t);
  }
  /// Who stores there is still waiting to be seen, and the place is about to go.
  void forget(const void* at) {
    for (const auto& t : threads_)
      if (std::any_of(t->buffer.begin(), t->buffer.end(), [&](const late_store& s) { return s.at == at; })) flush(*t);
  }

  // ---- threads ----

  /// What the runtime of C++ keeps of a thread's exceptions.
  struct exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };
  struct thread_state {
    std::function<void()> body;
    ucontext_t context{};
    exceptions own;
    const void* waits_for = nullptr;
    bool ended = false;
    std::int64_t priority = 0;
    std::uint64_t yields = 0;
    std::deque<late_store> buffer;
    void* stack = nullptr;
  };
  const void* running() const { return running_; }

  thread_state& start(std::function<void()> body) {
    step();
    return add_thread(std::move(body));
  }
  void join(thread_state& t) {
    step();
    while (!t.ended) block(&t);
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
  static constexpr std::size_t stack_bytes = 256 * 1024;

  thread_state& add_thread(std::function<void()> body) {
    threads_.push_back(std::make_unique<thread_state>());
    thread_state& t = *threads_.back();
    t.priority = static_cast<std::int64_t>(random_() % 1'000'000) + 1;
    t.body = std::move(body);
    if (free_stacks_.empty()) {
      stacks_.push_back(std::make_unique<char[]>(stack_bytes));
      free_stacks_.push_back(stacks_.back().get());
    }
    t.stack = free_stacks_.back();
    free_stacks_.pop_back();
    getcontext(&t.context);
    t.context.uc_stack.ss_sp = t.stack;
    t.context.uc_stack.ss_size = stack_bytes;
    t.context.uc_link = nullptr;
    makecontext(&t.context, &begin, 0);
    return t;
  }
  static void begin() { active()->run_thread(); }
  void run_thread() {
    thread_state& t = *running_;
    t.body();
    flush(t);
    t.ended = true;
    wake(&t);
    free_stacks_.push_back(t.stack);  // nothing runs on it before this context is left
    thread_state* const next = choose(true);
    running_ = next;
    go_to(t, next != nullptr ? *next : nobody_);
  }
  void go_to(thread_state& from, thread_state& to) {
    auto* const now = reinterpret_cast<exceptions*>(abi::__cxa_get_globals());
    from.own = std::exchange(*now, to.own);
    swapcontext(&from.context, &to.context);
  }

  void flush(thread_state& t) {
    while (!t.buffer.empty()) {
      const late_store s = t.buffer.front();
      t.buffer.pop_front();
      s.apply(const_cast<void*>(s.at), s.bytes);
    }
  }

  static bool is_ready(const thread_state& t) { return !t.ended && t.waits_for == nullptr; }

  /// The running one first, where it goes on, and then those behind it in turn.
  thread_state* choose_by_search(bool is_ending) {
    const bool goes_on = is_ready(*running_) && !yields_;
    std::size_t own = 0;
    while (threads_[own].get() != running_) ++own;
    ready_.clear();
    if (goes_on) ready_.push_back(running_);
    for (std::size_t i = 1; i < threads_.size(); ++i)
      if (thread_state* const t = threads_[(own + i) % threads_.size()].get(); is_ready(*t)) ready_.push_back(t);
    if (ready_.empty() && is_ready(*running_)) return running_;  // it spins, and nobody else can go on
    if (!ready_.empty()) return ready_[yields_ ? 0 : how_.search->choose(ready_.size(), goes_on)];
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

  void advance() {
    if (++steps_ > how_.most_steps) fail("it never ends");
    if (how_.search == nullptr && !running_->buffer.empty() && random_() % 8 == 0) flush();
    if (!change_at_.empty() && steps_ >= change_at_.front()) {
      change_at_.erase(change_at_.begin());
      running_->priority = lowest_--;
    }
    if (how_.walk != 0 && random_() % how_.walk == 0) threads_[random_() % threads_.size()]->priority = ++highest_;
    thread_state* const next = choose(false);
    if (next == running_) return;
    go_to(*std::exchange(running_, next), *next);
  }

  exploration how_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<thread_state>> threads_;
  thread_state* running_ = nullptr;
  bool yields_ = false;  ///< the one that runs
  std::vector<thread_state*> ready_;
  thread_state nobody_;  ///< who explores
  std::vector<std::unique_ptr<char[]>> stacks_;
  std::vector<void*> free_stacks_;
  std::uint64_t steps_ = 0;
  std::int64_t time_ = 0, lowest_ = -1, highest_ = 0;
  std::vector<std::uint64_t> change_at_;
};

}  // namespace levada::test
