// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/clear_padding.hpp: objects that compare equal byte by byte where their values are equal.

#include <array>
#include <bit>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace levada::detail {

/// A byte of padding has no value that a constant expression could read.
template <class T, std::size_t Byte>
concept has_value_at = requires {
  typename std::bool_constant<((std::bit_cast<std::array<unsigned char, sizeof(T)>>(T{})[Byte] | 1) != 0)>;
};

/// Which bytes of a T are no padding: none is, where T{} is no constant.
template <class T>
inline constexpr auto bytes_with_value = []<std::size_t... Byte>(std::index_sequence<Byte...>) {
  return std::array{has_value_at<T, Byte>...};
}(std::make_index_sequence<sizeof(T)>{});

/// Sets the padding of `of` to zero. Where the compiler has nothing for that, that of a type without a constant T{} is
/// left as it is.
template <class T>
  requires std::is_trivially_copyable_v<T>
void clear_padding(T& of) {
#if __has_builtin(__builtin_clear_padding)
  __builtin_clear_padding(&of);
#else
  constexpr const auto& has_value = bytes_with_value<T>;
  if constexpr (!std::has_unique_object_representations_v<T> && has_value != std::array<bool, sizeof(T)>{}) {
    auto* const bytes = reinterpret_cast<unsigned char*>(&of);
    for (std::size_t i = 0; i < sizeof(T); ++i)
      if (!has_value[i]) bytes[i] = 0;
  }
#endif
}

}  // namespace levada::detail
