// SPDX-License-Identifier: Apache-2.0
// error: service_needs_a_pipeline_that_gives_one_result_for_each_item
//
// A request has as many results as items, and a filter takes some of them away.

#include <optional>

#include <levada/levada.hpp>
#include <levada/service/serve.hpp>

namespace lv = levada;

int main() {
  using box = lv::target<lv::cpu<2>>;
#ifdef LEVADA_CORRECT
  auto served = lv::deploy<box>(lv::input<float> | lv::stage<"odd">([](float x) { return x; }));
#else
  auto served = lv::deploy<box>(lv::input<float> |
                                lv::stage<"odd">([](float x) { return x > 0 ? std::optional(x) : std::nullopt; }));
#endif
  const auto service = lv::serve(served, {.address = "127.0.0.1:0", .security = lv::plain_text{}});
  return static_cast<int>(service.address().size());
}
