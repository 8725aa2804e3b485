// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/generated_rates_parts.hpp: what the pipelines of tools/generate_rate_graphs.py are made of.

#include <concepts>
#include <cstddef>
#include <ranges>
#include <type_traits>

#include <run/rate_simulation.hpp>

namespace levada::test {

template <class Item>
concept some_words = std::same_as<Item, word> || requires(const Item& i) {
  { *i.begin() } -> std::same_as<const word&>;
};
template <some_words Item>
constexpr word mixed_item(word salt, const Item& item) {
  if constexpr (std::is_same_v<Item, word>)
    return mixed(salt, item);
  else
    return mixed_all(salt, item);
}

template <word Salt>
inline constexpr auto mixing = [](const some_words auto&... items) {
  word all = Salt;
  ((all = mixed_item(all, items)), ...);
  return all;
};
template <word Salt>
auto serially_mixing() {
  return [state = word()](const some_words auto&... items) mutable {
    word all = mixed(Salt, state);
    ((all = mixed_item(all, items)), ...);
    return state = all;
  };
}
template <word Salt>
inline constexpr auto failing = [](const some_words auto&... items) {
  const word all = mixing<Salt>(items...);
  if (is_bad(all)) throw bad_word();
  return all;
};
template <word Salt>
inline constexpr auto mixing_each = [](const some_words auto& some) {
  auto each = some;
  for (word& w : each) w = mixing<Salt>(w);
  return each;
};
template <word Salt>
inline constexpr auto some_for_others = [](const std::ranges::range auto& some, const std::ranges::range auto& others) {
  for (std::size_t i = 0; i < others.size(); ++i) others[i] = mixed_all(Salt + i, some);
};

}  // namespace levada::test
