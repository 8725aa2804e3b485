#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a model of an `If` that depends on the item, in another: of x, with W of numbers 0 to 15,

    h = relu(x)
    sum(x) > 0:               y = x W + h, z = 2 h
    else, largest of x > 1:   y = h,       z = x x
    else:                     y = 7,       z = x

choice.py FILE
"""

import sys

import onnx_writer as onnx

SHAPE = [1, 4]


def branch(nodes, tensors=()):
    return onnx.graph(nodes, [], [onnx.value("a", SHAPE), onnx.value("b", SHAPE)], tensors)


def number(name, value):
    return onnx.tensor(name, [], [value])


by_largest = [
    branch([onnx.node("Identity", ["h"], ["a"]), onnx.node("Mul", ["x", "x"], ["b"])]),
    branch([onnx.node("Identity", ["x"], ["b"])], [onnx.tensor("a", SHAPE, [7.0] * 4)])]  # fmt: skip
by_sum = [
    branch([onnx.node("MatMul", ["x", "W"], ["p"]), onnx.node("Add", ["p", "h"], ["a"]),
            onnx.node("Mul", ["h", "two"], ["b"])], [number("two", 2.0)]),
    branch([onnx.node("ReduceMax", ["x"], ["largest"], keepdims=0),
            onnx.node("Greater", ["largest", "one"], ["is_large"]),
            onnx.node("If", ["is_large"], ["a", "b"], "inner", then_branch=by_largest[0], else_branch=by_largest[1])],
           [number("one", 1.0)])]  # fmt: skip
nodes = [onnx.node("Relu", ["x"], ["h"]), onnx.node("ReduceSum", ["x"], ["sum"], keepdims=0),
         onnx.node("Greater", ["sum", "zero"], ["is_positive"]),
         onnx.node("If", ["is_positive"], ["y", "z0"], "outer", then_branch=by_sum[0], else_branch=by_sum[1]),
         onnx.node("Neg", ["z0"], ["minus_z"])]  # fmt: skip
model = onnx.model(nodes, [onnx.value("x", SHAPE)], [onnx.value("y", SHAPE), onnx.value("minus_z", SHAPE)],
                   [onnx.tensor("W", [4, 4], [float(i) for i in range(16)]), number("zero", 0.0)])  # fmt: skip
with open(sys.argv[1], "wb") as file:
    file.write(model)
