#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes relu(A x - 1) of four numbers, A twice the identity.

small.py FILE [EXTENT]     of so many numbers
"""

import sys

import onnx_writer as onnx

extent = int(sys.argv[2]) if len(sys.argv) > 2 else 4
weight = [2.0 if i % (extent + 1) == 0 else 0.0 for i in range(extent * extent)]
model = onnx.model(
    [onnx.node("Gemm", ["x", "a", "b"], ["g"], "dense", transB=1), onnx.node("Relu", ["g"], ["y"])],
    [onnx.value("x", ["batch", extent])], [onnx.value("y", ["batch", extent])],
    [onnx.tensor("a", [extent, extent], weight), onnx.tensor("b", [extent], [-1.0] * extent)])  # fmt: skip
with open(sys.argv[1], "wb") as file:
    file.write(model)
