// SPDX-License-Identifier: Apache-2.0
// error: what_for_each_collects_cannot_be_assigned
// place: result
//
// Results of parts are put into an array.

#include <levada/levada.hpp>

namespace lv = levada;

struct result {
  result() = default;
  explicit result(int v) : value(v) {}
#ifdef LEVADA_CORRECT
  int value = 0;
#else
  const int value = 0;
#endif
};
using numbers = lv::bounded<int, 8>;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<numbers> | lv::for_each<8>(lv::stage<"wrap">([](const int& x) { return result(x); })) | lv::collect);
  return static_cast<int>(app(numbers{1, 2}).size());
}
