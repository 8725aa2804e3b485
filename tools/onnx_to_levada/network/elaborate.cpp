// SPDX-License-Identifier: Apache-2.0
#include "elaborate.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "../model/problems.hpp"
#include "../ops/op_definition.hpp"
#include "foreign.hpp"

namespace levada::onnx {
namespace {

/// The names that a graph sees: its own and those around it.
struct scope {
  std::map<std::string, value_id, std::less<>> names{};
  scope* around = nullptr;
  /// Of a branch that is a network of its own: that, the one around it, and which values of that it takes.
  network *own = nullptr, *outside = nullptr;
  std::vector<value_id> taken{};
  std::set<std::string, std::less<>> read{};  ///< the names that its nodes take, and those that leave it

  value_id find(const std::string& name) {
    if (const auto found = names.find(name); found != names.end()) return found->second;
    const value_id outer = around == nullptr ? no_value : around->find(name);
    return outer == no_value || own == nullptr ? outer : names[name] = take(outer);
  }

 private:
  value_id take(value_id outer) {
    const value& v = (*outside)[outer];
    if (v.known) return own->add(*v.known, v.name);
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (taken[i] == outer) return own->inputs[i];
    const value_id id = own->add({v.name, v.type, v.dims, {}});
    taken.push_back(outer);
    own->inputs.push_back(id);
    return id;
  }
};

/// How deep functions may call each other.
constexpr int deepest_call = 64;
constexpr std::size_t most_nodes = 1'000'000;

class elaboration {
 public:
  elaboration(const model_def& model, const elaboration_options& options, elaboration_counts& counts)
      : model_(model), options_(options), counts_(counts) {}

  network run() {
    constexpr std::int64_t newest = 24;
    if (const auto opset = model_.opsets.find(""); opset != model_.opsets.end() && opset->second > newest)
      problems_.add("the model is of opset " + std::to_string(opset->second) + "; " + std::to_string(newest) +
                    " is the newest that is known");
    scope top;
    initializers(model_.graph, top);
    inputs(top);
    problems_.throw_any();
    for (const declared& output : model_.graph.outputs) top.read.insert(output.name);
    top.read.insert(options_.to.begin(), options_.to.end());
    top.read.insert(options_.from);
    nodes(model_.graph.nodes, top, model_.opsets, {}, "", 0);
    finish(top);
    problems_.throw_any();
    remove_unused(model_net_);
    model_net_.opsets = model_.opsets;
    model_net_.bytes = model_.bytes;
    return std::move(model_net_);
  }

 private:
  element kept(element type) const {
    return options_.widen_half && (type == element::f16 || type == element::bf16) ? element::f32 : type;
  }
  constant kept(const constant& known) const {
    const element type = kept(known.type());
    return type == known.type() ? known : constant::of(type, known.dims(), known.as<double>());
  }

  void initializers(const graph_def& graph, scope& into) {
    for (const auto& [name, known] : graph.initializers) into.names[name] = net_->add(kept(known), name);
  }

  void inputs(scope& top) {
    std::set<std::string> used;
    for (const declared& input : model_.graph.inputs) {
      if (top.names.contains(input.name)) continue;  // an initializer gives its value
      if (const auto bound = options_.bound.find(input.name); bound != options_.bound.end()) {
        bind_input(input, bound->second, top);
        continue;
      }
      const auto fixed = options_.constants.find(input.name);
      if (names_of(input.type) == nullptr) {
        problems_.add("input \"" + input.name + "\" is no tensor of numbers");
        continue;
      }
      const std::optional<extents> dims = extents_of(input, used, fixed != options_.constants.end());
      if (!dims) continue;
      const element type = kept(input.type);
      if (fixed != options_.constants.end()) {
        std::vector<double> numbers = fixed->second;
        const auto count = static_cast<std::size_t>(elements_of(*dims));
        if (numbers.size() == 1) numbers.resize(count, numbers[0]);
        if (numbers.size() != count)
          problems_.add("constant \"" + input.name + "\" needs " + std::to_string(count) + " numbers");
        else
          top.names[input.name] = net_->add(constant::of(type, *dims, numbers), input.name);
        continue;
      }
      const value_id id = net_->add({input.name, type, *dims, {}});
      top.names[input.name] = id;
      net_->inputs.push_back(id);
      if (const auto layout = options_.layouts.find(input.name); layout != options_.layouts.end())
        given_in(layout->second, id);
    }
    for (const auto& [name, dims] : options_.dims)
      if (!used.contains(name)) problems_.add("no input has a free axis \"" + name + "\"");
    for (const auto& [name, layout] : options_.layouts)
      if (!top.names.contains(name)) problems_.add("no input is called \"" + name + "\"");
    for (const auto& [name, numbers] : options_.constants)
      if (!top.names.contains(name)) problems_.add("no input is called \"" + name + "\"");
    for (const auto& [name, tensor] : options_.bound)
      if (!top.names.contains(name)) problems_.add("no input is called \"" + name + "\"");
  }

  void bind_input(const declared& input, const constant& given, scope& top) {
    bool fits = given.type() == input.type && (!input.has_shape || given.dims().size() == input.dims.size());
    for (std::size_t axis = 0; fits && input.has_shape && axis < input.dims.size(); ++axis)
      fits = !input.dims[axis].value || *input.dims[axis].value == given.dims()[axis];
    if (!fits) problems_.add("what is bound to input \"" + input.name + "\" has another type or other extents");
    top.names[input.name] = net_->add(kept(given), input.name);
  }

  /// The items of an input have channels last, the model has them first: a transpose stands between them.
  void given_in(const std::string& layout, value_id input) {
    const extents dims = (*net_)[input].dims;
    if (layout == "NCHW" || layout == "NCL") return;
    if ((layout != "NHWC" && layout != "NLC") || layout.size() != dims.size())
      return problems_.add("the layout " + layout + " does not fit input \"" + (*net_)[input].name +
                           "\": NHWC of four axes, NLC of three");
    const std::size_t last = dims.size() - 1;
    extents items{dims[0]};
    items.insert(items.end(), dims.begin() + 2, dims.end());
    items.push_back(dims[1]);
    const value_id item = net_->add({(*net_)[input].name, (*net_)[input].type, items, {}});
    net_->inputs.back() = item;
    node turned;
    turned.op = "Transpose";
    turned.opset = 13;
    turned.name = (*net_)[input].name + "_channels_first";
    turned.inputs = {item};
    turned.outputs = {input};
    std::vector<std::int64_t>& axes = turned.attributes["perm"].integers;
    axes = {0, static_cast<std::int64_t>(last)};
    for (std::size_t axis = 1; axis < last; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
    net_->nodes.push_back(std::move(turned));
  }

  /// What --dims gives a free axis of that name, or null.
  std::optional<std::int64_t> extent_called(const std::string& axis) const {
    const auto given = options_.dims.find(axis);
    const bool is_there = !axis.empty() && given != options_.dims.end() && given->second.size() == 1;
    return is_there ? std::optional(given->second[0]) : std::nullopt;
  }

  std::optional<extents> extents_of(const declared& input, std::set<std::string>& used, bool is_constant) {
    if (const auto whole = options_.dims.find(input.name); whole != options_.dims.end()) {
      used.insert(input.name);
      return whole->second;
    }
    if (!input.has_shape && !is_constant) {
      problems_.add("input \"" + input.name + "\" has no shape: give it with --dims " + input.name + "=1,3,...");
      return std::nullopt;
    }
    extents dims;
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
      const declared_extent& extent = input.dims[axis];
      const std::string place = input.name + "." + std::to_string(axis);
      std::optional<std::int64_t> found = extent.value;
      for (const std::string& key : {place, extent.name}) {
        if (!key.empty() && options_.dims.contains(key)) used.insert(key);
        if (!found) found = extent_called(key);
      }
      if (!found) {
        problems_.add("free axis " + std::to_string(axis) + " of input \"" + input.name + "\": give it with --dims " +
                      (extent.name.empty() ? place : extent.name) + "=N");
        continue;
      }
      dims.push_back(*found);
    }
    return dims.size() == input.dims.size() ? std::optional(dims) : std::nullopt;
  }

  using bindings = attributes;

  void nodes(const std::vector<node_def>& all, scope& names, const opset_versions& opsets, const bindings& bound,
             const std::string& prefix, int depth) {
    for (const node_def& def : all) {
      names.read.insert(def.inputs.begin(), def.inputs.end());
      names.read.merge(captured_names(def));
    }
    for (const node_def& def : all) {
      if (++counts_.nodes > most_nodes) throw conversion_error("the model has more than a million nodes");
      if (options_.leave_unsupported && depth == 0)
        one_or_left(def, names, opsets, bound, prefix, depth);
      else
        one(without_unread(def, names.read), names, opsets, bound, prefix, depth);
    }
  }

  /// Of the outputs behind the first those that somebody takes. A BatchNormalization says by them that it trains, and
  /// what ONNX Runtime may compute stays as it is.
  static node_def without_unread(node_def def, const std::set<std::string, std::less<>>& read) {
    if (def.op == "BatchNormalization") return def;
    for (std::size_t i = 1; i < def.outputs.size(); ++i)
      if (!read.contains(def.outputs[i])) def.outputs[i].clear();
    return def;
  }

  /// A node of the model's own graph that cannot be converted is left to ONNX Runtime.
  void one_or_left(const node_def& def, scope& names, const opset_versions& opsets, const bindings& bound,
                   const std::string& prefix, int depth) {
    const problems before = problems_;
    one(def, names, opsets, bound, prefix, depth);
    if (problems_.count() == before.count()) return;
    const problems with_it = std::exchange(problems_, before);
    if (const std::optional<std::string> why_not = leave(def, names)) {
      problems_ = with_it;
      if (!why_not->empty())
        problems_.add(def.op + " \"" + name_of(def) + "\" is not left to ONNX Runtime: " + *why_not);
    }
  }

  static const std::string& name_of(const node_def& def) {
    if (!def.name.empty()) return def.name;
    const auto given = std::ranges::find_if(def.outputs, [](const std::string& output) { return !output.empty(); });
    return given == def.outputs.end() ? def.op : *given;
  }

  /// Why it cannot be left: "" where it takes of a node of which that was said. Null: it is left.
  std::optional<std::string> leave(const node_def& def, scope& names) {
    std::vector<value_id> inputs, outputs;
    std::map<std::string, value_id> captured;
    bool depends_on_item = false;
    const auto take = [&](const std::string& name) {
      const value_id id = names.find(name);
      const bool there = id != no_value && (*net_)[id].is_typed();
      depends_on_item = depends_on_item || (there && !(*net_)[id].known);
      return there ? id : no_value;
    };
    for (const std::string& name : def.inputs) {
      inputs.push_back(name.empty() ? no_value : take(name));
      if (!name.empty() && inputs.back() == no_value) return "";
    }
    for (const std::string& name : captured_names(def)) {
      const value_id id = take(name);
      if (id == no_value) return "";
      captured[name] = id;
    }
    if (!depends_on_item) return "it takes nothing of the item";
    std::vector<value> given;
    for (const std::string& name : def.outputs) {
      if (name.empty()) continue;
      const std::optional<value> type = declared_type(name);
      if (!type)
        return "the model does not say the type and the extents of \"" + name +
               "\", as ONNX's shape inference would write them";
      if (type->type != kept(type->type)) return "\"" + name + "\" is of half precision: give --half keep";
      given.push_back(*type);
    }
    for (std::size_t i = 0, next = 0; i < def.outputs.size(); ++i)
      outputs.push_back(def.outputs[i].empty() ? no_value : net_->add(given[next++]));
    bind(def, names, outputs);
    net_->nodes.push_back(foreign_of(name_of(def), def.message, inputs, captured, outputs));
    return std::nullopt;
  }

  /// What the model says of a value of its own graph, its free axes fixed as those of the inputs are.
  std::optional<value> declared_type(const std::string& name) const {
    for (const auto* all : {&model_.graph.values, &model_.graph.outputs})
      for (const declared& d : *all) {
        if (d.name != name || !d.has_shape || names_of(d.type) == nullptr) continue;
        value v{name, d.type, {}, {}};
        for (const declared_extent& extent : d.dims) {
          const std::optional<std::int64_t> found = extent.value ? extent.value : extent_called(extent.name);
          if (!found) return std::nullopt;
          v.dims.push_back(*found);
        }
        return v;
      }
    return std::nullopt;
  }

  void one(const node_def& def, scope& names, const opset_versions& opsets, const bindings& bound,
           const std::string& prefix, int depth) {
    node made = {.op = def.op,
                 .domain = def.domain,
                 .opset = 0,
                 .name = {},
                 .inputs = {},
                 .outputs = {},
                 .attributes = {},
                 .stands_for = {}};
    if (depth == 0 && std::ranges::all_of(def.attributes, [](const auto& a) { return a.second.graph == nullptr; }))
      made.message = def.message;
    made.name = prefix + name_of(def);
    if (const auto version = opsets.find(def.domain); version != opsets.end()) made.opset = version->second;
    for (const auto& [key, given] : def.attributes) {
      if (given.refers_to.empty()) {
        made.attributes.emplace(key, given);
      } else if (const auto found = bound.find(given.refers_to); found != bound.end()) {
        made.attributes.emplace(key, found->second);
      }
    }
    bool typed = true;
    for (const std::string& input : def.inputs) {
      const value_id id = input.empty() ? no_value : names.find(input);
      if (id == no_value && !input.empty()) {
        problems_.add(made.op + " \"" + made.name + "\": nobody gives \"" + input + "\" before it");
        typed = false;
      }
      typed = typed && (id == no_value || (*net_)[id].is_typed());
      made.inputs.push_back(id);
    }
    try {
      if (made.domain.empty() && made.op == "If" && typed)
        return branch(def, made, names, opsets, bound, prefix, depth);
      if (const auto found = model_.functions.find({made.domain, made.op}); found != model_.functions.end())
        return call(found->second, def, made, names, depth);
      refuse_training(made);
      if (!made.inputs.empty() && made.inputs[0] != no_value && is_alias(made)) {
        ++counts_.aliases;
        if (made.op != "Dropout" || def.outputs.size() < 2 || def.outputs[1].empty())
          return bind(def, names, {made.inputs[0]});
        const extents dims = (*net_)[made.inputs[0]].dims;  // the mask of a Dropout that drops nothing
        const std::vector<std::int64_t> ones(static_cast<std::size_t>(elements_of(dims)), 1);
        return bind(def, names,
                    {made.inputs[0], net_->add(constant::of(element::boolean, dims, ones), def.outputs[1])});
      }
      const op_definition* op = find_op(made.domain, made.op);
      if (op == nullptr) {
        problems_.add_op(made.domain.empty() ? made.op : made.domain + "." + made.op, made.name);
        typed = false;
      }
      if (!typed) return bind(def, names, {});
      if (const std::optional<function_def> body = expand(*op, def, made))
        call(*body, def, made, names, depth);
      else
        computed(*op, def, made, names);
    } catch (const conversion_error& failure) {
      problems_.add(std::string_view(failure.what()).starts_with("a tensor has")
                        ? made.op + " \"" + made.name + "\": " + failure.what()
                        : failure.what());
      bind(def, names, {});
    } catch (const std::out_of_range&) {
      problems_.add(made.op + " \"" + made.name + "\": it has too few inputs, outputs or numbers");
      bind(def, names, {});
    }
  }

  bool is_alias(const node& n) const {
    if (!n.domain.empty() || n.op != "Cast") return n.domain.empty() && (n.op == "Identity" || n.op == "Dropout");
    const auto to = n.attributes.find("to");
    const element type = (*net_)[n.inputs[0]].type;
    return type != element::undefined && to != n.attributes.end() &&
           kept(static_cast<element>(to->second.integer)) == type;
  }

  std::optional<function_def> expand(const op_definition& op, const node_def& def, const node& made) const {
    node named = made;
    for (const std::string& name : def.outputs) named.outputs.push_back(name.empty() ? no_value : 0);
    return expansion_of(op, op_call(*net_, named));
  }

  /// A Dropout that drops: opset 12 on says so by an input.
  void refuse_training(const node& n) const {
    if (!n.domain.empty() || n.op != "Dropout") return;
    const op_call seen(*net_, n);
    const bool drops = !seen.is_known(1) || seen.in(1).known->scalar<double>() != 0;
    if (seen.has(2) && seen.known(2, "training_mode").scalar<std::int64_t>() != 0 && drops)
      seen.fail("it is in training mode: it draws numbers");
  }

  /// The outputs of a node by their names; what is not given has no type.
  void bind(const node_def& def, scope& names, const std::vector<value_id>& given) {
    for (std::size_t i = 0; i < def.outputs.size(); ++i)
      if (!def.outputs[i].empty())
        names.names[def.outputs[i]] =
            i < given.size() && given[i] != no_value ? given[i] : net_->add({def.outputs[i], {}, {}, {}});
  }

  void computed(const op_definition& op, const node_def& def, node& made, scope& names) {
    if (made.op == "Cast" && made.domain.empty())
      if (const auto to = made.attributes.find("to"); to != made.attributes.end())
        to->second.integer = static_cast<std::int64_t>(kept(static_cast<element>(to->second.integer)));
    for (const std::string& name : def.outputs)
      made.outputs.push_back(name.empty() ? no_value : net_->add({name, {}, {}, {}}));
    const op_call seen(*net_, made);
    const std::vector<tensor_type> types = op.infer(seen);
    bool known = op.evaluate != nullptr;
    if (!op.needs_types_only)
      for (const value_id id : made.inputs) known = known && (id == no_value || (*net_)[id].known);
    for (std::size_t i = 0; i < made.outputs.size(); ++i) {
      const value_id id = made.outputs[i];
      if (id == no_value) continue;
      if (i >= types.size()) seen.fail("it gives no output " + std::to_string(i));
      (*net_)[id].type = kept(types[i].type);
      (*net_)[id].dims = types[i].dims;
      elements_of(types[i].dims);  // not too many
      for (const std::int64_t d : types[i].dims)
        if (d < 0 || (d == 0 && !known)) seen.fail("it gives a tensor without elements");
    }
    if (known) {
      const std::vector<constant> constants = op.evaluate(seen);
      for (std::size_t i = 0; i < made.outputs.size(); ++i) {
        const value_id id = made.outputs[i];
        if (id == no_value) continue;
        (*net_)[id].known = kept(constants.at(i));
        if ((*net_)[id].known->dims() != (*net_)[id].dims || (*net_)[id].known->type() != (*net_)[id].type)
          seen.fail("its type was inferred wrongly");
      }
      if (made.op == "DequantizeLinear" && made.domain.empty() && seen.gives(0))
        (*net_)[made.outputs[0]].dequantized = {.integers = made.inputs[0],
                                                .scale = made.inputs[1],
                                                .zero_point = made.inputs.size() > 2 ? made.inputs[2] : no_value,
                                                .axis = seen.integer("axis", 1)};
    }
    bind(def, names, made.outputs);
    if (known)
      ++counts_.folded;
    else
      net_->nodes.push_back(std::move(made));
  }

  /// Nodes that are met meanwhile belong to the network of a branch.
  struct inside_branch {
    elaboration& of;
    network* around;

    inside_branch(elaboration& all, network& own) : of(all), around(std::exchange(all.net_, &own)) {}
    ~inside_branch() { of.net_ = around; }
    inside_branch(const inside_branch&) = delete;
    inside_branch& operator=(const inside_branch&) = delete;
  };

  void branch(const node_def& def, node& made, scope& names, const opset_versions& opsets, const bindings& bound,
              const std::string& prefix, int depth) {
    const op_call seen(*net_, made);
    if (depth > deepest_call) seen.fail("graphs stand in each other too deep");
    const auto graph_of = [&](const char* name) -> const graph_def& {
      const attribute* found = seen.find(name);
      if (found == nullptr || found->graph == nullptr) seen.fail("it has no branch");
      return *found->graph;
    };
    const auto elaborate = [&](const graph_def& graph, scope& inner) {
      initializers(graph, inner);
      for (const declared& output : graph.outputs) inner.read.insert(output.name);
      nodes(graph.nodes, inner, opsets, bound, prefix, depth + 1);
      std::vector<value_id> outputs;
      outputs.reserve(graph.outputs.size());
      for (const declared& output : graph.outputs) outputs.push_back(inner.find(output.name));
      return outputs;
    };
    if (seen.is_known(0)) {
      ++counts_.inlined;
      scope inner{.around = &names};
      const bool taken = seen.in(0).known->scalar<std::int64_t>() != 0;
      return bind(def, names, elaborate(graph_of(taken ? "then_branch" : "else_branch"), inner));
    }
    if (elements_of(seen.dims()) != 1 || seen.type() != element::boolean) seen.fail("its condition is no bool");
    std::vector<value_id> taken[2];
    const auto add_branch = [&](const graph_def& graph, std::vector<value_id>& its_taken) {
      network& own = *made.branches.emplace_back(std::make_shared<network>());
      const inside_branch inside(*this, own);
      scope inner{.around = &names, .own = &own, .outside = inside.around};
      const std::vector<value_id> outputs = elaborate(graph, inner);
      for (const value_id id : outputs)
        if (id == no_value || !own[id].is_typed()) return false;
      for (const value_id id : outputs) own.outputs.emplace_back("y" + std::to_string(own.outputs.size()), id);
      remove_unused(own);
      its_taken = inner.taken;
      return true;
    };
    for (std::size_t b = 0; b < 2; ++b) {
      if (!add_branch(graph_of(b == 0 ? "then_branch" : "else_branch"), taken[b]))
        return bind(def, names, {});  // it was said why
      for (const value_id id : taken[b])
        if (std::ranges::find(made.inputs, id) == made.inputs.end()) made.inputs.push_back(id);
    }
    for (std::size_t b = 0; b < 2; ++b) {
      network& own = *made.branches[b];
      std::vector<value_id> inputs;
      for (const value_id id : made.inputs) {
        const auto at = static_cast<std::size_t>(std::ranges::find(taken[b], id) - taken[b].begin());
        const value& v = (*net_)[id];
        inputs.push_back(at < taken[b].size() ? own.inputs[at] : own.add({v.name, v.type, v.dims, {}}));
      }
      own.inputs = std::move(inputs);
    }
    const network &first = *made.branches[0], &second = *made.branches[1];
    if (first.outputs.size() != second.outputs.size() || first.outputs.size() < def.outputs.size())
      seen.fail("its branches give another number of tensors");
    for (std::size_t i = 0; i < first.outputs.size(); ++i) {
      const value &a = first[first.outputs[i].second], &b = second[second.outputs[i].second];
      if (a.type != b.type || a.dims != b.dims)
        seen.fail("it depends on the item, and its branches give tensors of other types or extents");
      const bool named = i < def.outputs.size() && !def.outputs[i].empty();
      made.outputs.push_back(net_->add({named ? def.outputs[i] : made.name, a.type, a.dims, {}}));
    }
    bind(def, names, made.outputs);
    net_->nodes.push_back(std::move(made));
  }

  void call(const function_def& function, const node_def& def, const node& made, scope& names, int depth) {
    if (depth > deepest_call) throw conversion_error(made.name + ": functions call each other too deep");
    ++counts_.inlined;
    scope inner;  // a function sees its arguments alone
    for (std::size_t i = 0; i < function.inputs.size() && i < made.inputs.size(); ++i)
      if (made.inputs[i] != no_value) inner.names[function.inputs[i]] = made.inputs[i];
    inner.read.insert(function.outputs.begin(), function.outputs.end());
    bindings given = function.defaults;
    for (const auto& [key, attribute] : made.attributes) given.insert_or_assign(key, attribute);
    const opset_versions& opsets = function.opsets.empty() ? model_.opsets : function.opsets;
    nodes(function.nodes, inner, opsets, given, made.name + "/", depth + 1);
    std::vector<value_id> outputs;
    outputs.reserve(function.outputs.size());
    for (const std::string& name : function.outputs) outputs.push_back(inner.find(name));
    bind(def, names, outputs);
  }

  void finish(scope& top) {
    if (!options_.from.empty()) {
      const value_id id = top.find(options_.from);
      if (id == no_value || !(*net_)[id].is_typed())
        problems_.add("no tensor is called \"" + options_.from + "\", where the part begins");
      else
        begin_at(id);
    }
    std::vector<std::string> wanted = options_.to;
    if (wanted.empty())
      for (const declared& output : model_.graph.outputs) wanted.push_back(output.name);
    for (const std::string& name : wanted) {
      const value_id id = top.find(name);
      if (id == no_value)
        problems_.add("nobody gives the output \"" + name + "\"");
      else if ((*net_)[id].is_typed())
        net_->outputs.emplace_back(name, id);
    }
    if (net_->outputs.empty() && problems_.empty()) problems_.add("the model gives nothing");
  }

  /// The part begins at that value: who makes it is not needed, and no other input may be.
  void begin_at(value_id id) {
    for (node& n : net_->nodes)
      for (value_id& output : n.outputs)
        if (output == id) output = net_->add({(*net_)[id].name, (*net_)[id].type, (*net_)[id].dims, {}});
    net_->inputs.push_back(id);
  }

  const model_def& model_;
  const elaboration_options& options_;
  elaboration_counts& counts_;
  network model_net_;
  network* net_ = &model_net_;  ///< that of the branch that is looked at
  problems problems_;
};

}  // namespace

network elaborate(const model_def& model, const elaboration_options& options, elaboration_counts& counts) {
  network net = elaboration(model, options, counts).run();
  // Inputs that nobody takes are no ports.
  const usage used(net);
  std::erase_if(net.inputs, [&](value_id id) { return used.consumers_of(id).empty(); });
  return net;
}

}  // namespace levada::onnx
