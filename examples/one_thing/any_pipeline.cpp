// SPDX-License-Identifier: Apache-2.0
// A pipeline known by its item types alone: a class that stores one, and never sees its stages.

#include <cstdio>
#include <utility>

#include <levada/levada.hpp>
#include <levada/run/any_pipeline.hpp>

namespace lv = levada;

class counter {
 public:
  explicit counter(lv::any_pipeline<int(int)> step) : step_(std::move(step)) {}
  int advance() { return value_ = step_(value_); }

 private:
  lv::any_pipeline<int(int)> step_;
  int value_ = 0;
};

int main() {
  counter by_three(
      lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::stage<"add">([](const int& x) { return x + 3; })));
  by_three.advance();
  std::printf("%d\n", by_three.advance());
  return by_three.advance() == 9 ? 0 : 1;
}
