// SPDX-License-Identifier: Apache-2.0
// error: callable_of_a_rate_cannot_be_copied
// place: "scaled"
//
// Each session has a callable of its own.

#include <memory>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto factor = std::make_shared<const int>(3);
#else
  auto factor = std::make_unique<const int>(3);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> |
      lv::rate<"scaled", 2, 1, int>([f = std::move(factor)](std::span<const int, 2> in, std::span<int, 1> out) {
        out[0] = (in[0] + in[1]) * *f;
      }));
  auto session = app.open();
  session.push({});
  return 0;
}
