// SPDX-License-Identifier: Apache-2.0
// What time plans are expected to take: latency, loads and their largest, for one region and for several of different
// rates, and the words for it.

#include <doctest/doctest.h>

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include <levada/plan/detail/pipeline_time.hpp>
#include <levada/plan/detail/plan.hpp>
#include <levada/plan/detail/time_words.hpp>
#include <levada/plan/detail/unit_costs.hpp>

namespace lv = levada;
using lv::concurrency;

namespace {

constexpr double ms = 1e-3;

/// Callables in a graph, each with its cost.
struct timed_graph {
  lv::graph_info<8> info;
  lv::bounded<lv::cost, 8> costs;
  int threads = 2;
  double slowdown = 1;
  std::size_t slots = 64;
  std::span<const lv::transfer_cost> ways{};  ///< of static storage

  constexpr timed_graph() { info.values.push_back({64, 64, lv::element::f32, lv::shape(16), true}); }

  constexpr std::size_t stage(std::string_view name, double seconds, std::initializer_list<std::size_t> from,
                              concurrency order = concurrency::parallel) {
    lv::node_info node;
    node.name = name;
    node.kind = "callable";
    node.order = order;
    bool first = true;
    for (const std::size_t v : from) {
      if (first)
        node.in = v;
      else
        node.more.push_back(static_cast<std::uint16_t>(v));
      first = false;
    }
    node.out = info.result = info.values.size();
    info.values.push_back({64, 64, lv::element::f32, lv::shape(16), true, info.nodes.size()});
    info.nodes.push_back(node);
    costs.push_back(lv::cost::measured(seconds, 0, 2 * seconds));
    return node.out;
  }
  constexpr auto plan() const {
    const lv::device_info devices[] = {{lv::cpu<2>::id, threads}};
    return lv::make_plan(info, lv::choose_partition(info, std::span(devices), {}, {}),
                         {slots, {costs.data(), costs.size()}, true, ways}, devices, {}, {});
  }
  constexpr lv::expected_time time(lv::quantile at = lv::quantile::median) const {
    return lv::expected_time_of(plan(), {costs.data(), costs.size()}, {threads, slowdown}, at);
  }
};

/// A chain of which `track` takes its items in order.
constexpr timed_graph chain(double decode, double detect, double track) {
  timed_graph graph;
  graph.stage("track", track, {graph.stage("detect", detect, {graph.stage("decode", decode, {0})})},
              concurrency::serial);
  return graph;
}

template <class Write>
std::string text_of(Write write) {
  return lv::detail::written_text(write);
}

}  // namespace

TEST_CASE("the latency of a line is the sum of its units, and the longest is named") {
  constexpr bool right = [] {
    const lv::expected_time time = chain(3 * ms, 7 * ms, 2 * ms).time();
    return time.latency > 11.999 * ms && time.latency < 12.001 * ms && time.longest.stage == "detect" &&
           time.known.all == 3 && time.known.measured == 3;
  }();
  static_assert(right, "while compiling, too");
  CHECK(chain(3 * ms, 7 * ms, 2 * ms).time(lv::quantile::p95).latency == doctest::Approx(24 * ms));
}

TEST_CASE("what is loaded most bounds the time between results: the workers, a serial stage, the slots") {
  const lv::expected_time shared = chain(3 * ms, 7 * ms, 2 * ms).time();
  CHECK(shared.interval() == doctest::Approx(6 * ms));
  CHECK(shared.bottleneck().of == lv::expected_load::device);
  CHECK(shared.bottleneck().workers == 2);
  CHECK(shared.bottleneck().most.stage == "detect");

  const lv::expected_time serial = chain(1 * ms, 1 * ms, 4 * ms).time();
  CHECK(serial.interval() == doctest::Approx(4 * ms));
  CHECK(serial.bottleneck().of == lv::expected_load::serial_stage);
  CHECK(serial.bottleneck().most.stage == "track");

  timed_graph alone = chain(3 * ms, 7 * ms, 2 * ms);
  alone.slots = 1;
  CHECK(alone.time().interval() == doctest::Approx(12 * ms));
  CHECK(alone.time().bottleneck().of == lv::expected_load::slots);
}

TEST_CASE("an item is copied into its slot where the table says what that takes, unless it is small or moved") {
  static constexpr lv::transfer_cost ways[] = {{{lv::device_kind::cpu}, {lv::device_kind::cpu}, 0, 1e-9}};
  timed_graph graph = chain(1 * ms, 1 * ms, 2 * ms);
  graph.info.values[0].bytes = 4'000'000;
  CHECK(graph.time().latency == doctest::Approx(4 * ms));
  graph.ways = ways;
  const lv::expected_time time = graph.time();
  CHECK(time.latency == doctest::Approx(8 * ms));
  CHECK(time.interval() == doctest::Approx(4 * ms));
  CHECK(time.longest.stage == "input");
  CHECK(time.known.measured == 4);
  graph.info.values[0].trivial = false;
  CHECK(graph.time().latency == doctest::Approx(4 * ms));
  graph.info.values[0].trivial = true;
  graph.info.values[0].bytes = 64;
  CHECK(graph.time().latency == doctest::Approx(4 * ms));
}

TEST_CASE("threads that slow each other down lengthen the interval, but not the latency of a lone item") {
  timed_graph graph = chain(3 * ms, 7 * ms, 2 * ms);
  graph.slowdown = 1.5;
  CHECK(graph.time().latency == doctest::Approx(12 * ms));
  CHECK(graph.time().interval() == doctest::Approx(9 * ms));
  graph.slots = 1;
  CHECK(graph.time().interval() == doctest::Approx(18 * ms));
}

TEST_CASE("the slowdown of numbers of threads that nobody measured lies between those measured, or beyond them") {
  static constexpr lv::contention measured[] = {{2, 1.25}, {4, 2.0}};
  static_assert(lv::slowdown_of({}, 8) == 1);
  static_assert(lv::slowdown_of(measured, 1) == 1);
  static_assert(lv::slowdown_of(measured, 2) == 1.25);
  static_assert(lv::slowdown_of(measured, 3) == 1.625);
  static_assert(lv::slowdown_of(measured, 4) == 2);
  static_assert(lv::slowdown_of(measured, 8) == 4, "no more results a second than by four");
  static constexpr lv::contention with_one[] = {{1, 1}, {2, 1.5}};
  static_assert(lv::slowdown_of(with_one, 1) == 1 && lv::slowdown_of(with_one, 2) == 1.5);
}

TEST_CASE("branches that run at once shorten the latency, but no load") {
  timed_graph graph;
  const std::size_t head = graph.stage("head", 1 * ms, {0});
  graph.stage("join", 1 * ms, {graph.stage("left", 6 * ms, {head}), graph.stage("right", 4 * ms, {head})});
  REQUIRE(graph.plan().fork.size() == 1);
  REQUIRE(graph.plan().fork[0].order == lv::branch_order::at_once);
  // 2 + 6 + (10 - 6) / 2: no schedule of two workers is longer.
  CHECK(graph.time().latency == doctest::Approx(10 * ms));
  CHECK(graph.time().interval() == doctest::Approx(6 * ms));
  graph.threads = 1;
  CHECK(graph.time().latency == doctest::Approx(12 * ms));
}

TEST_CASE("how costs are known is counted") {
  timed_graph graph = chain(1 * ms, 1 * ms, 1 * ms);
  graph.costs[1] = lv::cost::estimated(2 * ms);
  graph.costs[2] = {};
  const lv::expected_time time = graph.time();
  CHECK(time.known.unmeasured == "detect");
  CHECK(time.known.without_p95.empty());
  CHECK(text_of([&](auto& t) { lv::detail::append_known(t, time.known); }) ==
        "1 of 3 measured, 1 estimated, 1 unknown");
  graph = chain(1 * ms, 1 * ms, 1 * ms);
  graph.costs[2].p95 = 0;
  CHECK(graph.time().known.without_p95 == "track");
}

TEST_CASE("a table knows callables by their signature, and else nothing of them") {
  const timed_graph graph = chain(0, 0, 0);
  const lv::kernel_cost rows[] = {{"callable", "detect(float[16]) -> float[16]", 3 * ms, 0, 4 * ms}};
  const auto costs = lv::unit_costs(graph.plan(), {.machine = "a test", .kernels = rows});
  REQUIRE(costs.size() == 3);
  CHECK(costs[0].origin == lv::cost_origin::unknown);
  CHECK(costs[1].origin == lv::cost_origin::measured);
  CHECK(costs[1].p95 == 4 * ms);
}

TEST_CASE("regions are loaded as often as they come to an item") {
  // Batches of four in `model`, whose items `post` takes one by one.
  timed_graph model, post;
  model.stage("model", 12 * ms, {0}, concurrency::serial);
  post.stage("post", 2 * ms, {0});
  const lv::expected_time regions[] = {chain(1 * ms, 1 * ms, 1 * ms).time(), model.time(), post.time()};
  const lv::timed_rate rates[] = {{.name = "batch", .ratio = {4, 1}, .waits = 3}, {.name = "unbatch", .ratio = {1, 4}}};
  const lv::pipeline_time unpaced = lv::pipeline_time_of(regions, rates);
  // 3 + 12 / 4 + 2 on two workers.
  CHECK(unpaced.interval() == doctest::Approx(4 * ms));
  CHECK(unpaced.bottleneck.work == doctest::Approx(8 * ms));
  CHECK(unpaced.bottleneck.most.stage == "model");
  CHECK(unpaced.waits_without_pace == "batch");
  CHECK(unpaced.items_a_result == doctest::Approx(1));

  // An item waits for three others, and the last of the batch for three before it.
  const lv::pipeline_time paced = lv::pipeline_time_of(regions, rates, {10 * ms});
  CHECK(paced.waits_without_pace.empty());
  CHECK(paced.waiting == doctest::Approx(30 * ms));
  CHECK(paced.latency == doctest::Approx(30 * ms + 3 * ms + 12 * ms + 2 * ms + 3 * ms));

  const lv::timed_rate impatient[] = {{.name = "batch", .ratio = {4, 1}, .waits = 3, .timeout = 20 * ms}, rates[1]};
  CHECK(lv::pipeline_time_of(regions, impatient, {10 * ms}).waiting == doctest::Approx(20 * ms));
  CHECK(lv::pipeline_time_of(regions, impatient).waiting == doctest::Approx(20 * ms));
  CHECK(lv::pipeline_time_of(regions, impatient, {1 * ms}).waiting == doctest::Approx(3 * ms));

  const lv::timed_rate unknown[] = {{.name = "window", .ratio = {0, 0}}, rates[1]};
  CHECK(lv::pipeline_time_of(regions, unknown).depends_on_items == "window");
}

TEST_CASE("results further apart than items count as such") {
  const lv::expected_time regions[] = {chain(1 * ms, 1 * ms, 1 * ms).time(), chain(1 * ms, 1 * ms, 4 * ms).time()};
  const lv::timed_rate rates[] = {{.name = "window", .ratio = {10, 1}, .waits = 9}};
  const lv::pipeline_time time = lv::pipeline_time_of(regions, rates);
  CHECK(time.items_a_result == doctest::Approx(10));
  CHECK(time.interval() == doctest::Approx((10 * 3 + 6) / 2.0 * ms));
  CHECK(lv::pipeline_time_of(regions, rates, {5 * ms}).interval() == doctest::Approx(50 * ms));
}

TEST_CASE("a plan keeps up with a pace where no load reaches the time between two items") {
  const lv::expected_time regions[] = {chain(3 * ms, 7 * ms, 2 * ms).time()};
  const auto at = [&](double pace) { return lv::pipeline_time_of(regions, {}, {pace}); };
  CHECK(lv::keeps_up(at(7 * ms).busiest, 7 * ms));
  CHECK_FALSE(lv::keeps_up(at(6 * ms).busiest, 6 * ms));  // it would never be done with what waits
  CHECK(at(7 * ms).interval() == doctest::Approx(7 * ms));
  CHECK(at(7 * ms).dropped() == 0);
  CHECK(at(4.5 * ms).dropped() == doctest::Approx(0.25));
  CHECK(at(4.5 * ms).interval() == doctest::Approx(6 * ms));
  // Twelve milliseconds in a slot.
  CHECK(at(1 * ms).fullest.work == doctest::Approx(12 * ms));
  CHECK(lv::slots_needed(at(1 * ms).fullest, 5 * ms) == 3);
  CHECK(lv::slots_needed(at(1 * ms).fullest, 6 * ms) == 3);
  CHECK(lv::slots_needed(at(1 * ms).fullest, 6.1 * ms) == 2);
  CHECK(lv::slots_needed(at(1 * ms).fullest, 1) == 1);
}

TEST_CASE("an item waits for its partners as long as they may take") {
  const lv::expected_time regions[] = {chain(3 * ms, 7 * ms, 2 * ms).time()};
  const lv::pipeline_time time = lv::pipeline_time_of(regions, {}, {33 * ms, 20 * ms});
  CHECK(time.latency == doctest::Approx(32 * ms));
  CHECK(time.waiting == doctest::Approx(20 * ms));
  CHECK(lv::pipeline_time_of(regions, {}, {33 * ms, 0, "gyro"}).waits_without_pace == "gyro");
}

TEST_CASE("times are written in four digits and the unit that suits them") {
  const auto written = [](double seconds) { return text_of([&](auto& t) { lv::detail::append_time(t, seconds); }); };
  CHECK(written(0) == "0 ns");
  CHECK(written(1.5e-9) == "1.5 ns");
  CHECK(written(41e-3) == "41 ms");
  CHECK(written(41.2546e-3) == "41.25 ms");
  CHECK(written(123.456e-6) == "123.5 us");
  CHECK(written(2.00349) == "2.003 s");
  CHECK(written(1234) == "1234 s");
  CHECK(written(0.99999e-3) == "1 ms");
}

TEST_CASE("a load is named by what is loaded") {
  const auto written = [](const lv::expected_load& load) {
    return text_of([&](auto& t) {
      lv::detail::append_load(t, load);
      t += ": ";
      lv::detail::append_shared(t, load, 1);
    });
  };
  CHECK(written({lv::expected_load::device, lv::cpu<2>::id, {}, 8 * ms, 2}) == "load of cpu: 8 ms on 2 workers");
  CHECK(written({lv::expected_load::device, lv::vulkan<1>::id, {}, 8 * ms, 1}) ==
        "load of vulkan<1>: 8 ms on 1 worker");
  CHECK(written({lv::expected_load::serial_stage, {}, {"track"}, 8 * ms, 1}) ==
        "load of serial stage track: 8 ms on 1 worker");
  CHECK(written({lv::expected_load::slots, {}, {"track"}, 8 * ms, 4}) == "load of slots: 8 ms on 4 slots");
  const auto needs = [](const lv::expected_load& load) {
    return text_of([&](auto& t) { lv::detail::append_needs(t, load); });
  };
  CHECK(needs({lv::expected_load::device, lv::cpu<2>::id, {}, 8 * ms, 2}) == "cpu needs 8 ms of 2 workers");
  CHECK(needs({lv::expected_load::device, lv::vulkan<1>::id, {}, 8 * ms, 1}) == "vulkan<1> needs 8 ms");
  CHECK(needs({lv::expected_load::serial_stage, {}, {"track"}, 8 * ms, 1}) == "serial stage track needs 8 ms");
  const auto part = [](const lv::timed_part& p) { return text_of([&](auto& t) { lv::detail::append_part(t, p); }); };
  CHECK(part({"detect", lv::cpu<2>::id, 1}) == "detect");
  CHECK(part({"detect", lv::vulkan<0>::id, 1, true}) == "the way of detect to vulkan<0>");
}
