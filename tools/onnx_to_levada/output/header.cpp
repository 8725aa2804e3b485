// SPDX-License-Identifier: Apache-2.0
#include "header.hpp"

#include <algorithm>
#include <map>

#include "hash.hpp"
#include "names.hpp"

namespace levada::onnx {
namespace {

constexpr std::size_t longest_line = 120;

/// The nodes that an output needs.
std::vector<char> needed_of(const lowering& lowered) {
  std::vector<char> needed(lowered.nodes().size());
  for (const auto& [name, made] : lowered.outputs()) needed[static_cast<std::size_t>(made)] = 1;
  for (std::size_t i = needed.size(); i-- > 0;)
    if (needed[i] != 0)
      for (const int from : lowered.nodes()[i].from) needed[static_cast<std::size_t>(from)] = 1;
  return needed;
}

/// How many take what each node gives; an output counts twice, since it leaves by a name.
std::vector<int> consumers_of(const lowering& lowered, const std::vector<char>& needed) {
  std::vector<int> count(needed.size());
  for (std::size_t i = 0; i < needed.size(); ++i)
    if (needed[i] != 0)
      for (const int from : lowered.nodes()[i].from) ++count[static_cast<std::size_t>(from)];
  for (const auto& [name, made] : lowered.outputs()) count[static_cast<std::size_t>(made)] += 2;
  return count;
}

/// A comment in as many lines as it needs, broken at its spaces.
std::string comment_lines(const std::string& text) {
  constexpr std::string_view begin = "      // ";
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = text.size();
    if (begin.size() + end - at > longest_line) {
      const std::size_t space = text.rfind(' ', at + longest_line - begin.size());
      end = space == std::string::npos || space <= at ? std::min(text.find(' ', at), text.size()) : space;
    }
    out += std::string(begin) + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

}  // namespace

fused_graph fuse(const lowering& lowered) {
  const std::vector<levada_node>& nodes = lowered.nodes();
  const std::vector<char> needed = needed_of(lowered);
  const std::vector<int> consumers = consumers_of(lowered, needed);
  fused_graph graph;
  std::map<int, std::size_t> line_of;  // by the node that ends it
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const levada_node& n = nodes[i];
    const int at = static_cast<int>(i);
    if (n.op.empty()) {
      graph.ports.push_back(at);
      continue;
    }
    if (needed[i] == 0) continue;
    const int before = n.from[0];
    const auto line = n.from.size() == 1 ? line_of.find(before) : line_of.end();
    if (line != line_of.end() && consumers[static_cast<std::size_t>(before)] == 1) {
      const std::size_t index = line->second;
      graph.lines[index].ops.push_back(n.op);
      graph.lines[index].name = n.name;
      graph.lines[index].sources.push_back(n.source);
      line_of.erase(line);
      line_of[at] = index;
      continue;
    }
    fused_line made{n.name, {}, {n.op}, {n.source}};
    // Names of lines are final only at the end: refer to nodes by their index for now.
    for (const int from : n.from) made.from.push_back(std::to_string(from));
    line_of[at] = graph.lines.size();
    graph.lines.push_back(std::move(made));
  }
  const auto name_of = [&](int made) {
    const auto line = line_of.find(made);
    return line == line_of.end() ? nodes[static_cast<std::size_t>(made)].name : graph.lines[line->second].name;
  };
  for (fused_line& line : graph.lines)
    for (std::string& from : line.from) from = name_of(std::stoi(from));
  for (const auto& [name, made] : lowered.outputs()) graph.outputs.emplace_back(name, name_of(made));
  return graph;
}

std::string structure_hash(const lowering& lowered) {
  hash h;
  for (const auto& [name, known] : lowered.weights()) h.add(name + tensor_text(known.type(), known.dims()) + ";");
  return h.text();
}

std::string write_header(const lowering& lowered, const fused_graph& graph, const network& net,
                         const header_text& text) {
  std::string out = "// Made by onnx_to_levada of " + text.model + " (" + text.model_hash + "); do not edit.\n";
  if (!text.options.empty()) out += "// Options: " + text.options + "\n";
  out +=
      "#pragma once\n\n#include <cstddef>\n#include <limits>\n#include <span>\n#include <string_view>\n\n#include "
      "<levada/levada.hpp>\n#include <levada/interop/model_weights.hpp>\n#include <levada/ops.hpp>\n\n";
  out += "namespace " + text.name + " {\n\nnamespace lv = levada;\nnamespace nn = levada::nn;\n\n";
  const auto& nodes = lowered.nodes();
  for (const int port : graph.ports) {
    const levada_node& n = nodes[static_cast<std::size_t>(port)];
    out += "/// ONNX's input \"" + net[net.inputs[static_cast<std::size_t>(port)]].name + "\".\nusing " + n.name +
           "_type = " + tensor_text(n.type, n.dims) + ";\n";
  }
  std::vector<std::string> outputs = [&] {
    std::vector<std::string> names;
    for (const auto& [name, made] : lowered.outputs()) names.push_back(name);
    return short_names(names);
  }();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const levada_node& n = nodes[static_cast<std::size_t>(lowered.outputs()[i].second)];
    out += "/// ONNX's output \"" + lowered.outputs()[i].first + "\".\nusing " + outputs[i] +
           "_result = " + tensor_text(n.type, n.dims) + ";\n";
  }
  out +=
      "\n/// Names, types and extents of the parameters; a file of weights has the same.\ninline constexpr "
      "std::string_view structure = " +
      quoted(structure_hash(lowered)) + ";\n\n";
  if (text.embed)
    out +=
        "namespace detail {\nstd::span<const std::byte> embedded_weights();\n}\n\n/// The weights, which are a part of "
        "the program.\ninline lv::safetensors weights() { return "
        "lv::safetensors::from_bytes(detail::embedded_weights(), " +
        quoted(text.weights_file) + "); }\n\n";
  else
    out += "#ifdef LEVADA_MODEL_FOLDER_" + text.name +
           "\n/// The weights: beside the program, in its ../share/levada, or where they were made.\ninline const "
           "lv::model_file weights_file{" +
           quoted(text.weights_file) + ", LEVADA_MODEL_FOLDER_" + text.name + "};\n#endif\n\n";
  out +=
      "/// The model. `w` has to outlive `deploy`; weights of another model are refused.\ntemplate "
      "<lv::parameter_source Weights>\nauto graph(" +
      std::string(lowered.weights().empty() ? "const Weights&" : "const Weights& w") + ") {\n";
  if (!lowered.weights().empty()) out += "  lv::check_model(w, structure);\n";
  // An output and a port that are one state have one name, that of the port.
  std::string begin, end;
  for (const auto& [output, input] : text.states) {
    int port = -1;
    for (const int at : graph.ports)
      if (net[net.inputs[static_cast<std::size_t>(at)]].name == input) port = at;
    const auto leaves = std::ranges::find_if(lowered.outputs(), [&](const auto& o) { return o.first == output; });
    if (port < 0 || leaves == lowered.outputs().end())
      throw conversion_error("the state " + output + "=" + input + " is no output and input of the model");
    const levada_node& state = nodes[static_cast<std::size_t>(port)];
    const levada_node& next = nodes[static_cast<std::size_t>(leaves->second)];
    if (state.type != next.type || state.dims != next.dims)
      throw conversion_error("the state " + output + "=" + input + " goes in as " +
                             tensor_text(state.type, state.dims) + " and comes out as " +
                             tensor_text(next.type, next.dims));
    outputs[static_cast<std::size_t>(leaves - lowered.outputs().begin())] = state.name;
    begin += "lv::feedback<" + quoted(state.name) + ">(";
    end += ", " + state.name + "_type{})";
  }
  out += "  return " + begin + "lv::graph(\n";
  for (const int port : graph.ports) {
    const std::string& name = nodes[static_cast<std::size_t>(port)].name;
    out += "      lv::port<" + quoted(name) + ", " + name + "_type>,\n";
  }
  for (const fused_line& line : graph.lines) {
    std::string head = "      lv::node<" + quoted(line.name);
    for (const std::string& from : line.from) head += ", " + quoted(from);
    head += ">(";
    std::string comment;
    int last = -1;
    for (const int source : line.sources) {
      if (source < 0 || source == last) continue;
      last = source;
      const node& n = net.nodes[static_cast<std::size_t>(source)];
      comment += (comment.empty() ? "" : "; ") + n.op + " " + n.name;
      for (const std::string& other : n.stands_for) comment += ", " + other;
    }
    std::replace(comment.begin(), comment.end(), '\n', ' ');
    while (!comment.empty() && comment.back() == '\\') comment.pop_back();
    out += comment_lines(comment);
    std::string row = head;
    for (std::size_t i = 0; i < line.ops.size(); ++i) {
      const std::string next = (i == 0 ? "" : " | ") + line.ops[i];
      const bool has_weights = line.ops[i].ends_with(">(w)");
      if (i != 0 && (has_weights || row.size() + next.size() + 2 > longest_line)) {
        out += row + " |\n";
        row = "          " + line.ops[i];
      } else {
        row += next;
      }
    }
    out += row + "),\n";
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    out += "      lv::output<" + quoted(outputs[i]) + ", " + quoted(graph.outputs[i].second) + ">" +
           (i + 1 == graph.outputs.size() ? ")" + end + ";\n" : ",\n");
  return out + "}\n\n}  // namespace " + text.name + "\n";
}

std::string write_embedded(const header_text& text, const std::string& weights_path) {
  const std::string symbol = "levada_weights_of_" + text.name;
  return "// Made by onnx_to_levada; do not edit.\n#include <cstddef>\n#include <span>\n\nasm(R\"(\n  .section "
         ".rodata\n  .balign 64\n" +
         symbol + ":\n  .incbin \"" + weights_path + "\"\n" + symbol +
         "_end:\n  .previous\n)\");\n\nextern \"C\" {\nextern const std::byte " + symbol + "[], " + symbol +
         "_end[];\n}\n\nnamespace " + text.name +
         "::detail {\nstd::span<const std::byte> embedded_weights();\nstd::span<const std::byte> embedded_weights() { "
         "return {" +
         symbol + ", " + symbol + "_end}; }\n}  // namespace " + text.name + "::detail\n";
}

}  // namespace levada::onnx
