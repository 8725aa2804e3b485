// SPDX-License-Identifier: Apache-2.0
// One lambda on the CPU and on a Vulkan device: the same bits, in the same order, however the memory is used.

#include <levada/backend/simd/kernel_stage.hpp>
#include <levada/backend/spirv.hpp>

#include "device.hpp"

namespace spirv_results {

using namespace spirv_test;

constexpr auto scaled = [gain = lv::uniform{1.75f}](auto x) { return x * gain; };
constexpr auto clipped = [](auto x) { return max(min(x - 3.5f, 40.0f), -20.0f); };
constexpr auto curved = [](auto x) { return select(x < 0, x * x, x + x * x * 0.125f); };

template <class Item, class Pipeline, class Same>
void same_on_both(const Pipeline& on_device, const Same& on_cpu, std::size_t count = 100) {
  const auto app = lv::deploy<box>(on_device);
  const auto plain = lv::deploy<lv::target<lv::cpu<1>>>(on_cpu);
  static_assert(decltype(app)::plan.segment[0].device == lv::vulkan<0>::id);
  const auto items = random_items<Item>(count);
  check_stream(app, items, [&](const Item& item) { return plain(item); });
  CHECK(same_bits(app(items[0]), plain(items[0])));
}

template <class Item>
void lengths_agree() {
  const auto on_device = lv::input<Item> | there(lv::transform<"scale">(scaled)) |
                         there(lv::transform<"clip">(clipped)) | there(lv::transform<"curve">(curved));
  const auto on_cpu = lv::input<Item> | lv::transform<"scale">(scaled) | lv::transform<"clip">(clipped) |
                      lv::transform<"curve">(curved);
  using plan = decltype(lv::deploy<box>(on_device));
  static_assert(plan::plan.units == 1);  // three stages, one dispatch
  static_assert(decltype(lv::deploy<lv::target<lv::cpu<1>>>(on_cpu))::plan.units == 1);
  same_on_both<Item>(on_device, on_cpu);
}

TEST_CASE("a fused chain gives the bits of the CPU, at any number of elements") {
  LEVADA_NEEDS_DEVICE();
  lengths_agree<lv::tensor<float, 1>>();
  lengths_agree<lv::tensor<float, 255>>();
  lengths_agree<lv::tensor<float, 2, 256>>();
  lengths_agree<lv::tensor<float, 3, 17, 19>>();
}

TEST_CASE("integers, and stages that change the type") {
  LEVADA_NEEDS_DEVICE();
  using item = lv::tensor<std::int32_t, 300>;
  const auto halved = [](auto x) { return x / 2 + (x >> 3); };
  const auto as_float = [](auto x) { return to_float(x) * 0.5f; };
  const auto as_bits = [](auto x) { return bit_cast_to_uint(x) ^ 0x5555u; };
  same_on_both<item>(lv::input<item> | there(lv::transform<"halve">(halved)) | there(lv::transform<"float">(as_float)) |
                         there(lv::transform<"bits">(as_bits)),
                     lv::input<item> | lv::transform<"halve">(halved) | lv::transform<"float">(as_float) |
                         lv::transform<"bits">(as_bits));
}

TEST_CASE("the same lambda twice in a row, and captures of several stages") {
  LEVADA_NEEDS_DEVICE();
  using item = lv::tensor<float, 500>;
  const auto shifted = [by = lv::uniform{2.5f}, floor = lv::uniform{-7.0f}](auto x) { return max(x + by, floor); };
  same_on_both<item>(lv::input<item> | there(lv::transform<"a">(curved)) | there(lv::transform<"b">(shifted)) |
                         there(lv::transform<"c">(curved)) | there(lv::transform<"d">(curved)) |
                         there(lv::transform<"e">(scaled)),
                     lv::input<item> | lv::transform<"a">(curved) | lv::transform<"b">(shifted) |
                         lv::transform<"c">(curved) | lv::transform<"d">(curved) | lv::transform<"e">(scaled));
}

TEST_CASE("the CPU before and behind, several segments on the device, few slots") {
  LEVADA_NEEDS_DEVICE();
  using item = lv::tensor<float, 64>;
  const auto plus_one = [](const item& in) {
    item out = in;
    for (float& v : out) v += 1.0f;
    return out;
  };
  const auto p = lv::input<item> | lv::stage<"before">(plus_one) | there(lv::transform<"scale">(scaled)) |
                 lv::stage<"between">(plus_one) | there(lv::transform<"clip">(clipped)) | lv::split_here |
                 there(lv::transform<"curve">(curved)) | lv::stage<"behind">(plus_one);
  const auto app = lv::deploy<box, lv::slots<3>>(p);
  static_assert(decltype(app)::plan.segments == 6);
  const auto plain = lv::deploy<lv::target<lv::cpu<1>>>(
      lv::input<item> | lv::stage<"before">(plus_one) | lv::transform<"scale">(scaled) |
      lv::stage<"between">(plus_one) | lv::transform<"clip">(clipped) | lv::transform<"curve">(curved) |
      lv::stage<"behind">(plus_one));
  check_stream(app, random_items<item>(200), [&](const item& i) { return plain(i); });
}

TEST_CASE("items that are copied in and out, by one submission or by three, and as many segments on one device") {
  LEVADA_NEEDS_DEVICE();
  for (const bool own : {false, true}) {
    CAPTURE(own);
    const device_settings<0> as(own ? with_own_submissions() : with_staging());
    lengths_agree<lv::tensor<float, 1000>>();
  }
}

TEST_CASE("more workgroups than one axis has") {
  LEVADA_NEEDS_DEVICE();
  using item = lv::tensor<float, 65535 * 256 + 300>;
  const auto app = lv::deploy<box, lv::slots<1>>(lv::input<item> | there(lv::transform<"clip">(clipped)));
  std::vector<item> in(1);
  for (std::size_t i = 0; i < item::elements; ++i) in[0][i] = static_cast<float>(i % 97);
  std::size_t results = 0, wrong = 0;
  for (const auto& r : app.stream(in)) {
    ++results;
    for (std::size_t i = 0; i < item::elements; ++i)
      wrong += (*r)[i] != std::max(std::min(in[0][i] - 3.5f, 40.0f), -20.0f);
  }
  CHECK(results == 1);
  CHECK(wrong == 0);
}

TEST_CASE("two devices of a target may be one of the machine, found by its UUID and by its name") {
  LEVADA_NEEDS_DEVICE();
  using item = lv::tensor<float, 128>;
  lv::vulkan_settings by_name, by_uuid;
  {
    const lv::detail::vulkan_context open(0, {});
    by_name.device = open.properties().deviceName;
    by_uuid.device = open.uuid();
    by_uuid.device.insert(8, "-");
  }
  const device_settings<0> first(by_uuid);
  const device_settings<1> second(by_name);
  const auto app = lv::deploy<lv::target<lv::cpu<2>, lv::vulkan<0>, lv::vulkan<1>>>(
      lv::input<item> | lv::on<lv::vulkan<0>>(lv::transform<"scale">(scaled)) |
      lv::on<lv::vulkan<1>>(lv::transform<"clip">(clipped)));
  static_assert(decltype(app)::plan.segments == 2);
  const auto plain = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<item> | lv::transform<"scale">(scaled) |
                                                        lv::transform<"clip">(clipped));
  check_stream(app, random_items<item>(200), [&](const item& i) { return plain(i); });
}

TEST_CASE("a grid kernel of one's own is a stage on both machines") {
  LEVADA_NEEDS_DEVICE();
  using item = lv::tensor<std::uint8_t, 21, 45>;
  const auto smooth = lv::kernel_stage(lv::grid_kernel<"smooth", item, item>(
      lv::grid<45, 21>{}, [share = lv::uniform{0.25f}](auto g, auto in, auto out) {
        const auto left = to_float(in.padded(g.y(), g.x() - 1)), here = to_float(in(g.y(), g.x()));
        out(g.y(), g.x()) = to_int(here + (left - here) * share);
      }));
  same_on_both<item>(lv::input<item> | there(smooth), lv::input<item> | smooth);
}

}  // namespace spirv_results
