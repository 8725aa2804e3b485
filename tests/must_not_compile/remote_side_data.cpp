// SPDX-License-Identifier: Apache-2.0
// error: side_data_says_where_something_is_which_is_nowhere_on_another_machine
// place: "edge"
// place-gcc: basic_string_view
// place-clang: string_view
//
// The other machine has another memory.

#include <array>
#include <string_view>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;

#ifdef LEVADA_CORRECT
using mark = std::array<char, 4>;
#else
using mark = std::string_view;
#endif

int main() {
  using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
  const auto by = std::make_shared<lv::in_process>();
  auto p = lv::input<int> | lv::stage<"mark">([](const int& v, mark& m) {
             m = {};
             return v;
           }) |
           lv::on<lv::remote<"edge">>(lv::stage<"look">([](const int& v, const mark& m) { return m.empty() ? 0 : v; }));
  auto app = lv::deploy<box, lv::version<"1">>(p, lv::endpoints<"edge">{by, {"a"}});
  return app(21);
}
