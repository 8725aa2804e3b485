// SPDX-License-Identifier: Apache-2.0
// A program whose kernels are compiled for several instruction sets (levada_add_kernels with ISA): float, integers and
// bfloat16 beside `reference`, which its own flags compile. It prints the set that it took; 1: a result differs;
// 3: the processor has none of the sets, which it says. With a file it takes its packed weights from there, and 1 is
// also that they are not those; `pack` before that writes the file.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>

#include <levada/backend/reference/ops.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/interop/packed_weights.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace lv = levada;

#if LEVADA_TEST_FACTS
// What facts.cpp says of kernels, compiled by the flags of the least and of the most set.
extern "C" const std::size_t facts_of_least[6 * 8 * 3], facts_of_most[6 * 8 * 3];
#endif

namespace {

using picture = lv::tensor<float, 4, 12, 18>;
using box = lv::target<lv::cpu<2>>;
using naive = lv::backends<lv::reference>;

/// Eighths, of which sums of some hundred products are exact.
template <class T>
T numbers(int step, float largest = 1) {
  T made;
  for (std::size_t i = 0; i < T::elements; ++i)
    made[i] = static_cast<float>((static_cast<int>(i) * step) % 17 - 8) / 8.0f * largest;
  return made;
}

lv::parameter_map parameters() {
  lv::parameter_map weights;
  weights.set("conv.weight", numbers<lv::tensor<float, 16, 4, 3, 3>>(7));
  weights.set("conv.bias", numbers<lv::tensor<float, 16>>(3));
  weights.set("inner.weight", numbers<lv::tensor<float, 16, 16, 1, 1>>(5));
  weights.set("inner.bias", numbers<lv::tensor<float, 16>>(2));
  weights.set("head.weight", numbers<lv::tensor<float, 10, 864>>(9, 0x1p-7f));
  weights.set("head.bias", numbers<lv::tensor<float, 10>>(4));
  return weights;
}

template <class Weights>
auto floats(const Weights& weights) {
  return lv::input<picture> | lv::nn::conv2d<"conv", 16, lv::size<3>, lv::padding<1>>(weights) | lv::nn::relu |
         lv::nn::max_pool2d<2> | lv::residual(lv::nn::conv2d<"inner", 16, lv::size<1>>(weights)) | lv::nn::flatten |
         lv::nn::dense<"head", 10>(weights) | lv::nn::softmax;
}
template <lv::fixed_string Name, class Op, class Weights>
auto stage_of(const Op& op, const Weights& weights) {
  return lv::op_stage<Name, Op>{op, lv::parameter_source_ref(weights)};
}
/// The lambda is compiled where it is, by the program's flags.
template <class Weights>
auto integers(const Weights& weights) {
  using conv = lv::qlinear_conv2d_op<16, std::uint8_t, float, lv::size<3>, lv::padding<1>>;
  using inner = lv::qlinear_conv2d_op<16, std::uint8_t, float, lv::size<1>>;
  using dense = lv::qlinear_dense_op<10, float, float>;
  return lv::input<picture> | lv::transform<"scale">([](auto x) { return x * 0.5f; }) |
         lv::nn::quantize_linear<std::uint8_t>({0.01f, 128}) |
         stage_of<"conv">(conv{{}, {.x = {0.01f, 128}, .y = {0.05f, 3}, .relu = true}}, weights) |
         lv::nn::max_pool2d<2> | stage_of<"inner">(inner{{}, {.x = {0.05f, 3}, .y = {0.05f, 3}}}, weights) |
         lv::nn::flatten | stage_of<"head">(dense{{.x = {0.05f, 3}}}, weights);
}
#if LEVADA_TEST_BFLOAT16
auto bfloat16s(const lv::parameter_map& weights) {
  using conv = lv::bfloat16_conv2d_op<16, float, lv::size<3>, lv::padding<1>>;
  return lv::input<picture> | stage_of<"conv">(conv{}, weights);
}
#endif

/// Whether both give the same within a tolerance; 0: the same bits.
template <class App, class Naive>
bool agree(const char* name, App& app, Naive& expected, double tolerance) {
  double largest = 0;
  for (int step = 1; step < 4; ++step) {
    const auto item = std::make_unique<picture>(numbers<picture>(step));
    const auto a = std::make_unique<std::remove_cvref_t<decltype(app(*item))>>(app(*item));
    const auto b = std::make_unique<std::remove_cvref_t<decltype(app(*item))>>(expected(*item));
    for (std::size_t i = 0; i < a->elements; ++i)
      largest = std::fmax(largest, std::fabs(static_cast<double>((*a)[i]) - static_cast<double>((*b)[i])));
  }
  std::printf("%s: the largest difference is %g\n", name, largest);
  return largest <= tolerance;
}

/// A plan is made by a unit that may not use the sets, and has to know them as their own units do.
bool facts_agree() {
#if LEVADA_TEST_FACTS
  for (std::size_t i = 0; i < std::size(facts_of_least); ++i)
    if (facts_of_least[i] != facts_of_most[i]) {
      std::printf("fact %zu of a kernel is %zu and %zu\n", i, facts_of_least[i], facts_of_most[i]);
      return false;
    }
#endif
  return true;
}

/// The packed weights of a file are those of this program on this processor.
bool are_packed(int count, char** arguments, const lv::parameter_map& weights) {
  if (count < 2) return true;
  const lv::packed_weights packed(weights, arguments[count - 1]);
  auto app = lv::deploy<box>(floats(packed));
  auto exact = lv::deploy<box>(integers(packed));
  std::printf("packed again: %zu\n", packed.packed_again());
  if (count > 2) packed.save();
  auto expected = lv::deploy<box>(floats(weights));
  auto expected_exact = lv::deploy<box>(integers(weights));
  const bool same = agree("packed float", app, expected, 0);
  return agree("packed integers", exact, expected_exact, 0) && same && (packed.packed_again() == 0) == (count == 2);
}

}  // namespace

int main(int count, char** arguments) try {
  const lv::parameter_map weights = parameters();
  auto app = lv::deploy<box>(floats(weights));
  auto exact = lv::deploy<box>(integers(weights));
  std::printf("instruction set: %s\n", std::string(lv::simd::instruction_set()).c_str());
  auto naive_app = lv::deploy<box, naive>(floats(weights));
  auto naive_exact = lv::deploy<box, naive>(integers(weights));
  bool same = agree("float", app, naive_app, 1e-5);
  same = agree("integers", exact, naive_exact, 0) && same;
#if LEVADA_TEST_BFLOAT16
  auto rounded = lv::deploy<box>(bfloat16s(weights));
  auto naive_rounded = lv::deploy<box, naive>(bfloat16s(weights));
  same = agree("bfloat16", rounded, naive_rounded, 0) && same;
#endif
  same = are_packed(count, arguments, weights) && same;
  return facts_agree() && same ? 0 : 1;
} catch (const lv::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 3;
}
