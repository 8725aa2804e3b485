// SPDX-License-Identifier: Apache-2.0
// The SPIR-V modules of kernels: made while compiling as at run time, and accepted by the validator of SPIRV-Tools; the
// GLSL text accepted by glslang. Where these programs are not installed, a line says so.

#include "kernel/architectures.hpp"
#include "kernel/random_kernel.hpp"
#include "kernel/validators.hpp"

namespace lv = levada;
using namespace kernel_test;

template <class F, class... In>
void check_module(const F&) {
  static constexpr auto& kernel = lv::program_of<F, In...>;
  static constexpr auto& module = lv::spirv_module<kernel>;
  static const bool has_spirv_val = is_installed("spirv-val"), has_glslang = is_installed("glslangValidator");
  CHECK(module[0] == 0x07230203u);
  CHECK(std::ranges::equal(lv::assemble_spirv(kernel), module));
  if (has_spirv_val) {
    CHECK(is_valid_spirv(module));
    CHECK(is_valid_spirv(lv::assemble_spirv(kernel, {.local_size = 64, .debug_names = true})));
    CHECK(is_valid_spirv(lv::assemble_spirv(kernel, {.one_row = true})));
    CHECK(is_valid_spirv(lv::assemble_spirv(kernel, {.one_row = true, .whole_groups = true})));
  }
  if (has_glslang) CHECK(is_valid_glsl(lv::glsl_text(kernel)));
}

TEST_CASE("every operator and function gives a valid module and GLSL text") {
  check_module<decltype([](auto x) { return x + 1.0f; }), float>({});
  check_module<decltype([](auto x, auto y) { return max(x * y, 0.0f) - min(x / y, 2.0f); }), float, float>({});
  check_module<decltype([](auto a, auto b) { return min(a / b, a % b) ^ max(a << b, a >> b); }), std::int32_t,
               std::int32_t>({});
  check_module<decltype([](auto a, auto b) { return min(a / b, a % b) ^ max(a << b, a >> b); }), std::uint32_t,
               std::uint32_t>({});
  check_module<decltype([](auto x) { return exp(x); }), float>({});
  check_module<decltype([](auto x) { return log(x); }), float>({});
  check_module<decltype([](auto x) { return tanh(x) + sigmoid(x) * erf(x); }), float>({});
  check_module<decltype([](auto x) { return sin(x) + cos(x); }), float>({});
  check_module<decltype([](auto x, auto y) { return pow(x, y); }), float, float>({});
  check_module<decltype([](auto x) {
                 return std::tuple(floor(x), ceil(x), round(x), trunc(x), sqrt(abs(x)), to_int(x), to_uint(x));
               }),
               float>({});
  check_module<decltype([](auto x) { return select(is_nan(x) | (x == INFINITY), -INFINITY, x); }), float>({});
}

TEST_CASE("inputs and outputs of all types, and outputs that are inputs or numbers") {
  check_module<decltype([](auto x, auto n, auto u) { return std::tuple(x, u, n, 7, 2.5f, to_float(n) * x); }), float,
               std::int32_t, std::uint32_t>({});
}

TEST_CASE("uniforms are members of the push constants, the number of elements behind them") {
  const auto f = [unneeded = lv::uniform{1.0f}, gain = lv::uniform{2.0f}, shift = lv::uniform{3u}](auto x) {
    [[maybe_unused]] const auto dropped = x * unneeded;
    return to_float(to_uint(x) >> shift) * gain;
  };
  check_module<decltype(f), float>(f);
}

TEST_CASE("random expressions give valid modules and GLSL text") {
  [&]<std::size_t... Seed>(std::index_sequence<Seed...>) {
    (check_module<std::remove_const_t<decltype(random_floats<1000 + Seed, 4>)>, float, float, std::int32_t,
                  std::int32_t>({}),
     ...);
    (check_module<std::remove_const_t<decltype(random_ints<2000 + Seed, 4>)>, float, float, std::int32_t, std::int32_t>(
         {}),
     ...);
  }(std::make_index_sequence<8>{});
}
