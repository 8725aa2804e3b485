#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a model of ops that levada lacks, which ONNX Runtime computes: of x,

    h = relu(x)
    v, w = h, x;  three times: v = v + x, w = w v      (Loop)
    g = gelu(v + b)                                    (BiasGelu of com.microsoft, next to the Loop)
    d = det(tanh g as 2 x 2)                           (Det, behind an op that levada has)
    y = tanh g + d,  z = 2 w

foreign.py FILE [unsaid]     unsaid: without the extents of what these ops give
"""

import sys

import onnx_writer as onnx

SHAPE = [1, 4]

body = onnx.graph([onnx.node("Identity", ["go_on"], ["goes_on"]), onnx.node("Add", ["v0", "x"], ["v1"]),
                   onnx.node("Mul", ["w0", "v1"], ["w1"])],
                  [onnx.value("i", [], onnx.INT64), onnx.value("go_on", [], onnx.BOOL), onnx.value("v0", SHAPE),
                   onnx.value("w0", SHAPE)],
                  [onnx.value("goes_on", [], onnx.BOOL), onnx.value("v1", SHAPE), onnx.value("w1", SHAPE)])  # fmt: skip
nodes = [onnx.node("Relu", ["x"], ["h"]),
         onnx.node("Loop", ["three", "", "h", "x"], ["v", "w"], "grow", body=body),
         onnx.node("BiasGelu", ["v", "b"], ["g"], "gelu", "com.microsoft"),
         onnx.node("Tanh", ["g"], ["t"]),
         onnx.node("Reshape", ["t", "square"], ["q"]),
         onnx.node("Det", ["q"], ["d"]),
         onnx.node("Add", ["t", "d"], ["y"]),
         onnx.node("Add", ["w", "w"], ["z"])]  # fmt: skip
tensors = [onnx.tensor("three", [], [3], onnx.INT64), onnx.tensor("square", [3], [1, 2, 2], onnx.INT64),
           onnx.tensor("b", [4], [0.5, -0.5, 0.25, 1.0])]  # fmt: skip
said = [onnx.value("v", SHAPE), onnx.value("w", SHAPE), onnx.value("g", SHAPE), onnx.value("d", [1])]
with open(sys.argv[1], "wb") as file:
    file.write(onnx.model(nodes, [onnx.value("x", SHAPE)], [onnx.value("y", SHAPE), onnx.value("z", SHAPE)], tensors,
                          values=[] if "unsaid" in sys.argv else said, domains=["com.microsoft"]))  # fmt: skip
