// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes are a message between a driver and a node, which is read, or refused by a wire_error;
// anything else is a crash.
//   ./run fuzz frame 60

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "frame_property.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t largest);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  levada_test::reads_message({reinterpret_cast<const char*>(data), size});
  return 0;
}

/// From a message that is right, for some.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t largest,
                                               unsigned seed) {
  if (seed % 16 != 0) return LLVMFuzzerMutate(data, size, largest);
  const std::string text = static_cast<char>(seed) + levada_test::message_of(seed / 16);
  return text.copy(reinterpret_cast<char*>(data), std::min(largest, text.size()));
}
