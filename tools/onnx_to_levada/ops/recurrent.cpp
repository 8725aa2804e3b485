// SPDX-License-Identifier: Apache-2.0
// ops/recurrent.cpp: LSTM, GRU, RNN.

#include <algorithm>

#include "../output/lowering.hpp"
#include "folding.hpp"
#include "op_definition.hpp"

namespace levada::onnx {
namespace {

/// The shape of a layer: steps, items, inputs, hidden elements, directions.
struct layer {
  std::int64_t steps, items, inputs, hidden, directions;
  bool items_first;  ///< layout 1
};
layer layer_of(const op_call& call) {
  const extents &x = call.dims(0), &weight = call.dims(1), &recurrence = call.dims(2);
  call.require(x.size() == 3 && weight.size() == 3 && recurrence.size() == 3, "its inputs do not have three axes");
  const bool items_first = call.integer("layout", 0) != 0;
  return {x[items_first ? 1 : 0], x[items_first ? 0 : 1], x[2], recurrence[2], weight[0], items_first};
}
std::vector<tensor_type> infer_recurrent(const op_call& call) {
  const layer l = layer_of(call);
  const extents all = l.items_first ? extents{l.items, l.steps, l.directions, l.hidden}
                                    : extents{l.steps, l.directions, l.items, l.hidden};
  const extents last =
      l.items_first ? extents{l.items, l.directions, l.hidden} : extents{l.directions, l.items, l.hidden};
  std::vector<tensor_type> types{{call.type(), all}, {call.type(), last}};
  if (call.called().op == "LSTM") types.push_back(types.back());  // its cell state
  return types;
}

/// What an op of all steps of levada is written with; a clip and activations other than ONNX's defaults are values.
struct cell {
  std::string_view levada;
  std::int64_t gates;
  std::vector<std::string> activations;  ///< the defaults
  bool has_cell_state;
};
cell cell_of(const op_call& call) {
  if (call.called().op == "LSTM") return {"nn::lstm_sequence", 4, {"Sigmoid", "Tanh", "Tanh"}, true};
  if (call.called().op == "GRU") return {"nn::gru_sequence", 3, {"Sigmoid", "Tanh"}, false};
  return {"nn::rnn_sequence", 1, {"Tanh"}, false};
}

struct activation_form {
  std::string_view onnx, levada;
  double alpha, beta;  ///< ONNX's defaults
};
constexpr activation_form activation_forms[] = {
    {"Sigmoid", "sigmoid", 0, 0},
    {"Tanh", "tanh", 0, 0},
    {"Relu", "relu", 0, 0},
    {"Affine", "affine", 1, 0},
    {"LeakyRelu", "leaky_relu", 0.01, 0},
    {"ThresholdedRelu", "thresholded_relu", 1, 0},
    {"ScaledTanh", "scaled_tanh", 1, 1},
    {"HardSigmoid", "hard_sigmoid", 0.2, 0.5},
    {"Elu", "elu", 1, 0},
    {"Softsign", "softsign", 0, 0},
    {"Softplus", "softplus", 0, 0},
};

/// ", {.activations = {{...}}, .clip = 3}", or "" where they are the defaults.
std::string functions_of(const op_call& call, const cell& c, const layer& l) {
  const attribute* given = call.find("activations");
  std::vector<std::string> wanted = given == nullptr ? std::vector<std::string>() : given->texts;
  const double clip = call.number("clip", 0);
  const auto is_default = [&] {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i] != c.activations[i % c.activations.size()]) return false;
    return true;
  };
  if (is_default() && clip == 0) return "";
  const std::size_t count = c.activations.size() * static_cast<std::size_t>(l.directions);
  while (wanted.size() < count) wanted.push_back(c.activations[wanted.size() % c.activations.size()]);
  const auto numbers = [&](const char* name) {
    const attribute* found = call.find(name);
    return found == nullptr ? std::vector<double>() : found->numbers;
  };
  // Their numbers stand in a row, of those functions alone that have one.
  const std::vector<double> alphas = numbers("activation_alpha"), betas = numbers("activation_beta");
  std::size_t alpha = 0, beta = 0;
  std::string text = ", {.activations = {{";
  for (std::size_t i = 0; i < count; ++i) {
    const auto form = std::ranges::find(activation_forms, std::string_view(wanted[i]), &activation_form::onnx);
    if (form == std::end(activation_forms)) call.fail("the activation " + wanted[i] + " is not supported");
    const bool has_alpha = form->alpha != 0, has_beta = form->beta != 0 || form->onnx == "Affine";
    const double a = has_alpha && alpha < alphas.size() ? alphas[alpha++] : form->alpha,
                 b = has_beta && beta < betas.size() ? betas[beta++] : form->beta;
    text += (i == 0 ? "{lv::activation::" : ", {lv::activation::") + std::string(form->levada) + ", " +
            number_text(a, element::f32) + ", " + number_text(b, element::f32) + "}";
  }
  return text + "}}, .clip = " + number_text(clip, element::f32) + "}";
}

void lower_recurrent(lowering& to, const op_call& call) {
  const layer l = layer_of(call);
  const cell c = cell_of(call);
  constexpr std::int64_t most_items = 8;
  if (l.items > most_items)
    call.fail("it works on a batch of " + std::to_string(l.items) + ": convert with the batch axis 1");
  if (call.has(4) && (!call.is_known(4) || call.in(4).known->as<std::int64_t>() !=
                                               std::vector<std::int64_t>(static_cast<std::size_t>(l.items), l.steps)))
    call.fail("a sequence length other than the number of steps is not supported");
  const element type = call.type();
  const std::string name = to.fresh_name();
  to.weight(name, "weight", call.known(1, "its weight"));
  to.weight(name, "recurrence", call.known(2, "its recurrence"));
  if (call.has(3)) to.weight(name, "bias", call.known(3, "its bias"));
  if (call.has(7)) to.weight(name, "peephole", call.known(7, "its peepholes"));
  const std::string way = call.text("direction", "forward");
  if (way != "forward" && way != "reverse" && way != "bidirectional") call.fail("its direction is " + way);
  const std::string op = std::string(c.levada) + "<\"" + name + "\", " + std::to_string(l.hidden) +
                         ", lv::direction::" + way + (call.has(3) ? "" : ", lv::no_bias") +
                         (call.integer("linear_before_reset", 0) != 0 ? ", lv::linear_before_reset" : "") +
                         (call.has(7) ? ", lv::peepholes" : "") +
                         (call.integer("input_forget", 0) != 0 ? ", lv::input_forget" : "") + ">(w" +
                         functions_of(call, c, l) + ")";
  // Of an item of several: its part of a value along the axis of items.
  const auto part = [&](int whole, const extents& dims, std::size_t axis, std::int64_t item, const extents& wanted) {
    if (l.items == 1) return to.shaped(whole, wanted);
    extents sliced = dims;
    sliced[axis] = 1;
    return to.shaped(to.add("nn::slice<lv::along<" + std::to_string(axis) + ", " + std::to_string(item) + ", " +
                                std::to_string(item + 1) + ">>",
                            {to.shaped(whole, dims)}, type, sliced),
                     wanted);
  };
  const extents state{l.directions, l.hidden}, all{l.steps, l.directions, l.hidden};
  const std::size_t outputs = c.has_cell_state ? 3 : 2, state_axis = l.items_first ? 0 : 1;
  std::vector<std::vector<int>> made(outputs);
  for (std::int64_t item = 0; item < l.items; ++item) {
    std::vector<int> from{part(to.in(call, 0), call.dims(0), l.items_first ? 0 : 1, item, {l.steps, l.inputs})};
    const bool has_state = call.has(5) || (c.has_cell_state && call.has(6));
    for (std::size_t input = 5; has_state && input < (c.has_cell_state ? 7 : 6); ++input) {
      if (call.has(input)) {
        from.push_back(part(to.in(call, input), call.dims(input), state_axis, item, state));
        continue;
      }
      const std::string zeros = to.fresh_name();
      to.weight(zeros, "value",
                constant::of(type, state, std::vector<double>(static_cast<std::size_t>(elements_of(state)))));
      from.push_back(to.add(
          zeros,
          "nn::parameter<\"" + zeros + "\", " + std::string(names_of(type)->cpp) + ", " + list_of(state) + ">(w)", {0},
          type, state));
    }
    const int both = to.add(item == 0 ? name : to.fresh_name(), op, from, type, all);
    for (std::size_t i = 0; i < outputs; ++i)
      if (call.gives(i))
        made[i].push_back(to.add("nn::part<" + std::to_string(i) + ">", {both}, type, i == 0 ? all : state));
  }
  for (std::size_t i = 0; i < outputs; ++i) {
    if (!call.gives(i)) continue;
    const extents& dims = call.out(i).dims;
    const std::size_t axis = l.items_first ? 0 : i == 0 ? 2 : 1;
    if (l.items == 1) {
      to.give(call, i, made[i][0]);
      continue;
    }
    extents one = dims;
    one[axis] = 1;
    std::vector<int> parts;
    for (const int p : made[i]) parts.push_back(to.shaped(p, one));
    to.give(call, i, to.add("nn::concat<" + std::to_string(axis) + ">", parts, type, dims));
  }
}

constexpr op_definition recurrent_definitions[] = {
    {"LSTM", infer_recurrent, nullptr, lower_recurrent},
    {"GRU", infer_recurrent, nullptr, lower_recurrent},
    {"RNN", infer_recurrent, nullptr, lower_recurrent},
};

}  // namespace

std::span<const op_definition> recurrent_ops() { return recurrent_definitions; }

}  // namespace levada::onnx
