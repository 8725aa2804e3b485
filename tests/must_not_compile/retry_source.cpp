// SPDX-License-Identifier: Apache-2.0
// error: only_a_stage_that_leaves_its_item_as_it_is_can_be_retried
// place: "read"
//
// A source has no item to be called with again.

#include <optional>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto read = [n = 3]() mutable { return n > 0 ? std::optional<int>(n--) : std::nullopt; };
#ifdef LEVADA_CORRECT
  auto source = lv::source<"read">(read);
#else
  auto source = lv::source<"read">(lv::retry<2>(read));
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(std::move(source) | lv::stage<"same">([](const int& v) { return v; }));
  static_assert(decltype(app)::plan.segments >= 1);
  return 0;
}
