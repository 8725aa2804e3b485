// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes are a model or are refused by a conversion_error; anything else is a crash.
//   ./run fuzz onnx_model 60

#include <cstddef>
#include <cstdint>

#include "onnx_model_property.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  levada_test::converts_model({reinterpret_cast<const char*>(data), size});
  return 0;
}
