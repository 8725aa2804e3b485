// SPDX-License-Identifier: Apache-2.0
#pragma once
// model/read_model.hpp: reads an .onnx file.

#include <filesystem>
#include <string_view>

#include "model.hpp"

namespace levada::onnx {

/// The model in a file. External data are mapped from files in the model's folder or below it. Throws
/// `conversion_error` with the offset of the byte where the file is wrong.
model_def read_model(const std::filesystem::path& file);

/// The same of bytes in memory; external data lie below `folder`, and are refused where it is empty.
model_def read_model(std::string_view bytes, const std::filesystem::path& folder);

/// A TensorProto, as the test data of ONNX's suite are.
constant read_tensor(std::string_view bytes);

}  // namespace levada::onnx
