// SPDX-License-Identifier: Apache-2.0
// Elements picked and placed by indices, and pictures sampled at the places of a grid.

#include "nn/direct.hpp"

#include <levada/backend/reference/ops.hpp>
#include <levada/ops.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

template <std::size_t... Dims>
using floats = tensor<float, Dims...>;
template <std::size_t... Dims>
using indices = tensor<std::int64_t, Dims...>;
template <class... T>
using tuple = std::tuple<T...>;

static_assert(std::same_as<out<gather_elements_op<1>, tuple<floats<3, 4>, indices<3, 9>>>, floats<3, 9>>);
static_assert(!op_takes<gather_elements_op<1>, tuple<floats<3, 4>, indices<4, 4>>>, "more rows than there are");
static_assert(!op_takes<gather_elements_op<1>, tuple<floats<3, 4>, floats<3, 4>>>, "indices are integers");
static_assert(std::same_as<out<gather_nd_op<0>, tuple<floats<3, 4, 5>, indices<7, 2>>>, floats<7, 5>>);
static_assert(std::same_as<out<gather_nd_op<1>, tuple<floats<3, 4, 5>, indices<3, 2>>>, floats<3>>);
static_assert(!op_takes<gather_nd_op<1>, tuple<floats<3, 4, 5>, indices<4, 1>>>);
static_assert(op_takes<scatter_nd_op<scatter::add>, tuple<floats<3, 4, 5>, indices<7, 2>, floats<7, 5>>>);
static_assert(!op_takes<scatter_nd_op<scatter::add>, tuple<floats<3, 4, 5>, indices<7, 2>, floats<7, 4>>>);
static_assert(std::same_as<out<one_hot_op<float, 6, 1>, indices<3, 4>>, floats<3, 6, 4>>);
static_assert(!op_takes<one_hot_op<float, 6, 3>, indices<3, 4>>);

}  // namespace

TEST_CASE("elements at indices; one beyond the axis gives zero, a negative one counts from the end") {
  const floats<2, 3> data{{1, 2, 3, 4, 5, 6}};
  CHECK(*both(std::tuple(data, indices<2, 2>{{0, -1, 3, 1}}), nn::gather_elements<1>.description) ==
        floats<2, 2>{{1, 3, 0, 5}});
  CHECK(*both(std::tuple(data, indices<1, 3>{{1, 0, 1}}), nn::gather_elements<0>.description) ==
        floats<1, 3>{{4, 2, 6}});
  CHECK(*both(std::tuple(data, indices<2, 2>{{0, 1, -1, 2}}), nn::gather_nd<>.description) == floats<2>{{2, 6}});
  CHECK(*both(std::tuple(data, indices<2, 1>{{1, 7}}), nn::gather_nd<>.description) ==
        floats<2, 3>{{4, 5, 6, 0, 0, 0}});
  CHECK(*both(std::tuple(data, indices<2, 1>{{2, 0}}), nn::gather_nd<1>.description) == floats<2>{{3, 4}});
}

TEST_CASE("updates at indices; one beyond the axis is left out") {
  const floats<2, 3> data{{1, 2, 3, 4, 5, 6}};
  const floats<2, 2> updates{{10, 20, 30, 40}};
  const indices<2, 2> at{{2, -3, 1, 9}};
  CHECK(*both(std::tuple(data, at, updates), nn::scatter_elements<1>.description) ==
        floats<2, 3>{{20, 2, 10, 4, 30, 6}});
  CHECK(*both(std::tuple(data, at, updates), nn::scatter_elements<1, scatter::add>.description) ==
        floats<2, 3>{{21, 2, 13, 4, 35, 6}});
  CHECK(*both(std::tuple(data, at, updates), nn::scatter_elements<1, scatter::min>.description) ==
        floats<2, 3>{{1, 2, 3, 4, 5, 6}});
  const floats<2, 3> rows{{10, 20, 30, 1, 1, 2}};
  const indices<2, 1> row{{1, 1}};
  CHECK(*both(std::tuple(data, row, rows), nn::scatter_nd<>.description) == floats<2, 3>{{1, 2, 3, 1, 1, 2}});
  CHECK(*both(std::tuple(data, row, rows), nn::scatter_nd<scatter::mul>.description) ==
        floats<2, 3>{{1, 2, 3, 40, 100, 360}});
  CHECK(*both(std::tuple(data, row, rows), nn::scatter_nd<scatter::max>.description) ==
        floats<2, 3>{{1, 2, 3, 10, 20, 30}});
}

TEST_CASE("one hot, and triangles") {
  CHECK(*both(indices<3>{{1, -1, 5}}, nn::one_hot<3>(0.5f, 2.0f).description) ==
        floats<3, 3>{{0.5f, 2, 0.5f, 0.5f, 0.5f, 2, 0.5f, 0.5f, 0.5f}});
  CHECK(*both(indices<2>{{1, 0}}, nn::one_hot<2, 0>(0.0f, 1.0f).description) == floats<2, 2>{{0, 1, 1, 0}});
  const floats<2, 3> data{{1, 2, 3, 4, 5, 6}};
  CHECK(*both(data, nn::trilu<true>.description) == floats<2, 3>{{1, 2, 3, 0, 5, 6}});
  CHECK(*both(data, nn::trilu<true, 1>.description) == floats<2, 3>{{0, 2, 3, 0, 0, 6}});
  CHECK(*both(data, nn::trilu<false>.description) == floats<2, 3>{{1, 0, 0, 4, 5, 0}});
  CHECK(*both(data, nn::trilu<false, -1>.description) == floats<2, 3>{{0, 0, 0, 4, 0, 0}});
}

TEST_CASE("a grid of the picture's own places gives the picture; outside is as it is padded") {
  const auto picture = counted<floats<2, 2, 3>>();
  const floats<2, 3, 2> corners{{-1, -1, 0, -1, 1, -1, -1, 1, 0, 1, 1, 1}};
  CHECK(*both(std::tuple(*picture, corners),
              nn::grid_sample<sample_mode::bilinear, sample_padding::zeros, true>.description) == *picture);
  CHECK(*both(std::tuple(*picture, corners),
              nn::grid_sample<sample_mode::nearest, sample_padding::zeros, true>.description) == *picture);
  const auto bicubic = both(std::tuple(*picture, corners),
                            nn::grid_sample<sample_mode::bicubic, sample_padding::border, true>.description, 1e-5);
  check_difference(largest_difference(*bicubic, *picture), 1e-5, "bicubic");
  const floats<1, 2, 2> beyond{{-3, 0, 3, not_a_number}};
  const floats<1, 1, 2> row{{1, 2}};
  using enum sample_padding;
  CHECK((*both(std::tuple(row, beyond), nn::grid_sample<sample_mode::nearest, zeros>.description))[0] == 0);
  CHECK((*both(std::tuple(row, beyond), nn::grid_sample<sample_mode::nearest, border>.description))[0] == 1);
  CHECK((*both(std::tuple(row, beyond), nn::grid_sample<sample_mode::nearest, border>.description))[1] == 2);
  const floats<1, 1, 2> mirrored{{-1.5f, 0}};
  CHECK((*both(std::tuple(row, mirrored), nn::grid_sample<sample_mode::nearest, reflection>.description))[0] == 1);
}
