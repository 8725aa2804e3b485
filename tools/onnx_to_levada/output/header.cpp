// SPDX-License-Identifier: Apache-2.0
#include "header.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

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

fused_graph fuse(const lowering& lowered, bool blocks) {
  const std::vector<levada_node>& nodes = lowered.nodes();
  const std::vector<char> needed = needed_of(lowered);
  const std::vector<int> consumers = consumers_of(lowered, needed);
  fused_graph graph;
  std::vector<int> sequence;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].op.empty())
      graph.ports.push_back(static_cast<int>(i));
    else if (needed[i] != 0)
      sequence.push_back(static_cast<int>(i));
  }
  if (blocks) graph.blocks = find_repeats(lowered, sequence);
  const auto begins_block = [&](std::size_t at) {
    return std::ranges::any_of(graph.blocks, [&](const repeated_block& b) {
      return at >= b.first && at <= b.first + b.nodes() && (at - b.first) % b.length == 0;
    });
  };
  std::map<int, std::size_t> line_of;  // by the node that ends it
  std::size_t block_begin = 0;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const int at = sequence[i];
    const levada_node& n = lowered[at];
    if (begins_block(i)) block_begin = i;
    const int before = n.from[0];
    const auto line = n.from.size() == 1 ? line_of.find(before) : line_of.end();
    if (line != line_of.end() && consumers[static_cast<std::size_t>(before)] == 1 &&
        graph.lines[line->second].first >= block_begin) {
      const std::size_t index = line->second;
      graph.lines[index].add(n);
      line_of.erase(line);
      line_of[at] = index;
      continue;
    }
    fused_line made;
    made.first = i;
    made.add(n);
    // A line has the name of its last node, and only that one's value is taken by others.
    for (const int from : n.from) made.from.push_back(lowered[from].name);
    line_of[at] = graph.lines.size();
    graph.lines.push_back(std::move(made));
  }
  for (const auto& [name, made] : lowered.outputs()) graph.outputs.emplace_back(name, lowered[made].name);
  return graph;
}

std::string structure_hash(const weight_map& weights) {
  hash h;
  for (const auto& [name, known] : weights) h.add(name + tensor_text(known.type(), known.dims()) + ";");
  return h.text();
}

namespace {

class header_writer {
 public:
  header_writer(const lowering& lowered, const fused_graph& graph, const network& net, const header_text& text)
      : lowered_(lowered), graph_(graph), net_(net), text_(text) {
    for (const auto& [name, made] : lowered.outputs()) outputs_.push_back(name);
    outputs_ = short_names(outputs_);
    has_weights_ = !lowered.weights().empty();
  }

  /// Ports that no node takes are taken by the last one.
  std::string branch(const std::string& name) {
    std::string from;
    const auto is_taken = [&](const std::string& port) {
      const auto names = [&](const fused_line& one) { return std::ranges::find(one.from, port) != one.from.end(); };
      return std::ranges::any_of(graph_.lines, names);
    };
    for (const auto& [output, node] : graph_.outputs) from += ", " + quoted(node);
    bool all_taken = true;
    for (const int port : graph_.ports)
      if (!is_taken(made(port).name)) from += ", " + quoted(made(port).name), all_taken = false;
    const std::size_t count = graph_.outputs.size();
    const bool plain = all_taken && count == 1;
    line("/// A branch of the model.");
    line("template <lv::parameter_source Weights>");
    line("auto ", name, "([[maybe_unused]] const Weights& w) {\n  return lv::graph(");
    for (const int port : graph_.ports)
      line("      lv::port<", quoted(made(port).name), ", ", tensor_text(made(port).type, made(port).dims), ">,");
    for (const fused_line& one : graph_.lines) node_line(one);
    if (!plain)
      line("      lv::node<", quoted(name + "_given"), from, ">(\n          lv::first_items<", std::to_string(count),
           ">{}),");
    line("      lv::output<\"y\", ", quoted(plain ? graph_.outputs[0].second : name + "_given"), ">);\n}");
    return std::move(out_);
  }

  std::string write() {
    head(lowered_.has_foreign());
    types();
    if (has_weights_) line("");
    weights(lowered_.weights());
    graph();
    line("\n}  // namespace ", text_.name);
    return std::move(out_);
  }

  /// What is before several graphs.
  std::string begin(const weight_map& all, bool has_foreign) {
    head(has_foreign);
    weights(all);
    return std::move(out_);
  }
  /// One of them.
  std::string part(const std::string& space) {
    line("\nnamespace ", space, " {\n");
    types();
    graph();
    line("\n}  // namespace ", space);
    return std::move(out_);
  }

 private:
  template <class... Parts>
  void line(const Parts&... parts) {
    ((out_ += parts), ...);
    out_ += '\n';
  }

  const levada_node& made(int at) const { return lowered_[at]; }
  const std::string& onnx_name(int port) const { return net_[net_.inputs[static_cast<std::size_t>(port)]].name; }

  void head(bool has_foreign) {
    line("// Made by onnx_to_levada ", tool_version, " of ", text_.model, " (", text_.model_hash, "); do not edit.");
    if (!text_.options.empty()) line("// Options: ", text_.options);
    line("#pragma once\n");
    for (const char* header : {"cstddef", "limits", "span", "string_view", "tuple"}) line("#include <", header, ">");
    line("");
    for (const char* header : {"levada/levada.hpp", "levada/interop/model_weights.hpp", "levada/ops.hpp"})
      line("#include <", header, ">");
    if (has_foreign) line("#include <levada/interop/onnx_runtime.hpp>");
    line("\nnamespace ", text_.name, " {\n");
    line("namespace lv = levada;\nnamespace nn = levada::nn;\n");
  }

  void types() {
    for (const int port : graph_.ports) {
      line("/// ONNX's input \"", onnx_name(port), "\".");
      line("using ", made(port).name, "_type = ", tensor_text(made(port).type, made(port).dims), ";");
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const auto& [name, at] = lowered_.outputs()[i];
      line("/// ONNX's output \"", name, "\".");
      line("using ", outputs_[i], "_result = ", tensor_text(made(at).type, made(at).dims), ";");
    }
  }

  void weights(const weight_map& all) {
    if (all.empty()) return;
    line("/// Names, types and extents of the parameters; a file of weights has the same.");
    line("inline constexpr std::string_view structure = ", quoted(structure_hash(all)), ";\n");
    if (text_.embed) {
      line("namespace detail {\nstd::span<const std::byte> embedded_weights();\n}\n");
      line("/// The weights, which are a part of the program.");
      line("inline lv::safetensors weights() {");
      line("  return lv::safetensors::from_bytes(detail::embedded_weights(), ", quoted(text_.weights_file), ");\n}");
    } else {
      const std::string folder = "LEVADA_MODEL_FOLDER_" + text_.name;
      line("#ifdef ", folder);
      line("/// The weights: beside the program, in its ../share/levada, or where they were made.");
      line("inline const lv::model_file weights_file{", quoted(text_.weights_file), ", ", folder, "};\n#endif");
    }
  }

  /// What stands around the graph for its states: an output and a port that are one state have the port's name.
  std::pair<std::string, std::string> states() {
    std::string begin, end;
    for (const auto& [output, input] : text_.states) {
      const auto port = std::ranges::find_if(graph_.ports, [&](int at) { return onnx_name(at) == input; });
      const auto leaves = std::ranges::find_if(lowered_.outputs(), [&](const auto& o) { return o.first == output; });
      if (port == graph_.ports.end() || leaves == lowered_.outputs().end())
        throw conversion_error("the state " + output + "=" + input + " is no output and input of the model");
      const levada_node &state = made(*port), &next = made(leaves->second);
      const std::string comes = tensor_text(next.type, next.dims), goes = tensor_text(state.type, state.dims);
      if (comes != goes)
        throw conversion_error("the state " + output + "=" + input + " goes in as " + goes + " and comes out as " +
                               comes + ": it has to keep its extents; a cache that grows is none");
      outputs_[static_cast<std::size_t>(leaves - lowered_.outputs().begin())] = state.name;
      begin += "lv::feedback<" + quoted(state.name) + ">(";
      end = ", " + state.name + "_type{})" + end;
    }
    return {begin, end};
  }

  void graph() {
    for (const std::string& function : lowered_.functions()) out_ += "\n" + function;
    for (const repeated_block& block : graph_.blocks) block_function(block);
    line("\n/// The model.", has_weights_ ? " `w` has to outlive `deploy`; weights of another model are refused." : "");
    line("template <lv::parameter_source Weights>");
    line("auto graph(const Weights&", has_weights_ || !lowered_.functions().empty() ? " w" : "", ") {");
    if (has_weights_) line("  lv::check_model(w, structure);");
    const auto [begin, end] = states();
    line("  return ", begin, "lv::graph(");
    for (const int port : graph_.ports)
      line("      lv::port<", quoted(made(port).name), ", ", made(port).name, "_type>,");
    auto block = graph_.blocks.begin();
    for (std::size_t i = 0; i < graph_.lines.size();) {
      if (block == graph_.blocks.end() || graph_.lines[i].first != block->first) {
        node_line(graph_.lines[i++]);
        continue;
      }
      for (std::size_t t = 0; t < block->times(); ++t) block_call(*block, t);
      while (i < graph_.lines.size() && graph_.lines[i].first < block->first + block->nodes()) ++i;
      ++block;
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      line("      lv::output<", quoted(outputs_[i]), ", ", quoted(graph_.outputs[i].second), ">",
           i + 1 == outputs_.size() ? ")" + end + ";" : ",");
    line("}");
  }

  /// The lines of one of those blocks.
  std::span<const fused_line> lines_of(const repeated_block& block, std::size_t time) const {
    const auto before = [&](std::size_t node) {
      return std::ranges::lower_bound(graph_.lines, node, {}, &fused_line::first);
    };
    const std::size_t begin = block.first + time * block.length;
    return {before(begin), before(begin + block.length)};
  }
  /// A graph. Inside of it the names are those of the first block.
  void block_function(const repeated_block& block) {
    const std::string begin = block.prefixes[0] + "_";
    std::map<std::string, std::string> inside;  // by the names in the model
    std::set<std::string> known;
    for (const fused_line& one : lines_of(block, 0)) {
      const std::string rest = one.name.starts_with(begin) ? one.name.substr(begin.size()) : one.name;
      known.insert(inside[one.name] = known.contains(rest) ? one.name : rest);
    }
    line("\n/// A block that stands in the model ", std::to_string(block.times()),
         " times. The names of its parameters begin with `Block`.");
    line("template <lv::fixed_string Block, lv::parameter_source Weights>");
    line("auto ", block.function, "(const Weights& w) {\n  return lv::graph(");
    const std::vector<int>& taken = block.taken[0];
    for (std::size_t p = 0; p < taken.size(); ++p) {
      const levada_node& from = made(taken[p]);
      std::string port = taken.size() == 1 ? "x" : "x" + std::to_string(p);
      while (known.contains(port)) port += "_";
      known.insert(inside[from.name] = port);
      line("      lv::port<", quoted(port), ", ", tensor_text(from.type, from.dims), ">,");
    }
    for (fused_line one : lines_of(block, 0)) {
      for (std::size_t k = 0; k < one.ops.size(); ++k)
        if (one.names[k].starts_with(begin))
          replace_own_name(one.ops[k], one.names[k], "Block + " + quoted(one.names[k].substr(begin.size() - 1)));
      one.name = inside[one.name];
      for (std::string& from : one.from) from = inside[from];
      node_line(one);
    }
    line("      lv::output<\"y\", ", quoted(inside[made(block.gives[0]).name]), ">);\n}");
  }
  void block_call(const repeated_block& block, std::size_t time) {
    const std::span<const fused_line> lines = lines_of(block, time);
    out_ += comment_lines(comment_of(lines.front()) + " to " + comment_of(lines.back()));
    std::string row = "      lv::node<" + quoted(made(block.gives[time]).name);
    for (const int from : block.taken[time]) row += ", " + quoted(made(from).name);
    line(row, ">(", block.function, "<", quoted(block.prefixes[time]), ">(w)),");
  }

  void node_line(const fused_line& one) {
    out_ += comment_lines(comment_of(one));
    std::string row = "      lv::node<" + quoted(one.name);
    for (const std::string& from : one.from) row += ", " + quoted(from);
    row += ">(";
    for (std::size_t i = 0; i < one.ops.size(); ++i) {
      // An op with weights begins a line.
      const std::string next = (i == 0 ? "" : " | ") + one.ops[i];
      if (i != 0 && (one.ops[i].ends_with(">(w)") || row.size() + next.size() + 2 > longest_line)) {
        line(row, " |");
        row = "          " + one.ops[i];
      } else {
        row += next;
      }
    }
    line(row, "),");
  }

  /// The nodes of ONNX that the line stands for.
  std::string comment_of(const fused_line& one) const {
    std::string comment;
    for (const int source : one.sources) {
      const node& n = net_.nodes[static_cast<std::size_t>(source)];
      comment += (comment.empty() ? "" : "; ") + n.op + " " + n.name;
      for (const std::string& other : n.stands_for) comment += ", " + other;
    }
    std::ranges::replace(comment, '\n', ' ');
    while (!comment.empty() && comment.back() == '\\') comment.pop_back();
    return comment;
  }

  const lowering& lowered_;
  const fused_graph& graph_;
  const network& net_;
  const header_text& text_;
  std::vector<std::string> outputs_;
  bool has_weights_;
  std::string out_;
};

}  // namespace

std::string write_header(const lowering& lowered, const fused_graph& graph, const network& net,
                         const header_text& text) {
  return header_writer(lowered, graph, net, text).write();
}

std::string write_header(const std::vector<header_graph>& graphs, const weight_map& weights, const header_text& text) {
  const auto writer = [&](const header_graph& g) { return header_writer(g.lowered, g.graph, g.net, text); };
  const bool has_foreign = std::ranges::any_of(graphs, [](const header_graph& g) { return g.lowered.has_foreign(); });
  std::string out = writer(graphs.at(0)).begin(weights, has_foreign);
  for (const header_graph& g : graphs) out += writer(g).part(g.space);
  return out + "\n}  // namespace " + text.name + "\n";
}

std::string write_branch(const lowering& lowered, const network& net, const std::string& name) {
  const fused_graph graph = fuse(lowered, false);
  const header_text none{};
  return header_writer(lowered, graph, net, none).branch(name);
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
