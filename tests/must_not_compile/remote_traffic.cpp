// SPDX-License-Identifier: Apache-2.0
// error: items_take_more_bytes_between_machines_than_their_budget
// place: needs_bytes<1208>
// place: allows_bytes<1024>
// place: "store"
//
// A picture of 600 bytes goes there and comes back.

#include <array>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;

using picture = std::array<char, 600>;

int main() {
  using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>, lv::remote<"store", lv::cpu<1>>>;
  const auto by = std::make_shared<lv::in_process>();
#ifdef LEVADA_CORRECT
  using within = lv::budget<lv::traffic<1208>>;
#else
  using within = lv::budget<lv::memory<1 << 30>, lv::traffic<1024>>;
#endif
  auto p = lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"next">([](int v) { return v + 1; })) |
           lv::stage<"draw">([](int v) { return picture{static_cast<char>(v)}; }) |
           lv::on<lv::remote<"store">>(lv::stage<"smooth">([](const picture& v) { return v; }));
  auto app =
      lv::deploy<box, lv::version<"1">, within>(p, lv::endpoints<"edge">{by, {"a"}}, lv::endpoints<"store">{by, {"b"}});
  return app(21)[0];
}
