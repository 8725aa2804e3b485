// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random expressions over two floats and two integers, the same for the same seed on every machine. They keep off what
// shows the bits of a NaN, which are nobody's promise.

#include <levada/kernel/detail/functions.hpp>

namespace kernel_test {

constexpr std::uint32_t mix(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

template <class Floats, class Ints>
struct random_kernel {
  Floats x, y;
  Ints n, m;

  template <std::uint32_t Seed, int Depth>
  constexpr Floats of_floats() const {
    constexpr std::uint32_t r = mix(Seed) % (Depth > 0 ? 16 : 4);
    if constexpr (Depth == 0) {
      if constexpr (r == 0) return x;
      if constexpr (r == 1) return y;
      if constexpr (r == 2) return x * 0.75f;
      if constexpr (r == 3) return 3.0f - y;
    } else {
      constexpr std::uint32_t a = 2 * Seed + 17, b = 3 * Seed + 29;
      if constexpr (r < 2) return of_floats<a, Depth - 1>() + of_floats<b, Depth - 1>();
      if constexpr (r == 2) return of_floats<a, Depth - 1>() - of_floats<b, Depth - 1>();
      if constexpr (r == 3 || r == 4) return of_floats<a, Depth - 1>() * of_floats<b, Depth - 1>();
      if constexpr (r == 5) return of_floats<a, Depth - 1>() / of_floats<b, Depth - 1>();
      if constexpr (r == 6) return min(of_floats<a, Depth - 1>(), of_floats<b, Depth - 1>());
      if constexpr (r == 7) return max(of_floats<a, Depth - 1>(), of_floats<b, Depth - 1>());
      if constexpr (r == 8)
        return select(of_bools<Seed + 5, Depth - 1>(), of_floats<a, Depth - 1>(), of_floats<b, Depth - 1>());
      if constexpr (r == 9) return -of_floats<a, Depth - 1>();
      if constexpr (r == 10) return floor(of_floats<a, Depth - 1>());
      if constexpr (r == 11) return round(of_floats<a, Depth - 1>()) + ceil(of_floats<b, Depth - 1>());
      if constexpr (r == 12) return sqrt(abs(of_floats<a, Depth - 1>()));
      if constexpr (r == 13) return to_float(of_ints<a, Depth - 1>());
      if constexpr (r == 14) return to_float(to_uint(of_ints<b, Depth - 1>()));
      if constexpr (r == 15) return max(of_floats<a, Depth - 1>(), 0.25f);
    }
  }

  template <std::uint32_t Seed, int Depth>
  constexpr Ints of_ints() const {
    constexpr std::uint32_t r = mix(Seed ^ 0x51edu) % (Depth > 0 ? 20 : 4);
    if constexpr (Depth == 0) {
      if constexpr (r == 0) return n;
      if constexpr (r == 1) return m;
      if constexpr (r == 2) return n + 12345;
      if constexpr (r == 3) return m ^ 0x0f0f;
    } else {
      constexpr std::uint32_t a = 2 * Seed + 31, b = 3 * Seed + 7;
      if constexpr (r == 0) return of_ints<a, Depth - 1>() + of_ints<b, Depth - 1>();
      if constexpr (r == 1) return of_ints<a, Depth - 1>() - of_ints<b, Depth - 1>();
      if constexpr (r == 2) return of_ints<a, Depth - 1>() * of_ints<b, Depth - 1>();
      if constexpr (r == 3) return of_ints<a, Depth - 1>() / of_ints<b, Depth - 1>();
      if constexpr (r == 4) return of_ints<a, Depth - 1>() % of_ints<b, Depth - 1>();
      if constexpr (r == 5) return of_ints<a, Depth - 1>() & of_ints<b, Depth - 1>();
      if constexpr (r == 6) return of_ints<a, Depth - 1>() | of_ints<b, Depth - 1>();
      if constexpr (r == 7) return of_ints<a, Depth - 1>() ^ of_ints<b, Depth - 1>();
      if constexpr (r == 8) return ~of_ints<a, Depth - 1>();
      if constexpr (r == 9) return of_ints<a, Depth - 1>() << of_ints<b, Depth - 1>();
      if constexpr (r == 10) return of_ints<a, Depth - 1>() >> of_ints<b, Depth - 1>();
      if constexpr (r == 11) return of_ints<a, Depth - 1>() >> static_cast<int>(Seed % 32);
      if constexpr (r == 12) return of_ints<a, Depth - 1>() << static_cast<int>(Seed % 32);
      if constexpr (r == 13) return min(of_ints<a, Depth - 1>(), of_ints<b, Depth - 1>());
      if constexpr (r == 14) return max(of_ints<a, Depth - 1>(), of_ints<b, Depth - 1>());
      if constexpr (r == 15)
        return select(of_bools<Seed + 3, Depth - 1>(), of_ints<a, Depth - 1>(), of_ints<b, Depth - 1>());
      if constexpr (r == 16) return to_int(of_floats<a, Depth - 1>());
      if constexpr (r == 17) return to_int(to_uint(of_floats<a, Depth - 1>()) >> 3);
      if constexpr (r == 18) return to_int(to_uint(of_ints<a, Depth - 1>()) / to_uint(of_ints<b, Depth - 1>()));
      if constexpr (r == 19) return abs(of_ints<a, Depth - 1>());
    }
  }

  template <std::uint32_t Seed, int Depth>
  constexpr auto of_bools() const {
    constexpr std::uint32_t r = mix(Seed ^ 0xb001u) % (Depth > 0 ? 12 : 2);
    if constexpr (Depth == 0) {
      if constexpr (r == 0) return x < y;
      if constexpr (r == 1) return n <= m;
    } else {
      constexpr std::uint32_t a = 2 * Seed + 3, b = 3 * Seed + 11;
      if constexpr (r == 0) return of_floats<a, Depth - 1>() < of_floats<b, Depth - 1>();
      if constexpr (r == 1) return of_floats<a, Depth - 1>() >= of_floats<b, Depth - 1>();
      if constexpr (r == 2) return of_floats<a, Depth - 1>() != of_floats<b, Depth - 1>();
      if constexpr (r == 3) return of_floats<a, Depth - 1>() == of_floats<b, Depth - 1>();
      if constexpr (r == 4) return of_ints<a, Depth - 1>() < of_ints<b, Depth - 1>();
      if constexpr (r == 5) return of_ints<a, Depth - 1>() == of_ints<b, Depth - 1>();
      if constexpr (r == 6) return to_uint(of_ints<a, Depth - 1>()) > to_uint(of_ints<b, Depth - 1>());
      if constexpr (r == 7) return of_bools<a, Depth - 1>() & of_bools<b, Depth - 1>();
      if constexpr (r == 8) return of_bools<a, Depth - 1>() || of_bools<b, Depth - 1>();
      if constexpr (r == 9) return of_bools<a, Depth - 1>() ^ of_bools<b, Depth - 1>();
      if constexpr (r == 10) return !of_bools<a, Depth - 1>();
      if constexpr (r == 11) return of_bools<a, Depth - 1>() == of_bools<b, Depth - 1>();
    }
  }
};
template <class F, class I>
random_kernel(F, F, I, I) -> random_kernel<F, I>;

/// Expression number `Seed`, of floats.
template <std::uint32_t Seed, int Depth>
inline constexpr auto random_floats = [](auto x, auto y, auto n, auto m) {
  return random_kernel{x, y, n, m}.template of_floats<Seed, Depth>();
};
/// Expression number `Seed`, of integers.
template <std::uint32_t Seed, int Depth>
inline constexpr auto random_ints = [](auto x, auto y, auto n, auto m) {
  return random_kernel{x, y, n, m}.template of_ints<Seed, Depth>();
};

}  // namespace kernel_test
