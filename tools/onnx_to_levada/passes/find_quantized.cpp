// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "../ops/quantization.hpp"
#include "matcher.hpp"
#include "passes.hpp"

namespace levada::onnx {
namespace {

/// How integers of a type stand for numbers.
struct steps {
  element type = element::undefined;
  double scale = 0;
  std::int64_t zero_point = 0;

  bool operator==(const steps&) const = default;
  double largest() const { return scale * static_cast<double>((type == element::i8 ? 127 : 255) - zero_point); }
};

class quantized_matcher : public matcher {
 public:
  using matcher::matcher;

  /// Of a QuantizeLinear, or of a DequantizeLinear, whose scale is one constant; nullopt of another.
  std::optional<steps> steps_of(const node& n) const {
    const bool from_integers = n.op == "DequantizeLinear";
    const element type = net_[from_integers ? n.inputs[0] : n.outputs[0]].type;
    if ((type != element::u8 && type != element::i8) || !n.domain.empty() || !is_scalar(n.inputs[1]))
      return std::nullopt;
    const value_id zero = n.inputs.size() > 2 ? n.inputs[2] : no_value;
    if (zero != no_value && !is_scalar(zero)) return std::nullopt;
    if (net_[n.inputs[from_integers ? 1 : 0]].type != element::f32) return std::nullopt;
    return steps{type, scalar(n.inputs[1]), zero == no_value ? 0 : net_[zero].known->scalar<std::int64_t>()};
  }
  /// The DequantizeLinear that gives the value, with one scale.
  const node* numbers_of_integers(value_id v) const {
    const node* n = made_by(v, "DequantizeLinear");
    return n != nullptr && steps_of(*n) ? n : nullptr;
  }

  struct rectified {
    value_id of = no_value;
    bool relu = false;
  };
  /// What is rounded, before a relu, or before a clip whose upper bound is beyond the largest integer.
  rectified before_activation(value_id v, const steps& to) const {
    if (const node* relu = made_for_one(v, "Relu")) return {relu->inputs[0], true};
    const node* clip = made_for_one(v, "Clip");
    if (clip == nullptr || clip->opset < 11 || clip->inputs.size() < 2 || !is_zero(clip->inputs[1])) return {v};
    if (clip->inputs.size() > 2 && clip->inputs[2] != no_value &&
        (!is_scalar(clip->inputs[2]) || scalar(clip->inputs[2]) < to.largest() - to.scale / 2))
      return {v};
    return {clip->inputs[0], true};
  }
};

class quantizing {
 public:
  explicit quantizing(network& net) : net_(net), used_(net), find_(net, used_) {}

  void run() {
    for (const node& n : net_.nodes) {
      if (n.op != "QuantizeLinear" || !n.domain.empty()) continue;
      const std::optional<steps> to = find_.steps_of(n);
      if (to && are_integers(n.inputs[0], *to)) same_.emplace_back(n.outputs[0], integers_of(n.inputs[0], *to, n));
    }
    for (node& n : net_.nodes)
      if (std::ranges::find(products, n.op) != std::end(products) && n.domain.empty()) gives_numbers(n);
    replace_same();
  }

 private:
  /// Ops that weigh and sum.
  static constexpr std::string_view products[] = {"Conv", "Gemm", "MatMul"};

  /// Inputs of a QLinearConv or a QGemm up to those of its result.
  struct product {
    std::vector<value_id> inputs;
    value_id bias = no_value;
  };

  /// The axis of the outputs in the weights of a node that levada has for integers, too: a Conv of pictures, or a
  /// matrix for each item.
  std::optional<std::int64_t> outputs_axis(const node& n) const {
    const extents &x = net_[n.inputs[0]].dims, &w = net_[n.inputs[1]].dims;
    if (n.op == "Conv") return x.size() == 4 && w.size() == 4 ? std::optional(std::int64_t{0}) : std::nullopt;
    if (x.size() != 2 || x[0] != 1 || w.size() != 2) return std::nullopt;
    if (n.op == "MatMul") return 1;
    const bool scales = matcher::attribute_number(n, "alpha", 1) != 1 || matcher::attribute_number(n, "beta", 1) != 1;
    if (scales || matcher::attribute_integer(n, "transA", 0) != 0) return std::nullopt;
    return matcher::attribute_integer(n, "transB", 0) != 0 ? 0 : 1;
  }
  /// Of a node that weighs and sums, where it takes integers.
  std::optional<product> of_integers(const node& n) {
    const node* x = find_.numbers_of_integers(n.inputs[0]);
    const std::optional<dequantized_constant> w = net_[n.inputs[1]].dequantized;
    const std::optional<std::int64_t> axis = outputs_axis(n);
    if (x == nullptr || !w || !axis) return std::nullopt;
    const constant integers = *net_[w->integers].known, scale = *net_[w->scale].known;
    const std::int64_t outputs = integers.dims()[static_cast<std::size_t>(*axis)];
    const bool is_of_outputs = scale.elements() == outputs && scale.dims().size() == 1 && w->axis == *axis;
    const constant* zeros = w->zero_point == no_value ? nullptr : &*net_[w->zero_point].known;
    if ((scale.elements() != 1 && !is_of_outputs) || scale.type() != element::f32 ||
        !as_int8(integers, zeros, static_cast<std::size_t>(*axis)))
      return std::nullopt;

    product made{.inputs = {x->inputs[0], x->inputs[1], zero_point_of(*x), w->integers, w->scale, w->zero_point}};
    if (n.inputs.size() > 2 && n.inputs[2] != no_value) {
      const std::optional<constant> bias =
          in_steps(net_[n.inputs[2]], find_.scalar(x->inputs[1]), scale.as<double>(), outputs);
      if (!bias) return std::nullopt;
      made.bias = net_.add(*bias, std::string(net_[n.inputs[2]].name));
    }
    return made;
  }
  /// A bias as int32, in steps of what it takes by those of its weights; nullopt where one does not fit.
  static std::optional<constant> in_steps(const value& bias, double of_x, const std::vector<double>& of_w,
                                          std::int64_t outputs) {
    if (!bias.known) return std::nullopt;
    std::vector<double> all = bias.known->as<double>();
    if (static_cast<std::int64_t>(all.size()) != outputs) return std::nullopt;
    for (std::size_t f = 0; f < all.size(); ++f) {
      all[f] = std::nearbyint(all[f] / (of_x * of_w[of_w.size() > 1 ? f : 0]));
      if (!(std::fabs(all[f]) < 0x1p31)) return std::nullopt;
    }
    return constant::of(element::i32, {outputs}, all);
  }
  value_id zero_point_of(const node& n) {
    if (n.inputs.size() > 2 && n.inputs[2] != no_value) return n.inputs[2];
    const element type = net_[n.op == "DequantizeLinear" ? n.inputs[0] : n.outputs[0]].type;
    return net_.add(constant::of(type, {}, std::vector<std::int64_t>{0}), n.name);
  }

  const node* sums_products(value_id v) const {
    for (const std::string_view op : products)
      if (const node* n = find_.made_for_one(v, op)) return n;
    return nullptr;
  }
  /// An op that gives elements of those that it takes, and of a Concat, how many it takes.
  const node* moves(value_id v) const {
    static constexpr std::string_view ops[] = {"Concat", "Flatten", "MaxPool",   "Reshape",
                                               "Slice",  "Squeeze", "Transpose", "Unsqueeze"};
    for (const std::string_view op : ops)
      if (const node* n = find_.made_for_one(v, op)) return n->outputs.size() == 1 ? n : nullptr;
    return nullptr;
  }
  static std::size_t moved_by(const node& n) { return n.op == "Concat" ? n.inputs.size() : 1; }

  /// Rounded to these steps the value can be computed by integers alone.
  bool are_integers(value_id v, const steps& to) {
    if (const node* n = find_.numbers_of_integers(v)) return find_.steps_of(*n) == to;
    if (const node* n = sums_products(find_.before_activation(v, to).of)) return of_integers(*n).has_value();
    if (adds_integers(find_.before_activation(v, to).of) != nullptr) return true;
    const node* n = moves(v);
    if (n == nullptr) return false;
    for (std::size_t i = 0; i < moved_by(*n); ++i)
      if (!are_integers(n->inputs[i], to)) return false;
    return true;
  }
  /// Makes it so: the value, or another one, is those integers. `quantize` has the steps.
  value_id integers_of(value_id v, const steps& to, const node& quantize) {
    if (const node* n = find_.numbers_of_integers(v)) return n->inputs[0];
    node& last = net_.nodes[static_cast<std::size_t>(used_.producer_of(v))];
    const auto [of, relu] = find_.before_activation(v, to);
    if (const node* n = sums_products(of)) {
      const product made = *of_integers(*n);
      become(last, *n, made, {quantize.inputs[1], zero_point_of(quantize)}, relu);
    } else if (const node* add = adds_integers(of)) {
      become(last, *add, quantize, relu);
    } else {
      for (std::size_t i = 0; i < moved_by(last); ++i) last.inputs[i] = integers_of(last.inputs[i], to, quantize);
    }
    net_[v].type = to.type;
    last.stands_for.push_back("QuantizeLinear " + quantize.name);
    return v;
  }
  /// An Add of the numbers of two tensors of integers, of one shape.
  const node* adds_integers(value_id v) const {
    const node* add = find_.made_for_one(v, "Add");
    if (add == nullptr || net_[add->inputs[0]].dims != net_[add->inputs[1]].dims) return nullptr;
    return find_.numbers_of_integers(add->inputs[0]) != nullptr && find_.numbers_of_integers(add->inputs[1]) != nullptr
               ? add
               : nullptr;
  }
  /// The last node of such an Add and its activation.
  void become(node& last, const node& add, const node& quantize, bool relu) {
    std::vector<value_id> inputs;
    for (const value_id side : {add.inputs[0], add.inputs[1]}) {
      const node& n = *find_.numbers_of_integers(side);
      inputs.insert(inputs.end(), {n.inputs[0], n.inputs[1], zero_point_of(n)});
    }
    inputs.insert(inputs.end(), {quantize.inputs[1], zero_point_of(quantize)});
    last.name = std::string(add.name);
    onnx::become(last, "QLinearAdd", std::move(inputs), 1);
    last.domain = "com.microsoft";
    if (relu) last.attributes["relu"].integer = 1;
  }
  /// Where the result stays a number, integers are taken all the same.
  void gives_numbers(node& n) {
    if (const std::optional<product> made = of_integers(n)) become(n, node(n), *made, {no_value, no_value}, false);
  }
  /// The last node of such a product and its activation.
  void become(node& last, const node& n, const product& of, std::array<value_id, 2> to, bool relu) {
    const bool is_conv = n.op == "Conv";
    attributes kept = n.attributes;
    if (n.op == "MatMul") kept["transB"].integer = 0;
    if (relu) kept["relu"].integer = 1;
    std::vector<value_id> inputs = of.inputs;
    if (!is_conv) inputs.push_back(of.bias);
    inputs.insert(inputs.end(), to.begin(), to.end());
    if (is_conv) inputs.push_back(of.bias);
    last.name = std::string(n.name);
    onnx::become(last, is_conv ? "QLinearConv" : "QGemm", std::move(inputs), is_conv ? 10 : 1);
    last.domain = is_conv ? "" : "com.microsoft";
    last.attributes = std::move(kept);
  }

  /// Each value that is another one now.
  void replace_same() {
    std::vector<value_id> stands(net_.values.size());
    std::iota(stands.begin(), stands.end(), 0);
    for (const auto& [from, to] : same_) stands[static_cast<std::size_t>(from)] = to;
    const auto replace = [&](value_id& v) {
      while (v != no_value && stands[static_cast<std::size_t>(v)] != v) v = stands[static_cast<std::size_t>(v)];
    };
    for (node& n : net_.nodes)
      for (value_id& v : n.inputs) replace(v);
    for (auto& [name, v] : net_.outputs) replace(v);
  }

  network& net_;
  const usage used_;
  const quantized_matcher find_;
  std::vector<std::pair<value_id, value_id>> same_;  ///< a value, and the one that it is
};

}  // namespace

void find_quantized(network& net) {
  quantizing(net).run();
  remove_unused(net);
}

}  // namespace levada::onnx
