// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/generated_items.hpp: the items of generated pipelines, numbers, or several of them by names.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/core/detail/named_items.hpp>

namespace levada::test {

using word = std::uint64_t;
using words = std::vector<word>;

/// A number that depends on all of these and their order.
template <class... W>
constexpr word mixed(word salt, const W&... w) {
  ((salt = (salt ^ w) * 0x9e3779b97f4a7c15u, salt ^= salt >> 29), ...);
  return salt;
}

template <class Item>
inline constexpr std::size_t ports_of = 1;
template <class... Named>
inline constexpr std::size_t ports_of<named_items<Named...>> = sizeof...(Named);

/// One for each port.
template <class Item>
Item item_of(const words& from) {
  if constexpr (std::is_same_v<Item, word>) {
    return from[0];
  } else {
    Item item;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((item.template at<I>() = from[I]), ...);
    }(std::make_index_sequence<Item::size>());
    return item;
  }
}
/// One for each output, or those of a batch.
template <fixed_string... Name, class Output>
words words_of(const Output& out) {
  if constexpr (sizeof...(Name) > 1)
    return {out.template get<Name>()...};
  else if constexpr (std::is_same_v<Output, word>)
    return {out};
  else
    return words(out.begin(), out.end());
}

}  // namespace levada::test
