// SPDX-License-Identifier: Apache-2.0
#pragma once
// output/lowering.hpp: the nodes of levada that nodes of ONNX become. A value is stored without its leading axis of
// extent 1, since items have no batch axis; leading ones change neither the order in memory nor how shapes broadcast.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../model/problems.hpp"
#include "../ops/op_call.hpp"

namespace levada::onnx {

/// The shape in which levada has a value: without a leading 1; one axis at least.
extents stored_dims(const extents& dims);
/// The same without all leading ones, as parameters that broadcast are stored.
extents without_leading_ones(const extents& dims);
/// The same with at least two axes.
extents as_matrices(const extents& dims);

/// "3, 128, 128".
std::string list_of(const extents& numbers);
/// A number as C++ of that element has it: "0.1f", "3.0", "-1".
std::string number_text(double number, element type);
/// "lv::tensor<float, 3, 128, 128>".
std::string tensor_text(element type, const extents& dims);

/// A node of levada takes at most so many values; a graph has at most so many inputs, and so many outputs.
inline constexpr std::size_t most_values = 64;

/// What levada knows of three axes behind ops of pictures: their order.
enum class picture : unsigned char { none, chw, hwc };

/// A port or a node of levada.
struct levada_node {
  std::string name;
  std::vector<int> from;  ///< indices of others; none of a port
  std::string op;         ///< C++: "nn::relu"; empty of a port
  element type = element::undefined;
  extents dims;     ///< as stored
  int source = -1;  ///< the node of the network, or -1
  picture axes = picture::none;
};

class lowering {
 public:
  explicit lowering(const network& net) : lowering(net, "") {}
  /// All its names begin with that prefix: those of a branch, whose weights lie with the others.
  lowering(const network& net, std::string prefix);

  /// Lowers all nodes; throws one `conversion_error` with everything that cannot be written.
  void run();
  /// The nodes of the network that cannot be written themselves, whatever is before them.
  std::vector<std::size_t> not_written();

  const std::vector<levada_node>& nodes() const { return nodes_; }
  const std::vector<std::pair<std::string, int>>& outputs() const { return outputs_; }
  const std::map<std::string, constant>& weights() const { return weights_; }
  /// Some nodes are left to ONNX Runtime.
  bool has_foreign() const { return has_foreign_; }
  /// C++ of the branches, each behind those inside it.
  const std::vector<std::string>& functions() const { return functions_; }

  // What definitions of ops call.

  /// Input `i` of the node as it is stored; a constant becomes a node that gives it.
  int in(const op_call& call, std::size_t i);
  /// The same in another shape of as many elements.
  int shaped(int made, const extents& dims);
  int in_shape(const op_call& call, std::size_t i, const extents& dims) { return shaped(in(call, i), dims); }

  /// A branch is a function of its own, whose weights are the model's.
  void add_branch(const lowering& branch, std::string function) {
    weights_.insert(branch.weights_.begin(), branch.weights_.end());
    functions_.insert(functions_.end(), branch.functions_.begin(), branch.functions_.end());
    functions_.push_back(std::move(function));
  }

  /// The node of that name, and its parameters, have another one; nothing where none is called so.
  void rename(const std::string& from, const std::string& wanted);

  /// A model for ONNX Runtime, of the node `name`: bytes among the weights.
  void foreign(const std::string& name, const std::string& model);

  /// A name for one more node of levada that stands for the node of ONNX.
  std::string fresh_name();
  /// A parameter of the node `name`.
  void weight(const std::string& name, std::string_view parameter, constant known);

  int add(std::string name, std::string op, std::vector<int> from, element type, extents dims);
  int add(std::string op, std::vector<int> from, element type, extents dims) {
    return add(fresh_name(), std::move(op), std::move(from), type, std::move(dims));
  }

  /// Output `i` of the node is that value.
  void give(const op_call& call, std::size_t i, int made);
  /// The node is one op of one output whose stored shape is `dims`.
  void give_op(const op_call& call, std::string op, std::vector<int> from) {
    give(call, 0, add(std::move(op), std::move(from), call.out().type, stored_dims(call.out().dims)));
  }

  const levada_node& operator[](int made) const { return nodes_[static_cast<std::size_t>(made)]; }

 private:
  std::vector<std::size_t> lower_nodes(problems& found, std::vector<bool>& missing);
  std::string unique(const std::string& name);
  const std::string& base_name() const;
  int own(int made, const std::string& name);
  picture axes_behind(std::string_view op, const std::vector<int>& from) const;
  int constant_node(value_id id);

  const network& net_;
  std::string prefix_;
  std::vector<std::string> base_names_;  ///< of the nodes of the network
  std::vector<char> named_;              ///< one of its nodes has the base name
  std::vector<levada_node> nodes_;
  std::vector<int> made_;  ///< by value
  std::vector<std::pair<std::string, int>> outputs_;
  std::map<std::string, constant> weights_;
  std::vector<std::string> functions_;
  std::set<std::string, std::less<>> taken_;
  std::map<std::pair<int, extents>, int> shaped_;
  int source_ = -1;
  bool has_foreign_ = false;
};

/// Nodes of the file that cannot be written become foreign, and foreign ones that take from each other one.
void leave_to_onnx_runtime(network& net);

}  // namespace levada::onnx
