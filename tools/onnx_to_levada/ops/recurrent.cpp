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
  return {{call.type(), all}, {call.type(), last}, {call.type(), last}};
}

void refuse_rare(const op_call& call, const layer& l, const std::vector<std::string>& activations) {
  if (l.items != 1) call.fail("it works on a batch of " + std::to_string(l.items) + ": convert with the batch axis 1");
  if (call.find("clip") != nullptr) call.fail("clip is not supported");
  if (call.integer("input_forget", 0) != 0) call.fail("input_forget is not supported");
  if (const attribute* given = call.find("activations"))
    for (std::size_t i = 0; i < given->texts.size(); ++i)
      if (given->texts[i] != activations[i % activations.size()])
        call.fail("the activation " + given->texts[i] + " is not supported");
  if (call.has(4) && (!call.is_known(4) || call.in(4).known->as<std::int64_t>() != std::vector<std::int64_t>{l.steps}))
    call.fail("a sequence length other than the number of steps is not supported");
}

/// Direction `d` of a constant whose first axis are directions.
constant of_direction(const constant& known, std::int64_t directions, std::int64_t d, extents dims) {
  const std::size_t size = known.bytes().size() / static_cast<std::size_t>(directions);
  const auto part = known.bytes().subspan(size * static_cast<std::size_t>(d), size);
  return {known.type(), std::move(dims), {part.begin(), part.end()}};
}

/// A layer of one cell, step by step: the steps are nodes of their own.
class steps_of {
 public:
  steps_of(lowering& to, const op_call& call, const layer& l, std::int64_t gates, std::string_view cell)
      : to_(to), call_(call), l_(l), gates_(gates), cell_(cell) {}

  void run(bool has_cell_state) {
    constexpr std::int64_t most_steps = 64;
    if (l_.steps > most_steps)
      call_.fail("it has " + std::to_string(l_.steps) + " steps; " + std::to_string(most_steps) +
                 " are written out at most");
    const std::string direction = call_.text("direction", "forward");
    std::vector<int> last_h, last_c;
    std::vector<std::vector<int>> all;
    for (std::int64_t d = 0; d < l_.directions; ++d) {
      const bool backwards = direction == "reverse" || d == 1;
      all.push_back(one_direction(d, backwards, has_cell_state));
      last_h.push_back(h_);
      last_c.push_back(c_);
    }
    const element type = call_.type();
    if (call_.gives(0)) {
      std::vector<int> rows;
      for (std::size_t step = 0; step < static_cast<std::size_t>(l_.steps); ++step)
        for (const std::vector<int>& direction_rows : all)
          rows.push_back(to_.shaped(direction_rows[step], {1, l_.hidden}));
      const extents dims{l_.steps * l_.directions, l_.hidden};
      to_.give(call_, 0, rows.size() == 1 ? rows[0] : to_.add("nn::concat<0>", rows, type, dims));
    }
    give_last(1, last_h);
    if (has_cell_state) give_last(2, last_c);
  }

 private:
  void give_last(std::size_t output, const std::vector<int>& parts) {
    if (!call_.gives(output)) return;
    std::vector<int> rows;
    for (const int part : parts) rows.push_back(to_.shaped(part, {1, l_.hidden}));
    to_.give(call_, output,
             rows.size() == 1 ? rows[0] : to_.add("nn::concat<0>", rows, call_.type(), {l_.directions, l_.hidden}));
  }

  int initial(std::size_t input, std::int64_t d, const std::string& name, const char* parameter) {
    const element type = call_.type();
    if (call_.has(input) && !call_.is_known(input)) {
      const int all = to_.in_shape(call_, input, {l_.directions, l_.hidden});
      if (l_.directions == 1) return to_.shaped(all, {l_.hidden});
      return to_.shaped(to_.add("nn::slice<lv::along<0, " + std::to_string(d) + ", " + std::to_string(d + 1) + ">>",
                                {all}, type, {1, l_.hidden}),
                        {l_.hidden});
    }
    const constant known =
        call_.has(input) ? of_direction(*call_.in(input).known, l_.directions, d, {l_.hidden})
                         : constant::of(type, {l_.hidden}, std::vector<double>(static_cast<std::size_t>(l_.hidden)));
    const std::string given = name + "_" + parameter;
    to_.weight(given, "value", known);
    return to_.add(given,
                   "nn::parameter<\"" + given + "\", " + std::string(names_of(type)->cpp) + ", " +
                       std::to_string(l_.hidden) + ">(w)",
                   {0}, type, {l_.hidden});
  }

  std::vector<int> one_direction(std::int64_t d, bool backwards, bool has_cell_state) {
    const element type = call_.type();
    const std::string name = to_.fresh_name();
    to_.weight(name, "weight",
               of_direction(call_.known(1, "its weight"), l_.directions, d, {gates_ * l_.hidden, l_.inputs}));
    to_.weight(name, "recurrence",
               of_direction(call_.known(2, "its recurrence"), l_.directions, d, {gates_ * l_.hidden, l_.hidden}));
    if (call_.has(3))
      to_.weight(name, "bias", of_direction(call_.known(3, "its bias"), l_.directions, d, {2 * gates_ * l_.hidden}));
    const bool peepholes = call_.has(7);
    if (peepholes)
      to_.weight(name, "peephole", of_direction(call_.known(7, "its peepholes"), l_.directions, d, {3 * l_.hidden}));
    const std::string op = "nn::" + std::string(cell_) + "<\"" + name + "\", " + std::to_string(l_.hidden) +
                           (call_.has(3) ? "" : ", lv::no_bias") +
                           (call_.integer("linear_before_reset", 0) != 0 ? ", lv::linear_before_reset" : "") +
                           (peepholes ? ", lv::peepholes" : "") + ">(w)";
    h_ = initial(5, d, name, "h");
    if (has_cell_state) c_ = initial(6, d, name, "c");
    const int all = to_.in_shape(call_, 0, {l_.steps, l_.inputs});
    std::vector<int> rows(static_cast<std::size_t>(l_.steps));
    for (std::int64_t i = 0; i < l_.steps; ++i) {
      const std::int64_t step = backwards ? l_.steps - 1 - i : i;
      int x = all;
      if (l_.steps > 1)
        x = to_.add("nn::slice<lv::along<0, " + std::to_string(step) + ", " + std::to_string(step + 1) + ">>", {all},
                    type, {1, l_.inputs});
      x = to_.shaped(x, {l_.inputs});
      const std::string node = i == 0 ? name : to_.fresh_name();
      if (has_cell_state) {
        const int both = to_.add(node, op, {x, h_, c_}, type, {l_.hidden});
        h_ = to_.add("nn::part<0>", {both}, type, {l_.hidden});
        c_ = to_.add("nn::part<1>", {both}, type, {l_.hidden});
      } else {
        h_ = to_.add(node, op, {x, h_}, type, {l_.hidden});
      }
      rows[static_cast<std::size_t>(step)] = h_;
    }
    return rows;
  }

  lowering& to_;
  const op_call& call_;
  const layer& l_;
  std::int64_t gates_;
  std::string_view cell_;
  int h_ = -1, c_ = -1;
};

void lower_lstm(lowering& to, const op_call& call) {
  const layer l = layer_of(call);
  refuse_rare(call, l, {"Sigmoid", "Tanh", "Tanh"});
  steps_of(to, call, l, 4, "lstm").run(true);
}
void lower_gru(lowering& to, const op_call& call) {
  const layer l = layer_of(call);
  refuse_rare(call, l, {"Sigmoid", "Tanh"});
  steps_of(to, call, l, 3, "gru").run(false);
}

constexpr op_definition definitions[] = {
    {"LSTM", infer_recurrent, nullptr, lower_lstm},
    {"GRU", infer_recurrent, nullptr, lower_gru},
    {"RNN", infer_recurrent, nullptr, nullptr},
};

}  // namespace

std::span<const op_definition> recurrent_ops() { return definitions; }

}  // namespace levada::onnx
