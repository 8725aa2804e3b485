// SPDX-License-Identifier: Apache-2.0
// error: adjustable_takes_a_callable_without_state
//
// A callable with a capture has a state of its own beside its settings.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  const auto clip = [](const float& v, const float& most) { return v < most ? v : most; };
#else
  int seen = 0;
  const auto clip = [seen](const float& v, const float& most) {
    return v < most ? v : most + static_cast<float>(seen);
  };
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<float> | lv::stage<"a">(lv::adjustable<"most">(clip, 1.0f)));
  return static_cast<int>(app(1.0f));
}
