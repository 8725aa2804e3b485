// SPDX-License-Identifier: Apache-2.0
// Pipelines that change their rate: what comes out is what a plain loop makes of all items, whatever fails or ends
// early.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/levada.hpp>
#include <levada/run/detail/program/virtual_clock.hpp>
#include <levada/run/simulated.hpp>

namespace run_rates {

namespace lv = levada;

using box = lv::target<lv::cpu<2>, lv::simulated<0>>;

std::vector<int> numbers(int count) {
  std::vector<int> items;
  for (int i = 0; i < count; ++i) items.push_back(i);
  return items;
}

/// Text of many bytes, so that what is destroyed twice, or never, is found.
std::string text(int i) { return std::string(40, 'x') + std::to_string(i); }

TEST_CASE("batches of tensors and of others, whole and filled up at the end; and one by one again") {
  const auto app =
      lv::deploy<box>(lv::input<int> | lv::stage<"tensor">(+[](const int& i) {
                        lv::tensor<float, 2> t;
                        t[0] = static_cast<float>(i), t[1] = static_cast<float>(-i);
                        return t;
                      }) |
                      lv::batch<4> | lv::stage<"twice">([](lv::tensor<float, 4, 2>& b) {
                        for (float& v : b) v *= 2;
                      }) |
                      lv::unbatch | lv::stage<"sum">(+[](const lv::tensor<float, 2>& t) { return t[0] - 2 * t[1]; }));
  static_assert(decltype(app)::plan.regions == 3);
  static_assert(decltype(app)::plan.repetitions == std::array<std::size_t, 3>{4, 1, 4});
  static_assert(decltype(app)::plan.rate[1].name == "batch");
  for (const int count : {0, 1, 3, 4, 5, 257}) {
    CAPTURE(count);
    int next = 0;
    for (auto&& r : app.stream(numbers(count))) CHECK(*r == static_cast<float>(6 * next++));
    CHECK(next == count);
  }
}

TEST_CASE("the padding of a batch that is repeated or left out is left out, too") {
  const auto same = lv::stage<"same">(+[](const std::array<int, 4>& b) { return b; });
  const auto results = [](const auto& app, int count) {
    std::vector<int> found;
    for (auto&& r : app.stream(numbers(count))) found.push_back(*r);
    return found;
  };
  const auto twice = lv::deploy<box>(lv::input<int> | lv::batch<4> | lv::repeat<2> | same | lv::unbatch);
  CHECK(results(twice, 6) == std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 4, 5});
  const auto every_second = lv::deploy<box>(lv::input<int> | lv::batch<4> | lv::downsample<2> | same | lv::unbatch);
  CHECK(results(every_second, 9) == std::vector<int>{0, 1, 2, 3, 8});
}

TEST_CASE("batches of items that own memory, dropped at the end and counted") {
  const auto app = lv::deploy<box>(
      lv::input<int> | lv::stage<"text">(+[](const int& i) { return text(i); }) | lv::batch<3, lv::partial::drop> |
      lv::stage<"join">(+[](const std::array<std::string, 3>& a) { return a[0] + a[1] + a[2]; }));
  auto session = app.open();
  std::jthread pusher([&] {
    for (int i = 0; i < 200; ++i) session.push(i);
    session.close();
  });
  for (int i = 0; i + 3 <= 200; i += 3) {
    auto r = session.pop();
    REQUIRE(r);
    CHECK(**r == text(i) + text(i + 1) + text(i + 2));
  }
  CHECK(!session.pop());
  CHECK(session.is_over());
  CHECK(session.regions() == 2);
  CHECK(session.counts().pushed == 200);
  CHECK(session.counts().delivered == 198);
  CHECK(session.counts().dropped == 2);
  CHECK(session.counts(1).delivered == 66);
}

TEST_CASE("windows over chunks of any length") {
  // Overlapping, side by side, and with gaps.
  const auto check = [](auto window, std::size_t size, std::size_t step) {
    const auto app = lv::deploy<box>(lv::input<std::vector<float>> | window);
    std::vector<std::vector<float>> chunks;
    std::vector<float> all;
    std::uint32_t random = 7;
    for (int i = 0; i < 300; ++i) {
      random = random * 1664525 + 1013904223;
      std::vector<float> chunk;
      for (std::uint32_t n = (random >> 20) % 23; n > 0; --n) {
        chunk.push_back(static_cast<float>(all.size()));
        all.push_back(static_cast<float>(all.size()));
      }
      chunks.push_back(chunk);
    }
    std::size_t begin = 0;
    for (auto&& r : app.stream(chunks)) {
      REQUIRE(begin + size <= all.size());
      for (std::size_t i = 0; i < size; ++i) CHECK((*r)[i] == all[begin + i]);
      begin += step;
    }
    CHECK(begin + size > all.size());
  };
  check(lv::window<10, 4>, 10, 4);
  check(lv::window<10>, 10, 10);
  check(lv::window<3, 7>, 3, 7);
  check(lv::window<1, 1>, 1, 1);
}

TEST_CASE("windows over tensors along their first axis, the last filled up") {
  using chunk = lv::tensor<std::int32_t, 5, 2>;
  const auto app = lv::deploy<box>(lv::input<chunk> | lv::window<4, 2, lv::partial::pad> |
                                   lv::stage<"sum">([](const lv::tensor<std::int32_t, 4, 2>& w) {
                                     std::int32_t sum = 0;
                                     for (const std::int32_t v : w) sum += v;
                                     return sum;
                                   }));
  static_assert(decltype(app)::plan.repetitions == std::array<std::size_t, 2>{2, 5});
  std::vector<chunk> chunks(3);
  std::vector<std::int32_t> all;
  for (chunk& c : chunks)
    for (std::int32_t& v : c) {
      v = static_cast<std::int32_t>(all.size());
      all.push_back(v);
    }
  std::size_t begin = 0;
  for (auto&& r : app.stream(chunks)) {
    std::int32_t expected = 0;
    for (std::size_t i = 0; i < 8 && 2 * begin + i < all.size(); ++i) expected += all[2 * begin + i];
    CHECK(*r == expected);
    begin += 2;
  }
  CHECK(begin == 14);  // 15 samples: the last window has 3 of them
}

TEST_CASE("fewer samples than a window of many steps are one window, filled up; what a window had is not given again") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::window<4, 1, lv::partial::pad>);
  const auto windows = [&](int count) {
    std::vector<std::array<int, 4>> all;
    for (auto&& r : app.stream(numbers(count))) all.push_back({(*r)[0], (*r)[1], (*r)[2], (*r)[3]});
    return all;
  };
  CHECK(windows(0).empty());
  CHECK(windows(2) == std::vector<std::array<int, 4>>{{0, 1, 0, 0}});
  CHECK(windows(5) == std::vector<std::array<int, 4>>{{0, 1, 2, 3}, {1, 2, 3, 4}});
}

/// Cannot be copied, or made of nothing, when the time has come.
struct brittle {
  static inline int copies_left = -1;
  static inline bool can_be_nothing = true;

  brittle() : held(text(-1)) {
    if (!can_be_nothing) throw std::runtime_error("nothing");
  }
  explicit brittle(int i) : held(text(i)) {}
  brittle(const brittle& other) : held(other.held) {
    if (copies_left-- == 0) throw std::runtime_error("copy");
  }
  brittle(brittle&&) = default;
  brittle& operator=(const brittle&) = default;
  brittle& operator=(brittle&&) = default;
  std::string held;
};

/// The results as text, "!" for what failed.
template <class App>
std::vector<std::string> all_of(const App& app, int count) {
  std::vector<int> items;
  for (int i = 0; i < count; ++i) items.push_back(i);
  std::vector<std::string> found;
  for (auto&& r : app.stream(items)) found.push_back(r ? *r : "!");
  return found;
}

const auto made_brittle = lv::stage<"made">(+[](const int& i) { return brittle(i); });
const auto held = lv::stage<"held">(+[](const brittle& b) { return b.held; });

TEST_CASE("what cannot be repeated or padded fails, and what comes behind it is whole") {
  const auto repeated = lv::deploy<box>(lv::input<int> | made_brittle | lv::repeat<3> | held);
  brittle::copies_left = 3;
  CHECK(all_of(repeated, 3) ==
        std::vector<std::string>{text(0), text(0), text(0), text(1), "!", text(2), text(2), text(2)});
  brittle::copies_left = -1;

  const auto padded = lv::deploy<box>(
      lv::input<int> | made_brittle | lv::batch<3> |
      lv::stage<"glued">(+[](const std::array<brittle, 3>& b) { return b[0].held + b[1].held + b[2].held; }));
  CHECK(all_of(padded, 4) == std::vector<std::string>{text(0) + text(1) + text(2), text(3) + text(-1) + text(-1)});
  brittle::can_be_nothing = false;
  CHECK(all_of(padded, 4) == std::vector<std::string>{text(0) + text(1) + text(2), "!"});
  auto session = padded.open();
  for (int i = 0; i < 5; ++i) session.push(i);
  session.close();
  while (session.pop()) {
  }
  CHECK(session.counts(0).delivered == 3);
  CHECK(session.counts(0).dropped == 2);
  CHECK(session.counts(1).delivered == 1);
  CHECK(session.counts(1).failed == 1);
  brittle::can_be_nothing = true;
}

TEST_CASE("one of N, N of one, M for N, in a row") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::downsample<3> |
                                   lv::stage<"text">(+[](const int& i) { return text(i); }) | lv::repeat<2> |
                                   lv::rate<"three to two", 3, 2, std::string>(
                                       [](std::span<const std::string, 3> in, std::span<std::string, 2> out) {
                                         out[0] = in[0] + in[1];
                                         out[1] = in[2];
                                       }));
  static_assert(decltype(app)::plan.regions == 4);
  static_assert(decltype(app)::plan.repetitions == std::array<std::size_t, 4>{9, 3, 6, 4});
  std::vector<std::string> twice, expected;
  for (int i = 0; i < 100; i += 3) twice.insert(twice.end(), 2, text(i));
  for (std::size_t i = 0; i + 3 <= twice.size(); i += 3) {
    expected.push_back(twice[i] + twice[i + 1]);
    expected.push_back(twice[i + 2]);
  }
  std::size_t next = 0;
  for (auto&& r : app.stream(numbers(100))) {
    REQUIRE(next < expected.size());
    CHECK(*r == expected[next++]);
  }
  CHECK(next == expected.size());
}

TEST_CASE(
    "an item that fails passes in its place, what was begun before it is given short; filtered ones leave no gap") {
  const auto app = lv::deploy<box>(
      lv::input<int> | lv::stage<"some">([](const int& i) -> std::optional<std::string> {
        if (i % 10 == 7) throw std::runtime_error(text(i));
        if (i % 10 == 3) return std::nullopt;
        return text(i);
      }) |
      lv::batch<4> | lv::stage<"same">(+[](std::array<std::string, 4>&& b) { return std::move(b); }) | lv::unbatch);
  int i = 0;
  for (auto&& r : app.stream(numbers(200))) {
    if (i % 10 == 3) ++i;
    if (i % 10 == 7)
      CHECK_THROWS_WITH(r.value(), text(i).c_str());
    else
      CHECK(*r == text(i));
    ++i;
  }
  CHECK(i == 200);
}

TEST_CASE("what a rate throws is told where it fails, and what a stage throws once; each region has its counts") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"odd">([](const int& i) {
                                     if (i == 6) throw std::runtime_error("six");
                                     return i;
                                   }) |
                                   lv::rate<"r", 2, 1, int>([](std::span<const int, 2> in, std::span<int, 1> out) {
                                     if (in[0] == 2) throw std::runtime_error("two");
                                     out[0] = in[0] + in[1];
                                   }));
  auto session = app.open();
  std::mutex mutex;
  std::vector<std::string> heard;
  session.on_error([&](std::uint64_t sequence, const std::exception_ptr& why) noexcept {
    const std::lock_guard lock(mutex);
    try {
      std::rethrow_exception(why);
    } catch (const std::exception& e) {
      heard.push_back(std::to_string(sequence) + e.what());
    }
  });
  for (int i = 0; i < 9; ++i) session.push(i);
  session.close();
  std::vector<int> given;
  while (const auto r = session.pop()) given.push_back(*r ? **r : -1);
  CHECK(given == std::vector<int>{1, -1, 9, -1, 15});
  std::sort(heard.begin(), heard.end());
  CHECK(heard == std::vector<std::string>{"1two", "6six"});
  const lv::session_statistics s = session.statistics();
  CHECK(s.items.pushed == 9);
  CHECK(s.items.failed == 1);
  REQUIRE(s.regions_behind.size() == 1);
  CHECK(s.regions_behind[0].pushed == 5);
  CHECK(s.regions_behind[0].delivered == 3);
  CHECK(s.regions_behind[0].failed == 2);
}

TEST_CASE("across devices, with few slots, in sessions that only try, and begun again") {
  const auto app = lv::deploy<box, lv::slots<2>>(
      lv::input<int> | lv::on<lv::simulated<0>>(lv::stage<"text">([](const int& i) { return text(i); })) |
      lv::batch<5> |
      lv::on<lv::simulated<0>>(lv::stage<"first">([](const std::array<std::string, 5>& b) { return b[0]; })) |
      lv::stage<"count">([n = 0](const std::string& s) mutable { return s + "/" + std::to_string(n++); }));
  auto session = app.open();
  for (int round = 0; round < 2; ++round) {
    int pushed = 0, popped = 0;
    while (popped < 20) {
      if (pushed < 100 && session.try_push(pushed)) ++pushed;
      if (auto r = session.try_pop()) {
        CHECK(**r == text(popped * 5) + "/" + std::to_string(popped));
        ++popped;
      } else {
        std::this_thread::yield();
      }
    }
    CHECK(pushed == 100);
    session.reset();
  }
}

TEST_CASE("states are not reset while results wait that others are behind") {
  const auto app =
      lv::deploy<box, lv::slots<2>>(lv::input<int> | lv::repeat<10> |
                                    lv::stage<"count">([n = 0](const int& i) mutable { return std::pair(i, ++n); }));
  auto session = app.open();
  session.push(7);
  session.push(8);
  CHECK_THROWS_WITH_AS(session.reset(), "levada: reset: results wait, and what is behind them is not finished",
                       lv::error);
  for (int i = 0; i < 20; ++i) CHECK(session.pop()->value() == std::pair(i < 10 ? 7 : 8, i + 1));
  session.reset();
  session.push(9);
  CHECK(session.pop()->value() == std::pair(9, 1));
}

TEST_CASE("given up half-way, with batches begun and results unpopped") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"text">(+[](const int& i) { return text(i); }) |
                                   lv::batch<7> | lv::repeat<3>);
  for (int count = 0; count < 40; ++count) {
    auto session = app.open();
    for (int i = 0; i < count; ++i) session.push(i);
    if (count % 3 == 0 && count >= 7) CHECK((**session.pop())[0] == text(0));
    if (count % 4 == 0) session.cancel();
  }
  auto over = app.open();
  over.push(1);
  over.close();
  CHECK((**over.pop())[0] == text(1));
  CHECK((**over.pop())[1].empty());
  CHECK((**over.pop())[0] == text(1));
  CHECK(!over.pop());
}

TEST_CASE("a batch of a live source is given short when its time is over, by the session's clock") {
  using namespace lv::literals;
  const auto app = lv::deploy<box>(lv::input<int> | lv::batch<4, lv::timeout<20_ms>> |
                                   lv::stage<"same">(+[](const std::array<int, 4>& b) { return b; }) | lv::unbatch);
  auto session = app.open();
  for (int i = 0; i < 6; ++i) session.push(i);
  for (int i = 0; i < 6; ++i) CHECK(**session.pop() == i);  // the last two wait for nobody
  session.push(6);
  CHECK(**session.pop() == 6);

  lv::virtual_clock clock(std::chrono::steady_clock::time_point() + std::chrono::seconds(1));
  auto slow = app.open(clock);
  slow.push(1);
  slow.push(2);
  while (slow.counts().delivered < 2) {  // until both are in the batch
    CHECK(!slow.try_pop());
    std::this_thread::yield();
  }
  CHECK(slow.due() == clock.now() + std::chrono::milliseconds(20));
  slow.drain();  // as far as the clock has come
  CHECK(!slow.try_pop());
  clock.advance_to(*slow.due());
  CHECK(**slow.pop() == 1);
  CHECK(**slow.pop() == 2);
  CHECK(!slow.try_pop());
  CHECK(!slow.due());
}

}  // namespace run_rates
