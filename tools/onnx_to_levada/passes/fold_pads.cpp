// SPDX-License-Identifier: Apache-2.0
#include "../ops/op_call.hpp"
#include "passes.hpp"

namespace levada::onnx {
namespace {

/// The sides of a pad with zeros of the spatial axes alone; none of another.
std::optional<std::vector<std::int64_t>> zero_sides(const network& net, const node& n) {
  if (n.op != "Pad") return std::nullopt;
  const op_call call(net, n);
  if (call.text("mode", "constant") != "constant") return std::nullopt;
  const bool by_input = call.opset() >= 11;
  if (by_input && (!call.is_known(1) ||
                   (call.has(2) && (!call.is_known(2) || call.in(2).known->scalar<double>() != 0)) || call.has(3)))
    return std::nullopt;
  if (!by_input && call.number("value", 0) != 0) return std::nullopt;
  const std::vector<std::int64_t> sides = by_input ? call.in(1).known->as<std::int64_t>() : call.integers("pads");
  const std::size_t rank = call.dims().size();
  if (sides.size() != 2 * rank || rank < 3) return std::nullopt;
  for (std::size_t i = 0; i < sides.size(); ++i)
    if (sides[i] < 0 || (i % rank < 2 && sides[i] != 0)) return std::nullopt;
  return sides;
}

}  // namespace

void fold_pads(network& net) {
  const usage used(net);
  for (node& n : net.nodes) {
    if (n.op != "Conv") continue;
    const auto mode = n.attributes.find("auto_pad");
    if (mode != n.attributes.end() && mode->second.text != "NOTSET" && mode->second.text != "VALID") continue;
    const int before = used.producer_of(n.inputs[0]);
    if (before < 0) continue;
    const node& pad = net.nodes[static_cast<std::size_t>(before)];
    const auto sides = zero_sides(net, pad);
    if (!sides) continue;
    const std::size_t rank = net[n.inputs[0]].dims.size(), axes = rank - 2;
    attribute& pads = n.attributes["pads"];
    if (mode != n.attributes.end()) mode->second.text = "NOTSET";
    pads.integers.resize(2 * axes);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      pads.integers[axis] += (*sides)[2 + axis];
      pads.integers[axes + axis] += (*sides)[rank + 2 + axis];
    }
    n.stands_for.push_back("Pad " + pad.name);
    n.inputs[0] = pad.inputs[0];
  }
  remove_unused(net);
}

}  // namespace levada::onnx
