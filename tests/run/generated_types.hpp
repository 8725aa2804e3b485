// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/generated_types.hpp: what the graphs of tools/generate_graphs.py are made of, and how each is compared with its
// loop.

#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include <levada/levada.hpp>
#include <levada/run/simulated.hpp>
#include <run/generated_items.hpp>

namespace levada::test {

using box = target<cpu<2>, simulated<0>>;

/// `mixed`, which throws for some.
template <class... W>
word may_fail(word salt, const W&... w) {
  const word result = mixed(salt, w...);
  if (result % 23 == 7) throw std::runtime_error("generated");
  return result;
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
