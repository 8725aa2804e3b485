// SPDX-License-Identifier: Apache-2.0
// Parts of a pipeline on the ranks of an MPI program: rank 0 runs the cases, the others serve; rank 4 has no part.
// mpirun -n 6

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <levada/cluster.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

namespace {

/// An item that does not go as it lies: a text of up to 40 characters, and none for "".
struct text {
  std::string words;
};
using block = std::array<std::int32_t, 2000>;

}  // namespace

template <>
struct levada::wire<text> {
  static constexpr std::string_view name = "text, 1";
  static constexpr std::size_t most_bytes = 40;
  static void write(wire_writer& to, const text& t) { to.write(t.words.data(), t.words.size()); }
  static text read(wire_reader& from) {
    text t{std::string(from.left(), ' ')};
    from.read(t.words.data(), t.words.size());
    return t;
  }
};

namespace {

using box = lv::target<lv::cpu<2>, lv::mpi<1, lv::cpu<1>>, lv::mpi<2, lv::cpu<2>>, lv::mpi<3, lv::cpu<1>>>;

/// Of these rank 3 gives nothing.
constexpr bool is_filtered(int x) { return (x + 1) % 10 == 5; }

/// Side data, attached at rank 0 and at rank 1.
struct origin {
  int x;
};
struct sum {
  double of;
};

/// Rank 1 fails for 77, rank 2 numbers what comes, rank 3 writes it down.
auto line() {
  return lv::input<int> | lv::stage<"widen">([](const int& x, origin& from) {
           from.x = x;
           block b{};
           b.fill(x);
           return b;
         }) |
         lv::on<lv::mpi<1>>(lv::stage<"add">([](block& b, sum& s) {
           if (b[0] == 77) throw std::runtime_error("no 77");
           b.back() += 1;
           s.of = b.back();
         })) |
         lv::on<lv::mpi<2>>(lv::stage<"number">([n = 0](block& b) mutable { b.front() = n++; })) |
         lv::on<lv::mpi<3>>(lv::stage<"write down">([](const block& b, const origin& from) -> std::optional<text> {
           if (is_filtered(from.x)) return std::nullopt;
           return b.back() % 10 == 0 ? text{} : text{std::to_string(b.front()) + ":" + std::to_string(b.back())};
         })) |
         lv::stage<"words">([](text&& t, const origin& from, const sum& s) {
           if (s.of != from.x + 1) throw std::runtime_error("no sum of rank 1");
           return std::move(t.words);
         });
}
std::string expected(int number, int x) {
  return (x + 1) % 10 == 0 ? std::string() : std::to_string(number) + ":" + std::to_string(x + 1);
}

/// Items so large that they are sent from their slots, while others are received. Rank 5 fails for each tenth.
using page = lv::tensor<std::int32_t, 300'000>;
using large_box = lv::target<lv::cpu<1>, lv::mpi<5, lv::cpu<1>>>;

auto pages() {
  return lv::input<int> | lv::stage<"fill", page>([](int n, page& to) { to.fill(n); }) |
         lv::on<lv::mpi<5>>(lv::stage<"sum", page>([sum = 0](const page& given, page& to) mutable {
           if (given[0] % 10 == 9) throw std::runtime_error("a tenth");
           sum += given[0];
           for (std::size_t i = 0; i < to.size(); ++i) to[i] = given[i] + sum;
         }));
}

lv::cluster* ranks = nullptr;

std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = i;
  return all;
}

}  // namespace

TEST_CASE("items go over three ranks in order, state is kept there, and one that fails harms no other") {
  const auto app = lv::deploy<box>(line(), *ranks);
  int next = 0, number = 0, failed = 0;
  for (auto&& r : app.stream(numbers(500))) {
    if (next == 77) {
      ++failed;
      REQUIRE(!r);
      std::string why;
      try {
        std::rethrow_exception(r.error());
      } catch (const lv::remote_error& e) {
        why = e.what();
      }
      CHECK(why == "levada: rank 1: item 77: no 77");
    } else {
      REQUIRE(r);
      REQUIRE(r.value() == expected(number++, next));
    }
    for (++next; is_filtered(next); ++next) ++number;
  }
  CHECK(next == 500);
  CHECK(failed == 1);
}

TEST_CASE("sessions are apart, on the ranks too, and calls are sessions of their own") {
  const auto app = lv::deploy<box>(line(), *ranks);
  const auto run = [&](int first) {
    auto session = app.open();
    for (int i = 0; i < 100; ++i) {
      session.push(first + i);
      if (is_filtered(first + i)) continue;
      const auto result = session.pop();
      if (result->value() != expected(i, first + i)) return false;
    }
    return true;
  };
  bool one = false, other = false;
  std::thread beside([&] { other = run(1000); });
  one = run(100);
  beside.join();
  CHECK(one);
  CHECK(other);
  CHECK(run(2000));
}

TEST_CASE("what is cancelled on the way ends, and the next session begins anew") {
  const auto app = lv::deploy<box>(line(), *ranks);
  for (int round = 0; round < 5; ++round) {
    auto session = app.open();
    for (int i = 0; i < 4; ++i) session.push(i);
    session.cancel();
    while (session.pop()) {
    }
    CHECK(session.is_over());
  }
  auto session = app.open<lv::realtime>();
  session.push(5);
  CHECK(session.pop()->value() == expected(0, 5));
}

TEST_CASE("large items go there and back while others are received, and failures are among them") {
  const auto app = lv::deploy<large_box, lv::slots<4>>(pages(), *ranks);
  int next = 0, sum = 0;
  for (auto&& r : app.stream(numbers(200))) {
    if (next % 10 == 9) {
      CHECK(!r);
    } else {
      REQUIRE(r);
      sum += next;
      const page& p = r.value();
      REQUIRE(std::count(p.begin(), p.end(), next + sum) == static_cast<std::ptrdiff_t>(p.size()));
    }
    ++next;
  }
  CHECK(next == 200);
}

TEST_CASE("threads get an ordered mutex in turns, and one that only tries waits for none") {
  lv::detail::ordered_mutex mutex;
  constexpr int threads = 3, rounds = 2000;
  int count = 0;
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&] {
        for (int i = 0; i < rounds; ++i) {
          const std::lock_guard lock(mutex);
          ++count;
        }
      });
  }
  CHECK(count == threads * rounds);
  REQUIRE(mutex.try_lock());
  CHECK(!mutex.try_lock());
  // Who asks first has it first, though this thread asks again at once.
  std::atomic<bool> has_had{false};
  std::jthread other([&] {
    const std::lock_guard lock(mutex);
    has_had.store(true);
  });
  while (!mutex.is_waited_for()) std::this_thread::yield();
  mutex.unlock();
  mutex.lock();
  CHECK(has_had.load());
  mutex.unlock();
}

TEST_CASE("a rank that was not started, one that does not serve, and one of another program") {
  using larger = lv::target<lv::cpu<1>, lv::mpi<9, lv::cpu<1>>>;
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::deploy<larger>(
                           lv::input<int> | lv::on<lv::mpi<9>>(lv::stage<"same">([](int x) { return x; })), *ranks)),
                       "levada: rank 9 has a part of the pipeline, and mpirun started 6 ranks", lv::remote_error);
  using silent = lv::target<lv::cpu<1>, lv::mpi<4, lv::cpu<1>>>;
  ranks->patience = std::chrono::milliseconds(20);
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::deploy<silent>(
                           lv::input<int> | lv::on<lv::mpi<4>>(lv::stage<"same">([](int x) { return x; })), *ranks)),
                       "levada: rank 4 does not answer: it has to call lv::serve", lv::remote_error);
  ranks->patience = std::chrono::seconds(30);
  const auto other = lv::input<int> | lv::on<lv::mpi<1>>(lv::stage<"same">([](int x) { return x; }));
  try {
    static_cast<void>(lv::deploy<box>(other, *ranks));
  } catch (const lv::remote_error& e) {
    CHECK(std::string(e.what()) ==
          "levada: rank 1: the ranks are programs that differ: the driver has `items int32`, "
          "and the node `items 8000 bytes aligned 4`");
  }
}

int main(int count, char** arguments) {
  lv::cluster all(count, arguments);
  if (all.rank() != 0) {
    lv::serve<box>(line(), all);
    lv::serve<large_box>(pages(), all);
    return 0;
  }
  ranks = &all;
  return doctest::Context(count, arguments).run();
}
