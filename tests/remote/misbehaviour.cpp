// SPDX-License-Identifier: Apache-2.0
// Drivers and nodes that do not do what they should: each is refused or closed, and nobody else notices.

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/detail/frame.hpp>
#include <levada/remote/in_process.hpp>

#include "fuzz/frame_property.hpp"
#include "remote/odd_ends.hpp"
#include "run/progress.hpp"

namespace remote_misbehaviour {

namespace lv = levada;
using lv::detail::frame_kind;
using lv::test::bytes_of;
using lv::test::odd_end;
using lv::test::odd_node;

using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
using v1 = lv::version<"1">;

std::atomic<bool> behaviour_held{false};  ///< the stage waits while it is so

auto doubled() {
  return lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"twice">([](int x) {
           while (behaviour_held.load()) std::this_thread::yield();
           return 2 * x;
         }));
}
constexpr std::string_view hello =
    "wire format 4\nbyte order little\nversion 1\ndevice edge\nitems int32\nresults int32\nstage twice: twice(4 bytes) "
    "-> 4 bytes\n";

class kept_lines final : public lv::log_sink {
 public:
  void write(lv::log_level, std::string_view line) noexcept override {
    const std::lock_guard lock(mutex_);
    last_ = line;
  }
  std::string last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  std::mutex mutex_;
  std::string last_;
};

int int_of(const std::string& bytes) { return *reinterpret_cast<const int*>(bytes.data()); }

TEST_CASE("a node refuses what is no greeting, and those that greet with something else") {
  lv::in_process by;
  const lv::remote_node node =
      lv::serve<box, "edge", v1>(doubled(), {std::shared_ptr<lv::transport>(&by, [](auto*) {}), "a"});
  const auto refusal = [&](auto say) {
    odd_end driver;
    driver.connect(by);
    say(driver);
    const std::string text = driver.refusal();
    driver.end();
    return text;
  };
  CHECK(refusal([](odd_end& d) { d.send("GET / HTTP/1.1\r\n"); }) == "levada: a message of no known kind");
  CHECK(refusal([](odd_end& d) { d.send("abc"); }) == "levada: a message ends before what it should hold");
  CHECK(refusal([](odd_end& d) { d.send(frame_kind::item, 0, bytes_of(1)); }) ==
        "levada: the first message is no greeting");
  CHECK(refusal([](odd_end& d) { d.send(frame_kind::hello, 0, "hello"); }) ==
        "they are programs that differ: the driver has `hello`, and the node `wire format 4`");
  CHECK(refusal([](odd_end& d) { d.send(frame_kind::hello, 0, std::string(70'000, 'x')); }) ==
        "levada: a message with a longer text than it may have");
  CHECK(node.sessions() == 0);
}

TEST_CASE("a node closes drivers that break off from what was agreed, and serves others on") {
  lv::in_process by;
  const lv::remote_node node =
      lv::serve<box, "edge", v1, lv::slots<8>>(doubled(), {std::shared_ptr<lv::transport>(&by, [](auto*) {}), "a"});
  odd_end good;
  good.connect(by);
  good.send(frame_kind::hello, 0, hello);
  REQUIRE(good.has(frame_kind::welcome));
  CHECK(good.came().front().item == 8);

  kept_lines log;
  lv::log_to(&log);
  const auto closed_by = [&](auto say) {
    odd_end driver;
    driver.connect(by);
    driver.send(frame_kind::hello, 0, hello);
    CHECK(driver.has(frame_kind::welcome));
    say(driver);
    CHECK(levada::test::eventually([&] { return driver.is_closed(); }));
    driver.end();
    return log.last().substr(log.last().find("levada: "));
  };
  const std::string length = "levada: an item has another number of bytes than its type";
  CHECK(closed_by([](odd_end& d) { d.send(frame_kind::item, 0, "abc"); }) == length);
  CHECK(closed_by([](odd_end& d) { d.send(frame_kind::item, 0, "abcdefgh"); }) == length);
  CHECK(closed_by([](odd_end& d) { d.send_with(1, std::string(8, '\x7f') + bytes_of(1)); }) ==
        "levada: an item that was captured at no time there is");
  CHECK(closed_by([](odd_end& d) { d.send_with(1, "abc"); }) == "levada: a message ends before what it should hold");
  CHECK(closed_by([](odd_end& d) { d.send_with(1, std::string(8, '\0')); }) == length);
  CHECK(closed_by([](odd_end& d) { d.send_with(0x80, bytes_of(1)); }) ==
        "levada: a message whose header says what is not known");
  CHECK(closed_by([](odd_end& d) { d.send(frame_kind::value, 0, bytes_of(1)); }) ==
        "levada: a driver sends what only a node does");
  CHECK(closed_by([](odd_end& d) { d.send("\x01"); }) == "levada: a message ends before what it should hold");
  behaviour_held = true;
  CHECK(closed_by([](odd_end& d) {
          for (std::uint64_t i = 0; i < 9; ++i) d.send(frame_kind::item, i, bytes_of(1));
          CHECK(levada::test::eventually([&] { return d.is_closed(); }));
          behaviour_held = false;
        }) == "levada: a driver sends more items than were asked for");
  lv::log_to(nullptr);

  good.send(frame_kind::item, 77, bytes_of(21));
  REQUIRE(good.has(frame_kind::value));
  CHECK(good.came().back().item == 77);
  CHECK(int_of(good.came().back().text) == 42);
  // What time it is there may be asked by anybody, and a capture time is taken where no stage looks at it.
  good.send(frame_kind::clock, 0, "");
  CHECK(good.has(frame_kind::clock));
  good.send_with(1, std::string(8, '\0') + bytes_of(4));
  REQUIRE(levada::test::eventually([&] { return good.came().size() == 4; }));
  CHECK(good.came().back().kind == frame_kind::value);
  CHECK(int_of(good.came().back().text) == 8);
  good.end();
  CHECK(levada::test::eventually([&] { return node.sessions() == 0; }));
}

TEST_CASE("a driver leaves a node that answers wrongly, and gives its items to the next") {
  const auto by = std::make_shared<lv::in_process>();
  odd_node node(*by);
  std::thread greeter([&] { node.next().send(frame_kind::welcome, 4, ""); });  // the driver's probe
  auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {"a"}});
  greeter.join();
  auto session = app.open<lv::dedicated>();
  session.push(21);
  const auto welcomed = [&]() -> odd_end& {
    for (;;) {
      odd_end& end = node.next();
      end.send(frame_kind::welcome, 4, "");
      if (!end.has(frame_kind::item)) continue;
      CHECK(int_of(end.came().back().text) == 21);
      return end;
    }
  };
  const auto leaves_after = [&](auto say) {
    odd_end& end = welcomed();
    say(end);
    return levada::test::eventually([&] { return end.is_closed(); });
  };
  // What only a driver says, that there is no result where each item has one, and of an item that it has not.
  CHECK(leaves_after([](odd_end& e) { e.send(frame_kind::item, 0, bytes_of(1)); }));
  CHECK(leaves_after([](odd_end& e) { e.send(frame_kind::filtered, 0, ""); }));
  CHECK(leaves_after([](odd_end& e) { e.send(frame_kind::value, 5, bytes_of(1)); }));
  CHECK_THROWS_WITH_AS(session.pop()->value(),
                       "levada: remote device \"edge\", node a, item 0: its node was lost 3 times: levada: a node "
                       "answers for an item that it has not",
                       lv::remote_error);

  session.push(21);
  odd_end& last = welcomed();
  last.send(frame_kind::value, 1, bytes_of(42));
  CHECK(session.pop()->value() == 42);

  // A result of another length is that item's failure.
  session.push(21);
  CHECK(levada::test::eventually([&] { return last.came().back().item == 2; }));
  last.send(frame_kind::value, 2, "abc");
  CHECK_THROWS_WITH_AS(
      session.pop()->value(),
      "levada: remote device \"edge\", node a, item 2: levada: an item has another number of bytes than its type",
      lv::remote_error);
}

TEST_CASE("a node that greets as no node does is not deployed to") {
  const auto by = std::make_shared<lv::in_process>();
  odd_node node(*by);
  std::thread greeter([&] { node.next().send(frame_kind::value, 4, ""); });
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {"a"}})),
                       "levada: remote device \"edge\" has no node: a: it answers in another way than a node",
                       lv::remote_error);
  greeter.join();
}

TEST_CASE("wire forms of a program's own are bounded") {
  std::vector<std::byte> bytes;
  lv::wire_writer to(bytes, 100);
  CHECK_THROWS_WITH_AS(to.write_count(std::size_t{1} << 32), "levada: an item has more of something than a message may",
                       lv::wire_error);
  to.write_count(51);
  std::span<const std::byte> pieces[] = {bytes};
  lv::wire_reader many(pieces);
  CHECK_THROWS_WITH_AS(many.read_count(50), "levada: a message has more of something than it may", lv::wire_error);
  bytes.resize(4);
  bytes[0] = std::byte{};
  bytes.push_back(std::byte{1});
  pieces[0] = bytes;
  lv::wire_reader longer(pieces);
  CHECK_THROWS_WITH_AS(lv::detail::item_from_wire<levada_test::words>(longer),
                       "levada: a message goes on behind its item", lv::wire_error);
}

TEST_CASE("an address in the process is one node's") {
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {by, "a"});
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::serve<box, "edge", v1>(doubled(), {by, "a"})),
                       "levada: in_process: \"a\" is taken", lv::remote_error);
}

}  // namespace remote_misbehaviour
