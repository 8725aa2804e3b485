#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes networks of the literature as ONNX files, with weights from a seed and the norms folded into the convolutions.

networks.py NETWORK FILE [int8]     resnet18, resnet50, mobilenet_v1, mobilenet_v2 or squeezenet, of 3 x 224 x 224;
                                    int8: convolutions between DequantizeLinear and QuantizeLinear
"""

import array
import math
import random
import sys

import onnx_writer as onnx


class network:
    """Nodes one behind another, each by its name. Weights keep the magnitude of what relu leaves half of."""

    def __init__(self):
        random.seed(2026)
        # One row of numbers, of which each weight is a part from another place on: millions need no time. As many as
        # a prime, so that no filter is that of another.
        self.row = array.array("f", [random.uniform(-1, 1) for _ in range(65521)])
        self.nodes, self.weights, self.count = [], [], 0

    def add(self, op, inputs, **attributes):
        self.count += 1
        name = f"{op.lower()}{self.count}"
        self.nodes.append(onnx.node(op, inputs, [name], name, **attributes))
        return name

    def weight(self, dims, bound):
        count = 1
        for d in dims:
            count *= d
        begin = random.randrange(len(self.row))
        part = array.array("f", [x * bound for x in self.row[begin:] + self.row[:begin]])
        name = f"w{len(self.weights)}"
        values = (part * (count // len(part) + 1))[:count]
        self.weights.append(onnx.tensor(name, dims, values.tobytes()))
        return name

    def number(self, value):
        self.weights.append(onnx.tensor(f"w{len(self.weights)}", [], [value]))
        return f"w{len(self.weights) - 1}"

    def conv(self, x, channels, filters, size=3, stride=1, groups=1, padding=None, gain=1.0):
        inputs = channels // groups * size * size
        padding = size // 2 if padding is None else padding
        w = self.weight([filters, channels // groups, size, size], gain * (6 / inputs) ** 0.5)
        b = self.weight([filters], 0.1)
        return self.add("Conv", [x, w, b], kernel_shape=[size, size], strides=[stride, stride], group=groups,
                        pads=[padding] * 4)  # fmt: skip

    def relu(self, x):
        return self.add("Relu", [x])

    def relu6(self, x):
        bounds = [self.number(bound) for bound in (0.0, 6.0)]
        return self.add("Clip", [x, *bounds])

    def classes(self, x, channels):
        """The mean of each channel, and 1,000 logits of them."""
        flat = self.add("Flatten", [self.add("GlobalAveragePool", [x])], axis=1)
        w, b = self.weight([1000, channels], (3 / channels) ** 0.5), self.weight([1000], 0.1)
        return self.add("Gemm", [flat, w, b], transB=1)

    def written(self, result, dims):
        self.nodes.append(onnx.node("Identity", [result], ["logits"], "logits"))
        return onnx.model(self.nodes, [onnx.value("picture", [1, 3, 224, 224])], [onnx.value("logits", dims)],
                          self.weights)  # fmt: skip


# Seven bits, as the peers' documents advise: two products of eight overflow their sums where there is no VNNI.
WEIGHT_STEPS = 63


class quantized_network(network):
    """The same with weights of int8, a scale for each filter, and activations of uint8. Their scales come from the
    mean square of what a layer gives where its input is random: 4.5 standard deviations are the largest number.
    """

    def __init__(self):
        super().__init__()
        self.bound = float("inf")  # of what is rectified
        self.square = {"picture": 1 / 3}  # the mean of each value's square
        self.rectified = set()
        self.steps = {}  # of a value: scale, zero point
        self.numbers = {}  # of a value: as integers and numbers again
        self.given = {}

    def constant(self, dims, values, element):
        key = (tuple(dims), tuple(values), element)
        if key not in self.given:
            self.given[key] = f"w{len(self.weights)}"
            self.weights.append(onnx.tensor(self.given[key], dims, values, element))
        return self.given[key]

    def rounded(self, x):
        """The numbers that the integers of a value stand for."""
        if x not in self.numbers:
            if x not in self.steps:
                largest = 4.5 * (self.square[x] * (2 if x in self.rectified else 1)) ** 0.5
                self.steps[x] = (min(largest, self.bound) / 255, 0) if x in self.rectified else (largest / 127, 128)
            scale, zero = self.steps[x]
            of = [self.constant([], [scale], onnx.FLOAT), self.constant([], [zero], onnx.UINT8)]
            integers = super().add("QuantizeLinear", [x, *of])
            self.numbers[x] = super().add("DequantizeLinear", [integers, *of])
        return self.numbers[x]

    def relu6(self, x):
        self.bound = 6
        return super().relu6(x)

    def add(self, op, inputs, **attributes):
        if op in ("Relu", "Clip"):
            y = super().add(op, inputs, **attributes)
            self.square[y] = self.square[inputs[0]] / 2
            self.rectified.add(y)
            return y
        if op in ("Flatten", "Gemm"):
            return super().add(op, inputs, **attributes)
        y = super().add(op, [self.rounded(x) if x in self.square else x for x in inputs], **attributes)
        self.square[y] = sum(self.square[x] for x in inputs) if op == "Add" else self.square[inputs[0]]
        if op in ("MaxPool", "Concat"):
            self.steps[y] = self.steps[inputs[0]]
            if inputs[0] in self.rectified:
                self.rectified.add(y)
        return y

    def weight_of_int8(self, dims):
        """Numbers from -63 to 63 by places of the row."""
        begin, count = random.randrange(len(self.row)), math.prod(dims)
        part = array.array("b", [round(WEIGHT_STEPS * v) for v in self.row[begin:] + self.row[:begin]])
        w = f"w{len(self.weights)}"
        self.weights.append(onnx.tensor(w, dims, (part * (count // len(part) + 1))[:count].tobytes(), onnx.INT8))
        return w

    def classes(self, x, channels):
        mean = super().add("GlobalAveragePool", [self.rounded(x)])
        flat = super().add("Flatten", [mean], axis=1)
        self.square[flat] = 0.4 * self.square[x]
        self.rectified.add(flat)
        scale = self.constant([1000], [(3 / channels) ** 0.5 / WEIGHT_STEPS] * 1000, onnx.FLOAT)
        w = super().add("DequantizeLinear", [self.weight_of_int8([1000, channels]), scale], axis=0)
        return super().add("Gemm", [self.rounded(flat), w, self.weight([1000], 0.1)], transB=1)

    def conv(self, x, channels, filters, size=3, stride=1, groups=1, padding=None, gain=1.0):
        inputs = channels // groups * size * size
        padding = size // 2 if padding is None else padding
        scale = gain * (6 / inputs) ** 0.5 / WEIGHT_STEPS
        w = self.weight_of_int8([filters, channels // groups, size, size])
        of_filters = self.constant([filters], [scale] * filters, onnx.FLOAT)
        known = super().add("DequantizeLinear", [w, of_filters], axis=0)
        self.rounded(x)
        steps = self.steps[x][0] * scale
        b = self.constant([filters], [round(random.uniform(-0.1, 0.1) / steps) for _ in range(filters)], onnx.INT32)
        bias = super().add("DequantizeLinear", [b, self.constant([filters], [steps] * filters, onnx.FLOAT)], axis=0)
        y = self.add("Conv", [x, known, bias], kernel_shape=[size, size], strides=[stride, stride], group=groups,
                     pads=[padding] * 4)  # fmt: skip
        self.square[y] = 2 * gain**2 * self.square[x] + 0.1**2 / 3
        return y


def resnet(n, blocks, bottleneck):
    """He and others, 2015. Of a sum of two each half is smaller, since no norm stands before it."""
    x = n.relu(n.conv("picture", 3, 64, 7, 2))
    x = n.add("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for layer, count in enumerate(blocks):
        width = 64 << layer
        filters = width * (4 if bottleneck else 1)
        for b in range(count):
            stride = 2 if layer > 0 and b == 0 else 1
            if bottleneck:
                y = n.relu(n.conv(x, channels, width, 1))
                y = n.conv(n.relu(n.conv(y, width, width, 3, stride)), width, filters, 1, gain=0.3)
            else:
                y = n.conv(n.relu(n.conv(x, channels, width, 3, stride)), width, filters, gain=0.3)
            around = x if stride == 1 and channels == filters else n.conv(x, channels, filters, 1, stride, gain=0.7)
            x, channels = n.relu(n.add("Add", [y, around])), filters
    return n.written(n.classes(x, channels), [1, 1000])


def mobilenet_v1(n):
    """Howard and others, 2017."""
    x, channels = n.relu(n.conv("picture", 3, 32, 3, 2)), 32
    for filters, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2),
                            (1024, 1)]:  # fmt: skip
        x = n.relu(n.conv(x, channels, channels, 3, stride, channels))
        x, channels = n.relu(n.conv(x, channels, filters, 1)), filters
    return n.written(n.classes(x, channels), [1, 1000])


def mobilenet_v2(n):
    """Sandler and others, 2018."""
    x, channels = n.relu6(n.conv("picture", 3, 32, 3, 2)), 32
    for wider, filters, count, first in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                         (6, 160, 3, 2), (6, 320, 1, 1)]:  # fmt: skip
        for b in range(count):
            stride, width = first if b == 0 else 1, wider * channels
            y = x if wider == 1 else n.relu6(n.conv(x, channels, width, 1))
            y = n.relu6(n.conv(y, width, width, 3, stride, width))
            y = n.conv(y, width, filters, 1, gain=0.6)
            x = n.add("Add", [x, y]) if stride == 1 and channels == filters else y
            channels = filters
    return n.written(n.classes(n.relu6(n.conv(x, channels, 1280, 1)), 1280), [1, 1000])


def squeezenet(n):
    """Iandola and others, 2016: version 1.1."""

    def pool(x):
        return n.add("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2])

    x, channels = pool(n.relu(n.conv("picture", 3, 64, 3, 2, padding=0))), 64
    for squeezed, expanded, pooled in [(16, 64, 0), (16, 64, 1), (32, 128, 0), (32, 128, 1), (48, 192, 0), (48, 192, 0),
                                       (64, 256, 0), (64, 256, 0)]:  # fmt: skip
        s = n.relu(n.conv(x, channels, squeezed, 1))
        parts = [n.relu(n.conv(s, squeezed, expanded, size)) for size in (1, 3)]
        x, channels = n.add("Concat", parts, axis=1), 2 * expanded
        x = pool(x) if pooled else x
    x = n.relu(n.conv(x, channels, 1000, 1))
    return n.written(n.add("Flatten", [n.add("GlobalAveragePool", [x])], axis=1), [1, 1000])


WRITERS = {
    "resnet18": lambda n: resnet(n, [2, 2, 2, 2], False),
    "resnet50": lambda n: resnet(n, [3, 4, 6, 3], True),
    "mobilenet_v1": mobilenet_v1,
    "mobilenet_v2": mobilenet_v2,
    "squeezenet": squeezenet,
}

if __name__ == "__main__":
    with open(sys.argv[2], "wb") as file:
        file.write(WRITERS[sys.argv[1]](quantized_network() if sys.argv[3:] == ["int8"] else network()))
