// SPDX-License-Identifier: Apache-2.0
// Recordings: a replay gives the bits of the live run, whatever the machine did meanwhile, in the time of its clock; a
// file that is cut off or of other items says so.

#include <sys/stat.h>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/interop/recording.hpp>
#include <levada/levada.hpp>

#include <files.hpp>

#include "../fuzz/recording_property.hpp"

namespace interop_recording {

namespace lv = levada;
using namespace std::chrono_literals;
using lv::operator""_ms;

using frame = lv::tensor<float, 2, 3>;
using time_point = std::chrono::steady_clock::time_point;

/// What comes out depends on all that came before, to the last bit.
auto smoothed() {
  return lv::input<frame> |
         lv::stage<"wave">(lv::parallel([](const frame& f) { return std::sin(f(0, 0)) * f(1, 2); })) |
         lv::stage<"odd ones">([](const float& x) -> std::optional<float> {
           if (x > 0.9f) return std::nullopt;
           return x;
         }) |
         lv::stage<"smooth">([mean = 0.f](const float& x) mutable {
           if (x < -0.9f) throw std::runtime_error("too low");
           return mean += (x - mean) * 0.1f;
         });
}

frame numbered(int i) {
  frame f{};
  for (std::size_t k = 0; k < 6; ++k) f.data()[k] = static_cast<float>(i) * 0.37f + static_cast<float>(k);
  f(1, 2) = 1.f - 0.001f * static_cast<float>(i);
  return f;
}

struct heard {
  std::uint64_t sequence;
  std::uint32_t bits;  ///< of its value; 0: it failed
  time_point captured;
  bool operator==(const heard&) const = default;
};
heard heard_of(const lv::result<float>& r, const lv::item_envelope& e) {
  std::uint32_t bits = 0;
  if (r) std::memcpy(&bits, &*r, sizeof bits);
  return {e.sequence, bits, e.captured};
}

template <int Threads, class... Options>
std::vector<heard> replayed(const std::string& file, lv::item_counts& counts) {
  const auto app = lv::deploy<lv::target<lv::cpu<Threads>>>(smoothed());
  std::vector<heard> all;
  lv::recording<frame> from(file);
  counts = lv::replay<Options...>(
      from, app, [&](lv::result<float> r, const lv::item_envelope& e) { all.push_back(heard_of(r, e)); });
  return all;
}

std::string error_of(auto f) {
  try {
    f();
  } catch (const lv::error& e) {
    return e.what();
  }
  return "no error";
}

TEST_CASE("a replay gives the bits of the live run, on any number of threads") {
  const levada::test::temporary_file file("recording");
  std::vector<heard> live;
  lv::item_counts counts;
  {
    const auto app = lv::deploy<lv::target<lv::cpu<2>>>(smoothed());
    auto session = app.open();
    lv::recorder<frame> tape(file.path);
    const auto pop_all = [&] {
      lv::item_envelope e;
      while (auto r = session.try_pop(e)) live.push_back(heard_of(*r, e));
    };
    for (int i = 0; i < 500; ++i) {
      CHECK(tape.push(session, numbered(i), time_point(std::chrono::milliseconds(10 * i + 1))));
      if (i % 7 == 0) pop_all();
      if (session.credits() == 0) session.drain(), pop_all();
    }
    session.close();
    lv::item_envelope e;
    while (auto r = session.pop(e)) live.push_back(heard_of(*r, e));
    counts = session.counts();
  }
  CHECK(counts.failed > 0);
  CHECK(counts.filtered > 0);
  lv::item_counts one, two;
  CHECK(replayed<1>(file.path, one) == live);
  CHECK(replayed<2>(file.path, two) == live);
  CHECK(one.delivered == counts.delivered);
  CHECK(two.failed == counts.failed);
  CHECK(two.filtered == counts.filtered);
}

TEST_CASE("a replay drops what came late, and nothing for the time its own work takes") {
  const levada::test::temporary_file file("recording");
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(smoothed());
  {
    lv::virtual_clock clock(time_point(1h));
    auto session = app.open<lv::overflow<lv::reject>>(clock);
    lv::recorder<frame> tape(file.path);
    for (int i = 0; i < 60; ++i) {
      clock.advance(10ms);
      // Every third comes 50 ms after it was captured.
      tape.push(session, numbered(1), i % 3 == 0 ? clock.now() - 50ms : time_point());
      session.drain();
      while (session.try_pop()) {
      }
    }
  }
  lv::item_counts first, second;
  const auto all = replayed<1, lv::deadline<20_ms>>(file.path, first);
  CHECK(first.dropped == 20);
  CHECK(first.pushed == 60);
  CHECK(all.size() == 40);
  CHECK(replayed<2, lv::deadline<20_ms>>(file.path, second) == all);
  CHECK(second.dropped == 20);
  // Items without a capture time were captured when they were pushed.
  CHECK(all.front().captured == time_point(1h + 20ms));
}

TEST_CASE("a replay goes by the time of the recording before the clock's epoch, too") {
  const levada::test::temporary_file file("recording");
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(smoothed());
  {
    lv::virtual_clock clock(time_point(-1h));
    auto session = app.open(clock);
    lv::recorder<frame> tape(file.path);
    for (int i = 0; i < 3; ++i) {
      clock.advance(10ms);
      tape.push(session, numbered(1), i == 1 ? clock.now() - 50ms : time_point());
    }
  }
  lv::item_counts counts;
  CHECK(replayed<1, lv::deadline<20_ms>>(file.path, counts).size() == 2);
  CHECK(counts.drops.overdue == 1);
}

TEST_CASE("a replay gives what was begun when its time is over, and the rest at the end") {
  const levada::test::temporary_file file("recording");
  const auto pipeline = lv::input<int> | lv::batch<4, lv::timeout<20_ms>> |
                        lv::stage<"sum">([n = 0](const std::array<int, 4>& b) mutable {
                          return b[0] + 10 * b[1] + 100 * b[2] + 1'000 * b[3] + 10'000 * ++n;
                        }) |
                        lv::repeat<3>;
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<2>>(pipeline);
  {
    lv::virtual_clock clock(time_point(1h));
    auto session = app.open(clock);
    lv::recorder<int> tape(file.path);
    for (int i = 1; i <= 9; ++i) {
      clock.advance(i == 3 || i == 6 ? 50ms : 1ms);
      tape.push(session, i);
      session.drain();
      while (session.try_pop()) session.drain();
    }
  }
  std::vector<int> sums;
  std::vector<time_point> captured;
  lv::recording<int> from(file.path);
  const lv::item_counts counts = lv::replay(from, app, [&](const lv::result<int>& r, const lv::item_envelope& e) {
    sums.push_back(*r);
    captured.push_back(e.captured);
  });
  std::vector<int> expected;
  for (const int sum : {10'021, 20'543, 39'876}) expected.insert(expected.end(), 3, sum);
  CHECK(sums == expected);
  CHECK(captured.front() == time_point(1h + 1ms));
  CHECK(captured.back() == time_point(1h + 104ms));
  CHECK(counts.pushed == 9);
  CHECK(counts.in_flight == 0);
}

TEST_CASE("a session in the time of a clock drops what the clock says is late") {
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  lv::virtual_clock clock;
  auto session = app.open<lv::deadline<5_ms>>(clock);
  CHECK(session.now() == time_point());
  session.measure();
  session.push(1);
  clock.advance(4ms);
  CHECK(session.pop()->value() == 1);
  clock.advance(6ms);
  session.push(2, time_point(4ms));  // due before it is pushed, so that no worker can be early enough
  session.drain();
  CHECK(session.counts().dropped == 1);
  clock.advance_to(time_point(1ms));  // never back
  clock.advance(-1ms);
  CHECK(session.now() == time_point(10ms));
  session.push(3, time_point(7ms));
  lv::item_envelope e;
  CHECK(session.pop(e)->value() == 3);
  CHECK(e.captured == time_point(7ms));
  const lv::session_statistics s = session.statistics();
  CHECK(s.age.count == 2);
  CHECK(s.age.min == 3'000'000);
  CHECK(s.age.max == 4'000'000);
}

TEST_CASE("what would be due behind the end of time is never due") {
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::batch<2, lv::timeout<20_ms>> |
                                                      lv::stage<"a">([](const std::array<int, 2>& b) { return b[0]; }));
  const lv::virtual_clock clock(time_point::max() - 10ms);
  auto session = app.open(clock);
  session.push(1);
  session.drain();
  CHECK(!session.due());
  CHECK(!session.try_pop());
  session.close();
  CHECK(session.pop()->value() == 1);
}

TEST_CASE("an item without a capture time was captured when it was pushed, in the live run as in its replay") {
  const levada::test::temporary_file file("recording");
  const auto app =
      lv::deploy<lv::target<lv::cpu<1>>, lv::slots<1>>(lv::input<int> | lv::stage<"slow">([](const int& x) {
                                                         std::this_thread::sleep_for(2ms);
                                                         return x;
                                                       }));
  std::vector<time_point> live;
  const auto check = [&]<class... Options>(lv::type_list<Options...>) {
    live.clear();
    auto session = app.open<Options...>();
    lv::recorder<int> tape(file.path);
    // With one slot, all but the first wait inside push.
    std::thread pusher([&] {
      for (int i = 0; i < 4; ++i) CHECK(tape.push(session, i));
      while (!tape.try_push(session, 4)) std::this_thread::yield();
      tape.flush();
      session.close();
    });
    lv::item_envelope e;
    while (session.pop(e)) live.push_back(e.captured);
    pusher.join();
    REQUIRE(live.size() == 5);
    lv::recording<int> from(file.path);
    std::size_t next = 0;
    lv::replay<Options...>(from, app, [&](const lv::result<int>&, const lv::item_envelope& again) {
      CHECK(again.captured == live[next++]);
    });
    CHECK(next == 5);
  };
  check(lv::type_list<>{});
  check(lv::type_list<lv::deadline<1000_ms>>{});
}

TEST_CASE("items of one size are told apart by their types") {
  const levada::test::temporary_file file("recording");
  { lv::recorder<int> tape(file.path); }
  CHECK(lv::recording<int>(file.path).next() == nullptr);
  CHECK(error_of([&] { lv::recording<float> r(file.path); }) ==
        "levada: " + file.path + ": is no recording of items of 4 bytes (float)");
}

TEST_CASE("an item without a default constructor is read as it was") {
  struct reading {
    int value;
    explicit reading(int v) : value(v) {}
  };
  const levada::test::temporary_file file("recording");
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<reading> |
                                                      lv::stage<"value">([](const reading& r) { return r.value; }));
  {
    auto session = app.open();
    lv::recorder<reading> tape(file.path);
    for (int i = 0; i < 3; ++i) tape.push(session, reading(i));
  }
  lv::recording<reading> from(file.path);
  int next = 0;
  lv::replay(from, app, [&](const lv::result<int>& r, const lv::item_envelope&) { CHECK(r.value() == next++); });
  CHECK(next == 3);
}

TEST_CASE("what a session did not take is not recorded") {
  const levada::test::temporary_file file("recording");
  const auto app =
      lv::deploy<lv::target<lv::cpu<1>>, lv::slots<2>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  {
    auto session = app.open<lv::dedicated>();
    session.drain();
    lv::recorder<int> tape(file.path);
    int taken = 0;
    for (int i = 0; i < 10; ++i) taken += tape.try_push(session, i) ? 1 : 0;
    CHECK(taken == 2);
    session.cancel();
    CHECK_THROWS_AS(tape.push(session, 11), lv::cancelled);
    tape.flush();
  }
  lv::recording<int> again(file.path);
  for (int i = 0; i < 2; ++i) CHECK(again.next()->value == i);
  CHECK(again.next() == nullptr);
  CHECK(again.next() == nullptr);
}

TEST_CASE("a file that is cut off, of other items, or none says so, and what came before is read") {
  const levada::test::temporary_file file("recording");
  const auto cannot_be_read = [](const std::string& path) { return error_of([&] { lv::recording<int> r(path); }); };
  CHECK(cannot_be_read(file.path) == "levada: " + file.path + ": cannot be read: No such file or directory");
  REQUIRE(::mkfifo(file.path.c_str(), 0600) == 0);
  CHECK(cannot_be_read(file.path) == "levada: " + file.path + ": cannot be read: is no regular file");
  std::filesystem::remove(file.path);
  CHECK(cannot_be_read("/") == "levada: /: cannot be read: Is a directory");
  CHECK(error_of([&] { lv::recorder<int> r(file.path + "/none"); }) ==
        "levada: " + file.path + "/none: cannot be written: No such file or directory");
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(smoothed());
  {
    auto session = app.open();
    lv::recorder<frame> tape(file.path);
    for (int i = 0; i < 3; ++i) tape.push(session, numbered(i));
  }
  CHECK(error_of([&] { lv::recording<lv::tensor<float, 3, 2>> r(file.path); }) ==
        "levada: " + file.path + ": is no recording of items of float[3x2] (levada::tensor<float, 3ul, 2ul>)");
  const auto whole = std::filesystem::file_size(file.path);
  for (std::uintmax_t cut = 1; cut < sizeof(frame) + 16; cut += 3) {
    std::filesystem::resize_file(file.path, whole - cut);
    lv::recording<frame> r(file.path);
    CHECK(r.next() != nullptr);
    CHECK(r.next() != nullptr);
    CHECK(error_of([&] { r.next(); }) == "levada: " + file.path + ": ends in the middle of item 2");
  }
  std::filesystem::resize_file(file.path, 9);
  CHECK(error_of([&] { lv::recording<frame> r(file.path); }) ==
        "levada: " + file.path + ": is no recording of items of float[2x3] (levada::tensor<float, 2ul, 3ul>)");
}

TEST_CASE("times that no clock has are refused, and those of any clock are replayed") {
  using levada_test::bytes_of;
  constexpr std::int64_t end = std::int64_t{1} << 62, most = std::numeric_limits<std::int64_t>::max();
  const levada::test::temporary_file file("recording");
  const auto replayed = [&](std::int64_t captured, std::int64_t pushed) {
    std::ofstream(file.path, std::ios::binary) << lv::detail::recording_line<levada_test::recorded>()
                                               << bytes_of(0, 0, {5, 2, 3}) << bytes_of(captured, pushed, {5, 2, 3});
    return error_of([&] { static_cast<void>(levada_test::replayed<1>(file.path)); });
  };
  const std::string refused = "levada: " + file.path + ": item 1 has a time that no clock has";
  for (const std::int64_t t : {end, -end, most, -most, std::numeric_limits<std::int64_t>::min()}) {
    CHECK(replayed(t, 0) == refused);
    CHECK(replayed(0, t) == refused);
  }
  for (const std::int64_t t : {end - 1, 1 - end, std::int64_t{-1}}) {
    CHECK(replayed(t, 0) == "no error");
    CHECK(replayed(0, t) == "no error");
    CHECK(replayed(t, -t) == "no error");
  }
}

}  // namespace interop_recording
