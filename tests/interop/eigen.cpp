// SPDX-License-Identifier: Apache-2.0
// Eigen maps: the values, strides and constness that both sides see are the same memory.

#include <doctest/doctest.h>

#include <numeric>
#include <type_traits>

#include <levada/interop/eigen.hpp>

#include <Eigen/LU>

namespace interop_eigen {

namespace lv = levada;

template <class Tensor>
Tensor counted() {
  Tensor t;
  std::iota(t.begin(), t.end(), typename Tensor::value_type(1));
  return t;
}

template <class T>
constexpr bool is_writable = requires(T t) { t(0) = 1; };

template <class... T>
concept maps_to_eigen = requires(T&&... t) { lv::as_eigen(static_cast<T&&>(t)...); };
template <class T>
concept maps_to_view = requires(T&& t) { lv::as_tensor_view(static_cast<T&&>(t)); };

// What owns its values must outlive the map.
static_assert(maps_to_eigen<lv::tensor<float, 2, 3>&> && maps_to_eigen<const lv::tensor<float, 2, 3>&>);
static_assert(!maps_to_eigen<lv::tensor<float, 2, 3>>);
static_assert(maps_to_view<Eigen::Matrix3f&> && maps_to_view<const Eigen::Matrix3f&> && !maps_to_view<Eigen::Matrix3f>);
static_assert(maps_to_view<Eigen::Map<Eigen::Matrix3f>>);
// Matrices of rank 1 and 2 of numbers; sizes known while compiling; memory behind them.
static_assert(!maps_to_eigen<lv::tensor<float, 2, 3, 4>&> && !maps_to_eigen<lv::tensor<lv::half, 4>&>);
static_assert(!maps_to_view<Eigen::MatrixXf&> && !maps_to_view<Eigen::Matrix<float, 3, Eigen::Dynamic>&>);
static_assert(!maps_to_view<decltype(Eigen::Matrix3f() + Eigen::Matrix3f())&>);

TEST_CASE("a tensor and its Eigen map are the same memory") {
  auto t = counted<lv::tensor<float, 2, 3>>();
  auto m = lv::as_eigen(t);
  CHECK(m.data() == t.data());
  CHECK(m.rows() == 2);
  CHECK(m.cols() == 3);
  CHECK(m(1, 0) == t(1, 0));
  m(0, 2) = 42;
  CHECK(t(0, 2) == 42);
}

TEST_CASE("products of mapped tensors agree with products of Eigen's own matrices") {
  const auto a = counted<lv::tensor<double, 4, 7>>();
  const auto b = counted<lv::tensor<double, 7, 5>>();
  const auto x = counted<lv::tensor<double, 7>>();
  lv::tensor<double, 4, 5> product;
  lv::tensor<double, 4> image;
  lv::as_eigen(product) = lv::as_eigen(a) * lv::as_eigen(b);
  lv::as_eigen(image) = lv::as_eigen(a) * lv::as_eigen(x);

  Eigen::MatrixXd own_a(4, 7), own_b(7, 5);
  Eigen::VectorXd own_x(7);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 7; ++j) own_a(i, j) = i * 7 + j + 1;
  for (int i = 0; i < 7; ++i) {
    own_x(i) = i + 1;
    for (int j = 0; j < 5; ++j) own_b(i, j) = i * 5 + j + 1;
  }
  CHECK(Eigen::MatrixXd(own_a * own_b) == Eigen::MatrixXd(lv::as_eigen(product)));
  CHECK(Eigen::VectorXd(own_a * own_x) == Eigen::VectorXd(lv::as_eigen(image)));
}

TEST_CASE("a solution found through a map solves the tensor's equations") {
  lv::tensor<double, 3, 3> a{{4, 1, 0, 1, 3, 1, 0, 1, 2}};
  const lv::tensor<double, 3> right{{9, 10, 8}};
  lv::tensor<double, 3> x;
  lv::as_eigen(x) = lv::as_eigen(a).partialPivLu().solve(lv::as_eigen(right));
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(a(i, 0) * x[0] + a(i, 1) * x[1] + a(i, 2) * x[2] == doctest::Approx(right[i]).epsilon(1e-14));
}

TEST_CASE("rank 1 is a column; single rows and single columns keep their shape") {
  auto vector = counted<lv::tensor<int, 3>>();
  auto row = counted<lv::tensor<int, 1, 3>>();
  auto column = counted<lv::tensor<int, 3, 1>>();
  auto one = counted<lv::tensor<int, 1, 1>>();
  CHECK(lv::as_eigen(vector).rows() == 3);
  CHECK(lv::as_eigen(vector).cols() == 1);
  CHECK(lv::as_eigen(row).rows() == 1);
  CHECK(lv::as_eigen(row).cols() == 3);
  CHECK(lv::as_eigen(row)(0, 2) == 3);
  CHECK(lv::as_eigen(column).rows() == 3);
  CHECK(lv::as_eigen(column)(2, 0) == 3);
  CHECK(lv::as_eigen(one)(0, 0) == 1);
  CHECK((lv::as_eigen(row) * lv::as_eigen(column)).value() == 14);
}

TEST_CASE("a view's strides are kept, so that blocks, transposes, reversals and repeats are seen as such") {
  auto t = counted<lv::tensor<float, 4, 6>>();
  const Eigen::Matrix<float, 4, 6, Eigen::RowMajor> whole = lv::as_eigen(t);

  const lv::tensor_view<float, 2, 3> block(&t(1, 2), {6, 1});
  CHECK(lv::as_eigen(block) == whole.block<2, 3>(1, 2));
  const lv::tensor_view<float, 6, 4> transposed(t.data(), {1, 6});
  CHECK(lv::as_eigen(transposed) == whole.transpose());
  const lv::tensor_view<float, 4, 6> reversed(&t(3, 5), {-6, -1});
  CHECK(lv::as_eigen(reversed) == whole.reverse());
  const lv::tensor_view<float, 3, 6> repeated(&t(2, 0), {0, 1});
  CHECK(lv::as_eigen(repeated) == whole.row(2).replicate<3, 1>());
  const lv::tensor_view<float, 4> column(&t(0, 3), {6});
  CHECK(lv::as_eigen(column) == whole.col(3));
  const lv::tensor_view<float, 4, 1> column_matrix(&t(0, 3), {6, 1});
  CHECK(lv::as_eigen(column_matrix) == whole.col(3));
  const lv::tensor_view<float, 1, 3> every_second(&t(1, 0), {6, 2});
  CHECK(lv::as_eigen(every_second) == Eigen::RowVector3f(7, 9, 11));

  lv::as_eigen(block).setZero();
  CHECK(t(1, 2) == 0);
  CHECK(t(2, 4) == 0);
  CHECK(t(1, 1) == 8);
  CHECK(t(3, 2) == 21);
}

TEST_CASE("an Eigen matrix of either storage order is seen as a tensor with the same elements") {
  const Eigen::Matrix<int, 2, 3, Eigen::RowMajor> rows{{1, 2, 3}, {4, 5, 6}};
  const Eigen::Matrix<int, 2, 3, Eigen::ColMajor> columns = rows;
  lv::tensor<int, 2, 3> from_rows, from_columns;
  lv::as_tensor_view(rows).copy_to(from_rows);
  lv::as_tensor_view(columns).copy_to(from_columns);
  CHECK(from_rows == lv::tensor<int, 2, 3>{{1, 2, 3, 4, 5, 6}});
  CHECK(from_columns == from_rows);
  CHECK(lv::as_tensor_view(rows).dense());
  CHECK_FALSE(lv::as_tensor_view(columns).dense());
  CHECK(lv::as_tensor_view(rows).data() == rows.data());
}

TEST_CASE("blocks, maps, rows and vectors of Eigen become views of their own shape") {
  Eigen::Matrix4f m;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) m(i, j) = static_cast<float>(10 * i + j);
  auto block = lv::as_tensor_view(m.block<2, 2>(1, 2));
  CHECK(block(0, 0) == 12);
  CHECK(block(1, 1) == 23);
  block(1, 0) = -1;
  CHECK(m(2, 2) == -1);
  const auto row = lv::as_tensor_view(m.row(3));
  static_assert(decltype(row)::rank == 2);
  CHECK(row(0, 1) == 31);
  const auto column = lv::as_tensor_view(m.col(1));
  static_assert(decltype(column)::rank == 1);
  CHECK(column(2) == 21);
  float values[] = {1, 2, 3, 4};
  CHECK(lv::as_tensor_view(Eigen::Map<Eigen::Matrix2f>(values))(0, 1) == 3);
}

TEST_CASE("there and back again is the same view") {
  auto t = counted<lv::tensor<double, 3, 5>>();
  auto back = lv::as_tensor_view(lv::as_eigen(t));
  static_assert(std::is_same_v<decltype(back), lv::tensor_view<double, 3, 5>>);
  CHECK(back.data() == t.data());
  CHECK(back.dense());
  const lv::tensor_view<double, 2, 2> strided(&t(0, 1), {10, 3});
  auto strided_back = lv::as_tensor_view(lv::as_eigen(strided));
  static_assert(std::is_same_v<decltype(strided_back), lv::tensor_view<double, 2, 2>>);
  CHECK(strided_back.data() == strided.data());
  CHECK(strided_back.strides() == strided.strides());
}

TEST_CASE("constness is kept both ways") {
  lv::tensor<float, 3> t{{1, 2, 3}};
  const lv::tensor<float, 3>& constant = t;
  static_assert(is_writable<decltype(lv::as_eigen(t))>);
  static_assert(!is_writable<decltype(lv::as_eigen(constant))>);
  static_assert(is_writable<decltype(lv::as_eigen(lv::tensor_view<float, 3>(t)))>);
  static_assert(!is_writable<decltype(lv::as_eigen(lv::tensor_view<const float, 3>(constant)))>);
  Eigen::Vector3f v(1, 2, 3);
  const Eigen::Vector3f& constant_v = v;
  const Eigen::Map<const Eigen::Vector3f> map(v.data());
  static_assert(is_writable<decltype(lv::as_tensor_view(v))>);
  static_assert(!is_writable<decltype(lv::as_tensor_view(constant_v))>);
  static_assert(!is_writable<decltype(lv::as_tensor_view(map))>);
  CHECK(lv::as_eigen(constant) == constant_v);
}

}  // namespace interop_eigen
