// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/fourier.hpp: the fast Fourier transform of a size known while compiling, for the backends of the CPU:
// decimation in time over mixed radices (Cooley and Tukey, 1965), real and imaginary parts apart so that a loop over
// neighbours is one over vectors. Real transforms of even sizes go through complex ones of half the size.

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>

namespace levada::detail {

/// The prime factors of a size, fours first: the radices of the steps, the last step first.
struct radices {
  std::size_t count = 0;
  std::size_t radix[32]{};
};
constexpr radices radices_of(std::size_t size) {
  radices r;
  for (const std::size_t first : {std::size_t{4}, std::size_t{2}, std::size_t{3}, std::size_t{5}})
    for (; size % first == 0; size /= first) r.radix[r.count++] = first;
  for (std::size_t p = 7; size > 1; p += 2)
    for (; size % p == 0; size /= p) r.radix[r.count++] = p;
  return r;
}

/// exp(-2 pi i at / size)
template <class T>
struct root_of_unity {
  T re, im;
  root_of_unity(std::size_t at, std::size_t size)
      : re(static_cast<T>(std::cos(2 * std::numbers::pi * static_cast<double>(at % size) / static_cast<double>(size)))),
        im(static_cast<T>(
            -std::sin(2 * std::numbers::pi * static_cast<double>(at % size) / static_cast<double>(size)))) {}
};

/// The complex transform of `N` numbers.
template <class T, std::size_t N>
class complex_transform {
 public:
  complex_transform() : tables_(std::make_unique<tables>()) {
    std::size_t size = N;
    for (std::size_t s = 0, at = 0; s < steps.count; size /= steps.radix[s++]) {
      const std::size_t radix = steps.radix[s], part = size / radix;
      for (std::size_t q = 1; q < radix; ++q)
        for (std::size_t k = 0; k < part; ++k, ++at) {
          const root_of_unity<T> w(q * k, size);
          tables_->re[at] = w.re;
          tables_->im[at] = w.im;
        }
    }
  }

  /// `in(t)` gives both parts of number `t`; the result is in `re` and `im`.
  template <class In>
  void operator()(In in, T* re, T* im) const {
    transform<0, N>(in, 0, 1, re, im, 0);
  }

 private:
  static constexpr radices steps = radices_of(N);
  static constexpr std::size_t twiddles = [] {
    std::size_t all = 0, size = N;
    for (std::size_t s = 0; s < steps.count; size /= steps.radix[s++]) all += size - size / steps.radix[s];
    return all;
  }();
  struct tables {
    T re[twiddles + 1], im[twiddles + 1];
  };

 public:
  static constexpr std::size_t table_bytes = sizeof(tables);

 private:
  /// Numbers `first`, `first + stride`, ... into a row; the table of this step begins at `table`.
  template <std::size_t Step, std::size_t Size, class In>
  void transform(In in, std::size_t first, std::size_t stride, T* re, T* im, std::size_t table) const {
    if constexpr (Size == 1) {
      in(first, *re, *im);
    } else {
      constexpr std::size_t radix = steps.radix[Step], part = Size / radix;
      for (std::size_t q = 0; q < radix; ++q)
        transform<Step + 1, part>(in, first + q * stride, stride * radix, re + q * part, im + q * part,
                                  table + Size - part);
      join<radix, part>(re, im, tables_->re + table, tables_->im + table);
    }
  }

  /// `Radix` transforms of `Part` numbers each become one.
  template <std::size_t Radix, std::size_t Part>
  static void join(T* re, T* im, const T* w_re, const T* w_im) {
    for (std::size_t k = 0; k < Part; ++k) {
      T x[Radix], y[Radix];
      x[0] = re[k], y[0] = im[k];
      for (std::size_t q = 1; q < Radix; ++q) {
        const T a = re[q * Part + k], b = im[q * Part + k];
        const T c = w_re[(q - 1) * Part + k], s = w_im[(q - 1) * Part + k];
        x[q] = a * c - b * s;
        y[q] = a * s + b * c;
      }
      butterfly<Radix>(x, y);
      for (std::size_t q = 0; q < Radix; ++q) re[q * Part + k] = x[q], im[q * Part + k] = y[q];
    }
  }

  /// The transform of a few numbers, where they are.
  template <std::size_t Radix>
  [[gnu::always_inline]] static void butterfly(T (&x)[Radix], T (&y)[Radix]) {
    if constexpr (Radix == 2) {
      const T a = x[0], b = y[0];
      x[0] = a + x[1], y[0] = b + y[1];
      x[1] = a - x[1], y[1] = b - y[1];
    } else if constexpr (Radix == 4) {
      const T a = x[0] + x[2], b = y[0] + y[2], c = x[0] - x[2], d = y[0] - y[2];
      const T e = x[1] + x[3], f = y[1] + y[3], g = x[1] - x[3], h = y[1] - y[3];
      x[0] = a + e, y[0] = b + f;
      x[1] = c + h, y[1] = d - g;
      x[2] = a - e, y[2] = b - f;
      x[3] = c - h, y[3] = d + g;
    } else {  // odd: what lies opposite goes together
      T u[Radix], v[Radix];
      for (std::size_t p = 0; p < Radix; ++p) u[p] = x[0], v[p] = y[0];
      for (std::size_t q = 1; q <= Radix / 2; ++q) {
        const T sum_x = x[q] + x[Radix - q], sum_y = y[q] + y[Radix - q];
        const T dif_x = x[q] - x[Radix - q], dif_y = y[q] - y[Radix - q];
        u[0] += sum_x, v[0] += sum_y;
        for (std::size_t p = 1; p <= Radix / 2; ++p) {
          const T c = small_roots<Radix>().cosine[p * q % Radix], s = small_roots<Radix>().sine[p * q % Radix];
          u[p] += c * sum_x + s * dif_y, v[p] += c * sum_y - s * dif_x;
          u[Radix - p] += c * sum_x - s * dif_y, v[Radix - p] += c * sum_y + s * dif_x;
        }
      }
      for (std::size_t p = 0; p < Radix; ++p) x[p] = u[p], y[p] = v[p];
    }
  }

  template <std::size_t Radix>
  struct roots {
    T cosine[Radix], sine[Radix];
    roots() {
      for (std::size_t p = 0; p < Radix; ++p) {
        const root_of_unity<T> w(p, Radix);
        cosine[p] = w.re, sine[p] = -w.im;
      }
    }
  };
  template <std::size_t Radix>
  static const roots<Radix>& small_roots() {
    static const roots<Radix> all;
    return all;
  }

  std::unique_ptr<tables> tables_;
};

/// The real transform of `N` samples: bins 0 to N / 2.
template <class T, std::size_t N>
class real_transform {
  static constexpr bool halves = N % 2 == 0 && N > 2;
  static constexpr std::size_t inner = halves ? N / 2 : N;

 public:
  /// Of memory that `operator()` works in.
  static constexpr std::size_t scratch_bytes = (2 * inner * sizeof(T) + 63) / 64 * 64;

  static constexpr std::size_t table_bytes = complex_transform<T, inner>::table_bytes + 2 * (inner + 1) * sizeof(T);

  real_transform() : roots_(std::make_unique<roots>()) {
    for (std::size_t k = 0; k <= inner; ++k) {
      const root_of_unity<T> w(k, N);
      roots_->re[k] = w.re, roots_->im[k] = w.im;
    }
  }

  /// `given` samples, zeros behind them; `put(k, re, im)` for each bin.
  template <class Put>
  void operator()(const T* samples, std::size_t given, std::byte* scratch, Put put) const {
    T* const re = reinterpret_cast<T*>(scratch);
    T* const im = re + inner;
    const auto sample = [=](std::size_t t) { return t < given ? samples[t] : T{0}; };
    if constexpr (halves) {
      transform_(
          [&](std::size_t t, T& x, T& y) {
            x = sample(2 * t);
            y = sample(2 * t + 1);
          },
          re, im);
      for (std::size_t k = 0; k <= inner; ++k) {
        const std::size_t here = k == inner ? 0 : k, there = k == 0 ? 0 : inner - k;
        const T even_re = (re[here] + re[there]) / 2, even_im = (im[here] - im[there]) / 2;
        const T odd_re = (im[here] + im[there]) / 2, odd_im = (re[there] - re[here]) / 2;
        const T c = roots_->re[k], s = roots_->im[k];
        put(k, even_re + c * odd_re - s * odd_im, even_im + c * odd_im + s * odd_re);
      }
    } else {
      transform_(
          [&](std::size_t t, T& x, T& y) {
            x = sample(t);
            y = 0;
          },
          re, im);
      for (std::size_t k = 0; k <= N / 2; ++k) put(k, re[k], im[k]);
    }
  }

 private:
  struct roots {
    T re[inner + 1], im[inner + 1];
  };
  complex_transform<T, inner> transform_;
  std::unique_ptr<roots> roots_;
};

}  // namespace levada::detail
