// SPDX-License-Identifier: Apache-2.0
// Traces: the file is JSON by a reader that nobody here wrote, its events have what the trace event format asks for,
// and on each worker they nest.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/interop/trace.hpp>
#include <levada/levada.hpp>
#include <levada/run/simulated.hpp>
#include <nlohmann/json.hpp>

namespace interop_trace {

namespace lv = levada;
using nlohmann::json;

using box = lv::target<lv::cpu<2>, lv::simulated<0>>;

auto with_device() {
  return lv::input<int> | lv::stage<"before \"it\"">([](const int& x) { return x; }) |
         lv::on<lv::simulated<0>>(lv::stage<"there">([](const int& x) { return x + 1; })) |
         lv::stage<"behind">(lv::serial([](const int& x) { return x; }));
}

json parsed(const lv::session_trace& trace) {
  std::ostringstream text;
  lv::write_trace(text, trace);
  return json::parse(text.str());
}

struct slice {
  double begin, end;
  std::string name;
};

/// Each slice is either inside another or beside it; the outermost are grains and those inside are stages.
void check_nested(std::vector<slice> slices) {
  std::sort(slices.begin(), slices.end(),
            [](const slice& a, const slice& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  std::vector<slice> open;
  for (const slice& s : slices) {
    while (!open.empty() && open.back().end <= s.begin) open.pop_back();
    if (!open.empty()) REQUIRE(s.end <= open.back().end);
    REQUIRE(open.size() <= 1);
    if (s.name.rfind("segment ", 0) != 0 && s.begin != s.end) REQUIRE(open.size() == 1);
    open.push_back(s);
  }
}

TEST_CASE("every item's way is there: stages on workers, the device, slots; and slices nest") {
  lv::simulated_device<0>().reset();
  constexpr std::uint64_t count = 300;
  const auto app = lv::deploy<box>(with_device());
  auto session = app.open();
  session.trace();
  std::thread pusher([&] {
    for (std::uint64_t i = 0; i < count; ++i) session.push(static_cast<int>(i));
    session.close();
  });
  while (session.pop()) {
  }
  pusher.join();
  const json trace = parsed(session.traced());
  CHECK(trace.at("otherData").at("overwritten") == 0);

  std::map<int, std::vector<slice>> threads;
  std::map<std::string, std::uint64_t> items;
  std::map<std::string, std::map<std::string, int>> open;  // async events by name and id
  std::set<int> named;
  std::uint64_t counters = 0, at_device = 0;
  for (const json& e : trace.at("traceEvents")) {
    const std::string phase = e.at("ph"), name = e.at("name");
    CHECK(e.at("pid") == 1);
    const int thread = e.at("tid");
    if (phase == "M") {
      named.insert(thread);
      continue;
    }
    const double at = e.at("ts");
    CHECK(at >= 0);
    if (phase == "X") {
      const double took = e.at("dur");
      CHECK(took >= 0);
      items[name] += e.at("args").at("items").get<std::uint64_t>();
      // Whole nanoseconds again: a sum of fractions would be off.
      const auto ns = [](double us) { return static_cast<double>(static_cast<std::int64_t>(us * 1000 + 0.5)); };
      threads[thread].push_back({ns(at), ns(at) + ns(took), name});
    } else if (phase == "b") {
      ++open[name][e.at("id")];
      at_device += e.at("cat") == "device";
    } else if (phase == "e") {
      --open[name][e.at("id")];
    } else {
      CHECK(phase == "C");
      CHECK(e.at("args").at("in use").get<int>() <= 64);
      ++counters;
    }
  }
  for (const auto& [thread, slices] : threads) {
    CHECK(named.count(thread) == 1);
    check_nested(slices);
  }
  for (const auto& [name, ids] : open)
    for (const auto& [id, left] : ids) CHECK(left == 0);
  CHECK(items["before \"it\""] == count);
  CHECK(items["there"] == count);
  CHECK(items["behind"] == count);
  CHECK(at_device == count);
  CHECK(counters == count);
}

TEST_CASE("where the rate changes, each region has a counter of its slots") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<8>>(
      lv::input<int> | lv::repeat<3> | lv::stage<"a">([](const int& x) { return x; }) | lv::repeat<2> |
      lv::stage<"b">([](const int& x) { return x; }));
  auto session = app.open();
  session.trace();
  for (int i = 0; i < 5; ++i) {
    session.push(i);
    for (int r = 0; r < 6; ++r) CHECK(session.pop()->value() == i);
  }
  const lv::session_trace t = session.traced();
  CHECK(t.regions == 3);
  std::map<std::string, int> counters;
  const json written = parsed(t);
  for (const json& e : written.at("traceEvents"))
    if (e.at("ph") == "C") ++counters[e.at("name")];
  CHECK(counters.size() == 3);
  CHECK(counters["slots"] == 5);
  CHECK(counters.count("slots of rate region 1") == 1);
  CHECK(counters.count("slots of rate region 2") == 1);
}

TEST_CASE("a ring keeps the last events and says how many are lost; switched off, nothing is kept") {
  const auto app =
      lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::stage<"a">(lv::serial([](const int& x) { return x; })));
  auto session = app.open();
  CHECK(session.traced().events.empty());
  session.trace(8);
  for (int i = 0; i < 500; ++i) session.push(i), session.pop();
  const lv::session_trace t = session.traced();
  CHECK(t.stages == std::vector<std::string>{"a"});
  CHECK(t.overwritten > 0);
  std::uint64_t last = 0;
  for (const lv::trace_event& e : t.events) last = std::max(last, e.item);
  CHECK(last == 499);
  CHECK(parsed(t).at("otherData").at("overwritten") == t.overwritten);
  session.trace(0);
  session.push(1), session.pop();
  CHECK(session.traced().events.empty());
  CHECK(parsed(session.traced()).at("traceEvents").empty());
}

TEST_CASE("a stream is traced, and its trace goes into a file") {
  std::vector<int> numbers(100, 7);
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  auto results = app.stream(numbers);
  results.trace(100);
  for (auto&& r : results) static_cast<void>(r);
  CHECK_FALSE(results.traced().events.empty());
  CHECK_THROWS_WITH_AS(lv::write_trace("/no such folder/trace.json", results.traced()),
                       "levada: trace: cannot write \"/no such folder/trace.json\": No such file or directory",
                       lv::error);
}

}  // namespace interop_trace
