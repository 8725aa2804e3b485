// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/batch_tensor.hpp: tensors side by side, which `batch<N>` gives.

#include <cstddef>

#include <levada/core/tensor.hpp>

namespace levada {

/// N tensors as one with a new first axis. A callable takes it as that tensor; an op computes each of its items, so
/// that what the op says of shapes and axes holds without the new one.
template <any_tensor Item, std::size_t N>
struct batch_tensor;
template <class T, std::size_t... Dims, std::size_t N>
struct batch_tensor<tensor<T, Dims...>, N> : tensor<T, N, Dims...> {
  using item = tensor<T, Dims...>;
  static constexpr std::size_t items = N;
};

template <class T>
inline constexpr bool is_batch_tensor = false;
template <class Item, std::size_t N>
inline constexpr bool is_batch_tensor<batch_tensor<Item, N>> = true;

}  // namespace levada
