// SPDX-License-Identifier: Apache-2.0
// Regions that are no chain as one dispatch of a Vulkan device: element-wise ops of any shape, reductions of rows among
// them, and convolutions, dense layers and products whose results meet other values. Each gives what `reference` gives
// op by op.

#include <atomic>

#include <kernel/validators.hpp>
#include <nn/numbers_by_name.hpp>

#include <levada/backend/reference/ops.hpp>
#include <levada/backend/spirv/ops.hpp>
#include <levada/nn/residual.hpp>

#include "device.hpp"

namespace spirv_regions {

using namespace spirv_test;

template <std::size_t... Dims>
using floats = lv::tensor<float, Dims...>;
using on_device = lv::target<lv::vulkan<0>, lv::cpu<2>>;
using plainly = lv::target<lv::cpu<1>>;

/// Dispatches that were recorded, and modules that spirv-val refused.
struct counts {
  std::atomic<std::size_t> dispatches{0}, refused{0};
};
counts& counted() {
  static counts all;
  return all;
}
PFN_vkCmdDispatch real_dispatch = nullptr;
PFN_vkCreateShaderModule real_module = nullptr;
void counting(lv::detail::vulkan_functions& f) {
  real_dispatch = f.vkCmdDispatch;
  f.vkCmdDispatch = [](VkCommandBuffer commands, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    ++counted().dispatches;
    real_dispatch(commands, x, y, z);
  };
  real_module = f.vkCreateShaderModule;
  f.vkCreateShaderModule = [](VkDevice device, const VkShaderModuleCreateInfo* info, const VkAllocationCallbacks* with,
                              VkShaderModule* made) {
    static const bool validates = kernel_test::is_installed("spirv-val");
    if (validates && !kernel_test::is_valid_spirv({info->pCode, info->codeSize / 4})) ++counted().refused;
    return real_module(device, info, with, made);
  };
}

/// The results of both sessions are near each other.
template <class Session, class Plain, class In>
void check_near(Session& session, Plain& plain, const In& in) {
  session.push(in);
  plain.push(in);
  const auto got = session.pop(), wanted = plain.pop();
  REQUIRE((got && wanted && got->has_value() && wanted->has_value()));
  float worst = 0;
  for (std::size_t i = 0; i < (**wanted).elements; ++i)
    worst = std::max(worst, std::abs((**got)[i] - (**wanted)[i]) / (1 + std::abs((**wanted)[i])));
  CHECK(worst < 2e-5f);
}

/// The pipeline on the device gives what it gives by `reference`, in so many dispatches.
template <std::size_t Dispatches, class In, class Make>
void check_dispatches(Make make) {
  LEVADA_NEEDS_DEVICE();
  const watched validation;
  lv::vulkan_settings settings;
  settings.intercept = counting;
  const device_settings<0> as(settings);
  counted().dispatches = counted().refused = 0;

  lv::testing::numbers_by_name weights;
  lv::testing::set_all(weights, make(weights));
  const auto app = lv::deploy<on_device, lv::slots<2>>(make(weights));
  static_assert(decltype(app)::plan.segments == 1 && decltype(app)::plan.units == Dispatches);
  const auto one_by_one = lv::deploy<plainly, lv::backends<lv::reference>>(make(weights));
  auto session = app.open();
  auto plain = one_by_one.open();
  for (unsigned item = 0; item < 5; ++item)  // slots are used again
    check_near(session, plain, *lv::testing::random_item<In>(item + 1));
  CHECK(counted().dispatches == 2 * Dispatches);  // in the commands of each slot
  CHECK(counted().refused == 0);
}

TEST_CASE("a residual sum costs no dispatch, whether its convolution has tiles or not, and a norm none") {
  check_dispatches<5, floats<5, 9, 11>>([](const auto& w) {
    return lv::input<floats<5, 9, 11>> |
           lv::residual(lv::nn::conv2d<"a", 5, lv::size<3>, lv::padding<1>>(w) | lv::nn::relu |
                        lv::nn::conv2d<"b", 5, lv::size<3>, lv::padding<1>, lv::no_bias>(w) |
                        lv::nn::batch_norm<"bn">(w)) |
           lv::nn::relu | lv::nn::conv2d<"c", 18, lv::size<3>>(w) |
           lv::residual(lv::nn::conv2d<"d", 18, lv::size<3>, lv::padding<1>>(w) | lv::nn::batch_norm<"dn">(w) |
                        lv::nn::relu | lv::nn::conv2d<"e", 18, lv::size<3>, lv::padding<1>>(w)) |
           lv::nn::tanh;
  });
}

TEST_CASE("zeros around a picture are the padding of its convolution, alone and where the result meets others") {
  check_dispatches<3, floats<3, 9, 11>>([](const auto& w) {
    return lv::input<floats<3, 9, 11>> | lv::nn::pad<lv::pad_mode::constant, 0, 0, 1, 0, 1, 2>() |
           lv::nn::conv2d<"a", 4, lv::size<3>, lv::stride<2>>(w) | lv::nn::relu |
           lv::residual(lv::nn::pad<lv::pad_mode::constant, 0, 2, 0, 0, 0, 2>() |
                        lv::nn::conv2d<"b", 4, lv::size<3>, lv::no_bias>(w) | lv::nn::batch_norm<"bn">(w)) |
           lv::nn::relu | lv::nn::pad<lv::pad_mode::constant, 0, 1, 1, 0, 1, 1>() |
           lv::nn::conv2d<"c", 18, lv::size<3>, lv::padding<1>>(w);
  });
}

TEST_CASE("parameters are operands alone, in chains and in regions, of either side") {
  check_dispatches<4, floats<3, 8, 9>>([](const auto& w) {
    return lv::input<floats<3, 8, 9>> | lv::nn::parameter_sub<"from", 3, 1, 1>(w) | lv::nn::relu |
           lv::nn::conv2d<"c", 4, lv::size<3>, lv::padding<1>>(w) | lv::nn::mul_parameter<"m", 4, 1, 1>(w) |
           lv::nn::add_parameter<"a", 9>(w) | lv::nn::relu |
           lv::residual(lv::nn::conv2d<"d", 4, lv::size<3>, lv::padding<1>>(w) |
                        lv::nn::mul_parameter<"n", 4, 8, 9>(w)) |
           lv::fork(lv::nn::mul_parameter<"x", 4, 1, 1>(w), lv::nn::sigmoid) | lv::nn::add;
  });
}

TEST_CASE("a product with a parameter, then with another as its bias and a residual, and a norm with its scale") {
  check_dispatches<4, floats<5, 37>>([](const auto& w) {
    const auto root = [](auto v) { return sqrt(v + 1e-5f); };
    return lv::input<floats<5, 37>> | lv::nn::parameter_matmul<"left", 6, 5>(w) | lv::nn::relu |
           lv::nn::matmul_parameter<"up", 37, 70>(w) | lv::nn::add_parameter<"b", 70>(w) | lv::nn::gelu |
           lv::fork(lv::identity, lv::nn::reduce_mean<-1>) | lv::nn::sub |
           lv::fork(lv::identity, lv::fork(lv::identity, lv::identity) | lv::nn::mul | lv::nn::reduce_mean<-1> |
                                      lv::transform<"root">(root)) |
           lv::nn::div | lv::nn::mul_parameter<"gamma", 70>(w) | lv::nn::add_parameter<"beta", 70>(w) |
           lv::residual(lv::nn::matmul_parameter<"p", 70, 70>(w) | lv::nn::add_parameter<"q", 70>(w));
  });
}

TEST_CASE("a convolution is scaled by a number of each channel, and of each place") {
  check_dispatches<5, floats<12, 10, 13>>([](const auto& w) {
    return lv::input<floats<12, 10, 13>> |
           lv::fork(lv::nn::reduce_max<0>,
                    lv::nn::global_avg_pool2d | lv::nn::conv2d<"s", 3, lv::size<1>>(w) | lv::nn::relu |
                        lv::nn::conv2d<"e", 12, lv::size<1>>(w) | lv::nn::sigmoid,
                    lv::nn::conv2d<"x", 12, lv::size<3>, lv::padding<1>>(w)) |
           lv::broadcast<"all">([](auto place, auto channel, auto x) { return x * channel - place; });
  });
}

TEST_CASE("element-wise ops of any shape are one dispatch, of values of other shapes too") {
  // x is taken six times; its mean two units before is taken twice.
  check_dispatches<2, floats<3, 5, 7>>([](const auto&) {
    using lv::node;
    const auto more = [by = lv::uniform{1.5f}](auto x) { return x + by; };
    return lv::graph(lv::port<"x", floats<3, 5, 7>>, node<"mean", "x">(lv::nn::reduce_mean<1, 2>),
                     node<"a", "x">(lv::transform<"more">(more)), node<"b", "a">(lv::nn::sigmoid),
                     node<"c", "a", "b">(lv::nn::mul), node<"d", "c", "mean">(lv::nn::sub),
                     node<"e", "x", "x">(lv::nn::mul), node<"f", "d", "e", "mean">(lv::nn::max),
                     node<"g", "f", "x">(lv::nn::add), node<"h", "g">(lv::nn::relu), lv::output<"h", "h">);
  });
}

TEST_CASE("a dense layer meets its residual") {
  check_dispatches<2, floats<37>>([](const auto& w) {
    return lv::input<floats<37>> |
           lv::residual(lv::nn::dense<"up", 70>(w) | lv::nn::gelu | lv::nn::dense<"down", 37>(w));
  });
}

TEST_CASE("products of matrices are scaled, masked by rows and columns, and summed") {
  check_dispatches<4, floats<3, 19, 19>>([](const auto&) {
    using lv::node;
    return lv::graph(lv::port<"x", floats<3, 19, 19>>, node<"rows", "x">(lv::nn::reduce_max<-1>),
                     node<"columns", "x">(lv::nn::reduce_max<0, 1>), node<"one", "x">(lv::nn::reduce_mean<>),
                     node<"p", "x", "x">(lv::nn::matmul), node<"q", "p", "rows">(lv::nn::sub),
                     node<"r", "q", "columns">(lv::nn::mul), node<"s", "r", "one">(lv::nn::div),
                     node<"t", "s", "x">(lv::nn::add), lv::output<"t", "t">);
  });
}

TEST_CASE("softmax and a norm as their parts are one dispatch, of rows that invocations share and of short ones") {
  check_dispatches<3, floats<5, 6, 19>>([](const auto&) {
    return lv::input<floats<5, 6, 19>> | lv::fork(lv::identity, lv::nn::reduce_max<-1>) | lv::nn::sub | lv::nn::exp |
           lv::fork(lv::identity, lv::nn::reduce_sum<-1>) | lv::nn::div | lv::nn::reshape<3, 190> |
           lv::fork(lv::identity, lv::nn::reduce_mean<-1>) | lv::nn::sub |
           lv::fork(lv::identity, lv::fork(lv::identity, lv::identity) | lv::nn::mul | lv::nn::reduce_mean<-1> |
                                      lv::transform<"root">([](auto v) { return sqrt(v + 1e-5f); })) |
           lv::nn::div;
  });
}

TEST_CASE("rows are scaled by what is the same for all of them, and end as numbers") {
  check_dispatches<2, floats<7, 33>>([](const auto&) {
    using lv::node;
    return lv::graph(lv::port<"x", floats<7, 33>>, node<"scale", "x">(lv::nn::reduce_max<0>),
                     node<"square", "x", "x">(lv::nn::mul), node<"mean", "square">(lv::nn::reduce_mean<-1>),
                     node<"root", "mean">(lv::transform<"root">([](auto v) { return 1.0f / sqrt(v + 1e-3f); })),
                     node<"normal", "x", "root">(lv::nn::mul), node<"y", "normal", "scale">(lv::nn::mul),
                     node<"most", "y">(lv::nn::reduce_max<-1>), node<"less", "y", "most">(lv::nn::sub),
                     node<"exp", "less">(lv::nn::exp), node<"sum", "exp">(lv::nn::reduce_sum<-1>),
                     node<"log", "sum">(lv::nn::log), node<"all", "log", "most">(lv::nn::add),
                     lv::output<"all", "all">);
  });
}

}  // namespace spirv_regions
