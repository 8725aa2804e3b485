// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/eigen.hpp: tensors seen as Eigen matrices and Eigen matrices seen as tensors; nothing is copied either way.
// Rank 1 is a column vector, rank 2 a row-major matrix. Constness is kept; temporaries that own values are refused.

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <levada/backend/eigen/detail/library.hpp>
#include <levada/core/tensor.hpp>

namespace levada {

namespace detail {

// Eigen wants single columns column-major; in memory there is no difference.
template <class T, int Rows, int Columns = 1>
struct eigen_matrix {
  static constexpr int order = Columns == 1 && Rows != 1 ? Eigen::ColMajor : Eigen::RowMajor;
  using plain = Eigen::Matrix<std::remove_const_t<T>, Rows, Columns, order>;
  using type = std::conditional_t<std::is_const_v<T>, const plain, plain>;
};

template <class T, std::size_t... Dims>
concept fits_eigen = std::is_arithmetic_v<T> && (sizeof...(Dims) == 1 || sizeof...(Dims) == 2);

// Fixed size, memory behind it, elements that a tensor can have.
template <class T>
concept eigen_storage =
    std::derived_from<std::remove_cv_t<T>, Eigen::DenseBase<std::remove_cv_t<T>>> && (T::SizeAtCompileTime > 0) &&
    tensor_element<typename T::Scalar> && requires(T& dense) { dense.data(), dense.rowStride(), dense.colStride(); };
template <class T>
concept eigen_owner = std::derived_from<T, Eigen::PlainObjectBase<T>>;

}  // namespace detail

/// A tensor of rank 1 (N) or 2 (rows, columns) as an Eigen matrix of fixed size over the same memory, which Eigen is
/// told is aligned to 64 bytes.
template <class T, std::size_t... Dims>
  requires detail::fits_eigen<T, Dims...>
auto as_eigen(tensor<T, Dims...>& t) {
  return Eigen::Map<typename detail::eigen_matrix<T, int(Dims)...>::type, Eigen::Aligned64>(t.data());
}
template <class T, std::size_t... Dims>
  requires detail::fits_eigen<T, Dims...>
auto as_eigen(const tensor<T, Dims...>& t) {
  return Eigen::Map<typename detail::eigen_matrix<const T, int(Dims)...>::type, Eigen::Aligned64>(t.data());
}
template <class T, std::size_t... Dims>
void as_eigen(const tensor<T, Dims...>&& temporary) = delete;

/// A view of rank 1 or 2, with its strides, as an Eigen matrix of fixed size over the same memory.
template <class T, std::size_t... Dims>
  requires detail::fits_eigen<std::remove_const_t<T>, Dims...>
auto as_eigen(const tensor_view<T, Dims...>& view) {
  using matrix = typename detail::eigen_matrix<T, int(Dims)...>::type;
  using stride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::Index rows = view.strides().front(), columns = sizeof...(Dims) == 1 ? 0 : view.strides().back();
  return Eigen::Map<matrix, Eigen::Unaligned, stride>(
      view.data(), matrix::IsRowMajor ? stride(rows, columns) : stride(columns, rows));
}

/// An Eigen matrix, array, map or block of fixed size, in either storage order, as a view of its memory: column vectors
/// have rank 1, everything else rank 2 (rows, columns).
template <class Dense>
  requires detail::eigen_storage<std::remove_reference_t<Dense>> &&
           (std::is_lvalue_reference_v<Dense> || !detail::eigen_owner<std::remove_cvref_t<Dense>>)
auto as_tensor_view(Dense&& dense) {
  using matrix = std::remove_cvref_t<Dense>;
  using value = std::remove_pointer_t<decltype(dense.data())>;
  constexpr auto rows = std::size_t(matrix::RowsAtCompileTime), columns = std::size_t(matrix::ColsAtCompileTime);
  if constexpr (columns == 1)
    return tensor_view<value, rows>(dense.data(), {dense.rowStride()});
  else
    return tensor_view<value, rows, columns>(dense.data(), {dense.rowStride(), dense.colStride()});
}

}  // namespace levada
