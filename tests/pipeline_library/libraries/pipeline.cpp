// SPDX-License-Identifier: Apache-2.0
// Built twice, as the libraries 1 and 2.

#include "answer.hpp"

#include <levada/interop/pipeline_library.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

namespace lv = levada;

/// The same name in both libraries, for different values: none may get the other's.
template <class T>
struct of_this_library {
  static inline T number = LIBRARY;
};

lv::any_pipeline<answer(int)> make() {
  return lv::deploy<lv::target<lv::cpu<2>>, lv::slots<16>>(
      lv::input<int> | lv::stage<"answer">([](const int& item) {
        if (fails(item)) throw no_answer(item, of_this_library<int>::number);
        return answer{item, of_this_library<int>::number, 0};
      }) |
      lv::stage<"count">([seen = 0](answer& a) mutable { a.seen = ++seen; }));
}
LEVADA_EXPORT_PIPELINE(make);
