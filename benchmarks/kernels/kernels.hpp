// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernels that are compared, as one writes them in the kernel language. Each has its twin in GLSL beside it.

#include <tuple>

#include <levada/kernel/detail/composed.hpp>
#include <levada/kernel/detail/grid_kernel.hpp>

namespace kernels {

namespace lv = levada;

// ---- element-wise ----

inline constexpr std::size_t elements = 4u << 20;  // 16 MiB of float

inline constexpr auto transform = [mean = lv::uniform{0.25f}, scale = lv::uniform{1.5f}](auto x) {
  return clamp((x - mean) * scale, -1.0f, 1.0f);
};

/// Six stages, and what a pipeline makes of them.
inline constexpr auto shift = [by = lv::uniform{0.5f}](auto x) { return x + by; };
inline constexpr auto stretch = [by = lv::uniform{1.25f}](auto x) { return x * by; };
inline constexpr auto floor_at = [least = lv::uniform{-0.75f}](auto x) { return max(x, least); };
inline constexpr auto shift_back = [by = lv::uniform{-0.125f}](auto x) { return x + by; };
inline constexpr auto shrink = [by = lv::uniform{0.875f}](auto x) { return x * by; };
inline constexpr auto floor_higher = [least = lv::uniform{-0.5f}](auto x) { return max(x, least); };
inline constexpr auto chain = lv::compose(shift, stretch, floor_at, shift_back, shrink, floor_higher);

/// The same with numbers instead of captures, which a device need not load.
inline constexpr auto chain_of_numbers = lv::compose(
    [](auto x) { return x + 0.5f; }, [](auto x) { return x * 1.25f; }, [](auto x) { return max(x, -0.75f); },
    [](auto x) { return x + -0.125f; }, [](auto x) { return x * 0.875f; }, [](auto x) { return max(x, -0.5f); });

inline constexpr auto copy = [](auto x) { return x; };

// ---- with loops and memory ----

/// A 3x3 convolution of 16 channels to 32, without padding, and relu.
inline constexpr int channels = 16, filters = 32, side = 64, valid = side - 2;
using picture = lv::tensor<float, channels, side, side>;
using weight = lv::tensor<float, filters, channels, 3, 3>;
using bias = lv::tensor<float, filters>;
inline constexpr auto convolve = [](auto g, auto in, auto w, auto b, auto out) {
  auto x = g.x(), y = g.y(), co = g.z();
  auto acc = g.fold(0, channels, b[co], [&](auto ci, auto s) {
    for (int ky = 0; ky < 3; ++ky)
      for (int kx = 0; kx < 3; ++kx) s += in(ci, y + ky, x + kx) * w(co, ci, ky, kx);
    return s;
  });
  out(co, y, x) = max(acc, 0.0f);
};
inline constexpr auto conv =
    lv::grid_kernel<"conv", std::tuple<picture, weight, bias>, lv::tensor<float, filters, valid, valid>>(
        lv::grid<valid, valid, filters>{}, convolve);

/// The same with zeros around the picture.
inline constexpr auto convolve_padded = [](auto g, auto in, auto w, auto b, auto out) {
  auto x = g.x(), y = g.y(), co = g.z();
  auto acc = g.fold(0, channels, b[co], [&](auto ci, auto s) {
    for (int ky = 0; ky < 3; ++ky)
      for (int kx = 0; kx < 3; ++kx) s += in.padded(ci, y + (ky - 1), x + (kx - 1)) * w(co, ci, ky, kx);
    return s;
  });
  out(co, y, x) = max(acc, 0.0f);
};
inline constexpr auto conv_padded =
    lv::grid_kernel<"conv_padded", std::tuple<picture, weight, bias>, lv::tensor<float, filters, side, side>>(
        lv::grid<side, side, filters>{}, convolve_padded);

/// Tiles of 32 by 32 through shared memory, 4 by 4 results in registers of each of the 64 invocations of a workgroup.
inline constexpr int size = 256, tile = 32, step = 16, block = 4, across = tile / block;
using matrix = lv::tensor<float, size, size>;
inline constexpr auto multiply = [](auto g, auto a, auto b, auto out) {
  auto left = g.template shared<float, tile * step>();
  auto right = g.template shared<float, step * tile>();
  auto lx = g.local_x(), ly = g.local_y();
  auto row = g.group_y() * tile, column = g.group_x() * tile;
  auto local = ly * across + lx;
  using value = decltype(g.value(0.0f));
  std::array<value, block * block> zeros{};
  for (auto& z : zeros) z = g.value(0.0f);
  auto sums = g.fold(0, size / step, zeros, [&](auto k, auto s) {
    for (int i = 0; i < tile * step / (across * across); ++i) {
      auto at = local + i * (across * across);
      left[at] = a(row + at / step, k * step + at % step);
      right[at] = b(k * step + at / tile, column + at % tile);
    }
    g.barrier();
    auto after = g.fold(0, step, s, [&](auto kk, auto t) {
      std::array<value, block> l{}, r{};
      for (auto& v : l) v = left((ly * block + static_cast<int>(&v - l.data())) * step + kk);
      for (auto& v : r) v = right(kk * tile + lx * block + static_cast<int>(&v - r.data()));
      for (std::size_t i = 0; i < block; ++i)
        for (std::size_t j = 0; j < block; ++j) t[i * block + j] += l[i] * r[j];
      return t;
    });
    g.barrier();
    return after;
  });
  for (int i = 0; i < block; ++i)
    for (int j = 0; j < block; ++j)
      out(row + ly * block + i, column + lx * block + j) = sums[static_cast<std::size_t>(i * block + j)];
};
inline constexpr auto matmul = lv::grid_kernel<"matmul", std::tuple<matrix, matrix>, matrix>(
    lv::grid<size / block, size / block, 1, lv::workgroup<across, across>>{}, multiply);

/// The largest of 3x3, every second column and row.
inline constexpr int planes = 64, height = 129, halved = 64;
inline constexpr auto take_largest = [](auto g, auto in, auto out) {
  auto x = g.x(), y = g.y(), c = g.z();
  auto most = in(c, y * 2, x * 2);
  for (int ky = 0; ky < 3; ++ky)
    for (int kx = 0; kx < 3; ++kx)
      if (ky + kx > 0) most = max(most, in(c, y * 2 + ky, x * 2 + kx));
  out(c, y, x) = most;
};
inline constexpr auto pool =
    lv::grid_kernel<"pool", lv::tensor<float, planes, height, height>, lv::tensor<float, planes, halved, halved>>(
        lv::grid<halved, halved, planes>{}, take_largest);

/// Along the rows, one invocation for each.
inline constexpr int rows = 4096, length = 100;
using table = lv::tensor<float, rows, length>;
inline constexpr auto normalise_exponentials = [](auto g, auto in, auto out) {
  auto row = g.x();
  auto largest = g.fold(1, length, in(row, 0), [&](auto i, auto l) { return max(l, in(row, i)); });
  auto sum = g.fold(0, length, 0.0f, [&](auto i, auto s) { return s + exp(in(row, i) - largest); });
  g.loop(0, length, [&](auto i) { out(row, i) = exp(in(row, i) - largest) / sum; });
};
inline constexpr auto softmax = lv::grid_kernel<"softmax", table, table>(lv::grid<rows>{}, normalise_exponentials);

}  // namespace kernels
