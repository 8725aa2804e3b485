// SPDX-License-Identifier: Apache-2.0
#pragma once
// models/steps.hpp: a network of pictures as steps, for peers that read no ONNX file: what a user of such a library
// writes down by hand.

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace models {

/// Channels first, as ONNX has it.
struct value_extents {
  std::size_t channels = 1, height = 1, width = 1;
  std::size_t elements() const { return channels * height * width; }
};

/// What an op of ONNX says, with the relu or clip behind it.
struct step {
  enum class kind { conv, add, max_pool, mean, dense, concat };
  kind of = kind::conv;
  std::vector<std::size_t> inputs;  ///< values
  std::size_t output = 0;
  std::size_t height = 1, width = 1, stride_y = 1, stride_x = 1, groups = 1;
  std::size_t top = 0, left = 0, bottom = 0, right = 0;
  std::vector<float> weight, bias;  ///< [filters][channels of a group][height][width]
  float least = -std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::infinity();
};

/// In an order in which they can be computed. Value 0 is the input.
struct network_steps {
  std::vector<value_extents> values;
  std::vector<step> steps;
  std::size_t output = 0;
};

/// None where the network has more than one input or output, or an op that is no step.
std::optional<network_steps> read_steps(const std::string& file);

}  // namespace models
