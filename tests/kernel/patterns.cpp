// SPDX-License-Identifier: Apache-2.0
// Stencils, pools, reductions and gathers on all lowerings, against plain loops.

#include <levada/kernel/detail/patterns.hpp>

#include "kernel/grids.hpp"

namespace lv = levada;
using namespace kernel_test;

using image = lv::tensor<float, 2, 11, 23>;

TEST_CASE("a stencil sees zeros outside the image") {
  constexpr auto blur = lv::stencil<"blur", image>([weight = lv::uniform{0.25f}](auto at) {
    return (at(-1, 0) + at(1, 0)) * weight + (at(0, -1) + at(0, 1)) * weight - at(0, 0);
  });
  memory<std::tuple<image>> in;
  fill(in, 11);
  const auto out = checked(blur, in);
  auto at = [&](int c, int y, int x) { return y < 0 || y >= 11 || x < 0 || x >= 23 ? 0.0f : in.get()(c, y, x); };
  for (int c = 0; c < 2; ++c)
    for (int y = 0; y < 11; ++y)
      for (int x = 0; x < 23; ++x)
        REQUIRE(out.get()(c, y, x) == (at(c, y - 1, x) + at(c, y + 1, x)) * 0.25f +
                                          (at(c, y, x - 1) + at(c, y, x + 1)) * 0.25f - at(c, y, x));
}

TEST_CASE("a pool takes whole blocks") {
  constexpr auto spread = lv::pool<"spread", 3, image>([](auto at) {
    auto least = at(0, 0), largest = at(0, 0);
    for (int dy = 0; dy < 3; ++dy)
      for (int dx = 0; dx < 3; ++dx) least = min(least, at(dy, dx)), largest = max(largest, at(dy, dx));
    return largest - least;
  });
  memory<std::tuple<image>> in;
  fill(in, 12);
  const auto out = checked(spread, in);
  static_assert(std::same_as<decltype(spread)::outputs, std::tuple<lv::tensor<float, 2, 3, 7>>>);
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t y = 0; y < 3; ++y)
      for (std::size_t x = 0; x < 7; ++x) {
        float least = INFINITY, largest = -INFINITY;
        for (std::size_t i = 0; i < 9; ++i) {
          const float v = in.get()(c, 3 * y + i / 3, 3 * x + i % 3);
          least = std::min(least, v), largest = std::max(largest, v);
        }
        REQUIRE(out.get()(c, y, x) == largest - least);
      }
}

TEST_CASE("a reduction goes along a row in order") {
  constexpr auto sum = lv::reduce<"sum", lv::tensor<float, 19, 31>>(1.0f, [](auto s, auto x) { return s * 0.5f + x; });
  memory<std::tuple<lv::tensor<float, 19, 31>>> in;
  fill(in, 13);
  const auto out = checked(sum, in);
  for (std::size_t row = 0; row < 19; ++row) {
    float s = 1.0f;
    for (std::size_t i = 0; i < 31; ++i) s = s * 0.5f + in.get()(row, i);
    CHECK(out.get()(row) == s);
  }
}

TEST_CASE("a gather reads anywhere: a picture of bytes turned and halved") {
  using bytes = lv::tensor<std::uint8_t, 3, 12, 20>;
  using turned = lv::tensor<std::uint8_t, 3, 10, 6>;
  constexpr auto turn = lv::gather<"turn", bytes, turned>(
      [](auto in, auto c, auto y, auto x) { return in(2 - c, x * 2 + 1, 19 - y * 2); });
  memory<std::tuple<bytes>> in;
  fill(in, 14);
  const auto out = checked(turn, in);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t y = 0; y < 10; ++y)
      for (std::size_t x = 0; x < 6; ++x) REQUIRE(out.get()(c, y, x) == in.get()(2 - c, x * 2 + 1, 19 - y * 2));
}
