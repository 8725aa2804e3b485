// SPDX-License-Identifier: Apache-2.0
// error: pipeline_cannot_be_copied_write_std_move_around_it
// place: "add"
//
// A callable that can only be moved, in a pipeline that somebody keeps.

#include <memory>
#include <utility>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<int> | lv::stage<"add">([k = std::make_unique<int>(3)](const int& v) { return v + *k; });
#ifdef LEVADA_CORRECT
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(std::move(p));
#else
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
#endif
  return app(1);
}
