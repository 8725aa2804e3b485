// SPDX-License-Identifier: Apache-2.0
// error: what_for_each_collects_has_no_default_constructor
// place: result
//
// Results of parts lie in an array whose elements are made before there are any.

#include <levada/levada.hpp>

namespace lv = levada;

struct result {
#ifdef LEVADA_CORRECT
  result() = default;
#endif
  explicit result(int v) : value(v) {}
  int value = 0;
};
using numbers = lv::bounded<int, 8>;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<numbers> | lv::for_each<8>(lv::stage<"wrap">([](const int& x) { return result(x); })) | lv::collect);
  return static_cast<int>(app(numbers{1, 2}).size());
}
