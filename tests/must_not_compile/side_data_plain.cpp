// SPDX-License-Identifier: Apache-2.0
// error: stage_takes_beside_its_item_what_is_no_reference_to_plain_data
// place: "names"
//
// Side data lie with the item in its slot, are made anew for each item and destroyed by nobody: plain data.

#include <levada/levada.hpp>

#include <string>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  using text = lv::bounded<char, 16>;
#else
  using text = std::string;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> | lv::stage<"names">([](const int& x, text& name) { return name.push_back('a'), x; }));
  return app(1);
}
