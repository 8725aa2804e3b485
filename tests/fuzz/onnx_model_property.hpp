// SPDX-License-Identifier: Apache-2.0
#pragma once
// fuzz/onnx_model_property.hpp: what must hold for any bytes at all given to onnx_to_levada.

#include <string>
#include <string_view>

#include "model/read_model.hpp"
#include "network/elaborate.hpp"
#include "output/header.hpp"
#include "output/lowering.hpp"
#include "passes/passes.hpp"

namespace levada_test {

enum class model_outcome { refused, read, converted };

/// Reads `bytes` as a model. Every exception but `conversion_error` gets out.
inline model_outcome reads_model(std::string_view bytes) {
  try {
    static_cast<void>(levada::onnx::read_model(bytes, {}));
    return model_outcome::read;
  } catch (const levada::onnx::conversion_error&) {
    return model_outcome::refused;
  }
}

/// Reads `bytes` as a model and converts it with all its free axes 2. Every exception but `conversion_error` gets out.
inline model_outcome converts_model(std::string_view bytes) {
  namespace onnx = levada::onnx;
  auto outcome = model_outcome::refused;
  try {
    const onnx::model_def model = onnx::read_model(bytes, {});
    outcome = model_outcome::read;
    onnx::elaboration_options options;
    for (const onnx::declared& input : model.graph.inputs)
      for (std::size_t axis = 0; axis < input.dims.size(); ++axis)
        if (!input.dims[axis].value) options.dims[input.name + "." + std::to_string(axis)] = {2};
    onnx::elaboration_counts counts;
    onnx::network net = onnx::elaborate(model, options, counts);
    onnx::simplify(net);
    onnx::lowering lowered(net);
    lowered.run();
    onnx::write_header(lowered, onnx::fuse(lowered), net,
                       {.name = "m",
                        .model = "m.onnx",
                        .model_hash = "0",
                        .options = "",
                        .weights_file = "m.safetensors",
                        .states = {}});
    return model_outcome::converted;
  } catch (const onnx::conversion_error&) {
    return outcome;
  }
}

}  // namespace levada_test
