#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a transformer's encoder: equal blocks, each a call of one function with weights of its own, from a seed.

encoder.py FILE [BLOCKS WIDTH HEADS STEPS]     12 blocks, 832 wide, 13 heads, 64 steps: 100 million parameters
"""

import array
import random
import sys

import onnx_writer as onnx


def block_function(width, heads, steps):
    """x, and the weights of a block: attention and a layer of four times the width, each behind a norm."""
    each = width // heads
    shape = onnx.tensor("", [3], [steps, heads, each], onnx.INT64)
    flat = onnx.tensor("", [2], [steps, width], onnx.INT64)
    nodes = [onnx.node("Constant", [], ["split"], value=shape), onnx.node("Constant", [], ["joined"], value=flat),
             onnx.node("Constant", [], ["root"], value=onnx.tensor("", [], [each**-0.5])),
             onnx.node("LayerNormalization", ["x", "norm1", "zero"], ["n1"], "norm1")]  # fmt: skip
    for part, order in (("q", [1, 0, 2]), ("k", [1, 2, 0]), ("v", [1, 0, 2])):
        nodes += [onnx.node("MatMul", ["n1", f"w{part}"], [f"{part}1"], part),
                  onnx.node("Reshape", [f"{part}1", "split"], [f"{part}2"]),
                  onnx.node("Transpose", [f"{part}2"], [part], perm=order)]  # fmt: skip
    nodes += [onnx.node("MatMul", ["q", "k"], ["scores1"], "scores"),
              onnx.node("Mul", ["scores1", "root"], ["scores"]),
              onnx.node("Softmax", ["scores"], ["shares"], "shares", axis=-1),
              onnx.node("MatMul", ["shares", "v"], ["mixed1"], "mixed"),
              onnx.node("Transpose", ["mixed1"], ["mixed2"], perm=[1, 0, 2]),
              onnx.node("Reshape", ["mixed2", "joined"], ["mixed"]),
              onnx.node("MatMul", ["mixed", "wo"], ["out"], "out"),
              onnx.node("Add", ["x", "out"], ["h"], "around"),
              onnx.node("LayerNormalization", ["h", "norm2", "zero"], ["n2"], "norm2"),
              onnx.node("MatMul", ["n2", "up"], ["u1"], "up"),
              onnx.node("Add", ["u1", "upbias"], ["u2"]), onnx.node("Gelu", ["u2"], ["u"], "gelu"),
              onnx.node("MatMul", ["u", "down"], ["d"], "down"),
              onnx.node("Add", ["h", "d"], ["y"], "around2")]  # fmt: skip
    names = ["x", "norm1", "norm2", "zero", "wq", "wk", "wv", "wo", "up", "upbias", "down"]
    return onnx.function("block", names, ["y"], nodes, opset=20)


def encoder(blocks=12, width=832, heads=13, steps=64):
    random.seed(1)
    # One row of numbers, of which each weight is a part from another place on: a hundred million need no time.
    row = array.array("f", [random.uniform(-1, 1) for _ in range(1 << 16)])

    def filled(name, dims, scale):
        count = 1
        for d in dims:
            count *= d
        begin = random.randrange(1 << 15)
        part = array.array("f", [x * scale for x in row[begin:] + row[:begin]])
        values = part * (count // len(part) + 1)
        return onnx.tensor(name, dims, values[:count].tobytes())

    weights, nodes = [onnx.tensor("zero", [width], [0.0] * width), onnx.tensor("one", [width], [1.0] * width)], []
    for b in range(blocks):
        made = {"up": [width, 4 * width], "upbias": [4 * width], "down": [4 * width, width]}
        made |= {w: [width, width] for w in ("wq", "wk", "wv", "wo")}
        weights += [filled(f"b{b}.{name}", dims, width**-0.5) for name, dims in made.items()]
        given = ["x0" if b == 0 else f"x{b}", "one", "one", "zero",
                 *(f"b{b}.{name}" for name in ("wq", "wk", "wv", "wo", "up", "upbias", "down"))]  # fmt: skip
        nodes.append(onnx.node("block", given, [f"x{b + 1}"], f"block{b}", domain="local"))
    return onnx.model(nodes, [onnx.value("x0", [steps, width])], [onnx.value(f"x{blocks}", [steps, width])], weights,
                      opset=20, functions=[block_function(width, heads, steps)])  # fmt: skip


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        file.write(encoder(*map(int, sys.argv[2:])))
