// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>

#include "../ops/folding.hpp"
#include "../output/lowering.hpp"
#include "passes.hpp"

namespace levada::onnx {
namespace {

/// y = scale x + shift of each channel.
struct affine {
  std::vector<double> scale, shift;
};

/// A constant as one number for each of `channels` along `axis` of a value of that rank; none if it has other extents.
std::optional<std::vector<double>> by_channel(const constant& known, std::size_t rank, std::size_t axis,
                                              std::int64_t channels) {
  std::vector<double> numbers = known.as<double>();
  if (numbers.size() == 1 && known.dims().size() <= rank)
    return std::vector<double>(static_cast<std::size_t>(channels), numbers[0]);
  const extents& d = known.dims();
  if (d.size() > rank || static_cast<std::int64_t>(numbers.size()) != channels) return std::nullopt;
  const std::size_t missing = rank - d.size();
  if (axis < missing || d[axis - missing] != channels) return std::nullopt;
  return numbers;
}

/// What a node does to each channel of its first input that is not constant, and which input that is.
std::optional<std::pair<affine, value_id>> affine_of(const network& net, const node& n, std::size_t axis,
                                                     std::int64_t channels) {
  const auto count = static_cast<std::size_t>(channels);
  if (n.op == "BatchNormalization") {
    for (std::size_t i = 1; i < 5; ++i)
      if (n.inputs.size() < 5 || n.inputs[i] == no_value || !net[n.inputs[i]].known) return std::nullopt;
    if (axis != 1 || n.outputs.size() > 1) return std::nullopt;
    const auto number = n.attributes.find("epsilon");
    const double epsilon = number == n.attributes.end() ? 1e-5 : number->second.number;
    const std::vector<double> scale = net[n.inputs[1]].known->as<double>(), bias = net[n.inputs[2]].known->as<double>(),
                              mean = net[n.inputs[3]].known->as<double>(),
                              variance = net[n.inputs[4]].known->as<double>();
    affine a{std::vector<double>(count), std::vector<double>(count)};
    for (std::size_t c = 0; c < count; ++c) {
      a.scale[c] = scale.at(c) / std::sqrt(variance.at(c) + epsilon);
      a.shift[c] = bias.at(c) - mean.at(c) * a.scale[c];
    }
    return std::pair(std::move(a), n.inputs[0]);
  }
  static constexpr std::string_view ops[] = {"Mul", "Add", "Div", "Sub"};
  if (std::ranges::find(ops, n.op) == std::end(ops)) return std::nullopt;
  const bool first = net[n.inputs[0]].known.has_value();
  if (first == net[n.inputs[1]].known.has_value()) return std::nullopt;
  const value_id data = n.inputs[first ? 1 : 0];
  const auto numbers = by_channel(*net[n.inputs[first ? 0 : 1]].known, net[data].dims.size(), axis, channels);
  if (!numbers || net[n.outputs[0]].dims != net[data].dims) return std::nullopt;
  affine a{std::vector<double>(count, 1.0), std::vector<double>(count, 0.0)};
  if (n.op == "Mul") {
    a.scale = *numbers;
  } else if (n.op == "Add") {
    a.shift = *numbers;
  } else if (n.op == "Div" && !first) {
    for (std::size_t c = 0; c < count; ++c) a.scale[c] = 1 / (*numbers)[c];
  } else if (n.op == "Sub") {
    for (std::size_t c = 0; c < count; ++c) {
      a.shift[c] = first ? (*numbers)[c] : -(*numbers)[c];
      if (first) a.scale[c] = -1;
    }
  } else {
    return std::nullopt;
  }
  return std::pair(std::move(a), data);
}

/// The axis of the weight's filters, and whether a node has weights that an affine op goes into.
struct weighted {
  std::size_t channel_axis;  ///< of its output
  std::int64_t channels;
};
std::optional<weighted> weighted_of(const network& net, const node& n) {
  static constexpr std::string_view ops[] = {"Conv", "ConvTranspose", "MatMul", "Gemm"};
  if (std::ranges::find(ops, n.op) == std::end(ops)) return std::nullopt;
  if (!net[n.inputs[1]].known || net[n.inputs[0]].known || !is_floating(net[n.inputs[1]].type)) return std::nullopt;
  const bool has_sum = n.inputs.size() > 2 && n.inputs[2] != no_value;
  if (has_sum && !net[n.inputs[2]].known) return std::nullopt;
  const extents& out = net[n.outputs[0]].dims;
  if (n.op == "Conv" || n.op == "ConvTranspose") return weighted{1, out[1]};
  if (n.op == "MatMul" && net[n.inputs[1]].dims.size() == 2 && !out.empty())
    return weighted{out.size() - 1, out.back()};
  if (n.op == "Gemm") {
    for (const char* key : {"alpha", "beta"})
      if (const auto found = n.attributes.find(key); found != n.attributes.end() && found->second.number != 1)
        return std::nullopt;
    if (has_sum && without_leading_ones(net[n.inputs[2]].dims) != extents{out[1]}) return std::nullopt;
    return weighted{1, out[1]};
  }
  return std::nullopt;
}

/// The output channel of element `i` of the weight.
std::size_t channel_of(const node& n, const extents& weight, std::int64_t groups, std::int64_t i) {
  const std::vector<std::int64_t> strides = strides_of(weight);
  if (n.op == "Conv") return static_cast<std::size_t>(i / strides[0]);
  if (n.op == "ConvTranspose") {
    const std::int64_t in = i / strides[0], filter = i / strides[1] % weight[1];
    return static_cast<std::size_t>(in / (weight[0] / groups) * weight[1] + filter);
  }
  const auto turned = n.attributes.find("transB");
  const bool rows = n.op == "Gemm" && turned != n.attributes.end() && turned->second.integer != 0;
  return static_cast<std::size_t>(rows ? i / strides[0] : i % weight[1]);
}

void apply(network& net, node& n, const affine& a) {
  const constant& weight = *net[n.inputs[1]].known;
  const auto found = n.attributes.find("group");
  const std::int64_t groups = found == n.attributes.end() ? 1 : found->second.integer;
  std::vector<double> numbers = weight.as<double>();
  bool scales = false;
  for (const double s : a.scale) scales = scales || s != 1;
  if (scales) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] *= a.scale[channel_of(n, weight.dims(), groups, static_cast<std::int64_t>(i))];
    n.inputs[1] = net.add(constant::of(weight.type(), weight.dims(), numbers), net[n.inputs[1]].name);
  }
  const element type = weight.type();
  std::vector<double> bias(a.shift.size());
  if (n.inputs.size() > 2 && n.inputs[2] != no_value) bias = net[n.inputs[2]].known->as<double>();
  for (std::size_t c = 0; c < bias.size(); ++c) bias[c] = bias[c] * a.scale[c] + a.shift[c];
  n.inputs.resize(std::max<std::size_t>(n.inputs.size(), 3), no_value);
  n.inputs[2] = net.add(constant::of(type, {static_cast<std::int64_t>(bias.size())}, bias), n.name + ".bias");
}

}  // namespace

void fold_affine(network& net) {
  const usage used(net);
  std::vector<int> producer = used.producer;
  producer.resize(net.values.size(), -1);
  for (std::size_t at = 0; at < net.nodes.size(); ++at) {
    for (const value_id data : std::vector(net.nodes[at].inputs)) {
      if (data == no_value || static_cast<std::size_t>(data) >= producer.size()) continue;
      const int before = producer[static_cast<std::size_t>(data)];
      if (before < 0 || used.only_consumer(data) != static_cast<int>(at)) continue;
      const auto form = weighted_of(net, net.nodes[static_cast<std::size_t>(before)]);
      if (!form) continue;
      const auto found = affine_of(net, net.nodes[at], form->channel_axis, form->channels);
      if (!found || found->second != data) continue;
      node& weights = net.nodes[static_cast<std::size_t>(before)];
      apply(net, weights, found->first);
      weights.stands_for.push_back(net.nodes[at].op + " " + net.nodes[at].name);
      // The node gives what the affine op gave, which then nobody makes any more.
      const value_id result = net.nodes[at].outputs[0];
      weights.outputs[0] = result;
      producer[static_cast<std::size_t>(result)] = before;
      net.nodes[at].outputs = {net.add({net.nodes[at].name, net[result].type, net[result].dims, {}})};
      break;
    }
  }
  remove_unused(net);
}

}  // namespace levada::onnx
