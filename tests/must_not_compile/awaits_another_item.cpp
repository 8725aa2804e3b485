// SPDX-License-Identifier: Apache-2.0
// error: pipeline_takes_another_item
//
// What is awaited is an item of the pipeline.

#include <string>

#include <levada/levada.hpp>
#include <levada/run/async_session.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& v) { return v; }));
  lv::async_session session(app.open());
#ifdef LEVADA_CORRECT
  static_cast<void>(session.push_async(1));
#else
  static_cast<void>(session.push_async(std::string("1")));
#endif
}
