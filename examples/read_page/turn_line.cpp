// SPDX-License-Identifier: Apache-2.0
// The classifier: does a line stand upside down? It looks at the whole line, made narrow.

#include <levada/levada.hpp>
#include <page_turn.onnx.hpp>

#include "parts.hpp"

namespace read_page {

lv::any_pipeline<turn_scores(strip)> make_turner() {
  const lv::safetensors weights{page_turn::weights_file};
  const auto turn =
      lv::input<strip> | lv::image::resize<strip_height, 192, lv::layout::chw> | page_turn::graph(weights);
  return lv::deploy<lv::target<lv::cpu<2>>, lv::slots<2>>(turn);
}

}  // namespace read_page
