// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/exchange.hpp: std::swap and std::exchange for members of the library's own types.

#include <type_traits>
#include <utility>

namespace levada::detail {

/// The constraints of std::swap and std::exchange are twenty to thirty instantiations for each type. Here a type is
/// movable without exceptions, which is not asked.
template <class T>
constexpr void swap_values(T& a, T& b) noexcept {
  T kept(std::move(a));
  a = std::move(b);
  b = std::move(kept);
}
template <class T>
constexpr T exchange_value(T& object, std::type_identity_t<T> value) noexcept {
  T before(std::move(object));
  object = std::move(value);
  return before;
}

}  // namespace levada::detail
