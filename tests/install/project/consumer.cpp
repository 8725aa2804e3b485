// SPDX-License-Identifier: Apache-2.0
// Uses one pipeline that is linked and one that is loaded, and prints what they make of 7.

#include <cstdio>

#include <levada/interop/pipeline_library.hpp>

#include "twice.hpp"

int main(int, char** arguments) {
  int sum = 0;
  for (const auto& pipeline : {make_twice(), levada::load_pipeline<int(int)>(arguments[1])}) {
    auto session = pipeline.open();
    session.push(7);
    sum += session.pop()->value();
  }
  std::printf("%d\n", sum);
}
