// SPDX-License-Identifier: Apache-2.0
// The lowerings to SIMD give the bits of the interpreter, whose instructions are checked against C++ itself in
// meaning.cpp.

#include "kernel/architectures.hpp"
#include "kernel/random_kernel.hpp"

namespace lv = levada;
using namespace kernel_test;

template <auto F, class Out>
void check_random() {
  const std::vector<words> inputs{mixed_words(1003, 1), mixed_words(1003, 2), mixed_words(1003, 3),
                                  mixed_words(1003, 4)};
  using lambda = std::remove_const_t<decltype(F)>;
  check_all_agree<Out, float, float, std::int32_t, std::int32_t>(lambda{}, inputs);
}

TEST_CASE("random expressions of floats have the same bits on every architecture") {
  [&]<std::size_t... Seed>(std::index_sequence<Seed...>) {
    (check_random<random_floats<1000 + Seed, 4>, float>(), ...);
  }(std::make_index_sequence<8>{});
}

TEST_CASE("random expressions of integers have the same bits on every architecture") {
  [&]<std::size_t... Seed>(std::index_sequence<Seed...>) {
    (check_random<random_ints<2000 + Seed, 4>, std::int32_t>(), ...);
  }(std::make_index_sequence<8>{});
}

TEST_CASE("the functions have the same bits on every architecture") {
  const std::vector<words> one{mixed_words(4001, 5)};
  const std::vector<words> two{mixed_words(4001, 5), mixed_words(4001, 6)};
  check_all_agree<float, float>([](auto x) { return exp(x); }, one);
  check_all_agree<float, float>([](auto x) { return log(x); }, one);
  check_all_agree<float, float>([](auto x) { return tanh(x); }, one);
  check_all_agree<float, float>([](auto x) { return sigmoid(x); }, one);
  check_all_agree<float, float>([](auto x) { return erf(x); }, one);
  check_all_agree<float, float>([](auto x) { return sin(x); }, one);
  check_all_agree<float, float>([](auto x) { return cos(x); }, one);
  check_all_agree<float, float, float>([](auto x, auto y) { return pow(x, y); }, two);
}

TEST_CASE("any range of elements is computed, and nothing beside it") {
  const auto f = [](auto x, auto y) { return x * 2.0f + y; };
  for_each_architecture([&]<class Arch> {
    std::vector<float> x(80), y(80);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i), y[i] = 0.5f;
    for (std::size_t first = 0; first < 36; ++first)
      for (std::size_t last = first; last < 70; ++last) {
        std::vector<float> out(80, -1.0f);
        lv::run_lanes<Arch>(f, first, last, std::tuple(out.data()), x.data(), y.data());
        bool right = true;
        for (std::size_t i = 0; i < out.size(); ++i)
          right = right && out[i] == (i >= first && i < last ? 2.0f * x[i] + 0.5f : -1.0f);
        REQUIRE(right);
      }
  });
}

TEST_CASE("an output may be the array of an input") {
  std::vector<float> x(53, 3.0f);
  lv::run_lanes([](auto v) { return v * v; }, 0, x.size(), std::tuple(x.data()), x.data());
  CHECK(x == std::vector<float>(53, 9.0f));
}

TEST_CASE("a kernel may have several outputs of different types, numbers among them") {
  const auto f = [](auto a, auto n) { return std::tuple(a * 2.0f, n + to_int(a), 7.0f); };
  std::vector<float> a(19), doubled(19), sevens(19);
  std::vector<std::int32_t> n(19), sums(19);
  for (int i = 0; i < 19; ++i)
    a[static_cast<std::size_t>(i)] = static_cast<float>(i) + 0.25f, n[static_cast<std::size_t>(i)] = 100 * i;
  lv::run_lanes(f, 0, 19, std::tuple(doubled.data(), sums.data(), sevens.data()), a.data(), n.data());
  for (std::size_t i = 0; i < 19; ++i) {
    CHECK(doubled[i] == 2.0f * a[i]);
    CHECK(sums[i] == 101 * static_cast<int>(i));
    CHECK(sevens[i] == 7.0f);
  }
  const auto& kernel = lv::program_of<decltype(f), float, std::int32_t>;
  const words in[] = {words_of(a), words_of(n)};
  words out[] = {words(19), words(19), words(19)};
  const std::uint32_t* const inputs[] = {in[0].data(), in[1].data()};
  std::uint32_t* const outputs[] = {out[0].data(), out[1].data(), out[2].data()};
  lv::interpret(kernel, 19, inputs, outputs);
  CHECK(out[0] == words_of(doubled));
  CHECK(out[1] == words_of(sums));
  CHECK(out[2] == words_of(sevens));
}

TEST_CASE("captured uniforms are read when the kernel runs") {
  for (float gain : {0.5f, -3.0f}) {
    const auto f = [gain = lv::uniform{gain}, shift = lv::uniform{3}](auto x) {
      return x * gain + to_float(to_int(x) << shift);
    };
    const auto bytes = std::as_bytes(std::span(&f, 1));
    check_all_agree<float, float>(f, {mixed_words(333, 9)}, bytes);
    const words out = interpreted(lv::program_of<decltype(f), float>, {words_of(std::vector<float>{2.5f})}, bytes);
    CHECK(std::bit_cast<float>(out[0]) == 2.5f * gain + 16.0f);
  }
}

TEST_CASE("the interpreter refuses other buffers than the kernel has") {
  const auto f = [](auto x) { return x + 1.0f; };
  CHECK_THROWS_WITH_AS(lv::interpret(lv::program_of<decltype(f), float>, 0, {}, {}),
                       "interpret: a kernel was given other inputs, outputs or uniforms than it was traced with",
                       lv::error);
}
