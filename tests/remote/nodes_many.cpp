// SPDX-License-Identifier: Apache-2.0
// Nodes on machines of their own (network namespaces), which are killed, stand still, are cut off and lose packets at
// random for long: each item comes once, and in order.

#include <doctest/doctest.h>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/grpc.hpp>

#include "process.hpp"
#include "remote/certificates.hpp"
#include "remote/machine.hpp"
#include "resident.hpp"
#include "soak.hpp"

namespace {

namespace lv = levada;
using namespace levada::test;
using namespace std::chrono_literals;

using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<1>>>;
using v1 = lv::version<"1">;

/// An item that kills each node that takes it.
constexpr int deadly = -1;

auto doubled() {
  return lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"twice">([](int x) {
           if (x == deadly) std::_Exit(3);
           return 2.0 * x;
         }));
}

constexpr const char* node_variable = "LEVADA_TEST_MACHINE_AT";
/// In the process of a node, before its tests would begin.
const bool is_driver = [] {
  const char* const address = std::getenv(node_variable);
  if (address == nullptr) return true;
  try {
    const auto by =
        std::make_shared<lv::grpc_transport>(lv::certificates{authority_certificate, edge_certificate, edge_key, ""});
    const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {by, address});
    for (;;) ::pause();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    std::_Exit(1);
  }
}();

/// A machine and the node on it.
struct node_on_machine {
  explicit node_on_machine(int i) : at(i), node(start()) {}
  std::string address() const { return at.address() + ":7000"; }
  process start() const { return at.start_here(std::string(node_variable) + "=" + address()); }
  void start_again() {
    node.kill();
    node = start();
  }

  machine at;
  process node;
};

struct fates {
  int killed = 0, stopped = 0, cut = 0, lossy = 0, found_dead = 0;
};

/// One fault behind the other, until it is told to end; at most one machine is not as it should be.
void fate_of(std::vector<std::unique_ptr<node_on_machine>>& nodes, std::mt19937 random, const std::atomic<bool>& ends,
             fates& seen) {
  const auto wait = [&](std::chrono::milliseconds most) {
    const auto until = std::chrono::steady_clock::now() + random() % static_cast<unsigned>(most.count()) * 1ms;
    while (!ends.load() && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(5ms);
      for (auto& n : nodes)
        if (n->node.has_ended()) ++seen.found_dead, n->start_again();
    }
  };
  while (!ends.load()) {
    wait(3000ms);
    node_on_machine& one = *nodes[random() % nodes.size()];
    switch (random() % 6) {
      case 0:
        ++seen.stopped;
        one.node.send(SIGSTOP);
        wait(15'000ms);
        one.node.send(SIGCONT);
        break;
      case 1:
        ++seen.cut;
        one.at.cut();
        wait(15'000ms);
        one.at.mend();
        break;
      case 2:
        if (!one.at.loses(5)) break;
        ++seen.lossy;
        wait(5000ms);
        one.at.keeps_all();
        break;
      default:
        ++seen.killed;
        one.start_again();
    }
  }
}

void stream_through(int machines) {
  REQUIRE(is_driver);
  std::vector<std::unique_ptr<node_on_machine>> nodes;
  lv::endpoints<"edge"> to{std::make_shared<lv::grpc_transport>(
                               lv::certificates{authority_certificate, driver_certificate, driver_key, "edge"}),
                           {}};
  for (int i = 1; i <= machines; ++i) {
    nodes.push_back(std::make_unique<node_on_machine>(i));
    if (!nodes.back()->at.is_there()) {
      MESSAGE("not tested: no namespaces of the network, which root makes by `ip netns`");
      return;
    }
    to.addresses.push_back(nodes.back()->address());
  }
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  const auto app = [&] {
    for (int tries = 1;; ++tries) try {
        return lv::deploy<box, v1, lv::slots<64>>(doubled(), to);
      } catch (const lv::remote_error&) {  // no node listens yet
        if (tries == 50) throw;
        std::this_thread::sleep_for(200ms);
      }
  }();

  const int count = 200'000 * soak_scale();
  const auto is_deadly = [&](int i) { return i % (count / 4) == count / 8; };
  auto session = app.open();
  std::jthread source([&] {
    for (int i = 0; i < count; ++i) session.push(is_deadly(i) ? deadly : i);
    session.close();
  });
  std::atomic<bool> ends{false};
  fates seen;
  std::thread fate([&] { fate_of(nodes, std::mt19937(seed), ends, seen); });
  const auto begun = std::chrono::steady_clock::now();
  auto last = begun;
  std::chrono::duration<double> longest{};
  std::size_t resident_before = 0;
  int next = 0, wrong = 0, failed = 0;
  while (const auto r = session.pop()) {
    const auto now = std::chrono::steady_clock::now();
    longest = std::max<std::chrono::duration<double>>(longest, now - last);
    last = now;
    if (is_deadly(next)) {
      ++failed;
      wrong += r->has_value();
    } else if (!r->has_value() || r->value() != 2.0 * next) {
      if (wrong++ == 0) {
        MESSAGE("the first that is wrong: item " << next);
        if (!r->has_value()) CHECK_NOTHROW(std::rethrow_exception(r->error()));
      }
    }
    if (++next == count / 5) resident_before = resident();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  ends.store(true);
  fate.join();
  CHECK(next == count);
  CHECK(wrong == 0);
  CHECK(failed == 4);
  CHECK(resident() < resident_before + (std::size_t{16} << 20));
  MESSAGE(count << " items by " << machines << " nodes in " << took.count() << " s, the longest wait "
                << longest.count() << " s: " << seen.killed << " killed, " << seen.stopped << " stopped, " << seen.cut
                << " cut off, " << seen.lossy << " with lost packets, " << seen.found_dead
                << " that an item had killed");
}

}  // namespace

TEST_CASE("two machines that fail at random lose no item, and an item that kills its node fails alone") {
  stream_through(2);
}

TEST_CASE("five machines that fail at random lose no item, and an item that kills its node fails alone") {
  stream_through(5);
}
