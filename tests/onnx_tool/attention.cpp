// SPDX-License-Identifier: Apache-2.0
// Attention: which networks become that op, that it computes what they did, and the ops that are written as it.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "converted.hpp"
#include "model_writer.hpp"
#include "ops/op_definition.hpp"

namespace onnx_tool_attention {

using namespace levada_test;
namespace onnx = levada::onnx;
using onnx::constant;
using onnx::element;
using onnx::extents;
using strings = std::vector<std::string>;

constexpr float infinity = std::numeric_limits<float>::infinity();

// --- what a network computes ----------------------------------------------------------------------------------------

/// By the tool's own folding.
constant folded(std::string op, const std::vector<constant>& in, const onnx::attributes& given = {}) {
  onnx::network net;
  onnx::node n;
  n.op = std::move(op), n.opset = 17, n.attributes = given;
  for (const constant& c : in) n.inputs.push_back(net.add(c, ""));
  const onnx::op_definition& definition = *onnx::find_op("", n.op);
  const onnx::tensor_type type = definition.infer(onnx::op_call(net, n)).at(0);
  n.outputs = {net.add({"", type.type, type.dims, {}})};
  return definition.evaluate(onnx::op_call(net, n)).at(0);
}
constant softmax(const constant& in) {
  std::vector<double> all = in.as<double>();
  const auto row = in.dims().back();
  for (auto at = all.begin(); at != all.end(); at += row) {
    const double most = *std::max_element(at, at + row);
    double sum = 0;
    for (auto x = at; x != at + row; ++x) sum += * x = std::exp(*x - most);
    for (auto x = at; x != at + row; ++x) *x /= sum;
  }
  return constant::of(in.type(), in.dims(), all);
}
constant attention(const onnx::op_call& call) {
  const constant& k = call.known(1, "keys");
  onnx::attributes turned;
  for (std::int64_t axis = 0; axis < call.rank(1); ++axis) turned["perm"].integers.push_back(axis);
  std::swap(turned["perm"].integers.back(), turned["perm"].integers[turned["perm"].integers.size() - 2]);
  constant scores = folded("MatMul", {call.known(0, "queries"), folded("Transpose", {k}, turned)});
  scores = folded("Mul", {scores, constant::of(element::f32, {}, std::vector{call.number("scale", 1)})});
  if (call.has(3)) scores = folded("Add", {scores, call.known(3, "a mask")});
  std::vector<double> all = scores.as<double>();
  const auto keys = scores.dims().back(), queries = scores.dims()[scores.dims().size() - 2];
  if (call.integer("is_causal", 0) != 0)
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(all.size()); ++i)
      if (i % keys > i / keys % queries) all[static_cast<std::size_t>(i)] = -HUGE_VAL;
  return folded("MatMul", {softmax(constant::of(scores.type(), scores.dims(), all)), call.known(2, "values")});
}

/// The elements of its output, of inputs whose numbers follow from their places.
std::vector<double> computed(onnx::network net) {
  for (const onnx::value_id id : net.inputs) {
    const bool is_bool = net[id].type == element::boolean;
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < onnx::elements_of(net[id].dims); ++i)
      numbers.push_back(is_bool ? static_cast<double>(i * 7 % 5 != 0)
                                : std::sin(static_cast<double>(i * 37 + id * 11)) * 2);
    net[id].known = constant::of(net[id].type, net[id].dims, numbers);
  }
  for (const onnx::node& n : net.nodes) {
    const onnx::op_call call(net, n);
    onnx::value& out = net[n.outputs[0]];
    if (n.op == "Softmax")
      out.known = softmax(call.known(0, "scores"));
    else if (n.op == "DotProductAttention")
      out.known = attention(call);
    else
      out.known = onnx::find_op("", n.op)->evaluate(call).at(0);
    if (n.op == "MatMul" && call.has(2)) out.known = folded("Add", {*out.known, call.known(2, "a bias")});
  }
  return net[net.outputs.at(0).second].known.value().as<double>();
}
void check_close(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(2e-6));
}

/// Simplified, which computes the same.
onnx::network simplified(const std::string& bytes) {
  onnx::network net = elaborated(bytes);
  const std::vector<double> before = computed(net);
  onnx::simplify(net);
  check_close(computed(net), before);
  return net;
}
const onnx::node* find(const onnx::network& net) {
  for (const onnx::node& n : net.nodes)
    if (n.op == "DotProductAttention") return &n;
  return nullptr;
}
double scale_of(const onnx::network& net) { return find(net)->attributes.at("scale").number; }
bool is_causal(const onnx::network& net) { return find(net)->attributes.at("is_causal").integer != 0; }

// --- networks -------------------------------------------------------------------------------------------------------

constexpr std::int64_t steps = 3, keys = 4, width = 16;

/// softmax(q k^T / 4) v of two heads, with parts that tests replace: `scores` gives "s" from "p".
struct parts {
  message q = node("Identity", {"q"}, {"q1"}), k = node("Transpose", {"k"}, {"k1"}, {attribute("perm", {0, 1, 3, 2})});
  std::vector<message> scores = {node("Div", {"p", "four"}, {"s"})}, shares = {node("Softmax", {"s"}, {"w"})};
  std::vector<message> initializers = {floats({}, {4}, "four"), floats({}, {0.5f}, "half"), floats({}, {0}, "zero"),
                                       floats({}, {-infinity}, "none"), floats({}, {-1e4f}, "low")};
  std::vector<message> inputs = {}, outputs = {};
  dims k_dims = {1, 2, keys, width};
  std::int64_t opset = 17;

  std::string bytes() const {
    graph_text g;
    g.inputs = {value("q", {1, 2, steps, width}), value("k", k_dims), value("v", {1, 2, keys, 5})};
    g.inputs.insert(g.inputs.end(), inputs.begin(), inputs.end());
    g.initializers = initializers;
    g.nodes = {q, k, node("MatMul", {"q1", "k1"}, {"p"})};
    g.nodes.insert(g.nodes.end(), scores.begin(), scores.end());
    g.nodes.insert(g.nodes.end(), shares.begin(), shares.end());
    g.nodes.push_back(node("MatMul", {"w", "v"}, {"y"}, {}, "out"));
    g.outputs = {value("y", {})};
    g.outputs.insert(g.outputs.end(), outputs.begin(), outputs.end());
    return model(g, opset);
  }
  onnx::network net() const { return simplified(bytes()); }
  /// Additions to the scores behind their scale.
  void add(std::string_view op, const std::vector<std::string_view>& with_p) {
    scores = {node("Div", {"p", "four"}, {"d"}), node(op, with_p, {"s"})};
  }
};
std::vector<float> causal_mask(float number) {
  std::vector<float> mask;
  for (std::int64_t i = 0; i < steps * keys; ++i) mask.push_back(i % keys > i / keys ? number : 0);
  return mask;
}

TEST_CASE("products with a softmax between them are attention, wherever the scale stands") {
  parts p;
  CHECK(ops_of(p.net()) == strings{"DotProductAttention"});
  CHECK(scale_of(p.net()) == 0.25);
  CHECK(converted(p.bytes()).has("lv::node<\"out\", \"q\", \"k\", \"v\">(nn::attention<>(0.25f))"));
  CHECK(converted(p.bytes()).has("DotProductAttention out, MatMul and those before it"));
  p.scores = {node("Mul", {"half", "p"}, {"s"})};
  CHECK(scale_of(p.net()) == 0.5);
  p.scores = {node("Identity", {"p"}, {"s"})};
  CHECK(scale_of(p.net()) == 1);
  p.q = node("Div", {"q", "four"}, {"q1"});
  CHECK(scale_of(p.net()) == 0.25);
}

TEST_CASE("a scale of queries and one of keys are one, behind an older softmax that names its axis, too") {
  graph_text g;
  g.inputs = {value("q", {2, steps, width}), value("k", {2, keys, width}), value("v", {2, keys, 5})};
  g.initializers = {floats({1}, {0.5f}, "half")};
  g.nodes = {node("Mul", {"q", "half"}, {"q1"}),
             node("Transpose", {"k"}, {"kt"}, {attribute("perm", {0, 2, 1})}),
             node("Mul", {"kt", "half"}, {"k1"}),
             node("MatMul", {"q1", "k1"}, {"s"}),
             node("Softmax", {"s"}, {"w"}, {attribute("axis", 2)}),
             node("MatMul", {"w", "v"}, {"y"})};
  g.outputs = {value("y", {})};
  const onnx::network net = simplified(model(g, 11));
  CHECK(ops_of(net) == strings{"DotProductAttention"});
  CHECK(scale_of(net) == 0.25);
}

TEST_CASE("a transpose of heads and of keys stays one of heads") {
  parts p;
  p.k_dims = {1, keys, 2, width};
  p.k = node("Transpose", {"k"}, {"k1"}, {attribute("perm", {0, 2, 3, 1})}, "heads");
  const onnx::network net = p.net();
  CHECK(ops_of(net) == strings{"Transpose", "DotProductAttention"});
  CHECK(net.nodes[0].attributes.at("perm").integers == std::vector<std::int64_t>{0, 2, 1, 3});
  CHECK(converted(p.bytes()).has("lv::node<\"heads\", \"k\">(nn::transpose<1, 0, 2>)"));
}

TEST_CASE("a constant that hides what is behind a query is no mask") {
  parts p;
  p.add("Add", {"d", "mask"});
  for (const float number : {-infinity, -1e4f}) {
    p.initializers.back() = floats({1, 1, steps, keys}, causal_mask(number), "mask");
    const onnx::network net = p.net();
    CHECK(ops_of(net) == strings{"DotProductAttention"});
    CHECK(is_causal(net));
    CHECK(converted(p.bytes()).has("nn::attention<lv::causal>(0.25f)"));
  }
  // -1 hides little; what is beside the diagonal may not be 0; other extents are no triangle of these keys.
  std::vector<float> with_slope = causal_mask(-infinity);
  with_slope[4] = -0.5f;
  for (const message& mask : {floats({steps, keys}, causal_mask(-1), "mask"), floats({steps, keys}, with_slope, "mask"),
                              floats({1, keys}, {0, -infinity, -infinity, -infinity}, "mask")}) {
    p.initializers.back() = mask;
    const onnx::network net = p.net();
    CHECK(ops_of(net) == strings{"DotProductAttention"});
    CHECK(!is_causal(net));
    CHECK(find(net)->inputs.size() == 4);
  }
  p.initializers.back() = floats({keys}, std::vector<float>(keys), "mask");
  CHECK(find(p.net())->inputs.size() == 3);
}

TEST_CASE("a causal constant in a choice is the same") {
  parts p;
  std::vector<std::int8_t> sees;
  for (const float x : causal_mask(1)) sees.push_back(x == 0 ? 1 : 0);
  p.initializers.push_back(tensor(element::boolean, {1, 1, steps, keys}, sees, "sees"));
  for (const std::string_view number : {"none", "low"}) {
    p.add("Where", {"sees", "d", number});
    CHECK(ops_of(p.net()) == strings{"DotProductAttention"});
    CHECK(is_causal(p.net()));
  }
  p.add("Where", {"sees", "none", "d"});
  CHECK(!is_causal(p.net()));  // it hides what is not behind
}

TEST_CASE("masks that depend on the item, and several of them, are one mask") {
  parts p;
  p.inputs = {value("mask", {1, 1, 1, keys}), value("bias", {1, 2, steps, keys})};
  p.add("Add", {"mask", "d"});
  onnx::network net = p.net();
  CHECK(ops_of(net) == strings{"DotProductAttention"});
  CHECK(net[find(net)->inputs.at(3)].name == "mask");
  CHECK(converted(p.bytes()).has("\"q\", \"k\", \"v\", \"out_shaped\">(nn::attention<>(0.25f))"));
  p.initializers.back() = floats({steps, keys}, causal_mask(-infinity), "behind");
  p.scores = {node("Div", {"p", "four"}, {"d"}), node("Add", {"bias", "d"}, {"e"}), node("Add", {"e", "mask"}, {"f"}),
              node("Add", {"f", "behind"}, {"s"})};
  net = p.net();
  CHECK(ops_of(net) == strings{"Add", "DotProductAttention"});
  CHECK(is_causal(net));
  // A query that sees no key but those that are hidden by the mask sees what both numbers leave of it.
  p.initializers.back() = floats({steps, keys}, causal_mask(-1e4f), "behind");
  CHECK(!is_causal(p.net()));
}

TEST_CASE("bools that depend on the item hide keys") {
  parts p;
  p.inputs = {value("sees", {1, 1, steps, keys}, element::boolean)};
  p.add("Where", {"sees", "d", "none"});
  CHECK(ops_of(p.net()) == strings{"Where", "DotProductAttention"});
  // Of a query without a key the scores would be less by 1e4, not all the same.
  p.add("Where", {"sees", "d", "low"});
  CHECK(find(p.net()) == nullptr);
}

TEST_CASE("a guard against queries that see no key goes where each sees one") {
  parts p;
  p.shares = {node("Softmax", {"s"}, {"w1"}), node("IsNaN", {"w1"}, {"lost"}),
              node("Where", {"lost", "zero", "w1"}, {"w"})};
  CHECK(ops_of(p.net()) == strings{"DotProductAttention"});
  p.add("Add", {"d", "mask"});
  p.initializers.back() = floats({steps, keys}, causal_mask(-infinity), "mask");
  CHECK(is_causal(p.net()));
  p.initializers.back() = floats({1, keys}, std::vector<float>(keys, -infinity), "mask");
  CHECK(find(p.net()) == nullptr);
  p.initializers.pop_back();
  p.inputs = {value("mask", {1, 1, 1, keys})};
  CHECK(find(p.net()) == nullptr);
}

TEST_CASE("what somebody else takes, or another axis, is no attention") {
  const auto is_found = [](const parts& p) { return find(p.net()) != nullptr; };
  for (const std::string_view taken : {"p", "s", "w", "k1"}) {
    parts p;
    p.outputs = {value(taken, {})};
    CHECK(!is_found(p));
  }
  parts other;
  other.shares = {node("Softmax", {"s"}, {"w"}, {attribute("axis", 2)})};
  CHECK(!is_found(other));
  parts old;  // one that is of all axes behind the first
  old.opset = 11;
  CHECK(!is_found(old));
  parts larger;  // the mask makes more scores than there are products
  larger.scores = {node("Add", {"p", "mask"}, {"s"})};
  larger.initializers.push_back(floats({3, 1, 1, 1}, {1, 2, 3}, "mask"));
  CHECK(!is_found(larger));
  parts many;  // of a chain of sums the end is not looked for
  many.inputs = {value("mask", {1, keys})};
  many.scores = {node("Identity", {"p"}, {"s0"})};
  for (int i = 0; i < 8; ++i)
    many.scores.push_back(node("Add", {"s" + std::to_string(i), "mask"}, {"s" + std::to_string(i + 1)}));
  parts few = many;
  few.scores.push_back(node("Identity", {"s8"}, {"s"}));
  CHECK(is_found(few));
  many.scores.push_back(node("Add", {"s8", "mask"}, {"s"}));
  CHECK(!is_found(many));
  parts scaled;  // with the mask
  scaled.scores = {node("Add", {"p", "mask"}, {"d"}), node("Div", {"d", "four"}, {"s"})};
  scaled.initializers.push_back(floats({1, keys}, {1, 2, 3, 4}, "mask"));
  CHECK(!is_found(scaled));
  parts given;  // keys that nobody transposes
  given.k_dims = {1, 2, width, keys};
  given.k = node("Identity", {"k"}, {"k1"});
  CHECK(!is_found(given));
  parts queries;  // their scale is taken by others: it stays
  queries.q = node("Mul", {"q", "half"}, {"q1"});
  queries.outputs = {value("q1", {})};
  CHECK(is_found(queries));
  CHECK(scale_of(queries.net()) == 0.25);
}

// --- ops ------------------------------------------------------------------------------------------------------------

/// softmax(q k^T scale + bias) v of one head, by their definition. `at(row, i)`.
template <class Q, class K, class V, class Bias>
std::vector<double> by_definition(std::int64_t queries, std::int64_t of, std::int64_t inner, std::int64_t columns, Q q,
                                  K k, V v, double scale, Bias bias) {
  std::vector<double> all;
  for (std::int64_t t = 0; t < queries; ++t) {
    std::vector<double> shares;
    double sum = 0;
    for (std::int64_t s = 0; s < of; ++s) {
      double score = 0;
      for (std::int64_t i = 0; i < inner; ++i) score += q(t, i) * k(s, i);
      sum += shares.emplace_back(std::exp(score * scale + bias(t, s)));
    }
    for (std::int64_t x = 0; x < columns; ++x) {
      double made = 0;
      for (std::int64_t s = 0; s < of; ++s) made += shares[static_cast<std::size_t>(s)] / sum * v(s, x);
      all.push_back(made);
    }
  }
  return all;
}
double input(std::int64_t id, std::int64_t at) { return std::sin(static_cast<double>(at * 37 + id * 11)) * 2; }

std::string one_node(const message& n, const std::vector<message>& inputs,
                     const std::vector<message>& initializers = {}, std::int64_t opset = 23) {
  graph_text g;
  g.inputs = inputs;
  g.initializers = initializers;
  g.nodes = {n};
  g.outputs = {value("y", {})};
  return model(g, opset);
}

TEST_CASE("Attention of ONNX is one op, with heads of keys for several heads of queries") {
  // q [1, 4, 3, 8], k [1, 2, 4, 8], v [1, 2, 4, 5]; ids are by the order of inputs.
  const std::string bytes = one_node(node("Attention", {"q", "k", "v"}, {"y"}, {attribute("is_causal", 1)}),
                                     {value("q", {1, 4, 3, 8}), value("k", {1, 2, 4, 8}), value("v", {1, 2, 4, 5})});
  const onnx::network net = simplified(bytes);
  CHECK(is_causal(net));
  std::vector<double> expected;
  for (std::int64_t head = 0; head < 4; ++head) {
    const std::vector<double> one = by_definition(
        3, 4, 8, 5, [&](auto t, auto i) { return input(0, (head * 3 + t) * 8 + i); },
        [&](auto s, auto i) { return input(1, (head / 2 * 4 + s) * 8 + i); },
        [&](auto s, auto x) { return input(2, (head / 2 * 4 + s) * 5 + x); }, 1 / std::sqrt(8.0),
        [](auto t, auto s) { return s > t ? -1e30 : 0; });
    expected.insert(expected.end(), one.begin(), one.end());
  }
  check_close(computed(net), expected);
}

/// Rows of heads [T, heads D], as those of one head.
auto head_of(std::int64_t id, std::int64_t head, std::int64_t each, std::int64_t row) {
  return [=](std::int64_t t, std::int64_t i) { return input(id, t * row + head * each + i); };
}
std::vector<double> rows_of_heads(const std::vector<std::vector<double>>& all, std::int64_t each) {
  std::vector<double> rows;
  for (std::size_t at = 0; at < all[0].size(); at += static_cast<std::size_t>(each))
    for (const std::vector<double>& head : all)
      rows.insert(rows.end(), head.begin() + static_cast<std::ptrdiff_t>(at),
                  head.begin() + static_cast<std::ptrdiff_t>(at) + each);
  return rows;
}

TEST_CASE("heads that stand side by side are taken apart") {
  std::vector<std::vector<double>> all;
  for (std::int64_t head = 0; head < 2; ++head)
    all.push_back(by_definition(3, 4, 8, 5, head_of(0, head, 8, 16), head_of(1, head, 8, 16), head_of(2, head, 5, 10),
                                1 / std::sqrt(8.0), [](auto t, auto s) { return input(3, t * 4 + s); }));
  const std::vector<message> inputs{value("q", {1, 3, 16}), value("k", {1, 4, 16}), value("v", {1, 4, 10}),
                                    value("m", {3, 4})};
  const onnx::network plain = simplified(one_node(
      node("Attention", {"q", "k", "v", "m"}, {"y"}, {attribute("q_num_heads", 2), attribute("kv_num_heads", 2)}),
      inputs));
  CHECK(find(plain) != nullptr);
  check_close(computed(plain), rows_of_heads(all, 5));
  std::vector<message> microsoft = inputs;
  microsoft[3] = value("m", {1, 1, 3, 4});
  const onnx::network multi_head = simplified(one_node(
      node("MultiHeadAttention", {"q", "k", "v", "", "", "m"}, {"y"}, {attribute("num_heads", 2)}, "", "com.microsoft"),
      microsoft));
  CHECK(find(multi_head) != nullptr);
  check_close(computed(multi_head), rows_of_heads(all, 5));
}

TEST_CASE("Attention of Microsoft has the product before it") {
  // x [1, 3, 4] times the unit, thrice, and a bias of 1 for the values.
  std::vector<float> weights, bias(12);
  for (int i = 0; i < 48; ++i) weights.push_back(i % 12 % 4 == i / 12 ? 1.0f : 0.0f);
  std::fill(bias.begin() + 8, bias.end(), 1.0f);
  const onnx::network net =
      simplified(one_node(node("Attention", {"x", "w", "b"}, {"y"},
                               {attribute("num_heads", 2), attribute("unidirectional", 1)}, "", "com.microsoft"),
                          {value("x", {1, 3, 4})}, {floats({4, 12}, weights, "w"), floats({12}, bias, "b")}));
  CHECK(is_causal(net));
  std::vector<std::vector<double>> all;
  const std::int64_t id = net.inputs.at(0);
  for (std::int64_t head = 0; head < 2; ++head) {
    const auto part = head_of(id, head, 2, 4);
    all.push_back(by_definition(
        3, 3, 2, 2, part, part, [&](auto s, auto x) { return part(s, x) + 1; }, 1 / std::sqrt(2.0),
        [](auto t, auto s) { return s > t ? -1e30 : 0; }));
  }
  check_close(computed(net), rows_of_heads(all, 2));
}

TEST_CASE("forms of attention that are not supported are refused with a sentence") {
  const std::vector<message> inputs{value("q", {1, 3, 16}), value("k", {1, 4, 16}), value("v", {1, 4, 16}),
                                    value("p", {1, 2, 4, 8})};
  const auto refused = [&](const message& n) { return refusal([&] { converted all(one_node(n, inputs)); }); };
  const auto is_said = [&](const message& n, std::string_view text) {
    return refused(n).find(text) != std::string::npos;
  };
  const message heads = attribute("q_num_heads", 2), kv_heads = attribute("kv_num_heads", 2);
  CHECK(is_said(node("Attention", {"q", "k", "v", "", "p", "p"}, {"y"}, {heads, kv_heads}),
                "a past of keys is not supported"));
  CHECK(is_said(node("Attention", {"q", "k", "v"}, {"a", "", "", "y"}, {heads, kv_heads}), "its scores are not given"));
  CHECK(is_said(node("Attention", {"q", "k", "v"}, {"y"}), "its heads do not divide its channels"));
  CHECK(is_said(node("Attention", {"q", "k", "v", "p"}, {"y"}, {heads, kv_heads}), "its mask does not fit its scores"));
  CHECK(is_said(node("MultiHeadAttention", {"q"}, {"y"}, {attribute("num_heads", 2)}, "", "com.microsoft"),
                "it takes queries, keys and values in one tensor"));
}

}  // namespace onnx_tool_attention
