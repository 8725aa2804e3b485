// SPDX-License-Identifier: Apache-2.0
// error: feedback_state_cannot_be_copied
// place: "sum"
// place: unique_ptr<int
//
// Each session begins with a copy of the state.

#include <memory>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::feedback<"sum">([](const int& x, int& state) { return state += x; }, 0);
#else
  auto p = lv::input<int> | lv::feedback<"sum">([](const int& x, std::unique_ptr<int>& state) { return *state += x; },
                                                std::make_unique<int>(0));
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  return app(1);
}
