// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/inline_call.hpp: one item through a program on the calling thread, without slots, tickets or
// workers.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

#include <levada/core/detail/storage.hpp>
#include <levada/core/error.hpp>
#include <levada/run/detail/program/inline_run.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/workers/thread_mark.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// The memory and stage state of one inline call at a time.
template <class = void>
class basic_inline_context {
 public:
  [[gnu::cold]] explicit basic_inline_context(const program& code)
      : slot_(code.slot_bytes, code.alignment),
        scratch_(most_scratch(code), code.alignment),
        states_(code),
        versions_(code.board ? code.board->open(1) : owner<object_versions>()),
        run_{code, slot_.get(), scratch_.get(), states_.objects.begin()} {}

  /// Where the result is after `run` said `value`; the caller destroys it.
  void* result() { return run_.result(); }
  /// Where the input may be constructed for `run`.
  void* input() { return run_.input(); }
  const std::exception_ptr& error() const { return run_.error; }
  void forget_error() { run_.error = nullptr; }

  /// While it lasts, results are constructed in memory of the caller.
  class redirection {
   public:
    redirection(basic_inline_context& of, void* into) : of_(of) { of_.run_.into = static_cast<std::byte*>(into); }
    ~redirection() { of_.run_.into = nullptr; }
    redirection(const redirection&) = delete;
    redirection& operator=(const redirection&) = delete;

   private:
    basic_inline_context& of_;
  };

  /// Runs all units over `item`, which is the pipeline's own where it is at `input()`.
  item_state run(const void* item) noexcept {
    ++calls_;
    states_.used = true;
    if (versions_) run_.objects = versions_->current(calls_, calls_);
    return run_(item);
  }

 private:
  arena_bytes slot_;
  arena_bytes scratch_;
  session_states states_;
  owner<object_versions> versions_;  ///< where parameters can be replaced
  std::uint64_t calls_ = 0;
  inline_run run_;
};
using inline_context = basic_inline_context<>;

/// Contexts for as many inline calls at once as the processor's threads; a single one where stages have state. Made
/// when first needed. A call waits for one; throws levada::error in a stage of another call, since it could wait for
/// itself.
template <class = void>
class basic_inline_contexts {
 public:
  explicit basic_inline_contexts(const program& code)
      : code_(code), places_(code.states.empty() ? static_cast<std::size_t>(code.threads) : 1) {}

  class lease {
   public:
    explicit lease(basic_inline_contexts& of) : of_(of), index_(of.take()) {}
    ~lease() { of_.give_back(index_); }
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    inline_context& operator*() const { return *of_.places_[index_].context; }
    inline_context* operator->() const { return &**this; }

   private:
    basic_inline_contexts& of_;
    std::size_t index_;
  };

 private:
  struct alignas(64) place {
    atomic<thread_mark> holder{nullptr};
    owner<inline_context> context;
  };

  std::size_t take() {
    for (;;) {
      const std::uint32_t seen = returned_.load();
      for (std::size_t i = 0; i < places_.size(); ++i) {
        thread_mark holder = places_[i].holder.load(std::memory_order_relaxed);
        if (holder != nullptr || !places_[i].holder.compare_exchange_strong(holder, this_thread_mark())) continue;
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
      for (const place& p : places_)
        if (p.holder.load(std::memory_order_relaxed) == this_thread_mark())
          throw error("levada: an app is called in a stage of its own, and runs as many calls as it may");
      waiters_.fetch_add(1);
      returned_.wait(seen);
      waiters_.fetch_sub(1);
    }
  }

  void give_back(std::size_t index) {
    places_[index].holder.store(nullptr);
    returned_.fetch_add(1);
    if (waiters_.load() != 0) returned_.notify_all();
  }

  const program& code_;
  fixed_array<place> places_;
  atomic<std::uint32_t> returned_{0}, waiters_{0};
};
using inline_contexts = basic_inline_contexts<>;

}  // namespace levada::detail
