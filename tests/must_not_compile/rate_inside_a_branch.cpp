// SPDX-License-Identifier: Apache-2.0
// error: rate_changes_inside_a_branch
// place: "batch"
//
// A tee gives nothing back: what it takes together never meets the line again.

#include <array>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto log = lv::sink<"log">([](const std::array<int, 2>&) {});
  const auto log_one = lv::sink<"log">([](const int&) {});
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::tee(log_one) | lv::batch<2>;
#else
  auto p = lv::input<int> | lv::tee(lv::batch<2> | log);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push(1);
  return session.pop().has_value() && log_one.name.empty() && log.name.empty();
}
