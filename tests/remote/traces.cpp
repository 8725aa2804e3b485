// SPDX-License-Identifier: Apache-2.0
// Sessions that are a part of a trace of W3C's Trace Context, and so are those of their nodes.

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <levada/interop/trace.hpp>
#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

#include "remote/odd_ends.hpp"
#include "run/progress.hpp"

namespace remote_traces {

namespace lv = levada;
using namespace lv::literals;
using lv::detail::frame_kind;
using lv::test::odd_end;

using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
using v1 = lv::version<"1">;

auto doubled() {
  return lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"twice">([](int x) { return 2 * x; })) |
         lv::stage<"less">([](int x) { return x - 1; });
}
constexpr std::string_view hello =
    "wire format 4\nbyte order little\nversion 1\ndevice edge\nitems int32\nresults int32\nstage twice: twice(4 bytes) "
    "-> 4 bytes\n";
constexpr std::string_view parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

bool is_read(std::string_view text) { return lv::trace_context::parse(text).has_value(); }

TEST_CASE("a traceparent is read as W3C says, and written as it was") {
  constexpr auto context = lv::trace_context::parse(parent);
  static_assert(context.has_value() && context->trace[0] == 0x0a && context->trace[15] == 0x9c);
  static_assert(context->parent[0] == 0xb7 && context->parent[7] == 0x31 && context->flags == 1);
  CHECK(context->text() == parent);
  const std::string good(parent);
  for (std::size_t length = 0; length < good.size(); ++length) CHECK(!is_read(good.substr(0, length)));
  CHECK(!is_read(good + "-"));
  CHECK(!is_read(good + "-what is more"));
  CHECK(is_read("01" + good.substr(2) + "-what is more"));  // of a later version
  CHECK(is_read("cc" + good.substr(2)));
  CHECK(!is_read("cc" + good.substr(2) + ".what is more"));
  CHECK(!is_read("ff" + good.substr(2)));
  CHECK(!is_read("00-00000000000000000000000000000000-b7ad6b7169203331-01"));
  CHECK(!is_read("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string wrong = good;
    for (const char c : {'A', 'g', '/', ':', '\0'}) {
      wrong[i] = c;
      CHECK(!is_read(wrong));
    }
  }
}

TEST_CASE("a session's trace and those of its nodes are parts of one") {
  const auto context = *lv::trace_context::parse(parent);
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {by, "a", 16, 1000});
  const lv::remote_node other = lv::serve<box, "edge", v1>(doubled(), {by, "b"});  // keeps none
  const auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {"a", "b"}});
  const auto run = [](auto& session) {
    for (int i = 0; i < 20; ++i) session.push(i);
    for (int i = 0; i < 20; ++i) CHECK(session.pop()->value() == 2 * i - 1);
  };
  {
    auto session = app.open();
    session.trace();
    run(session);
    CHECK(!session.traced().context);
  }
  CHECK(lv::test::eventually([&] { return node.sessions() == 0; }));
  CHECK(node.traced().empty());
  {
    auto session = app.open<lv::deadline<3600_s>>();
    session.trace(context);
    run(session);
    const lv::session_trace here = session.traced();
    CHECK(here.context == context);
    std::ostringstream text;
    lv::write_trace(text, here);
    CHECK(text.str().find("\"traceparent\":\"" + std::string(parent) + '"') != std::string::npos);
    by->set_gone("b");
    by->cut("a");  // the next connection is told, too
    run(session);
  }
  CHECK(lv::test::eventually([&] { return node.traced().size() == 2; }));
  for (const lv::session_trace& there : node.traced()) {
    CHECK(there.context == context);
    CHECK(there.stages == std::vector<std::string>{"twice"});
    CHECK(!there.events.empty());
  }
  by->set_gone("a");
  by->set_gone("b", false);
  {
    auto session = app.open();
    session.trace(context);
    run(session);
  }
  CHECK(lv::test::eventually([&] { return other.sessions() == 0; }));
  CHECK(other.traced().empty());
  CHECK(node.traced().size() == 2);
}

TEST_CASE("a node closes drivers whose trace is none") {
  lv::in_process by;
  const lv::remote_node node =
      lv::serve<box, "edge", v1>(doubled(), {std::shared_ptr<lv::transport>(&by, [](auto*) {}), "a", 16, 1000});
  const auto is_taken = [&](const std::string& trace) {
    odd_end driver;
    driver.connect(by);
    driver.send(frame_kind::hello, 0, hello);
    REQUIRE(driver.has(frame_kind::welcome));
    driver.send(frame_kind::trace, 0, trace);
    driver.send(frame_kind::item, 3, lv::test::bytes_of(4));
    CHECK(lv::test::eventually([&] { return driver.is_closed() || driver.came().back().kind == frame_kind::value; }));
    const bool taken = !driver.is_closed();
    driver.end();
    return taken;
  };
  CHECK(is_taken(std::string(25, 'x')));
  CHECK(!is_taken(std::string(24, 'x')));
  CHECK(!is_taken(std::string(26, 'x')));
  CHECK(!is_taken(std::string(16, '\0') + std::string(9, 'x')));
  CHECK(!is_taken(std::string(16, 'x') + std::string(9, '\0')));

  const std::string zeros(25, '\0');
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(zeros))};
  lv::wire_reader from(pieces);
  CHECK_THROWS_WITH_AS(lv::detail::trace_from_wire(from), "levada: a trace that is none", lv::wire_error);
}

}  // namespace remote_traces
