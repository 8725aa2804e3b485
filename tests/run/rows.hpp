// SPDX-License-Identifier: Apache-2.0
#pragma once
// Items that lie side by side, which a stream looks at only when they are begun: its results are those of a loop, and
// the items stay what they are. For both executors.

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <levada/run/deploy.hpp>

namespace levada::test {

/// Changes items where they are, by what came before, and fails now and then.
struct summing {
  std::uint64_t sum = 0;
  void operator()(std::uint64_t& x) {
    if (x % 101 == 0) throw std::runtime_error("hundred and one");
    x = sum += x;
  }
};
/// Only looks at them.
struct mixing {
  std::uint64_t state = 1;
  std::uint64_t operator()(const std::uint64_t& x) {
    if (x % 103 == 0) throw std::runtime_error("hundred and three");
    return state = state * 6364136223846793005u + x;
  }
};
/// Takes so long that it pays to share the items among threads.
struct slow {
  std::uint64_t operator()(const std::uint64_t& x) const {
    std::uint64_t y = x;
    for (int i = 0; i < 1'000; ++i) y = y * 6364136223846793005u + 1;
    return y;
  }
};

/// An item that fills some cache lines, none of which may come without the others.
template <std::size_t Bytes>
struct some_lines {
  some_lines(std::uint64_t x) : value(x) { rest.fill(x); }
  operator std::uint64_t() const { return value; }

  std::uint64_t value;
  std::array<std::uint64_t, Bytes / sizeof(std::uint64_t) - 1> rest;
};
/// Changes such items as others do their values.
template <class Item, class F>
struct widely {
  F f{};
  void operator()(Item& x) {
    for (const std::uint64_t r : x.rest)
      if (r != x.value) throw std::logic_error("an item in pieces");
    f(x.value);
    x.rest.fill(x.value);
  }
};

/// What callables give for an item, one after the other; 0: it fails.
template <class... F>
auto reference_of(F... f) {
  return [=](std::uint64_t x) mutable {
    const auto one = [&](auto& g) {
      if constexpr (std::is_void_v<decltype(g(x))>)
        g(x);
      else
        x = g(x);
    };
    try {
      (one(f), ...);
    } catch (const std::runtime_error&) {
      return std::uint64_t{0};
    }
    return x;
  };
}

template <class Item = std::uint64_t>
std::vector<Item> items_in_a_row(std::size_t count) {
  std::vector<Item> items;
  for (std::size_t i = 0; i < count; ++i) items.emplace_back(1 + i * 2654435761u % 100'000);
  return items;
}

/// How many results of the stream are not those of the loop, and how many items changed; an uncounted one is wrong,
/// too.
template <class App, class Reference, class Range>
std::size_t wrong_in_a_row(const App& app, Reference reference, Range&& range) {
  const std::vector<std::uint64_t> before(std::begin(range), std::end(range));
  std::size_t at = 0, wrong = 0;
  auto results = app.stream(range);
  for (const auto& r : results) {
    const std::uint64_t want = reference(before[at++]);
    wrong += r.has_value() ? *r != want : want != 0;
  }
  const item_counts counts = results.counts();
  wrong += counts.pushed != before.size() || counts.delivered + counts.failed != before.size();
  return wrong + (before.size() - at) + (std::vector<std::uint64_t>(std::begin(range), std::end(range)) != before);
}

/// The same of a stream that is given up behind so many results. Items that fail while those before them are given up
/// still come.
template <class App, class Reference, class Item>
std::size_t wrong_until_stopped(const App& app, Reference reference, const std::vector<Item>& items,
                                std::size_t after) {
  std::stop_source source;
  std::size_t at = 0, wrong = 0;
  bool some_given_up = false;
  auto results = app.stream(items, source.get_token());
  for (const auto& r : results) {
    if (at == after) source.request_stop();
    const std::uint64_t want = some_given_up ? 0 : reference(items[at]);
    some_given_up = some_given_up || (at >= after && want != 0 && !r.has_value());
    if (!some_given_up || r.has_value()) wrong += r.has_value() ? *r != want : want != 0;
    ++at;
  }
  const item_counts counts = results.counts();
  return wrong + (at <= after) + (counts.in_flight != 0) + (counts.delivered + counts.failed != at) +
         (counts.delivered + counts.failed + counts.cancelled != counts.pushed);
}

}  // namespace levada::test
