// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/driven_session.hpp: the session of an app whose items come from elsewhere, and whose results go back
// there. Items are constructed in their slots, and results sent from there.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <levada/core/detail/start_thread.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/remote/detail/wire.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Sends a value as it lies, or in its wire form, which is written to `written`.
template <class Sender, class Out>
void send_result(Sender& to, std::uint64_t number, const Out& value, std::vector<std::byte>& written) {
  if constexpr (goes_as_it_lies<Out>) {
    to.send_value(number, std::as_bytes(std::span(&value, 1)));
  } else {
    try {
      wire_writer writer(written, wire<Out>::most_bytes);
      wire<Out>::write(writer, value);
    } catch (...) {
      return to.send_failure(number, std::current_exception());
    }
    to.send_value(number, written);
  }
}

/// Throws wire_error where as many items are unanswered as the session takes.
inline void check_was_asked_for(std::uint64_t unanswered, std::size_t slots) {
  if (unanswered == slots) throw wire_error("levada: a driver sends more items than were asked for");
}

/// `Sender` has `send_value(number, bytes)` and `send_failure(number, why)`, which return when these are looked at no
/// more and are called by one thread at a time, and `give_up()`, which ends the session from outside.
template <class App, class Sender>
class driven_session {
  using output = typename App::output;

 public:
  using item = typename App::item;

  driven_session(const App& app, Sender& to) : app_(app), to_(to) {}
  /// Behind `end`, or where it was never opened.
  ~driven_session() { join(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  /// Opens the session; says how many items it takes.
  std::size_t open() {
    session_.emplace(app_.open());
    session_->allow_multiple_producers();
    numbers_ = fixed_array<std::uint64_t>(App::plan.slots);
    thread_ = start_thread("the results of a driver", [this]() noexcept { give_results(); });
    return numbers_.size();
  }
  /// Takes the item that `make` makes, under the driver's number. One thread at a time.
  template <class Make>
  void take(std::uint64_t number, const Make& make, std::chrono::steady_clock::time_point captured = {}) {
    const std::uint64_t pushed = pushed_.load();
    check_was_asked_for(pushed - popped_.load(), numbers_.size());
    numbers_[pushed % numbers_.size()] = number;
    session_->emplace(make, captured);  // waits where the slot has a result still that the driver has got
    pushed_.store(pushed + 1);
    if (!give_here(pushed)) ring();
  }
  /// While it is open.
  auto& session() { return *session_; }
  /// Nothing more comes, and nobody takes what is there.
  void end() noexcept {
    if (!session_) return;
    session_->cancel();
    ring();
  }

 private:
  using session_type = decltype(std::declval<const App&>().open());
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds longest_short{20};

  /// An item that is alone, where the one before was short, is worked on by the thread that received it: to wake
  /// another would take longer.
  bool give_here(std::uint64_t pushed) noexcept {
    if (!is_short_.load()) return false;
    const std::unique_lock lock(popping_, std::try_to_lock);
    // Asked behind the lock: the other thread may have given it meanwhile, and nothing would come to wait for.
    return lock && popped_.load() == pushed && give_next();
  }
  void ring() noexcept {
    rung_.fetch_add(1);
    rung_.notify_one();
  }
  void give_results() noexcept {
    for (std::uint32_t heard = 0;;) {
      rung_.wait(heard);
      heard = rung_.load();
      const std::lock_guard lock(popping_);
      while (popped_.load() != pushed_.load())
        if (!give_next()) return;
      if (session_->is_over()) return;
    }
  }
  /// False: nothing more comes.
  bool give_next() noexcept {
    try {
      const auto begun = clock::now();
      auto result = session_->pop();
      if (!result) return false;
      is_short_.store(clock::now() - begun < longest_short);
      const std::uint64_t popped = popped_.load(), number = numbers_[popped % numbers_.size()];
      popped_.store(popped + 1);  // before the driver hears of it, and sends another
      if (result->has_value())
        send_result(to_, number, **result, written_);
      else
        to_.send_failure(number, result->error());
    } catch (...) {  // no memory, or a session that can do no more: the driver finds another
      to_.give_up();
      return false;
    }
    return true;
  }
  const App& app_;
  Sender& to_;
  std::optional<session_type> session_;
  fixed_array<std::uint64_t> numbers_;  ///< the driver's, of the items in flight
  atomic<std::uint64_t> pushed_{0}, popped_{0};
  atomic<std::uint32_t> rung_{0};
  mutex popping_;
  atomic<bool> is_short_{false};  ///< of the last item
  std::vector<std::byte> written_;
  std::thread thread_;
};

}  // namespace levada::detail
