// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/item_tensors.hpp: an item as the tensors that the Open Inference Protocol knows: their names, types
// and shapes, and their bytes. A number is a tensor of no axes; the items of a graph with several ports are one tensor
// each.

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include <levada/core/detail/named_items.hpp>
#include <levada/core/detail/shape.hpp>
#include <levada/core/tensor.hpp>

namespace levada::detail {

/// The bytes of numbers go as they lie in memory.
static_assert(std::endian::native == std::endian::little, "the Open Inference Protocol has the smallest byte first");

/// The protocol's name of an element type; empty: it has none.
constexpr std::string_view datatype_of(element e) {
  constexpr std::string_view names[] = {"",       "FP16",  "BF16",   "FP32",  "FP64",   "UINT8", "INT8",
                                        "UINT16", "INT16", "UINT32", "INT32", "UINT64", "INT64", "BOOL"};
  return names[static_cast<std::size_t>(e)];
}

/// One of the tensors of an item.
struct item_tensor {
  std::string_view name;
  element type = element::other;
  shape extents;

  constexpr std::size_t elements() const {
    std::size_t count = 1;
    for (std::size_t i = 0; i < extents.rank; ++i) count *= extents.extents[i];
    return count;
  }
  constexpr std::size_t bytes() const { return elements() * size_of(type); }
};

template <class T>
inline constexpr bool is_one_tensor = tensor_element<T> || any_tensor<T>;
template <class T>
inline constexpr bool has_item_tensors = is_one_tensor<T>;
template <class... Named>
inline constexpr bool has_item_tensors<named_items<Named...>> = (is_one_tensor<typename Named::item> && ...);

template <class T>
constexpr item_tensor wire_tensor(std::string_view name) {
  if constexpr (any_tensor<T>)
    return {name, element_of<typename T::value_type>, shape_of<T>};
  else
    return {name, element_of<T>, {}};
}
/// The tensors of an item: those of named items have their names; a single one has that which is given.
template <class T>
constexpr auto wire_tensors(std::string_view name) {
  if constexpr (is_named_items<T>)
    return []<class... Named>(const named_items<Named...>*) {
      return std::array{wire_tensor<typename Named::item>(Named::name)...};
    }(static_cast<const T*>(nullptr));
  else
    return std::array{wire_tensor<T>(name)};
}

template <class T>
void read_tensor(std::span<const std::byte> from, std::size_t index, T& to) {
  static_assert(sizeof(T) >= wire_tensor<T>("").bytes());
  constexpr std::size_t bytes = wire_tensor<T>("").bytes();
  std::memcpy(static_cast<void*>(&to), from.data() + index * bytes, bytes);
}
/// The `index`-th of the items whose tensors lie there one behind the other.
template <class T>
void read_item(std::span<const std::span<const std::byte>> from, std::size_t index, T& to) {
  if constexpr (is_named_items<T>)
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (read_tensor(from[I], index, to.template at<I>()), ...);
    }(std::make_index_sequence<T::size>());
  else
    read_tensor(from[0], index, to);
}
template <class T>
void write_tensor(const T& value, std::byte* to, std::size_t index) {
  constexpr std::size_t bytes = wire_tensor<T>("").bytes();
  std::memcpy(to + index * bytes, &value, bytes);
}
/// The same the other way: `to` has where each tensor of the first item goes.
template <class T>
void write_item(const T& value, std::span<std::byte* const> to, std::size_t index) {
  if constexpr (is_named_items<T>)
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (write_tensor(value.template at<I>(), to[I], index), ...);
    }(std::make_index_sequence<T::size>());
  else
    write_tensor(value, to[0], index);
}

}  // namespace levada::detail
