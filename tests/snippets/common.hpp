// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/common.hpp: what the snippets of several documents speak of. They are compiled and not run, so all of it is
// declared only. tools/check_snippets.py says how.

#include <cstdint>
#include <vector>

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>

namespace lv = levada;
using namespace lv::literals;

using picture = lv::tensor<std::uint8_t, 1, 28, 28>;
using box = lv::target<lv::cpu<2>>;

extern const lv::parameter_map weights;
extern const picture shot;
extern const std::vector<picture> pictures;

/// The network of the README, shorter.
template <lv::parameter_source Weights>
auto classifier(const Weights& from) {
  return lv::input<picture> | lv::transform<"normalise">([](auto px) { return to_float(px) / 255.0f; }) |
         lv::nn::conv2d<"conv1", 8, lv::size<5, 5>, lv::padding<2>>(from) | lv::nn::relu | lv::nn::max_pool2d<2> |
         lv::nn::flatten | lv::nn::dense<"dense", 10>(from) |
         lv::stage<"label">([](const lv::tensor<float, 10>& p) { return lv::argmax(p); });
}

using classifier_app = decltype(lv::deploy<box>(classifier(weights)));

void use(int label);
