// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "matcher.hpp"
#include "passes.hpp"

namespace levada::onnx {
namespace {

/// Values in between may have other consumers: they stay for those.
class pattern_matcher : public matcher {
 public:
  using matcher::matcher;

  /// clip(x + 3, 0, 6) of the value: x.
  value_id clipped_by_six(value_id v) const {
    const node* clip = made_by(v, "Clip");
    if (clip == nullptr) return no_value;
    const bool by_attribute = clip->opset < 11;
    const bool bounds = by_attribute
                            ? attribute_number(*clip, "min", -1) == 0 && attribute_number(*clip, "max", -1) == 6
                            : clip->inputs.size() == 3 && is_zero(clip->inputs[1]) && is_number(clip->inputs[2], 6);
    const node* add = bounds ? made_by(clip->inputs[0], "Add") : nullptr;
    return add == nullptr ? no_value : beside_number(*add, 3);
  }
  /// clip(x + 3, 0, 6) / 6, or hard sigmoid by these numbers: x.
  value_id hard_sigmoid(value_id v) const {
    if (const node* n = made_by(v, "HardSigmoid"))
      return std::fabs(attribute_number(*n, "alpha", 0.2) - 1.0 / 6) < 1e-6 && attribute_number(*n, "beta", 0.5) == 0.5
                 ? n->inputs[0]
                 : no_value;
    if (const node* div = made_by(v, "Div"))
      return is_number(div->inputs[1], 6) ? clipped_by_six(div->inputs[0]) : no_value;
    if (const node* mul = made_by(v, "Mul")) {
      const value_id clip = beside_number(*mul, 1.0 / 6);
      return clip == no_value ? no_value : clipped_by_six(clip);
    }
    return no_value;
  }
  /// x hard_sigmoid(x), its division before or behind the product: x.
  value_id hard_swish(const node& n) const {
    if (n.op == "Mul" && n.inputs.size() == 2)
      for (const value_id side : n.inputs)
        if (const value_id x = hard_sigmoid(side); x != no_value && x == other(n, side)) return x;
    value_id product = no_value;
    if (n.op == "Div" && is_number(n.inputs[1], 6)) product = n.inputs[0];
    if (n.op == "Mul") product = beside_number(n, 1.0 / 6);
    const node* mul = product == no_value ? nullptr : made_by(product, "Mul");
    if (mul == nullptr) return no_value;
    for (const value_id side : mul->inputs)
      if (const value_id x = clipped_by_six(side); x != no_value && x == other(*mul, side)) return x;
    return no_value;
  }
  value_id silu(const node& n) const {
    if (n.op != "Mul" || n.inputs.size() != 2) return no_value;
    for (const value_id side : n.inputs)
      if (const node* sigmoid = made_by(side, "Sigmoid"); sigmoid != nullptr && sigmoid->inputs[0] == other(n, side))
        return sigmoid->inputs[0];
    return no_value;
  }

  /// 1 + erf(x / sqrt 2): x.
  value_id one_and_erf(value_id v) const {
    const node* add = made_by(v, "Add");
    const value_id inner = add == nullptr ? no_value : beside_number(*add, 1);
    const node* erf = inner == no_value ? nullptr : made_by(inner, "Erf");
    if (erf == nullptr) return no_value;
    if (const node* div = made_by(erf->inputs[0], "Div"))
      return is_number(div->inputs[1], std::sqrt(2.0)) ? div->inputs[0] : no_value;
    if (const node* mul = made_by(erf->inputs[0], "Mul")) return beside_number(*mul, 1 / std::sqrt(2.0));
    return no_value;
  }
  /// x (1 + erf(x / sqrt 2)) / 2 in any of its orders: x.
  value_id gelu(const node& n) const {
    if (n.op != "Mul" || n.inputs.size() != 2) return no_value;
    // (x (1 + erf)) 0.5
    if (const value_id product = beside_number(n, 0.5); product != no_value)
      if (const node* mul = made_by(product, "Mul"))
        for (const value_id side : mul->inputs)
          if (const value_id x = one_and_erf(side); x != no_value && x == other(*mul, side)) return x;
    for (const value_id side : n.inputs) {
      const value_id rest = other(n, side);
      // (0.5 x) (1 + erf)
      if (const value_id x = one_and_erf(side); x != no_value)
        if (const node* half = made_by(rest, "Mul"); half != nullptr && beside_number(*half, 0.5) == x) return x;
      // x (0.5 (1 + erf))
      if (const node* half = made_by(side, "Mul"))
        if (const value_id sum = beside_number(*half, 0.5); sum != no_value)
          if (const value_id x = one_and_erf(sum); x != no_value && x == rest) return x;
    }
    return no_value;
  }

  struct layer_norm {
    value_id x = no_value, scale = no_value, bias = no_value;
    double epsilon = 0;
    std::size_t axes = 0;
  };
  /// ((x - mean) / sqrt(variance + epsilon)) scale + bias over the last axes.
  std::optional<layer_norm> norm(const node& n) const {
    if (n.op != "Add" || n.inputs.size() != 2) return std::nullopt;
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
      const value_id bias = n.inputs[1 - at];
      const node* mul = net_[bias].known ? made_by(n.inputs[at], "Mul") : nullptr;
      if (mul == nullptr) continue;
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const value_id scale = mul->inputs[1 - side];
        const node* div = net_[scale].known ? made_by(mul->inputs[side], "Div") : nullptr;
        const node* sub = div == nullptr ? nullptr : made_by(div->inputs[0], "Sub");
        const node* root = div == nullptr ? nullptr : made_by(div->inputs[1], "Sqrt");
        const node* sum = root == nullptr ? nullptr : made_by(root->inputs[0], "Add");
        if (sub == nullptr || sum == nullptr) continue;
        const bool first = net_[sum->inputs[0]].known.has_value();
        const value_id epsilon = sum->inputs[first ? 0 : 1], variance = sum->inputs[first ? 1 : 0];
        const node* mean_of_squares = made_by(variance, "ReduceMean");
        const node* mean = made_by(sub->inputs[1], "ReduceMean");
        if (mean_of_squares == nullptr || mean == nullptr || mean->inputs[0] != sub->inputs[0]) continue;
        if (!is_scalar(epsilon) || !is_square_of(mean_of_squares->inputs[0], sub->outputs[0], sub)) continue;
        const std::size_t axes = last_axes(*mean);
        if (axes == 0 || axes != last_axes(*mean_of_squares)) continue;
        const extents& d = net_[sub->inputs[0]].dims;
        const extents inner(d.end() - static_cast<std::ptrdiff_t>(axes), d.end());
        if (net_[scale].dims != inner || net_[bias].dims != inner) continue;
        return layer_norm{sub->inputs[0], scale, bias, scalar(epsilon), axes};
      }
    }
    return std::nullopt;
  }

 private:
  /// x^2 or x x of the difference, which some exporters compute twice.
  bool is_square_of(value_id v, value_id difference, const node* sub) const {
    const auto same = [&](value_id x) {
      const node* again = made_by(x, "Sub");
      return x == difference || (again != nullptr && again->inputs == sub->inputs);
    };
    if (const node* power = made_by(v, "Pow")) return same(power->inputs[0]) && is_number(power->inputs[1], 2);
    if (const node* mul = made_by(v, "Mul")) return same(mul->inputs[0]) && mul->inputs[0] == mul->inputs[1];
    return false;
  }
  /// Of how many of the last axes it is the mean; 0 of others.
  std::size_t last_axes(const node& n) const {
    const auto rank = static_cast<std::int64_t>(net_[n.inputs[0]].dims.size());
    if (attribute_integer(n, "keepdims", 1) == 0) return 0;
    std::vector<std::int64_t> axes;
    if (n.inputs.size() > 1 && n.inputs[1] != no_value && net_[n.inputs[1]].known)
      axes = net_[n.inputs[1]].known->as<std::int64_t>();
    else if (const auto found = n.attributes.find("axes"); found != n.attributes.end())
      axes = found->second.integers;
    std::vector<bool> named(static_cast<std::size_t>(rank));
    for (const std::int64_t a : axes) named[static_cast<std::size_t>(a < 0 ? a + rank : a)] = true;
    std::size_t last = 0;
    while (last < named.size() && named[named.size() - 1 - last]) ++last;
    return last == axes.size() ? last : 0;
  }
};

}  // namespace

void find_patterns(network& net) {
  const usage used(net);
  for (std::size_t at = 0; at < net.nodes.size(); ++at) {
    const pattern_matcher match(net, used);
    node& n = net.nodes[at];
    if (!n.domain.empty() || n.outputs.size() != 1 || n.inputs.empty() || n.inputs[0] == no_value) continue;
    if (const value_id x = match.hard_swish(n); x != no_value) {
      become(n, "HardSwish", {x}, 14);
    } else if (const value_id y = match.silu(n); y != no_value) {
      become(n, "Silu", {y}, 1);
    } else if (const value_id z = match.gelu(n); z != no_value) {
      become(n, "Gelu", {z}, 20);
    } else if (const auto norm = match.norm(n)) {
      become(n, "LayerNormalization", {norm->x, norm->scale, norm->bias}, 17);
      attribute axis, epsilon;
      axis.integer = -static_cast<std::int64_t>(norm->axes);
      epsilon.number = norm->epsilon;
      n.attributes.emplace("axis", axis);
      n.attributes.emplace("epsilon", epsilon);
    } else if (n.op == "Div" || n.op == "Mul") {
      if (const value_id v = match.hard_sigmoid(n.outputs[0]); v != no_value) {
        become(n, "HardSigmoid", {v}, 6);
        attribute alpha, beta;
        alpha.number = 1.0 / 6;
        beta.number = 0.5;
        n.attributes.emplace("alpha", alpha);
        n.attributes.emplace("beta", beta);
      }
    }
  }
  remove_unused(net);
}

}  // namespace levada::onnx
