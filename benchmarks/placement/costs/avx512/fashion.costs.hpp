// Measured by levada::profile: what kernels, ways between devices and whole plans take. Other kernels are estimated by the rooflines.
#pragma once

#include <levada/plan/cost_table.hpp>

// clang-format off
inline constexpr levada::kernel_cost fashion_costs_kernels[] = {
    {"callable", "label(float[10]) -> 4 bytes", 6.594e-09, 0, 6.594e-09},
    {"eigen", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 1.188e-05, 9.688e-09, 1.314e-05},
    {"eigen", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 1.519e-05, 2.444e-08, 1.762e-05},
    {"eigen", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 4.067e-05, 2.25e-08, 4.531e-05},
    {"eigen", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 5.27e-05, 3.75e-08, 5.34e-05},
    {"eigen", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.056e-07, 1.379e-09, 1.091e-07},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 9.533e-06, 1.191e-08, 2.207e-05},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 9.736e-06, 7.812e-09, 1.086e-05},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 9.974e-06, 9.375e-09, 1.111e-05},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 2.11e-05, 1.625e-08, 2.738e-05},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 2.096e-05, 1.756e-08, 2.322e-05},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 2.112e-05, 2.256e-08, 2.453e-05},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 2.109e-05, 2.444e-08, 2.481e-05},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 1.167e-05, 1.063e-08, 1.31e-05},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.17e-05, 1.25e-08, 1.294e-05},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 1.177e-05, 1.316e-08, 2.212e-05},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 1.179e-05, 8.156e-09, 1.317e-05},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.242e-05, 2.159e-08, 1.557e-05},
    {"onednn", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 6.245e-07, 2.907e-08, 9.441e-07},
    {"onednn", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 8.464e-07, 1.758e-09, 8.703e-07},
    {"onednn", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 8.456e-07, 1.566e-09, 8.731e-07},
    {"onednn", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.427e-06, 1.635e-08, 1.987e-06},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 1.995e-06, 3.367e-09, 2.056e-06},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 1.37e-05, 2.194e-08, 1.821e-05},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.376e-05, 2e-08, 1.576e-05},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 1.381e-05, 1.5e-08, 1.412e-05},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 1.381e-05, 1.444e-08, 1.525e-05},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.447e-05, 2.5e-08, 1.926e-05},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 3.28e-06, 1.08e-08, 7.141e-06},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 3.183e-06, 3.346e-07, 6.72e-06},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 3.352e-06, 0, 3.362e-06},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 1.019e-05, 6.25e-09, 1.128e-05},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.021e-05, 3.438e-09, 1.143e-05},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 7.691e-06, 1.222e-08, 7.897e-06},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 7.679e-06, 1.5e-08, 7.709e-06},
    {"simd", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 9.659e-08, 0, 1.066e-07},
    {"simd", "flatten(float[16x4x4]) -> float[256]", 4.343e-09, 9.872e-11, 6.277e-09},
    {"simd", "flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 6.646e-08, 3.643e-10, 7.408e-08},
    {"simd", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 1.21e-06, 2.855e-09, 1.371e-06},
    {"simd", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 2.057e-06, 1.526e-08, 2.19e-06},
    {"simd", "relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.147e-07, 4.883e-11, 2.041e-07},
    {"simd", "relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 4.462e-07, 3.125e-10, 5.104e-07},
    {"simd", "softmax(float[10]) -> float[10], 40 FLOP", 3.659e-08, 5e-09, 3.759e-08},
    {"simd", "transform normalise fdb542d2d87dfe63(uint8[1x28x28]) -> float[1x28x28], 784 FLOP", 7.659e-08, 5e-09, 8.759e-08},
    {"spirv", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 0.0002759, 9.243e-05, 0.0004869},
    {"spirv", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 0.0002572, 3.011e-05, 0.0004044},
    {"spirv", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 0.002311, 0.0005395, 0.002392},
    {"spirv", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 0.001208, 1.742e-05, 0.002345},
    {"spirv", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 4.283e-05, 1.878e-06, 8.943e-05},
    {"spirv", "flatten(float[16x4x4]) -> float[256]", 3.434e-05, 4.742e-06, 6.327e-05},
    {"spirv", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 5.745e-05, 1.691e-05, 0.00013},
    {"spirv", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 3.519e-05, 5.909e-06, 6.15e-05},
    {"spirv", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 6.536e-05, 1.076e-05, 8.002e-05},
    {"spirv", "relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 4.812e-05, 1.219e-05, 8.722e-05},
    {"spirv", "relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 6.566e-05, 6.991e-06, 9.27e-05},
    {"spirv", "softmax(float[10]) -> float[10], 40 FLOP", 3.037e-05, 5.128e-06, 5.564e-05},
    {"spirv", "transform normalise fdb542d2d87dfe63(uint8[1x28x28]) -> float[1x28x28], 784 FLOP", 3.38e-05, 1.997e-05, 7.318e-05},
};
inline constexpr levada::roofline fashion_costs_rooflines[] = {
    {"eigen", 2.677e+10, 3.718e+09, 0},
    {"onednn", 8.297e+10, 1.152e+10, 0},
    {"simd", 1.422e+11, 1.975e+10, 0},
    {"spirv", 1.244e+09, 7.642e+08, 3.037e-05},
};
inline constexpr levada::transfer_cost fashion_costs_transfers[] = {
    {{levada::device_kind::cpu, 0}, {levada::device_kind::vulkan, 0}, 2.7e-05, 2.626e-10},
    {{levada::device_kind::vulkan, 0}, {levada::device_kind::cpu, 0}, 9.51e-05, 1.389e-10},
};
inline constexpr levada::whole_cost fashion_costs_wholes[] = {
    {14791579523512063650u, "levada plan 1: 64 slots | cpu: simd(\"normalise\") simd(\"conv1\" \"relu\" \"max_pool2d\") simd(\"conv2\" \"relu\" \"max_pool2d\" \"flatten\") simd(\"dense\") simd(\"softmax\") \"label\"", 1.142e-05, 9.267e-08},
};
inline constexpr levada::contention fashion_costs_contentions[] = {
    {2, 1},
};
inline constexpr levada::cost_table fashion_costs{.machine = "2 processors of AMD EPYC, AVX-512, g++ 12.2.0", .kernels = fashion_costs_kernels, .transfers = fashion_costs_transfers, .rooflines = fashion_costs_rooflines, .wholes = fashion_costs_wholes, .date = "2026-11-29", .contentions = fashion_costs_contentions};
