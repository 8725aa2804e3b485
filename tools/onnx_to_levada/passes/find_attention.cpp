// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>

#include "attention_mask.hpp"
#include "matcher.hpp"
#include "passes.hpp"

namespace levada::onnx {
namespace {

struct attention {
  value_id q = no_value, k = no_value, v = no_value;
  const node* keys_turned = nullptr;  ///< the Transpose that has D, S
  double scale = 1;
  std::vector<mask_term> terms;
  attention_scores scores;
};

/// More things that are added to scores no exporter writes; a chain of sums is followed so far.
constexpr std::size_t most_terms = 8;

/// Whatever is in between has one consumer and is no output.
class attention_matcher : public matcher {
 public:
  using matcher::matcher;

  /// softmax(q k^T scale + terms) v, of the product with v.
  std::optional<attention> match(const node& n) const {
    if (n.op != "MatMul" || n.inputs.size() != 2 || net_[n.inputs[1]].known) return std::nullopt;
    bool without_nan = false;
    value_id shares = n.inputs[0];
    if (const value_id guarded = nan_to_zero(shares); guarded != no_value) shares = guarded, without_nan = true;
    const node* softmax = without_nan ? made_by(shares, "Softmax") : made_for_one(shares, "Softmax");
    if (softmax == nullptr || !is_of_last_axis(*softmax)) return std::nullopt;
    const value& scores = net_[softmax->inputs[0]];
    if (scores.type != element::f32 && scores.type != element::f64) return std::nullopt;
    attention found;
    found.v = n.inputs[1];
    found.scores = {scores.type, scores.dims};
    if (net_[found.v].dims.size() < 2 || !sum(softmax->inputs[0], found)) return std::nullopt;
    if (without_nan && !sees_keys(net_, found.terms, found.scores)) return std::nullopt;
    return found;
  }

 private:
  /// Where(IsNaN(x), 0, x), as exporters write it for queries that see no key: x.
  value_id nan_to_zero(value_id v) const {
    const node* where = made_for_one(v, "Where");
    if (where == nullptr || where->inputs.size() != 3 || !is_zero(where->inputs[1])) return no_value;
    const value_id x = where->inputs[2];
    const node* is_nan = made_for_one(where->inputs[0], "IsNaN");
    return is_nan != nullptr && is_nan->inputs[0] == x && used_.consumers_of(x).size() == 2 ? x : no_value;
  }

  bool is_of_last_axis(const node& softmax) const {
    const auto rank = static_cast<std::int64_t>(net_[softmax.inputs[0]].dims.size());
    const std::int64_t axis = attribute_integer(softmax, "axis", softmax.opset < 13 ? 1 : -1);
    return rank >= 2 && (axis < 0 ? axis + rank : axis) == rank - 1;
  }

  /// The product of queries and keys and what is added to it or hides a part of it, in any order.
  bool sum(value_id v, attention& to) const {
    const auto goes_on = [&](value_id next, const mask_term& term) {
      if (to.terms.size() == most_terms || net_[next].dims != net_[v].dims || !is_addition(net_, term)) return false;
      attention trial = to;
      trial.terms.push_back(term);
      if (!sum(next, trial)) return false;
      to = std::move(trial);
      return true;
    };
    if (const node* n = made_for_one(v, "Add"))
      return goes_on(n->inputs[0], {n->inputs[1]}) || goes_on(n->inputs[1], {n->inputs[0]});
    if (const node* n = made_for_one(v, "Where")) {
      if (is_scalar(n->inputs[1])) return goes_on(n->inputs[2], {n->inputs[0], true, scalar(n->inputs[1])});
      if (is_scalar(n->inputs[2])) return goes_on(n->inputs[1], {n->inputs[0], false, scalar(n->inputs[2])});
    }
    return product(v, to);
  }

  bool product(value_id v, attention& to) const {
    const node* n = made_for_one(unscaled(v, to.scale), "MatMul");
    if (n == nullptr || n->inputs.size() != 2) return false;
    to.keys_turned = made_for_one(unscaled(n->inputs[1], to.scale), "Transpose");
    if (to.keys_turned == nullptr) return false;
    to.q = unscaled(n->inputs[0], to.scale);
    to.k = unscaled(to.keys_turned->inputs[0], to.scale);
    return net_[to.q].dims.size() >= 2 && net_[to.k].dims.size() >= 2 && std::isfinite(to.scale);
  }

  /// What is multiplied or divided by numbers, which go into `scale`.
  value_id unscaled(value_id v, double& scale) const {
    while (true) {
      const node* mul = made_for_one(v, "Mul");
      const node* n = mul != nullptr ? mul : made_for_one(v, "Div");
      if (n == nullptr) return v;
      const std::size_t number = mul != nullptr && is_scalar(n->inputs[0]) ? 0 : 1;
      const value_id next = n->inputs[1 - number];
      if (!is_scalar(n->inputs[number]) || net_[next].dims != net_[v].dims) return v;
      scale *= mul != nullptr ? scalar(n->inputs[number]) : 1 / scalar(n->inputs[number]);
      v = next;
    }
  }
};

/// Keys S, D, by the Transpose that has D, S: nothing where it does that alone.
value_id keys_of(network& net, const attention& found, std::vector<node>& nodes) {
  std::vector<std::int64_t> axes = permutation_of(net, *found.keys_turned);
  std::swap(axes[axes.size() - 2], axes.back());
  if (std::ranges::is_sorted(axes)) return found.k;
  extents dims;
  for (const std::int64_t axis : axes) dims.push_back(net[found.k].dims[static_cast<std::size_t>(axis)]);
  node turned = *found.keys_turned;
  turned.inputs = {found.k};
  turned.outputs = {net.add({turned.name, found.scores.type, dims, {}})};
  turned.attributes["perm"].integers = axes;
  nodes.push_back(turned);
  return turned.outputs[0];
}

}  // namespace

void find_attention(network& net) {
  const usage used(net);
  std::vector<node> all;
  for (std::size_t at = 0; at < net.nodes.size(); ++at) {
    node& n = net.nodes[at];
    const std::optional<attention> found = n.domain.empty() ? attention_matcher(net, used).match(n) : std::nullopt;
    if (found) {
      const value_id keys = keys_of(net, *found, all);
      const attention_mask mask = mask_of(net, found->terms, found->scores, n.name, all);
      become(n, "DotProductAttention", {found->q, keys, found->v}, 1);
      if (mask.added != no_value) n.inputs.push_back(mask.added);
      n.attributes["scale"].number = found->scale;
      n.attributes["is_causal"].integer = mask.causal;
    }
    all.push_back(n);
  }
  net.nodes = std::move(all);
  remove_unused(net);
}

}  // namespace levada::onnx
