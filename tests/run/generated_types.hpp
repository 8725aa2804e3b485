// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/generated_types.hpp: what the graphs of tools/generate_graphs.py are made of, and how each is compared with its loop.

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

#include <levada/levada.hpp>
#include <levada/run/simulated.hpp>

namespace levada::test {

using word = std::uint64_t;
using words = std::vector<word>;
using box = target<cpu<2>, simulated<0>>;

/// A number that depends on all of these and their order.
template <class... W>
constexpr word mixed(word salt, const W&... w) {
  ((salt = (salt ^ w) * 0x9e3779b97f4a7c15u, salt ^= salt >> 29), ...);
  return salt;
}
/// The same; throws for some.
template <class... W>
word may_fail(word salt, const W&... w) {
  const word result = mixed(salt, w...);
  if (result % 23 == 7) throw std::runtime_error("generated");
  return result;
}

template <class Item>
Item item_of(const words& from) {
  if constexpr (std::is_same_v<Item, word>) {
    return from[0];
  } else {
    Item item;
    std::size_t next = 0;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((item.template at<I>() = from[next++]), ...);
    }(std::make_index_sequence<Item::size>());
    return item;
  }
}
template <fixed_string... Name, class Output>
words words_of(const Output& out) {
  if constexpr (std::is_same_v<Output, word>)
    return {out};
  else
    return {out.template get<Name>()...};
}

/// Streamed by two threads, and called, in order; empty where an item failed.
template <fixed_string... Output, class App, class Loop>
void gives_what_the_loop_gives(const App& app, Loop loop) {
  using item = typename App::item;
  constexpr std::size_t count = 200, ports = 3;
  std::vector<words> items, expected;
  for (std::size_t i = 0; i < count; ++i) {
    items.emplace_back();
    for (std::size_t p = 0; p < ports; ++p) items.back().push_back(mixed(p + 100, word(i)));
    try {
      expected.push_back(loop(items.back()));
    } catch (const std::runtime_error&) {
      expected.emplace_back();
    }
  }
  auto session = app.open();
  std::thread pusher([&] {
    for (const words& w : items) session.push(item_of<item>(w));
    session.close();
  });
  std::vector<words> found;
  while (const auto r = session.pop()) found.push_back(*r ? words_of<Output...>(**r) : words());
  pusher.join();
  CHECK(found == expected);
}

}  // namespace levada::test
