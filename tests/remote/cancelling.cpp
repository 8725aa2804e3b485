// SPDX-License-Identifier: Apache-2.0
// Sessions that are cancelled while their items are on another machine.

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

#include "fuzz/frame_property.hpp"
#include "run/progress.hpp"

namespace remote_cancelling {

namespace lv = levada;
using levada_test::words;

using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<1>>>;
using v1 = lv::version<"1">;

std::atomic<int> calls{0}, returns{0};
std::atomic<bool> held{false};  ///< the stage waits while it is so

/// Its items and results own memory.
auto spoken() {
  return lv::input<int> |
         lv::stage<"say">([](int n) { return words{{std::string(static_cast<std::size_t>(30 + n), 'a')}}; }) |
         lv::on<lv::remote<"edge">>(lv::stage<"answer">([](const words& w) {
           calls.fetch_add(1);
           while (held.load()) std::this_thread::yield();
           returns.fetch_add(1);
           return w;
         })) |
         lv::stage<"count">([](const words& w) { return w.all.front().size(); });
}

/// Until each item is accounted for.
template <class Session>
lv::item_counts ended(Session& session) {
  while (session.pop()) {
  }
  return session.counts();
}

TEST_CASE(
    "a cancelled session does not wait for its node, which runs nothing "
    "more of it") {
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(spoken(), {by, "a"});
  const auto app = lv::deploy<box, v1>(spoken(), lv::endpoints<"edge">{by, {"a"}});
  calls = returns = 0;
  const auto waits_there = [&](auto& session) {
    const int before = calls.load();
    held = true;
    for (int i = 0; i < 10; ++i) session.push(i);
    CHECK(lv::test::eventually([&] { return calls.load() > before; }));
  };
  const auto lets_go = [&] {  // what has begun there
    CHECK(lv::test::eventually([&] { return node.sessions() == 0; }));
    held = false;
    CHECK(lv::test::eventually([&] { return returns == calls; }));
  };
  {
    auto session = app.open<lv::dedicated>();
    waits_there(session);
    session.cancel();
    CHECK(ended(session).cancelled == 10);  // the stage waits on
  }
  lets_go();
  {
    std::stop_source stop;
    auto session = app.open<lv::dedicated>(stop.get_token());
    waits_there(session);
    stop.request_stop();
    CHECK(ended(session).cancelled == 10);
  }
  lets_go();
  {
    auto session = app.open<lv::dedicated>();
    waits_there(session);
  }  // which ends with its items on their way
  lets_go();
  auto session = app.open();
  session.push(1);
  CHECK(session.pop()->value() == 31);
  CHECK(calls == 4);
}

TEST_CASE("items that wait for a node are cancelled with their session") {
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(spoken(), {by, "a"});
  const auto app = lv::deploy<box, v1>(spoken(), lv::endpoints<"edge">{by, {"a"}});
  held = false;
  by->set_gone("a");
  auto session = app.open<lv::dedicated>();
  for (int i = 0; i < 10; ++i) session.push(i);
  session.cancel();
  CHECK(ended(session).cancelled == 10);
  by->set_gone("a", false);
  CHECK(node.sessions() == 0);
}

TEST_CASE("whenever a session is cancelled, each item is delivered or cancelled") {
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(spoken(), {by, "a"});
  const auto app = lv::deploy<box, v1>(spoken(), lv::endpoints<"edge">{by, {"a"}});
  held = false;
  for (int round = 0; round < 200; ++round) {
    auto session = app.open<lv::dedicated>();
    std::atomic<int> pushed{0};
    std::thread other([&] {
      while (pushed.load() < round % 40) std::this_thread::yield();
      session.cancel();
    });
    try {
      for (int i = 0; i < 60; ++i) {
        session.push(i);
        ++pushed;
      }
    } catch (const lv::cancelled&) {
    }
    other.join();
    const lv::item_counts counts = ended(session);
    CHECK(counts.delivered + counts.cancelled == counts.pushed);
    CHECK(counts.in_flight == 0);
  }
}

}  // namespace remote_cancelling
