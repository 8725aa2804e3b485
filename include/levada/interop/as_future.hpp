// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/as_future.hpp: an item of an async_session as a std::future. Apart from run/, since <future> is a heavy
// header.

#include <exception>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include <levada/core/detail/slot_result.hpp>
#include <levada/run/async_session.hpp>

namespace levada {
namespace detail {

/// Keeps a promise, and ends itself.
template <class Session, class Execution>
class promised_item final : public started_item<Session> {
  using output = typename Session::output;

 public:
  explicit promised_item(pushed_item<Session, Execution> item) : item_(std::move(item)) {}

  std::future<output> future() { return promise_.get_future(); }
  started_items<Session>& begin() { return item_.begin(*this); }

  void take(void* value, const std::exception_ptr& why) noexcept override {
    try {
      if (value == nullptr)
        promise_.set_exception(why);
      else if constexpr (std::is_void_v<output>)
        promise_.set_value();
      else
        promise_.set_value(std::move(*static_cast<output*>(value)));
    } catch (...) {  // the value's move threw
      promise_.set_exception(std::current_exception());
    }
  }
  void done() noexcept override { delete this; }

 private:
  pushed_item<Session, Execution> item_;
  std::promise<output> promise_;
};

}  // namespace detail

/// Starts an item of an async_session: `as_future(session.push_async(item))`. Its result is a std::future, a shared one
/// where it is larger than `largest_result_by_value`: `get` then gives a reference.
///
/// A future without value has the exception of the stage or of a move, no_result where the item was filtered or
/// dropped, or cancelled.
///
/// Waits while the session is full and its `overflow` says so, but where the thread that hands out results calls it.
template <class Session, class Execution>
auto as_future(pushed_item<Session, Execution>&& given) {
  using output = typename Session::output;
  using future = std::conditional_t<detail::is_large_result<output>, std::shared_future<output>, std::future<output>>;
  auto item = std::make_unique<detail::promised_item<Session, Execution>>(std::move(given));
  std::future<output> result = item->future();
  detail::started_items<Session>& in = item->begin();
  if (in.start_item(*item)) {
    static_cast<void>(item.release());
    in.await_room();
  }
  return future(std::move(result));
}

/// Of an item that `push_async` refused: its mistake is the one error.
template <class Mistake>
void as_future(const mistake_found<Mistake>& refused);

}  // namespace levada
