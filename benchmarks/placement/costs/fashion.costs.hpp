// What kernels take, measured by levada::profile. What is not among the kernels is estimated by the rooflines.
#pragma once

#include <levada/plan/cost_table.hpp>

// clang-format off
inline constexpr levada::kernel_cost fashion_costs_kernels[] = {
    {"callable", "label(float[10]) -> 4 bytes", 5.682e-09, 4.272e-12},
    {"eigen", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 1.236e-05, 1.194e-06},
    {"eigen", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 1.686e-05, 3.818e-07},
    {"eigen", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 4.19e-05, 6.085e-07},
    {"eigen", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 4.19e-05, 4.25e-08},
    {"eigen", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.054e-07, 9.668e-09},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 9.778e-06, 2.972e-08},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 9.728e-06, 1.496e-06},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 1.005e-05, 1.031e-08},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 2.085e-05, 4.047e-07},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 2.095e-05, 5.381e-08},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 2.11e-05, 1.796e-07},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 2.297e-05, 2.726e-06},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 1.167e-05, 1.156e-08},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.177e-05, 1.222e-08},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 1.186e-05, 9.937e-09},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 1.176e-05, 3.319e-08},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.24e-05, 4.541e-08},
    {"onednn", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 6.324e-07, 1.066e-07},
    {"onednn", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 8.3e-07, 7.214e-08},
    {"onednn", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 8.267e-07, 7.785e-09},
    {"onednn", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.412e-06, 3.364e-07},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 1.969e-06, 3.211e-09},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 1.369e-05, 2.25e-08},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.376e-05, 3.763e-08},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 1.383e-05, 1.819e-08},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 1.381e-05, 4.506e-08},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.454e-05, 2.569e-08},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 3.359e-06, 2.141e-07},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 3.188e-06, 1.781e-07},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 3.553e-06, 5.797e-09},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 1.027e-05, 1.376e-07},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.02e-05, 1.847e-08},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 7.61e-06, 1.281e-09},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 7.612e-06, 1.594e-09},
    {"simd", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 5.959e-08, 2.031e-10},
    {"simd", "flatten(float[16x4x4]) -> float[256]", 1.353e-09, 4.196e-14},
    {"simd", "flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 5.981e-08, 2.053e-10},
    {"simd", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 1.17e-06, 3.47e-08},
    {"simd", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 2.039e-06, 1.815e-08},
    {"simd", "relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.083e-07, 1.017e-09},
    {"simd", "relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 4.346e-07, 8.203e-10},
    {"simd", "softmax(float[10]) -> float[10], 40 FLOP", 2.146e-08, 7.501e-10},
    {"simd", "transform(uint8[1x28x28]) -> float[1x28x28], 784 FLOP", 8.074e-08, 2.741e-09},
};
inline constexpr levada::roofline fashion_costs_rooflines[] = {
    {"eigen", 1.171e+11, 1.651e+10, 0},
    {"onednn", 1.171e+11, 1.651e+10, 0},
    {"simd", 1.171e+11, 1.651e+10, 0},
};
inline constexpr levada::cost_table fashion_costs{.machine = "2 processors of AMD EPYC, AVX-512, g++ 12.2.0", .kernels = fashion_costs_kernels, .rooflines = fashion_costs_rooflines};
