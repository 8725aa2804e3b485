// SPDX-License-Identifier: Apache-2.0
// Segments, groups, grains and the place of every value: small plans worked out by hand, and any plan played with
// labels.

#include <doctest/doctest.h>

#include <levada/core/detail/units.hpp>
#include <levada/plan/detail/budget.hpp>
#include <levada/plan/detail/plan.hpp>

#include "plan_checker.hpp"
#include "random_graph.hpp"
#include "sanitizer.hpp"
#include "soak.hpp"

namespace lv = levada;
using namespace lv::literals;
using lv::slot_bound, lv::form, lv::placement;

namespace {

constexpr auto serial = lv::concurrency::serial;
constexpr auto parallel = lv::concurrency::parallel;

struct step {
  form how = form::map;
  lv::concurrency order = parallel;
  std::size_t out_bytes = 4;
  bool split_after = false;
};

constexpr lv::graph_info<8> line(std::size_t in_bytes, std::initializer_list<step> steps) {
  lv::graph_info<8> graph;
  const auto value = [&](std::size_t bytes, std::size_t producer) {
    graph.values.push_back({bytes, bytes % 64 == 0 ? 64u : 4u, lv::element::other, {}, true, producer});
  };
  value(in_bytes, lv::value_info::nobody);
  for (const step& s : steps) {
    lv::node_info node;
    node.name = "stage";
    node.how = s.how;
    node.order = s.order;
    node.split_after = s.split_after;
    node.in = graph.values.size() - 1;
    if (s.how == form::sink)
      graph.ends_in_sink = true;
    else
      value(s.how == form::in_place ? graph.values.back().bytes : s.out_bytes, graph.nodes.size());
    node.out = graph.result = graph.values.size() - 1;
    graph.nodes.push_back(node);
  }
  return graph;
}

constexpr lv::device_info only_cpu[] = {{lv::cpu<2>::id, 2}};
constexpr lv::backend_info backs[] = {{"simd"}};

constexpr auto planned(const lv::graph_info<8>& graph, std::size_t slots = 64,
                       std::span<const lv::candidate> candidates = {},
                       std::span<const lv::device_info> devices = only_cpu) {
  return lv::make_plan(graph, lv::choose_partition(graph, devices, candidates, backs), {slots}, devices, candidates,
                       backs);
}

// ---- one stage ----
constexpr auto one = planned(line(100, {{form::map, parallel, 8}}));
static_assert(one.nodes == 1 && one.units == 1 && one.segments == 1 && one.has_result);
static_assert(one.value[0].where == placement::slot && one.value[1].where == placement::slot);
static_assert(one.slot_bytes == 128 && one.bytes_in_flight == 64 * 128 && one.bytes_scratch == 0);
static_assert(one.value[1].offset >= 100, "input and result are alive together");
static_assert(one.threads == 2);

// ---- how many items are in flight where nobody says it ----
constexpr auto in_flight(std::size_t bytes, std::size_t slots = lv::detail::suitable_slots, int threads = 2) {
  const lv::device_info cpu[] = {{lv::cpu<2>::id, threads}};
  return planned(line(bytes, {{form::map, parallel, 8}}), slots, {}, cpu);
}
constexpr std::size_t picture_bytes = 480 * 640 * 3;
constexpr auto pictures = in_flight(picture_bytes);
static_assert(pictures.slots == 18 && pictures.slots_by == slot_bound::bytes);
static_assert(pictures.bytes_in_flight <= 16_MiB && pictures.bytes_in_flight + pictures.slot_bytes > 16_MiB);
static_assert(in_flight(picture_bytes, lv::detail::slots_for_owners).slots == 18);
static_assert(in_flight(picture_bytes, 64).slots == 64 && in_flight(picture_bytes, 64).slots_by == slot_bound::stated,
              "unless somebody says it");
static_assert(in_flight(32_MiB).slots == 4 && in_flight(32_MiB).slots_by == slot_bound::fewest);
static_assert(in_flight(32_MiB, 0, 8).slots == 16, "two for each thread");
static_assert(in_flight(32_MiB, 0, 64).slots == 64, "and no more than of smaller ones");
static_assert(in_flight(1_KiB).slots == 64 && in_flight(1_KiB).slots_by == slot_bound::usual);
static_assert(in_flight(200_KiB).slots == 64 && in_flight(257_KiB).slots == 63);
static_assert(in_flight(32).slots == 256 && in_flight(32).slots_by == slot_bound::cache);
static_assert(in_flight(32, lv::detail::slots_for_owners).slots == 64);

// ---- a sink keeps nothing ----
constexpr auto into_sink = planned(line(64, {{form::map, parallel, 128}, {form::sink, serial}}));
static_assert(!into_sink.has_result && into_sink.value.size() == 2);
static_assert(into_sink.value[1].where == placement::item, "what a sink takes need not outlive the segment");
static_assert(into_sink.slot_bytes == 64 && into_sink.segment[0].item_bytes == 128);
constexpr auto sink_alone = planned(line(64, {{form::map, parallel, 128, true}, {form::sink, serial}}));
static_assert(sink_alone.segments == 2 && sink_alone.value[1].where == placement::slot, "unless it crosses a border");
constexpr auto only_sink = planned(line(64, {{form::sink}}));
static_assert(only_sink.units == 1 && only_sink.slot_bytes == 64 && only_sink.segment[0].scratch_bytes() == 0);

// ---- in place ----
constexpr auto in_place = planned(line(256, {{form::in_place}, {form::in_place}, {form::map, parallel, 64}}));
static_assert(in_place.value[1].storage == 0 && in_place.value[2].storage == 0, "a chain of them uses one buffer");
static_assert(in_place.value[2].where == placement::slot, "that of the input, which is in the slot");
static_assert(in_place.value[0].last == 3, "alive until the last of them is read");
static_assert(in_place.slot_bytes == 256 + 64 && in_place.bytes_scratch == 0);
constexpr auto into_result = planned(line(256, {{form::map, parallel, 512}, {form::in_place, serial}}));
static_assert(into_result.value[1].where == placement::slot &&
                  into_result.value[2].offset == into_result.value[1].offset,
              "a stage that changes the result in place has it in the slot before");
constexpr auto across =
    planned(line(64, {{form::map, parallel, 64}, {form::in_place, parallel, 0, true}, {form::in_place}}));
static_assert(across.segments == 2 && across.value[1].where == placement::slot && across.value[3].storage == 1);

// ---- slots are shared in time: the input's bytes take the result ----
constexpr auto reuse = planned(line(640, {{form::map, parallel, 64}, {form::map, serial, 640}}));
static_assert(reuse.value[1].where == placement::item && reuse.slot_bytes == 640);
static_assert(reuse.value[0].offset == 0 && reuse.value[2].offset == 0);
static_assert(reuse.segment[0].item_bytes == 64 && reuse.segment[0].shared_bytes == 0);
static_assert(reuse.bytes_scratch == 12 * 8 * 64, "12 grains of 8 items");
static_assert(reuse.bytes_total == reuse.bytes_in_flight + reuse.bytes_scratch);

// ---- groups: parallel stages run together, a serial one alone ----
constexpr auto groups = planned(line(4, {{}, {}, {form::map, serial}, {form::map, serial}, {}, {}}));
static_assert(groups.unit[0].group_end == 2 && groups.unit[1].group_end == 2);
static_assert(groups.unit[2].group_end == 3 && groups.unit[3].group_end == 4);
static_assert(groups.unit[4].group_end == 6 && !groups.unit[4].item_by_item,
              "small items: stage by stage over the grain");

// 8 items of 2 x 4 KiB exceed half of the first cache: item by item, and the value between needs one buffer, not eight.
constexpr auto by_item =
    planned(line(4_KiB, {{form::map, parallel, 4_KiB}, {form::map, parallel, 4_KiB}, {form::map, serial, 64}}));
static_assert(by_item.unit[0].item_by_item && by_item.unit[1].item_by_item && !by_item.unit[2].item_by_item);
static_assert(by_item.value[1].where == placement::grain && by_item.value[2].where == placement::item);
static_assert(by_item.segment[0].grain == 8 && by_item.segment[0].item_bytes == 4_KiB);
static_assert(by_item.segment[0].shared_bytes == 4_KiB && by_item.segment[0].scratch_bytes() == 9 * 4_KiB);
// In place inside such a group, and leaving it: the buffer is where its last value has to be.
constexpr auto leaves = planned(line(4_KiB, {{form::map, parallel, 4_KiB}, {form::in_place}, {form::map, serial, 64}}));
static_assert(leaves.unit[0].item_by_item && leaves.value[1].where == placement::item && leaves.value[2].storage == 1);

// ---- grain = max(1, min(16, L2 / 2 / live bytes, slots / 8)) ----
constexpr auto grain_of(std::size_t bytes, std::size_t slots) {
  return planned(line(bytes, {{form::map, parallel, bytes}}), slots).segment[0].grain;
}
static_assert(grain_of(64, 1000) == 16);
static_assert(grain_of(64, 64) == 8);
static_assert(grain_of(64, 15) == 1 && grain_of(64, 1) == 1, "few slots");
static_assert(grain_of(64_KiB, 1000) == 4, "512 KiB / 2 x 64 KiB");
static_assert(grain_of(1_MiB, 1000) == 1 && grain_of(100_MiB, 1000) == 1, "items larger than the cache");
constexpr auto long_line = planned(line(32_KiB, {{form::map, serial, 32_KiB},
                                                 {form::map, serial, 32_KiB},
                                                 {form::map, serial, 32_KiB},
                                                 {form::map, serial, 32_KiB},
                                                 {form::map, serial, 32_KiB}}),
                                   1000);
static_assert(long_line.segment[0].grain == 8, "two of them are alive at a step, however long the line");
constexpr auto one_slot = planned(line(64, {{}, {}}), 1);
static_assert(one_slot.segment[0].grains == 1 && one_slot.bytes_in_flight == one_slot.slot_bytes);
static_assert(planned(line(64, {{}}), 64).segment[0].grains == 12);
constexpr lv::device_info ten_threads[] = {{lv::cpu<10>::id, 10}};
static_assert(planned(line(64, {{}}), 64, {}, ten_threads).segment[0].grains == 20, "two for each thread");

// ---- fused ops ----
constexpr lv::candidate fused[] = {{0, 2, 0, 100, 1000}, {2, 1, 0, 300, 50}};
constexpr auto ops =
    planned(line(256, {{form::op, parallel, 512}, {form::op, parallel, 128}, {form::op, parallel, 64}}), 64, fused);
static_assert(ops.units == 2 && ops.unit[0].count == 2 && ops.unit[0].out == 2);
static_assert(ops.value[1].where == placement::none, "what is inside a fused kernel is nowhere");
static_assert(ops.value[2].where == placement::item && ops.segment[0].item_bytes == 128);
static_assert(ops.segment[0].kernel_offset == 0 && ops.segment[0].shared_bytes == 320,
              "kernels of a grain run in turn");
static_assert(ops.bytes_weights == 1050 && ops.unit[0].scratch_bytes == 100 && ops.unit[1].weight_bytes == 50);

// ---- items with an alignment beyond a cache line keep it in every slot and scratchpad ----
constexpr auto strict = [] {
  auto graph = line(64, {{form::map, parallel, 64}, {form::map, serial, 64}});
  graph.values[1] = {256, 256};
  return planned(graph);
}();
static_assert(strict.alignment == 256 && strict.slot_bytes % 256 == 0 && strict.segment[0].item_bytes % 256 == 0);
static_assert(one.alignment == 64);

// ---- the budget ----
static_assert(lv::worst_unit(by_item) == 1, "its output is kept for 12 x 8 items");
static_assert(lv::bytes_of_unit(by_item, 0) == 64 * 4_KiB + 12 * 4_KiB);
static_assert(lv::bytes_of_unit(by_item, 2) == 12 * 8 * 4_KiB + 64 * 64);
static_assert(lv::worst_unit(planned(line(64, {{form::map, parallel, 64, true}, {form::map, parallel, 1_MiB}}))) == 1);
static_assert(lv::bytes_of_unit(ops, 0) == 64 * 256 + 12 * 8 * 128 + 12 * 100 + 1000);
static_assert(lv::bytes_of_unit(in_place, 0) == 64 * 256, "one buffer counts once");
static_assert(std::is_same_v<lv::memory_mistake<one, 64 * 128>, lv::no_mistake>);
static_assert(std::is_same_v<lv::memory_mistake<one, 64 * 128 - 1>,
                             lv::plan_needs_more_memory_than_its_budget<
                                 lv::needs_bytes<8192>, lv::allows_bytes<8191>, lv::slots<64>, lv::bytes_of_a_slot<128>,
                                 lv::slots_that_fit<63>, lv::most_bytes_at<"stage", 64 * 108>>>);

}  // namespace

TEST_CASE("the plans worked out by hand lose no value") {
  for (const auto& plan : {one, into_sink, sink_alone, only_sink, in_place, into_result, across, reuse, groups, by_item,
                           leaves, long_line, one_slot, ops, strict})
    CHECK(lv::test::first_fault(plan) == "");
}

TEST_CASE("no plan loses a value, whatever its graph, partition, devices and slots") {
  for (unsigned seed = 0; seed < 1000u / lv::test::sparse * static_cast<unsigned>(lv::test::soak_scale()); ++seed) {
    const auto plan = lv::test::make_random_deployment(seed).plan();
    CAPTURE(seed);
    REQUIRE(lv::test::first_fault(plan) == "");
    REQUIRE(plan.slot_bytes % plan.alignment == 0);
    std::size_t scratch = 0, weights = 0;
    for (const lv::planned_segment& s : plan.segment) scratch += s.grains * s.scratch_bytes();
    for (const lv::planned_unit& u : plan.unit) weights += u.weight_bytes;
    REQUIRE(plan.bytes_in_flight == plan.slots * plan.slot_bytes);
    REQUIRE(plan.bytes_total == plan.bytes_in_flight + scratch + weights);
  }
}

TEST_CASE("the checker sees buffers that overlap while both are alive") {
  auto plan = by_item;
  plan.value[2].offset = plan.value[1].offset = 0;
  plan.value[1].where = plan.value[2].where = placement::item;
  CHECK(lv::test::first_fault(plan) != "");
  plan = reuse;
  plan.value[2].offset = 64;
  CHECK(lv::test::first_fault(plan) != "");
  plan = ops;
  plan.segment[0].shared_bytes = 256;
  CHECK(lv::test::first_fault(plan) != "");
}

TEST_CASE("a partition that leaves a node out makes a plan without units") {
  const auto graph = line(4, {{}, {}});
  auto parts = lv::choose_partition(graph, std::span(only_cpu), {}, {});
  parts.resize(1);
  const auto plan = lv::make_plan(graph, parts, {}, only_cpu, {}, {});
  CHECK(plan.units == 0);
  CHECK(plan.bytes_total == 0);
}
