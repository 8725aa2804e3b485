// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "../ops/folding.hpp"
#include "matcher.hpp"
#include "passes.hpp"

namespace levada::onnx {

std::vector<std::int64_t> permutation_of(const network& net, const node& transpose) {
  const auto found = transpose.attributes.find("perm");
  if (found != transpose.attributes.end()) return found->second.integers;
  std::vector<std::int64_t> reversed(net[transpose.inputs[0]].dims.size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return reversed;
}

namespace {

using permutation = std::vector<std::int64_t>;

bool is_identity(const permutation& p) { return std::is_sorted(p.begin(), p.end()); }

/// Elements that transposes move, where they move any.
std::int64_t moved_elements(const network& net) {
  std::int64_t moved = 0;
  for (const node& n : net.nodes)
    if (n.op == "Transpose" && n.domain.empty()) moved += elements_of(net[n.outputs[0]].dims);
  return moved;
}

constexpr std::string_view unary_ops[] = {"Relu",        "Sigmoid",    "Tanh", "LeakyRelu", "Elu",     "Selu",  "Clip",
                                          "HardSigmoid", "HardSwish",  "Silu", "Gelu",      "Exp",     "Log",   "Sqrt",
                                          "Abs",         "Neg",        "Erf",  "Softplus",  "Cast",    "Floor", "Ceil",
                                          "Round",       "Reciprocal", "Mish", "Celu",      "Softsign"};
constexpr std::string_view binary_ops[] = {"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu"};

/// Pushes transposes towards the outputs.
class pushing {
 public:
  explicit pushing(const network& from) : net_(from) {}

  network run() {
    std::vector<node> all = std::move(net_.nodes);
    net_.nodes.clear();
    for (node& n : all) one(std::move(n));
    for (auto& [name, id] : net_.outputs) id = materialised(id);
    remove_unused(net_);
    return std::move(net_);
  }

 private:
  /// A value is the transpose of another one, which is not made before somebody needs it.
  struct pending {
    value_id of;
    permutation axes;
  };

  void one(node n) {
    if (!n.domain.empty()) return plain(std::move(n));
    if (n.op == "Transpose") {
      pending p{n.inputs[0], permutation_of(net_, n)};
      if (const auto before = pending_.find(p.of); before != pending_.end()) {
        for (std::int64_t& axis : p.axes) axis = before->second.axes[static_cast<std::size_t>(axis)];
        p.of = before->second.of;
      }
      pending_.emplace(n.outputs[0], std::move(p));
      return;
    }
    const bool unary = std::ranges::find(unary_ops, n.op) != std::end(unary_ops);
    const bool binary = std::ranges::find(binary_ops, n.op) != std::end(binary_ops) && n.inputs.size() == 2;
    if (unary && pending_.contains(n.inputs[0])) return pushed(std::move(n), pending_.at(n.inputs[0]).axes, 1);
    if (binary || n.op == "Concat") {
      if (const auto axes = common_axes(n)) return pushed(std::move(n), *axes, n.inputs.size());
    }
    plain(std::move(n));
  }

  /// The order that all inputs have that are not constants of as many axes at most.
  std::optional<permutation> common_axes(const node& n) const {
    std::optional<permutation> axes;
    const std::size_t rank = net_[n.outputs[0]].dims.size();
    for (const value_id input : n.inputs) {
      if (const auto found = pending_.find(input); found != pending_.end()) {
        if ((axes && *axes != found->second.axes) || found->second.axes.size() != rank) return std::nullopt;
        axes = found->second.axes;
      } else if (!net_[input].known || net_[input].dims.size() > rank) {
        return std::nullopt;
      }
    }
    return axes;
  }

  // `from` is moved from inside alone: what else is passed may come from it.
  void pushed(node&& from, const permutation axes, std::size_t data_inputs) {
    node n = std::move(from);
    for (std::size_t i = 0; i < data_inputs; ++i) {
      value_id& input = n.inputs[i];
      if (const auto found = pending_.find(input); found != pending_.end())
        input = found->second.of;
      else
        input = turned_constant(input, axes);
    }
    if (n.op == "Concat") {
      attribute& axis = n.attributes["axis"];
      const auto rank = static_cast<std::int64_t>(axes.size());
      axis.integer = axes[static_cast<std::size_t>(axis.integer < 0 ? axis.integer + rank : axis.integer)];
    }
    const value_id result = n.outputs[0];
    extents dims(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) dims[static_cast<std::size_t>(axes[i])] = net_[result].dims[i];
    const value_id before = net_.add({net_[result].name, net_[result].type, dims, {}});
    n.outputs[0] = before;
    net_.nodes.push_back(std::move(n));
    pending_.emplace(result, pending{before, axes});
  }

  /// A constant that stands beside a transposed value, as it stands beside that value untransposed.
  value_id turned_constant(value_id id, const permutation& axes) {
    extents from(axes.size(), 1);
    const constant known = *net_[id].known;
    std::copy(known.dims().begin(), known.dims().end(), from.end() - static_cast<std::ptrdiff_t>(known.dims().size()));
    const std::vector<std::int64_t> strides = strides_of(from);
    extents dims(axes.size());
    std::vector<std::int64_t> steps(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      dims[static_cast<std::size_t>(axes[i])] = from[i];
      steps[static_cast<std::size_t>(axes[i])] = strides[i];
    }
    return net_.add(picked(known, dims, strided_offsets(dims, steps)), net_[id].name);
  }

  void plain(node n) {
    for (value_id& input : n.inputs)
      if (input != no_value) input = materialised(input);
    net_.nodes.push_back(std::move(n));
  }

  value_id materialised(value_id id) {
    const auto found = pending_.find(id);
    if (found == pending_.end()) return id;
    if (is_identity(found->second.axes)) return found->second.of;
    if (!made_.insert(id).second) return id;
    node n;
    n.op = "Transpose";
    n.opset = 13;
    n.name = net_[id].name;
    n.inputs = {found->second.of};
    n.outputs = {id};
    n.attributes["perm"].integers = found->second.axes;
    net_.nodes.push_back(std::move(n));
    return id;
  }

  network net_;
  std::map<value_id, pending> pending_;
  std::set<value_id> made_;
};

}  // namespace

void move_transposes(network& net) {
  network moved = pushing(net).run();
  if (moved_elements(moved) < moved_elements(net)) net = std::move(moved);
}

}  // namespace levada::onnx
