// SPDX-License-Identifier: Apache-2.0
// Offsets of buffers in one arena: TVM's reference cases, and what holds for any lifetimes.

#include <doctest/doctest.h>

#include <initializer_list>
#include <random>

#include <levada/plan/detail/memory.hpp>

#include "soak.hpp"

namespace lv = levada;

namespace {

using buffers = lv::bounded<lv::buffer_lifetime, 20>;

/// Each buffer is alive until the next is written.
constexpr buffers chain(std::initializer_list<std::size_t> sizes) {
  buffers b;
  for (std::size_t step = 0; const std::size_t bytes : sizes) {
    b.push_back({bytes, 1, step, step + 1});
    ++step;
  }
  return b;
}

constexpr buffers tvm_chain = chain({10, 20, 100, 40, 50, 50});
static_assert(lv::memory_lower_bound(tvm_chain) == 140);
static_assert(lv::greedy_by_size(tvm_chain).bytes == 140);
static_assert(lv::greedy_by_conflicts(tvm_chain).bytes == 140);
static_assert(lv::hill_climbing(tvm_chain).bytes == 140);
static_assert(lv::from_both_ends(tvm_chain)->bytes == 140);
static_assert(lv::lay_out(tvm_chain).bytes == 140);

constexpr buffers three_tens{{10, 1, 0, 2}, {10, 1, 0, 2}, {10, 1, 1, 2}};
static_assert(lv::greedy_by_size(three_tens).bytes == 30);
static_assert(lv::greedy_by_conflicts(three_tens).bytes == 30);
static_assert(lv::hill_climbing(three_tens).bytes == 30);
static_assert(!lv::from_both_ends(three_tens), "three alive at once need more than two ends");
static_assert(lv::as_they_begin(three_tens)->bytes == 30);
static_assert(lv::lay_out(three_tens).bytes == 30);
static_assert(!lv::as_they_begin(buffers{{4, 1, 0, 1, {0, 0}}, {4, 1, 2, 3, {0, 1}}}), "branches have no order");
static_assert(!lv::lay_out_within(three_tens, 10), "a pool of 10 bytes is refused");
static_assert(!lv::lay_out_within(three_tens, 29) && lv::lay_out_within(three_tens, 30));

static_assert(lv::lay_out(buffers{}).bytes == 0, "no buffers, no arena");
static_assert(lv::lay_out(buffers{{5, 1, 3, 3}}).bytes == 5);
static_assert(lv::lay_out(buffers{{5, 64, 0, 0}}).bytes == 64, "arenas can stand in a row");
static_assert(lv::lay_out(buffers{{4, 4, 0, 1}, {64, 64, 1, 2}, {4, 4, 2, 3}}).bytes == 128);
// What is written in a step must not lie on what is read in it.
static_assert(lv::alive_together({1, 1, 0, 1}, {1, 1, 1, 2}) && !lv::alive_together({1, 1, 0, 1}, {1, 1, 2, 2}));

buffers random_lifetimes(std::mt19937& random) {
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  buffers b;
  const bool multiples = below(2) == 0;
  const std::size_t count = below(buffers::capacity() + 1), steps = 1 + below(15), longest = 1 + below(6);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t alignment = std::size_t{1} << below(8), first = below(steps);
    const std::size_t bytes = multiples ? alignment * (1 + below(9)) : 1 + below(300);
    b.push_back({bytes, alignment, first, first + below(longest)});
  }
  return b;
}

template <std::size_t N>
void check_layout(const lv::bounded<lv::buffer_lifetime, N>& b, const lv::memory_layout<N>& layout) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    REQUIRE(layout.offset[i] % b[i].alignment == 0);
    REQUIRE(layout.offset[i] + b[i].bytes <= layout.bytes);
    REQUIRE(layout.bytes % b[i].alignment == 0);
    for (std::size_t j = 0; j < i; ++j) {
      const bool indirect =
          layout.offset[i] + b[i].bytes <= layout.offset[j] || layout.offset[j] + b[j].bytes <= layout.offset[i];
      REQUIRE((indirect || !lv::alive_together(b[i], b[j])));
    }
  }
  REQUIRE(layout.bytes >= lv::memory_lower_bound(b));
}

/// The same bound, step by step.
std::size_t slow_lower_bound(const buffers& b) {
  std::size_t bound = 0, strictest = 1;
  for (std::size_t step = 0; step < 40; ++step) {
    std::size_t sum = 0;
    for (const lv::buffer_lifetime& one : b) sum += one.first <= step && step <= one.last ? one.bytes : 0;
    bound = std::max(bound, sum);
  }
  for (const lv::buffer_lifetime& one : b) strictest = std::max(strictest, one.alignment);
  return (bound + strictest - 1) / strictest * strictest;
}

}  // namespace

TEST_CASE("buffers that are alive together never overlap, are aligned, and the best of all orders is taken") {
  std::mt19937 random(1);
  for (int i = 0; i < 3000 * lv::test::soak_scale(); ++i) {
    const buffers b = random_lifetimes(random);
    const auto best = lv::lay_out(b);
    check_layout(b, best);
    REQUIRE(lv::memory_lower_bound(b) == slow_lower_bound(b));
    for (const auto& other : {lv::greedy_by_size(b), lv::greedy_by_conflicts(b), lv::hill_climbing(b)}) {
      check_layout(b, other);
      REQUIRE(best.bytes <= other.bytes);
    }
    if (const auto begin = lv::as_they_begin(b)) {
      check_layout(b, *begin);
      REQUIRE(best.bytes <= begin->bytes);
    }
    if (const auto ends = lv::from_both_ends(b)) {
      check_layout(b, *ends);
      REQUIRE(ends->bytes == lv::memory_lower_bound(b));
    }
  }
}

TEST_CASE("the buffers of a line get the smallest arena there is") {
  std::mt19937 random(2);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (int i = 0; i < 3000 * lv::test::soak_scale(); ++i) {
    buffers line;
    for (std::size_t b = 0, step = 0; b < 1 + below(20); ++b) {
      const std::size_t alignment = below(3) == 0 ? std::size_t{1} << below(6) : 64;
      const std::size_t steps = 1 + below(3);
      line.push_back({alignment * (1 + below(40)), alignment, step, step + steps});
      step += steps + (below(5) == 0 ? 1 : 0);
    }
    const auto layout = lv::lay_out(line);
    check_layout(line, layout);
    REQUIRE(layout.bytes == lv::memory_lower_bound(line));
  }
}
