// SPDX-License-Identifier: Apache-2.0
// error: item_cannot_be_copied_move_it_in
// place: unique_ptr<int
//
// A session keeps its items, and this one cannot be copied into it.

#include <memory>
#include <utility>

#include <levada/levada.hpp>

namespace lv = levada;

using item = std::unique_ptr<int>;

int main() {
  auto p = lv::input<item> | lv::stage<"open">([](const item& i) { return *i; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto i = std::make_unique<int>(1);
  int result = app(i);
  auto session = app.open();
#ifdef LEVADA_CORRECT
  session.push(std::move(i));
#else
  session.push(i);
#endif
  return result + session.pop()->value();
}
