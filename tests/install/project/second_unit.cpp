// SPDX-License-Identifier: Apache-2.0
// Runs one item through a pipeline of its own.

#include <levada/levada.hpp>

int second_unit(int item) {
  namespace lv = levada;
  auto session =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"add">([](const int& i) { return i + 2; })).open();
  session.push(item);
  return session.pop().value().value();
}
