// SPDX-License-Identifier: Apache-2.0
// ops/expansions.cpp: ops that are a few others: losses, norms that give their moments, products of integers.

#include <algorithm>
#include <numeric>

#include "body.hpp"
#include "folding.hpp"
#include "op_definition.hpp"
#include "quantization.hpp"

namespace levada::onnx {
namespace {

std::vector<std::int64_t> counted(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(std::max<std::int64_t>(0, end - begin)));
  std::iota(all.begin(), all.end(), begin);
  return all;
}

// --- losses ---------------------------------------------------------------------------------------------------------

/// The loss of log probabilities [N, C, ...] and labels [N, ...]; `scores` and the others name values of `b`.
std::string negative_log_likelihood(body& b, const op_call& call, const std::string& scores) {
  const element type = call.type();
  const bool ignores = call.find("ignore_index") != nullptr, weighted = call.has(2);
  std::string labels = b.cast(body::in(1), element::i64), ignored;
  if (ignores) {
    ignored = b.add("Equal", {labels, b.number(element::i64, static_cast<double>(call.integer("ignore_index", 0)))});
    labels = b.add("Where", {ignored, b.number(element::i64, 0), labels});
  }
  const std::string column = b.integers({1});
  std::string loss = b.add("GatherElements", {scores, b.add("Unsqueeze", {labels, column})}, "axis", 1);
  loss = b.add("Neg", {b.add("Squeeze", {loss, column})});
  std::string weight;
  if (weighted) weight = b.add("Gather", {body::in(2), labels}, "axis", 0);
  if (ignores) {
    if (!weighted)
      weight = b.constant_of(constant::of(
          type, call.dims(1), std::vector<double>(static_cast<std::size_t>(elements_of(call.dims(1))), 1.0)));
    weight = b.add("Where", {ignored, b.number(type, 0), weight});
  }
  if (!weight.empty()) loss = b.add("Mul", {loss, weight});
  const std::string reduction = call.text("reduction", "mean");
  if (reduction == "none") return loss;
  const std::vector<std::int64_t> axes = counted(0, call.rank(1));
  if (reduction == "mean" && weight.empty()) return b.reduce("ReduceMean", loss, axes, false);
  const std::string sum = b.reduce("ReduceSum", loss, axes, false);
  return reduction == "sum" ? sum : b.add("Div", {sum, b.reduce("ReduceSum", weight, axes, false)});
}
std::optional<function_def> expand_likelihood(const op_call& call) {
  body b(call);
  b.give(0, negative_log_likelihood(b, call, body::in(0)));
  return b.result();
}
std::optional<function_def> expand_cross_entropy(const op_call& call) {
  body b(call);
  const std::string scores = b.add("LogSoftmax", {body::in(0)}, "axis", 1);
  b.give(0, negative_log_likelihood(b, call, scores));
  b.give(1, scores);
  return b.result();
}

// --- norms ----------------------------------------------------------------------------------------------------------

/// One that gives its moments, or whose scale or bias is not of the axes that it normalises.
std::optional<function_def> expand_layer_norm(const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", -1), call.rank());
  const extents inner(call.dims().begin() + static_cast<std::ptrdiff_t>(axis), call.dims().end());
  const bool fits =
      call.is_known(1) && call.dims(1) == inner && (!call.has(2) || (call.is_known(2) && call.dims(2) == inner));
  if (fits && !call.gives(1) && !call.gives(2)) return std::nullopt;
  body b(call);
  const std::vector<std::int64_t> axes = counted(static_cast<std::int64_t>(axis), call.rank());
  const std::string mean = b.reduce("ReduceMean", body::in(0), axes, true), centred = b.add("Sub", {body::in(0), mean});
  const std::string variance = b.reduce("ReduceMean", b.add("Mul", {centred, centred}), axes, true);
  const std::string epsilon = b.number(call.type(), call.number("epsilon", 1e-5));
  const std::string inverse = b.add("Reciprocal", {b.add("Sqrt", {b.add("Add", {variance, epsilon})})});
  std::string made = b.add("Mul", {b.add("Mul", {centred, inverse}), body::in(1)});
  if (call.has(2)) made = b.add("Add", {made, body::in(2)});
  b.give(0, made);
  b.give(1, mean);
  b.give(2, inverse);
  return b.result();
}
std::optional<function_def> expand_mean_variance_norm(const op_call& call) {
  body b(call);
  const std::vector<std::int64_t> axes = call.integers("axes", {0, 2, 3});
  const std::string mean = b.reduce("ReduceMean", body::in(0), axes, true), centred = b.add("Sub", {body::in(0), mean});
  const std::string variance = b.reduce("ReduceMean", b.add("Mul", {centred, centred}), axes, true);
  b.give(0, b.add("Div", {centred, b.add("Add", {b.add("Sqrt", {variance}), b.number(call.type(), 1e-9)})}));
  return b.result();
}

// --- integers -------------------------------------------------------------------------------------------------------

/// What is between `low` and `high` after the rounding, as that type.
std::string quantized(body& b, const std::string& scaled, const std::string& zero, element type, element computed) {
  const bool is_signed = type == element::i8;
  const std::string rounded = b.add("Add", {b.add("Round", {scaled}), zero});
  return b.cast(
      b.add("Clip", {rounded, b.number(computed, is_signed ? -128 : 0), b.number(computed, is_signed ? 127 : 255)}),
      type);
}

std::optional<function_def> expand_dynamic_quantize(const op_call& call) {
  body b(call);
  const std::string zero = b.number(element::f32, 0);
  const std::vector<std::int64_t> axes = counted(0, call.rank());
  const std::string low = b.add("Min", {b.reduce("ReduceMin", body::in(0), axes, false), zero}),
                    high = b.add("Max", {b.reduce("ReduceMax", body::in(0), axes, false), zero});
  const std::string scale = b.add("Div", {b.add("Sub", {high, low}), b.number(element::f32, 255)});
  const std::string point =
      b.add("Clip", {b.add("Round", {b.add("Neg", {b.add("Div", {low, scale})})}), zero, b.number(element::f32, 255)});
  b.give(0, quantized(b, b.add("Div", {body::in(0), scale}), point, element::u8, element::f32));
  b.give(1, scale);
  b.give(2, b.cast(point, element::u8));
  return b.result();
}

/// Integers without their zero point, as double, whose products and sums of integers are exact. A zero point of one
/// axis is that of rows where `rows`, else that of columns.
std::string centred(body& b, const op_call& call, std::size_t input, std::size_t zero, bool rows) {
  std::string x = b.cast(body::in(input), element::f64);
  if (!call.has(zero)) return x;
  std::string point = b.cast(body::in(zero), element::f64);
  if (rows && call.rank(zero) == 1 && call.dims(zero)[0] != 1) point = b.add("Unsqueeze", {point, b.integers({-1})});
  return b.add("Sub", {x, point});
}
/// Exact sums as int32, which wrap around as levada's own do.
std::string wrapped(body& b, const std::string& sum) { return b.cast(b.cast(sum, element::i64), element::i32); }
std::optional<function_def> expand_matmul_integer(const op_call& call) {
  body b(call);
  b.give(0, wrapped(b, b.add("MatMul", {centred(b, call, 0, 2, true), centred(b, call, 1, 3, false)})));
  return b.result();
}
/// The zero points of filters stand along the first axis.
std::string centred_filters(body& b, const op_call& call, std::size_t input, std::size_t zero) {
  std::string x = b.cast(body::in(input), element::f64);
  if (!call.has(zero)) return x;
  std::string point = b.cast(body::in(zero), element::f64);
  if (call.rank(zero) == 1) point = b.add("Unsqueeze", {point, b.integers(counted(1, call.rank(input)))});
  return b.add("Sub", {x, point});
}
std::optional<function_def> expand_conv_integer(const op_call& call) {
  body b(call);
  b.give(0, wrapped(b, b.add("Conv", {centred(b, call, 0, 2, false), centred_filters(b, call, 1, 3)},
                             call.called().attributes)));
  return b.result();
}
/// The sum of products is scaled to the steps of the result.
std::string requantized(body& b, const op_call& call, const std::string& sum, std::size_t left, std::size_t right,
                        std::size_t scale, const std::string& right_axes) {
  std::string filter_scale = b.cast(body::in(right), element::f64);
  if (!right_axes.empty() && call.rank(right) == 1) filter_scale = b.add("Unsqueeze", {filter_scale, right_axes});
  const std::string factor = b.add("Div", {b.add("Mul", {b.cast(body::in(left), element::f64), filter_scale}),
                                           b.cast(body::in(scale), element::f64)});
  const element type = call.type(scale + 1);
  return quantized(b, b.add("Mul", {sum, factor}), b.cast(body::in(scale + 1), element::f64), type, element::f64);
}
std::optional<function_def> expand_qlinear_matmul(const op_call& call) {
  body b(call);
  const std::string sum = b.add("MatMul", {centred(b, call, 0, 2, true), centred(b, call, 3, 5, false)});
  b.give(0, requantized(b, call, sum, 1, 4, 6, ""));
  return b.result();
}
std::optional<function_def> expand_qlinear_conv(const op_call& call) {
  if (is_convolution_of_int8(call)) return std::nullopt;
  body b(call);
  std::vector<std::string> inputs{centred(b, call, 0, 2, false), centred_filters(b, call, 3, 5)};
  if (call.has(8)) inputs.push_back(b.cast(body::in(8), element::f64));
  const std::string sum = b.add("Conv", inputs, call.called().attributes);
  b.give(0, requantized(b, call, sum, 1, 4, 6, b.integers(counted(1, call.rank() - 1))));
  return b.result();
}

// --- others ---------------------------------------------------------------------------------------------------------

/// The second input gives its type alone, so that it is no port.
std::optional<function_def> expand_cast_like(const op_call& call) {
  body b(call);
  b.give(0, b.cast(body::in(0), call.type(1)));
  return b.result();
}

/// Before opset 7 a slope of one axis belongs to the channels.
std::optional<function_def> expand_prelu(const op_call& call) {
  if (call.rank(1) != 1 || call.rank() < 2 || call.dims(1)[0] == 1 || call.opset() >= 7) return std::nullopt;
  body b(call);
  const std::string slope =
      call.rank() == 2 ? body::in(1) : b.add("Unsqueeze", {body::in(1), b.integers(counted(1, call.rank() - 1))});
  b.give(0, b.add("PRelu", {body::in(0), slope}));
  return b.result();
}

/// Each item backwards up to its length, which is a constant: rows by their places.
std::optional<function_def> expand_reverse_sequence(const op_call& call) {
  const std::size_t time = call.axis(call.integer("time_axis", 0), call.rank()),
                    batch = call.axis(call.integer("batch_axis", 1), call.rank());
  call.require(time + batch == 1, "its axes are not the first two");
  const std::vector<std::int64_t> lengths = call.integers_in(1, "the length of its items");
  const extents& d = call.dims();
  call.require(static_cast<std::int64_t>(lengths.size()) == d[batch], "its lengths do not fit its items");
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < d[0] * d[1]; ++i) {
    std::int64_t at[2] = {i / d[1], i % d[1]};
    const std::int64_t length = lengths[static_cast<std::size_t>(at[batch])];
    call.require(length >= 0 && length <= d[time], "a length is beyond its axis");
    if (at[time] < length) at[time] = length - 1 - at[time];
    places.push_back(at[0] * d[1] + at[1]);
  }
  body b(call);
  extents rows(d.begin() + 1, d.end());
  rows[0] = d[0] * d[1];
  const std::string flat = b.add("Reshape", {body::in(0), b.integers(rows)});
  b.give(0, b.add("Reshape", {b.add("Gather", {flat, b.integers(places)}, "axis", 0), b.integers(d)}));
  return b.result();
}

}  // namespace

std::span<const op_definition> expanded_ops() {
  static const std::vector<op_definition> ops{
      expanded("NegativeLogLikelihoodLoss", expand_likelihood),
      expanded("SoftmaxCrossEntropyLoss", expand_cross_entropy),
      expanded("MeanVarianceNormalization", expand_mean_variance_norm),
      expanded("DynamicQuantizeLinear", expand_dynamic_quantize),
      expanded("MatMulInteger", expand_matmul_integer),
      expanded("ConvInteger", expand_conv_integer),
      expanded("QLinearMatMul", expand_qlinear_matmul),
      expanded("CastLike", expand_cast_like),
      expanded("ReverseSequence", expand_reverse_sequence),
  };
  return ops;
}

std::optional<function_def> expansion_of(const op_definition& op, const op_call& call) {
  if (op.expand != nullptr) return op.expand(call);
  if (op.domain.empty() && op.name == "LayerNormalization") return expand_layer_norm(call);
  if (op.domain.empty() && op.name == "PRelu") return expand_prelu(call);
  if (op.domain.empty() && op.name == "QLinearConv") return expand_qlinear_conv(call);
  return std::nullopt;
}

}  // namespace levada::onnx
