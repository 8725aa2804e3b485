// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/precision.hpp: for docs/precision.md.
#include <vector>

#include <levada/interop/calibrate.hpp>
#include <levada/interop/safetensors.hpp>
#include <levada/ops.hpp>

#include "../../examples/quantized/network.scales.hpp"
#include "common.hpp"

extern const lv::safetensors file;
extern const std::vector<picture> test_pictures;
extern const std::vector<int> test_labels;
constexpr auto normalise = lv::transform<"normalise">([](auto px) { return to_float(px) / 255.0f; });
constexpr auto pipeline = lv::input<picture> | normalise;
