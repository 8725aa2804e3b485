// SPDX-License-Identifier: Apache-2.0
#pragma once
// output/names.hpp: short identifiers for ONNX's names.

#include <string>
#include <vector>

namespace levada::onnx {

/// Letters, digits and underscores, not beginning with a digit, at most 48 of them.
std::string identifier(const std::string& name);

/// For each name the shortest end of its path ("layer1/conv1/Conv") that none of the others has, as an identifier.
/// Names that are equal, or become so, get a number.
std::vector<std::string> short_names(const std::vector<std::string>& names);

}  // namespace levada::onnx
