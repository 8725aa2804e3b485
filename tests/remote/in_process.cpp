// SPDX-License-Identifier: Apache-2.0
// Parts of pipelines on other machines, over a transport inside the process: what they give, and what becomes of items
// whose nodes fail.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <levada/levada.hpp>
#include <levada/plan/detail/report.hpp>
#include <levada/remote.hpp>
#include <levada/remote/detail/driven_session.hpp>
#include <levada/remote/in_process.hpp>

#include "fuzz/frame_property.hpp"
#include "remote/lost_nodes.hpp"
#include "run/progress.hpp"

namespace remote_in_process {

namespace lv = levada;
using namespace std::chrono_literals;
using levada_test::words;

using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
using v1 = lv::version<"1">;

template <class Part>
auto around(Part part) {
  return lv::input<int> | lv::stage<"add">([](int x) { return x + 1; }) | lv::on<lv::remote<"edge">>(part) |
         lv::stage<"less">([](double x) { return x - 0.5; });
}
auto doubled() {
  return around(lv::stage<"twice">([](int x) { return 2.0 * x; }));
}

/// What stages of nodes do, which have no captures.
struct node_behaviour {
  std::atomic<int> calls{0};
  std::atomic<bool> held{false};  ///< wait while it is so
  std::atomic<int> kills{-1};     ///< this item ends its node
  std::shared_ptr<lv::in_process> by = std::make_shared<lv::in_process>();
} behaviour;

std::shared_ptr<lv::in_process> fresh() {
  behaviour.calls = 0;
  behaviour.held = false;
  behaviour.kills = -1;
  return behaviour.by = std::make_shared<lv::in_process>();
}

auto watched() {
  return around(lv::stage<"twice">([](int x) {
    behaviour.calls.fetch_add(1);
    if (x == behaviour.kills.load()) behaviour.by->cut("a");
    while (behaviour.held.load()) std::this_thread::yield();
    return 2.0 * x;
  }));
}

std::string text_of(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const lv::remote_error& e) {
    return e.what();
  } catch (...) {
    return "another exception";
  }
}

TEST_CASE("a part on another machine gives what it gives here") {
  const auto by = fresh();
  const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {by, "a"});
  {
    auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {"a"}});
    static_assert(decltype(app)::plan.segments == 3);
    CHECK(app(3) == 7.5);
    std::vector<int> items(2000);
    for (int i = 0; i < 2000; ++i) items[static_cast<std::size_t>(i)] = i;
    int next = 0;
    for (auto&& r : app.stream(items)) CHECK(r.value() == 2 * (next++ + 1) - 0.5);
    CHECK(next == 2000);
  }
  CHECK(levada::test::eventually([&] { return node.sessions() == 0; }));
}

TEST_CASE("items and results may be what does not lie in one place") {
  const auto p = [] {
    return lv::input<int> | lv::stage<"words">([](int n) {
             words w;
             for (int i = 0; i < n % 7; ++i) w.all.push_back(std::string(static_cast<std::size_t>(5 * i), 'a'));
             return w;
           }) |
           lv::on<lv::remote<"edge">>(lv::stage<"more">([](const words& w) {
                                        words more = w;
                                        more.all.push_back("a word that no small string holds in itself");
                                        return more;
                                      }) |
                                      lv::stage<"and">([](words& w) { w.all.push_back("and"); })) |
           lv::stage<"count">([](const words& w) { return w.all.size(); });
  };
  const auto by = fresh();
  const lv::remote_node node = lv::serve<box, "edge", v1>(p(), {by, "a"});
  auto app = lv::deploy<box, v1>(p(), lv::endpoints<"edge">{by, {"a"}});
  // They cross in a form of their own.
  constexpr auto transfers = lv::transfers_of(decltype(app)::plan).size();
  static_assert(transfers == 2);
  for (const lv::planned_transfer& t : lv::transfers_of(decltype(app)::plan))
    CHECK(t.bytes == lv::wire<words>::most_bytes);
  std::vector<int> items(500);
  for (int i = 0; i < 500; ++i) items[static_cast<std::size_t>(i)] = i;
  std::size_t next = 0;
  for (auto&& r : app.stream(items)) CHECK(r.value() == next++ % 7 + 2);
  CHECK(next == 500);
}

TEST_CASE("ops run on the other machine, with its weights, and it has a segment of its own") {
  const auto p = [] {
    return lv::input<lv::tensor<std::uint8_t, 4>> |
           lv::transform<"normalise">([](auto x) { return to_float(x) / 2.0f; }) |
           lv::on<lv::remote<"edge">>(lv::transform<"square">([](auto x) { return x * x; }) | lv::nn::relu) |
           lv::stage<"sum">([](const lv::tensor<float, 4>& t) { return t[0] + t[1] + t[2] + t[3]; });
  };
  const auto by = fresh();
  const lv::remote_node node = lv::serve<box, "edge", v1>(p(), {by, "a"});
  auto app = lv::deploy<box, v1>(p(), lv::endpoints<"edge">{by, {"a"}});
  CHECK(app({2, 4, 6, 8}) == 1 + 4 + 9 + 16);
  const auto& segment = decltype(app)::plan.segment[1];
  CHECK(segment.device == lv::remote<"edge">::id);
  CHECK(segment.count == 1);
  const std::string report = lv::text_report(decltype(app)::plan);
  CHECK(report.find("segment 1 on remote<\"edge\">: ") != std::string::npos);
  CHECK(report.find(" goes from cpu to remote<\"edge\">: ") != std::string::npos);
  CHECK(lv::json_report(decltype(app)::plan).find(R"("device":"remote<\"edge\">")") != std::string::npos);
  CHECK(lv::dot_report(decltype(app)::plan).find(R"(label="remote<\"edge\">, grain)") != std::string::npos);
}

TEST_CASE("ops on the other machine take batches, and the items of a bounded tensor") {
  using row = lv::tensor<float, 4>;
  using rows = lv::bounded<row, 5>;
  const auto scores = lv::nn::relu | lv::nn::softmax;
  const auto p = [](auto part) {
    return lv::input<row> | lv::batch<3> | part | lv::unbatch | lv::stage<"repeat", rows>([](const row& r, rows& to) {
             to.resize(static_cast<std::size_t>(r[0] * 5));
             for (row& t : to) t = r;
           });
  };
  const auto last = [](auto part) { return lv::input<rows> | part; };
  const auto by = fresh();
  const auto there = lv::on<lv::remote<"edge">>(scores);
  const lv::remote_node node = lv::serve<box, "edge", v1>(p(there), {by, "a"});
  const lv::remote_node other = lv::serve<box, "edge", v1>(last(there), {by, "b"});
  auto app = lv::deploy<box, v1>(p(there), lv::endpoints<"edge">{by, {"a"}});
  auto next = lv::deploy<box, v1>(last(there), lv::endpoints<"edge">{by, {"b"}});
  const auto here = lv::deploy<lv::target<lv::cpu<1>>>(p(scores));
  const auto next_here = lv::deploy<lv::target<lv::cpu<1>>>(last(scores));
  auto session = app.open(), expected = here.open();
  for (int i = 0; i < 7; ++i) {  // the last batch is padded
    row r;
    for (std::size_t k = 0; k < r.size(); ++k) r[k] = static_cast<float>((static_cast<int>(k) * 5 + i) % 7 - 2);
    session.push(r), expected.push(r);
  }
  session.close(), expected.close();
  int results = 0;
  while (auto r = session.pop()) {
    const rows made = r->value(), here_made = expected.pop()->value();
    CHECK(std::ranges::equal(made, here_made));
    CHECK(std::ranges::equal(next(made), next_here(here_made)));
    ++results;
  }
  CHECK(results == 7);
}

TEST_CASE("what a stage throws arrives with its text, its device, its node and its item, and harms no neighbour") {
  const auto p = [] {
    return around(lv::stage<"picky">([](int x) {
      if (x % 5 == 3) throw std::runtime_error("no " + std::to_string(x));
      if (x % 50 == 2) throw 7;
      return 1.0 * x;
    }));
  };
  const auto by = fresh();
  const lv::remote_node node = lv::serve<box, "edge", v1>(p(), {by, "a"});
  auto app = lv::deploy<box, v1>(p(), lv::endpoints<"edge">{by, {"a"}});
  std::vector<int> items(100);
  for (int i = 0; i < 100; ++i) items[static_cast<std::size_t>(i)] = i;
  int next = 0;
  for (auto&& r : app.stream(items)) {
    const int x = ++next;
    if (x % 5 == 3)
      CHECK(text_of(r.error()) ==
            "levada: remote device \"edge\", node a, item " + std::to_string(x - 1) + ": no " + std::to_string(x));
    else if (x % 50 == 2)
      CHECK(text_of(r.error()) == "levada: remote device \"edge\", node a, item " + std::to_string(x - 1) +
                                      ": something was thrown that is no std::exception");
    else
      CHECK(r.value() == x - 0.5);
  }
  CHECK(next == 100);
}

TEST_CASE("programs that differ refuse each other with the first thing in which they do") {
  const auto by = fresh();
  const auto other = [] { return around(lv::stage<"three times">([](int x) { return 3.0 * x; })); };
  const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {by, "a"});
  const lv::endpoints<"edge"> to{by, {"a"}};
  CHECK_THROWS_WITH_AS(
      static_cast<void>(lv::deploy<box, lv::version<"2">>(doubled(), to)),
      "levada: remote device \"edge\" has no node: a: they are programs that differ: the driver has `version 2`, and "
      "the node `version 1`",
      lv::remote_error);
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::deploy<box, v1>(other(), to)),
                       "levada: remote device \"edge\" has no node: a: they are programs that differ: the driver has "
                       "`stage three times: "
                       "three times(4 bytes) -> 8 bytes`, and the node `stage twice: twice(4 bytes) -> 8 bytes`",
                       lv::remote_error);
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {"b", "c"}})),
                       "levada: remote device \"edge\" has no node: b: nobody listens there; c: nobody listens there",
                       lv::remote_error);
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {}})),
                       "levada: remote device \"edge\" has no node: it has no address", lv::remote_error);
  // Of several the one that fits is taken.
  const lv::remote_node older = lv::serve<box, "edge", lv::version<"0">>(doubled(), {by, "old"});
  auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {"old", "a"}});
  CHECK(app(1) == 3.5);
}

TEST_CASE("items that lose their node are sent again, and each result comes once and in order") {
  const auto by = fresh();
  const lv::remote_node node = lv::serve<box, "edge", v1>(watched(), {by, "a"});
  auto app = lv::deploy<box, v1>(watched(), lv::endpoints<"edge">{by, {"a"}});
  auto session = app.open<lv::dedicated>();
  for (int round = 0; round < 3; ++round) {
    const int before = behaviour.calls.load();
    behaviour.held = true;
    for (int i = 0; i < 10; ++i) session.push(10 * round + i);
    CHECK(levada::test::eventually([&] { return behaviour.calls.load() > before; }));
    by->cut("a");
    behaviour.held = false;
    for (int i = 0; i < 10; ++i) CHECK(session.pop()->value() == 2 * (10 * round + i + 1) - 0.5);
  }
  CHECK(session.counts().delivered == 30);
  CHECK(behaviour.calls.load() > 30);
}

TEST_CASE("another node goes on where one has gone") {
  const auto by = fresh();
  const lv::remote_node first = lv::serve<box, "edge", v1>(watched(), {by, "a"});
  lv::remote_node second = lv::serve<box, "edge", v1>(watched(), {by, "b"});
  auto app = lv::deploy<box, v1>(watched(), lv::endpoints<"edge">{by, {"a", "b"}});
  auto session = app.open<lv::dedicated>();
  behaviour.held = true;
  for (int i = 0; i < 20; ++i) session.push(i);
  CHECK(levada::test::eventually([&] { return behaviour.calls.load() > 0; }));
  CHECK(first.sessions() == 1);
  by->set_gone("a");
  by->cut("a");
  behaviour.held = false;
  for (int i = 0; i < 20; ++i) CHECK(session.pop()->value() == 2 * (i + 1) - 0.5);
  CHECK(second.sessions() == 1);
}

TEST_CASE("an item that ends its node three times fails alone") {
  const auto by = fresh();
  const lv::remote_node node = lv::serve<box, "edge", v1>(watched(), {by, "a"});
  auto app = lv::deploy<box, v1>(watched(), lv::endpoints<"edge">{by, {"a"}});
  behaviour.kills = 8;
  std::vector<int> items(30);
  for (int i = 0; i < 30; ++i) items[static_cast<std::size_t>(i)] = i;
  int next = 0;
  for (auto&& r : app.stream(items)) {
    const int x = ++next;
    if (x == 8)
      CHECK(text_of(r.error()) ==
            "levada: remote device \"edge\", node a, item 7: its node was lost 3 times: the connection was cut");
    else
      CHECK(r.value() == 2 * x - 0.5);
  }
  CHECK(next == 30);
}

TEST_CASE("items that find no node fail when the patience for it ends") {
  const auto by = fresh();
  const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {by, "a"});
  auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {"a"}, 1ms});
  auto session = app.open();
  session.push(1);
  CHECK(session.pop()->value() == 3.5);
  by->set_gone("a");
  by->cut("a");
  session.push(2);
  CHECK(text_of(session.pop()->error()) ==
        "levada: remote device \"edge\", node a, item 1: no node was to be had: nobody listens there");
  by->set_gone("a", false);
  // The next that is pushed may still find none.
  CHECK(levada::test::eventually([&] {
    session.push(3);
    return session.pop()->has_value();
  }));
}

TEST_CASE("a node takes as many sessions as it was told to") {
  const auto by = fresh();
  const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {by, "a", 1});
  auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {"a"}, 1ms});
  CHECK(levada::test::eventually([&] { return node.sessions() == 0; }));  // behind the question of `deploy`
  auto first = app.open();
  first.push(1);
  CHECK(first.pop()->value() == 3.5);
  {
    auto second = app.open();
    second.push(1);
    CHECK(!second.pop()->has_value());
  }
  first.push(2);
  CHECK(first.pop()->value() == 5.5);
}

TEST_CASE("a driver sends another item behind a large result, whose slot still holds that") {
  struct held_sender {
    std::atomic<int> begun{0};
    std::atomic<bool> lets_go{false};
    void send_value(std::uint64_t number, std::span<const std::byte>) {
      CHECK(number == static_cast<std::uint64_t>(begun.load()));
      ++begun;
      while (!lets_go.load()) std::this_thread::yield();
    }
    void send_failure(std::uint64_t, const std::exception_ptr&) { FAIL("no item fails"); }
    void give_up() noexcept {}
  };
  using large = lv::tensor<std::uint8_t, lv::largest_result_by_value + 1>;
  const auto app = lv::deploy<lv::target<lv::cpu<1>>, lv::slots<2>>(
      lv::input<int> | lv::stage<"fill", large>([](int n, large& to) { to.fill(static_cast<std::uint8_t>(n)); }));
  held_sender to;
  lv::detail::driven_session<std::remove_const_t<decltype(app)>, held_sender> session(app, to);
  CHECK(session.open() == 2);
  const auto take = [&](int n) { session.take(static_cast<std::uint64_t>(n), [n] { return n; }); };
  take(0);
  take(1);
  REQUIRE(lv::test::eventually([&] { return to.begun.load() == 1; }));
  std::atomic<bool> takes{false};
  std::thread other([&] {
    while (!takes.load()) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    to.lets_go = true;
  });
  takes = true;
  CHECK_NOTHROW(take(2));
  other.join();
  CHECK(lv::test::eventually([&] { return to.begun.load() == 3; }));
  session.end();
}

TEST_CASE("a session that is cancelled ends, and so does its own on the node") {
  const auto by = fresh();
  const lv::remote_node node = lv::serve<box, "edge", v1>(watched(), {by, "a"});
  auto app = lv::deploy<box, v1>(watched(), lv::endpoints<"edge">{by, {"a"}});
  behaviour.held = true;
  {
    auto session = app.open<lv::dedicated>();
    for (int i = 0; i < 10; ++i) session.push(i);
    CHECK(levada::test::eventually([&] { return behaviour.calls.load() > 0; }));
    session.cancel();
    behaviour.held = false;
    while (session.pop()) {
    }
  }
  CHECK(levada::test::eventually([&] { return node.sessions() == 0; }));
}

TEST_CASE("a stage with state there begins anew with its node where the deployment says so") {
  const auto p = [] { return around(lv::stage<"number">([n = 0](int x) mutable { return x + 1000.0 * n++; })); };
  const auto by = fresh();
  const lv::remote_node node = lv::serve<box, "edge", v1, lv::state_restarts>(p(), {by, "a"});
  auto app = lv::deploy<box, v1, lv::state_restarts>(p(), lv::endpoints<"edge">{by, {"a"}});
  auto session = app.open();
  for (int i = 0; i < 5; ++i) session.push(i);
  for (int i = 0; i < 5; ++i) CHECK(session.pop()->value() == i + 1 + 1000 * i - 0.5);
  by->cut("a");
  for (int i = 0; i < 5; ++i) session.push(i);
  for (int i = 0; i < 5; ++i) CHECK(session.pop()->value() == i + 1 + 1000 * i - 0.5);
}

TEST_CASE("streams go on through many losses") { levada::test::streams_through_lost_nodes<lv::tbb_executor>(4000, 8); }

TEST_CASE("the same where the part on the other machine filters") {
  levada::test::streams_through_lost_nodes<lv::tbb_executor, true>(4000, 8);
}

TEST_CASE("what a part on another machine filters is missing at once, and what fails there fails") {
  const auto p = around(lv::stage<"even">([](int x) { return x % 2 == 0 ? std::optional(x) : std::nullopt; }) |
                        lv::stage<"half">([](int x) {
                          if (x == 6) throw std::runtime_error("six");
                          return x / 2.0;
                        }));
  const auto by = fresh();
  const lv::remote_node node = lv::serve<box, "edge", v1>(p, {by, "a"});
  auto app = lv::deploy<box, v1>(p, lv::endpoints<"edge">{by, {"a"}});
  auto session = app.open();
  session.push(4);
  session.drain();
  CHECK(session.counts().filtered == 1);
  for (int i = 1; i < 8; ++i) session.push(i);
  CHECK(session.pop()->value() == 0.5);
  CHECK(session.pop()->value() == 1.5);
  CHECK(text_of(session.pop()->error()).ends_with("item 5: six"));
  CHECK(session.pop()->value() == 3.5);
  session.close();
  CHECK(!session.pop());
  CHECK(session.counts().filtered == 4);
}

/// Four samples go there as one item, and one number comes back.
auto sums_of_batches() {
  return lv::input<int> | lv::batch<4> | lv::on<lv::remote<"edge">>(lv::stage<"sum">([](const std::array<int, 4>& b) {
           return static_cast<double>(b[0] + b[1] + b[2] + b[3]);
         })) |
         lv::batch<2> | lv::stage<"both">([](const std::array<double, 2>& b) { return b[0] + b[1]; });
}
template <class Pipeline, class... Bounds>
constexpr bool keeps = !decltype(lv::detail::traffic_mistake<Pipeline, v1, lv::budget<Bounds...>>())::is_mistake;

using plain = decltype(doubled());
static_assert(keeps<plain, lv::traffic<sizeof(int) + sizeof(double)>>);
static_assert(!keeps<plain, lv::traffic<sizeof(int) + sizeof(double) - 1>>);
static_assert(!keeps<plain, lv::memory<1 << 30>, lv::traffic<4>>);
static_assert(keeps<plain, lv::memory<1 << 30>>);
// Of an item that comes in: a quarter of what a batch takes and gives.
using in_batches = decltype(sums_of_batches());
static_assert(keeps<in_batches, lv::traffic<(4 * sizeof(int) + sizeof(double)) / 4>>);
static_assert(!keeps<in_batches, lv::traffic<(4 * sizeof(int) + sizeof(double)) / 4 - 1>>);
// What has a wire form of its own takes what that may have at most.
using of_words = decltype(lv::input<words> |
                          lv::on<lv::remote<"edge">>(lv::stage<"count">([](const words& w) { return w.all.size(); })));
static_assert(keeps<of_words, lv::traffic<lv::wire<words>::most_bytes + sizeof(std::size_t)>>);
static_assert(!keeps<of_words, lv::traffic<sizeof(words) + sizeof(std::size_t)>>);

TEST_CASE("items are batched on their way to another machine, within what they may take of it") {
  const auto by = fresh();
  const lv::remote_node node = lv::serve<box, "edge", v1>(sums_of_batches(), {by, "a"});
  auto app = lv::deploy<box, v1, lv::budget<lv::memory<1 << 20>, lv::traffic<6>>>(sums_of_batches(),
                                                                                  lv::endpoints<"edge">{by, {"a"}});
  std::vector<int> items(1600);
  for (int i = 0; i < 1600; ++i) items[static_cast<std::size_t>(i)] = i;
  int next = 0;
  for (auto&& r : app.stream(items)) CHECK(r.value() == 8 * (8 * next++) + 28);
  CHECK(next == 200);
}

}  // namespace remote_in_process
