// SPDX-License-Identifier: Apache-2.0
#pragma once
// overhead/work.hpp: the items and the stages that every contender runs: a chain of dependent multiplications that
// takes a given time, calibrated once on this machine.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace overhead {

/// An item whose payload travels with the value that is worked on.
template <std::size_t Bytes>
struct payload {
  std::uint64_t value;
  std::array<std::uint64_t, Bytes / 8 - 1> rest;
};
template <>
struct payload<8> {
  std::uint64_t value;
};

inline std::uint64_t spin(std::uint64_t x, std::uint32_t rounds) {
  for (std::uint32_t i = 0; i < rounds; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(x));  // each round waits for the one before
  }
  return x;
}

/// Rounds of `spin` in a microsecond.
inline double rounds_per_us() {
  static const double rounds = [] {
    double best = 0;
    for (int i = 0; i < 20; ++i) {
      const auto start = std::chrono::steady_clock::now();
      volatile std::uint64_t keep = spin(static_cast<std::uint64_t>(i), 100'000);
      static_cast<void>(keep);
      const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
      best = std::max(best, 100'000 / took.count());
    }
    return best;
  }();
  return rounds;
}

/// The work of each stage of a chain, in rounds.
inline std::uint32_t rounds_of(double nanoseconds) {
  return static_cast<std::uint32_t>(nanoseconds * 1e-3 * rounds_per_us() + 0.5);
}

/// A stage with state: serial and in order.
struct serial_stage {
  std::uint32_t rounds = 0;
  std::uint64_t sum = 0;

  std::uint64_t step(std::uint64_t x) {
    sum += x;
    return spin(x ^ (sum & 1), rounds);
  }
};

/// A stage each of whose items waits for the one before, as in a recursive filter: the processor cannot begin the next
/// while it is at one, so that it takes the time that it is given.
struct recursive_stage {
  std::uint32_t rounds = 0;
  std::uint64_t last = 0;

  std::uint64_t step(std::uint64_t x) { return last = spin(x ^ (last & 1), rounds); }
};

/// A stage without state: several items at once.
struct parallel_stage {
  std::uint32_t rounds = 0;
  std::uint64_t step(std::uint64_t x) const { return spin(x, rounds); }
};

/// The stages of a chain in order, and what each takes.
template <class... Stage>
struct chain {
  static constexpr std::size_t size = sizeof...(Stage);
  std::tuple<Stage...> stages;

  explicit chain(const std::array<double, size>& nanoseconds) {
    std::size_t i = 0;
    std::apply([&](auto&... s) { ((s.rounds = rounds_of(nanoseconds[i++])), ...); }, stages);
  }
};

/// So many equal stages.
template <class Stage, class Places>
struct equal_chain;
template <class Stage, std::size_t... I>
struct equal_chain<Stage, std::index_sequence<I...>> {
  template <std::size_t>
  using stage_at = Stage;
  using type = chain<stage_at<I>...>;
};
template <class Stage, std::size_t N>
using chain_of = typename equal_chain<Stage, std::make_index_sequence<N>>::type;

/// What every contender gives back: it depends on all results and their order.
inline std::uint64_t mix(std::uint64_t sum, std::uint64_t value) { return sum * 31 + value; }

}  // namespace overhead
