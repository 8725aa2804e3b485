#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a model of 64 inputs and 64 outputs: sums of neighbours, the sum of all, and all joined, some of them twice.

many_ports.py FILE
"""

import sys

import onnx_writer as onnx

MOST, EXTENT = 64, 3
inputs = [f"in_{i}" for i in range(MOST)]
nodes = [onnx.node("Add", [inputs[i], inputs[(i + 1) % MOST]], [f"sum_{i}"]) for i in range(MOST - 2)]
nodes += [onnx.node("Sum", inputs, ["all"]),
          onnx.node("Concat", [*inputs, *inputs[:36]], ["joined"], axis=1)]  # fmt: skip
outputs = [onnx.value(f"sum_{i}", [1, EXTENT]) for i in range(MOST - 2)]
outputs += [onnx.value("all", [1, EXTENT]), onnx.value("joined", [1, (MOST + 36) * EXTENT])]
with open(sys.argv[1], "wb") as file:
    file.write(onnx.model(nodes, [onnx.value(name, [1, EXTENT]) for name in inputs], outputs))
