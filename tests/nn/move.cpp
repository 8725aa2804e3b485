// SPDX-License-Identifier: Apache-2.0
// Ops that move elements: where each element comes from, on both backends.

#include "nn/direct.hpp"

#include <levada/backend/detail/define/moves.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/move.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

using box = tensor<float, 3, 5, 19>;
using row = tensor<float, 5>;

template <class T>
std::vector<int> as_list(const T& t) {
  return std::vector<int>(t.begin(), t.end());
}
using list = std::vector<int>;

// The shape rules refuse what the ops do not take.
static_assert(!op_takes<transpose_op<0, 1>, box> && !op_takes<transpose_op<0, 1, 1>, box> &&
              !op_takes<transpose_op<0, 1, 3>, box>);
static_assert(!op_takes<slice_op<along<3, 0, 1>>, box> && !op_takes<slice_op<along<0, 2, 1>>, box>);
static_assert(!op_takes<expand_op<2, 5, 19>, box> && !op_takes<tile_op<2, 2>, box>);
static_assert(!op_takes<pad_op<pad_mode::reflect, 5, 0>, row> && !op_takes<pad_op<pad_mode::edge, 1>, row>);
static_assert(!op_takes<gather_op<0, 3>, box> && !op_takes<gather_op<0, -4>, box> && !op_takes<gather_op<3, 0>, box>);
static_assert(!op_takes<depth_to_space_op<2>, box> && !op_takes<squeeze_op<0>, box> && !op_takes<squeeze_op<3>, box>);
static_assert(!op_takes<unsqueeze_op<0, 0>, box> && !op_takes<unsqueeze_op<5>, box>);
static_assert(!op_takes<concat_op<0>, std::tuple<box, tensor<double, 3, 5, 19>>>);
static_assert(!op_takes<concat_op<0>, std::tuple<box, tensor<float, 3, 5, 18>>> && !op_takes<concat_op<0>, box>);
static_assert(!op_takes<split_op<0, 1, 1>, box> && !op_takes<gather_by_op<0>, std::tuple<box, row>>);
static_assert(std::same_as<out<slice_op<along<-1, -1, -100, -2>>, box>, tensor<float, 3, 5, 10>>);
static_assert(std::same_as<out<squeeze_op<>, tensor<float, 1, 3, 1>>, tensor<float, 3>>);
static_assert(std::same_as<out<unsqueeze_op<0, -1>, row>, tensor<float, 1, 5, 1>>);
static_assert(
    std::same_as<out<gather_by_op<1>, std::tuple<box, tensor<std::int64_t, 2, 2>>>, tensor<float, 3, 2, 2, 19>>);

}  // namespace

TEST_CASE("transpose of any permutation") {
  const auto in = counted<box>();
  const auto turned = both(*in, transpose_op<2, 0, 1>());
  static_assert(std::same_as<decltype(turned)::element_type, tensor<float, 19, 3, 5>>);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t y = 0; y < 5; ++y)
      for (std::size_t x = 0; x < 19; ++x) CHECK((*turned)(x, c, y) == (*in)(c, y, x));
  both(*in, transpose_op<1, 0, 2>());
  both(*random_input<tensor<std::uint8_t, 7, 33>>(), transpose_op<1, 0>());
  CHECK(*both(*in, transpose_op<0, 1, 2>()) == *in);
  // Of few channels that lie side by side: planes, by vectors.
  both(*random_input<tensor<float, 5, 41, 3>>(), transpose_op<2, 0, 1>());
  both(*random_input<tensor<float, 3, 16, 3>>(), transpose_op<2, 0, 1>());
  both(*random_input<tensor<float, 2, 3, 33, 5>>(), transpose_op<0, 3, 1, 2>());
  both(*random_input<tensor<float, 1, 3>>(), transpose_op<1, 0>());
}

TEST_CASE("slice forwards, backwards and beyond the end, as ONNX reads ranges") {
  const auto in = counted<row>();
  CHECK(as_list(*both(*in, slice_op<along<0, 1, 4>>())) == list{1, 2, 3});
  CHECK(as_list(*both(*in, slice_op<along<0, -3, 100>>())) == list{2, 3, 4});
  CHECK(as_list(*both(*in, slice_op<along<0, 0, 5, 2>>())) == list{0, 2, 4});
  CHECK(as_list(*both(*in, slice_op<along<0, 100, -100, -1>>())) == list{4, 3, 2, 1, 0});
  CHECK(as_list(*both(*in, slice_op<along<0, -1, 0, -2>>())) == list{4, 2});
  const auto cut = both(*counted<box>(), slice_op<along<2, 1, 18>, along<0, 2, 0, -1>>());
  static_assert(std::same_as<decltype(cut)::element_type, tensor<float, 2, 5, 17>>);
  CHECK((*cut)(0, 4, 3) == 2 * 95 + 4 * 19 + 4);
}

TEST_CASE("pad in every mode, and negative sides cut") {
  const auto in = counted<row>();
  CHECK(as_list(*both(*in, nn::pad<pad_mode::constant, 2, 1>(9).description)) == list{9, 9, 0, 1, 2, 3, 4, 9});
  CHECK(as_list(*both(*in, pad_op<pad_mode::reflect, 4, 2>())) == list{4, 3, 2, 1, 0, 1, 2, 3, 4, 3, 2});
  CHECK(as_list(*both(*in, pad_op<pad_mode::edge, 2, 3>())) == list{0, 0, 0, 1, 2, 3, 4, 4, 4, 4});
  CHECK(as_list(*both(*in, pad_op<pad_mode::wrap, 2, 6>())) == list{3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0});
  CHECK(as_list(*both(*in, pad_op<pad_mode::constant, -1, 1>())) == list{1, 2, 3, 4, 0});
  both(*counted<box>(), nn::pad<pad_mode::constant, 1, 0, 2, 0, 3, 1>(0.5).description);
  both(*counted<box>(), pad_op<pad_mode::reflect, 1, 2, 17, 0, 3, 18>());
  both(*counted<box>(), pad_op<pad_mode::wrap, 1, -2, 1, 4, 0, -1>());
}

TEST_CASE("expand, tile and gather repeat") {
  CHECK(as_list(*both(*counted<tensor<float, 2, 1>>(), expand_op<2, 1, 3>())) ==
        list{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  CHECK(as_list(*both(*counted<tensor<float, 2, 2>>(), tile_op<1, 2>())) == list{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(as_list(*both(*counted<row>(), gather_op<0, 3, -1, 0, 0>())) == list{3, 4, 0, 0});
  both(*counted<box>(), gather_op<1, 4, 0, -2>());
  both(*counted<box>(), expand_op<2, 1, 5, 1>());
  const auto single = both(*counted<tensor<float, 3>>(), gather_op<0, 1>());
  CHECK((*single)[0] == 1);
}

TEST_CASE("depth_to_space and back") {
  const auto in = counted<tensor<float, 8, 2, 3>>();
  const auto dcr = both(*in, depth_to_space_op<2>());
  const auto crd = both(*in, depth_to_space_op<2, depth_order::crd>());
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t y = 0; y < 4; ++y)
      for (std::size_t x = 0; x < 6; ++x) {
        const std::size_t pixel = y % 2 * 2 + x % 2;
        CHECK((*dcr)(c, y, x) == (*in)(pixel * 2 + c, y / 2, x / 2));
        CHECK((*crd)(c, y, x) == (*in)(c * 4 + pixel, y / 2, x / 2));
      }
  CHECK(*both(*dcr, space_to_depth_op<2>()) == *in);
}

TEST_CASE("concat and split along any axis, of any type") {
  const auto in = random_input<std::tuple<box, tensor<float, 3, 2, 19>, tensor<float, 3, 1, 19>>>();
  const auto joined = both(*in, concat_op<-2>());
  static_assert(std::same_as<decltype(joined)::element_type, tensor<float, 3, 8, 19>>);
  const auto parts = both(*joined, split_op<1, 5, 2, 1>());
  CHECK(*parts == *in);
  both(*random_input<std::tuple<tensor<std::int64_t, 4>, tensor<std::int64_t, 3>>>(), concat_op<0>());
}

TEST_CASE("gather by a tensor of indices; what is beyond the ends is 0") {
  const std::tuple columns(*counted<tensor<float, 2, 3>>(), tensor<std::int64_t, 4>{{2, -3, 3, -4}});
  CHECK(as_list(*both(columns, gather_by_op<1>())) == list{2, 0, 0, 0, 5, 3, 0, 0});
  const std::tuple rows(*counted<tensor<float, 3, 2>>(), tensor<int, 2, 1>{{2, 0}});
  CHECK(as_list(*both(rows, gather_by_op<0>())) == list{4, 5, 0, 1});
}

TEST_CASE("cast goes towards zero, to the nearest that fits, and NaN becomes 0") {
  const tensor<float, 7> in{{1.9f, -1.9f, 300.0f, -1e20f, infinity, not_a_number, 0.0f}};
  CHECK(as_list(*both(in, cast_op<std::uint8_t>())) == list{1, 0, 255, 0, 255, 0, 0});
  CHECK(as_list(*both(in, cast_op<bool>())) == list{1, 1, 1, 1, 1, 1, 0});
  const auto wide = both(in, cast_op<std::int64_t>());
  CHECK((*wide)[3] == std::numeric_limits<std::int64_t>::min());
  CHECK((*wide)[4] == std::numeric_limits<std::int64_t>::max());
  const tensor<half, 3> halves{{half(0.5f), half(-2), half(1024)}};
  CHECK(as_list(*both(halves, cast_op<double>())) == list{0, -2, 1024});
  CHECK(as_list(*both(halves, cast_op<int>())) == list{0, -2, 1024});
  const auto narrowed = by_one_kernel<simd>(tensor<float, 1>{{0.1f}}, {}, cast_op<half>());
  CHECK(static_cast<float>((*narrowed)[0]) == static_cast<float>(half(0.1f)));
  CHECK(as_list(*both(tensor<int, 2>{{257, -1}}, cast_op<std::uint8_t>())) == list{1, 255});
}

TEST_CASE("NaN is moved as it is") {
  auto in = counted<row>();
  (*in)[2] = not_a_number;
  CHECK(std::isnan((*both(*in, slice_op<along<0, 2, 3>>()))[0]));
}
