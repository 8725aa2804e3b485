// SPDX-License-Identifier: Apache-2.0
// ops/quantized.cpp: integers that stand for numbers.

#include <algorithm>
#include <cmath>
#include <limits>

#include "../output/lowering.hpp"
#include "folding.hpp"
#include "op_definition.hpp"
#include "quantization.hpp"

namespace levada::onnx {
namespace {

element quantized_type(const op_call& call) {
  if (call.has(2)) return call.type(2);
  if (const std::int64_t given = call.integer("output_dtype", 0); given != 0) return static_cast<element>(given);
  return element::u8;
}
std::vector<tensor_type> infer_quantize(const op_call& call) { return {{quantized_type(call), call.dims()}}; }
std::vector<tensor_type> infer_dequantize(const op_call& call) { return {{call.type(1), call.dims()}}; }

/// Scale and zero point of each element, where they are constants: one of the tensor, or one along an axis.
template <class F>
void for_each_scaled(const op_call& call, F f) {
  call.require(call.dims(1).size() <= 1, "its scales are of blocks, which levada lacks");
  const std::vector<double> scales = call.known(1, "its scale").as<double>();
  const std::vector<double> zeros =
      call.has(2) ? call.known(2, "its zero point").as<double>() : std::vector<double>(scales.size());
  const extents& d = call.dims();
  const std::int64_t count = elements_of(d);
  std::int64_t inner = count, along = 1;
  if (scales.size() > 1) {
    const std::size_t axis = call.axis(call.integer("axis", 1), call.rank());
    call.require(static_cast<std::int64_t>(scales.size()) == d[axis], "its scales do not fit its axis");
    inner = strides_of(d)[axis], along = d[axis];
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(scales.size() > 1 ? i / inner % along : 0);
    f(static_cast<std::size_t>(i), scales[at], zeros[at]);
  }
}
std::vector<constant> fold_dequantize(const op_call& call) {
  const std::vector<double> all = call.in(0).known->as<double>();
  std::vector<double> made(all.size());
  for_each_scaled(call, [&](std::size_t i, double scale, double zero) {
    made[i] = rounded(call.type(1), (all[i] - zero) * scale);
  });
  return {constant::of(call.type(1), call.dims(), made)};
}
std::vector<constant> fold_quantize(const op_call& call) {
  const std::vector<double> all = call.in(0).known->as<double>();
  const element type = quantized_type(call);
  const double low = type == element::i8 ? -128 : 0, high = type == element::i8 ? 127 : 255;
  std::vector<double> made(all.size());
  for_each_scaled(call, [&](std::size_t i, double scale, double zero) {
    made[i] = std::clamp(std::nearbyint(static_cast<double>(static_cast<float>(all[i] / scale))) + zero, low, high);
  });
  return {constant::of(type, call.dims(), made)};
}

/// Scale and zero point of each index of an axis are parameters; `options` stand behind the name in the op's brackets.
void lower_along(lowering& to, const op_call& call, std::string_view op, element integers, const std::string& options) {
  const constant& scale = call.known(1, "its scale");
  const std::size_t axis = call.axis(call.integer("axis", 1), call.rank());
  call.require(scale.dims().size() == 1 && scale.elements() == call.dims()[axis],
               "its scales are neither one nor one of each index of its axis");
  const std::string name = to.fresh_name();
  to.weight(name, "scale", scale);
  to.weight(name, "zero_point",
            call.has(2) ? call.known(2, "its zero point")
                        : constant::of(integers, scale.dims(),
                                       std::vector<std::int64_t>(static_cast<std::size_t>(scale.elements()))));
  to.give(call, 0,
          to.add(name, std::string(op) + "<\"" + name + "\", " + std::to_string(axis) + options + ">(w)",
                 {to.in_shape(call, 0, call.dims())}, call.out().type, call.dims()));
}
void lower_quantize(lowering& to, const op_call& call) {
  const element type = quantized_type(call);
  const std::string cpp(names_of(type)->cpp);
  if (call.known(1, "its scale").elements() != 1) return lower_along(to, call, "nn::quantize_along", type, ", " + cpp);
  to.give_op(call, "nn::quantize_linear<" + cpp + ">(" + quantization_text(call, 1) + ")", {to.in(call, 0)});
}
void lower_dequantize(lowering& to, const op_call& call) {
  if (call.known(1, "its scale").elements() != 1) return lower_along(to, call, "nn::dequantize_along", call.type(), "");
  to.give_op(call, "nn::dequantize_linear(" + quantization_text(call, 1) + ")", {to.in(call, 0)});
}

/// Inputs: a, its scale and zero point; b, its; scale and zero point of the result.
std::vector<tensor_type> infer_qlinear_add(const op_call& call) {
  call.require(call.dims(0) == call.dims(3), "it broadcasts, which levada does with floats only");
  return {{call.type(), call.dims()}};
}
void lower_qlinear_add(lowering& to, const op_call& call) {
  to.give_op(call,
             "nn::qlinear_add<" + std::string(names_of(call.out().type)->cpp) + ">(" + quantization_text(call, 1) +
                 ", " + quantization_text(call, 4) + ", " + quantization_text(call, 6) +
                 (call.integer("relu", 0) != 0 ? ", true)" : ")"),
             {to.in(call, 0), to.in(call, 3)});
}

/// One scale and one zero point, constants.
bool has_one_quantization(const op_call& call, std::size_t scale) {
  return call.is_known(scale) && call.in(scale).known->elements() == 1 && call.is_known(scale + 1) &&
         call.in(scale + 1).known->elements() == 1;
}

constexpr op_definition quantized_definitions[] = {
    {"QuantizeLinear", infer_quantize, fold_quantize, lower_quantize},
    {"DequantizeLinear", infer_dequantize, fold_dequantize, lower_dequantize},
    {"QLinearAdd", infer_qlinear_add, nullptr, lower_qlinear_add, "com.microsoft"},
};

}  // namespace

std::string quantization_text(const op_call& call, std::size_t scale) {
  const std::int64_t zero = call.has(scale + 1) ? call.known(scale + 1, "its zero point").scalar<std::int64_t>() : 0;
  return "{" + number_text(call.known(scale, "its scale").scalar<double>(), element::f32) + ", " +
         std::to_string(zero) + "}";
}

constant scales_of_outputs(const constant& scale, std::int64_t outputs) {
  if (scale.elements() != 1) return scale.shaped({outputs});
  return constant::of(element::f32, {outputs},
                      std::vector<double>(static_cast<std::size_t>(outputs), scale.scalar<double>()));
}

std::optional<constant> as_int8(const constant& integers, const constant* zero_points, std::size_t axis) {
  const auto all = integers.as<std::int64_t>();
  const auto zeros = zero_points == nullptr ? std::vector<std::int64_t>{0} : zero_points->as<std::int64_t>();
  const auto inner = static_cast<std::size_t>(elements_between(integers.dims(), axis + 1, integers.dims().size()));
  std::vector<std::int64_t> made(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    made[i] = all[i] - zeros[i / inner % zeros.size()];
    if (made[i] < -128 || made[i] > 127) return std::nullopt;
  }
  return constant::of(element::i8, integers.dims(), made);
}

bool is_convolution_of_int8(const op_call& call) {
  using namespace qlinear_input;
  const bool is_complete = call.has(y_zero_point) && call.is_known(w) && call.is_known(w_scale) &&
                           (!call.has(w_zero_point) || call.is_known(w_zero_point)) &&
                           (!call.has(bias) || call.is_known(bias));
  if (!is_complete || call.rank() != 4 || call.rank(w) != 4 || call.dims(w)[0] == 0) return false;
  const auto is_of_filters = [&](std::size_t i) {
    return !call.has(i) || call.in(i).known->elements() == 1 || call.in(i).known->elements() == call.dims(w)[0];
  };
  return has_one_quantization(call, x_scale) && has_one_quantization(call, y_scale) && is_of_filters(w_scale) &&
         is_of_filters(w_zero_point) && call.type(w_scale) == element::f32 &&
         as_int8(*call.in(w).known, call.has(w_zero_point) ? &*call.in(w_zero_point).known : nullptr).has_value();
}

std::span<const op_definition> quantized_ops() { return quantized_definitions; }

}  // namespace levada::onnx
