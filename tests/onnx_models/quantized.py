#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a network of DequantizeLinear, ops and QuantizeLinear, as quantizers do, with items and their results.

quantized.py FILE     the model; FILE.items has two pictures, FILE.expected what each gives: 512 integers and 4 numbers;
                      of the integers as numbers, products of their rows and each row twice; their sums and the largest
"""

import random
import struct
import sys

import onnx_writer as onnx

SIDE = 9
random.seed(2026)
nodes, weights = [], []


def constant(dims, values, element):
    weights.append(onnx.tensor(f"w{len(weights)}", dims, values, element))
    return f"w{len(weights) - 1}"


def single(number):
    """The float next to it."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


class steps:
    def __init__(self, scale, zero, element=onnx.UINT8):
        self.scale, self.zero = single(scale), zero
        self.low, self.high = (0, 255) if element == onnx.UINT8 else (-128, 127)
        self.inputs = [constant([], [self.scale], onnx.FLOAT), constant([], [zero], element)]

    def integer(self, number):
        return min(max(round(number / self.scale) + self.zero, self.low), self.high)

    def number(self, integer):
        return (integer - self.zero) * self.scale


class tensor:
    """A value of the network, and its elements [channel][row][column] for each item."""

    def __init__(self, name, items):
        self.name, self.items = name, items

    def each(self, f):
        return [[[[f(x) for x in row] for row in plane] for plane in item] for item in self.items]


def add(op, inputs, **attributes):
    nodes.append(onnx.node(op, inputs, [f"v{len(nodes)}"], f"{op.lower()}{len(nodes)}", **attributes))
    return f"v{len(nodes) - 1}"


def rounded(x, to):
    """Integers, and the numbers that they stand for."""
    integers = tensor(add("QuantizeLinear", [x.name, *to.inputs]), x.each(to.integer))
    return integers, tensor(add("DequantizeLinear", [integers.name, *to.inputs]), integers.each(to.number))


def conv(x, of, filters, size, stride=1, groups=1, bias=True):
    """By filters of int8 that have a scale each. `of`: the steps of what it takes."""
    channels, pad = len(x.items[0]), size // 2
    inputs = channels // groups
    scales = [single(random.uniform(0.5, 1.5) / 127 / (inputs * size * size) ** 0.5) for _ in range(filters)]
    w = [[[[random.randint(-127, 127) for _ in range(size)] for _ in range(size)] for _ in range(inputs)]
         for _ in range(filters)]  # fmt: skip
    flat = [v for f in w for p in f for r in p for v in r]
    ws = constant([filters], scales, onnx.FLOAT)
    given = [x.name, add("DequantizeLinear", [constant([filters, inputs, size, size], flat, onnx.INT8), ws], axis=0)]
    b = [random.randint(-2000, 2000) if bias else 0 for _ in range(filters)]
    if bias:
        step = constant([filters], [single(of.scale * s) for s in scales], onnx.FLOAT)
        given.append(add("DequantizeLinear", [constant([filters], b, onnx.INT32), step], axis=0))
    name = add("Conv", given, kernel_shape=[size, size], strides=[stride, stride], group=groups, pads=[pad] * 4)
    items = []
    for item in x.items:
        side = (len(item[0]) - 1) // stride + 1
        out = []
        for f in range(filters):
            first = f // (filters // groups) * inputs
            plane = [[b[f] * of.scale * scales[f] for _ in range(side)] for _ in range(side)]
            for r in range(side):
                for c in range(side):
                    for k in range(inputs):
                        for i in range(size):
                            for j in range(size):
                                y, z = r * stride + i - pad, c * stride + j - pad
                                if 0 <= y < len(item[0]) and 0 <= z < len(item[0]):
                                    plane[r][c] += item[first + k][y][z] * w[f][k][i][j] * scales[f]
            out.append(plane)
        items.append(out)
    return tensor(name, items)


def relu(x):
    return tensor(add("Relu", [x.name]), x.each(lambda v: max(v, 0.0)))


def clip(x, high):
    bounds = [constant([], [0.0], onnx.FLOAT), constant([], [high], onnx.FLOAT)]
    return tensor(add("Clip", [x.name, *bounds]), x.each(lambda v: min(max(v, 0.0), high)))


def total(x, y):
    items = [[[[a + b for a, b in zip(r, s)] for r, s in zip(p, q)] for p, q in zip(i, j)]
             for i, j in zip(x.items, y.items)]  # fmt: skip
    return tensor(add("Add", [x.name, y.name]), items)


def pooled(x):
    half = range(len(x.items[0][0]) // 2)
    window = [(i, j) for i in (0, 1) for j in (0, 1)]
    items = [[[[max(p[2 * r + i][2 * c + j] for i, j in window) for c in half] for r in half] for p in item]
             for item in x.items]  # fmt: skip
    return tensor(add("MaxPool", [x.name], kernel_shape=[2, 2], strides=[2, 2]), items)


def joined(x, y):
    return tensor(add("Concat", [x.name, y.name], axis=1), [i + j for i, j in zip(x.items, y.items)])


picture = tensor("x", [[[[single(random.uniform(-1, 1)) for _ in range(SIDE)] for _ in range(SIDE)] for _ in range(3)]
                       for _ in range(2)])  # fmt: skip
s0, s1, s2, s3, s4 = (steps(2 / 255, 117), steps(0.006, 0), steps(6 / 255, 0), steps(0.02, 131),
                      steps(0.021, -7, onnx.INT8))  # fmt: skip
_, x = rounded(picture, s0)
_, a = rounded(relu(conv(x, s0, 16, 3)), s1)
_, b = rounded(clip(conv(a, s1, 16, 3, groups=16), 6.0), s2)  # 6 is the largest integer: no clip is left
_, c = rounded(conv(b, s2, 16, 1, bias=False), s3)
_, d = rounded(relu(total(a, c)), s4)
_, e = rounded(conv(d, s4, 16, 3, groups=4), s4)
pool, p = rounded(pooled(joined(d, e)), s4)  # the integers are joined and pooled
y = conv(p, s4, 4, 3, stride=4)
matrix = [[random.randint(-127, 127) for _ in range(2)] for _ in range(4)]
columns = constant([4, 2], [v for row in matrix for v in row], onnx.INT8)
step = single(0.01)
columns = add("DequantizeLinear", [columns, constant([], [step], onnx.FLOAT)])
words = {element: add("Cast", [pool.name], to=element) for element in (onnx.INT32, onnx.INT64)}
nodes += [onnx.node("Identity", [pool.name], ["pool"]), onnx.node("Identity", [y.name], ["y"]),
          onnx.node("MatMul", [p.name, columns], ["products"]),
          onnx.node("Resize", [p.name, "", constant([4], [1.0, 1.0, 2.0, 1.0], onnx.FLOAT)], ["tall"]),
          onnx.node("ReduceSum", [words[onnx.INT32], constant([2], [2, 3], onnx.INT64)], ["sums"]),
          onnx.node("ReduceMax", [words[onnx.INT64]], ["largest"], axes=[2, 3])]  # fmt: skip
outputs = [onnx.value("pool", [1, 32, 4, 4], onnx.INT8), onnx.value("y", [1, 4, 1, 1]),
           onnx.value("products", [1, 32, 4, 2]), onnx.value("tall", [1, 32, 8, 4]),
           onnx.value("sums", [1, 32, 1, 1], onnx.INT32), onnx.value("largest", [1, 32, 1, 1], onnx.INT64)]  # fmt: skip
model = onnx.model(nodes, [onnx.value("x", [1, 3, SIDE, SIDE])], outputs, weights)
with open(sys.argv[1], "wb") as file:
    file.write(model)


def flat_of(item):
    return [v for plane in item for row in plane for v in row]


with open(sys.argv[1] + ".items", "wb") as file:
    for item in picture.items:
        file.write(struct.pack(f"<{3 * SIDE * SIDE}f", *flat_of(item)))
with open(sys.argv[1] + ".expected", "wb") as file:
    for integers, numbers, pooled_numbers in zip(pool.items, y.items, p.items):
        file.write(struct.pack("<512b", *flat_of(integers)) + struct.pack("<4f", *flat_of(numbers)))
        rows = [row for plane in pooled_numbers for row in plane]
        products = [step * sum(a * m[k] for a, m in zip(row, matrix)) for row in rows for k in (0, 1)]
        file.write(struct.pack("<256f", *products) + struct.pack("<1024f", *[v for row in rows for v in row + row]))
        planes = [flat_of([plane]) for plane in integers]
        file.write(struct.pack("<32i", *map(sum, planes)) + struct.pack("<32q", *map(max, planes)))
