// SPDX-License-Identifier: Apache-2.0
// The ops of neural networks on a Vulkan device against `reference`. Where only sums and products are made, in the
// order of the definition, the bits are the same.

#include <cmath>
#include <map>

#include <levada/backend/reference.hpp>
#include <levada/backend/spirv.hpp>

#include "device.hpp"

namespace spirv_ops {

using namespace spirv_test;

/// Random weights under any name.
class random_weights {
 public:
  void add(const std::string& name, lv::shape extents) {
    auto& values = values_[name].second;
    values_[name].first = extents;
    values.resize(extents.elements());
    std::mt19937 engine(static_cast<unsigned>(values_.size()));
    for (float& v : values) v = std::uniform_real_distribution<float>(-1, 1)(engine);
  }
  std::optional<lv::stored_tensor> find(std::string_view name) const {
    const auto found = values_.find(std::string(name));
    if (found == values_.end()) return std::nullopt;
    return lv::stored_tensor{lv::element::f32, found->second.first, found->second.second.data()};
  }

 private:
  std::map<std::string, std::pair<lv::shape, std::vector<float>>> values_;
};

/// The largest difference between what both deployments make of random items.
template <class Item, class OnDevice, class OnCpu>
double difference(const OnDevice& on_device, const OnCpu& on_cpu) {
  const auto app = lv::deploy<box, lv::slots<4>>(on_device);
  const auto plain = lv::deploy<lv::target<lv::cpu<1>>, lv::backends<lv::reference>>(on_cpu);
  const auto items = random_items<Item>(9);
  std::size_t at = 0;
  double largest = 0;
  for (const auto& r : app.stream(items)) {
    REQUIRE(r.has_value());
    const auto expected = plain(items[at++]);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double d = std::abs(static_cast<double>((*r)[i]) - static_cast<double>(expected[i]));
      largest = std::isnan(d) ? INFINITY : std::max(largest, d);
    }
  }
  CHECK(at == items.size());
  return largest;
}

template <class Item, class Stage>
double difference(const Stage& stage) {
  return difference<Item>(lv::input<Item> | there(stage), lv::input<Item> | stage);
}

template <std::size_t... S>
using window = lv::size<S...>;

TEST_CASE("conv2d: padding, strides, dilation, groups, a window too large to be unrolled, no bias") {
  LEVADA_NEEDS_DEVICE();
  random_weights w;
  w.add("a.weight", lv::shape(5, 3, 3, 3)), w.add("a.bias", lv::shape(5));
  w.add("b.weight", lv::shape(4, 3, 2, 5)), w.add("b.bias", lv::shape(4));
  w.add("c.weight", lv::shape(6, 1, 3, 3)), w.add("c.bias", lv::shape(6));
  w.add("d.weight", lv::shape(2, 3, 8, 8));
  CHECK(difference<lv::tensor<float, 3, 11, 23>>(lv::nn::conv2d<"a", 5, window<3>, lv::padding<1>>(w)) == 0);
  CHECK(difference<lv::tensor<float, 3, 13, 17>>(
            lv::nn::conv2d<"b", 4, window<2, 5>, lv::stride<3, 1>, lv::padding<0, 3, 2, 1>>(w)) == 0);
  CHECK(difference<lv::tensor<float, 2, 12, 12>>(
            lv::nn::conv2d<"c", 6, window<3>, lv::dilation<2>, lv::groups<2>>(w)) == 0);
  CHECK(difference<lv::tensor<float, 3, 9, 9>>(lv::nn::conv2d<"d", 2, window<8>, lv::no_bias>(w)) == 0);
}

TEST_CASE("element-wise ops are fused into the end of a convolution, a pool and a matrix") {
  LEVADA_NEEDS_DEVICE();
  random_weights w;
  w.add("a.weight", lv::shape(8, 2, 3, 3)), w.add("a.bias", lv::shape(8));
  w.add("b.weight", lv::shape(10, 8 * 5 * 5)), w.add("b.bias", lv::shape(10));
  using item = lv::tensor<float, 2, 10, 10>;
  const auto halved = lv::transform<"halve">([by = lv::uniform{0.5f}](auto x) { return x * by; });
  const auto whole = lv::transform<"whole">([](auto x) { return to_int(x); });
  const auto on_device = lv::input<item> | there(lv::nn::conv2d<"a", 8, window<3>, lv::padding<1>>(w)) |
                         there(lv::nn::relu) | there(halved) | there(lv::nn::max_pool2d<2>) | there(lv::nn::flatten) |
                         there(lv::nn::dense<"b", 10>(w)) | there(lv::nn::relu) | there(whole);
  static_assert(decltype(lv::deploy<box>(on_device))::plan.units == 3);
  CHECK(difference<item>(on_device, lv::input<item> | lv::nn::conv2d<"a", 8, window<3>, lv::padding<1>>(w) |
                                        lv::nn::relu | halved | lv::nn::max_pool2d<2> | lv::nn::flatten |
                                        lv::nn::dense<"b", 10>(w) | lv::nn::relu | whole) == 0);
}

TEST_CASE("max_pool2d: a padded one, and one whose windows overlap") {
  LEVADA_NEEDS_DEVICE();
  CHECK(difference<lv::tensor<float, 3, 9, 11>>(lv::named<"p">(lv::nn::max_pool2d<3, lv::stride<2>, lv::padding<1>>)) ==
        0);
  CHECK(difference<lv::tensor<float, 1, 7, 7>>(lv::named<"p">(lv::nn::max_pool2d<2, lv::stride<1>>)) == 0);
}

TEST_CASE("relu keeps what is no number, flatten and reshape move nothing") {
  LEVADA_NEEDS_DEVICE();
  using item = lv::tensor<float, 2, 3>;
  const auto app = lv::deploy<box>(lv::input<item> | there(lv::nn::relu) | there(lv::nn::reshape<3, 2>));
  item in{};
  in[0] = -1, in[1] = 2, in[2] = NAN, in[3] = -INFINITY;
  const auto out = app(in);
  CHECK(out[0] == 0);
  CHECK(out[1] == 2);
  CHECK(std::isnan(out[2]));
  CHECK(out[3] == 0);
  CHECK(difference<lv::tensor<std::int32_t, 4, 5>>(lv::nn::flatten) == 0);
}

TEST_CASE("softmax of rows, within 4 ulp of 1") {
  LEVADA_NEEDS_DEVICE();
  CHECK(difference<lv::tensor<float, 3, 4, 10>>(lv::nn::softmax) <= 0x1p-21);
  CHECK(difference<lv::tensor<float, 1000>>(lv::nn::softmax) <= 0x1p-21);
}

TEST_CASE("elements narrower than a word") {
  LEVADA_NEEDS_DEVICE();
  const auto scaled = lv::transform<"scale">([by = lv::uniform{0.25f}](auto x) { return to_float(x) * by; });
  CHECK(difference<lv::tensor<std::uint8_t, 3, 7>>(scaled) == 0);
  CHECK(difference<lv::tensor<std::int8_t, 301>>(scaled) == 0);
  CHECK(difference<lv::tensor<std::uint16_t, 33>>(scaled) == 0);
  CHECK(difference<lv::tensor<std::int16_t, 2, 17>>(scaled) == 0);
}

}  // namespace spirv_ops
