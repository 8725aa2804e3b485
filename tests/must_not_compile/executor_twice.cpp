// SPDX-License-Identifier: Apache-2.0
// error: deploy_takes_each_option_once
// place: run_by<levada::tbb_executor>
// place: run_by<levada::thread_executor>
//
// One executor runs a deployment.

#include <levada/levada.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
const auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box, lv::run_by<lv::tbb_executor>>(p);
#else
  auto app = lv::deploy<box, lv::run_by<lv::tbb_executor>, lv::run_by<lv::thread_executor>>(p);
#endif
  return app(1);
}
