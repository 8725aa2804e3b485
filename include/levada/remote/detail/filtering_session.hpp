// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/filtering_session.hpp: the session of an app whose items come from elsewhere, as in driven_session.hpp,
// with a completion for each: the other end hears where the app gives nothing for an item, too, and results are sent
// from their slots.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/core/detail/storage.hpp>
#include <levada/remote/detail/completing_session.hpp>
#include <levada/remote/detail/driven_session.hpp>
#include <levada/remote/detail/wire.hpp>
#include <levada/run/detail/deploy/bind_plan.hpp>
#include <levada/run/detail/workers/completion.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// `Sender` has `send_filtered(number)` beside what a driven session needs, and where items have a deadline
/// `send_overdue(number)`.
template <class App, class Sender>
class filtering_session {
  using session_type = decltype(std::declval<const App&>().open());

 public:
  using item = typename App::item;

  filtering_session(const App& app, Sender& to) : app_(app), to_(to) {}
  /// Behind `end`, or where it was never opened.
  ~filtering_session() { join(); }
  void join() { session_.reset(); }

  /// Opens the session; says how many items it takes. `deadline`: 0 where there is none.
  std::size_t open(std::chrono::nanoseconds deadline = {}) {
    // What became of an item is sent before its completion is done with: one more than there are slots.
    in_flight_ = fixed_array<item_in_flight>(App::plan.slots + 1);
    for (item_in_flight& i : in_flight_) i.of = this;
    session_.emplace(deadline.count() == 0 ? app_.open() : open_with_deadline(app_, deadline));
    return App::plan.slots;
  }
  /// Takes the item that `make` makes, under the driver's number. One thread at a time.
  template <class Make>
  void take(std::uint64_t number, const Make& make, std::chrono::steady_clock::time_point captured = {}) {
    check_was_asked_for(pushed_ - answered_.load(), App::plan.slots);
    item_in_flight& i = in_flight_[pushed_++ % in_flight_.size()];
    i.number = number;
    while (!session_->push(i, make, captured)) {  // for a moment: the driver has what the slot still holds
      if (is_over_.load() || session_->session().is_over()) return;
      yield_thread();
    }
  }
  /// While it is open.
  auto& session() { return session_->session(); }
  /// Nothing more comes, and nobody takes what is there.
  void end() noexcept {
    is_over_.store(true);
    if (session_) session_->session().cancel();
  }

 private:
  struct item_in_flight final : completion {
    filtering_session* of = nullptr;
    std::uint64_t number = 0;

    void take(void* value, const std::exception_ptr& why) noexcept override { of->answer(number, value, why); }
    void done() noexcept override {}
  };

  void answer(std::uint64_t number, void* value, const std::exception_ptr& why) noexcept {
    answered_.fetch_add(1);
    if (is_over_.load()) return;
    try {
      if (value != nullptr)
        send_result(to_, number, *static_cast<typename App::output*>(value), written_);
      else if (why == why_missing(missing::filtered))
        to_.send_filtered(number);
      else if (!tell_overdue(number, why))
        to_.send_failure(number, why);
    } catch (...) {  // no memory: the driver finds another
      to_.give_up();
    }
  }

  bool tell_overdue([[maybe_unused]] std::uint64_t number, [[maybe_unused]] const std::exception_ptr& why) {
    if constexpr (requires { to_.send_overdue(number); }) {
      if (why != why_missing(missing::dropped)) return false;
      to_.send_overdue(number);
      return true;
    } else {
      return false;
    }
  }

  const App& app_;
  Sender& to_;
  fixed_array<item_in_flight> in_flight_;
  std::optional<completing_session<session_type>> session_;
  std::uint64_t pushed_ = 0;
  atomic<std::uint64_t> answered_{0};
  atomic<bool> is_over_{false};
  std::vector<std::byte> written_;
};

/// Where a result takes longer to copy than a thread to wake, it is sent from its slot, by another thread than the one
/// that receives.
template <class Out>
inline constexpr bool is_sent_from_slot = sizeof(Out) > (std::size_t{1} << 16);

/// The session of an app behind a driver.
template <class App, class Sender>
using session_of_driver = std::conditional_t<filters_items(App::plan.graph) || is_sent_from_slot<typename App::output>,
                                             filtering_session<App, Sender>, driven_session<App, Sender>>;

}  // namespace levada::detail
