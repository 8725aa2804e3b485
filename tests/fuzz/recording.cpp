// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes are a recording, which is replayed, or refused by a levada::error; anything else is a
// crash.
//   ./run fuzz recording 60

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <levada/interop/recording.hpp>

#include "recording_property.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t largest);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  levada_test::reads_recording({reinterpret_cast<const char*>(data), size});
  return 0;
}

/// Behind a first line that is right, for most.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t largest,
                                               unsigned seed) {
  if (seed % 16 == 0) return LLVMFuzzerMutate(data, size, largest);
  const std::string line = levada::detail::recording_line<levada_test::recorded>();
  if (seed % 16 == 1 || size < line.size() || largest < line.size()) {
    const std::string text = levada_test::recording_of(seed / 16);
    return std::string_view(text).copy(reinterpret_cast<char*>(data), std::min(largest, text.size()));
  }
  line.copy(reinterpret_cast<char*>(data), line.size());
  return line.size() + LLVMFuzzerMutate(data + line.size(), size - line.size(), largest - line.size());
}
