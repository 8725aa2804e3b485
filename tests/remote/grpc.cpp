// SPDX-License-Identifier: Apache-2.0
// Parts of pipelines on other machines by gRPC: here on this one, through the loopback and unix sockets.

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/grpc.hpp>

#include "run/progress.hpp"

namespace {

namespace lv = levada;

using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
using v1 = lv::version<"1">;
using frame = lv::tensor<std::uint8_t, 1024, 1024>;

auto inverted() {
  return lv::input<int> |
         lv::stage<"draw", frame>([](const int& n, frame& f) { f.fill(static_cast<std::uint8_t>(n)); }) |
         lv::on<lv::remote<"edge">>(lv::stage<"invert", frame>([](const frame& in, frame& out) {
           for (std::size_t i = 0; i < frame::elements; ++i) out[i] = static_cast<std::uint8_t>(255 - in[i]);
         })) |
         lv::stage<"look">([](const frame& f) {
           for (const std::uint8_t x : f)
             if (x != f[0]) return -1;
           return static_cast<int>(f[0]);
         });
}
auto doubled() {
  return lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"twice">([](int x) { return 2.0 * x; }));
}

}  // namespace

TEST_CASE("large items go there and back as they are, over the loopback and a unix socket") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  const std::string socket = "unix:/tmp/levada_remote_" + std::to_string(::getpid());
  for (const std::string& address : {std::string("127.0.0.1:0"), socket}) {
    const lv::remote_node node = lv::serve<box, "edge", v1, lv::slots<8>>(inverted(), {by, address});
    auto app = lv::deploy<box, v1, lv::slots<8>>(inverted(), lv::endpoints<"edge">{by, {node.address()}});
    std::vector<int> items(60);
    for (int i = 0; i < 60; ++i) items[static_cast<std::size_t>(i)] = i;
    int next = 0;
    for (auto&& r : app.stream(items)) CHECK(r.value() == 255 - next++);
    CHECK(next == 60);
    CHECK(levada::test::eventually([&] { return node.sessions() == 0; }));
  }
}

TEST_CASE("small items stream, several at once") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {by, "127.0.0.1:0"});
  auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {node.address()}});
  CHECK(app(21) == 42);
  std::vector<int> items(5000);
  for (int i = 0; i < 5000; ++i) items[static_cast<std::size_t>(i)] = i;
  int next = 0;
  for (auto&& r : app.stream(items)) CHECK(r.value() == 2.0 * next++);
  CHECK(next == 5000);
}

TEST_CASE("a node that ends in the middle is followed by another") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  auto first = std::make_unique<lv::remote_node>(lv::serve<box, "edge", v1>(doubled(), {by, "127.0.0.1:0"}));
  const lv::remote_node second = lv::serve<box, "edge", v1>(doubled(), {by, "127.0.0.1:0"});
  auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {first->address(), second.address()}});
  std::vector<int> items(3000);
  for (int i = 0; i < 3000; ++i) items[static_cast<std::size_t>(i)] = i;
  int next = 0;
  for (auto&& r : app.stream(items)) {
    CHECK(r.value() == 2.0 * next++);
    if (next == 1000) first.reset();
    if (next == 3000) CHECK(second.sessions() == 1);
  }
  CHECK(next == 3000);
}

TEST_CASE("plain text stays on this machine") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  for (const char* other : {"10.0.0.1:7000", "0.0.0.0:7000", "127.example.org:7000", "edge:7000", "[::]:7000"})
    CHECK_THROWS_WITH_AS(static_cast<void>(lv::serve<box, "edge", v1>(doubled(), {by, other})),
                         ("levada: \"" + std::string(other) +
                          "\" is not this machine, and plain text goes to no other: give grpc_transport certificates")
                             .c_str(),
                         lv::remote_error);
  CHECK(lv::detail::is_this_machine("localhost:1"));
  CHECK(lv::detail::is_this_machine("[::1]:1"));
  CHECK(lv::detail::is_this_machine("127.0.0.1:1"));
  CHECK(lv::detail::is_this_machine("unix:/tmp/a"));
}

TEST_CASE("a port is one node's") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {by, "127.0.0.1:0"});
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::serve<box, "edge", v1>(doubled(), {by, node.address()})),
                       ("levada: a node cannot listen at \"" + node.address() + "\"").c_str(), lv::remote_error);
}

TEST_CASE("an address where nobody is says so") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  std::string text;
  try {
    static_cast<void>(lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {"127.0.0.1:9"}}));
  } catch (const lv::remote_error& e) {
    text = e.what();
  }
  CHECK(text.starts_with("levada: remote device \"edge\" has no node: 127.0.0.1:9: "));
  CHECK(text.find("onnect") != std::string::npos);
}
