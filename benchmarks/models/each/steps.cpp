// SPDX-License-Identifier: Apache-2.0
#include "steps.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include <model/read_model.hpp>

namespace models {
namespace {

namespace onnx = levada::onnx;

std::vector<float> floats(const onnx::constant& of) {
  const std::vector<double> all = of.as<double>();
  return {all.begin(), all.end()};
}

class reader {
 public:
  explicit reader(const onnx::graph_def& graph) : graph_(graph) {
    for (const auto& [name, constant] : graph.initializers) constants_.emplace(name, constant);
    for (const onnx::node_def& node : graph.nodes)
      for (const std::string& input : node.inputs) ++uses_[input];
  }

  std::optional<network_steps> read() {
    std::vector<const onnx::declared*> inputs;
    for (const onnx::declared& input : graph_.inputs)
      if (!constants_.contains(input.name)) inputs.push_back(&input);
    if (inputs.size() != 1 || graph_.outputs.size() != 1 || inputs[0]->dims.size() != 4) return std::nullopt;
    std::vector<std::size_t> dims;
    for (const onnx::declared_extent& d : inputs[0]->dims)
      dims.push_back(static_cast<std::size_t>(d.value.value_or(0)));
    if (dims[0] != 1 || dims[1] == 0 || dims[2] == 0 || dims[3] == 0) return std::nullopt;
    add_value(inputs[0]->name, {dims[1], dims[2], dims[3]});
    for (const onnx::node_def& node : graph_.nodes)
      if (!take(node)) return std::nullopt;
    const auto output = values_.find(graph_.outputs[0].name);
    if (output == values_.end()) return std::nullopt;
    all_.output = output->second;
    return std::move(all_);
  }

 private:
  using integers = std::vector<std::int64_t>;

  static integers attribute(const onnx::node_def& node, std::string_view name, integers otherwise) {
    const auto at = node.attributes.find(name);
    return at == node.attributes.end() ? std::move(otherwise) : at->second.integers;
  }
  static std::int64_t attribute(const onnx::node_def& node, std::string_view name, std::int64_t otherwise) {
    const auto at = node.attributes.find(name);
    return at == node.attributes.end() ? otherwise : at->second.integer;
  }
  static bool is(const integers& all, std::int64_t number) {
    return std::ranges::count(all, number) == std::ssize(all);
  }

  std::size_t add_value(const std::string& name, value_extents extents) {
    all_.values.push_back(extents);
    return values_[name] = all_.values.size() - 1;
  }
  const onnx::constant* constant(const onnx::node_def& node, std::size_t input) const {
    const auto at = input < node.inputs.size() ? constants_.find(node.inputs[input]) : constants_.end();
    return at == constants_.end() ? nullptr : &at->second;
  }

  bool take(const onnx::node_def& node) {
    if (node.op == "Constant") return constants_.emplace(node.outputs[0], *node.attributes.at("value").tensor).second;
    const auto first = node.inputs.empty() ? values_.end() : values_.find(node.inputs[0]);
    if (first == values_.end()) return false;
    const std::size_t in = first->second;
    const value_extents extents = all_.values[in];
    if (node.op == "Identity" || (node.op == "Flatten" && extents.height * extents.width == 1)) {
      values_[node.outputs[0]] = in;
      return true;
    }
    if (node.op == "Relu" || node.op == "Clip") return bound(node, in);

    step s;
    s.inputs = {in};
    value_extents out = extents;
    if (node.op == "Conv") {
      const onnx::constant *const weight = constant(node, 1), *const bias = constant(node, 2);
      if (weight == nullptr || bias == nullptr || !take_window(node, s)) return false;
      s.groups = static_cast<std::size_t>(attribute(node, "group", 1));
      s.weight = floats(*weight), s.bias = floats(*bias);
      out = windowed(s, {s.bias.size(), extents.height, extents.width});
    } else if (node.op == "MaxPool") {
      s.of = step::kind::max_pool;
      if (!take_window(node, s) || attribute(node, "ceil_mode", 0) != 0) return false;
      out = windowed(s, extents);
    } else if (node.op == "GlobalAveragePool") {
      s.of = step::kind::mean;
      out = {extents.channels, 1, 1};
    } else if (node.op == "Gemm") {
      const onnx::constant *const weight = constant(node, 1), *const bias = constant(node, 2);
      if (weight == nullptr || bias == nullptr || attribute(node, "transB", 0) != 1 || node.attributes.size() != 1)
        return false;
      s.of = step::kind::dense;
      s.weight = floats(*weight), s.bias = floats(*bias);
      out = {s.bias.size(), 1, 1};
    } else if ((node.op == "Add" || node.op == "Concat") && node.inputs.size() == 2) {
      const auto second = values_.find(node.inputs[1]);
      if (second == values_.end()) return false;
      const value_extents other = all_.values[second->second];
      if (other.height != extents.height || other.width != extents.width) return false;
      s.of = node.op == "Add" ? step::kind::add : step::kind::concat;
      if (s.of == step::kind::add ? other.channels != extents.channels : attribute(node, "axis", 0) != 1) return false;
      s.inputs.push_back(second->second);
      if (s.of == step::kind::concat) out.channels += other.channels;
    } else {
      return false;
    }
    s.output = add_value(node.outputs[0], out);
    all_.steps.push_back(std::move(s));
    return true;
  }

  /// A relu or clip belongs to the step before it, whose result nobody else takes.
  bool bound(const onnx::node_def& node, std::size_t in) {
    if (all_.steps.empty() || all_.steps.back().output != in || uses_[node.inputs[0]] != 1) return false;
    step& s = all_.steps.back();
    if (node.op == "Relu") {
      s.least = std::max(s.least, 0.0f);
    } else {
      const onnx::constant *const least = constant(node, 1), *const most = constant(node, 2);
      if (least == nullptr || most == nullptr) return false;
      s.least = std::max(s.least, floats(*least).at(0)), s.most = std::min(s.most, floats(*most).at(0));
    }
    values_[node.outputs[0]] = in;
    return true;
  }

  static bool take_window(const onnx::node_def& node, step& s) {
    const integers extents = attribute(node, "kernel_shape", integers{}), strides = attribute(node, "strides", {1, 1}),
                   pads = attribute(node, "pads", {0, 0, 0, 0});
    if (extents.size() != 2 || strides.size() != 2 || pads.size() != 4 || node.attributes.contains("auto_pad") ||
        !is(attribute(node, "dilations", integers{1, 1}), 1))
      return false;
    const auto size = [](std::int64_t x) { return static_cast<std::size_t>(x); };
    s.height = size(extents[0]), s.width = size(extents[1]), s.stride_y = size(strides[0]),
    s.stride_x = size(strides[1]);
    s.top = size(pads[0]), s.left = size(pads[1]), s.bottom = size(pads[2]), s.right = size(pads[3]);
    return true;
  }
  static value_extents windowed(const step& s, value_extents in) {
    return {in.channels, (in.height + s.top + s.bottom - s.height) / s.stride_y + 1,
            (in.width + s.left + s.right - s.width) / s.stride_x + 1};
  }

  const onnx::graph_def& graph_;
  std::map<std::string, onnx::constant> constants_;
  std::map<std::string, std::size_t> uses_, values_;
  network_steps all_;
};

}  // namespace

std::optional<network_steps> read_steps(const std::string& file) {
  const onnx::model_def model = onnx::read_model(file);
  return reader(model.graph).read();
}

}  // namespace models
