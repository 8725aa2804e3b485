// SPDX-License-Identifier: Apache-2.0
// error: stage_inside_another_changes_or_consumes_what_cannot_be_copied
// place: "for_each"
// place: "change"
// place: unique_ptr<int
//
// The item keeps its parts: a stage inside changes a copy.

#include <memory>

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

using owners = lv::bounded<std::unique_ptr<int>, 8>;
constexpr auto look = lv::stage<"look">([](const std::unique_ptr<int>& p) { return *p; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<owners> | lv::for_each<8>(look) | lv::collect);
#else
  auto app =
      lv::deploy<box>(lv::input<owners> |
                      lv::for_each<8>(lv::stage<"change">([](std::unique_ptr<int>& p) { ++*p; }) | look) | lv::collect);
#endif
  return 0;
}
