// SPDX-License-Identifier: Apache-2.0
// Scales of what stages with weights take, found by levada::calibrate.
#pragma once

#include <levada/nn/quantize.hpp>

// clang-format off
inline constexpr levada::stage_scale network_scales_stages[] = {
    {"conv1", {0.00392156886f, 0}},  // 0 ... 1
    {"conv2", {0.00902912766f, 0}},  // 0 ... 2.302
    {"dense", {0.0330992416f, 0}},  // 0 ... 8.44
};
inline constexpr levada::scale_table network_scales{.origin = "5000 items", .stages = network_scales_stages, .labelled = 10000, .accuracy = 0.903000, .quantized_accuracy = 0.902300};
