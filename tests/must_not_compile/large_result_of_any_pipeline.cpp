// SPDX-License-Identifier: Apache-2.0
// error: large_result_of_any_pipeline_is_streamed_or_popped
// place: float, 3, 1024, 512
//
// A result of 6 MB has no place on the stack of whoever calls a pipeline that is known by its item types alone.

#include <memory>

#include <levada/levada.hpp>
#include <levada/run/any_pipeline.hpp>

namespace lv = levada;

int main() {
  using item = lv::tensor<float, 3, 1024, 512>;
  const lv::any_pipeline<item(item)> any =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<item> | lv::stage<"a">([](item& t) { t[0] = 1; }));
  const auto in = std::make_unique<item>();
#ifdef LEVADA_CORRECT
  auto session = any.open();
  session.push(*in);
  const auto out = session.pop();
  return static_cast<int>(out->value()[0]);
#else
  any(*in);
#endif
}
