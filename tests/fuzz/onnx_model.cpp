// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes are read as a model or refused by a conversion_error; anything else is a crash.
//   ./run fuzz onnx_model 60

#include <cstddef>
#include <cstdint>

#include "onnx_model_property.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  levada_test::reads_model({reinterpret_cast<const char*>(data), size});
  return 0;
}
