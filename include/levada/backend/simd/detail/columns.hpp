// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/columns.hpp: rows of an image laid out so that a vector holds consecutive outputs of a sliding
// window, whatever its stride: column x of the padded row goes to phase x % Step, place x / Step. The tap `offset` of
// the outputs j, j + 1, ... is then the contiguous run at phase offset % Step, place j + offset / Step.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <levada/backend/simd/detail/vector.hpp>

namespace levada::detail {

/// `count` elements times a factor; a constant number of them leaves no loop of single ones. (At -O2 g++ 12 does not do
/// it on vectors by itself.)
template <class Arch, class T, class Count>
LEVADA_INLINE inline void copy_scaled(const T* from, T* to, Count count, T factor) {
  constexpr std::size_t lanes = lanes_in<T, Arch>;
  const vector<T, Arch> by(factor);
  const auto whole = [&](std::size_t i) LEVADA_INLINE { (load<T, Arch>(from + i) * by).store_unaligned(to + i); };
  if constexpr (std::is_integral_v<Count>) {
    for (std::size_t i = 0; i < count / lanes * lanes; i += lanes) whole(i);
    for (std::size_t i = count / lanes * lanes; i < count; ++i) to[i] = from[i] * factor;
  } else {
    for_each_vector<T, Arch, Count::value>(whole, [&](std::size_t i, auto n) LEVADA_INLINE {
      store_part<n>(to + i, load_part<n, T, Arch>(from + i) * by);
    });
  }
}

/// Elements 0, 2, ... or 1, 3, ... of `a` and `b`, in the order that takes one instruction: for each 128 bits of both
/// two of `a` and two of `b`.
template <std::size_t Odd, class Arch>
LEVADA_INLINE inline vector<float, Arch> every_second(const vector<float, Arch>& a, const vector<float, Arch>& b) {
  constexpr std::size_t lanes = lanes_in<float, Arch>;
  return shuffled<float, Arch>(a, b, [](std::size_t i) {
    const std::size_t place = i / 4 * 4 + i % 2 * 2 + Odd;
    return i % 4 < 2 ? place : lanes + place;
  });
}
/// Those in their order.
template <class Arch>
LEVADA_INLINE inline vector<float, Arch> in_order(const vector<float, Arch>& picked) {
  return shuffled<float, Arch>(picked, picked, [](std::size_t i) {
    constexpr std::size_t half = lanes_in<float, Arch> / 2;
    return i % half / 2 * 4 + i % 2 + (i < half ? 0 : 2);
  });
}

/// Every second of the elements from `from` on, of which `Readable` may be read: `Count` of them. `WritesMore`: a
/// vector of bytes may be written whole.
template <class Arch, std::size_t Count, std::size_t Readable, bool WritesMore = false, class T>
LEVADA_INLINE inline void copy_every_second(const T* from, T* to) {
  std::size_t done = 0;
  if constexpr (sizeof(T) == 4 || sizeof(T) == 1) {
    // Bytes of 128 bits: rows of a picture are seldom longer than a few of them.
    constexpr std::size_t lanes = sizeof(T) == 1 ? 16 : lanes_in<T, Arch>,
                          written = sizeof(T) == 1 && WritesMore ? ceil_div(Count, lanes) : Count / lanes,
                          whole = std::min(written, Readable / (2 * lanes)) * lanes;
    const auto pick = [&](std::size_t at) LEVADA_INLINE {
      if constexpr (std::is_same_v<T, float>) {
        const auto a = load<T, Arch>(from + 2 * at), b = load<T, Arch>(from + 2 * at + lanes);
        in_order<Arch>(every_second<0, Arch>(a, b)).store_unaligned(to + at);
      } else {
        typename raw_vector<T, lanes>::type a, b;
        std::memcpy(&a, from + 2 * at, sizeof a);
        std::memcpy(&b, from + 2 * at + lanes, sizeof b);
        const auto even = [&]<int... I>(std::integer_sequence<int, I...>) LEVADA_INLINE {
          return __builtin_shufflevector(a, b, 2 * I...);
        }(std::make_integer_sequence<int, static_cast<int>(lanes)>());
        std::memcpy(to + at, &even, sizeof even);
      }
    };
    for (; done < whole; done += lanes) pick(done);
    if constexpr (whole != 0 && whole < Count && 2 * Count <= Readable) {  // the last overlaps the one before
      pick(Count - lanes);
      done = Count;
    }
  }
  for (; done < Count; ++done) to[done] = from[2 * done];
}

/// One row of `Width` elements, padded with `Left` and enough on the right for `Outputs` outputs that are `Step` apart
/// and reach `Reach` columns, with whole vectors of outputs read.
template <class Arch, class T, std::size_t Width, std::size_t Left, std::size_t Step, std::size_t Outputs,
          std::size_t Reach>
struct column_row {
  /// The places of one phase: up to the last that an output needs.
  static constexpr std::size_t phase = Outputs + (Reach - 1) / Step;
  /// The elements of a row; a vector that starts at the last outputs may read `slack` more.
  static constexpr std::size_t pitch = Step * phase;
  static constexpr std::size_t slack = lanes_in<T, Arch>;

  /// The place of a tap for output 0.
  static constexpr std::size_t at(std::size_t offset) { return offset % Step * phase + offset / Step; }

  /// `Readable`: elements from `in` on that may be read.
  template <std::size_t Readable = Width>
  static void fill(T* row, const T* in, T outside) {
    fill_by<Readable>(
        row, in, outside,
        [](const T* from, T* to, auto count) LEVADA_INLINE { std::memcpy(to, from, count * sizeof(T)); },
        [](T x) LEVADA_INLINE { return x; });
  }
  /// Each element times a factor, and zeros outside.
  static void fill_scaled(T* row, const T* in, T factor) {
    fill_by<Width>(
        row, in, T{0},
        [factor](const T* from, T* to, auto count) LEVADA_INLINE { copy_scaled<Arch>(from, to, count, factor); },
        [factor](T x) LEVADA_INLINE { return x * factor; });
  }

 private:
  /// Phases in their order: what is written behind one belongs to the next, or to the slack.
  template <std::size_t Readable, class Copy, class Element>
  LEVADA_INLINE static void fill_by(T* row, const T* in, T outside, const Copy& copy, const Element& element) {
    if constexpr (Step == 1) {
      constexpr std::size_t kept = std::min(Width, phase - std::min(phase, Left));
      for (std::size_t x = 0; x < std::min(Left, phase); ++x) row[x] = outside;
      copy(in, row + Left, std::integral_constant<std::size_t, kept>());
      for (std::size_t x = Left + kept; x < phase; ++x) row[x] = outside;
    } else {
      static_for<Step>([&](auto d) LEVADA_INLINE {
        // Padded column x * Step + d is column x * Step + d - Left of the picture.
        constexpr std::size_t before = std::min(phase, d < Left ? ceil_div(Left - d, Step) : 0);
        constexpr std::size_t first = before * Step + d - Left;
        constexpr std::size_t there = first < Width ? ceil_div(Width - first, Step) : 0;
        constexpr std::size_t end = std::min(phase, before + there);
        T* to = row + d * phase;
        for (std::size_t x = 0; x < before; ++x) to[x] = outside;
        if constexpr (Step == 2) {
          constexpr std::size_t readable = Readable - std::min(first, Readable);
          copy_every_second<Arch, end - before, readable, (Readable > Width)>(in + first, to + before);
          for (std::size_t x = before; x < end; ++x) to[x] = element(to[x]);
        } else {
          for (std::size_t x = before; x < end; ++x) to[x] = element(in[first + (x - before) * Step]);
        }
        for (std::size_t x = end; x < phase; ++x) to[x] = outside;
      });
    }
  }
};

}  // namespace levada::detail
