// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/stages.hpp: for docs/stages.md.
#include <chrono>

#include <levada/levada.hpp>

#include "common.hpp"

using frame = lv::tensor<std::uint8_t, 48, 64>;
using scores = lv::tensor<float, 10>;
struct boxes {
  float left, top;
  std::chrono::steady_clock::time_point captured;
};
template <class Place>
frame resized(const frame& f, Place&) {
  return f;
}
scores model_of(const frame& f);
template <class Place>
boxes boxes_of(const scores& s, const Place&) {
  return {s[0], s[1], {}};
}
constexpr auto model = lv::stage<"model">(model_of);
