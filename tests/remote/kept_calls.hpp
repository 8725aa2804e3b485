// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/kept_calls.hpp: calls of an app from several threads that keep their connections, for any executor.

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>
#include <levada/run/deploy.hpp>

#include <run/progress.hpp>

namespace levada::test {

/// An in_process transport whose nodes count the connections that come to them.
class counting_transport final : public transport {
 public:
  std::unique_ptr<connection> connect(const std::string& address, std::size_t most_bytes,
                                      connection_events& events) override {
    return by_.connect(address, most_bytes, events);
  }
  std::unique_ptr<listener> listen(const std::string& address, std::size_t most_bytes,
                                   connection_acceptor& acceptor) override {
    counters_.push_back(std::make_unique<counter>(*this, acceptor));
    return by_.listen(address, most_bytes, *counters_.back());
  }

  int accepted() const { return accepted_.load(); }
  in_process& inside() { return by_; }

 private:
  class counter final : public connection_acceptor {
   public:
    counter(counting_transport& of, connection_acceptor& to) : of_(of), to_(to) {}
    connection_events* accepted(std::unique_ptr<connection> by) noexcept override {
      of_.accepted_.fetch_add(1);
      return to_.accepted(std::move(by));
    }

   private:
    counting_transport& of_;
    connection_acceptor& to_;
  };

  in_process by_;
  std::vector<std::unique_ptr<counter>> counters_;
  std::atomic<int> accepted_{0};
};

/// `threads` of them call, each `calls` times; meanwhile all connections are cut `losses` times.
template <class Executor>
void calls_from_threads(int threads, int calls, int losses) {
  using box = target<cpu<2>, remote<"edge", cpu<2>>>;
  using v1 = version<"1">;
  using by_executor = run_by<Executor>;
  const auto p = [] {
    return input<int> | on<remote<"edge">>(stage<"twice">([](int x) {
             if (x % 16 == 13) throw error("an unlucky number");
             return 2 * x;
           })) |
           stage<"less">([](int x) { return x - 1; });
  };
  const auto by = std::make_shared<counting_transport>();
  const remote_node node = serve<box, "edge", v1, by_executor>(p(), {by, "a"});
  {
    const auto app = deploy<box, v1, by_executor>(p(), endpoints<"edge">{by, {"a"}});
    CHECK(by->accepted() == 1);  // which asked whether it fits
    std::atomic<int> good{0}, unlucky{0}, done{0};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        for (int i = 0; i < calls; ++i, done.fetch_add(1)) {
          const int x = t * calls + i;
          try {
            if (app(x) == 2 * x - 1) good.fetch_add(1);
          } catch (const remote_error&) {
            if (x % 16 == 13) unlucky.fetch_add(1);
          }
        }
      });
    for (int i = 1; i <= losses; ++i)
      if (eventually([&] { return done.load() >= i * threads * calls / (losses + 1); })) by->inside().cut("a");
    for (std::thread& t : all) t.join();
    int expected = 0;
    for (int x = 0; x < threads * calls; ++x) expected += x % 16 == 13 ? 1 : 0;
    CHECK(unlucky.load() == expected);
    CHECK(good.load() == threads * calls - expected);
    // A call that is over at a loss has connected once more, which the next does not know.
    CHECK(by->accepted() <= 1 + threads * (1 + 2 * losses));
  }
  CHECK(eventually([&] { return node.sessions() == 0; }));
}

}  // namespace levada::test
