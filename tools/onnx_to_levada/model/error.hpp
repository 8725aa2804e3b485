// SPDX-License-Identifier: Apache-2.0
#pragma once
// model/error.hpp: what ends a conversion.

#include <stdexcept>
#include <string>

namespace levada::onnx {

/// A model that cannot be read or converted; the text names the file, the node or the byte.
struct conversion_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace levada::onnx
