// SPDX-License-Identifier: Apache-2.0
#include "listing.hpp"

#include <map>

namespace levada::onnx {
namespace {

/// Multiplications and additions of one node, in pairs: of products and convolutions, which are nearly all there is.
std::int64_t multiply_adds(const network& net, const node& n) {
  const auto dims = [&](std::size_t i) -> const extents& { return net[n.inputs[i]].dims; };
  const auto out = [&] { return elements_of(net[n.outputs[0]].dims); };
  if (n.op == "Conv") return out() * elements_of(dims(1)) / dims(1)[0];
  if (n.op == "QLinearConv") return out() * elements_of(dims(3)) / dims(3)[0];
  if (n.op == "ConvTranspose") return elements_of(dims(0)) * elements_of(dims(1)) / dims(1)[0];
  if (n.op == "QGemm") return elements_of(dims(3));
  if (n.op == "MatMul") return out() * dims(0).back();
  if (n.op == "Gemm") {
    const auto turned = n.attributes.find("transA");
    return out() * dims(0)[turned != n.attributes.end() && turned->second.integer != 0 ? 0 : 1];
  }
  if (n.op == "DotProductAttention")  // keys by queries, and shares by values
    return out() / dims(2).back() * dims(1)[dims(1).size() - 2] * (dims(0).back() + dims(2).back());
  if (n.op == "LSTM" || n.op == "GRU" || n.op == "RNN")
    return elements_of(dims(0)) / dims(0)[2] * (elements_of(dims(1)) + elements_of(dims(2)));
  return 0;
}

std::string extents_text(element type, const extents& dims) {
  std::string text(names_of(type)->onnx);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) text += (axis == 0 ? "[" : "x") + std::to_string(dims[axis]);
  return dims.empty() ? text : text + "]";
}

std::string escaped(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20) {
      out += "\\u00";
      out += "0123456789abcdef"[code >> 4];
      out += "0123456789abcdef"[code & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// One line of the graph.
struct entry {
  std::string name, gives;
  std::vector<std::string> nodes;
  std::int64_t work = 0;
};
std::vector<entry> entries_of(const lowering& lowered, const fused_graph& graph, const network& net) {
  std::map<std::string, const levada_node*> by_name;
  for (const levada_node& n : lowered.nodes()) by_name[n.name] = &n;
  std::vector<entry> all;
  std::vector<char> counted(net.nodes.size());
  for (const fused_line& line : graph.lines) {
    entry e{line.name, extents_text(by_name.at(line.name)->type, by_name.at(line.name)->dims), {}, 0};
    for (const int source : line.sources) {
      const node& n = net.nodes[static_cast<std::size_t>(source)];
      e.nodes.push_back(n.op + " " + n.name);
      e.nodes.insert(e.nodes.end(), n.stands_for.begin(), n.stands_for.end());
      if (counted[static_cast<std::size_t>(source)]++ == 0) e.work += multiply_adds(net, n);
    }
    all.push_back(std::move(e));
  }
  return all;
}

std::size_t weight_bytes(const lowering& lowered) {
  std::size_t bytes = 0;
  for (const auto& [name, known] : lowered.weights()) bytes += known.bytes().size();
  return bytes;
}
std::int64_t total_work(const std::vector<entry>& all) {
  std::int64_t work = 0;
  for (const entry& e : all) work += e.work;
  return work;
}

}  // namespace

std::string listing_text(const listing& head, const lowering& lowered, const fused_graph& graph, const network& net) {
  const std::vector<entry> all = entries_of(lowered, graph, net);
  std::string out = head.name + ", of " + head.model + "\n";
  out += std::to_string(head.counts.nodes) + " nodes; " + std::to_string(head.counts.folded) + " became constants, " +
         std::to_string(head.counts.aliases) + " change nothing, " + std::to_string(head.counts.inlined) +
         " calls and branches were written out; of " + std::to_string(head.before_passes) + " left, " +
         std::to_string(head.before_passes - net.nodes.size()) + " went into others; " +
         std::to_string(graph.lines.size()) + " lines\n";
  out += std::to_string(lowered.weights().size()) + " parameters of " + std::to_string(weight_bytes(lowered)) +
         " bytes; " + std::to_string(total_work(all)) + " multiply-adds an item\n\n";
  for (const int port : graph.ports) {
    const levada_node& n = lowered[port];
    out += "input " + n.name + " " + extents_text(n.type, n.dims) + ", ONNX's " +
           net[net.inputs[static_cast<std::size_t>(port)]].name + "\n";
  }
  for (std::size_t i = 0; i < lowered.outputs().size(); ++i) {
    const levada_node& n = lowered[lowered.outputs()[i].second];
    out += "output " + n.name + " " + extents_text(n.type, n.dims) + ", ONNX's " + lowered.outputs()[i].first + "\n";
  }
  for (const entry& e : all) {
    out += "\n" + e.name + " " + e.gives + (e.work == 0 ? "" : ", " + std::to_string(e.work) + " multiply-adds") + "\n";
    for (const std::string& n : e.nodes) out += "  " + n + "\n";
  }
  return out;
}

std::string listing_json(const listing& head, const lowering& lowered, const fused_graph& graph, const network& net) {
  const std::vector<entry> all = entries_of(lowered, graph, net);
  const auto number = [](auto n) { return std::to_string(n); };
  std::string out =
      "{\"name\":" + escaped(head.name) + ",\"model\":" + escaped(head.model) +
      ",\"nodes\":" + number(head.counts.nodes) + ",\"folded\":" + number(head.counts.folded) +
      ",\"aliases\":" + number(head.counts.aliases) + ",\"inlined\":" + number(head.counts.inlined) +
      ",\"before_passes\":" + number(head.before_passes) + ",\"after_passes\":" + number(net.nodes.size()) +
      ",\"parameters\":" + number(lowered.weights().size()) + ",\"bytes\":" + number(weight_bytes(lowered)) +
      ",\"multiply_adds\":" + number(total_work(all)) + ",\"lines\":[";
  for (std::size_t i = 0; i < all.size(); ++i) {
    out += std::string(i == 0 ? "" : ",") + "\n{\"name\":" + escaped(all[i].name) +
           ",\"gives\":" + escaped(all[i].gives) + ",\"multiply_adds\":" + number(all[i].work) + ",\"nodes\":[";
    for (std::size_t k = 0; k < all[i].nodes.size(); ++k) out += (k == 0 ? "" : ",") + escaped(all[i].nodes[k]);
    out += "]}";
  }
  return out + "\n]}\n";
}

}  // namespace levada::onnx
