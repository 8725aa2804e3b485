// SPDX-License-Identifier: Apache-2.0
// error: any_pipeline_has_another_signature
// place-gcc: wants<int(int)>
// place-gcc: gives<std::optional<int>(int)>
// place-clang: wants<int (int)>
// place-clang: gives<std::optional<int> (int)>
//
// A pipeline that filters is declared, in the header of its consumers, as one that always answers.

#include <optional>

#include <levada/levada.hpp>
#include <levada/run/any_pipeline.hpp>

namespace lv = levada;

#ifdef LEVADA_CORRECT
using declared = std::optional<int>(int);
#else
using declared = int(int);
#endif

lv::any_pipeline<declared> make_odd() {
  return lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"odd">([](const int& i) -> std::optional<int> {
                                              if (i % 2 == 0) return std::nullopt;
                                              return i;
                                            }));
}
