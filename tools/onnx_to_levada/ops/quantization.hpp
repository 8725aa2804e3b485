// SPDX-License-Identifier: Apache-2.0
#pragma once
// ops/quantization.hpp: how integers stand for numbers, and the form of QLinearConv that levada has: weights of int8
// without a zero point, one scale of what it takes and of what it gives.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "op_call.hpp"

namespace levada::onnx {

/// The inputs of QLinearConv. The pass that makes it of a Conv between integers may leave `y_scale` and `y_zero_point`
/// out: then it gives floats. Its attribute "relu" says that it gives nothing below zero.
namespace qlinear_input {
inline constexpr std::size_t x = 0, x_scale = 1, x_zero_point = 2, w = 3, w_scale = 4, w_zero_point = 5, y_scale = 6,
                             y_zero_point = 7, bias = 8;
}

/// Integers without their zero points, as int8; nullopt where one does not fit. Several zero points are those of the
/// indices of an axis.
std::optional<constant> as_int8(const constant& integers, const constant* zero_points, std::size_t axis = 0);

/// The constant scales of `outputs` outputs; a single one is that of all.
constant scales_of_outputs(const constant& scale, std::int64_t outputs);

/// "{scale, zero point}" of two inputs one behind the other, which are one constant each.
std::string quantization_text(const op_call& call, std::size_t scale);

/// levada's kernels take it as it is: the other forms are expanded.
bool is_convolution_of_int8(const op_call& call);

}  // namespace levada::onnx
