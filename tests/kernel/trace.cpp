// SPDX-License-Identifier: Apache-2.0
// What tracing makes of a lambda: the instructions, shared, folded and pruned. Most of it is checked by the
// compilation.

#include <doctest/doctest.h>

#include <levada/kernel.hpp>

namespace lv = levada;
using op = lv::ir::opcode;
using type = lv::ir::scalar_type;

template <class... In, class F>
constexpr std::size_t instructions(const F&) {
  return lv::program_of<F, In...>.code.size();
}

TEST_CASE("a lambda becomes its instructions in order") {
  constexpr auto f = [](auto x, auto y) { return max(x * y, 0.5f); };
  constexpr auto& kernel = lv::program_of<decltype(f), float, float>;
  static_assert(kernel.code.size() == 5 && kernel.inputs == 2 && kernel.uniform_bytes == 0);
  static_assert(kernel.code[0] == lv::ir::instruction{op::input, type::float32, 0, 0, 0});
  static_assert(kernel.code[1] == lv::ir::instruction{op::input, type::float32, 1, 0, 0});
  static_assert(kernel.code[2] == lv::ir::instruction{op::mul, type::float32, 0, 1, 0});
  static_assert(kernel.code[3] == lv::ir::instruction{op::constant, type::float32, 0x3f000000, 0, 0});
  static_assert(kernel.code[4] == lv::ir::instruction{op::max, type::float32, 2, 3, 0});
  static_assert(kernel.outputs[0] == 4);
  CHECK(&lv::trace<float, float>(f) == &kernel);
}

TEST_CASE("equal expressions are one instruction, also with their operands exchanged") {
  static_assert(instructions<float, float>([](auto x, auto y) { return (x + y) * (y + x); }) == 4);
  static_assert(instructions<float, float>([](auto x, auto y) { return (x - y) * (y - x); }) == 5);
  static_assert(instructions<float>([](auto x) { return exp(x) + exp(x); }) ==
                instructions<float>([](auto x) { return exp(x) + 1.5f; }) - 1);
}

TEST_CASE("what no output needs is dropped, inputs are kept") {
  static_assert(instructions<float, float>([](auto x, auto y) {
                  [[maybe_unused]] const auto unused = exp(y);
                  return x + x;
                }) == 3);
}

TEST_CASE("constants are folded where every device gives the same") {
  static_assert(instructions<float>([](auto x) { return x * 1.0f; }) == 1);
  static_assert(instructions<float>([](auto x) { return x - 0.0f; }) == 1);
  static_assert(instructions<std::int32_t>([](auto x) { return x + 0; }) == 1);
  static_assert(instructions<std::int32_t>([](auto x) { return (x & 0 & 5) + 7 * (x | 0); }) > 1);
  // 8 / 4 + 1 is computed while compiling: input, constant, mul
  static_assert(instructions<float>([](auto x) {
                  auto constant = [&](float c) { return select(x == x, c, c); };
                  return x * (constant(8) / constant(4) + constant(1));
                }) == 3);
  // -0 + 0 is 0, not -0
  static_assert(instructions<float>([](auto x) { return x + 0.0f; }) == 3);
}

TEST_CASE("the constants in sums and products of integers come together at the end") {
  // x + 6, and x * 2 * 20 - 60
  static_assert(instructions<std::int32_t>([](auto x) { return 4 + (x - 1) + 3; }) == 3);
  static_assert(instructions<std::int32_t>([](auto x) { return 20 * (x * 2 - 3); }) == 7);
  // Neighbours in a picture 7 wide: one place, and each a constant further.
  static_assert(instructions<std::int32_t, std::int32_t>([](auto y, auto x) {
                  const auto at = [&](int dy, int dx) { return (y + dy) * 7 + (x + dx); };
                  return at(-1, -1) ^ at(0, -1) ^ at(1, 1);
                }) == 13);
  // A sum of floats is rounded at every step.
  static_assert(instructions<float>([](auto x) { return (x + 1.0f) + 2.0f; }) == 5);
}

TEST_CASE("what would overflow, be NaN or denormal is left to the device") {
  auto folds = [](auto f) { return instructions<float>(f) == 2; };
  auto of = [](float a, float b, auto f) {
    lv::ir::builder kernel;
    const lv::traced<float> x{{&kernel, kernel.constant(type::float32, std::bit_cast<std::uint32_t>(a))}};
    const lv::traced<float> y{{&kernel, kernel.constant(type::float32, std::bit_cast<std::uint32_t>(b))}};
    return kernel.code()[f(x, y).rep.id()].op == op::constant;
  };
  auto sum = [](auto x, auto y) { return x + y; };
  auto product = [](auto x, auto y) { return x * y; };
  auto quotient = [](auto x, auto y) { return x / y; };
  CHECK(of(1.5f, 2.5f, sum));
  CHECK_FALSE(of(3e38f, 3e38f, sum));
  CHECK_FALSE(of(INFINITY, -INFINITY, sum));
  CHECK_FALSE(of(1e-30f, 1e-30f, product));
  CHECK_FALSE(of(NAN, 2.0f, product));
  CHECK_FALSE(of(1.0f, 0.0f, quotient));
  CHECK(folds([](auto x) { return select(x == x, 2.0f, 2.0f); }));
}

TEST_CASE("a captured uniform says where in the closure it is") {
  auto f = [gain = lv::uniform{2.0f}, bias = lv::uniform{1u}](auto x) {
    return x * gain + to_float(to_uint(x) + bias);
  };
  constexpr auto& kernel = lv::program_of<decltype(f), float>;
  static_assert(kernel.uniform_bytes == 8);
  static_assert(kernel.code[1] == lv::ir::instruction{op::uniform, type::float32, 0, 0, 0});
  static_assert([] {
    for (const auto& i : kernel.code)
      if (i == lv::ir::instruction{op::uniform, type::uint32, 4, 0, 0}) return true;
    return false;
  }());
}

TEST_CASE("a loop over numbers is unrolled") {
  static_assert(instructions<float>([](auto x) {
                  auto sum = x;
                  for (int i = 1; i < 5; ++i) sum += x * static_cast<float>(i);
                  return sum;
                }) == 1 + 3 + 3 + 4);  // the input, 2 to 4, the products by them, the sums
}

TEST_CASE("the text names each instruction and output") {
  const auto f = [](auto x, auto n) { return std::tuple(select(x < 0.0f, -x, x), n << 3); };
  CHECK(lv::ir_text(lv::program_of<decltype(f), float, std::int32_t>) ==
        "%0 = input float32 0\n"
        "%1 = input int32 1\n"
        "%2 = constant float32 0.0\n"
        "%3 = less boolean %0 %2\n"
        "%4 = negate float32 %0\n"
        "%5 = select float32 %3 %4 %0\n"
        "%6 = constant int32 3\n"
        "%7 = shift_left int32 %1 %6\n"
        "output 0 = %5\n"
        "output 1 = %7\n");
}
