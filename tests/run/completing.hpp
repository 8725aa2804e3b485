// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/completing.hpp: results by callback, future, coroutine and event descriptor, against the loop of run/failing.hpp,
// on any executor. Run under oneTBB by run/completions.cpp, under ThreadSanitizer by tsan/.

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/interop/as_future.hpp>
#include <levada/run/async_session.hpp>
#include <levada/run/callback_session.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/session/dispatcher.hpp>
#include <levada/run/event_session.hpp>
#include <levada/run/multi_producer.hpp>

#include <detached.hpp>

#include "failing.hpp"

namespace levada::test {

/// What became of an item: its value; -1 - why where it is missing; -100 for another exception.
template <class Get>
long outcome_of(int item, Get get) {
  try {
    return get();
  } catch (const unlucky& u) {
    return u.item == item ? -1 - static_cast<long>(missing::failed) : -100;
  } catch (const no_result& n) {
    return -1 - static_cast<long>(n.why);
  } catch (const levada::cancelled&) {
    return -1 - static_cast<long>(missing::cancelled);
  } catch (...) {
    return -100;
  }
}
inline long expected_outcome(const expectation& e, int item) {
  const auto found = e.values.find(item);
  if (found != e.values.end()) return found->second;
  return -1 - static_cast<long>(fails(item) ? missing::failed : missing::filtered);
}

/// Waits for one item and counts.
template <class Session>
detached count_one(Session& session, int item, std::atomic<int>& resumed, std::atomic<int>& without) {
  const auto r = co_await session.push_async(item);
  without += !r;
  resumed.fetch_add(1);
}

template <class Sum, class App>
void callbacks_equal_the_loop(const App& app, int count) {
  const nothing_leaks guard;
  const expectation expected = expected_of<Sum>(count);
  in_order check(expected);
  std::uint64_t last = 0, envelopes_wrong = 0, calls = 0;
  std::atomic<int> inside{0};
  callback_session session(app.open(), [&](result<long&> r, const item_envelope& envelope) {
    envelopes_wrong += inside.fetch_add(1) != 0 || (calls++ != 0 && envelope.sequence <= last);
    last = envelope.sequence;
    check(r);
    inside.fetch_sub(1);
  });
  for (int i = 0; i < count; ++i) session.push(i);
  session.close();
  session.drain();
  CHECK(session.is_over());
  check.at_end();
  CHECK(envelopes_wrong == 0);
  CHECK(session.counts().filtered == static_cast<std::uint64_t>(expected.filtered));
  CHECK(session.counts().in_flight == 0);
}

template <class Sum, class App>
void futures_equal_the_loop(const App& app, int count) {
  const nothing_leaks guard;
  const expectation expected = expected_of<Sum>(count);
  std::vector<std::future<long>> futures;
  {
    async_session session(app.open());
    for (int i = 0; i < count; ++i) futures.push_back(as_future(session.push_async(i)));
    for (const auto& f : futures) f.wait();
    CHECK(session.counts().filtered == static_cast<std::uint64_t>(expected.filtered));
    // Read behind the session's end: ThreadSanitizer does not see how libstdc++ counts the owners of an exception.
  }
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    wrong += outcome_of(i, [&] { return futures[static_cast<std::size_t>(i)].get(); }) != expected_outcome(expected, i);
  CHECK(wrong == 0);
}

/// `lines` coroutines that take turns, so that the items enter in order only where there is one.
template <class Sum, class App>
void coroutines_equal_the_loop(const App& app, int count, int lines) {
  const nothing_leaks guard;
  const expectation expected = expected_of<Sum>(count);
  std::atomic<int> wrong{0}, ended{0};
  {
    async_session session(app.open());
    std::vector<int> done(static_cast<std::size_t>(count), 0);
    const auto each = [&](int item) -> detached {
      auto r = co_await session.push_async(item);
      wrong += outcome_of(item, [&] { return r.value(); }) != expected_outcome(expected, item);
      wrong += ++done[static_cast<std::size_t>(item)] != 1;
      ended.fetch_add(1);
    };
    const auto line = [&](int first) -> detached {
      for (int item = first; item < count; item += lines) {
        auto r = co_await session.push_async(item);
        const long got = outcome_of(item, [&] { return r.value(); });
        wrong +=
            lines == 1 ? got != expected_outcome(expected, item) : (got < 0) != (expected_outcome(expected, item) < 0);
        ended.fetch_add(1);
      }
    };
    if (lines == 0)  // all at once: more than there are slots
      for (int i = 0; i < count; ++i) each(i);
    for (int k = 0; k < lines; ++k) line(k);
    while (ended != count) std::this_thread::sleep_for(std::chrono::microseconds(50));
    CHECK(session.counts().in_flight == 0);
  }
  CHECK(wrong == 0);
}

/// One thread that pushes, and an event loop that sleeps until the descriptor is readable.
template <class Sum, class App>
void descriptor_equals_the_loop(const App& app, int count) {
  const nothing_leaks guard;
  const expectation expected = expected_of<Sum>(count);
  in_order check(expected);
  event_session session(app.open());
  std::thread pusher([&] {
    for (int i = 0; i < count; ++i) session.push(i);
    session.close();
  });
  int sleeps = 0;
  while (!session.is_over()) {
    pollfd waiting{session.descriptor(), POLLIN, 0};
    if (::poll(&waiting, 1, -1) != 1) break;
    ++sleeps;
    while (auto r = session.try_pop()) check(*r);
  }
  pusher.join();
  check.at_end();
  CHECK(sleeps > 0);
}

/// What is in flight at the end of a session is completed, too.
template <class Sum, class App>
void ends_complete_all(const App& app) {
  const nothing_leaks guard;
  const int count = 200;
  const expectation expected = expected_of<Sum>(count);
  for (const bool cancels : {false, true}) {
    std::vector<std::future<long>> futures;
    std::atomic<int> resumed{0}, without{0};
    {
      async_session session(app.open());
      for (int i = 0; i < count; ++i) futures.push_back(as_future(session.push_async(i)));
      if (cancels) {
        session.cancel();
        CHECK_THROWS_AS(as_future(session.push_async(0)).get(), levada::cancelled);
      }
      async_session waits(app.open());
      for (int i = 0; i < count; ++i) count_one(waits, i, resumed, without);
      if (cancels) {
        waits.cancel();
        count_one(waits, 0, resumed, without);
      }
    }
    CHECK(resumed == count + cancels);
    CHECK(without >= cancels);
    int wrong = 0;
    bool given_up = false;
    for (int i = 0; i < count; ++i) {
      const long got = outcome_of(i, [&] { return futures[static_cast<std::size_t>(i)].get(); });
      given_up |= got == -1 - static_cast<long>(missing::cancelled);
      // Whatever was finished before is as it should be; behind the first that was given up nothing has a sum.
      wrong += given_up ? got >= 0 : got != expected_outcome(expected, i);
    }
    CHECK(wrong == 0);
  }
}

/// Futures of items that give way to newer ones, or come too late.
template <class App>
void dropped_items_are_completed(const App& app, int count) {
  const nothing_leaks guard;
  const auto on = [&](auto opened) {
    std::vector<std::future<long>> futures;
    item_counts counts;
    {
      async_session session(std::move(opened));
      for (int i = 0; i < count; ++i) futures.push_back(as_future(session.push_async(i)));
      session.close();
      for (const auto& f : futures) f.wait();
      counts = session.counts();
    }
    int strange = 0;
    std::uint64_t dropped = 0;
    for (int i = 0; i < count; ++i) {
      const long got = outcome_of(i, [&] { return futures[static_cast<std::size_t>(i)].get(); });
      dropped += got == -1 - static_cast<long>(missing::dropped);
      strange += got == -100 || got == -1 - static_cast<long>(missing::cancelled);
    }
    CHECK(strange == 0);
    CHECK(counts.dropped == dropped);
    CHECK(counts.pushed == static_cast<std::uint64_t>(count));
  };
  on(app.template open<latest_only>());
  on(app.template open<overflow<drop_oldest>>());
  on(app.template open<overflow<drop_newest>>());
}

/// Eight threads push; each one's items stay in its order, and none is lost.
template <class App>
void eight_producers(const App& app, int each) {
  auto session = app.open();
  multi_producer producers(session);
  constexpr int threads = 8;
  std::vector<std::thread> pushing;
  std::atomic<int> left{threads};
  for (int t = 0; t < threads; ++t)
    pushing.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) {
        const int item = t * each + i;
        if (i % 3 != 0 || !producers.try_push(item)) producers.push(item);
      }
      if (left.fetch_sub(1) == 1) session.close();
    });
  std::vector<int> next(threads, 0);
  int popped = 0, wrong = 0;
  item_envelope envelope;
  while (auto r = session.pop(envelope)) {
    const int item = **r, t = item / each;
    wrong +=
        next[static_cast<std::size_t>(t)]++ != item % each || envelope.sequence != static_cast<std::uint64_t>(popped);
    ++popped;
  }
  for (std::thread& t : pushing) t.join();
  CHECK(wrong == 0);
  CHECK(popped == threads * each);
}

/// Sessions of each kind whose results one thread hands out, and others that come and go beside them.
template <class Sum, class App>
void one_dispatcher_equals_the_loop(const App& app, int count) {
  const nothing_leaks guard;
  const expectation expected = expected_of<Sum>(count);
  std::vector<std::future<long>> futures;
  {
    dispatcher results;
    in_order called(expected), polled(expected);
    std::vector<std::thread::id> hands_out;  // by one thread, hence unguarded
    const auto note = [&] { hands_out.push_back(std::this_thread::get_id()); };
    callback_session with_callback(
        app.open(),
        [&](result<long&>& r) {
          note();
          called(r);
        },
        results);
    async_session async(app.open(), results);
    event_session with_events(app.open(), results);
    std::atomic<int> resumed{0}, without{0};
    async_session awaited(app.open(), results);
    std::thread pusher([&] {
      for (int i = 0; i < count; ++i) with_callback.push(i);
      with_callback.close();
    });
    std::thread event_pusher([&] {
      for (int i = 0; i < count; ++i) with_events.push(i);
      with_events.close();
    });
    for (int i = 0; i < count; ++i) {
      futures.push_back(as_future(async.push_async(i)));
      count_one(awaited, i, resumed, without);
      if (i % 50 == 0) {
        callback_session passing(
            app.open(), [&](result<long&>&) { note(); }, results);
        for (int k = 0; k < 5; ++k) passing.push(k);
        if (i % 100 == 0) passing.drain();
      }
    }
    while (!with_events.is_over()) {
      pollfd waiting{with_events.descriptor(), POLLIN, 0};
      if (::poll(&waiting, 1, -1) != 1) break;
      while (auto r = with_events.try_pop()) polled(*r);
    }
    pusher.join();
    event_pusher.join();
    with_callback.drain();
    async.drain();
    awaited.drain();
    while (resumed != count) std::this_thread::yield();  // drained: each is about to go on
    called.at_end();
    polled.at_end();
    CHECK(std::count(hands_out.begin(), hands_out.end(), hands_out.front()) ==
          static_cast<std::ptrdiff_t>(hands_out.size()));
    CHECK(hands_out.front() != std::this_thread::get_id());
  }
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    wrong += outcome_of(i, [&] { return futures[static_cast<std::size_t>(i)].get(); }) != expected_outcome(expected, i);
  CHECK(wrong == 0);
}

template <class Sum, class App>
void each_completion(const App& app, int count) {
  callbacks_equal_the_loop<Sum>(app, count);
  futures_equal_the_loop<Sum>(app, count);
  coroutines_equal_the_loop<Sum>(app, count, 1);
  coroutines_equal_the_loop<Sum>(app, count, 3);
  coroutines_equal_the_loop<Sum>(app, count, 0);
  descriptor_equals_the_loop<Sum>(app, count);
  one_dispatcher_equals_the_loop<Sum>(app, count);
  ends_complete_all<Sum>(app);
  dropped_items_are_completed(app, count);
}

/// All of it, with a stage that is told of failed items, and with one that does not see them.
template <class Executor>
void completions(int count) {
  each_completion<told_sum>(deploy<target<cpu<1>>, run_by<Executor>>(failing_sum<told_sum>()), count);
  each_completion<skipping_sum>(deploy<target<cpu<3>>, slots<5>, run_by<Executor>>(failing_sum<skipping_sum>()), count);
  eight_producers(deploy<target<cpu<2>>, slots<4>, run_by<Executor>>(
                      input<int> | stage<"same">(serial([](const int& v) { return v; }))),
                  count / 4);
}

}  // namespace levada::test
