// SPDX-License-Identifier: Apache-2.0
// error: item_has_no_form_between_machines_specialise_wire
// place: "edge"
// place: vector
//
// A vector has its elements elsewhere, and nothing says how they are written.

#include <vector>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;

int main() {
  using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
  const auto by = std::make_shared<lv::in_process>();
#ifdef LEVADA_CORRECT
  auto make = lv::stage<"make">([](int v) { return v; });
  auto count = lv::stage<"count">([](int v) { return v; });
#else
  auto make = lv::stage<"make">([](int v) { return std::vector<int>(static_cast<std::size_t>(v)); });
  auto count = lv::stage<"count">([](const std::vector<int>& v) { return static_cast<int>(v.size()); });
#endif
  auto p = lv::input<int> | make | lv::on<lv::remote<"edge">>(count);
  auto app = lv::deploy<box, lv::version<"1">>(p, lv::endpoints<"edge">{by, {"a"}});
  return app(21);
}
