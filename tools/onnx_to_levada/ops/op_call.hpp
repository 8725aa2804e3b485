// SPDX-License-Identifier: Apache-2.0
#pragma once
// ops/op_call.hpp: one node with its inputs, as the definitions of ops read it.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../network/network.hpp"

namespace levada::onnx {

class op_call {
 public:
  op_call(const onnx::network& net, const node& called) : net_(&net), node_(&called) {}

  const onnx::network& network() const { return *net_; }
  const node& called() const { return *node_; }
  std::int64_t opset() const { return node_->opset; }

  std::size_t inputs() const { return node_->inputs.size(); }
  std::size_t outputs() const { return node_->outputs.size(); }
  bool has(std::size_t i) const { return i < inputs() && node_->inputs[i] != no_value; }
  bool gives(std::size_t i) const { return i < outputs() && node_->outputs[i] != no_value; }
  value_id id(std::size_t i) const {
    if (!has(i)) fail("input " + std::to_string(i) + " is missing");
    return node_->inputs[i];
  }
  const value& in(std::size_t i) const { return (*net_)[id(i)]; }
  element type(std::size_t i = 0) const { return in(i).type; }
  const extents& dims(std::size_t i = 0) const { return in(i).dims; }
  std::int64_t rank(std::size_t i = 0) const { return static_cast<std::int64_t>(dims(i).size()); }
  const value& out(std::size_t i = 0) const {
    if (!gives(i)) fail("output " + std::to_string(i) + " is left out");
    return (*net_)[node_->outputs[i]];
  }

  /// The elements of an input, which have to be known while converting.
  const constant& known(std::size_t i, const char* meaning) const {
    if (!in(i).known) fail(std::string(meaning) + " depends on the item; only constants have a static shape");
    return *in(i).known;
  }
  bool is_known(std::size_t i) const { return has(i) && in(i).known.has_value(); }
  std::vector<std::int64_t> integers_in(std::size_t i, const char* meaning) const {
    return bounded(known(i, meaning).as<std::int64_t>());
  }

  const attribute* find(std::string_view name) const {
    const auto found = node_->attributes.find(name);
    return found == node_->attributes.end() ? nullptr : &found->second;
  }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    const attribute* found = find(name);
    return found == nullptr ? otherwise : bounded(found->integer);
  }
  double number(std::string_view name, double otherwise) const {
    const attribute* found = find(name);
    return found == nullptr ? otherwise : found->number;
  }
  std::string text(std::string_view name, std::string_view otherwise) const {
    const attribute* found = find(name);
    return found == nullptr ? std::string(otherwise) : found->text;
  }
  /// A text that names one of a few ways, those that levada has.
  std::string choice(std::string_view name, std::string_view otherwise,
                     std::initializer_list<std::string_view> known) const {
    std::string given = text(name, otherwise);
    if (std::find(known.begin(), known.end(), given) == known.end())
      fail("its " + std::string(name) + " is \"" + given + "\", which levada lacks");
    return given;
  }
  std::vector<std::int64_t> integers(std::string_view name, std::vector<std::int64_t> otherwise = {}) const {
    const attribute* found = find(name);
    return found == nullptr ? otherwise : bounded(found->integers);
  }
  /// What older versions have as an attribute and newer ones as an input.
  std::vector<std::int64_t> integers_of(std::string_view name, std::size_t input) const {
    return has(input) ? integers_in(input, std::string(name).c_str()) : integers(name);
  }

  /// An axis from the front; negative ones count from the back.
  std::size_t axis(std::int64_t given, std::int64_t rank) const {
    if (given < -rank || given >= rank)
      fail("axis " + std::to_string(given) + " is beyond the rank " + std::to_string(rank));
    return static_cast<std::size_t>(given < 0 ? given + rank : given);
  }
  /// Axes in ascending order, each once.
  std::vector<std::size_t> axes(const std::vector<std::int64_t>& given, std::int64_t rank) const {
    std::vector<std::size_t> result;
    for (const std::int64_t a : given) result.push_back(axis(a, rank));
    std::sort(result.begin(), result.end());
    if (std::adjacent_find(result.begin(), result.end()) != result.end()) fail("an axis is named twice");
    return result;
  }

  /// An extent, an index or a pad: what is beyond all tensors says "to the end" (Slice), or is refused later.
  static std::int64_t bounded(std::int64_t number) { return std::clamp(number, -most_elements, most_elements); }
  static std::vector<std::int64_t> bounded(std::vector<std::int64_t> numbers) {
    for (std::int64_t& number : numbers) number = bounded(number);
    return numbers;
  }

  [[noreturn]] void fail(const std::string& text) const {
    throw conversion_error(node_->op + " \"" + node_->name + "\": " + text);
  }
  void require(bool holds, const char* text) const {
    if (!holds) fail(text);
  }

 private:
  const onnx::network* net_;
  const node* node_;
};

/// The type of one output.
struct tensor_type {
  element type;
  extents dims;
};

}  // namespace levada::onnx
