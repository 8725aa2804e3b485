// SPDX-License-Identifier: Apache-2.0
#pragma once
// output/safetensors.hpp: writes weights as a safetensors file.

#include <filesystem>
#include <map>
#include <string>

#include "../model/constant.hpp"

namespace levada::onnx {

/// Tensors in the order of their names, each aligned to 64 bytes where the format allows; the same bytes for the same
/// weights.
void write_safetensors(const std::filesystem::path& file, const std::map<std::string, constant>& weights,
                       const std::map<std::string, std::string>& metadata);

}  // namespace levada::onnx
