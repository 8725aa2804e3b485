// SPDX-License-Identifier: Apache-2.0
// error: only_a_stage_that_leaves_its_item_as_it_is_can_be_retried
// place: "send"
//
// A stage that consumes its item cannot be called again with it.

#include <memory>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<std::unique_ptr<int>> |
           lv::stage<"send">(lv::retry<2>([](const std::unique_ptr<int>& item) { return *item; }));
#else
  auto p = lv::input<std::unique_ptr<int>> |
           lv::stage<"send">(lv::retry<2>([](std::unique_ptr<int>&& item) { return *item; }));
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
