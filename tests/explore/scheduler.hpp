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
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <cxxabi.h>
#include <ucontext.h>
#include <csetjmp>

#include <explore/causal_order.hpp>
#include <explore/explored_thread.hpp>
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

  scheduler() = default;
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;
  ~scheduler() { before_.restore(); }

  /// Runs `body` as the first thread, and returns when it and all that it started have ended, or where a search leaves
  /// it. Says how many steps it took.
  std::uint64_t run(const exploration& with, std::function<void()> body) {
    how_ = with;
    random_.seed(with.seed);
    now_ = {};
    lowest_ = -1, highest_ = 1'000'001;
    change_at_.clear();
    for (int i = 0; i < with.changes; ++i) change_at_.push_back(1 + random_() % with.steps_expected);
    std::sort(change_at_.begin(), change_at_.end());
    order_.restart();
    program_memory::all().restart();
    if (with.search != nullptr) before_.restore();
    active() = this;
    now_.running = &add_thread(std::move(body));
    go_to_thread(*now_.running);
    if (with.search != nullptr) return run_on();
    active() = nullptr;
    return now_.steps;
  }
  /// Goes on with the next schedule of a search, which has gone back to where it begins.
  std::uint64_t run_on() {
    search_on();
    active() = nullptr;
    return now_.steps;
  }

  /// The last execution has ended: a search has not left it.
  bool has_ended() const {
    return std::all_of(threads_.begin(), threads_.begin() + now_.threads, [](const auto& t) { return t.ended; });
  }
  /// What the execution has come to: the same number where all operations that depend on each other were in one order.
  std::uint64_t state() const {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < now_.threads; ++i) all += hashed(threads_[i].past.number, i);
    return all;
  }
  /// Threads were seen to share more places than before: a search that did not know begins again.
  bool knows_more() const { return order_.has_grown(); }
  /// Searches of another program follow, which begins with the variables as they are.
  void begin_program() {
    order_.forget_all();
    program_memory::all().restart();
    before_.restore();
    before_.clear();
    program_memory::all().add_to(before_);
  }

  static scheduler*& active() {
    static scheduler* one = nullptr;
    return one;
  }

  // ---- operations, by the thread that runs ----

  /// Before each operation, at that place; null: at none that others may use.
  void step(const void* at, access to = access::write) { step(at, to, at == everything() || uses_shared(at, to)); }
  /// Behind it.
  void reads(const void* at) {
    if (how_.search == nullptr) return;
    const own_memory mine;
    order_.reads(running().past, at);
    rouse(at, false);
  }
  void writes(const void* at) {
    if (how_.search == nullptr) return;
    const own_memory mine;
    order_.writes(running().past, at);
    rouse(at, true);
  }
  /// Changes what is there without an atomic operation, as a stage does.
  void changes(const void* at) { step(at), writes(at); }
  /// The stage that runs takes so long.
  void takes(std::chrono::nanoseconds ns) {
    now_.time += ns.count(), running().past.time += ns.count();
    step(nullptr);
  }
  /// The thread has nothing to do for a moment. Now and then it goes on all the same, as it does where others are held
  /// up. In a search it spins only a few times before it parks.
  void yield(std::uint64_t ns) {
    if (how_.search != nullptr) step_aside();
    const bool held_up = how_.search == nullptr && random_() % 4 == 0;
    now_.time += static_cast<std::int64_t>(held_up ? 200 * ns : ns);
    running().past.time += std::max<std::int64_t>(static_cast<std::int64_t>(ns), 8'000);
    flush();
    running().past.add(2);
    if (how_.search == nullptr && (random_() % 16 == 0 || ++running().yields % 64 == 0)) running().priority = lowest_--;
    now_.is_shared = true;
    now_.yields = true;
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
    for (explored_thread& t : threads())
      if (t.waits_for == at) t.waits_for = nullptr;
  }
  clock::time_point now() {
    now_.time += 20;
    return clock::time_point(
        std::chrono::nanoseconds(1'000'000'000 + (how_.search != nullptr ? running().past.time : now_.time)));
  }
  /// A place that is all places.
  const void* everything() const { return this; }

  // ---- stores that others see later ----

  bool delays() {
    return how_.delays_stores && (how_.search != nullptr || !running().late().empty() || random_() % 4 == 0);
  }
  void store_later(const late_store& s) {
    explored_thread& t = running();
    if (t.stores == t.buffer.size()) flush();
    t.buffer[t.stores] = s;
    t.buffer[t.stores++].past = t.past;
  }
  /// The newest of this thread's own.
  const late_store* own_store(const void* at) {
    const std::span<late_store> own = running().late();
    for (auto s = own.rbegin(); s != own.rend(); ++s)
      if (s->at == at) return &*s;
    return nullptr;
  }
  void flush() { flush(running()); }
  void flush_all() {
    rouse_all();
    for (explored_thread& t : threads()) flush(t);
  }
  /// Who stores there is still waiting to be seen, and the place is about to go.
  void forget(const void* at) {
    for (explored_thread& t : threads())
      if (t.stores != 0 && t.stores_to(at)) flush(t);
    if (how_.search == nullptr) return;
    const own_memory mine;
    order_.forget(at);
  }

  // ---- threads ----

  const void* running_thread() const { return now_.running; }

  explored_thread& start(std::function<void()> body) {
    step_aside();
    explored_thread& t = add_thread(std::move(body));
    t.past.start(running().past, t.index);
    return t;
  }
  /// To wait for its end and to find that it has ended are the same, so neither this nor the end is in an order.
  void join(explored_thread& t) {
    step_aside();
    flush();
    while (!t.ended) park(end_of(t));
    reads(end_of(t));
  }

  [[noreturn]] void fail(const char* what) {
    if (how_.search != nullptr)
      std::fprintf(stderr, "\nexplore: %s: %s schedule \"%s\", %llu steps\n", what,
                   how_.delays_stores ? "late" : "early", how_.search->text().c_str(),
                   static_cast<unsigned long long>(now_.steps));
    else
      std::fprintf(stderr, "\nexplore: %s: seed %llu, %d changes, %llu steps\n", what,
                   static_cast<unsigned long long>(how_.seed), how_.changes,
                   static_cast<unsigned long long>(now_.steps));
    std::fflush(nullptr);
    std::_Exit(1);
  }

 private:
  /// Before the thread spins, starts another one, ends or waits for an end. Nobody depends on it, but it changes for
  /// whom others make room when they spin: so it may be preempted there.
  void step_aside() { step(nullptr, access::write, true); }
  void step(const void* at, access to, bool is_shared) {
    now_.time += 20;
    running().past.add(1), running().past.time += 20;
    running().next_at = at, running().next_access = to;
    now_.is_shared = is_shared;
    advance();
  }
  std::span<explored_thread> threads() { return {threads_.data(), now_.threads}; }
  explored_thread& running() { return *now_.running; }

  explored_thread& add_thread(std::function<void()> body) {
    const own_memory mine;
    const std::size_t i = now_.threads++;
    std::byte* const stack = program_memory::all().stack(i);
    bodies_[i] = std::move(body);
    getcontext(&begins_[i]);
    begins_[i].uc_stack.ss_sp = stack;
    begins_[i].uc_stack.ss_size = program_memory::stack_bytes;
    begins_[i].uc_link = nullptr;
    makecontext(&begins_[i], &begin, 0);
    explored_thread& t = threads_[i] = {};
    t.index = i;
    t.stack_used = stack + program_memory::stack_bytes - 256;  // what makecontext has left there
    t.priority = static_cast<std::int64_t>(random_() % 1'000'000) + 1;
    order_.is_alone(now_.threads == 1);
    return t;
  }
  void park(const void* at) {
    running().waits_for = at;
    advance();
  }
  const void* end_of(const explored_thread& t) const { return &ends_[t.index]; }
  static void begin() { active()->run_thread(); }
  void run_thread() {
    explored_thread& t = running();
    bodies_[t.index]();
    step_aside();
    flush(t);
    t.ended = true;
    wake(end_of(t));
    order_.is_alone(std::count_if(threads().begin(), threads().end(), [](const auto& o) { return !o.ended; }) == 1);
    if (how_.search != nullptr) {
      ++now_.steps;  // a choice is named by its step
      return go_to(t, nobody_);
    }
    now_.running = choose();
    go_to(t, now_.running != nullptr ? running() : nobody_);
  }
  /// A frame of its own, so that all of `from`'s lie above it.
  [[gnu::noinline]] void go_to(explored_thread& from, explored_thread& to) {
    auto* const now = reinterpret_cast<exceptions_of_thread*>(abi::__cxa_get_globals());
    from.own = std::exchange(*now, to.own);
    from.has_begun = true;
    from.stack_used = static_cast<std::byte*>(__builtin_frame_address(0)) - below_frame;
    if (_setjmp(from.left) != 0) return;
    if (to.has_begun) _longjmp(to.left, 1);  // takes no call of the system, as setcontext does
    setcontext(&begins_[to.index]);
  }
  /// By the one that explores.
  void go_to_thread(explored_thread& t) {
    program_memory::all().switch_on(how_.search != nullptr);
    go_to(nobody_, t);
    program_memory::all().switch_on(false);
  }
  bool uses_shared(const void* at, access to) {
    if (how_.search == nullptr || !how_.search->reduces()) return true;
    if (!how_.search->may_preempt()) return false;  // and it does not matter
    const own_memory mine;
    return (at != nullptr && order_.is_shared(running().past, at, to)) ||
           std::any_of(running().late().begin(), running().late().end(),
                       [&](const late_store& s) { return order_.is_shared(running().past, s.at, access::write); });
  }

  void flush(explored_thread& t) {
    if (t.stores == 0) return;
    const own_memory mine;
    const auto stores = t.buffer;
    for (std::size_t i = 0, count = std::exchange(t.stores, 0); i < count; ++i) {
      const late_store& s = stores[i];
      s.apply(const_cast<void*>(s.at), s.bytes);
      if (how_.search != nullptr) order_.writes_late(running().past, s.past, s.at), rouse(s.at, true);
    }
  }

  /// A thread that was preempted is not gone back to by another preemption before an operation that its next one
  /// depends on: to preempt it behind that one costs as many and comes to the same.
  void pass_over(explored_thread& t) {
    if (t.next_at == everything()) return;
    t.is_passed_over = true;
    ++now_.passed_over;
  }
  void rouse(const void* at, bool writes) {
    if (now_.passed_over == 0) return;
    for (explored_thread& t : threads()) {
      if (!t.is_passed_over) continue;
      if ((t.next_at == at && (writes || t.next_access == access::write)) || t.stores_to(at))
        t.is_passed_over = false, --now_.passed_over;
    }
  }
  void rouse_all() {
    if (now_.passed_over == 0) return;
    for (explored_thread& t : threads()) t.is_passed_over = false;
    now_.passed_over = 0;
  }

  static bool is_ready(const explored_thread& t) { return !t.ended && t.waits_for == nullptr; }

  /// Where threads go on in a search, until the execution ends or is left.
  void search_on() {
    while (explored_thread* const next = choose_by_search()) {
      now_.yields = false;
      now_.running = next;
      go_to_thread(*next);
    }
  }
  /// The running one first, where it goes on, and then those behind it in turn. Who spins lets the next of these go on.
  explored_thread* choose_by_search() {
    explored_thread& own = running();
    const bool is_running_ready = is_ready(own), goes_on = is_running_ready && !now_.yields;
    ready_.clear();
    if (goes_on)
      ready_.push_back(own.index);
    else
      rouse_all();
    for (std::size_t i = 1; i < now_.threads; ++i)
      if (const explored_thread& t = threads_[(own.index + i) % now_.threads]; is_ready(t) && !t.is_passed_over)
        ready_.push_back(t.index);
    if (ready_.empty() && is_running_ready) return &own;  // it spins, and nobody else can go on
    if (ready_.empty()) {
      if (!has_ended()) fail("no thread can go on");
      return nullptr;
    }
    const std::size_t chosen = how_.search->choose(
        ready_, is_running_ready, now_.steps,
        [&] {
          std::uint64_t of_passed_over = 0;
          for (std::size_t i = 0; i < now_.threads; ++i)
            of_passed_over |= std::uint64_t{threads_[i].is_passed_over} << i;
          return hashed(hashed(state(), 2 * own.index + goes_on), of_passed_over);
        },
        [&](memory_image& image) { add_to(image); });
    if (chosen == preemption_search::known) return nullptr;
    explored_thread& next = threads_[ready_[chosen]];
    if (goes_on && &next != &own && how_.search->reduces()) pass_over(own);
    return &next;
  }
  /// All that is of this execution.
  void add_to(memory_image& image) {
    image.add(&now_, sizeof now_);
    for (const explored_thread& t : threads()) {
      image.add(&t, offsetof(explored_thread, buffer) + t.stores * sizeof(late_store));
      if (t.ended) continue;
      const std::byte* const top = program_memory::all().stack(t.index) + program_memory::stack_bytes;
      image.add(t.stack_used, static_cast<std::size_t>(top - t.stack_used));
    }
    order_.add_to(image);
    program_memory::all().add_to(image);
  }

  /// The ready thread of the highest priority.
  explored_thread* choose() {
    now_.yields = false;
    explored_thread* best = nullptr;
    for (explored_thread& t : threads())
      if (is_ready(t) && (best == nullptr || t.priority > best->priority)) best = &t;
    if (best == nullptr && !has_ended()) fail("no thread can go on");
    return best;
  }

  void advance() {
    if (++now_.steps > how_.most_steps) fail("it never ends");
    if (how_.search != nullptr) {
      const bool goes_on = is_ready(running()) && !now_.yields;
      if (!goes_on || (now_.is_shared && how_.search->may_preempt())) go_to(running(), nobody_);
      return;
    }
    if (running().stores != 0 && random_() % 8 == 0) flush();
    if (!change_at_.empty() && now_.steps >= change_at_.front()) {
      change_at_.erase(change_at_.begin());
      running().priority = lowest_--;
    }
    if (how_.walk != 0 && random_() % how_.walk == 0) threads_[random_() % now_.threads].priority = ++highest_;
    explored_thread* const next = choose();
    if (next == now_.running) return;
    go_to(*std::exchange(now_.running, next), *next);
  }

  /// How far the execution has come, besides its threads.
  struct progress {
    std::size_t threads = 0;
    explored_thread* running = nullptr;
    bool yields = false;       ///< the one that runs
    bool is_shared = true;     ///< what it is about to use
    unsigned passed_over = 0;  ///< threads
    std::uint64_t steps = 0;
    std::int64_t time = 0;
  };
  static constexpr std::size_t most_threads = program_memory::stacks;
  static constexpr std::size_t below_frame = 512;  ///< more than the frame of go_to has

  exploration how_;
  std::mt19937_64 random_;
  progress now_;
  std::array<explored_thread, most_threads> threads_;
  std::array<ucontext_t, most_threads> begins_;
  std::array<std::function<void()>, most_threads> bodies_;
  memory_image before_;  ///< of the program, at the beginning of each execution of a search
  std::vector<std::size_t> ready_;
  explored_thread nobody_;                 ///< who explores
  std::array<char, most_threads> ends_{};  ///< a place for each thread
  causal_order order_;
  std::int64_t lowest_ = -1, highest_ = 0;
  std::vector<std::uint64_t> change_at_;
};

}  // namespace levada::test
