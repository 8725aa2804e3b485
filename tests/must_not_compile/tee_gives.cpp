// SPDX-License-Identifier: Apache-2.0
// error: tee_has_to_end_in_a_sink
// place: "copy"
// place: int
//
// Nobody takes what the branch gives.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto copy = lv::stage<"copy">([](const int& x) { return x; });
  const auto one = lv::stage<"one">([](const int& x) { return x + 1; });
#ifdef LEVADA_CORRECT
  auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::tee(copy | lv::sink<"log">([](const int&) {})) | one);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::tee(copy) | one);
#endif
  return app(1);
}
