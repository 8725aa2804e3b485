// SPDX-License-Identifier: Apache-2.0
// error: large_result_is_written_to_a_place_given_to_the_call_or_streamed_or_opened_with_external_results
// place: float, 3, 1024, 512
//
// A result of 6 MB has no place on the stack of whoever calls the app.

#include <memory>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  using item = lv::tensor<float, 3, 1024, 512>;
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<item> | lv::stage<"a">([](item& t) { t[0] = 1; }));
  const auto in = std::make_unique<item>(), out = std::make_unique<item>();
#ifdef LEVADA_CORRECT
  app(*in, *out);
#else
  app(*in);
#endif
  return static_cast<int>((*out)[0]);
}
