// SPDX-License-Identifier: Apache-2.0
// Capture times of items whose part runs on another machine: there they are times of the clock there.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/detail/far_clock.hpp>
#include <levada/remote/in_process.hpp>

#include "remote/odd_ends.hpp"
#include "run/progress.hpp"

namespace remote_item_times {

namespace lv = levada;
using namespace lv::literals;
using namespace std::chrono_literals;
using lv::detail::frame_kind;
using lv::test::odd_end;
using lv::test::odd_node;

using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
using v1 = lv::version<"1">;
using clock_here = std::chrono::steady_clock;
using time_point = clock_here::time_point;

std::int64_t count(time_point at) { return at.time_since_epoch().count(); }

/// Gives the capture time that the stage there sees.
auto seen_there() {
  return lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"see">(
                              [](const int&, const lv::item_envelope& e) { return count(e.captured); }));
}

TEST_CASE("a far clock is known by the answer that came soonest") {
  using lv::detail::far_clock;
  far_clock far;
  const time_point start = time_point() + 100s;
  const auto ask = [&](std::chrono::nanoseconds at, std::chrono::nanoseconds way, std::uint64_t there) {
    CHECK(far.is_due(start + at));
    far.ask(start + at);
    CHECK(!far.is_due(start + at + 1h));
    far.answer(there, start + at + way);
  };
  const auto there = [&] { return far.there(start) - 100'000'000'000u; };  // how far it is ahead
  ask(0s, 10ms, 5'105'000'000'000u);  // in the middle of the way, at 100.005 s, it says 5105 s
  CHECK(there() == 5'004'995'000'000u);
  ask(1s, 2ms, 5'106'000'000'000u);
  CHECK(there() == 5'004'999'000'000u);
  ask(2s, 4ms, 5'000'000'000'000u);  // says less
  CHECK(there() == 5'004'999'000'000u);
  ask(3s, 2ms, 3u);  // before zero, in numbers that wrap around
  CHECK(there() == 3u - 103'001'000'000u);
  CHECK(!far.is_due(start + 12s));
  ask(13s, 2900us, 5'118'000'000'000u);  // within what a clock drifts in ten seconds
  CHECK(there() == 5'118'000'000'000u - 113'001'450'000u);
  CHECK_THROWS_WITH_AS(far.answer(0, start + 14s), "levada: a node tells a time that nobody asked for", lv::wire_error);
}

TEST_CASE("a stage on another machine sees when its item was captured") {
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(seen_there(), {by, "a"});
  const auto app = lv::deploy<box, v1>(seen_there(), lv::endpoints<"edge">{by, {"a"}});
  const time_point opened = clock_here::now();
  auto session = app.open();
  const auto sees = [&](time_point at) {
    session.push(1, at);
    const std::int64_t seen = session.pop()->value();
    // The machine is the same: what is seen is off by half of what the quickest answer took, at most.
    const std::int64_t most = (clock_here::now() - opened).count();
    CHECK(seen <= count(at) + most);
    CHECK(seen >= count(at) - most);
  };
  sees(clock_here::now());
  sees(opened - 1h);
  session.push(1);
  CHECK(session.pop()->value() == 0);  // none was told
  by->cut("a");
  sees(opened - 1h);
  CHECK(app(1) == 0);
}

TEST_CASE("capture times of a session with a clock of its own stay as they are") {
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(seen_there(), {by, "a"});
  const auto app = lv::deploy<box, v1>(seen_there(), lv::endpoints<"edge">{by, {"a"}});
  const lv::virtual_clock clock(time_point() + 7s);
  auto session = app.open(clock);
  session.push(1, time_point() - 5ns);
  session.push(1);
  CHECK(session.pop()->value() == -5);
  CHECK(session.pop()->value() == 7'000'000'000);
}

TEST_CASE("a driver asks what time it is there, and no item leaves before it knows") {
  const auto by = std::make_shared<lv::in_process>();
  odd_node node(*by);
  std::thread greeter([&] { node.next().send(frame_kind::welcome, 4, ""); });  // the driver's question
  const auto app = lv::deploy<box, v1>(seen_there(), lv::endpoints<"edge">{by, {"a"}});
  greeter.join();
  const time_point opened = clock_here::now();
  auto session = app.open<lv::dedicated>();
  const time_point at = clock_here::now();
  session.push(21, at);
  odd_end& end = node.next();
  CHECK(end.came().front().text.find("items int32, with capture times") != std::string::npos);
  end.send(frame_kind::welcome, 4, "");
  REQUIRE(end.has(frame_kind::clock));
  CHECK(end.came().size() == 2);
  const std::uint64_t ahead = 1'000'000'000'000'000;
  const auto tell = [&] { end.send(frame_kind::clock, lv::detail::time_on_wire(clock_here::now()) + ahead, ""); };
  tell();
  const auto items = [&] {
    std::vector<odd_end::message> all;
    for (const auto& m : end.came())
      if (m.kind == frame_kind::item) all.push_back(m);
    return all;
  };
  REQUIRE(lv::test::eventually([&] { return items().size() == 1; }));
  const auto most = (clock_here::now() - opened).count();
  const std::string text = items().front().text;
  REQUIRE(text.size() == 12);
  std::uint64_t capture = 0;
  for (std::size_t i = 0; i < 8; ++i) capture |= std::uint64_t{static_cast<unsigned char>(text[i])} << 8 * i;
  const auto off = static_cast<std::int64_t>(capture - ahead - lv::detail::time_on_wire(at));
  CHECK(off <= most);
  CHECK(off >= -most);
  const std::int64_t result = 5;
  end.send(frame_kind::value, 0, {reinterpret_cast<const char*>(&result), sizeof result});
  CHECK(session.pop()->value() == 5);

  // It asks four times at first; an answer that nobody asked for ends the connection.
  for (std::size_t asked = 1; asked < 4; ++asked) {
    REQUIRE(lv::test::eventually([&] {
      std::size_t questions = 0;
      for (const auto& m : end.came()) questions += m.kind == frame_kind::clock ? 1u : 0u;
      return questions == asked + 1;
    }));
    CHECK(!end.is_closed());
    tell();
  }
  tell();
  CHECK(lv::test::eventually([&] { return end.is_closed(); }));
}

std::atomic<int> calls{0};
std::atomic<bool> held{false};  ///< the stage waits while it is so

using lone_box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<1>>>;
auto counted() {
  return lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"count">([](int x) {
           calls.fetch_add(1);
           while (held.load()) std::this_thread::yield();
           return x;
         }));
}
constexpr std::string_view hello =
    "wire format 4\nbyte order little\nversion 1\ndevice edge\nitems int32\nresults int32\nstage count: count(4 bytes) "
    "-> 4 bytes\n";

/// An item's message, with when it was captured.
std::string captured_at(time_point at, int item) {
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(lv::detail::time_on_wire(at) >> 8 * i));
  return bytes + lv::test::bytes_of(item);
}

TEST_CASE("a node does not run what is past its deadline, and says so") {
  lv::in_process by;
  const lv::remote_node node =
      lv::serve<lone_box, "edge", v1>(counted(), {std::shared_ptr<lv::transport>(&by, [](auto*) {}), "a"});
  calls = 0;
  held = false;
  odd_end driver;
  driver.connect(by);
  driver.send(frame_kind::hello, std::chrono::nanoseconds(1h).count(), hello);
  REQUIRE(driver.has(frame_kind::welcome));
  const time_point now = clock_here::now();
  driver.send_with(1, captured_at(now, 5));
  CHECK(driver.has(frame_kind::value));
  driver.send_with(1, captured_at(now - 2h, 6));
  CHECK(driver.has(frame_kind::overdue));
  CHECK(calls == 1);
  // Deadlines are looked at when a stage would begin, behind others of its items, too.
  held = true;
  driver.send_with(1, captured_at(clock_here::now(), 7));
  CHECK(lv::test::eventually([&] { return calls == 2; }));
  driver.send_with(1, captured_at(clock_here::now() - 1h + 50ms, 8));
  std::this_thread::sleep_for(60ms);
  held = false;
  CHECK(driver.has(frame_kind::overdue));
  CHECK(calls == 2);
  driver.end();

  odd_end wrong;
  wrong.connect(by);
  wrong.send(frame_kind::hello, ~std::uint64_t{0}, hello);
  CHECK(wrong.refusal() == "a deadline that no item could miss");
  wrong.end();
}

TEST_CASE("what a node drops is dropped at the driver, too") {
  const auto by = std::make_shared<lv::in_process>();
  odd_node node(*by);
  std::thread greeter([&] { node.next().send(frame_kind::welcome, 4, ""); });  // the driver's question
  const auto app = lv::deploy<lone_box, v1>(counted(), lv::endpoints<"edge">{by, {"a"}});
  greeter.join();
  const auto welcomed = [&]() -> odd_end& {
    odd_end& end = node.next();
    end.send(frame_kind::welcome, 4, "");
    return end;
  };
  {
    auto session = app.open<lv::dedicated, lv::deadline<3600_s>>();
    session.push(1);
    odd_end& end = welcomed();
    CHECK(end.came().front().item == 3'600'000'000'000);
    REQUIRE(end.has(frame_kind::clock));
    end.send(frame_kind::clock, 77, "");
    REQUIRE(lv::test::eventually([&] { return end.came().back().text.size() == 12; }));
    end.send(frame_kind::overdue, 0, "");
    session.drain();
    CHECK(session.counts().drops.overdue == 1);
    CHECK(!session.try_pop());
    session.push(2, clock_here::now() - 2h);  // it does not leave
    session.drain();
    CHECK(session.counts().drops.overdue == 2);
    CHECK(end.came().back().item == 0);
  }
  // Only where there is a deadline.
  auto session = app.open<lv::dedicated>();
  session.push(1);
  odd_end& end = welcomed();
  CHECK(end.came().front().item == 0);
  REQUIRE(end.has(frame_kind::item));
  end.send(frame_kind::overdue, 0, "");
  CHECK(lv::test::eventually([&] { return end.is_closed(); }));
}

TEST_CASE("a session with a deadline counts what its node dropped, and gives the rest in order") {
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<lone_box, "edge", v1>(counted(), {by, "a"});
  const auto app = lv::deploy<lone_box, v1>(counted(), lv::endpoints<"edge">{by, {"a"}});
  const time_point start = clock_here::now();
  auto session = app.open<lv::dedicated, lv::deadline<600_s>>();
  calls = 0;
  held = true;
  // Every other is late in a tenth of a second, most of them on the node; or, on a machine that is busy, before.
  for (int i = 0; i < 20; ++i) session.push(i, i % 2 == 0 ? start : start - 600s + 100ms);
  CHECK(lv::test::eventually([&] { return calls.load() > 0; }));
  // The node's times are off by half of what an answer took, at most.
  const time_point late_there = start + 100ms + (clock_here::now() - start);
  while (clock_here::now() < late_there) std::this_thread::yield();
  held = false;
  for (int i = 0; i < 20; i += 2) CHECK(session.pop()->value() == i);
  session.close();
  CHECK(!session.pop());
  CHECK(session.counts().drops.overdue == 10);
  CHECK(calls.load() == 10);
}

TEST_CASE("the deadline of a session with a clock of its own is looked at by its driver alone") {
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<lone_box, "edge", v1>(counted(), {by, "a"});
  const auto app = lv::deploy<lone_box, v1>(counted(), lv::endpoints<"edge">{by, {"a"}});
  lv::virtual_clock clock(time_point() + 1s);
  auto session = app.open<lv::deadline<10_ms>>(clock);
  session.push(1);
  CHECK(session.pop()->value() == 1);
  session.push(2, time_point() + 1ns);
  session.drain();
  CHECK(session.counts().drops.overdue == 1);
}

}  // namespace remote_item_times
