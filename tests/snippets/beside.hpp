// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/beside.hpp: for the pages of docs/beside/.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include <levada/interop/safetensors.hpp>

#include "common.hpp"

float score(const picture& p);
std::optional<picture> next_picture();  // of a camera

/// As the header of an ONNX model has it.
namespace scorer {
extern const char* const weights_file;
template <class Weights>
auto graph(const Weights& from) {
  return lv::nn::flatten | lv::nn::dense<"score", 1>(from);
}
}  // namespace scorer
