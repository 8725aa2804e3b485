// SPDX-License-Identifier: Apache-2.0
// What kernels take, measured by levada::profile. What is not among the kernels is estimated by the rooflines.
#pragma once

#include <levada/plan/cost_table.hpp>

// clang-format off
inline constexpr levada::kernel_cost demo_costs_kernels[] = {
    {"callable", "label(float[10]) -> 4 bytes", 5.142e-09, 1.526e-13},
    {"reference", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 7.229e-05, 1.345e-06},
    {"reference", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 0.0005069, 8.965e-07},
    {"reference", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.871e-06, 1.016e-09},
    {"reference", "flatten(float[16x4x4]) -> float[256]", 1.353e-09, 3.815e-14},
    {"reference", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 6.58e-07, 9.332e-09},
    {"reference", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 1.241e-06, 3.513e-08},
    {"reference", "relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.313e-07, 2.191e-09},
    {"reference", "relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 4.527e-07, 1.342e-08},
    {"reference", "softmax(float[10]) -> float[10], 40 FLOP", 3.464e-08, 1.221e-12},
    {"reference", "transform normalise fdb542d2d87dfe63(uint8[1x28x28]) -> float[1x28x28], 784 FLOP", 1.042e-07, 1.858e-10},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 3.238e-06, 3.594e-09},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 3.253e-06, 2.43e-09},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 3.522e-06, 7.359e-09},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 1.039e-05, 1.156e-08},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.035e-05, 1.409e-08},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 7.775e-06, 4.375e-09},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 7.78e-06, 1.375e-08},
    {"simd", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 5.969e-08, 6.396e-11},
    {"simd", "flatten(float[16x4x4]) -> float[256]", 1.353e-09, 7.248e-14},
    {"simd", "flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 5.967e-08, 2.202e-10},
    {"simd", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 1.226e-06, 1.447e-08},
    {"simd", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 2.09e-06, 1.495e-08},
    {"simd", "relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.173e-07, 3.017e-09},
    {"simd", "relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 4.438e-07, 1.395e-08},
    {"simd", "softmax(float[10]) -> float[10], 40 FLOP", 2.129e-08, 1.16e-11},
    {"simd", "transform normalise fdb542d2d87dfe63(uint8[1x28x28]) -> float[1x28x28], 784 FLOP", 8.067e-08, 8.569e-11},
};
inline constexpr levada::roofline demo_costs_rooflines[] = {
    {"reference", 1.168e+11, 2.131e+10, 0},
    {"simd", 1.168e+11, 2.131e+10, 0},
};
inline constexpr levada::cost_table demo_costs{.machine = "2 processors of AMD EPYC, AVX-512, g++ 12.2.0", .kernels = demo_costs_kernels, .rooflines = demo_costs_rooflines};
