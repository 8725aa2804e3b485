// SPDX-License-Identifier: Apache-2.0
// error: pipeline_that_changes_its_rate_has_no_result_for_each_item_to_write_into_memory_of_the_caller
//
// A place for each item's result, where four items have one.

#include <array>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(
      lv::input<int> | lv::batch<4> | lv::stage<"first">([](const std::array<int, 4>& b) { return b[0]; }));
#ifdef LEVADA_CORRECT
  auto session = app.open();
#else
  auto session = app.open<lv::external_results>();
#endif
  return session.is_over() ? 1 : 0;
}
