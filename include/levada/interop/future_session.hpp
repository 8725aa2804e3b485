// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/future_session.hpp: a std::future for each item. Apart from run/, since <future> is a heavy header.

#include <chrono>
#include <concepts>
#include <exception>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include <levada/run/detail/session/result_dispatcher.hpp>
#include <levada/run/multi_producer.hpp>

namespace levada {

/// A session whose results come as futures: `future_session session(app.open())`. Any number of threads push; the
/// items' order is the order in which `push_future` was entered. A future without value has the exception of the stage,
/// no_result where the item was filtered or dropped, or cancelled. The session's end cancels what is in flight and
/// makes all futures ready.
template <class Session>
class future_session : public detail::session_calls<future_session<Session>, Session> {
  friend detail::session_calls<future_session, Session>;

 public:
  using item = typename Session::item;
  using output = typename Session::output;
  using time_point = typename Session::time_point;
  /// A shared one where the result is larger than `largest_result_by_value`: its `get` gives a reference.
  using future = std::conditional_t<detail::is_large_result<output>, std::shared_future<output>, std::future<output>>;

  explicit future_session(Session of) : core_(std::make_unique<core_state>(std::move(of))) {
    core_->completed.items().hand_out_all();
    core_->completed.start([core = core_.get()] { core->completed.complete_all([] { return false; }, [] {}); });
  }
  future_session(future_session&&) = default;
  future_session& operator=(future_session&&) = delete;
  ~future_session() {
    if (core_) core_->completed.end();
  }

  /// Gives an item to the pipeline; waits while that is full, or does what the session's `overflow` says. Throws
  /// levada::cancelled where the session is closed or cancelled.
  future push_future(item&& given, time_point captured = {}) {
    return push([&]() -> item&& { return std::move(given); }, captured);
  }
  future push_future(const item& given, time_point captured = {})
    requires std::copy_constructible<item>
  {
    return push([&]() -> const item& { return given; }, captured);
  }
  template <detail::no_item_of<item> Given>
  mistake_found<pipeline_takes_another_item<detail::wants_item<item>, gives<Given>>> push_future(
      const Given& given, time_point captured = {});
  mistake_found<item_cannot_be_copied_move_it_in<item>> push_future(const item& given, time_point captured = {})
    requires(!std::copy_constructible<item>);

 private:
  class promised final : public detail::completion {
   public:
    std::promise<output> promise;
    void take(void* value, const std::exception_ptr& why) noexcept override {
      try {
        if (value == nullptr)
          promise.set_exception(why);
        else if constexpr (std::is_void_v<output>)
          promise.set_value();
        else
          promise.set_value(std::move(*static_cast<output*>(value)));
      } catch (...) {  // the value's move threw
        promise.set_exception(std::current_exception());
      }
    }
    void done() noexcept override { delete this; }
  };

  struct core_state {
    explicit core_state(Session of) : completed(std::move(of)) {}
    detail::result_dispatcher<Session> completed;
    detail::turnstile order;
  };

  template <class Make>
  future push(Make make, time_point captured) {
    auto pending = std::make_unique<promised>();
    std::future<output> given = pending->promise.get_future();
    const detail::turnstile::turn mine(core_->order);
    if (core_->completed.push_for(pending.get(), make, captured))
      static_cast<void>(pending.release());
    else
      pending->take(nullptr, detail::why_missing(missing::dropped));
    return given;
  }

  std::unique_ptr<core_state> core_;
};

template <class Mistake>
class future_session<mistake_found<Mistake>>;
template <class Session>
  requires detail::only_popped<Session>
future_session(Session) -> future_session<detail::popped_instead<Session>>;

}  // namespace levada
