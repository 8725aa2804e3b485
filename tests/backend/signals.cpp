// SPDX-License-Identifier: Apache-2.0
// The ops of signals against sums as they are written down, in double.

#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

#include "backend/compare.hpp"

#include <levada/backend/reference/ops.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace lv = levada;

namespace {

using box = lv::target<lv::cpu<1>>;

/// Bin `k` of a transform of `size`, of samples with zeros behind them.
template <class T>
std::complex<double> bin(const T* x, std::size_t count, std::size_t size, std::size_t k) {
  std::complex<double> sum = 0;
  for (std::size_t t = 0; t < count; ++t)
    sum += static_cast<double>(x[t]) *
           std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k * t % size) / static_cast<double>(size));
  return sum;
}

/// Two rows of `count` samples, their bins in a transform of `size`, and the squares of these.
template <class T>
void check_bins(const T* x, std::size_t count, std::size_t size, const T* y, const T* power) {
  CAPTURE(count);
  CAPTURE(size);
  const std::size_t bins = size / 2 + 1;
  // The error of a transform grows with the logarithm of its size; the values with its root.
  const double allowed = (std::is_same_v<T, float> ? 1e-6 : 2e-15) * std::sqrt(static_cast<double>(count)) *
                         std::log2(static_cast<double>(size) + 1);
  double worst = 0, worst_power = 0;
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t k = 0; k < bins; ++k) {
      const auto expected = bin(x + row * count, count, size, k);
      const std::size_t at = row * bins + k;
      worst = std::max(worst, std::abs(expected - std::complex<double>(y[2 * at], y[2 * at + 1])));
      worst_power = std::max(worst_power,
                             std::abs(std::norm(expected) - static_cast<double>(power[at])) / (1 + std::abs(expected)));
    }
  CHECK(worst <= allowed);
  CHECK(worst_power <= 3 * allowed);
}

template <class T, std::size_t Count, std::size_t Size = 0, class Backend = lv::simd>
void check_rfft() {
  const auto x = lv::testing::random_tensor<lv::tensor<T, 2, Count>>();
  const auto y = lv::testing::by_one_kernel<Backend>(*x, {}, lv::rfft_op<Size>());
  const auto power = lv::testing::by_one_kernel<Backend>(*x, {}, lv::power_spectrum_op<Size>());
  check_bins(x->data(), Count, Size == 0 ? Count : Size, y->data(), power->data());
}

template <class T, std::size_t... Counts>
void check_sizes(std::index_sequence<Counts...>) {
  (check_rfft<T, Counts + 2>(), ...);
}

}  // namespace

TEST_CASE("transforms of every small size") { check_sizes<double>(std::make_index_sequence<31>()); }
TEST_CASE("transforms of usual sizes, of primes, filled up with zeros, on both backends") {
  check_rfft<float, 400>();
  check_rfft<float, 400, 512>();
  check_rfft<float, 480>();
  check_rfft<float, 1024>();
  check_rfft<double, 4096>();
  check_rfft<double, 1000>();
  check_rfft<double, 243>();
  check_rfft<double, 101>();
  check_rfft<double, 2 * 49 * 11>();
  check_rfft<float, 5, 96>();
  check_rfft<float, 400, 512, lv::reference>();
}

TEST_CASE("a stage of a pipeline gives what its kernel gives") {
  const auto x = lv::testing::random_tensor<lv::tensor<float, 2, 400>>();
  const auto app = lv::deploy<box>(lv::input<lv::tensor<float, 2, 400>> | lv::signal::rfft<512>);
  CHECK(app(*x) == *lv::testing::by_one_kernel<lv::simd>(*x, {}, lv::rfft_op<512>()));
  const auto power = lv::deploy<box>(lv::input<lv::tensor<float, 2, 400>> | lv::signal::power_spectrum<512>);
  CHECK(power(*x) == *lv::testing::by_one_kernel<lv::simd>(*x, {}, lv::power_spectrum_op<512>()));
}

TEST_CASE("window functions") {
  using row = lv::tensor<double, 8>;
  row ones;
  ones.fill(1);
  const auto hann = lv::deploy<box>(lv::input<row> | lv::signal::taper<lv::window_function::hann>)(ones);
  const auto hamming = lv::deploy<box>(
      lv::input<row> | lv::signal::taper<lv::window_function::hamming, lv::window_ends::symmetric>)(ones);
  const auto blackman = lv::deploy<box>(lv::input<row> | lv::signal::taper<lv::window_function::blackman>)(ones);
  for (std::size_t t = 0; t < 8; ++t) {
    const double periodic = 2 * std::numbers::pi * static_cast<double>(t) / 8;
    const double symmetric = 2 * std::numbers::pi * static_cast<double>(t) / 7;
    CHECK(hann[t] == doctest::Approx(std::pow(std::sin(periodic / 2), 2)));
    CHECK(hamming[t] == doctest::Approx(25.0 / 46 - 21.0 / 46 * std::cos(symmetric)));
    CHECK(blackman[t] == doctest::Approx(0.42 - 0.5 * std::cos(periodic) + 0.08 * std::cos(2 * periodic)));
  }
}

TEST_CASE("mel bands are triangles over the mel scale, and share every bin between two of them") {
  using spectrum = lv::tensor<double, 257>;
  constexpr lv::mel_range range{.sample_rate = 16'000, .low = 100, .high = 7'000};
  const auto app = lv::deploy<box>(lv::input<spectrum> | lv::signal::mel<24>(range));
  const auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
  const double width = (mel(range.high) - mel(range.low)) / 25;
  std::vector<double> sums(257);
  for (std::size_t k = 0; k < 257; ++k) {
    spectrum one{};
    one[k] = 1;
    const auto bands = app(one);
    const double hertz = static_cast<double>(k) * 16'000 / 512;
    // Triangles are straight in Hz, their corners equally far apart in mel.
    const auto corner = [&](std::size_t i) {
      return 700 * (std::pow(10, (mel(range.low) + static_cast<double>(i) * width) / 2595) - 1);
    };
    for (std::size_t b = 0; b < 24; ++b) {
      const double up = (hertz - corner(b)) / (corner(b + 1) - corner(b));
      const double down = (corner(b + 2) - hertz) / (corner(b + 2) - corner(b + 1));
      CHECK(bands[b] == doctest::Approx(std::max(0.0, std::min(up, down))));
      sums[k] += bands[b];
    }
    if (hertz >= corner(1) && hertz <= corner(24)) CHECK(sums[k] == doctest::Approx(1));
  }
}
