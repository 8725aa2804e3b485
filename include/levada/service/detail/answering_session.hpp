// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/answering_session.hpp: one session for the requests of many clients. Their items enter in the order of
// the requests, and so do results leave.
//
// Whoever brings a request takes its results as well where the items before took no longer than to wake another thread,
// and with them those of requests that came meanwhile. Else the session's own thread does, so that no stage that takes
// long holds up a thread of the server.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include <levada/core/detail/start_thread.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/core/detail/trace_context.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/detail/workers/threading.hpp>
#include <levada/service/detail/infer_call.hpp>
#include <levada/service/detail/item_tensors.hpp>
#include <levada/service/detail/request_log.hpp>

namespace levada::detail {

/// How a session answers.
struct answering {
  std::size_t most_waiting = 1;  ///< requests; more are refused
  bool waits = false;            ///< for results though nothing is left to do, as where items are gathered for a batch
  std::size_t traced = 0;        ///< events that it keeps of each worker, and requests with a caller's trace
};

template <class Session>
class answering_session {
  using item = typename Session::item;
  using output = typename Session::output;

 public:
  /// `caller`: whose trace the session is a part of, if anybody's.
  answering_session(Session of, const answering& how, const std::optional<trace_context>& caller = {})
      : session_(std::move(of)), how_(how), caller_(caller), requests_(how.traced) {
    session_.allow_multiple_producers();
    if (how.traced != 0) trace();
    thread_ = start_thread("the answers of a service", [this]() noexcept { answer_all(); });
  }
  ~answering_session() {
    is_over_.store(true);
    session_.cancel();
    ring();
    thread_.join();
    give_up(status_code::unavailable, "the service ends");
  }

  /// From any thread. Throws refusal where too many wait.
  void submit(infer_call& call) {
    infer_call* done = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (is_broken_) throw refusal{status_code::unavailable, "the session of the model can do no more"};
      if (waiting_ == how_.most_waiting)
        throw refusal{status_code::resource_exhausted,
                      std::to_string(how_.most_waiting) + " requests wait for the model already"};
      ++waiting_;
      if (last_ == nullptr)
        first_ = &call;
      else
        last_->next = &call;
      last_ = &call;
      if (to_push_ == nullptr) to_push_ = &call;
      push_waiting();
      done = take_done();
    }
    finish(done);
    if (how_.waits || !is_short_.load(std::memory_order_relaxed))
      ring();
    else if (!answer_here())
      ring();
  }

  std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }
  Session& session() { return session_; }

  session_trace traced() {
    session_trace all = session_.traced();
    all.context = caller_;
    const std::lock_guard lock(mutex_);
    requests_.copy_to(all);
    return all;
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds longest_short{50};

  void trace() {
    if constexpr (requires { session_.trace(*caller_, how_.traced); }) {
      if (caller_) return session_.trace(*caller_, how_.traced);
    }
    session_.trace(how_.traced);
  }

  /// Under the lock: lets in what fits.
  void push_waiting() {
    while (to_push_ != nullptr) {
      infer_call& call = *to_push_;
      if (call.pushed == 0 && call.is_given_up()) {
        call.fail(status_code::deadline_exceeded, {});  // its client has gone
      } else {
        for (; call.pushed != call.request.items(); ++call.pushed) {
          if (session_.credits() == 0) return;
          if (call.pushed == 0) call.first_item = pushed_.load();
          push(call);
          pushed_.fetch_add(1);
        }
      }
      to_push_ = call.next;
    }
  }
  void push(const infer_call& call) {
    const auto read = [&](item& to) { read_item(call.request.inputs(), call.pushed, to); };
    if constexpr (requires(Session& s) { s.emplace([]() -> item { return {}; }); }) {
      session_.emplace([&]() -> item {
        item made;
        read(made);
        return made;
      });
    } else {
      if (!staged_) staged_ = std::make_unique<item>();
      read(*staged_);
      session_.push(std::as_const(*staged_));
    }
  }
  /// Under the lock: the requests at the front that have all their results, or none to come.
  infer_call* take_done() {
    infer_call* const first = first_;
    infer_call* last = nullptr;
    while (first_ != nullptr && first_ != to_push_ && first_->answered == first_->pushed) {
      last = first_;
      requests_.add(*last);
      first_ = first_->next;
      --waiting_;
    }
    if (last == nullptr) return nullptr;
    last->next = nullptr;
    if (first_ == nullptr) last_ = nullptr;
    return first;
  }
  static void finish(infer_call* done) noexcept {
    while (done != nullptr) std::exchange(done, done->next)->finish();
  }

  bool has_more() const { return popped_.load() != pushed_.load(); }
  /// False: it is for the session's thread to go on.
  bool answer_here() noexcept {
    while (has_more()) {
      if (is_answering_.exchange(true)) return true;  // who does sees that there is more
      bool goes_on = true;
      while (goes_on && has_more()) goes_on = answer_next() && is_short_.load(std::memory_order_relaxed);
      is_answering_.store(false);
      if (!goes_on) return false;
    }
    return true;
  }
  void ring() noexcept {
    rung_.fetch_add(1);
    rung_.notify_one();
  }
  void answer_all() noexcept {
    for (std::uint32_t heard = 0; !is_over_.load();) {
      rung_.wait(heard);
      heard = rung_.load();
      while (has_more()) {
        if (is_answering_.exchange(true)) break;  // it rings where it does not go on
        bool comes = true;
        while (comes && has_more()) comes = answer_next();
        is_answering_.store(false);
        if (!comes) return;
      }
    }
  }

  /// Takes one result, and finishes its request where that was the last. False: nothing more comes.
  bool answer_next() noexcept {
    infer_call* done = nullptr;
    try {
      const auto begun = clock::now();
      auto result = session_.pop();
      if (!result) return false;
      is_short_.store(clock::now() - begun < longest_short, std::memory_order_relaxed);
      infer_call& call = first();
      if (result->has_value())
        write_item<output>(**result, call.answer.places(), call.answered);
      else
        call.fail(status_code::internal, text_of(result->error(), call));
      result.reset();  // its slot is free before the client may send the next
      {
        const std::lock_guard lock(mutex_);
        ++call.answered;
        popped_.fetch_add(1);
        push_waiting();
        done = take_done();
      }
    } catch (...) {  // no memory, or a session that can do no more
      give_up(status_code::internal, "the session of the model can do no more");
      return false;
    }
    finish(done);
    return true;
  }
  /// For good: all that wait get no results.
  void give_up(status_code code, const char* why) noexcept {
    session_.cancel();
    infer_call* left = nullptr;
    {
      const std::lock_guard lock(mutex_);
      is_broken_ = true;
      left = std::exchange(first_, nullptr);
      last_ = to_push_ = nullptr;
      waiting_ = 0;
      popped_.store(pushed_.load());
    }
    for (infer_call* call = left; call != nullptr; call = call->next) call->fail(code, why);
    finish(left);
  }
  infer_call& first() {
    const std::lock_guard lock(mutex_);
    return *first_;
  }
  static std::string text_of(const std::exception_ptr& why, const infer_call& call) {
    std::string text = call.request.items() > 1 ? "item " + std::to_string(call.answered) + ": " : std::string();
    try {
      std::rethrow_exception(why);
    } catch (const std::exception& e) {
      return text += e.what();
    } catch (...) {
      return text += "a stage threw what is no std::exception";
    }
  }

  Session session_;
  const answering how_;
  const std::optional<trace_context> caller_;
  std::mutex mutex_;  ///< of the next lines, and of pushing
  infer_call *first_ = nullptr, *last_ = nullptr;
  infer_call* to_push_ = nullptr;  ///< the first that has items outside
  std::size_t waiting_ = 0;
  bool is_broken_ = false;
  request_log requests_;
  std::unique_ptr<item> staged_;
  atomic<std::uint64_t> pushed_{0}, popped_{0};
  atomic<bool> is_answering_{false}, is_short_{false}, is_over_{false};
  atomic<std::uint32_t> rung_{0};
  std::thread thread_;
};

}  // namespace levada::detail
