// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes are the JSON of a plan or refused by a levada::error; anything else is a crash.
//   ./run fuzz plan_file 60

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <levada/interop/saved_plan.hpp>

#include "plan_file_property.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t largest);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  levada_test::reads_plan_file({reinterpret_cast<const char*>(data), size});
  return 0;
}

/// One in so many is a plan that was not touched, since no change makes one of noise.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t largest,
                                               unsigned seed) {
  if (seed % 64 != 0) return LLVMFuzzerMutate(data, size, largest);
  std::string plan = levada_test::plan_file_of(static_cast<unsigned char>(seed / 64 % 16));
  if (seed / 1024 % 2 == 0)
    plan = static_cast<char>(0x80 | plan[0]) + levada::save(levada_test::planned(seed / 64 % 16).plan());
  return std::string_view(plan).copy(reinterpret_cast<char*>(data), std::min(largest, plan.size()));
}
