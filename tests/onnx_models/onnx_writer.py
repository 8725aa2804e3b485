# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX models: what ModelProto needs of protobuf, and no more (onnx.proto of ONNX 1.16)."""

import struct

FLOAT, UINT8, INT8, INT32, INT64, BOOL = 1, 2, 3, 6, 7, 9


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor(name, dims, values, element=FLOAT):
    """Values are numbers, or the bytes themselves."""
    letter = {FLOAT: "f", UINT8: "B", INT8: "b", INT32: "i", INT64: "q"}[element]
    raw = values if isinstance(values, bytes) else struct.pack(f"<{len(values)}{letter}", *values)
    return b"".join(number(1, d) for d in dims) + number(2, element) + block(8, name) + block(9, raw)


def attribute(name, value):
    head = block(1, name)
    if isinstance(value, int):
        return head + number(3, value) + number(20, 2)
    if isinstance(value, float):
        return head + varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    if isinstance(value, str):
        return head + block(4, value) + number(20, 3)
    if isinstance(value, subgraph):
        return head + block(6, value.data) + number(20, 5)
    if isinstance(value, bytes):  # a TensorProto
        return head + block(5, value) + number(20, 4)
    return head + b"".join(number(8, v) for v in value) + number(20, 7)


def node(op, inputs, outputs, name="", domain="", **attributes):
    return (b"".join(block(1, i) for i in inputs) + b"".join(block(2, o) for o in outputs) + block(3, name)
            + block(4, op) + b"".join(block(5, attribute(k, v)) for k, v in attributes.items())
            + (block(7, domain) if domain else b""))  # fmt: skip


def value(name, dims, element=FLOAT):
    """An input or output; an extent that is a text is the name of a free axis."""
    shape = b"".join(block(1, number(1, d) if isinstance(d, int) else block(2, d)) for d in dims)
    return block(1, name) + block(2, block(1, number(1, element) + block(2, shape)))


class subgraph:
    """A GraphProto."""

    def __init__(self, data):
        self.data = data


def graph(nodes, inputs, outputs, initializers=(), values=()):
    """`values`: types of values inside, where they are said."""
    return subgraph(b"".join(block(1, n) for n in nodes) + block(2, "graph")
                    + b"".join(block(5, t) for t in initializers) + b"".join(block(11, v) for v in inputs)
                    + b"".join(block(12, v) for v in outputs) + b"".join(block(13, v) for v in values))  # fmt: skip


def model(nodes, inputs, outputs, initializers=(), opset=17, functions=(), values=(), domains=()):
    domains = [*domains, *(["local"] if functions else [])]
    opsets = block(8, number(2, opset)) + b"".join(block(8, block(1, d) + number(2, 1)) for d in domains)
    whole = graph(nodes, inputs, outputs, initializers, values).data
    return number(1, 8) + block(7, whole) + opsets + b"".join(block(25, f) for f in functions)


def function(name, inputs, outputs, nodes, opset=17):
    """A function of the domain "local"."""
    return (block(1, name) + b"".join(block(4, i) for i in inputs) + b"".join(block(5, o) for o in outputs)
            + b"".join(block(7, n) for n in nodes) + block(9, number(2, opset)) + block(10, "local"))  # fmt: skip
