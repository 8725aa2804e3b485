// SPDX-License-Identifier: Apache-2.0
// tensor and tensor_view: shape, layout, aliasing.

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include <levada/core/tensor.hpp>

using namespace levada;

// What a tensor is, while compiling.
static_assert(alignof(tensor<float, 3>) == 64);
static_assert(alignof(tensor<std::uint8_t, 1>) == 64);
static_assert(sizeof(tensor<float, 3>) == 64);
static_assert(sizeof(tensor<float, 16, 3>) == 192);
static_assert(std::is_trivially_copyable_v<tensor<double, 4, 5>>);
static_assert(std::is_trivially_default_constructible_v<tensor<double, 4, 5>>);
static_assert(tensor<int, 2, 3, 4>::rank == 3);
static_assert(tensor<int, 2, 3, 4>::size() == 24);
static_assert(tensor<int>::size() == 1);
static_assert(shape_of<tensor<int, 2, 3, 4>> == shape(2, 3, 4));
static_assert(any_tensor<tensor<int, 2>> && any_tensor<const tensor<int, 2>> && !any_tensor<int>);
static_assert(tensor<int, 2, 3>{1, 2, 3, 4, 5, 6}(1, 0) == 4);
static_assert(tensor<int, 3>{}[2] == 0);

// Names without a tensor: no elements of that type, no empty axis, no more than eight axes.
template <class T, std::size_t... Dims>
concept there_is = requires { typename tensor<T, Dims...>; };
static_assert(there_is<half, 1> && there_is<bool, 1> && there_is<float, 1, 1, 1, 1, 1, 1, 1, 1>);
static_assert(!there_is<float, 0> && !there_is<float, 2, 0> && !there_is<char*, 2>);
static_assert(!there_is<float, 1, 1, 1, 1, 1, 1, 1, 1, 1>);

TEST_CASE("a tensor is dense and row-major") {
  tensor<int, 2, 3, 4> t;
  int next = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) t(i, j, k) = next++;
  for (int i = 0; i < 24; ++i) CHECK(t[static_cast<std::size_t>(i)] == i);
  CHECK(&t(1, 0, 0) == t.data() + 12);
  CHECK(t.end() - t.begin() == 24);
}

TEST_CASE("tensors compare element by element, and NaN is unequal to itself") {
  tensor<float, 3> a{1, 2, 3}, b{1, 2, 3};
  CHECK(a == b);
  b[2] = 4;
  CHECK(a != b);
  a.fill(5);
  CHECK(a == tensor<float, 3>{5, 5, 5});
  a[0] = b[0] = std::numeric_limits<float>::quiet_NaN();
  CHECK(a != a);
}

TEST_CASE("a view reads and writes foreign memory through any strides") {
  int memory[12];
  for (int i = 0; i < 12; ++i) memory[i] = i;

  const tensor_view<int, 3, 4> dense(memory);
  CHECK(dense.dense());
  CHECK(dense(2, 1) == 9);

  const tensor_view<int, 4, 3> transposed(memory, {1, 4});
  CHECK_FALSE(transposed.dense());
  CHECK(transposed(1, 2) == 9);
  transposed(1, 2) = 90;
  CHECK(memory[9] == 90);

  const tensor_view<const int, 4> backwards(memory + 3, {-1});
  CHECK(backwards(0) == 3);
  CHECK(backwards(3) == 0);

  const tensor_view<const int, 2, 3> repeated(memory, {0, 1});
  CHECK(repeated(1, 2) == 2);
}

TEST_CASE("a view is copied out in its own order") {
  int memory[6] = {0, 1, 2, 3, 4, 5};
  tensor<int, 3, 2> out;
  tensor_view<int, 3, 2>(memory, {1, 3}).copy_to(out);
  CHECK(out == tensor<int, 3, 2>{0, 3, 1, 4, 2, 5});
  tensor<int> scalar;
  tensor_view<int>(memory + 4).copy_to(scalar);
  CHECK(scalar[0] == 4);
}

TEST_CASE("a reshaped tensor is the same memory") {
  tensor<int, 2, 6> t{};
  const auto view = reshaped<3, 4>(t);
  view(2, 3) = 7;
  CHECK(t(1, 5) == 7);
  static_assert(std::is_same_v<decltype(reshaped<12>(std::as_const(t))), tensor_view<const int, 12>>);
}

TEST_CASE("argmax is the first of equals and passes NaN over") {
  constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
  CHECK(argmax(tensor<float, 4>{1, 3, 3, 2}) == 1);
  CHECK(argmax(tensor<float, 3>{nan_value, -1, 2}) == 2);
  CHECK(argmax(tensor<float, 3>{5, nan_value, 2}) == 0);
  CHECK(argmax(tensor<float, 2>{nan_value, nan_value}) == 0);
  CHECK(argmax(tensor<std::uint8_t, 2, 2>{1, 2, 200, 3}) == 2);
}
