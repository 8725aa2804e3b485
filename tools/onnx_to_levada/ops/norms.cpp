// SPDX-License-Identifier: Apache-2.0
// ops/norms.cpp: normalisations.

#include <algorithm>
#include <cmath>

#include "../output/lowering.hpp"
#include "folding.hpp"
#include "op_definition.hpp"
#include "per_item.hpp"

namespace levada::onnx {
namespace {

std::vector<tensor_type> infer_norm(const op_call& call) { return {{call.type(), call.dims()}}; }

constant filled(element type, std::int64_t count, double number) {
  return constant::of(type, {count}, std::vector<double>(static_cast<std::size_t>(count), number));
}
std::string with_epsilon(double epsilon, element type) { return "(w, " + number_text(epsilon, type) + ")"; }

void one_item(const op_call& call) {
  if (call.dims().at(0) != 1)
    call.fail("it works on a batch of " + std::to_string(call.dims()[0]) + ": convert with the batch axis 1");
}

void lower_batch_norm(lowering& to, const op_call& call) {
  if (call.integer("training_mode", 0) != 0 || call.gives(1)) call.fail("it is in training mode");
  const std::string name = to.fresh_name();
  const char* parameters[] = {"scale", "bias", "mean", "variance"};
  for (std::size_t i = 0; i < 4; ++i) to.weight(name, parameters[i], call.known(i + 1, parameters[i]));
  const extents& d = call.dims();
  // Channels stand first: several items are brought behind them and back.
  const std::string op = "nn::batch_norm<\"" + name + "\">" + with_epsilon(call.number("epsilon", 1e-5), call.type());
  if (d[0] == 1) return to.give_op(call, op, {to.in(call, 0)});
  const std::int64_t pixels = elements_between(d, 2, d.size());
  const extents in{d[0], d[1], pixels}, turned{d[1], d[0], pixels};
  const int from = to.add("nn::transpose<1, 0, 2>", {to.in_shape(call, 0, in)}, call.type(), turned);
  const int made = to.add(name, op, {from}, call.type(), turned);
  to.give(call, 0, to.add("nn::transpose<1, 0, 2>", {made}, call.type(), in));
}

void lower_instance_norm(lowering& to, const op_call& call) {
  const std::string name = to.fresh_name();
  to.weight(name, "scale", call.known(1, "its scale"));
  to.weight(name, "bias", call.known(2, "its bias"));
  const std::string op =
      "nn::instance_norm<\"" + name + "\">" + with_epsilon(call.number("epsilon", 1e-5), call.type());
  const extents item = item_of(call.dims());
  per_item(to, call, item, item, name, op);
}

/// Groups of channels are what instance_norm calls channels; scale and bias follow, of each channel or each group.
void lower_group_norm(lowering& to, const op_call& call) {
  one_item(call);
  const extents& d = call.dims();
  const std::int64_t groups = call.integer("num_groups", 1), channels = d[1];
  call.require(groups > 0 && channels % groups == 0, "its groups do not divide its channels");
  const std::string name = to.fresh_name();
  to.weight(name, "scale", filled(call.type(), groups, 1));
  to.weight(name, "bias", filled(call.type(), groups, 0));
  const extents grouped{groups, elements_of(d) / groups};
  int made =
      to.add(name, "nn::instance_norm<\"" + name + "\">" + with_epsilon(call.number("epsilon", 1e-5), call.type()),
             {to.in_shape(call, 0, grouped)}, call.type(), grouped);
  made = to.shaped(made, stored_dims(d));
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const constant& given = call.known(i, i == 1 ? "its scale" : "its bias");
    std::vector<double> numbers = given.as<double>(), all;
    for (std::int64_t c = 0; c < channels; ++c)
      all.push_back(numbers.at(static_cast<std::size_t>(given.elements() == channels ? c : c / (channels / groups))));
    extents dims(to[made].dims.size(), 1);
    dims[0] = channels;
    const std::string next = to.fresh_name();
    to.weight(next, "value", constant::of(call.type(), dims, all));
    made = to.add(
        next,
        std::string(i == 1 ? "nn::mul_parameter<\"" : "nn::add_parameter<\"") + next + "\", " + list_of(dims) + ">(w)",
        {made}, call.type(), stored_dims(d));
  }
  to.give(call, 0, made);
}

void lower_layer_norm(lowering& to, const op_call& call) {
  if (call.gives(1) || call.gives(2)) call.fail("mean and deviation are not given");
  const std::size_t axis = call.axis(call.integer("axis", -1), call.rank());
  const extents& d = call.dims();
  const extents inner(d.begin() + static_cast<std::ptrdiff_t>(axis), d.end());
  const std::int64_t count = elements_of(inner);
  const bool scale_fits = call.has(1) && call.dims(1) == inner, bias_fits = !call.has(2) || call.dims(2) == inner;
  if (!scale_fits || !bias_fits) call.fail("its scale and bias do not have the extents that it normalises");
  const std::string name = to.fresh_name();
  to.weight(name, "scale", call.known(1, "its scale").shaped({count}));
  to.weight(name, "bias", call.has(2) ? call.known(2, "its bias").shaped({count}) : filled(call.type(), count, 0));
  const std::int64_t outer = elements_of(d) / count;
  const extents from = axis + 1 == d.size() ? stored_dims(d) : outer == 1 ? extents{count} : extents{outer, count};
  to.give(call, 0,
          to.add(name, "nn::layer_norm<\"" + name + "\">" + with_epsilon(call.number("epsilon", 1e-5), call.type()),
                 {to.in_shape(call, 0, from)}, call.type(), from));
}

void lower_lp_norm(lowering& to, const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", -1), call.rank());
  const extents& d = call.dims();
  extents reduced = d;
  reduced[axis] = 1;
  const int from = to.in_shape(call, 0, d);
  const std::string op = call.integer("p", 2) == 1 ? "nn::reduce_l1<" : "nn::reduce_l2<";
  const int norm = to.add(op + std::to_string(axis) + ">", {from}, call.type(), reduced);
  to.give(call, 0, to.add("nn::div", {from, norm}, call.type(), d));
}

void lower_lrn(lowering& to, const op_call& call) {
  const element type = call.type();
  const std::string op =
      "nn::lrn<" + std::to_string(call.integer("size", 1)) + ">(" + number_text(call.number("alpha", 1e-4), type) +
      ", " + number_text(call.number("beta", 0.75), type) + ", " + number_text(call.number("bias", 1), type) + ")";
  const extents item = item_of(call.dims());
  per_item(to, call, item, item, [&](int from) { return to.add(op, {from}, type, item); });
}

constexpr op_definition norm_definitions[] = {
    {"BatchNormalization", infer_norm, nullptr, lower_batch_norm},
    {"InstanceNormalization", infer_norm, nullptr, lower_instance_norm},
    {"GroupNormalization", infer_norm, nullptr, lower_group_norm},
    {"LayerNormalization", infer_norm, nullptr, lower_layer_norm},
    {"LpNormalization", infer_norm, nullptr, lower_lp_norm},
    {"LRN", infer_norm, nullptr, lower_lrn},
};

}  // namespace

std::span<const op_definition> norm_ops() { return norm_definitions; }

}  // namespace levada::onnx
