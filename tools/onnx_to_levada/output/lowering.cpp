// SPDX-License-Identifier: Apache-2.0
#include "lowering.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "../network/foreign.hpp"
#include "../ops/op_definition.hpp"
#include "names.hpp"

namespace levada::onnx {

extents stored_dims(const extents& dims) {
  if (dims.empty()) return {1};
  return dims.size() > 1 && dims[0] == 1 ? extents(dims.begin() + 1, dims.end()) : dims;
}

extents without_leading_ones(const extents& dims) {
  std::size_t first = 0;
  while (first + 1 < dims.size() && dims[first] == 1) ++first;
  return dims.empty() ? extents{1} : extents(dims.begin() + static_cast<std::ptrdiff_t>(first), dims.end());
}

extents as_matrices(const extents& dims) {
  std::size_t first = 0;
  while (first + 2 < dims.size() && dims[first] == 1) ++first;
  extents matrices(dims.begin() + static_cast<std::ptrdiff_t>(first), dims.end());
  while (matrices.size() < 2) matrices.insert(matrices.begin(), 1);
  return matrices;
}

std::string list_of(const extents& numbers) {
  std::string text;
  for (const std::int64_t n : numbers) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return text;
}

std::string number_text(double number, element type) {
  if (!is_floating(type)) return std::to_string(static_cast<std::int64_t>(number));
  const std::string cpp = type == element::f64 ? "double" : "float";
  if (std::isnan(number)) return "std::numeric_limits<" + cpp + ">::quiet_NaN()";
  if (std::isinf(number)) return (number < 0 ? "-" : "") + std::string("std::numeric_limits<") + cpp + ">::infinity()";
  char text[40];
  const auto end = type == element::f64 ? std::to_chars(text, text + sizeof text, number)
                                        : std::to_chars(text, text + sizeof text, static_cast<float>(number));
  std::string result(text, end.ptr);
  if (result.find_first_of(".e") == std::string::npos) result += ".0";
  return type == element::f64 ? result : result + "f";
}

std::string tensor_text(element type, const extents& dims) {
  const element_names* names = names_of(type);
  return "lv::tensor<" + std::string(names == nullptr ? "void" : names->cpp) + (dims.empty() ? "" : ", ") +
         list_of(dims) + ">";
}

lowering::lowering(const network& net, std::string prefix)
    : net_(net), prefix_(std::move(prefix)), named_(net.nodes.size()), made_(net.values.size(), -1) {
  std::vector<std::string> names;
  names.reserve(net.inputs.size() + net.nodes.size());
  for (const value_id id : net.inputs) names.push_back(net[id].name);
  for (const node& n : net.nodes) names.push_back(n.name);
  base_names_ = short_names(names);
  for (std::string& name : base_names_) name.insert(0, prefix_);
  taken_.insert(base_names_.begin(), base_names_.end());
  for (std::size_t i = 0; i < net.inputs.size(); ++i) {
    const value& v = net[net.inputs[i]];
    made_[static_cast<std::size_t>(net.inputs[i])] = static_cast<int>(i);
    nodes_.push_back({base_names_[i], {}, "", v.type, stored_dims(v.dims), -1, picture::none});
  }
}

/// Which could not be written, for a reason of their own; `missing`: the values that are not there then.
std::vector<std::size_t> lowering::lower_nodes(problems& found, std::vector<bool>& missing) {
  std::vector<std::size_t> failed;
  for (std::size_t n = 0; n < net_.nodes.size(); ++n) {
    const node& lowered = net_.nodes[n];
    const op_call call(net_, lowered);
    const op_definition* op = find_op(lowered.domain, lowered.op);
    source_ = static_cast<int>(n);
    bool possible = true;
    for (const value_id id : lowered.inputs)
      possible = possible && (id == no_value || !missing[static_cast<std::size_t>(id)]);
    try {
      if (op->lower == nullptr) {
        found.add_op(lowered.op, lowered.name);
        failed.push_back(n);
        possible = false;
      } else if (possible) {
        op->lower(*this, call);
      }
    } catch (const conversion_error& failure) {
      found.add(failure.what());
      failed.push_back(n);
      possible = false;
    } catch (const std::out_of_range&) {
      found.add(lowered.op + " \"" + lowered.name + "\": it has too few inputs, outputs or numbers");
      failed.push_back(n);
      possible = false;
    }
    if (!possible)
      for (const value_id id : lowered.outputs)
        if (id != no_value) missing[static_cast<std::size_t>(id)] = true;
  }
  source_ = -1;
  return failed;
}

std::vector<std::size_t> lowering::not_written() {
  problems found;
  std::vector<bool> missing(net_.values.size());
  return lower_nodes(found, missing);
}

void lowering::run() {
  problems found;
  std::vector<bool> missing(net_.values.size());
  lower_nodes(found, missing);
  for (const auto& [name, id] : net_.outputs) {
    if (missing[static_cast<std::size_t>(id)]) continue;
    if (net_[id].known && prefix_.empty())
      found.add("output \"" + name + "\" is a constant");
    else if (net_[id].known)
      outputs_.emplace_back(name, constant_node(id));
    else
      outputs_.emplace_back(name, own(made_[static_cast<std::size_t>(id)], name));
  }
  const auto count = [&](std::size_t ports, const std::string& what) {
    if (ports > most_values)
      found.add("it has " + std::to_string(ports) + " " + what + ", of which a graph has at most " +
                std::to_string(most_values));
  };
  count(net_.inputs.size(), "inputs");
  count(net_.outputs.size(), "outputs");
  found.throw_any(" of values that are not constant");
}

/// What leaves is no port itself, and leaves by one name.
int lowering::own(int made, const std::string& name) {
  const levada_node from = (*this)[made];
  const bool leaves = std::ranges::any_of(outputs_, [&](const auto& output) { return output.second == made; });
  if (!from.op.empty() && !leaves) return made;
  return add(unique(prefix_ + identifier(name)), "nn::reshape<" + list_of(from.dims) + ">", {made}, from.type,
             from.dims);
}

std::string lowering::unique(const std::string& name) {
  std::string result = name;
  for (int number = 2; !taken_.insert(result).second; ++number) result = name + "_" + std::to_string(number);
  return result;
}

const std::string& lowering::base_name() const {
  return base_names_[net_.inputs.size() + static_cast<std::size_t>(source_)];
}

std::string lowering::fresh_name() {
  const std::string& base = base_name();
  // The first node has the name itself; it is in `taken_` from the beginning.
  return std::exchange(named_[static_cast<std::size_t>(source_)], char{1}) != 0 ? unique(base) : base;
}

void lowering::weight(const std::string& name, std::string_view parameter, constant known) {
  weights_.insert_or_assign(name + "." + std::string(parameter), std::move(known));
}

void lowering::rename(const std::string& from, const std::string& wanted) {
  const auto is_own = [&](const auto& weight) {
    return weight.first.size() > from.size() && weight.first.starts_with(from) && weight.first.find('.') == from.size();
  };
  if (std::ranges::none_of(weights_, is_own)) return;
  const std::string to = unique(wanted), quoted = '"' + from + '"';
  const auto replace_in = [&](std::string& text) {
    for (std::size_t at = text.find(quoted); at != std::string::npos; at = text.find(quoted, at + to.size()))
      text.replace(at, quoted.size(), '"' + to + '"');
  };
  for (levada_node& n : nodes_) {
    if (n.name == from) n.name = to;
    replace_in(n.op);
  }
  for (std::string& function : functions_) replace_in(function);
  for (auto weight = std::ranges::find_if(weights_, is_own); weight != weights_.end();
       weight = std::ranges::find_if(weights_, is_own)) {
    auto own = weights_.extract(weight);
    own.key().replace(0, from.size(), to);
    weights_.insert(std::move(own));
  }
}

void lowering::foreign(const std::string& name, const std::string& model) {
  std::vector<std::byte> bytes(model.size());
  std::memcpy(bytes.data(), model.data(), bytes.size());
  weight(name, "model", constant(element::u8, {static_cast<std::int64_t>(model.size())}, std::move(bytes)));
  has_foreign_ = true;
}

int lowering::in(const op_call& call, std::size_t i) {
  const value_id id = call.id(i);
  const int made = made_[static_cast<std::size_t>(id)];
  if (made >= 0) return made;
  if (!net_[id].known) call.fail("input " + std::to_string(i) + " was not written");
  if (nodes_.empty()) call.fail("a network without inputs");
  return constant_node(id);
}

int lowering::constant_node(value_id id) {
  int& made = made_[static_cast<std::size_t>(id)];
  if (made >= 0) return made;
  const value& v = net_[id];
  const std::string name = unique(prefix_ + identifier(v.name.empty() ? "constant" : v.name));
  const extents dims = stored_dims(v.dims);
  weight(name, "value", v.known->shaped(dims));
  return made = add(
             name,
             "nn::parameter<\"" + name + "\", " + std::string(names_of(v.type)->cpp) + ", " + list_of(dims) + ">(w)",
             {0}, v.type, dims);
}

int lowering::shaped(int made, const extents& dims) {
  // Of several reshapes in a row the last one counts.
  while ((*this)[made].dims != dims && (*this)[made].op.starts_with("nn::reshape<")) made = (*this)[made].from[0];
  const levada_node& from = (*this)[made];
  if (from.dims == dims) return made;
  if (const auto found = shaped_.find({made, dims}); found != shaped_.end()) return found->second;
  const element type = from.type;
  const int result = add(unique(base_name() + "_shaped"), "nn::reshape<" + list_of(dims) + ">", {made}, type, dims);
  return shaped_[{made, dims}] = result;
}

/// Ops of pictures say the order of their axes; the others leave it, unless they give other axes.
picture lowering::axes_behind(std::string_view op, const std::vector<int>& from) const {
  static constexpr std::string_view of_pictures[] = {"nn::batch_norm", "nn::depth_to_space", "nn::instance_norm",
                                                     "nn::lrn", "nn::space_to_depth"};
  static constexpr std::string_view of_other_axes[] = {"nn::dense",     "nn::matmul",           "nn::matmul_parameter",
                                                       "nn::parameter", "nn::parameter_matmul", "nn::reshape",
                                                       "nn::transpose"};
  const std::string_view called = op.substr(0, op.find_first_of("<("));
  if (called == "lv::image::resize_by")
    return op.find("lv::layout::hwc") == std::string_view::npos ? picture::chw : picture::hwc;
  if (called.ends_with("2d") || std::ranges::find(of_pictures, called) != std::end(of_pictures)) return picture::chw;
  if (std::ranges::find(of_other_axes, called) != std::end(of_other_axes)) return picture::none;
  for (const int i : from)
    if ((*this)[i].axes != picture::none) return (*this)[i].axes;
  return picture::none;
}

int lowering::add(std::string name, std::string op, std::vector<int> from, element type, extents dims) {
  if (dims.empty()) dims = {1};
  const picture axes = dims.size() == 3 ? axes_behind(op, from) : picture::none;
  nodes_.push_back({std::move(name), std::move(from), std::move(op), type, std::move(dims), source_, axes});
  return static_cast<int>(nodes_.size()) - 1;
}

void lowering::give(const op_call& call, std::size_t i, int made) {
  const value_id id = call.called().outputs.at(i);
  if (id == no_value) return;
  made_[static_cast<std::size_t>(id)] = shaped(made, stored_dims(net_[id].dims));
}

void leave_to_onnx_runtime(network& net) {
  // What is behind a node that cannot be written is looked at only when that one is left.
  for (bool some = true; some;) {
    some = false;
    for (const std::size_t n : lowering(net).not_written()) {
      node& left = net.nodes[n];
      if (left.message.empty()) continue;
      left = foreign_of(left.name, left.message, left.inputs, {}, left.outputs);
      some = true;
    }
  }
  join_foreign(net);
}

}  // namespace levada::onnx
