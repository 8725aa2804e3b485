// SPDX-License-Identifier: Apache-2.0
// error: key_is_not_told_by_its_bytes_take_a_number
// place: "edge"
// place: float
//
// Two floats that are equal may have other bytes.

#include <levada/fleet/detail/by_key.hpp>
#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;

struct frame {
  int camera = 0;
};

int main() {
  const auto by = std::make_shared<lv::in_process>();
  auto track = lv::stage<"track">([n = 0](const frame&) mutable { return ++n; });
#ifdef LEVADA_CORRECT
  using edge = lv::remote<"edge", lv::cpu<2>>;
  auto p = lv::input<frame> | lv::on<edge>(track);
#else
  using edge = lv::fleet<"edge", lv::cpu<2>>;
  auto p = lv::input<frame> |
           lv::on<edge, lv::by<[](const frame& f) { return 0.5f * static_cast<float>(f.camera); }>, lv::partitions<4>>(
               track);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>, edge>, lv::version<"1">, lv::state_restarts>(
      p, lv::endpoints<"edge">{by, {"a"}});
  return app(frame{});
}
