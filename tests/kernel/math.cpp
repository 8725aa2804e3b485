// SPDX-License-Identifier: Apache-2.0
// The functions of kernel/detail/math.hpp against those of C++ in double, over floats of every exponent: the errors
// that their comments state, and what they do with zeros, infinities and NaN.

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel/architectures.hpp"
#include "sanitizer.hpp"

using namespace kernel_test;
using levada::test::sparse;

constexpr float inf = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();

/// The distance of neighbouring floats at `x`.
double unit_at(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1.0, std::max(exponent, -125) - 24);
}

template <class F>
std::vector<float> applied(const F& f, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  levada::run_lanes(f, 0, x.size(), std::tuple(y.data()), x.data());
  return y;
}

/// One float in 2003 of all between `low` and `high`, of both signs where the range has both: some two million.
std::vector<float> floats_between(float low, float high) {
  std::vector<float> x;
  for (std::uint64_t word = 0; word < 1ull << 32; word += 2003 * sparse) {
    const float v = std::bit_cast<float>(static_cast<std::uint32_t>(word));
    if (v >= low && v <= high) x.push_back(v);
  }
  return x;
}

/// The largest error in units in the last place; where the true result is no float, the result has to be what it rounds
/// to.
template <class F, class Reference>
double largest_error(const F& f, Reference reference, const std::vector<float>& x) {
  const std::vector<float> y = applied(f, x);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = reference(static_cast<double>(x[i]));
    const float rounded = static_cast<float>(exact);
    if (std::isnan(exact) && std::isnan(y[i])) continue;
    if (std::isfinite(rounded) && std::isfinite(y[i])) {
      worst = std::max(worst, std::fabs(y[i] - exact) / unit_at(exact));
    } else if (rounded != y[i]) {
      MESSAGE("at ", x[i], " got ", y[i], ", expected ", rounded);
      return 1e9;
    }
  }
  MESSAGE("largest error ", worst, " ulp");
  return worst;
}

TEST_CASE("exp is within 1 ulp, also where it is denormal") {
  CHECK(largest_error([](auto x) { return exp(x); }, [](double x) { return std::exp(x); }, floats_between(-inf, inf)) <=
        1);
  CHECK(largest_error([](auto x) { return exp(x); }, [](double x) { return std::exp(x); }, floats_between(-110, -80)) <=
        1);
}

TEST_CASE("log is within 1 ulp, also of denormals and around 1") {
  const auto f = [](auto x) { return log(x); };
  const auto reference = [](double x) { return std::log(x); };
  CHECK(largest_error(f, reference, floats_between(-inf, inf)) <= 1);
  std::vector<float> near_one;
  for (std::uint32_t word = 0x3f000000u; word < 0x40000000u; word += 3 * sparse)
    near_one.push_back(std::bit_cast<float>(word));
  CHECK(largest_error(f, reference, near_one) <= 1);
}

TEST_CASE("tanh is within 1.5 ulp") {
  CHECK(largest_error([](auto x) { return tanh(x); }, [](double x) { return std::tanh(x); },
                      floats_between(-inf, inf)) <= 1.5);
}

TEST_CASE("sigmoid is within 2.5 ulp") {
  CHECK(largest_error([](auto x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); },
                      floats_between(-inf, inf)) <= 2.5);
}

TEST_CASE("erf is within 1.5 ulp") {
  CHECK(largest_error([](auto x) { return erf(x); }, [](double x) { return std::erf(x); }, floats_between(-inf, inf)) <=
        2);
}

TEST_CASE("sin and cos are within 1.75 ulp up to 100000, also beside their zeros, and NaN beyond") {
  const auto sine = [](auto x) { return sin(x); };
  const auto cosine = [](auto x) { return cos(x); };
  const auto true_sine = [](double x) { return std::sin(x); };
  const auto true_cosine = [](double x) { return std::cos(x); };
  CHECK(largest_error(sine, true_sine, floats_between(-100000, 100000)) <= 1.75);
  CHECK(largest_error(cosine, true_cosine, floats_between(-100000, 100000)) <= 1.75);
  std::vector<float> beside_zeros;
  for (int n = -63661; n <= 63661; n += sparse) {
    const float nearest = static_cast<float>(n * 1.57079632679489661923);
    for (float x : {std::nextafter(nearest, -inf), nearest, std::nextafter(nearest, inf)})
      if (std::fabs(x) <= 100000) beside_zeros.push_back(x);
  }
  CHECK(largest_error(sine, true_sine, beside_zeros) <= 1.75);
  CHECK(largest_error(cosine, true_cosine, beside_zeros) <= 1.75);
  for (float y : applied(sine, {100001.0f, -1e30f, inf, -inf, not_a_number})) CHECK(std::isnan(y));
  for (float y : applied(cosine, {100001.0f, -1e30f, inf, -inf, not_a_number})) CHECK(std::isnan(y));
}

TEST_CASE("pow is within 1.25 ulp") {
  // Bases of every size for small exponents; bases near 1, where the result is a float, for large ones.
  for (float y : {0.5f, 2.0f, -1.5f, 3.3f, 0.01f, 1.0f / 3.0f, -7.0f, 17.0f, 100.0f, -50.0f, 1000.0f, -100000.0f}) {
    CAPTURE(y);
    const auto f = [y](auto x) { return pow(x, y); };
    const auto reference = [y](double x) { return std::pow(x, static_cast<double>(y)); };
    const float reach = std::min(1.0f, 80.0f / std::fabs(y));
    CHECK(largest_error(f, reference, floats_between(-inf, inf)) <= 1.25);
    std::vector<float> near_one;
    for (int i = -100000; i <= 100000; i += sparse) near_one.push_back(std::exp(static_cast<float>(i) * 1e-5f * reach));
    CHECK(largest_error(f, reference, near_one) <= 1.25);
  }
}

TEST_CASE("pow of any base to any exponent is within 1.25 ulp") {
  std::vector<float> x, y;
  for (std::uint32_t i = 0, seed = 7; i < 1000000 / sparse; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const float logarithm = static_cast<float>(static_cast<std::int32_t>(seed)) * 0x1p-31f * 80.0f;
    seed = seed * 1664525u + 1013904223u;
    x.push_back(std::exp(static_cast<float>(static_cast<std::int32_t>(seed)) * 0x1p-31f * 20.0f));
    y.push_back(logarithm / std::log(x.back()));
  }
  std::vector<float> z(x.size());
  levada::run_lanes([](auto a, auto b) { return pow(a, b); }, 0, x.size(), std::tuple(z.data()), x.data(), y.data());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
    if (std::isfinite(static_cast<float>(exact))) worst = std::max(worst, std::fabs(z[i] - exact) / unit_at(exact));
  }
  MESSAGE("largest error ", worst, " ulp");
  CHECK(worst <= 1.25);
}

TEST_CASE("zeros, infinities and NaN") {
  const auto is = [](float a, float b) {
    return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  };
  const std::vector<float> corners{0.0f,  -0.0f, 1.0f,  -1.0f,  0.5f,        -0.5f, 2.0f, -2.0f,        3.0f,
                                   -3.0f, 2.5f,  1e30f, -1e30f, 16777216.0f, inf,   -inf, not_a_number, 0x1p-149f};
  auto same = [&](const auto& f, auto reference) {
    const std::vector<float> y = applied(f, corners);
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const float expected = static_cast<float>(reference(static_cast<double>(corners[i])));
      if (std::isfinite(expected) && expected != 0) continue;  // measured above
      CAPTURE(corners[i]);
      CAPTURE(y[i]);
      CHECK(is(y[i], expected));
    }
  };
  same([](auto x) { return exp(x); }, [](double x) { return std::exp(x); });
  same([](auto x) { return log(x); }, [](double x) { return std::log(x); });
  same([](auto x) { return tanh(x); }, [](double x) { return std::tanh(x); });
  same([](auto x) { return erf(x); }, [](double x) { return std::erf(x); });
  same([](auto x) { return sin(x); }, [](double x) { return std::fabs(x) > 1e5 ? NAN : std::sin(x); });
  same([](auto x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); });
  for (float y : {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, 3.0f, -3.0f, 0.5f, -0.5f, 1e10f, inf, -inf, not_a_number}) {
    CAPTURE(y);
    same([y](auto x) { return pow(x, y); }, [y](double x) { return std::pow(x, static_cast<double>(y)); });
  }
  CHECK(applied([](auto x) { return pow(x, 0.0f); }, {not_a_number})[0] == 1.0f);
  CHECK(applied([](auto x) { return pow(1.0f, x); }, {not_a_number})[0] == 1.0f);
  CHECK(applied([](auto x) { return pow(-1.0f, x); }, {inf})[0] == 1.0f);
}
