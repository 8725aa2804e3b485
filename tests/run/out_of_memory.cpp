// SPDX-License-Identifier: Apache-2.0
// Every call while one allocation of it fails, the first, the second, and so on, alone or with all behind it, until it
// runs through: it throws std::bad_alloc or levada::error and no more, nothing is lost, leaked or hung, and the handle
// works afterwards. The same with threads that the system does not give.

#include <doctest/doctest.h>

#include <poll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/graph/sync.hpp>
#include <levada/interop/as_future.hpp>
#include <levada/interop/recording.hpp>
#include <levada/run/any_of.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/async_session.hpp>
#include <levada/run/callback_session.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/deploy/for_each.hpp>
#include <levada/run/detail/deploy/rated_fork.hpp>
#include <levada/run/detail/deploy/route.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>
#include <levada/run/event_session.hpp>
#include <levada/run/hot_swap.hpp>
#include <levada/run/multi_producer.hpp>
#include <levada/run/simulated.hpp>

#include <detached.hpp>
#include <files.hpp>
#include <support/shortage.hpp>

#include "items.hpp"
#include "watchdog.hpp"

namespace lv = levada;
using lv::test::tracked;

namespace {

// ---- the attack ----

/// One run of a case, whose calls go through it: `now(f)` calls f while the shortage counts.
class attack {
 public:
  attack(lv::test::shortage& of, long n, bool lasts) : of_(of) { of.begin(n, lasts); }

  /// Says whether f ran through.
  template <class F>
  bool operator()(F f) {
    std::exception_ptr other;
    bool throws = false;
    of_.resume();
    try {
      f();
    } catch (const std::bad_alloc&) {
      throws = true;
    } catch (const lv::error&) {
      throws = true;
    } catch (...) {
      other = std::current_exception();
    }
    of_.pause();
    if (other) expect(false, "something else is thrown");
    return !throws && !other;
  }
  void expect(bool so, const char* what) {
    if (!so && wrong_ == nullptr) wrong_ = what;
  }
  const char* wrong() const { return wrong_; }

 private:
  lv::test::shortage& of_;
  const char* wrong_ = nullptr;
};

using attacked = void (*)(attack&);

/// Who is attacked, for std::terminate.
struct {
  const char* name = "";
  long n = 0;
  bool lasts = false;
} target;

struct said_at_terminate {
  said_at_terminate() {
    std::set_terminate([] {
      std::fprintf(stderr, "\nterminated: %s, allocation or thread %ld%s\n", target.name, target.n,
                   target.lasts ? " and all behind it" : "");
      std::abort();
    });
  }
} const told;

/// A run that leaves blocks behind is run again: what is kept for good is made once. `leaks_of_tbb`: oneTBB leaves
/// so many blocks behind where one of its nodes is refused memory.
bool leaks(lv::test::shortage& of, attacked run, long n, bool lasts, long leaks_of_tbb) {
  for (int again = 0; again < 20; ++again) {
    std::this_thread::sleep_for(
        std::chrono::milliseconds(again));  // for workers that are late to a session that is gone
    const long before = lv::test::blocks_alive.load(), alive = lv::test::life::alive.load();
    attack now(of, n, lasts);
    run(now);
    if (lv::test::life::alive.load() != alive) return true;
    if (lv::test::blocks_alive.load() - before <= leaks_of_tbb) return false;
  }
  return true;
}

void sweep(lv::test::shortage& of, const char* name, attacked run, long leaks_of_tbb = 0) {
  target.name = name;
  for (int i = 0; i < 2; ++i) {
    attack nothing(of, 0, false);
    run(nothing);
    const std::string wrong = nothing.wrong() != nullptr ? nothing.wrong() : "";
    const std::string said = std::string(name) + " without a shortage: " + wrong;
    REQUIRE_MESSAGE(wrong.empty(), said);
  }
  for (const bool lasts : {false, true}) {
    bool struck = true;
    target.lasts = lasts;
    for (long n = 1; struck; ++n) {
      target.n = n;
      REQUIRE(n < 4000);
      const long before = lv::test::blocks_alive.load(), alive = lv::test::life::alive.load();
      attack now(of, n, lasts);
      run(now);
      struck = of.has_struck();
      const bool leaves = lv::test::blocks_alive.load() != before || lv::test::life::alive.load() != alive;
      const bool leaked = leaves && leaks(of, run, n, lasts, leaks_of_tbb);
      if (now.wrong() == nullptr && !leaked) continue;
      const std::string found = std::string(name) + ", the " + std::to_string(n) + ". refused" +
                                (lasts ? " and all behind it: " : ": ") + (now.wrong() != nullptr ? now.wrong() : "") +
                                (leaked ? " leaks" : "");
      FAIL_CHECK(found);
    }
  }
}

// ---- what is attacked ----

using box = lv::target<lv::cpu<2>>;

/// Of an item its value, by a block of memory; each fifth is filtered.
auto line() {
  return lv::input<tracked<>> |
         lv::stage<"block">(+[](const tracked<>& t) { return std::make_unique<int>(t.checked()); }) |
         lv::stage<"count">([n = 0](const std::unique_ptr<int>& p) mutable { return *p + 0 * n++; }) |
         lv::stage<"some">(+[](const int& v) -> std::optional<long> {
           if (v % 5 == 4) return std::nullopt;
           return v;
         });
}
auto deployed() { return lv::deploy<box, lv::slots<8>>(line()); }
auto deployed_on_threads() { return lv::deploy<box, lv::slots<8>, lv::run_by<lv::thread_executor>>(line()); }
using app_type = decltype(deployed());

/// What became of items, in the order of their pushes or, where they are `unordered`, in any, each once.
struct tally {
  bool unordered = false;
  std::uint64_t pushed = 0, delivered = 0, failed = 0;
  long last = -1;
  std::set<long> taken{};
  bool is_wrong = false;

  template <class Result>
  void take(Result&& r) {
    if (r) {
      is_wrong |= *r % 5 == 4 || (unordered ? !taken.insert(*r).second : *r <= last);
      last = *r;
      ++delivered;
    } else {
      take_error(r.error());
    }
  }
  void take_error(const std::exception_ptr& why) {
    try {
      std::rethrow_exception(why);
    } catch (const std::bad_alloc&) {
      ++failed;
    } catch (...) {
      is_wrong = true;
    }
  }
  /// All that was pushed has come to an end.
  bool equals(const lv::item_counts& c) const {
    return !is_wrong && c.pushed == pushed && c.delivered == delivered && c.failed == failed && c.in_flight == 0 &&
           c.filtered == pushed - delivered - failed - c.dropped - c.cancelled;
  }
};

/// Pushes and pops some more, and the rest.
template <class Session>
void use(attack& now, Session& session, tally& all, int next = 1000) {
  for (int i = 0; i < 3; ++i) {
    session.push(next + i);
    ++all.pushed;
    while (auto r = session.try_pop()) all.take(*r);
  }
  session.close();
  while (auto r = session.pop()) all.take(*r);
  now.expect(all.equals(session.counts()), "items are lost");
}
template <class App>
void use(attack& now, const App& app) {
  auto session = app.open();
  tally all;
  use(now, session, all);
  now.expect(all.delivered == 3, "an app does not work");
}

/// What `make` makes, made again without a shortage where there is one.
template <class Make>
auto made(attack& now, Make make) {
  std::optional<decltype(make())> object;
  if (!now([&] { object.emplace(make()); })) {
    now.expect(!object, "half an object is left");
    object.emplace(make());
  }
  return object;
}

template <auto Make>
void deploy(attack& now) {
  const auto app = made(now, Make);
  use(now, *app);
}

template <auto Make>
void deploy_only(attack& now) {
  static_cast<void>(made(now, Make)->open());
}

auto segments() {
  return lv::deploy<box, lv::slots<4>>(lv::input<int> | lv::stage<"a">(+[](const int& v) { return v + 1; }) |
                                       lv::split_here |
                                       lv::stage<"b">([n = 0](const int& v) mutable { return v - 1 + 0 * n++; }) |
                                       lv::split_here | lv::stage<"c">(+[](const int& v) { return long{v}; }));
}

auto on_equal_devices() {
  using equal = lv::any_of<lv::simulated<1>, lv::simulated<2>>;
  return lv::deploy<lv::target<lv::cpu<2>, equal>, lv::slots<4>>(
      lv::input<int> | lv::on<equal>(lv::stage<"a">(+[](const int& v) { return v + 1; })) |
      lv::stage<"b">(+[](const int& v) { return long{v - 1}; }));
}
auto on_device() {
  return lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>, lv::slots<4>>(
      lv::input<int> | lv::on<lv::simulated<0>>(lv::stage<"a">(+[](const int& v) { return v + 1; })) |
      lv::stage<"b">(+[](const int& v) { return long{v - 1}; }));
}

template <auto Make>
auto& app_of() {
  static const auto app = Make();
  return app;
}

/// As many gates as there will be sessions that workers may come late to: they are kept for good.
void keep_gates() {
  std::vector<decltype(app_of<deployed>().open())> sessions;
  for (int i = 0; i < 200; ++i) sessions.push_back(app_of<deployed>().open());
}

template <auto Make, class... Options>
void open(attack& now) {
  auto& app = app_of<Make>();
  auto session = made(now, [&] { return app.template open<Options...>(); });
  tally all{.unordered = (std::is_same_v<Options, lv::unordered> || ...)};
  use(now, *session, all);
}
/// A state that can only be moved, which one session has.
auto owning() {
  return lv::deploy<box, lv::slots<8>>(
      lv::input<tracked<>> |
      lv::stage<"own">([p = std::make_unique<long>(0)](const tracked<>& t) { return t.checked() + *p; }) |
      lv::stage<"count">([n = std::vector<int>(4)](const long& v) mutable { return v + 0 * n[0]++; }));
}
void open_owning(attack& now) {
  const auto app = owning();
  auto session = made(now, [&] { return app.open(); });
  tally all;
  use(now, *session, all);
}
void call_owning(attack& now) {
  const auto app = owning();
  const tracked<> item(3);
  now([&] { static_cast<void>(app(item)); });
  now.expect(app(item) == 3, "a call does not work");
}
void open_measured(attack& now) {
  auto& app = app_of<deployed>();
  app.measure();
  open<deployed>(now);
  open<deployed, lv::dedicated>(now);
  app.measure(false);
}

void call(attack& now) {
  const auto app = deployed();
  const tracked<> item(3);
  std::optional<long> out;
  if (now([&] { out = app(item); })) now.expect(out == 3, "a call gives something else");
  now.expect(app(item) == 3, "a call does not work");
  use(now, app);
}

template <class... Options>
void push_and_pop(attack& now) {
  auto session = app_of<deployed>().open<Options...>();
  tally all;
  for (int i = 0; i < 12; ++i) {
    bool taken = false;
    now([&] { taken = i % 2 == 0 ? session.push(tracked<>(i)) : session.try_push(tracked<>(i)); });
    all.pushed += taken;
    if (i % 3 != 2) continue;
    now([&] { session.drain(); });
    for (bool came = true; came;) {
      came = false;
      now([&] {
        if (auto r = session.try_pop()) all.take(*r), came = true;
      });
    }
  }
  use(now, session, all);
}
template <class... Options>
void push_over(attack& now) {
  auto session = app_of<deployed>().open<Options...>();
  tally all;
  for (int i = 0; i < 30; ++i) all.pushed += now([&] { session.push(tracked<>(i)); });  // or dropped, and counted
  use(now, session, all);
}

void reset(attack& now) {
  auto session = app_of<deployed>().open();
  tally all;
  now([&] { session.on_error([](std::uint64_t, const std::exception_ptr&) noexcept {}); });
  for (int i = 0; i < 4; ++i) now([&] { all.pushed += session.push(tracked<>(i)); });
  now([&] { session.reset(); });
  use(now, session, all);
}

void stream(attack& now) {
  auto& app = app_of<deployed>();
  std::vector<tracked<>> items;
  for (int i = 0; i < 20; ++i) items.emplace_back(i);
  tally all;
  now([&] {
    auto results = app.stream(items);
    for (auto&& r : results) all.take(r);
    all.pushed = items.size();
    if (!all.equals(results.counts())) std::abort();
  });
  tally more;
  for (auto&& r : app.stream(items)) more.take(r);
  now.expect(more.delivered == 16 && more.failed == 0, "a stream does not work");
}

void measure(attack& now) {
  auto session = app_of<deployed>().open();
  tally all;
  const auto push_some = [&](int first) {
    for (int i = 0; i < 4; ++i) all.pushed += session.push(tracked<>(first + i));
    session.drain();
    while (auto r = session.try_pop()) all.take(*r);
  };
  now([&] { session.measure(); });
  push_some(0);
  now([&] { session.trace(64); });
  push_some(10);
  now([&] { session.trace(1000); });
  push_some(20);
  now([&] {
    if (session.statistics().items.pushed != 12) std::abort();
  });
  now([&] { static_cast<void>(session.traced()); });
  now([&] { session.trace(0); });
  session.trace(16);
  push_some(30);
  now.expect(session.traced().events.size() > 0, "a trace does not work");
  now.expect(session.statistics().items.pushed == 16, "statistics do not work");
  use(now, session, all);
}

using any = lv::any_pipeline<std::optional<long>(tracked<>)>;

void any_pipeline(attack& now) {
  auto& app = app_of<deployed>();
  const auto erased = made(now, [&] { return any(app); });
  std::optional<long> out;
  const tracked<> item(3);
  if (now([&] { out = (*erased)(item); })) now.expect(out == 3, "a call gives something else");
  std::vector<tracked<>> items;
  for (int i = 0; i < 10; ++i) items.emplace_back(i);
  std::uint64_t came = 0;
  if (now([&] {
        for (auto&& r : erased->stream(items)) came += r.has_value() || r.error();
      }))
    now.expect(came >= 8, "a stream loses items");
  auto session = made(now, [&] { return erased->open(); });
  tally all;
  now([&] { session->on_error([](std::uint64_t, const std::exception_ptr&) noexcept {}); });
  for (int i = 0; i < 5; ++i) now([&] { all.pushed += session->push(item.value + i); });
  now([&] { static_cast<void>(session->statistics()); });
  now([&] { session->trace(10); });
  now([&] { static_cast<void>(session->traced()); });
  now([&] { session->reset(); });
  use(now, *session, all);
}

void hot_swap(attack& now) {
  auto& app = app_of<deployed>();
  auto swapped = made(now, [&] { return lv::hot_swap<std::optional<long>(tracked<>)>(any(app)); });
  auto session = made(now, [&] { return swapped->open(); });
  tally all;
  for (int i = 0; i < 12; ++i) {
    if (i % 4 == 3) now([&] { swapped->swap(any(app)); });
    if (i == 1) now([&] { session->measure(); });
    bool taken = false;
    now([&] { taken = i % 2 == 0 ? session->push(tracked<>(i)) : session->try_push(tracked<>(i)); });
    all.pushed += taken;
    for (bool came = true; came;) {
      came = false;
      now([&] {
        if (auto r = session->try_pop()) all.take(*r), came = true;
      });
    }
    session->drain();
    while (auto r = session->try_pop()) all.take(*r);
  }
  use(now, *session, all);
}

void producers(attack& now) {
  auto session = app_of<deployed>().open();
  lv::multi_producer many(session);
  std::atomic<int> pushed{0}, done{0};
  std::atomic<bool> begins{false};
  const auto push = [&](int first) {
    while (!begins) std::this_thread::yield();
    for (int i = 0; i < 4; ++i) {
      try {
        pushed += many.push(tracked<>(first + i));
      } catch (const std::bad_alloc&) {
      }
    }
    ++done;
  };
  std::thread one(push, 0), other(push, 100);
  now([&] {
    begins = true;
    while (done != 2) std::this_thread::yield();
  });
  one.join();
  other.join();
  session.close();
  std::uint64_t delivered = 0, failed = 0;
  while (auto r = session.pop()) ++(*r ? delivered : failed);
  const lv::item_counts c = session.counts();
  now.expect(c.pushed == static_cast<std::uint64_t>(pushed) && c.delivered == delivered && c.failed == failed &&
                 c.in_flight == 0 && c.pushed == delivered + failed + c.filtered,
             "items are lost");
}

// ---- results that are handed out ----

void callbacks(attack& now) {
  auto& app = app_of<deployed>();
  tally all;
  {
    auto take = [&](lv::result<long&>& r) { all.take(r); };
    auto session = made(now, [&] { return lv::callback_session(app.open(), take); });
    for (int i = 0; i < 12; ++i) now([&] { all.pushed += session->push(tracked<>(i)); });
    now([&] { session->drain(); });
    for (int i = 0; i < 4; ++i) all.pushed += session->push(tracked<>(100 + i));
    session->drain();
    now.expect(all.equals(session->counts()), "items are lost");
  }
}

/// What became of items, whatever their order.
struct outcomes {
  std::atomic<std::uint64_t> values{0}, filtered{0}, dropped{0}, cancelled{0}, refused{0}, others{0};
  std::uint64_t all() const { return values + filtered + dropped + cancelled + refused; }

  template <class Get>
  void take(Get get) {
    try {
      get();
      ++values;
    } catch (const lv::no_result& n) {
      ++(n.why == lv::missing::filtered ? filtered : n.why == lv::missing::dropped ? dropped : others);
    } catch (const lv::cancelled&) {
      ++cancelled;
    } catch (const std::bad_alloc&) {
      ++refused;
    } catch (...) {
      ++others;
    }
  }
};

template <auto Make, class... Options>
void futures(attack& now) {
  auto& app = app_of<Make>();
  outcomes all;
  std::vector<std::future<long>> given;
  given.reserve(40);
  lv::item_counts counts;
  {
    auto session = made(now, [&] { return lv::async_session(app.template open<Options...>()); });
    for (int i = 0; i < 12; ++i) now([&] { given.push_back(lv::as_future(session->push_async(tracked<>(i)))); });
    now([&] {
      for (auto& f : given) f.wait();
    });
    for (int i = 0; i < 4; ++i) given.push_back(lv::as_future(session->push_async(tracked<>(100 + i))));
    for (auto& f : given) f.wait();
    do counts = session->counts();
    while (counts.in_flight != 0);
    for (int i = 0; i < 4; ++i) now([&] { given.push_back(lv::as_future(session->push_async(tracked<>(201 + i)))); });
    now([&] { session->cancel(); });
    now([&] { session.reset(); });
  }
  const std::uint64_t pushed = given.size();
  for (auto& f : given) all.take([&] { f.get(); });
  now.expect(counts.in_flight == 0 && counts.cancelled == 0, "items are lost");
  now.expect(all.all() == pushed && all.others == 0 && all.values >= 1, "futures are lost");
  now.expect(sizeof...(Options) != 0 || (all.values >= 3 && all.dropped == 0), "futures are dropped");
}

template <class Session>
lv::test::detached await_one(Session& session, int item, outcomes& all) {
  auto r = co_await session.push_async(tracked<>(item));
  all.take([&] { static_cast<void>(r.value()); });
}

template <auto Make>
void awaitables(attack& now) {
  auto& app = app_of<Make>();
  outcomes all;
  std::uint64_t begun = 0;
  {
    auto session = made(now, [&] { return lv::async_session(app.open()); });
    for (int i = 0; i < 20; ++i)  // more than there are slots
      begun += now([&] { await_one(*session, i, all); });
    now([&] {
      while (all.all() + all.others != begun) std::this_thread::yield();
    });
    for (int i = 0; i < 4; ++i, ++begun) await_one(*session, 100 + i, all);
    while (all.all() + all.others != begun) std::this_thread::yield();
    now.expect(session->counts().in_flight == 0, "items are lost");
    for (int i = 0; i < 12; ++i) begun += now([&] { await_one(*session, 200 + i, all); });
    now([&] { session.reset(); });
  }
  now.expect(all.all() == begun && all.others == 0 && all.values >= 3, "coroutines are lost");
}

struct execution {
  struct sender_concept {};
  struct operation_state_concept {};
  template <class... Value>
  struct completions {};
};
struct receiver {
  outcomes* to;
  void set_value(long&&) && noexcept { ++to->values; }
  void set_error(std::exception_ptr why) && noexcept {
    to->take([&] { std::rethrow_exception(why); });
  }
  void set_stopped() && noexcept { ++to->cancelled; }
};

void senders(attack& now) {
  auto& app = app_of<deployed>();
  using sender = lv::pushed_item<decltype(app.open()), execution>;
  using operation = decltype(std::declval<sender>().connect(receiver{}));
  outcomes all;
  std::uint64_t begun = 0;
  std::vector<std::unique_ptr<operation>> operations;
  operations.reserve(40);
  {
    auto session = made(now, [&] { return lv::async_session(app.open(), execution{}); });
    const auto start = [&](int item) {
      auto sent = session->push_async(tracked<>(item));
      operations.emplace_back(new operation(std::move(sent).connect(receiver{&all})));
      operations.back()->start();
      ++begun;
    };
    for (int i = 0; i < 12; ++i) now([&] { start(i); });
    now([&] {
      while (all.all() + all.others != begun) std::this_thread::yield();
    });
    for (int i = 0; i < 12; ++i) now([&] { start(100 + i); });
    now([&] { session.reset(); });
  }
  now.expect(all.all() == begun && all.others == 0, "operations are lost");
}

void events(attack& now) {
  auto& app = app_of<deployed>();
  auto session = made(now, [&] { return lv::event_session(app.open()); });
  tally all;
  for (int i = 0; i < 8; ++i) now([&] { all.pushed += session->push(tracked<>(i)); });
  session->close();
  while (!session->is_over()) {
    pollfd waiting{session->descriptor(), POLLIN, 0};
    if (::poll(&waiting, 1, 1000) != 1) {
      now.expect(false, "the descriptor is not readable");
      break;
    }
    for (bool came = true; came;) {
      came = false;
      now([&] {
        if (auto r = session->try_pop()) all.take(*r), came = true;
      });
    }
  }
  now.expect(all.equals(session->counts()), "items are lost");
}

// ---- what pipelines are made of ----

std::string text(int i) { return std::string(40, 'x') + std::to_string(i); }

/// An item whose like comes from the heap, copies and those without value included.
struct boxed {
  boxed(int v = -1) : of(std::make_unique<tracked<1>>(v)) {}
  boxed(const boxed& other) : of(std::make_unique<tracked<1>>(*other.of)) {}
  boxed(boxed&& other) : boxed(std::as_const(other)) {}
  boxed& operator=(const boxed& other) {
    *of = *other.of;
    return *this;
  }
  std::unique_ptr<tracked<1>> of;
};

/// Items through a session that is popped whole, and a stream of them; `check(result, counts)` of what came.
template <class App, class Item, class Take>
void run_all(attack& now, App& app, const std::vector<Item>& items, Take take) {
  std::uint64_t streamed = 0;
  if (now([&] {
        streamed = 0;
        for (auto&& r : app.stream(items)) ++streamed, static_cast<void>(r.has_value());
      }))
    now.expect(streamed != 0, "a stream gives nothing");
  auto session = app.open();
  std::uint64_t pushed = 0, delivered = 0, failed = 0;
  const auto pop = [&] {
    while (auto r = session.try_pop()) {
      if (r->has_value()) take(**r);
      ++(*r ? delivered : failed);
    }
  };
  for (const Item& item : items) {
    bool taken = false;
    now([&] { taken = session.push(item); });
    pushed += taken;
    now([&] { session.drain(); });
    pop();
  }
  for (const Item& item : items) {
    pushed += session.push(item);
    session.drain();
    pop();
  }
  session.close();
  bool more = true;
  while (more)
    now([&] {
      const auto r = session.pop();
      more = r.has_value();
      if (!more) return;
      if (r->has_value()) take(**r);
      ++(*r ? delivered : failed);
    });
  for (std::size_t r = 0; r < session.regions(); ++r) {
    const lv::item_counts c = session.counts(r);
    now.expect(c.in_flight == 0 && c.pushed == c.delivered + c.failed + c.filtered + c.dropped, "items are lost");
    if (r == 0) now.expect(c.pushed == pushed, "pushes are lost");
    if (r + 1 == session.regions()) now.expect(c.delivered == delivered && c.failed == failed, "results are lost");
  }
}

auto with_params() {
  return lv::deploy<box, lv::slots<4>>(
      lv::input<tracked<>> |
      lv::params<"group">(lv::stage<"scale">(lv::adjustable<"by">(
          +[](const tracked<>& t, const int& by) { return std::make_unique<int>(t.checked() * by); }, 1))) |
      lv::stage<"value">(+[](const std::unique_ptr<int>& p) { return *p; }));
}
void parameters(attack& now) {
  const auto app = with_params();
  auto session = app.open();
  int by = 1, wrong = 0;
  std::uint64_t pushed = 0, came = 0;
  const auto replace = [&](int next) {
    if (now([&] { app.params<"group">().set<"by">(next); })) by = next;
    int is = 0;
    if (now([&] { app.params<"group">().get<"by">(is); })) now.expect(is == by, "a parameter is half replaced");
  };
  for (int i = 1; i < 9; ++i) {
    if (i % 2 == 0) replace(10 * i);
    bool taken = false;
    now([&] { taken = session.push(tracked<>(i)); });
    pushed += taken;
    if (i % 3 != 0) continue;  // several versions are in flight
    session.drain();
    while (auto r = session.try_pop()) ++came;
    std::optional<int> out;
    if (now([&] { out = app(tracked<>(i)); })) wrong += *out != i * by;
  }
  replace(7);
  pushed += session.push(tracked<>(3));
  session.close();
  int last = 0;
  while (auto r = session.pop()) ++came, last = *r ? **r : 0;
  const lv::item_counts c = session.counts();
  now.expect(c.pushed == pushed && came == pushed && c.in_flight == 0, "items are lost");
  now.expect(wrong == 0 && last == 3 * by && app(tracked<>(3)) == 3 * by, "parameters do not work");
}

auto forked() {
  return lv::deploy<box, lv::slots<4>>(
      lv::input<tracked<>> |
      lv::fork(lv::stage<"text">(+[](const tracked<>& t) { return text(t.checked()); }),
               lv::stage<"block">(+[](const tracked<>& t) { return std::make_unique<int>(t.checked()); })) |
      lv::join<"both">([](const std::string& s, const std::unique_ptr<int>& p) { return s + std::to_string(*p); }));
}
void forks(attack& now) {
  int wrong = 0;
  run_all(now, app_of<forked>(), std::vector<tracked<>>{1, 2, 3, 4, 5},
          [&](const std::string& s) { wrong += s.size() != 42; });
  now.expect(wrong == 0, "a join gives something else");
}

auto batched() {
  return lv::deploy<box, lv::slots<4>>(
      lv::input<boxed> | lv::batch<3> | lv::stage<"copy">(+[](const std::array<boxed, 3>& b) { return b; }) |
      lv::unbatch | lv::repeat<2> | lv::stage<"value">(+[](const boxed& b) { return b.of->checked(); }));
}
void batches(attack& now) {
  int wrong = 0, last = 0, times = 2;
  run_all(now, app_of<batched>(), std::vector<boxed>{1, 2, 3, 4, 5, 6, 7}, [&](int v) {
    wrong += v < 1 || v > 7;
    // A copy that failed is one item; what is not is given twice.
    times = v == last ? times + 1 : 1;
    last = v;
    wrong += times > 4;
  });
  now.expect(wrong == 0, "a batch gives something else");
}

auto rate_forked() {
  return lv::deploy<box, lv::slots<4>>(
      lv::input<int> | lv::stage<"box">(+[](const int& i) { return boxed(i); }) |
      lv::fork(lv::batch<2> | lv::stage<"first">(+[](const std::array<boxed, 2>& b) { return b[0]; }),
               lv::downsample<2> | lv::stage<"text">(+[](const boxed& b) { return text(b.of->checked()); })) |
      lv::join<"both">([](const boxed& b, const std::string& s) { return s == text(b.of->checked()); }));
}
void rate_forks(attack& now) {
  int wrong = 0;
  run_all(now, app_of<rate_forked>(), std::vector<int>{1, 2, 3, 4, 5, 6}, [&](bool same) { wrong += !same; });
  now.expect(wrong == 0, "branches lose their step");
}

using some_boxes = lv::bounded<boxed, 4>;

/// Of some numbers those that are no third one, by way of a branch.
auto taken_apart() {
  return lv::deploy<box, lv::slots<4>>(
      lv::input<some_boxes> |
      lv::for_each<4>(lv::stage<"some">(+[](const boxed& b) -> std::optional<boxed> {
                        if (b.of->checked() % 3 == 0) return std::nullopt;
                        return b;
                      }) |
                      lv::route<"by">([](const boxed& b) { return b.of->checked() % 2; }, lv::identity,
                                      lv::stage<"text">(+[](const boxed& b) {
                                        return boxed(static_cast<int>(text(b.of->checked()).size()) - 41 +
                                                     b.of->checked());
                                      }))) |
      lv::collect | lv::stage<"count">(+[](const some_boxes& all) {
        int sum = 0;
        for (const boxed& b : all) sum = 10 * sum + b.of->checked();
        return sum;
      }));
}
void parts_of_items(attack& now) {
  int wrong = 0;
  some_boxes all;
  for (const int i : {1, 3, 4, 5}) all.push_back(boxed(i));
  run_all(now, app_of<taken_apart>(), std::vector<some_boxes>{all, all}, [&](int sum) { wrong += sum != 145; });
  now.expect(wrong == 0, "parts are lost");
}

auto two_by_two() {
  return lv::deploy<box, lv::slots<4>>(
      lv::graph(lv::port<"name", std::string>, lv::port<"n", int>,
                lv::node<"twice", "n">(lv::stage<"twice">(+[](const int& n) { return 2 * n; })),
                lv::node<"mark", "name">(lv::stage<"mark">([](std::string& s) { s += "!"; })),
                lv::node<"glue", "mark", "n">(
                    lv::join<"glue">([](const std::string& a, const int& b) { return a + "+" + std::to_string(b); })),
                lv::output<"text", "glue">, lv::output<"number", "twice">));
}
void ports(attack& now) {
  auto session = app_of<two_by_two>().open();
  std::uint64_t pushed = 0, texts = 0, numbers = 0;
  int wrong = 0;
  for (int i = 0; i < 8; ++i) {
    const std::string name = text(i);
    bool taken = false;
    now([&] { taken = session.push<"name">(name); });
    if (!taken) taken = session.push<"name">(name);
    taken = false;
    now([&] { taken = session.push<"n">(i); });
    if (!taken) session.push<"n">(i);
    ++pushed;
    now([&] { session.drain(); });
    const auto pop = [&] {
      if (auto r = session.try_pop<"text">()) ++texts, wrong += *r && **r != name + "!+" + std::to_string(i);
      if (auto r = session.try_pop<"number">()) ++numbers, wrong += *r && **r != 2 * i;
    };
    now(pop);
    pop();
  }
  session.close();
  while (session.pop<"text">()) ++texts;
  while (session.pop<"number">()) ++numbers;
  const lv::item_counts c = session.counts();
  now.expect(wrong == 0, "an output gives something else");
  now.expect(c.pushed == pushed && texts == pushed && numbers == pushed && c.in_flight == 0, "items are lost");
}

auto met_by_time() {
  using lv::literals::operator""_ms;
  return lv::deploy<box, lv::slots<4>>(
      lv::sync_by_time<lv::tolerance<2_ms>>(lv::port<"frame", std::string>, lv::port<"imu", boxed>) |
      lv::stage<"values">([](const auto& met) {
        return met.template get<"frame">() == text(met.template get<"imu">().of->checked());
      }));
}
void meetings(attack& now) {
  auto session = made(now, [&] { return app_of<met_by_time>().open(); });
  std::uint64_t pushed = 0, came = 0;
  int wrong = 0;
  const auto captured = [](int i) { return std::chrono::steady_clock::time_point(std::chrono::seconds(i + 1)); };
  const auto pop = [&] {
    while (auto r = session->try_pop()) ++came, wrong += *r && !**r;
  };
  for (int i = 0; i < 8; ++i) {
    bool taken = false;
    now([&] { taken = session->push<"frame">(text(i), captured(i)); });
    pushed += taken;
    taken = false;
    now([&] { taken = session->push<"imu">(boxed(i), captured(i)); });
    now([&] { session->drain(); });
    pop();
  }
  session->close();
  while (auto r = session->pop()) ++came, wrong += *r && !**r;
  const lv::item_counts c = session->counts();
  now.expect(wrong == 0, "others meet");
  now.expect(c.pushed == pushed && came + c.dropped == pushed && c.in_flight == 0, "items are lost");
}

void devices(attack& now) {
  auto& app = app_of<on_device>();
  lv::simulated_device<0>().fails = +[](std::uint64_t item) { return item % 3 == 1; };
  auto session = made(now, [&] { return app.open(); });
  std::uint64_t pushed = 0, came = 0;
  const auto pop = [&] {
    while (auto r = session->try_pop()) ++came;
  };
  for (int i = 0; i < 8; ++i) {
    bool taken = false;
    now([&] {
      taken = session->push(i);
      session->drain();
    });
    pushed += taken;
    pop();
  }
  session->close();
  while (session->pop()) ++came;
  lv::simulated_device<0>().reset();
  const lv::item_counts c = session->counts();
  now.expect(c.pushed == pushed && came == pushed && c.in_flight == 0, "items are lost");
}

void recordings(attack& now) {
  const lv::test::temporary_file file("out_of_memory.recording");
  auto& app = app_of<segments>();
  {
    auto session = app.open();
    auto tape = made(now, [&] { return std::make_unique<lv::recorder<int>>(file.path); });
    std::uint64_t pushed = 0;
    for (int i = 0; i < 4; ++i) now([&] { pushed += (*tape)->push(session, i); });
    now([&] { (*tape)->flush(); });
    session.close();
    while (session.pop()) {
    }
  }
  {
    lv::recorder<int> tape(file.path);
    auto session = app.open();
    for (int i = 0; i < 4; ++i) tape.push(session, i);
    tape.flush();
  }
  const auto replayed = [&] {
    lv::recording<int> from(file.path);
    int count = 0;
    lv::replay(from, app, [&](auto&&, const lv::item_envelope&) { ++count; });
    return count;
  };
  int count = 4;
  now([&] { count = replayed(); });
  now.expect(count == 4 && replayed() == 4, "a recording loses items");
}

}  // namespace

TEST_CASE("deploy and open, where memory is short") {
  auto& of = lv::test::of_memory;
  keep_gates();
  sweep(of, "deploy", &deploy<deployed>);
  sweep(of, "deploy on threads", &deploy<deployed_on_threads>);
  sweep(of, "deploy of segments", &deploy<segments>);
  sweep(of, "open", &open<deployed>);
  sweep(of, "open dedicated", &open<deployed, lv::dedicated>);
  sweep(of, "open realtime", &open<deployed, lv::realtime>);
  sweep(of, "open unordered", &open<deployed, lv::unordered>);
  sweep(of, "open that drops", &open<deployed, lv::overflow<lv::drop_oldest>>);
  sweep(of, "open on threads", &open<deployed_on_threads>);
  sweep(of, "open of segments", &open<segments>, 1);
  sweep(of, "open with a state that can only be moved", &open_owning);
  sweep(of, "open that measures", &open_measured);
  sweep(of, "deploy with a device", &deploy<on_device>);
  sweep(of, "open with a device", &open<on_device>, 1);
  sweep(of, "deploy with equal devices", &deploy<on_equal_devices>, 1);
}

TEST_CASE("calls of an app and a session, where memory is short") {
  auto& of = lv::test::of_memory;
  keep_gates();
  sweep(of, "call", &call);
  sweep(of, "call with a state that can only be moved", &call_owning);
  sweep(of, "push and pop", &push_and_pop<>);
  sweep(of, "push and pop, dedicated", &push_and_pop<lv::dedicated>);
  sweep(of, "push and pop, inline", &push_and_pop<lv::inline_when_idle>);
  sweep(of, "push over the oldest", &push_over<lv::overflow<lv::drop_oldest>>);
  sweep(of, "push of the latest", &push_over<lv::latest_only>);
  sweep(of, "reset", &reset);
  sweep(of, "stream", &stream);
  sweep(of, "measure, trace, statistics", &measure);
  sweep(of, "any_pipeline", &any_pipeline);
  sweep(of, "hot_swap", &hot_swap);
  sweep(of, "multi_producer", &producers);
}

TEST_CASE("results that are handed out, where memory is short") {
  auto& of = lv::test::of_memory;
  keep_gates();
  sweep(of, "callbacks", &callbacks);
  sweep(of, "futures", &futures<deployed>);
  sweep(of, "futures on threads", &futures<deployed_on_threads>);
  sweep(of, "futures of the latest", &futures<deployed, lv::latest_only>);
  sweep(of, "awaitables", &awaitables<deployed>);
  sweep(of, "awaitables on threads", &awaitables<deployed_on_threads>);
  sweep(of, "senders", &senders);
  sweep(of, "events", &events);
}

TEST_CASE("what pipelines are made of, where memory is short") {
  auto& of = lv::test::of_memory;
  keep_gates();
  sweep(of, "deploy with parameters", &deploy_only<with_params>);
  sweep(of, "deploy of rates", &deploy_only<batched>);
  sweep(of, "deploy of branches with rates", &deploy_only<rate_forked>);
  sweep(of, "parameters", &parameters);
  sweep(of, "forks", &forks);
  sweep(of, "batches", &batches, 1);
  sweep(of, "branches with rates", &rate_forks, 1);
  sweep(of, "parts of items", &parts_of_items);
  sweep(of, "ports", &ports);
  sweep(of, "meetings by time", &meetings);
  sweep(of, "devices that fail", &devices, 1);
  sweep(of, "recordings", &recordings, 1);
}

TEST_CASE("threads that the system does not give") {
  auto& of = lv::test::of_threads;
  keep_gates();
  sweep(of, "deploy on threads", &deploy<deployed_on_threads>);
  sweep(of, "deploy with a device", &deploy<on_device>);
  sweep(of, "deploy with equal devices", &deploy<on_equal_devices>);
  sweep(of, "open dedicated", &open<deployed, lv::dedicated>);
  sweep(of, "open realtime", &open<deployed, lv::realtime>);
  sweep(of, "open unordered", &open<deployed, lv::unordered>);
  sweep(of, "callbacks", &callbacks);
  sweep(of, "futures", &futures<deployed>);
  sweep(of, "awaitables", &awaitables<deployed>);
  sweep(of, "events", &events);
  attack now(of, 1, false);
  std::string said;
  now([&] {
    try {
      static_cast<void>(app_of<deployed>().open<lv::dedicated>());
    } catch (const lv::error& e) {
      said = e.what();
    }
  });
  CHECK(said.starts_with("levada: the system gives no thread for the worker of a session: "));
}

TEST_CASE("a trace of more events than memory holds is refused, and the session goes on as before") {
  auto session = app_of<deployed>().open();
  tally all;
  session.trace(8);
  for (const int shift : {43, 57, 58, 60, 62, 63}) {
    CHECK_THROWS_AS(session.trace(std::size_t{1} << shift), std::bad_alloc);
    all.pushed += session.push(tracked<>(shift));
    session.drain();
    while (auto r = session.try_pop()) all.take(*r);
  }
  CHECK(session.traced().events.size() >= 8);
  session.trace(16);
  attack nothing(lv::test::of_memory, 0, false);
  use(nothing, session, all);
  CHECK(nothing.wrong() == nullptr);
  CHECK(session.traced().events.size() > 0);
}
