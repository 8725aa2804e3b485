// SPDX-License-Identifier: Apache-2.0
// error: session_with_a_name_drops_no_items_and_keeps_their_order
//
// Another driver could not tell which items of the source are missing.

#include <levada/fleet/detail/named_session.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"twice">([](int v) { return 2 * v; }));
#ifdef LEVADA_CORRECT
  auto session = lv::open_named<lv::overflow<lv::reject>>(app, "camera 1");
#else
  auto session = lv::open_named<lv::latest_only>(app, "camera 1");
#endif
  return session.push(1) ? 0 : 1;
}
