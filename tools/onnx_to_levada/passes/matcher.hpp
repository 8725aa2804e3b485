// SPDX-License-Identifier: Apache-2.0
#pragma once
// passes/matcher.hpp: walks back from a node over those that make what it takes.

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../network/network.hpp"

namespace levada::onnx {

class matcher {
 public:
  matcher(const network& net, const usage& used) : net_(net), used_(used) {}

  /// The node of that op that makes a value; null if another makes it.
  const node* made_by(value_id v, std::string_view op) const {
    const int at = used_.producer_of(v);
    if (at < 0) return nullptr;
    const node& n = net_.nodes[static_cast<std::size_t>(at)];
    return n.op == op && n.domain.empty() ? &n : nullptr;
  }
  /// The same where one node alone takes the value, once.
  const node* made_for_one(value_id v, std::string_view op) const {
    return v != no_value && used_.only_consumer(v) >= 0 ? made_by(v, op) : nullptr;
  }

  /// A constant of one element.
  bool is_scalar(value_id v) const { return v != no_value && net_[v].known && net_[v].known->elements() == 1; }
  double scalar(value_id v) const { return net_[v].known->scalar<double>(); }
  bool is_number(value_id v, double number) const {
    return is_scalar(v) && std::fabs(scalar(v) - number) <= 1e-6 * std::fabs(number);
  }
  bool is_zero(value_id v) const { return is_scalar(v) && scalar(v) == 0; }
  /// Of a node of two inputs the one that is not `v`.
  static value_id other(const node& n, value_id v) {
    if (n.inputs.size() != 2) return no_value;
    return n.inputs[0] == v ? n.inputs[1] : n.inputs[1] == v ? n.inputs[0] : no_value;
  }
  /// Of a node of two inputs the one beside that number; `no_value` where none is.
  value_id beside_number(const node& n, double number) const {
    if (n.inputs.size() != 2) return no_value;
    return is_number(n.inputs[1], number) ? n.inputs[0] : is_number(n.inputs[0], number) ? n.inputs[1] : no_value;
  }

  static double attribute_number(const node& n, const char* key, double otherwise) {
    const auto found = n.attributes.find(key);
    return found == n.attributes.end() ? otherwise : found->second.number;
  }
  static std::int64_t attribute_integer(const node& n, const char* key, std::int64_t otherwise) {
    const auto found = n.attributes.find(key);
    return found == n.attributes.end() ? otherwise : found->second.integer;
  }

 protected:
  const network& net_;
  const usage& used_;
};

/// The node is now that op, and stands for those before it, too.
inline void become(node& n, std::string op, std::vector<value_id> inputs, std::int64_t opset) {
  n.stands_for.push_back(n.op + " and those before it");
  n.op = std::move(op);
  n.inputs = std::move(inputs);
  n.attributes.clear();
  n.opset = opset;
}

/// Of a Transpose: by which axis of what it takes each of its axes is.
std::vector<std::int64_t> permutation_of(const network& net, const node& transpose);

}  // namespace levada::onnx
