// SPDX-License-Identifier: Apache-2.0
// Calls of an app whose part is on another machine: the connection of one serves the next.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/detail/kept_lanes.hpp>
#include <levada/remote/in_process.hpp>

#include "remote/kept_calls.hpp"
#include "run/progress.hpp"

namespace remote_calls {

namespace lv = levada;
using levada::test::counting_transport;
using levada::test::eventually;

using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
using v1 = lv::version<"1">;

template <class Part>
auto there(Part part) {
  return lv::input<int> | lv::on<lv::remote<"edge">>(part);
}
auto twice() {
  return there(lv::stage<"twice">([](int x) { return 2 * x; }));
}

/// Not connected to anything.
struct odd_lane {
  static constexpr std::chrono::nanoseconds longest_idle{1};
  static inline std::atomic<int> alive{0};

  odd_lane() { alive.fetch_add(1); }
  ~odd_lane() { alive.fetch_sub(1); }
  void submit(std::uint64_t) {}
  void cancel() noexcept {}
  void trace(const lv::trace_context&) noexcept {}
  bool may_serve_again() const { return true; }
};

TEST_CASE("calls one after the other have one connection") {
  const auto by = std::make_shared<counting_transport>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(twice(), {by, "a"});
  {
    const auto app = lv::deploy<box, v1>(twice(), lv::endpoints<"edge">{by, {"a"}});
    for (int i = 0; i < 100; ++i) CHECK(app(i) == 2 * i);
    int into = 0;
    CHECK(app(7, into));
    CHECK(into == 14);
    CHECK(by->accepted() == 2);  // and the one which asked whether it fits
    CHECK(node.sessions() == 1);
    auto session = app.open();  // has its own
    session.push(1);
    CHECK(session.pop()->value() == 2);
    CHECK(by->accepted() == 3);
    CHECK(app(8) == 16);
    CHECK(by->accepted() == 3);
  }
  CHECK(eventually([&] { return node.sessions() == 0; }));
}

TEST_CASE("threads that call at once have a connection each, and what fails for one fails for it alone") {
  levada::test::calls_from_threads<lv::tbb_executor>(4, 400, 0);
}

TEST_CASE("calls from several threads go on where connections are lost") {
  levada::test::calls_from_threads<lv::tbb_executor>(4, 400, 2);
}

TEST_CASE("a call goes on with another connection where its node went since the last, and with another node") {
  const auto by = std::make_shared<counting_transport>();
  auto node = std::make_unique<lv::remote_node>(lv::serve<box, "edge", v1>(twice(), {by, "a"}));
  const lv::remote_node other = lv::serve<box, "edge", v1>(twice(), {by, "b"});
  const auto app = lv::deploy<box, v1>(twice(), lv::endpoints<"edge">{by, {"a", "b"}});
  CHECK(app(1) == 2);
  by->inside().cut("a");
  CHECK(app(2) == 4);
  by->inside().cut("a");
  by->inside().cut("b");
  CHECK(app(3) == 6);
  node.reset();
  node = std::make_unique<lv::remote_node>(lv::serve<box, "edge", v1>(twice(), {by, "a"}));
  CHECK(app(4) == 8);
  node.reset();
  for (int i = 0; i < 10; ++i) CHECK(app(i) == 2 * i);
  CHECK(other.sessions() == 1);
}

TEST_CASE("a call that finds no node fails, and the next finds it again") {
  const auto by = std::make_shared<counting_transport>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(twice(), {by, "a"});
  const auto app = lv::deploy<box, v1>(twice(), lv::endpoints<"edge">{by, {"a"}, std::chrono::milliseconds(1)});
  CHECK(app(1) == 2);
  by->inside().set_gone("a");
  by->inside().cut("a");
  CHECK_THROWS_AS(static_cast<void>(app(2)), lv::remote_error);
  by->inside().set_gone("a", false);
  CHECK(app(3) == 6);
}

TEST_CASE("a part that filters is called as others are") {
  const auto odd = [] {
    return there(lv::stage<"odd">([](int x) { return x % 2 != 0 ? std::optional(x) : std::nullopt; }));
  };
  const auto by = std::make_shared<counting_transport>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(odd(), {by, "a"});
  const auto app = lv::deploy<box, v1>(odd(), lv::endpoints<"edge">{by, {"a"}});
  for (int i = 0; i < 10; ++i) CHECK(app(i) == (i % 2 != 0 ? std::optional(i) : std::nullopt));
  CHECK(by->accepted() == 2);
}

TEST_CASE("stages that know what came before in their session begin anew in each call") {
  const auto by = std::make_shared<counting_transport>();
  const auto sum = [] { return there(lv::stage<"sum">([n = 0](int x) mutable { return n += x; })); };
  const lv::remote_node node = lv::serve<box, "edge", v1, lv::state_restarts>(sum(), {by, "a"});
  const auto app = lv::deploy<box, v1, lv::state_restarts>(sum(), lv::endpoints<"edge">{by, {"a"}});
  for (int i = 0; i < 3; ++i) CHECK(app(i) == i);
  CHECK(by->accepted() == 4);
  CHECK(eventually([&] { return node.sessions() == 0; }));

  const auto count = [] {
    return there(
        lv::stage<"count">([](int, const lv::item_envelope& e) { return static_cast<std::uint64_t>(e.sequence); }));
  };
  const lv::remote_node counts = lv::serve<box, "edge", v1>(count(), {by, "b"});
  const auto counting = lv::deploy<box, v1>(count(), lv::endpoints<"edge">{by, {"b"}});
  for (int i = 0; i < 3; ++i) CHECK(counting(i) == 0);
}

TEST_CASE("what no call wants for a while ends, with all else at the end") {
  {
    lv::detail::kept_lanes<odd_lane> lanes("lanes of a test",
                                           [](odd_lane&) { return lv::detail::kept_lanes<odd_lane>::never; });
    for (int i = 0; i < 3; ++i) lanes.add(std::make_unique<odd_lane>()).reset();
    CHECK(eventually([&] { return odd_lane::alive.load() == 0; }));
    const auto used = lanes.add(std::make_unique<odd_lane>());
    CHECK(odd_lane::alive.load() == 1);
  }
  CHECK(odd_lane::alive.load() == 0);
}

}  // namespace remote_calls
