// SPDX-License-Identifier: Apache-2.0
// Kernels of `simd` whose tiles several threads may compute: whoever computes which, and in which order, the bits are
// those of the whole.

#include <cstring>
#include <string_view>

#include "backend/conv2d.hpp"

#include <levada/backend/simd/detail/conv_transpose2d.hpp>
#include <levada/backend/simd/detail/pool2d.hpp>
#include <levada/backend/simd/detail/qlinear_conv2d.hpp>
#include <levada/backend/simd/detail/qlinear_depthwise.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

/// What results meet, as a join has it: it goes by the place that it is told.
struct by_place {
  template <class V, class Count>
  V operator()(const V& x, std::size_t channel, std::size_t at, Count) const {
    return x * V(static_cast<float>(channel + 1)) + V(static_cast<float>(at));
  }
};

template <class Out>
bool are_same_bits(const Out& a, const Out& b) {
  return std::memcmp(a.data(), b.data(), sizeof a.values) == 0;
}

void check_parts(bool same, std::size_t parts, std::string_view who) {
  CAPTURE(who);
  CAPTURE(parts);
  CHECK(same);
}

/// `whole(out, scratch)` and, for 1 to 4 parts, the last of them first, `some(out, scratch, tiles)`.
template <class Out, class Whole, class Some>
void check_division(std::size_t tiles, std::size_t scratch_bytes, const char* who, Whole whole, Some some) {
  const auto expected = unwritten<Out>();
  whole(*expected, aligned_bytes(scratch_bytes).data());
  for (std::size_t parts = 1; parts <= 4; ++parts) {
    const auto computed = unwritten<Out>();
    for (std::size_t part = parts; part-- > 0;)
      if (const auto share = detail::tiles_of_part(tiles, part, parts); share.begin != share.end)
        some(*computed, aligned_bytes(scratch_bytes).data(), share);
    check_parts(are_same_bits(*expected, *computed), parts, who);
  }
}

template <class In, class... Ops>
void check_divided(const Ops&... ops) {
  using kernel = simd::kernel<In, Ops...>;
  using out = run_output_t<In, Ops...>;
  static_assert(detail::tiles_of<kernel> > 1);
  random_parameters parameters;
  parameters.add<In, Ops...>();
  const auto in = random_tensor<In>();
  const on_heap<kernel> k(ops..., parameter_values(parameters.all()));
  check_division<out>(
      kernel::tiles, kernel::scratch_bytes, __PRETTY_FUNCTION__,
      [&](out& to, std::byte* scratch) { (*k)(*in, to, scratch); },
      [&](out& to, std::byte* scratch, detail::tile_range some) { k->of_tiles(*in, to, scratch, some); });
  if constexpr (requires(out& to) { k->of_tiles(*in, to, nullptr, detail::tile_range{}, by_place()); })
    check_division<out>(
        kernel::tiles, kernel::scratch_bytes, __PRETTY_FUNCTION__,
        [&](out& to, std::byte* scratch) { (*k)(*in, to, scratch, by_place()); },
        [&](out& to, std::byte* scratch, detail::tile_range some) { k->of_tiles(*in, to, scratch, some, by_place()); });
}

template <template <class, class, class> class Way, class In, class Conv, class... Tail>
void check_way(const Conv&, const Tail&...) {
  using epilogue = detail::simd_epilogue<xsimd::default_arch, float>;
  using way = Way<xsimd::default_arch, detail::conv_run<In, Conv, Tail...>, epilogue>;
  using out = run_output_t<In, Conv, Tail...>;
  random_parameters parameters;
  parameters.add<In, Conv>();
  const auto in = random_tensor<In>();
  const on_heap<way> k(parameter_values(parameters.all()), epilogue());
  check_division<out>(
      way::tiles, way::scratch_bytes, __PRETTY_FUNCTION__,
      [&](out& to, std::byte* scratch) { (*k)(in->data(), to.data(), scratch, by_place()); },
      [&](out& to, std::byte* scratch, detail::tile_range some) {
        (*k)(in->data(), to.data(), scratch, by_place(), nullptr, some);
      });
}

TEST_CASE("tiles of a product of packed panels are panels of pixels, or filters where there are few pixels") {
  check_way<detail::conv_by_panels, planes<64, 41, 41>>(conv2d_op<24, sized<1>, no_bias>());
  check_way<detail::conv_by_panels, planes<530, 7, 7>>(conv2d_op<262, sized<1>>());
  check_way<detail::conv_by_panels, planes<533, 3, 7>>(conv2d_op<45, sized<1>>());
  check_way<detail::conv_by_panels, planes<19, 27, 53>>(conv2d_op<17, sized<1>, stride<2, 3>>());
  check_way<detail::conv_by_panels, planes<19, 36, 90>>(conv2d_op<17, sized<1>, stride<2>>());
  check_divided<planes<37, 19, 23>>(conv2d_op<13, sized<1>>(), bias_op(), relu_op());
}

TEST_CASE("tiles of a separable convolution are rows that fill panels") {
  if constexpr (detail::loads_some_lanes<float, isa::native>)
    check_divided<planes<12, 57, 64>>(conv2d_op<12, sized<3>, padding<1>, groups<12>>(), relu_op(),
                                      conv2d_op<19, sized<1>>());
}

TEST_CASE("tiles of Winograd's transforms are rows of tiles, or filters where all rows are taken at a time") {
  check_way<detail::conv_by_winograd, planes<64, 57, 55>>(conv2d_op<64, sized<3>, padding<1>>());
  check_way<detail::conv_by_winograd, planes<33, 13, 14>>(conv2d_op<73, sized<3>, padding<1>>());
  check_way<detail::conv_by_small_winograd, planes<43, 13, 14>>(conv2d_op<73, sized<3>, padding<1>>());
  check_way<detail::conv_by_winograd, planes<40, 7, 7>>(conv2d_op<112, sized<3>, padding<1, 0, 1, 2>>());
}

TEST_CASE("tiles of a convolution along the filters are rows, or filters where there are more of these") {
  check_way<detail::conv_by_channels, planes<3, 37, 41>>(conv2d_op<33, sized<3>, stride<2>, padding<1>>());
  check_way<detail::conv_by_channels, planes<65, 30, 34>>(conv2d_op<48, sized<3>, padding<1>>());
  check_way<detail::conv_by_channels, planes<64, 34, 94>>(conv2d_op<17, sized<3>, padding<1>>());
  check_way<detail::conv_by_channels, planes<517, 7, 7>>(conv2d_op<150, sized<3>, padding<1>>());
  check_way<detail::conv_by_channels, planes<20, 22, 26>>(conv2d_op<20, sized<3>>(), max_pool2d_op<sized<2>>());
  check_way<detail::conv_by_channels, planes<530, 14, 14>>(conv2d_op<270, sized<1>>());
  check_way<detail::conv_by_channels, planes<37, 7, 7>>(conv2d_op<262, sized<1>>());
}

TEST_CASE("tiles of a convolution along the width are rows") {
  check_way<detail::conv_by_columns, planes<3, 37, 41>>(conv2d_op<7, sized<5>, stride<2>, padding<2>>());
  check_way<detail::conv_by_columns, planes<2, 30, 33>>(conv2d_op<3, sized<3, 5>, padding<3, 1, 0, 2>>());
  check_way<detail::conv_by_columns, planes<3, 28, 28>>(conv2d_op<5, sized<5>, padding<2>>(),
                                                        max_pool2d_op<sized<2>>());
  check_way<detail::conv_by_columns, planes<2, 31, 29>>(conv2d_op<4, sized<3>, dilation<3, 2>, padding<3>>());
}

TEST_CASE("tiles of a transposed convolution are rows") {
  check_divided<planes<5, 7, 19>>(conv_transpose2d_op<7, sized<3>, stride<2>, padding<1>>(), relu_op());
}

TEST_CASE("tiles of a convolution of groups are these") {
  check_divided<planes<7, 15, 37>>(conv2d_op<7, sized<3>, padding<1>, groups<7>>(), relu_op());
  check_divided<planes<6, 14, 35>>(conv2d_op<9, sized<3>, stride<2>, padding<1>, groups<3>>());
}

TEST_CASE("tiles of a pool are channels") {
  check_divided<planes<5, 22, 27>>(max_pool2d_op<sized<3>, stride<2>, padding<1>>());
  check_divided<planes<6, 9, 40>>(avg_pool2d_op<sized<3>, stride<1>, padding<1>>());
  check_divided<tensor<std::uint8_t, 7, 9, 37>>(max_pool2d_op<sized<2>>());
}

TEST_CASE("tiles of a convolution of integers are those of its quads, or single channels") {
  using std::int8_t, std::uint8_t;
  const qlinear_numbers numbers{.x = {0.02f, 31}, .y = {0.1f, 117}};
  check_divided<tensor<uint8_t, 3, 21, 23>>(
      qlinear_conv2d_op<20, uint8_t, float, sized<3>, padding<1>, stride<2>>{{}, numbers});
  check_divided<tensor<int8_t, 5, 9, 37>>(qlinear_conv2d_op<7, int8_t, float, sized<3>>{{}, numbers});
  check_divided<tensor<uint8_t, 64, 29, 14>>(qlinear_conv2d_op<70, uint8_t, float, sized<3>, padding<1>>{{}, numbers});
  check_divided<tensor<uint8_t, 64, 7, 7>>(qlinear_conv2d_op<150, float, float, sized<1>>{{}, numbers});
  check_divided<tensor<uint8_t, 7, 9, 21>>(
      qlinear_conv2d_op<14, uint8_t, float, sized<3>, padding<1>, groups<7>>{{}, numbers});
  check_divided<tensor<int8_t, 5, 9, 21>>(
      qlinear_conv2d_op<5, uint8_t, float, sized<3>, stride<3>, padding<1>, groups<5>>{{}, numbers});
}

TEST_CASE("tiles of a dense layer are some outputs") {
  check_divided<tensor<float, 37>>(dense_op<45>(), relu_op());
  check_divided<tensor<float, 64>>(dense_op<83>());
  check_divided<planes<5, 3, 7>>(flatten_op(), dense_op<19, no_bias>());
}

}  // namespace
