// SPDX-License-Identifier: Apache-2.0
// The balanced automatic split of the pipeline executor's RFC: stages with states over the processor and a device.

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <levada/run/detail/workers/tbb_executor.hpp>

#include "twelve_stages.hpp"

namespace run_balanced {

namespace lv = levada;

TEST_CASE("twelve equal stages with states are split evenly over cpu | simulated | cpu, and give what a loop gives") {
  const auto app = lv::test::deploy_twelve([] {});
  static_assert(lv::test::is_balanced<decltype(app)>);
  std::vector<std::uint64_t> items(300);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = i * i;
  std::size_t i = 0, equal = 0;
  for (auto&& r : app.stream(items)) {
    std::uint64_t expected = items[i++];
    for (int stage = 0; stage < 12; ++stage) expected = expected * 3 + i;
    equal += r.value() == expected;
  }
  CHECK(equal == items.size());
}

}  // namespace run_balanced
