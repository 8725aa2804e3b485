// SPDX-License-Identifier: Apache-2.0
#pragma once
// A grid kernel run by the interpreter and by vectors of all widths, and its module and text validated.

#include <levada/kernel/detail/grid_kernel.hpp>
#include <levada/kernel/detail/grid_xsimd.hpp>
#include <levada/kernel/detail/text_grid.hpp>

#include "kernel/architectures.hpp"
#include "kernel/validators.hpp"

namespace kernel_test {

/// The tensors of a kernel, on the heap.
template <class Tensors>
struct memory {
  std::unique_ptr<Tensors> tensors = std::make_unique<Tensors>();

  auto pointers() const {
    return std::apply(
        [](auto&... t) { return std::array<std::byte*, sizeof...(t)>{reinterpret_cast<std::byte*>(t.data())...}; },
        *tensors);
  }
  auto const_pointers() const {
    return std::apply(
        [](auto&... t) {
          return std::array<const std::byte*, sizeof...(t)>{reinterpret_cast<std::byte*>(t.data())...};
        },
        *tensors);
  }
  template <std::size_t I = 0>
  auto& get() const {
    return std::get<I>(*tensors);
  }
};

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (a != a && b != b);
  else if constexpr (std::is_same_v<T, levada::half>)
    return a.bits == b.bits || (float(a) != float(a) && float(b) != float(b));
  else
    return a == b;
}

/// No tensor differs in a bit; all NaN are one.
template <class Tensors>
void check_same(const memory<Tensors>& got, const memory<Tensors>& expected) {
  std::apply(
      [&](const auto&... g) {
        std::apply(
            [&](const auto&... e) {
              auto one = [](const auto& a, const auto& b) {
                std::size_t wrong = 0, first = 0;
                for (std::size_t i = a.size(); i-- > 0;)
                  if (!same(a[i], b[i])) ++wrong, first = i;
                CAPTURE(first);
                if (wrong > 0)
                  MESSAGE("got ", static_cast<float>(a[first]), ", expected ", static_cast<float>(b[first]));
                CHECK(wrong == 0);
              };
              (one(g, e), ...);
            },
            *expected.tensors);
      },
      *got.tensors);
}

/// The kernel's module and text are valid, and made while compiling as at run time.
template <class Kernel>
void check_lowerings(const Kernel& kernel) {
  static const bool has_spirv_val = is_installed("spirv-val"), has_glslang = is_installed("glslangValidator");
  constexpr auto& module = Kernel::module();
  CHECK(std::ranges::equal(levada::assemble_grid(kernel.program()), module));
  if (has_spirv_val) CHECK(is_valid_spirv(module));
  if (has_glslang) CHECK(is_valid_glsl(levada::glsl_text(kernel.program())));
}

/// What the interpreter gives, once the vectors have given the same.
template <class Kernel>
memory<typename Kernel::outputs> checked(const Kernel& kernel, const memory<typename Kernel::inputs>& in) {
  using outputs = memory<typename Kernel::outputs>;
  outputs expected;
  levada::interpret(kernel, in.const_pointers(), expected.pointers());
  check_lowerings(kernel);
  constexpr levada::ir::grid_program_view program = Kernel::program();
  if constexpr (!program.has_barrier() && program.shared.empty()) {
    using grid = typename Kernel::grid_type;
    constexpr std::uint32_t width = grid::info.extents[0], rows = grid::info.extents[1] * grid::info.extents[2];
    auto by = [&]<class Machine>(const char* name) {
      if constexpr (Machine::lanes <= width) {
        CAPTURE(std::string(name));
        outputs got;
        levada::kernel_detail::run_rows<grid, typename Kernel::inputs, typename Kernel::outputs, Machine>(
            kernel.function, in.const_pointers().data(), got.pointers().data(), 0, rows);
        check_same(got, expected);
      }
    };
    by.template operator()<levada::scalar_machine>("alone");
    by.template operator()<levada::simd_machine<xsimd::default_arch>>(xsimd::default_arch::name());
#if XSIMD_WITH_SSE2
    by.template operator()<levada::simd_machine<xsimd::sse2>>("sse2");
#endif
  }
  outputs got;
  levada::run_on_cpu(kernel, in.const_pointers().data(), got.pointers().data());
  check_same(got, expected);
  return expected;
}

/// Floats with NaN, infinities and denormals among them where `corners`, else between -2 and 2; other types their bits.
template <levada::any_tensor Tensor>
void fill(Tensor& t, std::uint32_t seed, bool corners = false) {
  using T = typename Tensor::value_type;
  const words bits = mixed_words(t.size(), seed);
  for (std::size_t i = 0; i < t.size(); ++i) {
    const float small = static_cast<float>((bits[i] * 2654435761u) >> 10) * 0x1p-20f - 2.0f;
    if constexpr (std::is_same_v<T, float>)
      t[i] = corners ? std::bit_cast<float>(bits[i]) : small;
    else if constexpr (std::is_same_v<T, levada::half>)
      t[i] = corners ? levada::half::from_bits(static_cast<std::uint16_t>(bits[i])) : levada::half(small);
    else
      t[i] = static_cast<T>(corners ? bits[i] : (bits[i] * 2654435761u) >> 12);
  }
}
template <class Tensors>
void fill(const memory<Tensors>& all, std::uint32_t seed, bool corners = false) {
  std::apply([&](auto&... t) { (fill(t, seed++, corners), ...); }, *all.tensors);
}

}  // namespace kernel_test
