// SPDX-License-Identifier: Apache-2.0
// Streams, and pipelines known by their item types alone, of deployments that promise their latency: of a nanosecond,
// which no item keeps, or of an hour, which each does.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/batch.hpp>
#include <levada/interop/trace.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/hot_swap.hpp>
#include <levada/run/promises.hpp>

namespace run_late_streams {

namespace lv = levada;
using namespace levada::literals;

using box = lv::target<lv::cpu<2>>;

std::vector<lv::late_item> heard;
void hear(const lv::late_item& item) noexcept { heard.push_back(item); }

constexpr lv::kernel_cost rows[] = {{"callable", "decode(4 bytes) -> 4 bytes", 1e-10},
                                    {"callable", "model(16 bytes) -> 16 bytes", 1e-10}};
constexpr lv::cost_table costs{.machine = "a test", .kernels = rows};

constexpr auto plus_one = [](const int& i) { return i + 1; };
constexpr auto paced = lv::input<int, lv::every<33_ms>> | lv::stage<"decode">(plus_one);
using none = lv::budget<lv::latency<1_ns>>;
using all = lv::budget<lv::latency<3600_s>>;

template <class Budget>
auto deployed() {
  return lv::deploy<box, lv::costs<costs>, Budget>(paced);
}

TEST_CASE("late items of a stream are counted, each once, and told where that is asked") {
  const std::vector<int> items(100, 1);
  const auto never = deployed<none>();
  auto counted = never.stream(items);
  int values = 0;
  for (auto&& r : counted) values += r.value() == 2;
  CHECK(values == 100);
  lv::session_statistics statistics = counted.statistics();
  CHECK(statistics.latency_budget == 1);
  CHECK(statistics.late == 100);
  CHECK(statistics.stages[0].late <= 100);

  heard.clear();
  auto told = never.stream<lv::on_late<&hear>>(items);
  for (auto&& r : told) values += r.value() == 2;
  CHECK(values == 200);
  REQUIRE(heard.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) CHECK(heard[i].sequence == i);

  const auto always = deployed<all>();
  auto in_time = always.stream(items);
  for (auto&& r : in_time) values += r.value() == 2;
  CHECK(values == 300);
  statistics = in_time.statistics();
  CHECK(statistics.latency_budget == 3'600'000'000'000);
  CHECK(statistics.late == 0);
}

TEST_CASE("of a source, too") {
  const auto source = [] {
    return lv::source<"camera", lv::every<33_ms>>(
               [n = 0]() mutable { return n < 10 ? std::optional(n++) : std::nullopt; }) |
           lv::stage<"decode">(plus_one);
  };
  heard.clear();
  auto app = lv::deploy<box, lv::costs<costs>, none>(source());
  int sum = 0;
  auto results = app.stream<lv::on_late<&hear>>();
  for (auto&& r : results) sum += r.value();
  CHECK(sum == 55);
  CHECK(heard.size() == 10);
  CHECK(results.statistics().late == 10);
}

TEST_CASE("streams of items that may follow each other within microseconds are watched where that is asked") {
  const auto app = lv::deploy<box, lv::costs<costs>, none>(lv::input<int> | lv::stage<"decode">(plus_one));
  const std::vector<int> items(10, 1);
  int values = 0;
  auto plain = app.stream(items);
  for (auto&& r : plain) values += r.value();
  CHECK(plain.statistics().latency_budget == 0);
  CHECK(plain.statistics().stages[0].time.count == 0);  // nor measured
  auto told = app.stream<lv::on_late<&hear>>(items);
  for (auto&& r : told) values += r.value();
  CHECK(told.statistics().late == 10);
  CHECK(values == 40);
}

/// So many, of which each takes 1.1 ms by the clock of the stream.
struct slow_items {
  struct iterator {
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    int left = 0;
    int operator*() const { return 1; }
    iterator& operator++() {
      using clock = std::chrono::steady_clock;
      for (const auto begin = clock::now(); clock::now() - begin < std::chrono::microseconds(1100);) {
      }
      --left;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return left == 0; }
  };
  explicit slow_items(int count) : count_(count) {}
  iterator begin() const { return {count_}; }
  std::default_sentinel_t end() const { return {}; }

 private:
  int count_;
};

TEST_CASE("where the rate changes an item of a stream is late by its whole way") {
  static constexpr auto batched = lv::input<int, lv::every<1_ms>> | lv::stage<"decode">(plus_one) | lv::batch<4> |
                                  lv::stage<"model">([](const std::array<int, 4>& b) { return b; });
  heard.clear();
  const std::vector<int> items(40, 1);
  const auto keeps = lv::deploy<box, lv::costs<costs>, lv::budget<lv::latency<3600_s>>>(batched);
  int sum = 0;
  auto in_time = keeps.stream<lv::on_late<&hear>>(items);
  for (auto&& r : in_time) sum += r.value()[3];
  CHECK(heard.empty());

  // Each item of a live range comes a millisecond or more behind the one before: the first waits for three.
  const auto late = lv::deploy<box, lv::costs<costs>, lv::budget<lv::latency<3001_us>>>(batched);
  for (auto&& r : late.stream<lv::on_late<&hear>>(slow_items(8))) sum += r.value()[3];
  CHECK(heard.size() == 2);
  CHECK(sum == 24);
}

TEST_CASE("pipelines known by their item types alone are watched as their apps are") {
  const lv::any_pipeline<int(int)> never = deployed<none>(), always = deployed<all>();
  int values = 0;
  auto session = never.open();
  for (int i = 0; i < 20; ++i) {
    session.push(i);
    values += session.pop()->value() == i + 1;
  }
  CHECK(session.statistics().late == 20);
  auto kept = always.open();
  kept.push(1);
  values += kept.pop()->value() == 2;
  CHECK(kept.statistics().late == 0);
  CHECK(kept.statistics().latency_budget == 3'600'000'000'000);

  heard.clear();
  auto told = never.open<lv::on_late<&hear>, lv::dedicated>();
  for (int i = 0; i < 20; ++i) {
    told.push(i);
    values += told.pop()->value() == i + 1;
  }
  REQUIRE(heard.size() == 20);
  CHECK(heard[3].sequence == 3);
  CHECK(heard[3].most == std::chrono::nanoseconds(1));
  auto stream = never.stream(std::vector<int>(20, 1));
  for (auto&& r : stream) values += r.value() == 2;
  CHECK(stream.statistics().late == 20);
  CHECK(values == 61);
}

TEST_CASE("a pipeline that promises no latency tells nobody of late items") {
  const lv::any_pipeline<int(int)> app = lv::deploy<box>(lv::input<int> | lv::stage<"decode">(plus_one));
  CHECK_THROWS_WITH_AS((app.open<lv::on_late<&hear>>()),
                       "levada: any_pipeline: on_late: this pipeline promises no latency", lv::error);
  CHECK(app.open().statistics().latency_budget == 0);
}

TEST_CASE("traces mark late items") {
  const auto never = deployed<none>();
  auto session = never.open();
  session.trace();
  for (int i = 0; i < 10; ++i) {
    session.push(i);
    CHECK(session.pop()->value() == i + 1);
  }
  const lv::session_trace trace = session.traced();
  std::vector<std::uint64_t> late;
  for (const lv::trace_event& e : trace.events) {
    if (e.kind != lv::trace_kind::late) continue;
    late.push_back(e.item);
    CHECK(e.end > e.begin);
    CHECK((e.what == 0 || e.what == lv::trace_event::no_unit));
  }
  std::sort(late.begin(), late.end());
  CHECK(late == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  std::ostringstream text;
  lv::write_trace(text, trace);
  CHECK(text.view().find("\"cat\":\"late\"") != std::string_view::npos);

  const auto always = deployed<all>();
  auto kept = always.open();
  kept.trace();
  kept.push(1);
  CHECK(kept.pop()->value() == 2);
  for (const lv::trace_event& e : kept.traced().events) CHECK(e.kind != lv::trace_kind::late);
}

}  // namespace run_late_streams
