// SPDX-License-Identifier: Apache-2.0
// error: service_gives_results_that_are_tensors_or_numbers
// place: pair
//
// A pair is no tensor; `named_items` are several.

#include <utility>

#include <levada/levada.hpp>
#include <levada/service/serve.hpp>

namespace lv = levada;

int main() {
  using box = lv::target<lv::cpu<2>>;
#ifdef LEVADA_CORRECT
  auto served = lv::deploy<box>(lv::input<float> | lv::stage<"two">([](float x) { return x; }));
#else
  auto served = lv::deploy<box>(lv::input<float> | lv::stage<"two">([](float x) { return std::pair(x, x); }));
#endif
  const auto service = lv::serve(served, {.address = "127.0.0.1:0", .security = lv::plain_text{}});
  return static_cast<int>(service.address().size());
}
