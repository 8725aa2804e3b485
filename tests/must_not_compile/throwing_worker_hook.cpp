// SPDX-License-Identifier: Apache-2.0
// error: hook_of_a_worker_is_a_noexcept_function_that_takes_and_returns_nothing
// place: begin
//
// It is called on a thread of the deployment, where nobody could catch what it throws.

#include <levada/levada.hpp>

namespace lv = levada;

namespace {

#ifdef LEVADA_CORRECT
void begin() noexcept {}
#else
void begin() {}
#endif

}  // namespace

int main() {
  auto p = lv::input<int> | lv::stage<"a">([](const int& x) { return x; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::on_worker_start<&begin>>(p);
  static_assert(decltype(app)::plan.segments == 1);
  auto session = app.open();
  session.push(1);
  return session.pop()->value();
}
