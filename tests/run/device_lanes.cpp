// SPDX-License-Identifier: Apache-2.0
// The bridge to devices: in what order they get items, and what goes from one to the next.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include <levada/run/detail/engine/device_lanes.hpp>
#include <levada/run/detail/engine/engine_links.hpp>

namespace run_device_lanes {

using levada::detail::device_client;
using levada::detail::device_lane;
using levada::detail::device_lanes;
using levada::detail::device_queue;
using levada::detail::engine_links;
using levada::detail::fixed_array;
using levada::detail::program_segment;
using levada::detail::segment;

struct silent_client final : device_client {
  void execute(std::size_t, std::uint64_t, levada::detail::computed_memory&) noexcept override {}
  const void* input(std::size_t, std::uint64_t, std::size_t) noexcept override { return nullptr; }
  void* output(std::size_t, std::uint64_t, std::size_t) noexcept override { return nullptr; }
  void complete(std::size_t, std::uint64_t) noexcept override {}
  void fail(std::size_t, std::uint64_t, std::exception_ptr) noexcept override {}
};

/// What a device was told.
struct lane_log {
  std::size_t number = 0, slots = 0;
  std::vector<std::uint64_t> items;
  std::uint64_t refused = ~std::uint64_t{0};
  int flushes = 0;
  int looks = 0;
  bool is_silent = false, pays = false;  ///< to look again
  bool takes = false;                    ///< what another lane gives, where it lies
  bool is_kept = false;                  ///< the output, on the device
};

struct logging_lane final : device_lane {
  explicit logging_lane(lane_log& to) : log(to) {}
  void submit(std::uint64_t item) override {
    if (item == log.refused) throw std::runtime_error("full");
    log.items.push_back(item);
  }
  void flush() noexcept override { ++log.flushes; }
  bool take_from(device_lane&) override { return log.takes; }
  void keep_output() override { log.is_kept = true; }
  bool is_silent() const override { return log.is_silent; }
  bool look() noexcept override {
    ++log.looks;
    return log.pays;
  }
  lane_log& log;
};

struct logging_queue final : device_queue {
  std::unique_ptr<device_lane> open(std::size_t number, std::size_t slots, device_client&) override {
    log.number = number, log.slots = slots;
    return std::make_unique<logging_lane>(log);
  }
  lane_log log;
};

/// Three segments: a processor's, and two devices'.
struct with_devices {
  with_devices()
      : code(3, [](std::size_t s) {
          program_segment of;
          of.first = s, of.end = s + 1;
          if (s == 2) of.takes_from = 1;
          of.keeps = s == 1;
          return of;
        }) {}

  device_lanes open() {
    return {fixed_array<device_queue*>(3, [&](std::size_t s) { return queue_of(s); }), 5, 8, client};
  }
  fixed_array<segment> segments() {
    return {3, [&](std::size_t s) { return segment(code[s], 8, 16, 64, 1); }};
  }
  device_queue* queue_of(std::size_t s) { return s == 0 ? nullptr : s == 1 ? &first : &second; }

  fixed_array<program_segment> code;
  silent_client client;
  logging_queue first, second;
};

TEST_CASE("each device is opened with the number of its segment, and a processor is none") {
  with_devices d;
  const device_lanes lanes = d.open();
  CHECK(d.first.log.number == 6);
  CHECK(d.second.log.number == 7);
  CHECK(d.second.log.slots == 8);
}

TEST_CASE("the links of an engine say which segments have a device") {
  with_devices d;
  const engine_links links{fixed_array<device_queue*>(3, [&](std::size_t s) { return d.queue_of(s); })};
  CHECK_FALSE(links.has_device(0));
  CHECK(links.has_device(1));
  CHECK(links.has_device(2));
  CHECK(links.has_devices());
  const engine_links of_processor{fixed_array<device_queue*>(2)};
  CHECK_FALSE(of_processor.has_device(1));
  CHECK_FALSE(of_processor.has_devices());
  const engine_links none;
  CHECK_FALSE(none.has_device(1));
  CHECK_FALSE(none.has_devices());
}

TEST_CASE("what a device takes where another left it does not come to the host") {
  for (const bool takes : {false, true}) {
    with_devices d;
    d.second.log.takes = takes;
    device_lanes lanes = d.open();
    auto segments = d.segments();
    lanes.connect(segments);
    CHECK(segments[2].is_direct == takes);
    CHECK_FALSE(segments[1].is_direct);
    CHECK(d.first.log.is_kept == takes);
    CHECK_FALSE(d.second.log.is_kept);
  }
}

TEST_CASE("what others take as well comes to the host") {
  with_devices d;
  d.second.log.takes = true;
  d.code[1].keeps = false;
  device_lanes lanes = d.open();
  auto segments = d.segments();
  lanes.connect(segments);
  CHECK(segments[2].is_direct);
  CHECK_FALSE(d.first.log.is_kept);
}

TEST_CASE("items are submitted in order, once, as they arrive") {
  with_devices d;
  device_lanes lanes = d.open();
  auto segments = d.segments();
  segment& seg = segments[1];
  std::uint64_t there = 0;
  std::vector<std::uint64_t> handed;
  const auto submit = [&] {
    return lanes.submit(
        1, seg, [&] { return there; }, [&](std::uint64_t item) { handed.push_back(item); },
        [](std::uint64_t, const std::exception_ptr&) {});
  };
  CHECK_FALSE(submit());
  there = 3;
  CHECK(submit());
  CHECK(d.first.log.items == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(handed == d.first.log.items);
  CHECK(d.first.log.flushes == 1);
  CHECK(seg.claimed.load() == 3);
  CHECK_FALSE(submit());
  there = 4;
  CHECK(submit());
  CHECK(d.first.log.items.back() == 3);
  CHECK(d.first.log.items.size() == 4);
  CHECK_FALSE(seg.submitting.load());
  for (int i = 0; i < 4; ++i) lanes.report_ends();
  lanes.wait_for_reports();
}

TEST_CASE("a thread that finds another submitting leaves the items to it") {
  with_devices d;
  device_lanes lanes = d.open();
  auto segments = d.segments();
  segments[1].submitting.store(true);
  CHECK_FALSE(lanes.submit(
      1, segments[1], [] { return std::uint64_t{2}; }, [](std::uint64_t) {},
      [](std::uint64_t, const std::exception_ptr&) {}));
  CHECK(d.first.log.items.empty());
  CHECK(segments[1].claimed.load() == 0);
}

TEST_CASE("what arrives while items are submitted goes along") {
  with_devices d;
  device_lanes lanes = d.open();
  auto segments = d.segments();
  std::uint64_t there = 1;
  CHECK(lanes.submit(
      1, segments[1], [&] { return there; }, [&](std::uint64_t item) { there = item == 0 ? 3 : there; },
      [](std::uint64_t, const std::exception_ptr&) {}));
  CHECK(d.first.log.items == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(d.first.log.flushes == 2);
}

TEST_CASE("an item that a device does not take fails, and those behind it go on") {
  with_devices d;
  d.first.log.refused = 1;
  device_lanes lanes = d.open();
  auto segments = d.segments();
  std::vector<std::uint64_t> failed;
  CHECK(lanes.submit(
      1, segments[1], [] { return std::uint64_t{3}; }, [](std::uint64_t) {},
      [&](std::uint64_t item, const std::exception_ptr& why) {
        CHECK_THROWS_AS(std::rethrow_exception(why), std::runtime_error);
        failed.push_back(item);
        lanes.report_ends();
      }));
  CHECK(failed == std::vector<std::uint64_t>{1});
  CHECK(d.first.log.items == std::vector<std::uint64_t>{0, 2});
}

TEST_CASE("somebody looks at a device that tells nobody, while it has items") {
  with_devices d;
  d.second.log.is_silent = true;
  device_lanes lanes = d.open();
  auto segments = d.segments();
  lanes.connect(segments);
  CHECK_FALSE(lanes.has_silent());
  lanes.submit(
      2, segments[2], [] { return std::uint64_t{1}; }, [](std::uint64_t) {},
      [](std::uint64_t, const std::exception_ptr&) {});
  CHECK(lanes.has_silent());
  CHECK_FALSE(lanes.look());
  d.second.log.pays = true;
  CHECK(lanes.look());
  CHECK(d.second.log.looks == 2);
  lanes.report_ends();
  CHECK_FALSE(lanes.has_silent());
  with_devices loud;
  device_lanes others = loud.open();
  auto their_segments = loud.segments();
  others.connect(their_segments);
  others.submit(
      1, their_segments[1], [] { return std::uint64_t{1}; }, [](std::uint64_t) {},
      [](std::uint64_t, const std::exception_ptr&) {});
  CHECK_FALSE(others.has_silent());
  others.report_ends();
}

}  // namespace run_device_lanes
