// SPDX-License-Identifier: Apache-2.0
#include "foreign.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>
#include <set>
#include <utility>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace levada::onnx {
namespace {

std::string input_name(std::size_t i) { return "x" + std::to_string(i); }
std::string output_name(std::size_t i) { return "y" + std::to_string(i); }

void add_captured(const graph_def& graph, std::set<std::string> defined, std::set<std::string>& taken) {
  const auto take = [&](const std::string& name) {
    if (!name.empty() && !defined.contains(name)) taken.insert(name);
  };
  for (const auto& [name, known] : graph.initializers) defined.insert(name);
  for (const declared& input : graph.inputs) defined.insert(input.name);
  for (const node_def& n : graph.nodes) {
    for (const std::string& input : n.inputs) take(input);
    for (const auto& [key, given] : n.attributes)
      if (given.graph != nullptr) add_captured(*given.graph, defined, taken);
    defined.insert(n.outputs.begin(), n.outputs.end());
  }
  for (const declared& output : graph.outputs) take(output.name);
}

std::size_t index_of(std::vector<value_id>& all, value_id id) {
  const auto at = std::ranges::find(all, id);
  const auto index = static_cast<std::size_t>(at - all.begin());
  if (at == all.end()) all.push_back(id);
  return index;
}

/// Other names for what its parts take and give.
void rename(std::vector<foreign_node>& parts, const std::map<std::string, std::string>& now) {
  const auto change = [&](std::string& name) {
    if (const auto found = now.find(name); found != now.end()) name = found->second;
  };
  for (foreign_node& part : parts) {
    for (std::string& name : part.inputs) change(name);
    for (std::string& name : part.outputs) change(name);
    for (auto& [there, here] : part.captured) change(here);
  }
}

/// `later`, which is behind it, becomes a part of `first`.
void join(node& first, node&& later) {
  std::map<std::string, std::string> now;
  for (std::size_t i = 0; i < later.inputs.size(); ++i) {
    const value_id id = later.inputs[i];
    const auto made = std::ranges::find(first.outputs, id);
    now[input_name(i)] = made != first.outputs.end()
                             ? output_name(static_cast<std::size_t>(made - first.outputs.begin()))
                             : input_name(index_of(first.inputs, id));
  }
  const std::size_t before = first.outputs.size();
  for (std::size_t i = 0; i < later.outputs.size(); ++i) now[output_name(i)] = output_name(before + i);
  rename(later.foreign, now);
  first.foreign.insert(first.foreign.end(), std::make_move_iterator(later.foreign.begin()),
                       std::make_move_iterator(later.foreign.end()));
  first.outputs.insert(first.outputs.end(), later.outputs.begin(), later.outputs.end());
  first.stands_for.push_back(later.name);
}

/// What nobody else takes stays inside. `leaves(value)`: it is taken elsewhere.
template <class Leaves>
void keep_inside(node& n, Leaves leaves) {
  std::map<std::string, std::string> now;
  std::vector<value_id> outputs;
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    const bool outside = leaves(n.outputs[i]);
    now[output_name(i)] = outside ? output_name(outputs.size()) : "v" + std::to_string(i);
    if (outside) outputs.push_back(n.outputs[i]);
  }
  rename(n.foreign, now);
  n.outputs = std::move(outputs);
}

/// An order of the groups in which each is behind those it takes from, as near to that of the nodes as can be; empty
/// where there is none. `group_of`: a node each, by the first node of its group.
std::vector<std::size_t> order_of(const network& net, const usage& used, const std::vector<std::size_t>& group_of) {
  const std::size_t count = net.nodes.size();
  std::vector<std::set<std::size_t>> behind(count);
  std::vector<std::size_t> waits_for(count);
  std::size_t groups = 0;
  for (std::size_t n = 0; n < count; ++n) {
    groups += group_of[n] == n ? 1u : 0u;
    for (const value_id v : net.nodes[n].inputs) {
      const int from = used.producer_of(v);
      if (from < 0 || group_of[static_cast<std::size_t>(from)] == group_of[n]) continue;
      if (behind[group_of[static_cast<std::size_t>(from)]].insert(group_of[n]).second) ++waits_for[group_of[n]];
    }
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t n = 0; n < count; ++n)
    if (group_of[n] == n && waits_for[n] == 0) ready.push(n);
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const std::size_t b : behind[next])
      if (--waits_for[b] == 0) ready.push(b);
  }
  if (order.size() != groups) order.clear();
  return order;
}

// ---- messages of ONNX ----

void write_type(protozero::pbf_writer& value_info, const value& v) {
  protozero::pbf_writer type(value_info, 2);
  protozero::pbf_writer tensor(type, 1);
  tensor.add_int32(1, static_cast<std::int32_t>(v.type));
  protozero::pbf_writer shape(tensor, 2);
  for (const std::int64_t extent : v.dims) {
    protozero::pbf_writer dim(shape, 1);
    dim.add_int64(1, extent);
  }
}
void write_declared(protozero::pbf_writer& graph, protozero::pbf_tag_type field, const std::string& name,
                    const value& v) {
  protozero::pbf_writer info(graph, field);
  info.add_string(1, name);
  write_type(info, v);
}
void write_initializer(protozero::pbf_writer& graph, const std::string& name, const constant& known) {
  protozero::pbf_writer tensor(graph, 5);
  for (const std::int64_t extent : known.dims()) tensor.add_int64(1, extent);
  tensor.add_int32(2, static_cast<std::int32_t>(known.type()));
  tensor.add_string(8, name);
  tensor.add_bytes(9, reinterpret_cast<const char*>(known.bytes().data()), known.bytes().size());
}
/// A node of the file, with other names for what it takes and gives.
void write_node(protozero::pbf_writer& graph, const foreign_node& part) {
  for (const auto& [there, here] : part.captured) {
    protozero::pbf_writer same(graph, 1);
    same.add_string(1, here);
    same.add_string(2, there);
    same.add_string(4, "Identity");
  }
  protozero::pbf_writer written(graph, 1);
  for (const std::string& name : part.inputs) written.add_string(1, name);
  for (const std::string& name : part.outputs) written.add_string(2, name);
  constexpr protozero::pbf_tag_type name = 3, op = 4, attribute = 5, domain = 7;
  protozero::pbf_reader fields(part.message.data(), part.message.size());
  while (fields.next())
    if (const auto field = fields.tag(); field == name || field == op || field == attribute || field == domain)
      written.add_bytes(field, fields.get_view());
    else
      fields.skip();
}

}  // namespace

std::set<std::string> captured_names(const node_def& def) {
  std::set<std::string> taken;
  for (const auto& [key, given] : def.attributes)
    if (given.graph != nullptr) add_captured(*given.graph, {}, taken);
  return taken;
}

node foreign_of(std::string name, std::string_view message, const std::vector<value_id>& inputs,
                const std::map<std::string, value_id>& captured, const std::vector<value_id>& outputs) {
  node made;
  made.op = foreign_op;
  made.domain = foreign_domain;
  made.name = std::move(name);
  foreign_node& only = made.foreign.emplace_back();
  only.message = message;
  for (const value_id id : inputs) only.inputs.push_back(id == no_value ? "" : input_name(index_of(made.inputs, id)));
  for (const auto& [there, id] : captured) only.captured.emplace_back(there, input_name(index_of(made.inputs, id)));
  for (const value_id id : outputs) {
    only.outputs.push_back(id == no_value ? "" : output_name(made.outputs.size()));
    if (id != no_value) made.outputs.push_back(id);
  }
  return made;
}

void join_foreign(network& net) {
  const usage used(net);
  std::vector<std::size_t> group_of(net.nodes.size());
  for (std::size_t n = 0; n < group_of.size(); ++n) group_of[n] = n;
  std::vector<std::size_t> order = order_of(net, used, group_of);
  for (std::size_t n = 0; n < group_of.size(); ++n) {
    if (!net.nodes[n].is_foreign()) continue;
    for (const value_id v : net.nodes[n].inputs) {
      const int from = used.producer_of(v);
      if (from < 0 || !net.nodes[static_cast<std::size_t>(from)].is_foreign()) continue;
      const std::size_t a = group_of[static_cast<std::size_t>(from)], b = group_of[n];
      if (a == b) continue;
      std::vector<std::size_t> joined = group_of;
      std::ranges::replace(joined, std::max(a, b), std::min(a, b));
      if (std::vector<std::size_t> possible = order_of(net, used, joined); !possible.empty()) {
        group_of = std::move(joined);
        order = std::move(possible);
      }
    }
  }
  std::vector<node> nodes;
  for (const std::size_t group : order) {
    node made = std::move(net.nodes[group]);
    for (std::size_t n = group + 1; n < group_of.size(); ++n)
      if (group_of[n] == group) join(made, std::move(net.nodes[n]));
    if (made.is_foreign())
      keep_inside(made, [&](value_id id) {
        return std::ranges::any_of(used.consumers_of(id), [&](int by) {
          return by == usage::leaves || group_of[static_cast<std::size_t>(by)] != group;
        });
      });
    nodes.push_back(std::move(made));
  }
  net.nodes = std::move(nodes);
}

std::string foreign_model(const network& net, const node& n) {
  constexpr std::int64_t ir_version = 8;
  std::string bytes;
  {
    protozero::pbf_writer model(bytes);
    model.add_int64(1, ir_version);
    {
      protozero::pbf_writer graph(model, 7);
      for (const foreign_node& part : n.foreign) write_node(graph, part);
      graph.add_string(2, "left");
      for (std::size_t i = 0; i < n.inputs.size(); ++i)
        if (const value& v = net[n.inputs[i]]; v.known)
          write_initializer(graph, input_name(i), *v.known);
        else
          write_declared(graph, 11, input_name(i), v);
      for (std::size_t i = 0; i < n.outputs.size(); ++i) write_declared(graph, 12, output_name(i), net[n.outputs[i]]);
    }
    for (const auto& [domain, version] : net.opsets) {
      protozero::pbf_writer opset(model, 8);
      opset.add_string(1, domain);
      opset.add_int64(2, version);
    }
  }
  return bytes;
}

}  // namespace levada::onnx
