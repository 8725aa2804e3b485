// SPDX-License-Identifier: Apache-2.0
// Several equal devices as one: an item goes to the one with the fewest items, what comes out is in order, and the
// search knows that it does as much as all of them. And what plans may keep on a device.

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <levada/backend/reference/detail/activation.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/interop/report.hpp>
#include <levada/nn/activation.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

#include "equal_devices.hpp"

namespace run_any_of {

namespace lv = levada;
using namespace levada::literals;

using both = lv::test::either_device;
using box = lv::target<lv::cpu<2>, both>;

TEST_CASE("what equal devices compute comes out in order, as in a loop") {
  lv::test::streams_through_equal_devices<lv::tbb_executor>(500);
}

TEST_CASE("equal devices work at the same time") {
  static std::atomic<int> inside;
  static std::atomic<bool> met;
  static std::mutex mutex;
  static std::set<std::thread::id> threads;
  inside = 0, met = false;
  threads.clear();
  // The first two items wait for each other: on one device they never met.
  const auto app = lv::deploy<box>(lv::input<int> | lv::on<both>(lv::stage<"meet">([](int v) {
                                     {
                                       const std::lock_guard lock(mutex);
                                       threads.insert(std::this_thread::get_id());
                                     }
                                     if (++inside >= 2) met = true;
                                     while (!met) std::this_thread::yield();
                                     return v;
                                   })));
  int next = 0;
  for (auto&& r : app.stream(std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7})) CHECK(r.value() == next++);
  CHECK(threads.size() == 2);
  CHECK(threads.count(std::this_thread::get_id()) == 0);
}

/// Notes what it is given; reports nothing by itself.
struct noted_queue final : lv::detail::device_queue {
  struct parameters final : lv::detail::device_parameters {
    explicit parameters(int of) : device(of) {}
    int device;
  };
  struct lane final : lv::detail::device_lane {
    noted_queue& queue;
    explicit lane(noted_queue& of) : queue(of) {}
    void submit(std::uint64_t item) override {
      if (item == queue.refused) throw lv::device_error("refused");
      queue.taken.push_back(item);
    }
    void flush() noexcept override { ++queue.flushed; }
  };

  explicit noted_queue(int of) : device(of) {}
  void prepare(const lv::detail::device_segment& segment) override { units = segment.units.size(); }
  lv::detail::owner<lv::detail::device_parameters> bring(const lv::detail::device_kernel&) override {
    return lv::detail::owner<lv::detail::device_parameters>(new parameters(device));
  }
  std::unique_ptr<lv::detail::device_lane> open(std::size_t, std::size_t, lv::detail::device_client& to) override {
    client = &to;
    return std::make_unique<lane>(*this);
  }

  int device, flushed = 0;
  std::uint64_t refused = ~std::uint64_t{0};
  std::size_t units = 0;
  std::vector<std::uint64_t> taken;
  lv::detail::device_client* client = nullptr;
};

struct noted_session final : lv::detail::device_client {
  void execute(std::size_t, std::uint64_t, lv::detail::computed_memory&) noexcept override {}
  const void* input(std::size_t, std::uint64_t, std::size_t) noexcept override { return nullptr; }
  void* output(std::size_t, std::uint64_t, std::size_t) noexcept override { return nullptr; }
  void* const* kept_for(std::size_t, std::uint64_t) noexcept override { return kept; }
  void complete(std::size_t, std::uint64_t item) noexcept override { completed.push_back(item); }
  void fail(std::size_t, std::uint64_t item, std::exception_ptr) noexcept override { failed.push_back(item); }
  void* kept[2]{};
  std::vector<std::uint64_t> completed, failed;
};

TEST_CASE("an item goes to the device that has the fewest") {
  lv::detail::fixed_array<lv::detail::owner<lv::detail::device_queue>> queues(2);
  auto *const a = new noted_queue(0), *const b = new noted_queue(1);
  queues[0] = lv::detail::owner<lv::detail::device_queue>(a);
  queues[1] = lv::detail::owner<lv::detail::device_queue>(b);
  lv::detail::equal_queues both_queues(std::move(queues));
  lv::detail::device_segment segment;
  segment.units = lv::detail::fixed_array<lv::detail::device_segment::unit>(2);
  both_queues.prepare(segment);
  CHECK((a->units == 2 && b->units == 2));

  noted_session session;
  const auto lane = both_queues.open(0, 8, session);
  using items = std::vector<std::uint64_t>;
  for (std::uint64_t i = 0; i < 4; ++i) lane->submit(i);
  CHECK(a->taken == items{0, 2});
  CHECK(b->taken == items{1, 3});
  b->client->complete(0, 3);
  b->client->fail(0, 1, nullptr);
  CHECK((session.completed == items{3} && session.failed == items{1}));
  lane->submit(4);
  lane->submit(5);  // now both have two
  CHECK(b->taken == items{1, 3, 4, 5});
  lane->submit(6);
  CHECK(a->taken == items{0, 2, 6});
  // What a device does not take does not count as there.
  b->refused = 7;
  CHECK_THROWS_AS(lane->submit(7), lv::device_error);
  b->refused = ~std::uint64_t{0};
  lane->submit(8);
  CHECK(b->taken == items{1, 3, 4, 5, 8});

  lane->flush();
  lane->flush();
  CHECK((a->flushed == 1 && b->flushed == 1));

  // Each device is shown its own parameters.
  const auto brought = both_queues.bring(lv::detail::device_kernel{});
  CHECK(a->client->kept_for(0, 0)[0] == nullptr);
  session.kept[1] = brought.get();
  for (const noted_queue* q : {a, b})
    CHECK(
        static_cast<noted_queue::parameters*>(static_cast<lv::detail::device_parameters*>(q->client->kept_for(0, 0)[1]))
            ->device == q->device);
}

TEST_CASE("a device that is lost takes its items with it and no others, and sessions end at any moment") {
  const lv::test::nothing_leaks guard;
  const auto app = lv::deploy<box>(lv::test::through_equal_devices());
  const lv::test::equal_devices_that behave(1000, 3);
  lv::simulated_device<1>().lost = true;
  std::vector<lv::test::tracked<0>> items;
  for (int i = 0; i < 200; ++i) items.emplace_back(i);
  int failed = 0, values = 0, last = 0;
  for (auto&& r : app.stream(items)) {
    (r ? values : failed) += 1;
    if (r) {
      CHECK(*r / 1000 > last);
      last = *r / 1000;
    }
  }
  CHECK(failed > 0);
  CHECK(failed + values <= 200);
  lv::simulated_device<1>().lost = false;
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    auto session = app.open();
    const int pushed = static_cast<int>(random() % 50);
    for (int i = 0; i < pushed; ++i) session.push(lv::test::tracked<0>(i));
    if (round % 2 == 0) session.cancel();
  }
}

// ---- the search ----

/// Twelve nodes of 1 us each, on the processor with one worker and on so many devices: how many the devices take at
/// best.
template <class Devices>
constexpr std::size_t taken_by_devices() {
  lv::graph_info<12> g;
  const lv::value_info value{64, 64, lv::element::f32, lv::shape(16), true};
  g.values.push_back(value);
  for (std::size_t n = 0; n < 12; ++n) {
    lv::node_info node;
    node.kind = "callable";
    node.name = "f";
    node.in = n;
    node.out = g.result = n + 1;
    g.nodes.push_back(node);
    g.values.push_back(value);
    g.values.back().producer = n;
  }
  const lv::kernel_cost kernels[] = {{"callable", "f(float[16]) -> float[16]", 1e-6}};
  const lv::transfer_cost ways[] = {{lv::cpu<1>::id, lv::simulated<0>::id}, {lv::simulated<0>::id, lv::cpu<1>::id}};
  const lv::device_info devices[] = {{lv::cpu<1>::id}, {Devices::id}};
  const auto parts = lv::choose_partition(g, devices, {}, {}, {"", kernels, ways}, lv::objective::throughput);
  std::size_t count = 0;
  for (const lv::partition_unit& u : parts) count += u.device == Devices::id ? u.count : 0;
  return count;
}
static_assert(taken_by_devices<lv::simulated<0>>() == 6);
static_assert(taken_by_devices<both>() == 8, "two devices do twice as much as the processor");
static_assert(taken_by_devices<lv::any_of<lv::simulated<0>, lv::simulated<1>, lv::simulated<2>>>() == 9);

// ---- mistakes ----

template <class Target, class Pipeline>
using mistake = lv::detail::deployment_mistake<Pipeline, Target, lv::backends<lv::reference>>;
constexpr auto input = lv::input<int>;
constexpr auto plain = lv::stage<"plain">([](int v) { return v; });
using any_pipeline = decltype(input | plain);
template <class... Devices>
constexpr bool is_no_set =
    std::same_as<mistake<lv::target<lv::cpu<2>, lv::any_of<Devices...>>, any_pipeline>,
                 lv::any_of_takes_different_devices_of_one_kind_that_is_not_the_processor<lv::any_of<Devices...>>>;
static_assert(is_no_set<lv::simulated<0>> && is_no_set<lv::simulated<0>, lv::simulated<0>> &&
              is_no_set<lv::simulated<0>, lv::vulkan<1>> && is_no_set<lv::cpu<1>, lv::cpu<1>> &&
              is_no_set<both, lv::simulated<2>>);
static_assert(std::same_as<mistake<lv::target<lv::cpu<2>, both, lv::simulated<1>>, any_pipeline>,
                           lv::target_names_a_device_twice<lv::simulated<1>>>);
static_assert(std::same_as<mistake<box, decltype(input | lv::replicate<3>(plain))>,
                           lv::stage_is_pinned_to_a_device_the_target_lacks<"plain", lv::equal_devices<3>, box>>);
static_assert(std::same_as<mistake<box, decltype(input | lv::on<lv::simulated<0>>(plain))>,
                           lv::stage_is_pinned_to_a_device_the_target_lacks<"plain", lv::simulated<0>, box>>);
constexpr auto counting = lv::stage<"counting">([n = 0](int v) mutable { return v + ++n; });
static_assert(std::same_as<mistake<box, decltype(input | lv::replicate<2>(counting))>,
                           lv::stage_that_takes_its_items_in_order_cannot_run_on_several_devices_at_once<
                               "counting", lv::equal_devices<2>>>);
static_assert(decltype(lv::deploy<lv::target<both, lv::cpu<2>>>(input | plain | counting))::plan.segment[1].device ==
                  lv::cpu<2>::id,
              "without a pin it is not there");

// ---- what plans keep on a device ----

using vector = lv::tensor<float, 1024>;  // 4 KiB: two of them for 8 slots are 64 KiB
constexpr lv::roofline fast_there[] = {{"reference", 1e9, 1e9, 0}};
struct remote : lv::reference {
  static constexpr std::string_view name = "remote";
  static constexpr lv::device_kind device = lv::device_kind::simulated;
  static constexpr lv::roofline roofline{name, 1e15, 1e15, 0};
};
constexpr lv::transfer_cost at_once[] = {{lv::cpu<1>::id, lv::simulated<0>::id},
                                         {lv::simulated<0>::id, lv::cpu<1>::id}};
constexpr lv::cost_table table{.machine = "made up", .transfers = at_once, .rooflines = fast_there};
constexpr auto relus = lv::input<vector> | lv::nn::relu | lv::nn::relu | lv::nn::relu;

template <class Device, std::size_t Slots = 8>
constexpr std::size_t relus_there() {
  using app = decltype(lv::deploy<lv::target<lv::cpu<1>, Device>, lv::slots<Slots>, lv::costs<table>,
                                  lv::backends<lv::reference, remote>>(relus));
  std::size_t count = 0;
  for (const auto& u : app::plan.unit)
    count += app::plan.segment[u.segment].device == lv::simulated<0>::id ? u.count : 0;
  return count;
}
static_assert(relus_there<lv::simulated<0>>() == 3);
static_assert(relus_there<lv::simulated<0, lv::memory<192_KiB>>>() == 3);
static_assert(relus_there<lv::simulated<0, lv::memory<191_KiB>>>() == 2);
static_assert(relus_there<lv::simulated<0, lv::memory<64_KiB>>>() == 1);
static_assert(relus_there<lv::simulated<0, lv::memory<63_KiB>>>() == 0);
static_assert(relus_there<lv::simulated<0, lv::memory<63_KiB>>, 2>() == 3, "fewer items in flight");

// Where nobody searches the bound is a bound.
static_assert(
    std::same_as<lv::detail::deployment_mistake<decltype(lv::input<vector> | lv::on<lv::simulated<0>>(lv::nn::relu)),
                                                lv::target<lv::cpu<1>, lv::simulated<0, lv::memory<63_KiB>>>,
                                                lv::slots<8>, lv::backends<lv::reference>>,
                 lv::plan_needs_more_of_the_memory_of_a_device_than_its_bound<"simulated<0>", lv::needs_bytes<64_KiB>,
                                                                              lv::allows_bytes<63_KiB>, lv::slots<8>,
                                                                              lv::most_bytes_at<"relu", 64_KiB>>>);
static_assert(std::same_as<mistake<lv::target<lv::cpu<2>, lv::simulated<0, int>>, any_pipeline>,
                           lv::device_takes_a_bound_on_its_memory_and_nothing_else<lv::simulated<0, int>>>);

// ---- saved plans ----
constexpr auto there = lv::stage<"there">([](int v) { return v; });
using saved_app = decltype(lv::deploy<box>(input | plain | lv::on<both>(there)));

TEST_CASE("a saved plan names them all, and is read back") {
  CHECK(lv::save(saved_app::plan) ==
        "levada plan 1: 64 slots | cpu: \"plain\" | any_of<simulated<0>, simulated<1>>: \"there\"");
  const auto again = lv::deploy<box, lv::pinned<lv::saved<saved_app::plan>()>>(input | plain | lv::replicate<2>(there));
  CHECK(decltype(again)::plan.segment[1].device == both::id);
  for (const char* wrong : {"any_of<simulated<0>>", "any_of<simulated<1>, simulated<0>>", "any_of<cpu, cpu>",
                            "any_of<simulated<0>, vulkan<1>>", "any_of<simulated<0>, simulated<1>", "any_of"}) {
    CAPTURE(wrong);
    CHECK(lv::parse_plan<4>(std::string("levada plan 1: 64 slots | ") + wrong + ": \"a\"").malformed_at !=
          lv::written_plan<4>::nowhere);
  }
}

}  // namespace run_any_of
