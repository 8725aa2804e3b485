// SPDX-License-Identifier: Apache-2.0
#pragma once
// model/model.hpp: an ONNX model as its file has it (onnx.proto of ONNX 1.16).

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "constant.hpp"

namespace levada::onnx {

struct graph_def;

/// The value of one attribute; which part counts is what the op's definition says.
struct attribute {
  double number = 0;                       ///< f
  std::int64_t integer = 0;                ///< i
  std::string text;                        ///< s
  std::optional<constant> tensor;          ///< t
  std::shared_ptr<const graph_def> graph;  ///< g
  std::vector<double> numbers;             ///< floats
  std::vector<std::int64_t> integers;      ///< ints
  std::vector<std::string> texts;          ///< strings
  std::string refers_to;                   ///< ref_attr_name, in functions
};
using attributes = std::map<std::string, attribute, std::less<>>;

struct node_def {
  std::string op, domain, name;
  std::vector<std::string> inputs, outputs;  ///< "" where an optional one is absent
  onnx::attributes attributes;
  std::size_t offset = 0;    ///< in the file
  std::string_view message;  ///< the NodeProto, as long as the bytes of the model are there; empty of made nodes
};

/// An axis of what a graph takes or gives: an extent, or the name of one that is free.
struct declared_extent {
  std::optional<std::int64_t> value;
  std::string name;
};
struct declared {
  std::string name;
  element type = element::undefined;
  bool has_shape = false;
  std::vector<declared_extent> dims;
};

struct graph_def {
  std::string name;
  std::vector<node_def> nodes;
  std::vector<std::pair<std::string, constant>> initializers;
  std::vector<declared> inputs, outputs;
  std::vector<declared> values;  ///< of values inside, where the model says it
};

using opset_versions = std::map<std::string, std::int64_t, std::less<>>;

struct function_def {
  std::string name, domain;
  std::vector<std::string> inputs, outputs, attribute_names;
  onnx::attributes defaults;
  std::vector<node_def> nodes;
  opset_versions opsets;
};

struct model_def {
  std::shared_ptr<const std::byte> bytes;  ///< keeps the messages of nodes, where they are those of a file
  std::int64_t ir_version = 0;
  std::string producer;
  opset_versions opsets;  ///< by domain, "" the default one
  graph_def graph;
  std::map<std::pair<std::string, std::string>, function_def> functions;  ///< by domain and name
};

/// The domain as ONNX compares it: "ai.onnx" is "".
inline std::string_view domain_of(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

}  // namespace levada::onnx
