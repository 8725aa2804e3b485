// SPDX-License-Identifier: Apache-2.0
// error: item_cannot_be_copied_move_it_in
//
// An item that is move-only has to be moved into the pipeline, by whatever session.

#include <memory>
#include <utility>

#include <levada/interop/as_future.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<std::unique_ptr<int>> |
                                                lv::stage<"a">([](const std::unique_ptr<int>& v) { return *v; }));
  lv::async_session session(app.open());
  auto item = std::make_unique<int>(1);
#ifdef LEVADA_CORRECT
  static_cast<void>(lv::as_future(session.push_async(std::move(item))));
#else
  static_cast<void>(lv::as_future(session.push_async(item)));
#endif
}
