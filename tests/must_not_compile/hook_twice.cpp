// SPDX-License-Identifier: Apache-2.0
// error: deploy_takes_each_option_once
// place: on_worker_start<
//
// One function is called, which may call others.

#include <levada/levada.hpp>

namespace lv = levada;

void one() noexcept {}
void two() noexcept {}

using box = lv::target<lv::cpu<2>>;
const auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box, lv::on_worker_start<&one>>(p);
#else
  auto app = lv::deploy<box, lv::on_worker_start<&one>, lv::on_worker_start<&two>>(p);
#endif
  return app(1);
}
