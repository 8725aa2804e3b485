// SPDX-License-Identifier: Apache-2.0
// error: service_takes_an_app_or_an_any_pipeline
//
// What is served is deployed before.

#include <levada/levada.hpp>
#include <levada/service/serve.hpp>

namespace lv = levada;

int main() {
  using box = lv::target<lv::cpu<2>>;
#ifdef LEVADA_CORRECT
  auto served = lv::deploy<box>(lv::input<float> | lv::stage<"same">([](float x) { return x; }));
#else
  auto served = lv::input<float> | lv::stage<"same">([](float x) { return x; });
#endif
  const auto service = lv::serve(served, {.address = "127.0.0.1:0", .security = lv::plain_text{}});
  return static_cast<int>(service.address().size());
}
