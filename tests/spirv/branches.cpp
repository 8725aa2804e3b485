// SPDX-License-Identifier: Apache-2.0
// Branches inside a segment of a Vulkan device: a graph of kernels in one submission, in memory that is planned over
// it, with barriers where kernels meet in memory and nowhere else.

#include <atomic>
#include <tuple>

#include <levada/backend/reference/ops.hpp>
#include <levada/backend/spirv/ops.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/plan/detail/transfers.hpp>

#include "device.hpp"

namespace spirv_branches {

using namespace spirv_test;

using row = lv::tensor<float, 40>;
using device = lv::vulkan<0>;
using on_device_first = lv::target<lv::vulkan<0>, lv::cpu<2>>;
using plainly = lv::target<lv::cpu<1>>;
using reference = lv::backends<lv::reference>;

std::vector<row> small_rows(std::size_t count) {
  std::vector<row> items = random_items<row>(count);
  for (row& item : items)
    for (float& x : item) x /= 50;
  return items;
}

/// All elements of all results differ from those of the reference by so much at most.
template <class App, class Plain, class Item>
void check_near(const App& app, const Plain& plain, const std::vector<Item>& items, float tolerance) {
  std::size_t at = 0;
  float worst = 0;
  for (const auto& r : app.stream(items)) {
    REQUIRE(r.has_value());
    const auto expected = plain(items[at++]);
    for (std::size_t i = 0; i < expected.size(); ++i)
      worst = std::max(worst, std::abs((*r).data()[i] - expected.data()[i]));
  }
  CHECK(at == items.size());
  CHECK(worst <= tolerance);
}

template <class App>
constexpr std::size_t units_on_device() {
  std::size_t units = 0;
  for (const lv::planned_segment& s : App::plan.segment)
    if (s.device == device::id) units += s.count;
  return units;
}

std::atomic<std::size_t>& barriers() {
  static std::atomic<std::size_t> count{0};
  return count;
}
PFN_vkCmdPipelineBarrier real_barrier = nullptr;
void counting_barriers(lv::detail::vulkan_functions& f) {
  real_barrier = f.vkCmdPipelineBarrier;
  f.vkCmdPipelineBarrier = [](VkCommandBuffer commands, VkPipelineStageFlags before, VkPipelineStageFlags behind,
                              VkDependencyFlags flags, std::uint32_t memories, const VkMemoryBarrier* memory,
                              std::uint32_t buffers, const VkBufferMemoryBarrier* buffer, std::uint32_t images,
                              const VkImageMemoryBarrier* image) {
    if (before == VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT && behind == VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT) ++barriers();
    real_barrier(commands, before, behind, flags, memories, memory, buffers, buffer, images, image);
  };
}

/// TVM's PlanDevices: a negative here, two negatives and their sum there, a negative here.
auto diamond() {
  return lv::input<row> | lv::on<lv::cpu<2>>(lv::nn::neg) |
         lv::fork(there(lv::named<"left">(lv::nn::neg)), there(lv::named<"right">(lv::nn::neg))) | there(lv::nn::add) |
         lv::on<lv::cpu<2>>(lv::named<"last">(lv::nn::neg));
}

TEST_CASE("two branches on a device: one copy there, one back, as the plan says; one kernel in between") {
  LEVADA_NEEDS_DEVICE();
  const watched validation;
  lv::vulkan_settings settings = with_staging();
  settings.intercept = counting_barriers;
  const device_settings<0> as(settings);
  barriers() = 0;
  const auto app = lv::deploy<box, lv::slots<1>>(diamond());
  constexpr const auto& plan = decltype(app)::plan;
  static_assert(plan.segments == 3 && plan.segment[1].count == 1);
  static_assert(lv::transfers_of(plan).size() == 2);
  const auto planned = lv::transfers_of(plan);
  CHECK((planned[0].to == device::id && planned[0].times == 1 && planned[0].bytes == sizeof(row)));
  CHECK((planned[1].from == device::id && planned[1].times == 1 && planned[1].bytes == sizeof(row)));

  const std::vector<row> items = small_rows(7);
  auto results = app.stream(items);
  results.measure();
  std::size_t at = 0;
  for (const auto& r : results) {
    const row& in = items[at++];
    for (std::size_t i = 0; i < in.size(); ++i) CHECK((*r)[i] == -2 * in[i]);
  }
  CHECK(at == items.size());
  const lv::session_statistics measured = results.statistics();
  if (measured.segments[1].compute.count != 0) {  // the device has timestamps
    CHECK(measured.segments[1].upload.count == items.size());
    CHECK(measured.segments[1].download.count == items.size());
  }
  CHECK(barriers().load() == 0);
}

TEST_CASE("branches of kernels of their own overlap: a barrier where they meet") {
  LEVADA_NEEDS_DEVICE();
  const watched validation;
  lv::vulkan_settings settings;
  settings.intercept = counting_barriers;
  const device_settings<0> as(settings);
  barriers() = 0;
  const auto network = [] { return lv::input<row> | lv::fork(lv::nn::softmax, lv::nn::log_softmax) | lv::nn::add; };
  const auto app = lv::deploy<on_device_first, lv::slots<1>>(network());
  static_assert(decltype(app)::plan.segments == 1 && units_on_device<decltype(app)>() == 3);
  check_near(app, lv::deploy<plainly, reference>(network()), small_rows(7), 1e-5f);
  CHECK(barriers().load() == 1);  // before the sum, in the commands that one slot has for all items
}

auto convolutions(lv::parameter_map& weights) {
  const auto set = [&](const char* name, const lv::shape& extents) {
    std::vector<float> values(extents.elements());
    std::uint32_t n = 7;
    for (float& v : values) v = static_cast<float>((n = n * 1664525u + 1013904223u) >> 8) * 0x1p-26f - 0.125f;
    weights.set(name, lv::element::f32, extents, values.data());
  };
  for (const char* const name : {"a1", "a2", "b1", "b2"}) {
    set((std::string(name) + ".weight").c_str(), lv::shape(4, 4, 3, 3));
    set((std::string(name) + ".bias").c_str(), lv::shape(4));
  }
}

using picture = lv::tensor<float, 4, 9, 11>;

template <lv::fixed_string First, lv::fixed_string Second, lv::fixed_string Sum>
auto block(const lv::parameter_map& w) {
  return lv::residual<Sum>(lv::nn::conv2d<First, 4, lv::size<3, 3>, lv::padding<1>>(w) | lv::nn::relu |
                           lv::nn::conv2d<Second, 4, lv::size<3, 3>, lv::padding<1>>(w)) |
         lv::nn::relu;
}

TEST_CASE("residual blocks are one segment, and give what the reference gives") {
  LEVADA_NEEDS_DEVICE();
  const watched validation;
  lv::parameter_map weights;
  convolutions(weights);
  const auto network = [&] {
    return lv::input<picture> | block<"a1", "a2", "a">(weights) | block<"b1", "b2", "b">(weights);
  };
  const auto app = lv::deploy<on_device_first, lv::slots<4>>(network());
  static_assert(decltype(app)::plan.segments == 1 && units_on_device<decltype(app)>() == 4);
  const auto plain = lv::deploy<plainly, reference>(network());
  std::vector<picture> items = random_items<picture>(20);
  for (picture& p : items)
    for (float& x : p) x /= 100;
  check_near(app, plain, items, 1e-4f);
}

TEST_CASE("several values are alive at once, and what lies where others lay waits for those who read them") {
  LEVADA_NEEDS_DEVICE();
  const watched validation;
  const auto network = [] {
    using lv::node;
    return lv::graph(
        lv::port<"x", row>, node<"a", "x">(lv::nn::neg), node<"b", "x">(lv::nn::softmax),
        node<"c", "a", "b">(lv::nn::mul), node<"d", "a">(lv::nn::softmax), node<"e", "b", "d">(lv::nn::sub),
        node<"f", "c">(lv::nn::softmax), node<"g", "e", "f">(lv::nn::add), node<"h", "g", "x">(lv::nn::max),
        node<"all", "h", "c", "e">(lv::nn::concat<0>), node<"end", "all">(lv::nn::abs), lv::output<"end", "end">);
  };
  const auto plain = lv::deploy<plainly, reference>(network());
  for (const bool by_themselves : {false, true}) {
    const device_settings<0> as(by_themselves ? with_own_submissions() : lv::vulkan_settings());
    const auto app = lv::deploy<on_device_first, lv::slots<8>>(network());
    static_assert(decltype(app)::plan.segments == 1 && units_on_device<decltype(app)>() == 9);
    check_near(app, plain, small_rows(50), 1e-5f);
  }
}

TEST_CASE("a segment takes several values and gives several") {
  LEVADA_NEEDS_DEVICE();
  const watched validation;
  const auto network = [](auto here, auto device_stage) {
    using lv::node;
    return lv::graph(lv::port<"x", row>, node<"p", "x">(here(lv::nn::abs)), node<"q", "x">(here(lv::nn::neg)),
                     node<"s", "p", "q">(device_stage(lv::nn::add)), node<"t", "s", "p">(device_stage(lv::nn::mul)),
                     node<"u", "t">(device_stage(lv::nn::exp)), node<"end", "s", "u", "q">(here(lv::nn::min)),
                     lv::output<"end", "end">);
  };
  const auto on_processor = [](auto stage) { return lv::on<lv::cpu<2>>(stage); };
  const auto app = lv::deploy<box, lv::slots<4>>(network(on_processor, [](auto stage) { return there(stage); }));
  constexpr const auto& plan = decltype(app)::plan;
  static_assert(plan.segments == 3 && lv::transfers_of(plan).size() == 4, "p, q there; s, u back");
  const auto plain = lv::deploy<lv::target<lv::cpu<2>>, reference>(network(on_processor, on_processor));
  for (const bool stages : {false, true}) {
    const device_settings<0> as(stages ? with_staging() : lv::vulkan_settings());
    const auto again = lv::deploy<box, lv::slots<4>>(network(on_processor, [](auto stage) { return there(stage); }));
    check_near(again, plain, small_rows(30), 1e-5f);
  }
}

TEST_CASE("what a graph on a device gives stays there for the next segment on it") {
  LEVADA_NEEDS_DEVICE();
  const watched validation;
  const auto network = [] {
    return lv::input<row> | lv::fork(lv::nn::neg, lv::nn::exp) | lv::nn::add | lv::split_here | lv::nn::tanh;
  };
  const auto app = lv::deploy<on_device_first, lv::slots<4>>(network());
  constexpr const auto& plan = decltype(app)::plan;
  static_assert(plan.segments == 2 && plan.segment[1].takes == lv::hand_over::direct && plan.segment[0].keeps);
  check_near(app, lv::deploy<plainly, reference>(network()), small_rows(30), 1e-5f);
}

}  // namespace spirv_branches
