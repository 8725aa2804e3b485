// SPDX-License-Identifier: Apache-2.0
#pragma once
// The vector architectures that this program may use, widest first, and a kernel run by each and by the interpreter.

#include <array>
#include <bit>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <levada/kernel.hpp>
#include <levada/kernel/detail/simd_machine.hpp>

namespace kernel_test {

using words = std::vector<std::uint32_t>;

template <class F>
void for_each_architecture(F f) {
  f.template operator()<xsimd::default_arch>();
#if XSIMD_WITH_AVX2
  f.template operator()<xsimd::avx2>();
#endif
#if XSIMD_WITH_AVX
  f.template operator()<xsimd::avx>();
#endif
#if XSIMD_WITH_SSE2
  f.template operator()<xsimd::sse2>();
#endif
}

/// The words of the only output.
inline words interpreted(levada::ir::program_view kernel, const std::vector<words>& inputs,
                         std::span<const std::byte> uniforms = {}) {
  words out(inputs[0].size());
  std::vector<const std::uint32_t*> in;
  for (const words& input : inputs) in.push_back(input.data());
  std::uint32_t* const outputs[] = {out.data()};
  levada::interpret(kernel, out.size(), in, outputs, uniforms);
  return out;
}

template <class Arch, class Out, class... In, class F>
words by_lanes(const F& f, const std::vector<words>& inputs) {
  words out(inputs[0].size());
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    levada::run_lanes<Arch>(f, 0, out.size(), std::tuple(reinterpret_cast<Out*>(out.data())),
                            reinterpret_cast<const In*>(inputs[I].data())...);
  }(std::index_sequence_for<In...>{});
  return out;
}

template <class T>
words words_of(const std::vector<T>& values) {
  words result;
  for (T value : values) result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}

inline bool is_nan_word(std::uint32_t word) { return (word & 0x7fffffffu) > 0x7f800000u; }

/// The first place where the words differ, or -1; of floats all NaN are one.
inline long first_difference(const words& a, const words& b, bool floats) {
  if (a.size() != b.size()) return 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && !(floats && is_nan_word(a[i]) && is_nan_word(b[i]))) return static_cast<long>(i);
  return -1;
}

/// Every architecture gives the interpreter's bits.
template <class Out, class... In, class F>
void check_all_agree(const F& f, const std::vector<words>& inputs, std::span<const std::byte> uniforms = {}) {
  const words expected = interpreted(levada::program_of<F, In...>, inputs, uniforms);
  for_each_architecture([&]<class Arch> {
    CAPTURE(std::string(Arch::name()));
    const words got = by_lanes<Arch, Out, In...>(f, inputs);
    const long at = first_difference(got, expected, std::is_same_v<Out, float>);
    if (at >= 0) {
      const auto place = static_cast<std::size_t>(at);
      for (const words& input : inputs) MESSAGE("input ", input[place]);
      MESSAGE("got ", got[place], ", expected ", expected[place]);
    }
    CHECK(at == -1);
  });
}

/// Words that cover all kinds of floats and integers, always the same.
inline words mixed_words(std::size_t count, std::uint32_t seed) {
  const float corners[] = {
      0.0f,       -0.0f,     1.0f,     -1.0f,     0.5f,       2.5f,      -2.5f,           0x1p-126f,
      -0x1p-149f, 0x1p23f,   -0x1p31f, 0x1p31f,   0x1p32f,    0x1.8p31f, 0x1.fffffep127f, -0x1.fffffep127f,
      INFINITY,   -INFINITY, NAN,      0x1.fp22f, -0x1.8p22f, 3.14159f,  100.0f,          -0.1f};
  words result;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const std::uint32_t r = seed ^ (seed >> 15);
    const float small = (static_cast<float>(r >> 8) * 0x1p-24f - 0.5f) * static_cast<float>(1 << (r % 12));
    if (i % 4 == 0)
      result.push_back(std::bit_cast<std::uint32_t>(corners[(r >> 3) % std::size(corners)]));
    else if (i % 4 == 1)
      result.push_back(r % 64 - 32);  // a small integer
    else if (i % 4 == 2)
      result.push_back(std::bit_cast<std::uint32_t>(small));
    else
      result.push_back(r * 2654435761u);
  }
  return result;
}

}  // namespace kernel_test
