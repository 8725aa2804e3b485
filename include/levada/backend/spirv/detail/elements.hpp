// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/elements.hpp: tensors as the kernels of ops see them: a row of elements, one invocation for each
// of an output's, and tensors that lie in a tuple.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/backend/spirv/detail/element_wise.hpp>
#include <levada/backend/spirv/detail/grid.hpp>
#include <levada/nn/shape_rule.hpp>

namespace levada::detail {

/// An element as it is stored: a bool is a byte.
template <class T>
using stored_element = std::conditional_t<std::same_as<T, bool>, std::uint8_t, T>;

/// Kernels compute with elements of that type.
template <class T>
concept device_element = kernel_detail::buffer_element<stored_element<T>>;

/// `Tensor` without its shape.
template <any_tensor Tensor>
using row_of = tensor<stored_element<typename Tensor::value_type>, Tensor::elements>;

/// One invocation for each element of a tensor of this shape.
template <const shape& Shape>
struct each_element {
  static constexpr std::size_t columns = Shape.rank > 0 ? Shape[Shape.rank - 1] : 1;
  static constexpr std::size_t rows = Shape.rank > 1 ? Shape[Shape.rank - 2] : 1;

  using over = grid<columns, rows, Shape.elements() / (columns * rows)>;

  /// The place of the invocation's element in the row of all.
  template <class G>
  static constexpr auto place(const G& g) {
    return (g.z() * static_cast<int>(rows) + g.y()) * static_cast<int>(columns) + g.x();
  }

  /// The sum of `part(axis, index)` over the axes, where `index` is that of the invocation's element; `part` gives an
  /// int32 value.
  template <class G, class Part>
  static constexpr auto sum(const G& g, Part part) {
    auto at = g.value(0);
    if constexpr (Shape.rank > 0) at += part(Shape.rank - 1, g.x());
    if constexpr (Shape.rank > 1) at += part(Shape.rank - 2, g.y());
    if constexpr (Shape.rank > 2) {
      auto rest = g.z();
      for (std::size_t axis = Shape.rank - 2; axis-- > 0;) {
        const int extent = static_cast<int>(Shape[axis]);
        at += part(axis, axis == 0 ? rest : rest % extent);
        rest = rest / extent;
      }
    }
    return at;
  }
};

// ---- tensors in a tuple ----

/// Where a tensor of a tuple is bound, and how many elements behind that it begins: a binding begins at a multiple of
/// 256 bytes, a tensor at one of 64.
struct place_in_tuple {
  std::size_t offset = 0, bytes = 0;
  uniform<std::int32_t> lead{0};
  std::size_t which = 0;  ///< of several inputs

  bound_tensor as(buffer_role role) const { return {role, offset, nullptr, bytes, which}; }
};

/// The places of the tensors of a tuple, of one tensor its own.
template <class Item>
struct tensors_in {
  using tensors = std::tuple<Item>;
  static std::array<place_in_tuple, 1> places() {
    return {place_in_tuple{0, sizeof(typename Item::value_type) * Item::elements}};
  }
};
template <class... T>
struct tensors_in<std::tuple<T...>> {
  using tensors = std::tuple<T...>;
  static std::array<place_in_tuple, sizeof...(T)> places() {
    // Which order they lie in, a standard library decides.
    const std::unique_ptr<tensors> item(new tensors);
    const auto* const begin = reinterpret_cast<const std::byte*>(item.get());
    return std::apply(
        [&](const T&... t) {
          return std::array{place_of<T>(static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&t) - begin))...};
        },
        *item);
  }
  /// Of tensors each of which is an input.
  static std::array<place_in_tuple, sizeof...(T)> places_apart() {
    std::size_t which = 0;
    return {place_in_tuple{0, sizeof(typename T::value_type) * T::elements, {0}, which++}...};
  }

 private:
  template <class Tensor>
  static place_in_tuple place_of(std::size_t at) {
    constexpr std::size_t size = sizeof(typename Tensor::value_type);
    return {at / 256 * 256, at % 256 + Tensor::elements * size, {static_cast<std::int32_t>(at % 256 / size)}};
  }
};

/// Adds the dispatches of a kernel by `add(places)`: of tensors in a tuple, and of tensors that are inputs of their
/// own.
template <class Tuple, class Add>
void add_for_tensors(dispatch_kernel& to, Add add) {
  add(tensors_in<Tuple>::places_apart());
  to.dispatches_apart = std::move(to.dispatches);
  to.dispatches.clear();
  add(tensors_in<Tuple>::places());
}

/// A tensor of a tuple with what may lie in front of it.
template <any_tensor Tensor>
using led_row_of = tensor<stored_element<typename Tensor::value_type>,
                          Tensor::elements + 192 / sizeof(stored_element<typename Tensor::value_type>)>;

}  // namespace levada::detail
