// Measured by levada::profile: what kernels, ways between devices and whole plans take. Other kernels are estimated by the rooflines.
#pragma once

#include <levada/plan/cost_table.hpp>

// clang-format off
inline constexpr levada::kernel_cost fashion_costs_kernels[] = {
    {"callable", "label(float[10]) -> 4 bytes", 7.327e-10, 5e-09, 1.173e-08},
    {"eigen", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 1.421e-05, 2.583e-06, 2.14e-05},
    {"eigen", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 1.68e-05, 1.89e-06, 2.194e-05},
    {"eigen", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 6.423e-05, 1.693e-06, 7.502e-05},
    {"eigen", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 7.111e-05, 1.949e-06, 8.448e-05},
    {"eigen", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.454e-07, 1.921e-08, 2.031e-07},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 8.745e-06, 8.544e-07, 1.489e-05},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 1.402e-05, 6.666e-08, 1.663e-05},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 1.964e-05, 3.488e-08, 2.099e-05},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 3.712e-05, 3.375e-08, 4.15e-05},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 3.034e-05, 2.094e-06, 4.857e-05},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 3.035e-05, 3.25e-08, 4.397e-05},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 3.039e-05, 2.253e-06, 4.033e-05},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 2.034e-05, 1.36e-06, 2.812e-05},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 2.044e-05, 3.169e-07, 2.684e-05},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 2.087e-05, 2.769e-07, 2.56e-05},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 2.08e-05, 2.996e-07, 2.397e-05},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 2.2e-05, 2.63e-07, 2.781e-05},
    {"onednn", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 7.107e-07, 3.855e-09, 1.269e-06},
    {"onednn", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 1.107e-05, 1.813e-08, 1.545e-05},
    {"onednn", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 1.109e-05, 1.066e-06, 1.425e-05},
    {"onednn", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.18e-05, 5.849e-07, 1.668e-05},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 4.314e-05, 9.275e-08, 5.871e-05},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 8.245e-05, 1.47e-05, 9.602e-05},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 8.241e-05, 9.692e-07, 9.912e-05},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 8.186e-05, 1.183e-06, 9.731e-05},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 8.592e-05, 3.907e-06, 9.426e-05},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 6.138e-05, 7.684e-06, 9.51e-05},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 3.433e-06, 2.984e-09, 5.433e-06},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 3.458e-06, 7.672e-09, 4.262e-06},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 3.567e-06, 5e-09, 4.069e-06},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 1.3e-05, 6.075e-08, 1.686e-05},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.317e-05, 1.136e-07, 1.665e-05},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 1.21e-05, 2.256e-08, 1.423e-05},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 1.191e-05, 1e-08, 1.209e-05},
    {"simd", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.007e-07, 0, 1.417e-07},
    {"simd", "flatten(float[16x4x4]) -> float[256]", 7.406e-09, 5.798e-13, 1.161e-08},
    {"simd", "flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 8.576e-08, 6.895e-09, 1.032e-07},
    {"simd", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 8.043e-07, 3.632e-08, 9.225e-07},
    {"simd", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 2.419e-06, 4.297e-08, 2.89e-06},
    {"simd", "relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.351e-07, 5.181e-10, 1.969e-07},
    {"simd", "relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 1.005e-06, 5.099e-08, 1.496e-06},
    {"simd", "softmax(float[10]) -> float[10], 40 FLOP", 3.073e-08, 0, 3.173e-08},
    {"simd", "transform normalise fdb542d2d87dfe63(uint8[1x28x28]) -> float[1x28x28], 784 FLOP", 9.073e-08, 0, 1.107e-07},
    {"spirv", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 0.0009657, 0.0003836, 0.001846},
    {"spirv", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 0.0009069, 3.554e-05, 0.001777},
    {"spirv", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 0.004316, 0.001368, 0.008308},
    {"spirv", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 0.004008, 1.543e-05, 0.004025},
    {"spirv", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 0.0001007, 3.076e-05, 0.0001847},
    {"spirv", "flatten(float[16x4x4]) -> float[256]", 4.88e-05, 1.081e-05, 0.0001111},
    {"spirv", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 0.0001031, 2.554e-05, 0.0001745},
    {"spirv", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 6.196e-05, 8.164e-06, 0.0001005},
    {"spirv", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 0.0001626, 1.452e-05, 0.0002076},
    {"spirv", "relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 0.0001, 1.213e-05, 0.0001464},
    {"spirv", "relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 0.0001414, 1.937e-05, 0.0002223},
    {"spirv", "softmax(float[10]) -> float[10], 40 FLOP", 5.791e-05, 1.149e-05, 0.0001306},
    {"spirv", "transform normalise fdb542d2d87dfe63(uint8[1x28x28]) -> float[1x28x28], 784 FLOP", 6.372e-05, 1.362e-05, 0.000162},
};
inline constexpr levada::roofline fashion_costs_rooflines[] = {
    {"eigen", 1.925e+10, 3.718e+09, 0},
    {"onednn", 2.731e+10, 5.277e+09, 0},
    {"simd", 1.035e+11, 2e+10, 0},
    {"spirv", 3.527e+08, 3.55e+08, 4.88e-05},
};
inline constexpr levada::transfer_cost fashion_costs_transfers[] = {
    {{levada::device_kind::cpu, 0}, {levada::device_kind::vulkan, 0}, 5.851e-05, 0},
    {{levada::device_kind::vulkan, 0}, {levada::device_kind::cpu, 0}, 0.0001729, 2.202e-09},
};
inline constexpr levada::whole_cost fashion_costs_wholes[] = {
    {14791579523512063650u, "levada plan 1: 64 slots | cpu: simd(\"normalise\") simd(\"conv1\" \"relu\" \"max_pool2d\") simd(\"conv2\" \"relu\" \"max_pool2d\" \"flatten\") simd(\"dense\") simd(\"softmax\") \"label\"", 1.635e-05, 3.959e-07},
};
inline constexpr levada::contention fashion_costs_contentions[] = {
    {2, 1.022},
};
inline constexpr levada::cost_table fashion_costs{.machine = "2 processors of AMD EPYC, AVX2, g++ 12.2.0", .kernels = fashion_costs_kernels, .transfers = fashion_costs_transfers, .rooflines = fashion_costs_rooflines, .wholes = fashion_costs_wholes, .date = "2026-11-29", .contentions = fashion_costs_contentions};
