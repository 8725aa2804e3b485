// SPDX-License-Identifier: Apache-2.0
// error: state_of_a_stage_by_key_is_not_plain_give_it_save_and_load
// place: "edge"
// place: "track"
//
// A string is where it is in memory, and the next worker has another memory.

#include <string>

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
  auto track = lv::stage<"track">([last = std::string()](const frame& f) mutable {
    last += static_cast<char>(f.camera);
    return static_cast<int>(last.size());
  });
#ifdef LEVADA_CORRECT
  using edge = lv::remote<"edge", lv::cpu<2>>;
  auto p = lv::input<frame> | lv::on<edge>(track);
#else
  using edge = lv::fleet<"edge", lv::cpu<2>>;
  auto p = lv::input<frame> | lv::on<edge, lv::by<&frame::camera>, lv::partitions<4>>(track);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>, edge>, lv::version<"1">, lv::state_restarts>(
      p, lv::endpoints<"edge">{by, {"a"}});
  return app(frame{});
}
