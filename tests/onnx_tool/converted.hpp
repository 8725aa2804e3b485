// SPDX-License-Identifier: Apache-2.0
#pragma once
// onnx_tool/converted.hpp: what the tool makes of a model in memory, and the sentence where it refuses one.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/read_model.hpp"
#include "model_writer.hpp"
#include "network/elaborate.hpp"
#include "output/header.hpp"
#include "output/lowering.hpp"
#include "passes/passes.hpp"

namespace levada_test {

inline levada::onnx::network elaborated(std::string_view bytes, const levada::onnx::elaboration_options& options = {}) {
  levada::onnx::elaboration_counts counts;
  return levada::onnx::elaborate(levada::onnx::read_model(bytes, {}), options, counts);
}

/// The same behind the passes.
inline levada::onnx::network simplified(const graph_text& g) {
  levada::onnx::network net = elaborated(model(g));
  levada::onnx::simplify(net);
  return net;
}

/// What a header says of its model.
inline const levada::onnx::header_text of_m{
    .name = "m", .model = "m.onnx", .model_hash = "0", .options = "", .weights_file = "m.safetensors", .states = {}};

/// The header, and what is in the file of weights.
struct converted {
  std::string header;
  std::map<std::string, levada::onnx::constant> weights;

  explicit converted(std::string_view bytes, const levada::onnx::elaboration_options& options = {}) {
    levada::onnx::network net = elaborated(bytes, options);
    if (options.leave_unsupported) levada::onnx::leave_to_onnx_runtime(net);
    levada::onnx::simplify(net);
    levada::onnx::lowering lowered(net);
    lowered.run();
    header = levada::onnx::write_header(lowered, levada::onnx::fuse(lowered), net, of_m);
    weights = lowered.weights();
  }
  bool has(std::string_view text) const { return header.find(text) != std::string::npos; }
};

/// What a call is refused with; "" where it is not.
template <class F>
std::string refusal(F call) {
  try {
    call();
    return "";
  } catch (const levada::onnx::conversion_error& failure) {
    return failure.what();
  }
}

/// The ops that are left, in order.
inline std::vector<std::string> ops_of(const levada::onnx::network& net) {
  std::vector<std::string> ops;
  for (const levada::onnx::node& n : net.nodes) ops.push_back(n.op);
  return ops;
}

}  // namespace levada_test
