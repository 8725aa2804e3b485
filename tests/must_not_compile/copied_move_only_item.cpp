// SPDX-License-Identifier: Apache-2.0
// error: item_cannot_be_copied_move_it_in
// place: unique_ptr<int
//
// A pipeline that consumes move-only items is lent one.

#include <memory>
#include <utility>

#include <levada/levada.hpp>

namespace lv = levada;

using item = std::unique_ptr<int>;

int main() {
  auto p = lv::input<item> | lv::stage<"open">([](item&& i) { return *i; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto i = std::make_unique<int>(1);
#ifdef LEVADA_CORRECT
  const int result = app(std::move(i));
#else
  const int result = app(i);
#endif
  return result + app(std::make_unique<int>(2));
}
