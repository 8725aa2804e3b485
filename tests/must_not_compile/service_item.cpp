// SPDX-License-Identifier: Apache-2.0
// error: service_takes_items_that_are_tensors_or_numbers
// place: vector
//
// A client of another language knows tensors, and no vector.

#include <vector>

#include <levada/levada.hpp>
#include <levada/service/serve.hpp>

namespace lv = levada;

int main() {
  using box = lv::target<lv::cpu<2>>;
#ifdef LEVADA_CORRECT
  auto served = lv::deploy<box>(lv::input<float> | lv::stage<"sum">([](float x) { return x; }));
#else
  auto served =
      lv::deploy<box>(lv::input<std::vector<float>> | lv::stage<"sum">([](const std::vector<float>&) { return 1.f; }));
#endif
  const auto service = lv::serve(served, {.address = "127.0.0.1:0", .security = lv::plain_text{}});
  return static_cast<int>(service.address().size());
}
