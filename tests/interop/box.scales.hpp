// Scales of what stages with weights take, found by levada::calibrate.
#pragma once

#include <levada/nn/quantize.hpp>

// clang-format off
inline constexpr levada::stage_scale box_scales_stages[] = {
    {"c1", {0.00784313772f, 64}},  // -0.5 ... 1.5
    {"fc", {0.00664828438f, 0}},  // 0 ... 1.695
};
inline constexpr levada::scale_table box_scales{.origin = "40 items", .stages = box_scales_stages, .labelled = 60, .accuracy = 0.950000, .quantized_accuracy = 0.950000};
