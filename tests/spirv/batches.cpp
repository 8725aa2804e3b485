// SPDX-License-Identifier: Apache-2.0
// Batches on a Vulkan device: every op computes all items of one by as many dispatches as it takes for one item, and
// makes of each what `reference` makes of it.

#include <levada/backend/spirv/ops.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>

#include "device.hpp"
#include "direct.hpp"

namespace spirv_batches {

using namespace spirv_test;
using lv::testing::epsilon;

template <std::size_t... Dims>
using floats = lv::tensor<float, Dims...>;

/// The device makes of a batch what `reference` makes of its items one by one.
template <class Item, std::size_t N, class... Ops>
void check_batch(double tolerance, const Ops&... ops) {
  using batch = lv::batch_tensor<Item, N>;
  using kernel = lv::spirv_batch_kernel<batch, Ops...>;
  using made = lv::run_output_t<Item, Ops...>;
  static_assert(sizeof(kernel) != 0);
  lv::testing::random_parameters parameters;
  parameters.add<Item, Ops...>();
  const lv::testing::on_heap<batch> in;
  lv::testing::fill_randomly(*in);

  const lv::testing::on_heap<lv::batch_tensor<made, N>> computed;
  kept_kernel of_batch = make_kept<kernel>(ops..., lv::parameter_values(parameters.all()));
  const lv::spirv_kernel<Item, Ops...> of_item(ops..., lv::parameter_values(parameters.all()));
  CHECK(of_batch->dispatches.size() == of_item.dispatches.size());
  CHECK(of_batch->in_bytes == sizeof(batch));
  CHECK(of_batch->out_bytes == sizeof(*computed));
  direct_device::get().run(std::move(of_batch), kernel::scratch_bytes, &*in, &*computed);

  const lv::testing::on_heap<Item> item;
  const lv::testing::on_heap<made> one;
  double difference = 0;
  for (std::size_t n = 0; n < N; ++n) {
    std::copy_n(in->data() + n * Item::elements, Item::elements, item->data());
    const auto expected = lv::testing::by_single_kernels<lv::reference>(*item, parameters.all(), ops...);
    std::copy_n(computed->data() + n * made::elements, made::elements, one->data());
    difference = std::max(difference, lv::testing::largest_difference(*expected, *one));
  }
  lv::testing::check_difference(difference, tolerance, __PRETTY_FUNCTION__);
}

TEST_CASE("convolutions, in tiles and by pixels, along z too, and with what is fused") {
  LEVADA_NEEDS_DEVICE();
  check_batch<floats<4, 9, 11>, 3>(0, lv::conv2d_op<16, lv::size<3>, lv::padding<1>>(), lv::relu_op());
  check_batch<floats<6, 15, 13>, 2>(0, lv::conv2d_op<34, lv::size<2, 3>, lv::groups<2>>());
  check_batch<floats<3, 3, 3>, 5>(0, lv::conv2d_op<12, lv::size<3>, lv::padding<1>>());
  check_batch<floats<3, 11, 9>, 2>(0, lv::conv2d_op<6, lv::size<3>, lv::groups<3>, lv::stride<2>>());
}

TEST_CASE("dense layers") {
  LEVADA_NEEDS_DEVICE();
  check_batch<floats<37>, 8>(0, lv::dense_op<10>(), lv::relu_op());
  check_batch<floats<70>, 33>(0, lv::dense_op<35>(), lv::relu_op());
}

TEST_CASE("pools") {
  LEVADA_NEEDS_DEVICE();
  check_batch<floats<3, 8, 8>, 4>(0, lv::max_pool2d_op<lv::size<2>>());
  check_batch<floats<5, 7, 3>, 3>(division_error(), lv::avg_pool2d_op<lv::size<3>, lv::stride<2>, lv::padding<1>>(),
                                  lv::relu_op());
}

TEST_CASE("rows that one invocation goes over, and that a workgroup shares") {
  LEVADA_NEEDS_DEVICE();
  check_batch<floats<3, 10>, 4>(4 * epsilon, lv::softmax_op());
  check_batch<floats<2, 300>, 3>(8 * epsilon, lv::softmax_op());
  check_batch<floats<3, 5, 4>, 3>(4 * epsilon, lv::reduce_op<lv::reduction::sum, lv::reduced_axes::keep, 1>());
}

TEST_CASE("element-wise runs, of words and of bytes that do not fill them") {
  LEVADA_NEEDS_DEVICE();
  const auto half = [](auto x) { return to_float(x) * 0.5f; };
  check_batch<floats<7, 3>, 5>(0, lv::relu_op(), lv::transform_op(half));
  check_batch<lv::tensor<std::uint8_t, 1, 5, 3>, 3>(0, lv::transform_op(half));
}

TEST_CASE("elements that move, of bytes too") {
  LEVADA_NEEDS_DEVICE();
  check_batch<floats<3, 4, 5>, 3>(0, lv::transpose_op<2, 0, 1>());
  check_batch<lv::tensor<std::uint8_t, 3, 5>, 3>(0, lv::transpose_op<1, 0>());
}

TEST_CASE("a grid kernel of one's own, where the items of a workgroup do not see each other") {
  LEVADA_NEEDS_DEVICE();
  const auto mirror = lv::grid_kernel<"mirror", floats<3, 5>, floats<3, 5>>(
      lv::grid<5, 1, 3>{}, [](auto g, auto in, auto out) { out(g.z(), 4 - g.x()) = in(g.z(), g.x()); });
  const auto shares = lv::grid_kernel<"shares", floats<8>, floats<8>>(
      lv::grid<2, 1, 4, lv::workgroup<2, 1, 2>>{}, [](auto g, auto in, auto out) {
        const auto room = g.template shared<float, 4>();
        room[g.local_x() + g.local_z() * 2] = in(g.z() * 2 + g.x());
        g.barrier();
        out(g.z() * 2 + g.x()) = room(1 - g.local_x() + g.local_z() * 2);
      });
  const auto batch_takes = [](const auto& kernel) {
    using op = lv::grid_kernel_op<std::remove_cvref_t<decltype(kernel)>>;
    return lv::detail::has_kernel_for<lv::spirv, lv::batch_tensor<floats<3, 5>, 2>, op> ||
           lv::detail::has_kernel_for<lv::spirv, lv::batch_tensor<floats<8>, 2>, op>;
  };
  CHECK(batch_takes(mirror));
  CHECK_FALSE(batch_takes(shares));

  using item = floats<3, 5>;
  const auto app = lv::deploy<box>(lv::input<item> | lv::batch<3> | there(lv::kernel_stage(mirror)) | lv::unbatch);
  check_stream(app, random_items<item>(7), [](const item& in) {
    item out;
    for (std::size_t y = 0; y < 3; ++y)
      for (std::size_t x = 0; x < 5; ++x) out(y, 4 - x) = in(y, x);
    return out;
  });
}

using picture = floats<3, 12, 12>;

lv::parameter_map made_weights() {
  lv::parameter_map weights;
  const auto set = [&]<class T>(const char* name, std::type_identity<T>) {
    weights.set(name, *lv::testing::random_input<T>());
  };
  set("conv.weight", std::type_identity<floats<8, 3, 3, 3>>());
  set("conv.bias", std::type_identity<floats<8>>());
  set("fc.weight", std::type_identity<floats<10, 288>>());
  set("fc.bias", std::type_identity<floats<10>>());
  return weights;
}

/// Each layer on the device or not.
auto network(const lv::parameter_map& w, auto place) {
  return place(lv::nn::conv2d<"conv", 8, lv::size<3>, lv::padding<1>>(w) | lv::nn::relu | lv::nn::max_pool2d<2>) |
         place(lv::nn::flatten | lv::params<"head">(lv::nn::dense<"fc", 10>(w)));
}

const auto here = [](auto part) { return part; };
const auto on_vulkan = [](auto part) { return there(std::move(part)); };

TEST_CASE("a model on the device takes batches, whole ones and what is left at the end") {
  LEVADA_NEEDS_DEVICE();
  const auto weights = made_weights();
  const auto alone =
      lv::deploy<lv::target<lv::cpu<1>>, lv::backends<lv::reference>>(lv::input<picture> | network(weights, here));
  const auto together = lv::deploy<box>(lv::input<picture> | lv::batch<4> | network(weights, on_vulkan) | lv::unbatch |
                                        lv::stage<"same">([](const floats<10>& x) { return x; }));
  constexpr const auto& batches = std::get<1>(decltype(together)::plan.region);
  static_assert(batches.segments == 1 && batches.segment[0].device == lv::vulkan<0>::id);
  for (const std::size_t count : {1u, 4u, 23u})
    check_stream(together, random_items<picture>(count), [&](const picture& p) { return alone(p); });
}

TEST_CASE("a batch is of the parameters that were current when it was full") {
  LEVADA_NEEDS_DEVICE();
  const auto weights = made_weights();
  const auto app = lv::deploy<box>(lv::input<picture> | lv::batch<2> | network(weights, on_vulkan) | lv::unbatch);
  auto session = app.open();
  const auto first = [&] {
    for (int i = 0; i < 2; ++i) session.push(picture{});
    const floats<10> a = **session.pop(), b = **session.pop();
    CHECK(a == b);
    return a;
  };
  const auto before = first();
  floats<10> bias;
  app.params<"head">().get<"bias">(bias);
  for (float& x : bias) x += 1;
  app.params<"head">().set<"bias">(bias);
  const auto behind = first();
  for (std::size_t i = 0; i < 10; ++i) CHECK(behind[i] == doctest::Approx(before[i] + 1));
}

}  // namespace spirv_batches
