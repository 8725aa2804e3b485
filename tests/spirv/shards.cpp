// SPDX-License-Identifier: Apache-2.0
// One op over two Vulkan devices (the same of the machine stands for both) and the processor: the bits of the whole op.

#include <levada/backend/shard.hpp>
#include <levada/backend/spirv.hpp>
#include <levada/graph/parameter_map.hpp>

#include "device.hpp"
#include "direct.hpp"

namespace spirv_shards {

using namespace spirv_test;

template <std::size_t... Dims>
using floats = lv::tensor<float, Dims...>;
template <std::size_t... S>
using window = lv::size<S...>;

/// `vulkan<1>` is the first device too, by a setting.
struct both_devices {
  lv::vulkan_settings named = [] {
    const lv::detail::vulkan_context open(0, {});
    lv::vulkan_settings s = with_staging();
    s.device = open.uuid();
    return s;
  }();
  device_settings<1> second{named};
};

template <std::size_t Axis, class... Shares, class Op, class In>
void check_shards(const Op& op, const In& in, double tolerance = 0) {
  lv::testing::random_parameters parameters;
  parameters.add<In, Op>();
  const auto expected = lv::testing::by_one_kernel<lv::reference>(in, parameters.all(), op);
  const auto computed =
      lv::testing::by_one_kernel<lv::reference>(in, parameters.all(), lv::sharded_op<Axis, Op, Shares...>{op});
  lv::testing::check_difference(lv::testing::largest_difference(*expected, *computed), tolerance, __PRETTY_FUNCTION__);
}
template <class In, std::size_t Axis, class... Shares, class Op>
void check_shards(const Op& op, double tolerance = 0) {
  check_shards<Axis, Shares...>(op, *lv::testing::random_input<In>(), tolerance);
}

using first = lv::share<lv::vulkan<0>>;
using second = lv::share<lv::vulkan<1>, 2>;
using here = lv::share<lv::cpu<1>>;

constexpr auto scaled = [by = lv::uniform{0.5f}](auto x) { return x * by; };

TEST_CASE("shares are proportional and leave nothing out") {
  using lv::detail::range_of;
  static_assert(range_of<first, second>(0, 10).count == 3 && range_of<first, second>(1, 10).first == 3);
  static_assert(range_of<first, second>(1, 10).end() == 10);
  static_assert(range_of<first, second, here>(2, 7).first == 5 && range_of<first, second, here>(2, 7).count == 2);
  static_assert(lv::op_takes<lv::sharded_op<1, lv::relu_op, first, second>, floats<1, 2>>);
  static_assert(!lv::op_takes<lv::sharded_op<1, lv::relu_op, first, second>, floats<2, 1>>);  // no part for the first
  static_assert(!lv::op_takes<lv::sharded_op<2, lv::relu_op, first, second>, floats<4, 4>>);  // no such axis
  static_assert(!lv::op_takes<lv::sharded_op<0, lv::softmax_op, first, second>, floats<4>>);  // no rule
}

TEST_CASE("what a part of a window op's output needs of the input, with its neighbours' border") {
  using lv::detail::reached_by;
  // 3 taps, padded by 1: rows 0 ... 3 of the output need rows 0 ... 4, with the padding in front.
  constexpr auto top = reached_by({0, 4}, 1, 3, 1, 8);
  static_assert(top.input.first == 0 && top.input.count == 5 && top.before == 1 && top.behind == 0);
  constexpr auto bottom = reached_by({4, 4}, 1, 3, 1, 8);
  static_assert(bottom.input.first == 3 && bottom.input.count == 5 && bottom.before == 0 && bottom.behind == 1);
}

TEST_CASE("convolutions cut along rows, columns and filters") {
  LEVADA_NEEDS_DEVICE();
  const both_devices devices;
  using conv = lv::conv2d_op<6, window<3>, lv::padding<1>>;
  check_shards<floats<4, 13, 11>, 1, first, second>(conv());
  check_shards<floats<4, 13, 11>, 2, second, here, first>(
      lv::conv2d_op<6, window<2, 3>, lv::stride<1, 2>, lv::dilation<2>, lv::padding<0, 3, 1, 2>, lv::groups<2>>());
  check_shards<floats<4, 13, 11>, 0, first, second>(conv());
}

TEST_CASE("pools, element-wise ops and dense layers") {
  LEVADA_NEEDS_DEVICE();
  const both_devices devices;
  check_shards<floats<3, 12, 9>, 1, first, here>(lv::max_pool2d_op<window<3>, lv::stride<2>, lv::padding<1>>());
  check_shards<floats<3, 12, 9>, 2, first, here>(lv::avg_pool2d_op<window<3>, lv::stride<2>, lv::padding<1>>(),
                                                 division_error());
  check_shards<floats<3, 50>, 1, first, second>(lv::transform<"scale">(scaled).description);
  check_shards<floats<37>, 0, here, second>(lv::dense_op<12>());
}

TEST_CASE("a stage of a pipeline, several items at once") {
  LEVADA_NEEDS_DEVICE();
  const both_devices devices;
  using item = floats<2, 16, 16>;
  lv::testing::random_parameters random;
  random.add<item, lv::conv2d_op<3, window<3>, lv::padding<1>>>();
  lv::parameter_map weights;
  weights.set("c.weight", lv::element::f32, lv::shape(3, 2, 3, 3), random.all()[0]);
  weights.set("c.bias", lv::element::f32, lv::shape(3), random.all()[1]);
  const auto conv = lv::nn::conv2d<"c", 3, window<3>, lv::padding<1>>(weights);
  const auto app = lv::deploy<lv::target<lv::cpu<3>>, lv::backends<lv::reference>>(
      lv::input<item> | lv::shard_over<1>(conv, lv::share<lv::vulkan<0>, 3>{}, lv::vulkan<1>{}, lv::cpu<1>{}) |
      lv::nn::relu);
  const auto plain =
      lv::deploy<lv::target<lv::cpu<1>>, lv::backends<lv::reference>>(lv::input<item> | conv | lv::nn::relu);
  check_stream(app, random_items<item>(100), [&](const item& i) { return plain(i); });
}

TEST_CASE("a device that fails fails the item, and says why") {
  LEVADA_NEEDS_DEVICE();
  const both_devices devices;
  auto lost = devices.named;
  lost.intercept = [](lv::detail::vulkan_functions& f) {
    f.vkQueueSubmit = [](VkQueue, std::uint32_t, const VkSubmitInfo*, VkFence) { return VK_ERROR_DEVICE_LOST; };
  };
  const device_settings<2> third(lost);
  using item = floats<2, 30>;
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::backends<lv::reference>>(
      lv::input<item> | lv::shard_over<1>(lv::transform<"scale">(scaled), lv::vulkan<0>{}, lv::vulkan<2>{}));
  std::size_t failed = 0;
  for (const auto& r : app.stream(random_items<item>(10))) {
    if (r) continue;
    try {
      (void)r.value();
    } catch (const lv::device_error& e) {
      failed += std::string(e.what()).find("the device was lost") != std::string::npos;
    }
  }
  CHECK(failed == 10);
}

}  // namespace spirv_shards
