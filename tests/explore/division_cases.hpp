// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/division_cases.hpp: units of one item that several threads compute.

#include <explore/stages.hpp>

#include <chrono>
#include <cstddef>

#include <run/tiled.hpp>

namespace levada::test {

/// Each tile takes so long, on a thread that the processor has.
struct explored_part {
  explored_part(detail::tile_range some, std::size_t) {
    explorer()->takes(std::chrono::microseconds(5) * (some.end - some.begin));
  }
  const working here{};
};

using tiled_pair = tensor<float, 8>;
inline tiled_pair pair_of(int n) {
  const float x = static_cast<float>(n + 1);
  return {{x, -x, x + 1, -1, 2 * x, x, -x, 3 * x}};
}
inline void check_pair(const tiled_pair& out, int n) {
  const tiled_pair in = pair_of(n);
  for (std::size_t i = 0; i < in.size(); ++i)
    require(out[i] == (in[i] < 0 ? 0.0f : in[i]), "a part of an item is not computed");
}
/// So many units, each of two tiles.
template <int Threads>
auto divided_app() {
  const auto units =
      deployed<Threads, slots<8>, backends<tiled<explored_part>>>(input<tiled_pair> | nn::relu | nn::relu);
  static_assert(decltype(units)::plan.unit[1].parts == 2);
  return units;
}

template <int Threads>
void divided_calls(int count) {
  const auto app = divided_app<Threads>();
  for (int n = 0; n < count; ++n) check_pair(app(pair_of(n)), n);
}
/// Another thread calls the app, too, which has a part of its own for each.
template <int Threads>
void divided_calls_of_two(int count) {
  const auto app = divided_app<Threads>();
  permits_of_case = Threads + 1;  // a call that finds no permit has a thread of its own
  detail::thread other([&] {
    for (int n = 0; n < count; ++n) check_pair(app(pair_of(n)), n);
  });
  for (int n = 0; n < count; ++n) check_pair(app(pair_of(n + 5)), n + 5);
  other.join();
}
/// Items of a session: lone ones, and two at once.
inline void items_of_a_session(const auto& app, int count, int at_once) {
  auto session = app.open();
  for (int n = 0; n < count; n += at_once) {
    for (int i = 0; i < at_once; ++i) session.push(pair_of(n + i));
    for (int i = 0; i < at_once; ++i) check_pair(session.pop()->value(), n + i);
  }
  session.close();
  require(!session.pop(), "a result of nothing");
  check_over(session);
  check_counts(session.counts(), static_cast<std::uint64_t>(count));
}
template <int Threads>
void divided_items(int count, int at_once) {
  items_of_a_session(divided_app<Threads>(), count, at_once);
}
/// Branches of an item, whose units are divided where it is alone.
template <int Threads>
void divided_branches(int count, int at_once) {
  const auto app = deployed<Threads, slots<8>, backends<tiled<explored_part>>>(
      input<tiled_pair> | fork(nn::relu | nn::relu, nn::relu) |
      join<"first">(+[](const tiled_pair& a, const tiled_pair&) { return a; }));
  static_assert(decltype(app)::plan.fork[0].divided);
  items_of_a_session(app, count, at_once);
}
/// Lone items of two sessions, which have as many permits as threads.
template <int Threads>
void divided_items_of_two(int count) {
  const auto app = divided_app<Threads>();
  const auto run = [&](int first) {
    auto session = app.open();
    for (int n = first; n < first + count; ++n) {
      session.push(pair_of(n));
      check_pair(session.pop()->value(), n);
    }
  };
  detail::thread other([&] { run(5); });
  run(0);
  other.join();
}
/// A session is cancelled while its item is in parts.
inline void divided_and_cancelled() {
  const auto app = divided_app<2>();
  auto session = app.open();
  session.push(pair_of(1));
  detail::thread other([&] { session.cancel(); });
  while (auto r = session.pop())
    if (r->has_value()) check_pair(**r, 1);
  other.join();
  check_over(session);
  check_counts(session.counts(), 1);
}

}  // namespace levada::test
