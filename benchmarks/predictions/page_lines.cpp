// SPDX-License-Identifier: Apache-2.0
#include "networks.hpp"

#if LEVADA_HAS_MODELS

#include "costs/page_lines.costs.hpp"

#include <page_lines.onnx.hpp>

namespace {

namespace lv = levada;

struct source {
  template <class F>
  void with(F f) const {
    const lv::safetensors weights{page_lines::weights_file};
    f(lv::input<lv::tensor<std::uint8_t, 384, 768, 3>> | lv::image::to_chw |
      lv::image::normalize(std::array{0.485f, 0.456f, 0.406f}, std::array{0.229f, 0.224f, 0.225f}, 1 / 255.0f) |
      page_lines::graph(weights));
  }
};

}  // namespace

const predictions::network predictions::page_lines = predictions::network_of<"page_lines", page_lines_costs, source>();

#endif
