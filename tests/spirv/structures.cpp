// SPDX-License-Identifier: Apache-2.0
// Loops, branches, shared arrays, barriers and narrow elements on a Vulkan device: the bits of the interpreter.

#include <levada/backend/spirv.hpp>
#include <levada/backend/spirv/detail/kernel_stage.hpp>

#include "device.hpp"
#include "direct.hpp"

namespace spirv_structures {

using namespace spirv_test;

template <class Kernel>
void as_interpreted(const Kernel& kernel) {
  using in_t = std::tuple_element_t<0, typename Kernel::inputs>;
  using out_t = std::tuple_element_t<0, typename Kernel::outputs>;
  const auto app = lv::deploy<box>(lv::input<in_t> | there(lv::kernel_stage(kernel)));
  const auto items = random_items<in_t>(20);
  const auto expected = std::make_unique<out_t>();
  check_stream(app, items, [&](const in_t& item) -> const out_t& {
    const std::byte* const from[] = {reinterpret_cast<const std::byte*>(item.data())};
    std::byte* const to[] = {reinterpret_cast<std::byte*>(expected->data())};
    lv::interpret(kernel, from, to);
    return *expected;
  });
}

TEST_CASE("a matrix squared through shared arrays and barriers, where the grid fills no workgroup at its ends") {
  LEVADA_NEEDS_DEVICE();
  static constexpr int size = 37, tile = 8;
  using matrix = lv::tensor<float, size, size>;
  as_interpreted(lv::grid_kernel<"square", matrix, matrix>(
      lv::grid<size, size, 1, lv::workgroup<tile, tile>>{}, [](auto g, auto in, auto out) {
        auto left = g.template shared<float, tile * tile>();
        auto right = g.template shared<float, tile * tile>();
        auto lx = g.local_x(), ly = g.local_y(), x = g.x(), y = g.y();
        auto sum = g.fold(0, (size + tile - 1) / tile, 0.0f, [&](auto t, auto s) {
          left[ly * tile + lx] = in.padded(y, t * tile + lx);
          right[ly * tile + lx] = in.padded(t * tile + ly, x);
          g.barrier();
          for (int k = 0; k < tile; ++k) s += left(ly * tile + k) * right(k * tile + lx);
          g.barrier();
          return s;
        });
        out(y, x) = sum;
      }));
}

TEST_CASE("branches and loops in which invocations part") {
  LEVADA_NEEDS_DEVICE();
  using numbers = lv::tensor<std::int32_t, 301>;
  as_interpreted(lv::grid_kernel<"collatz", numbers, numbers>(lv::grid<301>{}, [](auto g, auto in, auto out) {
    auto x = g.x();
    auto n = g.var((in(x)&0xfff) + 1);
    auto steps = g.fold(0, (in(x) >> 8) & 63, 0, [&](auto i, auto s) {
      g.when((n.get() & 1) == 0, [&] { n = n.get() >> 1; },
             [&] { g.when(n.get() != 1, [&] { n = n.get() * 3 + i % 3; }); });
      return select(n.get() != 1, s + 1, s);
    });
    g.when(
        steps > 20, [&] { out(x) = -steps; }, [&] { out(x) = n.get(); });
  }));
}

TEST_CASE("bytes and halves are written beside each other") {
  LEVADA_NEEDS_DEVICE();
  using bytes = lv::tensor<std::uint8_t, 5, 67>;
  as_interpreted(lv::grid_kernel<"mirror", bytes, bytes>(
      lv::grid<67, 5>{}, [](auto g, auto in, auto out) { out(g.y(), g.x()) = 255 - in(g.y(), 66 - g.x()); }));
  using numbers = lv::tensor<float, 129>;
  using halves = lv::tensor<lv::half, 129>;
  as_interpreted(lv::grid_kernel<"narrow", numbers, halves>(
      lv::grid<129>{}, [](auto g, auto in, auto out) { out(g.x()) = in(g.x()) * 0.37f; }));
  using words = lv::tensor<std::uint16_t, 129>;
  as_interpreted(lv::grid_kernel<"widen", words, numbers>(
      lv::grid<129>{}, [](auto g, auto in, auto out) { out(g.x()) = to_float(in(128 - g.x())) * 0.5f; }));
}

TEST_CASE("a fold whose states change places, and a softmax of each row") {
  LEVADA_NEEDS_DEVICE();
  using table = lv::tensor<float, 19, 33>;
  as_interpreted(lv::grid_kernel<"turn", table, table>(
      lv::grid<33, 19>{}, [shift = lv::uniform{0.25f}](auto g, auto in, auto out) {
        auto [a, b] = g.fold(0, g.y() + 1, std::pair{in(g.y(), g.x()), g.value(shift)}, [&](auto i, auto s) {
          return std::pair{s.second * 0.5f + to_float(i), s.first - shift};
        });
        out(g.y(), g.x()) = a - b;
      }));
  if (division_error() > 0) {
    MESSAGE("not tested: the bits of quotients, which this device does not round");
    return;
  }
  as_interpreted(lv::grid_kernel<"softmax", table, table>(lv::grid<19>{}, [](auto g, auto in, auto out) {
    auto row = g.x();
    auto largest = g.fold(1, 33, in(row, 0), [&](auto i, auto l) { return max(in(row, i), l); });
    auto sum = g.fold(0, 33, 0.0f, [&](auto i, auto s) { return s + exp(in(row, i) - largest); });
    auto scale = g.value(1.0f) / sum;
    g.loop(0, 33, [&](auto i) { out(row, i) = exp(in(row, i) - largest) * scale; });
  }));
}

}  // namespace spirv_structures
