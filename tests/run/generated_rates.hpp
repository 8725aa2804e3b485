// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/generated_rates.hpp: how each pipeline of tools/generate_rate_graphs.py is compared with its simulation.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <thread>
#include <vector>

#include <levada/levada.hpp>
#include <run/generated_rates_parts.hpp>

namespace levada::test {

using rates_box = target<cpu<2>>;

/// Streamed by two threads, in order; empty where an item failed.
template <fixed_string... Output, class App>
void gives_what_the_simulation_gives(const App& app, simulation::line line) {
  using item = typename App::item;
  constexpr std::size_t count = 150, ports = ports_of<item>;
  simulation::line::results simulated;
  std::vector<words> items, expected, found;
  for (std::size_t i = 0; i < count; ++i) {
    items.emplace_back();
    for (std::size_t p = 0; p < ports; ++p) items.back().push_back(mixed(p + 100, word(i)));
    line.take_into(simulated, {items.back()});
  }
  line.end_into(simulated);
  for (const auto& s : simulated) expected.push_back(s ? s->values : words());

  auto session = app.open();
  std::thread pusher([&] {
    for (const words& w : items) session.push(item_of<item>(w));
    session.close();
  });
  while (const auto r = session.pop()) found.push_back(*r ? words_of<Output...>(**r) : words());
  pusher.join();
  CHECK(!expected.empty());
  const auto differs =
      std::mismatch(found.begin(), found.end(), expected.begin(), expected.end()).first - found.begin();
  CAPTURE(differs);
  CHECK(found.size() == expected.size());
  CHECK(found == expected);
}

}  // namespace levada::test
