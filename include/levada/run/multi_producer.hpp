// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/multi_producer.hpp: many threads push into one session.

#include <cstdint>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/detail/session/push_calls.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada {
namespace detail {

/// It takes items from one thread after the other.
template <class Session>
concept allows_multiple_producers = requires(Session& s) { s.allow_multiple_producers(); };

/// One thread at a time, in the order in which they came.
class fifo_mutex {
 public:
  /// The calling thread's turn, which it waits for.
  class turn {
   public:
    explicit turn(fifo_mutex& of) : of_(of) {
      const std::uint32_t mine = of_.next_.fetch_add(1);
      for (std::uint32_t now = of_.now_.load(); now != mine; now = of_.now_.load()) of_.now_.wait(now);
    }
    ~turn() { of_.pass_on(); }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

   private:
    fifo_mutex& of_;
  };

  /// Calls `f` where nobody is inside or waits, and returns what it says; else what is false.
  template <class F>
  auto try_at_once(F f) -> decltype(f()) {
    std::uint32_t now = now_.load();
    if (!next_.compare_exchange_strong(now, now + 1)) return {};
    const leave at_end{*this};
    return f();
  }

 private:
  struct leave {
    fifo_mutex& of;
    ~leave() { of.pass_on(); }
  };
  void pass_on() {
    now_.fetch_add(1);
    now_.notify_all();
  }

  alignas(64) atomic<std::uint32_t> next_{0};
  alignas(64) atomic<std::uint32_t> now_{0};
};

}  // namespace detail

/// Any number of threads push through it: `multi_producer producers(session)`. The items' order is the order in which
/// `push` was entered. A push that waits for room holds up the pushes behind it, and nobody who pops.
///
/// It refers to the session, of an app or an any_pipeline, with callbacks or events, which is popped, closed and
/// cancelled as before; meanwhile all pushes go through it. `try_push` says false, too, where another thread is
/// pushing.
template <class Session>
class multi_producer : public detail::push_calls<multi_producer<Session>, typename Session::item> {
 public:
  using item = typename Session::item;
  using time_point = typename Session::time_point;

  explicit multi_producer(Session& of) : session_(of) { of.allow_multiple_producers(); }

 private:
  friend detail::push_calls<multi_producer, typename Session::item>;

  template <class Given>
  push_result push_given(Given&& given, time_point captured) {
    const detail::fifo_mutex::turn mine(order_);
    return session_.push(std::forward<Given>(given), captured);
  }
  template <class Given>
  push_result try_push_given(Given&& given, time_point captured) {
    return order_.try_at_once([&] { return session_.try_push(std::forward<Given>(given), captured); });
  }

  Session& session_;
  detail::fifo_mutex order_;
};

template <class Mistake>
class multi_producer<mistake_found<Mistake>>;
template <class Session>
  requires(!detail::allows_multiple_producers<Session>)
multi_producer(Session&) -> multi_producer<mistake_found<session_takes_no_items_from_several_threads<Session>>>;

}  // namespace levada
