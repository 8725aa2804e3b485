// SPDX-License-Identifier: Apache-2.0
// error: pipeline_takes_another_item
//
// Who pushes through a multi_producer pushes items of the pipeline.

#include <string>

#include <levada/levada.hpp>
#include <levada/run/multi_producer.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& v) { return v; }));
  auto session = app.open();
  lv::multi_producer producers(session);
#ifdef LEVADA_CORRECT
  producers.push(1);
#else
  if (!producers.try_push(std::string("1"))) return 1;
#endif
}
