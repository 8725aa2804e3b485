// SPDX-License-Identifier: Apache-2.0
// error: pipeline_takes_another_item
//
// A session that hands out its results takes the items of the pipeline, too.

#include <string>

#include <levada/levada.hpp>
#include <levada/run/callback_session.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& v) { return v; }));
  lv::callback_session session(app.open(), [](lv::result<int&>) {});
#ifdef LEVADA_CORRECT
  session.push(1);
#else
  session.push(std::string("1"));
#endif
}
