// SPDX-License-Identifier: Apache-2.0
#pragma once
// passes/passes.hpp: what makes a network smaller without changing what it computes beyond rounding.

#include "../network/network.hpp"

namespace levada::onnx {

/// Affine ops (BatchNormalization, products and sums with constants) go into the convolution, transposed convolution
/// or product by a constant before them.
void fold_affine(network& net);
/// Pads with zeros go into the convolution behind them.
void fold_pads(network& net);
/// Transposes cancel, and move behind ops of single elements where they then cancel.
void move_transposes(network& net);
/// Several nodes that are one op: hard swish, SiLU, GELU, layer norm.
void find_patterns(network& net);
/// A convolution, a product by a constant or a sum between DequantizeLinear and QuantizeLinear becomes one of integers,
/// and ops between them that choose or move elements take the integers.
void find_quantized(network& net);
/// softmax(q k^T scale + mask) v becomes one op, "DotProductAttention", which ONNX does not have.
void find_attention(network& net);

/// Several states (an output and an input each, by ONNX's names) as one, "next_state" and "state", since a feedback has
/// one: a row of all their elements. Returns the state that is left.
std::vector<std::pair<std::string, std::string>> join_states(
    network& net, const std::vector<std::pair<std::string, std::string>>& states);

/// All of the above that change no input or output, in their order.
void simplify(network& net);

}  // namespace levada::onnx
