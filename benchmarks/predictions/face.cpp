// SPDX-License-Identifier: Apache-2.0
#include "networks.hpp"

#if LEVADA_HAS_MODELS

#include "costs/face.costs.hpp"

#include <face_front.onnx.hpp>

namespace {

namespace lv = levada;

float best_score(const face_front::Identity_result& scores, const face_front::Identity_1_result& coarse_scores,
                 const face_front::Identity_2_result&, const face_front::Identity_3_result&) {
  return std::max(*std::max_element(scores.begin(), scores.end()),
                  *std::max_element(coarse_scores.begin(), coarse_scores.end()));
}

struct source {
  template <class F>
  void with(F f) const {
    const lv::safetensors weights{face_front::weights_file};
    f(lv::input<lv::tensor<std::uint8_t, 512, 512, 3>> |
      lv::image::resize<128, 128, lv::resize_mode::bilinear, lv::layout::hwc> |
      lv::transform<"scale">([](auto x) { return to_float(x) / 127.5f - 1.0f; }) | face_front::graph(weights) |
      lv::join<"best">(best_score));
  }
};

}  // namespace

const predictions::network predictions::face = predictions::network_of<"face", face_costs, source>();

#endif
