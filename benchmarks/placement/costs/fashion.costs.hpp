// Measured by levada::profile: what kernels, ways between devices and whole plans take. Other kernels are estimated by the rooflines.
#pragma once

#include <levada/plan/cost_table.hpp>

// clang-format off
inline constexpr levada::kernel_cost fashion_costs_kernels[] = {
    {"callable", "label(float[10]) -> 4 bytes", 6.496e-09, 3.052e-13},
    {"eigen", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 1.208e-05, 1e-08},
    {"eigen", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 1.231e-05, 2.909e-08},
    {"eigen", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 4.178e-05, 2e-08},
    {"eigen", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 4.189e-05, 2.763e-08},
    {"eigen", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.064e-07, 5.474e-10},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 9.541e-06, 1.031e-08},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 9.665e-06, 9.031e-09},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 1.012e-05, 9.063e-09},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 2.093e-05, 2.006e-08},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 2.105e-05, 1.756e-08},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 2.11e-05, 2.319e-08},
    {"onednn", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 2.121e-05, 1.625e-08},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 1.162e-05, 8.125e-09},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.169e-05, 1e-08},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 1.177e-05, 7.813e-09},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 1.176e-05, 8.437e-09},
    {"onednn", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.235e-05, 1.941e-08},
    {"onednn", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 6.315e-07, 1.23e-09},
    {"onednn", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 8.622e-07, 1.914e-09},
    {"onednn", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 8.662e-07, 1.805e-09},
    {"onednn", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.428e-06, 4.031e-09},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 2.081e-06, 3.984e-09},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 1.376e-05, 4.069e-08},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.373e-05, 2e-08},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 1.379e-05, 1.256e-08},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 1.386e-05, 3.444e-08},
    {"onednn", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP + conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 1.449e-05, 2.188e-08},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 3.333e-06, 3.906e-09},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 3.217e-06, 7.437e-09},
    {"simd", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP + max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 3.382e-06, 7.594e-09},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 1.03e-05, 5.344e-09},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.021e-05, 4.406e-09},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 7.881e-06, 4.694e-08},
    {"simd", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP + max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 7.974e-06, 5e-09},
    {"simd", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 6.75e-08, 4.304e-10},
    {"simd", "flatten(float[16x4x4]) -> float[256]", 4.108e-09, 2.446e-11},
    {"simd", "flatten(float[16x4x4]) -> float[256] + dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 6.796e-08, 5.012e-10},
    {"simd", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 1.172e-06, 1.667e-08},
    {"simd", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 2.044e-06, 1.173e-08},
    {"simd", "relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 1.123e-07, 5.039e-10},
    {"simd", "relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 4.479e-07, 4.121e-10},
    {"simd", "softmax(float[10]) -> float[10], 40 FLOP", 2.302e-08, 1.349e-11},
    {"simd", "transform normalise fdb542d2d87dfe63(uint8[1x28x28]) -> float[1x28x28], 784 FLOP", 7.974e-08, 1.001e-11},
    {"spirv", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes", 0.0003796, 5.082e-06},
    {"spirv", "conv2d(float[1x28x28]) -> float[8x28x28], 313600 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 0.0003753, 4.623e-06},
    {"spirv", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes", 0.00163, 0.0005271},
    {"spirv", "conv2d(float[8x14x14]) -> float[16x14x14], 1254400 FLOP, 12864 bytes + relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 0.002264, 1.421e-05},
    {"spirv", "dense(float[256]) -> float[10], 5120 FLOP, 10280 bytes", 2.987e-05, 1.573e-06},
    {"spirv", "flatten(float[16x4x4]) -> float[256]", 1.992e-05, 1.698e-06},
    {"spirv", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP", 2.84e-05, 2.153e-06},
    {"spirv", "max_pool2d(float[16x14x14]) -> float[16x4x4], 2304 FLOP + flatten(float[16x4x4]) -> float[256]", 2.843e-05, 3.416e-06},
    {"spirv", "max_pool2d(float[8x28x28]) -> float[8x14x14], 6272 FLOP", 3.534e-05, 1.15e-07},
    {"spirv", "relu(float[16x14x14]) -> float[16x14x14], 3136 FLOP", 3.235e-05, 6.826e-06},
    {"spirv", "relu(float[8x28x28]) -> float[8x28x28], 6272 FLOP", 4.407e-05, 2.889e-06},
    {"spirv", "softmax(float[10]) -> float[10], 40 FLOP", 1.927e-05, 1.688e-06},
    {"spirv", "transform normalise fdb542d2d87dfe63(uint8[1x28x28]) -> float[1x28x28], 784 FLOP", 2.663e-05, 5.984e-06},
};
inline constexpr levada::roofline fashion_costs_rooflines[] = {
    {"eigen", 1.171e+11, 2.491e+10, 0},
    {"onednn", 1.171e+11, 2.491e+10, 0},
    {"simd", 1.171e+11, 2.491e+10, 0},
    {"spirv", 8.524e+08, 1.139e+09, 1.927e-05},
};
inline constexpr levada::transfer_cost fashion_costs_transfers[] = {
    {{levada::device_kind::cpu, 0}, {levada::device_kind::vulkan, 0}, 1.012e-05, 2.404e-12},
    {{levada::device_kind::vulkan, 0}, {levada::device_kind::cpu, 0}, 5.334e-05, 0},
};
inline constexpr levada::whole_cost fashion_costs_wholes[] = {
    {14791579523512063650u, "levada plan 1: 64 slots | cpu: simd(\"normalise\") simd(\"conv1\" \"relu\" \"max_pool2d\") simd(\"conv2\" \"relu\" \"max_pool2d\" \"flatten\") simd(\"dense\") simd(\"softmax\") \"label\"", 1.175e-05, 1.023e-07},
};
inline constexpr levada::cost_table fashion_costs{.machine = "2 processors of AMD EPYC, AVX-512, g++ 12.2.0", .kernels = fashion_costs_kernels, .transfers = fashion_costs_transfers, .rooflines = fashion_costs_rooflines, .wholes = fashion_costs_wholes};
