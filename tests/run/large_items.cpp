// SPDX-License-Identifier: Apache-2.0
// Items of 4 MiB on threads whose stack is 256 KiB: no item, intermediate or result of the pipeline lies on a stack.

#include <doctest/doctest.h>

#include <pthread.h>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <levada/interop/as_future.hpp>
#include <levada/run/async_session.hpp>
#include <levada/run/callback_session.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/event_session.hpp>
#include <levada/run/hot_swap.hpp>
#include <levada/run/simulated.hpp>

#include <detached.hpp>

namespace run_large_items {

namespace lv = levada;

struct large {
  unsigned char bytes[4 << 20];
};

/// Calls `f` on a thread with a stack of 256 KiB.
template <class F>
void on_a_small_stack(F f) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 << 10) == 0);
  pthread_t thread;
  const auto call = [](void* argument) -> void* {
    (*static_cast<F*>(argument))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, call, &f) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

auto pipeline() {
  return lv::input<large> |
         lv::stage<"copy", large>([](const large& in, large& out) { std::memcpy(&out, &in, sizeof in); }) |
         lv::stage<"change">([](large& l) { l.bytes[(4 << 20) - 1] += 1; }) |
         lv::stage<"again", large>([n = 0](const large& in, large& out) mutable {
           std::memcpy(&out, &in, sizeof in);
           out.bytes[0] = static_cast<unsigned char>(++n);
         });
}
auto to_number() {
  return lv::stage<"look">([](const large& l) { return l.bytes[0] + 256 * l.bytes[(4 << 20) - 1]; });
}

TEST_CASE("large items in an inline call, a stream and a session do not lie on the stack") {
  const auto item = std::make_unique<large>();
  item->bytes[(4 << 20) - 1] = 6;
  on_a_small_stack([&] {
    const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(pipeline() | to_number());
    CHECK(app(*item) == 1 + 256 * 7);
    CHECK(app(*item) == 2 + 256 * 7);
    const std::vector<large> items(3, *item);
    int n = 0;
    for (auto& r : app.stream(items)) CHECK(r.value() == ++n + 256 * 7);
    CHECK(n == 3);
    auto session = app.open();
    session.push(*item);
    CHECK(session.try_push(*item));
    CHECK(session.pop()->value() == 1 + 256 * 7);
    CHECK(session.pop()->value() == 2 + 256 * 7);
  });
}

TEST_CASE("large items through a device do not lie on the stack") {
  const auto item = std::make_unique<large>();
  on_a_small_stack([&] {
    const auto app = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>, lv::slots<4>>(
        pipeline() | lv::on<lv::simulated<0>>(lv::stage<"far">([](large& l) { ++l.bytes[0]; })) | to_number());
    CHECK(app(*item) == 2 + 256 * 1);
    int n = 0;
    for (auto& r : app.stream(std::vector<large>(5, *item))) CHECK(r.value() == ++n + 1 + 256 * 1);
    CHECK(n == 5);
  });
}

TEST_CASE("large results of a stream are looked at where they are") {
  const auto item = std::make_unique<large>();
  on_a_small_stack([&] {
    const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(pipeline());
    int n = 0;
    for (auto& r : app.stream(std::vector<large>(5, *item))) CHECK(r->bytes[0] == ++n);
    CHECK(n == 5);
  });
}

TEST_CASE("a large result of an inline call is written where the caller wants it") {
  const auto item = std::make_unique<large>(), into = std::make_unique<large>();
  on_a_small_stack([&] {
    const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(pipeline());
    CHECK(app(*item, *into));
    CHECK(into->bytes[0] == 1);
    const auto far = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>, lv::slots<4>>(
        pipeline() | lv::on<lv::simulated<0>>(lv::stage<"far">([](large& l) { ++l.bytes[0]; })));
    CHECK(far(*item, *into));
    CHECK(into->bytes[0] == 2);
  });
}

TEST_CASE("large results are popped where they lie, and held together until each ends") {
  const auto item = std::make_unique<large>();
  on_a_small_stack([&] {
    const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(pipeline());
    auto session = app.open();
    static_assert(std::same_as<decltype(session.pop()), std::optional<lv::slot_result<large>>>);
    for (int n = 1; n <= 20; ++n) {  // one after the other, by one thread
      session.push(*item);
      if (n % 3 == 0) session.drain();
      lv::item_envelope envelope;
      const auto r = n % 3 == 0 ? session.try_pop(envelope) : session.pop();
      REQUIRE(r);
      CHECK(r->value().bytes[0] == n);
      CHECK((*r)->bytes[0] == n);
      CHECK(session.counts().delivered == static_cast<std::uint64_t>(n));
      CHECK(session.credits() == 3);  // it has its slot
      if (n % 3 == 0) CHECK(envelope.sequence == static_cast<std::uint64_t>(n - 1));
    }
    CHECK(session.credits() == 4);
    for (int n = 0; n < 4; ++n) session.push(*item);
    auto first = session.pop(), second = session.pop(), third = session.pop();
    CHECK(first->value().bytes[0] == 21);
    CHECK(second->value().bytes[0] == 22);
    CHECK(third->value().bytes[0] == 23);
    CHECK(session.credits() == 0);
    second.reset();
    CHECK(session.credits() == 0);  // in the order of items
    first = session.pop();
    CHECK(first->value().bytes[0] == 24);
    CHECK(session.credits() == 2);
    CHECK(third->value().bytes[0] == 23);
    session.push(*item);
    session.push(*item);
    second = session.pop();
    auto last = session.pop();
    CHECK(last->value().bytes[0] == 26);
    CHECK_THROWS_WITH_AS(static_cast<void>(session.pop()),
                         "levada: pop: every slot is held by a result that was popped before", lv::error);
    third.reset();
    first.reset();
    CHECK(session.credits() == 2);
    session.close();
    CHECK_FALSE(session.is_over());
    second.reset();
    last.reset();
    CHECK(session.is_over());
    CHECK_FALSE(session.pop());
    CHECK(session.counts().in_flight == 0);
  });
}

TEST_CASE("failed and filtered items lie between large results that are held") {
  on_a_small_stack([&] {
    const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<6>>(
        lv::input<int> | lv::stage<"some">([](const int& n) -> std::optional<int> {
          if (n % 3 == 2) return std::nullopt;
          return n;
        }) |
        lv::stage<"make", large>([](const int& n, large& out) {
          if (n % 3 == 0) throw std::runtime_error("third");
          out.bytes[0] = static_cast<unsigned char>(n);
        }));
    auto session = app.open();
    std::jthread pusher([&] {
      for (int n = 0; n < 60; ++n) session.push(n);
      session.close();
    });
    int values = 0, failures = 0;
    std::optional<lv::slot_result<large>> before;
    while (auto r = session.pop()) {
      if (r->has_value())
        CHECK((*r)->bytes[0] == 1 + 3 * values++);
      else
        ++failures;
      if (before && before->has_value()) CHECK((*before)->bytes[0] % 3 == 1);
      before = std::move(r);
    }
    before.reset();
    CHECK(values == 20);
    CHECK(failures == 20);
    const auto c = session.counts();
    CHECK(c.delivered == 20);
    CHECK(c.failed == 20);
    CHECK(c.filtered == 20);
    CHECK(c.in_flight == 0);
  });
}

TEST_CASE("a large result whose value has an end is ended once") {
  struct living {
    std::shared_ptr<int> life;
    large l;
  };
  const auto life = std::make_shared<int>(0);
  on_a_small_stack([&] {
    const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(
        lv::input<int> | lv::stage<"live", living>([life](const int& n, living& out) {
          out.life = life;
          out.l.bytes[0] = static_cast<unsigned char>(n);
        }));
    auto session = app.open();
    const auto of_session = life.use_count();
    for (int n = 0; n < 30; ++n) {
      session.push(n);
      const auto r = session.pop();
      CHECK(r->value().l.bytes[0] == n);
      CHECK(life.use_count() == of_session + 1);
    }
    CHECK(life.use_count() == of_session);
  });
}

TEST_CASE("large results of ports, of pipelines known by their types, of callbacks, futures, awaitables and events") {
  const auto item = std::make_unique<large>();
  on_a_small_stack([&] {
    const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(pipeline());
    {
      const lv::any_pipeline<large(large)> any(app);
      auto session = any.open();
      for (int n = 1; n <= 9; ++n) {
        session.push(*item);
        CHECK(session.pop()->value().bytes[0] == n);
      }
      int n = 0;
      for (auto& r : any.stream(std::vector<large>(3, *item))) CHECK(r->bytes[0] == ++n);
      const lv::hot_swap<large(large)> hot(any);
      auto swapping = hot.open();
      for (n = 1; n <= 9; ++n) {
        swapping.push(*item);
        CHECK(swapping.pop()->value().bytes[0] == n);
      }
    }
    {
      std::atomic<int> sum{0};
      lv::callback_session session(app.open(), [&](lv::result<large&>& r) { sum += r->bytes[0]; });
      for (int n = 0; n < 4; ++n) session.push(*item);
      session.drain();
      CHECK(sum.load() == 10);
    }
    {
      lv::async_session session(app.open());
      const std::shared_future<large> f = lv::as_future(session.push_async(*item));
      CHECK(f.get().bytes[0] == 1);
    }
    {
      lv::event_session session(app.open());
      session.push(*item);
      int popped = 0;
      while (popped == 0)
        if (const auto r = session.try_pop()) popped = r->value().bytes[0];
      CHECK(popped == 1);
    }
    {
      lv::async_session session(app.open());
      std::atomic<int> seen{-1};
      using task = lv::test::detached;
      const auto await = [](auto& of, const large& given, std::atomic<int>& to) -> task {
        const auto r = co_await of.push_async(given);
        to = r->bytes[0];
        to.notify_all();
      };
      await(session, *item, seen);
      seen.wait(-1);
      CHECK(seen.load() == 1);
    }
    {
      const auto two = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(
          lv::graph(lv::port<"n", int>, lv::node<"big", "n">(lv::stage<"fill", large>([](const int& n, large& out) {
                      if (n == 5) throw std::runtime_error("five");
                      out.bytes[0] = static_cast<unsigned char>(n);
                    })),
                    lv::node<"small", "n">(lv::stage<"twice">([](const int& n) { return 2 * n; })),
                    lv::output<"big", "big">, lv::output<"small", "small">));
      auto session = two.open();
      for (int n = 0; n < 10; ++n) {
        session.push(n);
        CHECK(session.pop<"small">()->has_value() == (n != 5));
        if (n % 2 == 0) session.drain();
        const auto r = n % 2 == 0 ? session.try_pop<"big">() : session.pop<"big">();
        CHECK(session.credits() == (n == 5 ? 4 : 3));
        if (n != 5) CHECK(r->value().bytes[0] == n);
      }
      for (int n = 10; n < 14; ++n) session.push(n);
      auto first = session.pop<"big">(), second = session.pop<"big">();
      for (int n = 10; n < 14; ++n) CHECK(**session.pop<"small">() == 2 * n);
      CHECK(session.credits() == 0);
      first.reset();
      CHECK(session.credits() == 1);
      auto third = session.pop<"big">();
      CHECK((*second)->bytes[0] == 11);
      CHECK((*third)->bytes[0] == 12);
    }
    {
      const auto two = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(
          lv::graph(lv::port<"n", int>, lv::node<"big", "n">(lv::stage<"fill", large>([](const int& n, large& out) {
                      out.bytes[0] = static_cast<unsigned char>(n);
                    })),
                    lv::node<"small", "n">(lv::stage<"twice">([](const int& n) { return 2 * n; })),
                    lv::output<"big", "big">, lv::output<"small", "small">));
      auto session = two.open();
      session.push(3);
      const auto whole = session.pop();
      CHECK(whole->value().get<"big">().bytes[0] == 3);
      CHECK(whole->value().get<"small">() == 6);
    }
  });
}

}  // namespace run_large_items
