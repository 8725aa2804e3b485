// SPDX-License-Identifier: Apache-2.0
#include "networks.hpp"

#if LEVADA_HAS_MODELS

#include "costs/page_lines.costs.hpp"

#include <page_lines.onnx.hpp>

namespace {

namespace lv = levada;

auto pipeline(const lv::safetensors& weights) {
  return lv::input<lv::tensor<std::uint8_t, 384, 768, 3>> | lv::image::to_chw |
         lv::image::normalize(std::array{0.485f, 0.456f, 0.406f}, std::array{0.229f, 0.224f, 0.225f}, 1 / 255.0f) |
         page_lines::graph(weights);
}

void profile() {
  const lv::safetensors weights{page_lines::weights_file};
  predictions::profile_network("page_lines", pipeline(weights));
}
void predict(std::vector<predictions::prediction>& all) {
  const lv::safetensors weights{page_lines::weights_file};
  predictions::predict_network<page_lines_costs>("page_lines", pipeline(weights), all);
}

}  // namespace

const predictions::network predictions::page_lines{"page_lines", &profile, &predict};

#endif
