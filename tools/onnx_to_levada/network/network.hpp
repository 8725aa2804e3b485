// SPDX-License-Identifier: Apache-2.0
#pragma once
// network/network.hpp: a model as one flat graph of static shapes: sub-graphs, functions and constants are resolved.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../model/model.hpp"

namespace levada::onnx {

/// An index into `network::values`; `no_value` stands for an optional input that is absent.
using value_id = int;
inline constexpr value_id no_value = -1;

/// Integers that stand for numbers, as a DequantizeLinear takes them.
struct dequantized_constant {
  value_id integers = no_value, scale = no_value, zero_point = no_value;
  std::int64_t axis = 1;  ///< of several scales
};

struct value {
  std::string name;  ///< ONNX's
  element type = element::undefined;
  extents dims;
  std::optional<constant> known;                      ///< its elements, where they are the same for all items
  std::optional<dequantized_constant> dequantized{};  ///< where `known` was folded of these

  bool is_typed() const { return type != element::undefined; }
};

struct network;

/// Nodes of the file that ONNX Runtime computes, as one model: the NodeProto of each with other names for what it takes
/// and gives. What comes in is "x0" and so on, by the inputs of the node that they are; what leaves is "y0" and so on.
struct foreign_node {
  std::string_view message;
  std::vector<std::string> inputs, outputs;  ///< "" where an optional one is absent
  /// What its sub-graphs take from around it: the name there, and the name here.
  std::vector<std::pair<std::string, std::string>> captured;
};

struct node {
  std::string op, domain;
  std::int64_t opset = 0;  ///< the version of its domain that the model asks for
  std::string name;        ///< ONNX's, or its first output
  std::vector<value_id> inputs, outputs;
  onnx::attributes attributes;
  std::vector<std::string> stands_for;  ///< the nodes of ONNX that a pass has joined into it, itself left out
  /// Of an `If` that depends on the item: what it computes where its first input is true, and where it is not. Both
  /// have all inputs of the node.
  std::vector<std::shared_ptr<network>> branches{};
  std::vector<foreign_node> foreign{};  ///< where ONNX Runtime computes it
  std::string_view message{};           ///< where it is a node of the file with all its inputs: its NodeProto

  bool is_foreign() const { return !foreign.empty(); }
};

struct network {
  std::vector<value> values;
  std::vector<node> nodes;  ///< each behind those it takes from
  std::vector<value_id> inputs;
  std::vector<std::pair<std::string, value_id>> outputs;  ///< by ONNX's names
  opset_versions opsets{};                                ///< that the model asks for
  std::shared_ptr<const std::byte> bytes{};               ///< keeps the messages of nodes

  value_id add(value v) {
    values.push_back(std::move(v));
    return static_cast<value_id>(values.size()) - 1;
  }
  value_id add(constant known, std::string name) {
    const element type = known.type();
    extents dims = known.dims();
    return add({std::move(name), type, std::move(dims), std::move(known)});
  }
  const value& operator[](value_id id) const { return values[static_cast<std::size_t>(id)]; }
  value& operator[](value_id id) { return values[static_cast<std::size_t>(id)]; }
};

/// Who makes each value and who takes it.
struct usage {
  explicit usage(const network& net) : producer(net.values.size(), -1), consumers(net.values.size()) {
    for (std::size_t n = 0; n < net.nodes.size(); ++n) {
      for (const value_id v : net.nodes[n].outputs)
        if (v != no_value) producer[static_cast<std::size_t>(v)] = static_cast<int>(n);
      for (const value_id v : net.nodes[n].inputs)
        if (v != no_value) consumers[static_cast<std::size_t>(v)].push_back(static_cast<int>(n));
    }
    for (const auto& [name, v] : net.outputs) consumers[static_cast<std::size_t>(v)].push_back(leaves);
  }

  static constexpr int leaves = -1;  ///< the consumer that stands for an output of the network

  int producer_of(value_id v) const { return v == no_value ? -1 : producer[static_cast<std::size_t>(v)]; }
  const std::vector<int>& consumers_of(value_id v) const { return consumers[static_cast<std::size_t>(v)]; }
  /// The one node that takes it, or -1.
  int only_consumer(value_id v) const {
    const std::vector<int>& all = consumers_of(v);
    return all.size() == 1 ? all[0] : -1;
  }

  std::vector<int> producer;                ///< a node, or -1 of inputs and constants
  std::vector<std::vector<int>> consumers;  ///< nodes, or `leaves`
};

/// Removes nodes that nobody needs.
inline void remove_unused(network& net) {
  std::vector<bool> needed(net.values.size());
  for (const auto& [name, v] : net.outputs) needed[static_cast<std::size_t>(v)] = true;
  std::vector<node> kept;
  for (auto n = net.nodes.rbegin(); n != net.nodes.rend(); ++n) {
    bool wanted = false;
    for (const value_id v : n->outputs) wanted = wanted || (v != no_value && needed[static_cast<std::size_t>(v)]);
    if (!wanted) continue;
    for (const value_id v : n->inputs)
      if (v != no_value) needed[static_cast<std::size_t>(v)] = true;
    kept.push_back(std::move(*n));
  }
  net.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
}

}  // namespace levada::onnx
