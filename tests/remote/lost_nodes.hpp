// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/lost_nodes.hpp: streams through two nodes that are lost now and then, for any executor.

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>
#include <levada/run/deploy.hpp>

#include <run/progress.hpp>

namespace levada::test {

/// An item with a wire form of its own.
struct text_item {
  std::string text;
};

}  // namespace levada::test

template <>
struct levada::wire<levada::test::text_item> {
  static constexpr std::string_view name = "text, 1";
  static constexpr std::size_t most_bytes = 100;
  static void write(wire_writer& to, const levada::test::text_item& item) {
    to.write(item.text.data(), item.text.size());
  }
  static levada::test::text_item read(wire_reader& from) {
    levada::test::text_item item;
    item.text.resize(from.left());
    from.read(item.text.data(), item.text.size());
    return item;
  }
};

namespace levada::test {

constexpr bool is_kept_there(int n) { return n % 3 != 0; }

/// Every result is there once and in order, whatever was lost on the way. `Filters`: the part elsewhere gives nothing
/// for some items.
template <class Executor, bool Filters = false>
void streams_through_lost_nodes(int count, int losses) {
  using box = target<cpu<2>, remote<"edge", cpu<2>>>;
  using by_executor = run_by<Executor>;
  const auto p = [] {
    return input<int> | stage<"write">([](int n) { return text_item{std::to_string(n)}; }) |
           on<remote<"edge">>(stage<"add">([](const text_item& t) {
             text_item longer{t.text + " on the other side"};
             if constexpr (Filters)
               return is_kept_there(std::stoi(t.text)) ? std::optional(std::move(longer)) : std::nullopt;
             else
               return longer;
           })) |
           stage<"read">([](const text_item& t) { return std::stoi(t.text); });
  };
  const auto by = std::make_shared<in_process>();
  const remote_node a = serve<box, "edge", version<"1">, by_executor>(p(), {by, "a"});
  const remote_node b = serve<box, "edge", version<"1">, by_executor>(p(), {by, "b"});
  auto app = deploy<box, version<"1">, by_executor>(p(), endpoints<"edge">{by, {"a", "b"}});
  {
    auto session = app.template open<dedicated>();
    std::atomic<int> popped{0};
    std::thread pusher([&] {
      for (int i = 0; i < count; ++i) session.push(i);
      session.close();
    });
    // An item is lost three times at most: two losses lie so far apart that all in flight have come through.
    std::thread cutter([&] {
      for (int i = 1; i <= losses; ++i) {
        if (!eventually([&] { return popped.load() >= i * count / (losses + 1); })) return;
        by->cut(i % 2 != 0 ? "a" : "b");
      }
    });
    int next = 0;
    bool in_order = true;
    while (auto r = session.pop()) {
      while (Filters && !is_kept_there(next)) ++next;
      in_order = in_order && r->has_value() && **r == next;
      popped.store(++next);
    }
    pusher.join();
    cutter.join();
    while (Filters && next < count && !is_kept_there(next)) ++next;
    CHECK(in_order);
    CHECK(next == count);
  }
  {  // one at a time, which a node works on where it receives it, and two, which it does not
    auto session = app.open();
    bool in_order = true;
    for (int i = 0, next = 0; i < count / 4;) {
      if (losses != 0 && i % 100 > 97) by->cut(i % 200 > 100 ? "a" : "b");
      session.push(i++);
      if (i % 5 == 0) session.push(i++);
      for (; next < i; ++next)
        if (!Filters || is_kept_there(next)) in_order = in_order && session.pop()->value() == next;
    }
    CHECK(in_order);
  }
  CHECK(eventually([&] { return a.sessions() + b.sessions() == 0; }));
}

}  // namespace levada::test
