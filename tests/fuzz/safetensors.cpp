// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes are read or refused by a levada::error; anything else is a crash.
//   ./run fuzz safetensors 60

#include <cstddef>
#include <cstdint>

#include "safetensors_property.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  levada_test::accepts_safetensors({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
