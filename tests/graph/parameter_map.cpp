// SPDX-License-Identifier: Apache-2.0
// Parameters that a program holds in memory.

#include <cstddef>
#include <new>

#include <doctest/doctest.h>
#include <levada/graph/parameter_map.hpp>

using namespace levada;

TEST_CASE("a parameter of extents whose product is too large is refused") {
  parameter_map map;
  const float one = 1;
  CHECK_THROWS_AS(map.set("w", element::f32, shape(std::size_t{1} << 62, 4), &one), std::bad_alloc);
  CHECK_THROWS_AS(map.set("w", element::f32, shape(std::size_t{1} << 31, std::size_t{1} << 31), &one), std::bad_alloc);
  CHECK(!map.find("w"));
  map.set("w", element::f32, shape(1, 1), &one);
  CHECK(map.find("w"));
}
