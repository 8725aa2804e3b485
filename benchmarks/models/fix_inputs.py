#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives the inputs of an ONNX file fixed extents, so that all who read it know as much.

fix_inputs.py FILE TO [NAME=EXTENT,EXTENT...]     x=1,3,480,640
"""

import sys

import onnx_writer as onnx

GRAPH, INPUT = 7, 11  # fields of ModelProto and GraphProto


def read_varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """Number of each field, its block of bytes or None, and all of it as it stands there."""
    at = 0
    while at < len(data):
        begin = at
        key, at = read_varint(data, at)
        block = None
        if key & 7 == 2:
            size, at = read_varint(data, at)
            block = data[at : at + size]
            at += size
        elif key & 7 == 0:
            _, at = read_varint(data, at)
        else:
            at += {1: 8, 5: 4}[key & 7]
        yield key >> 3, block, data[begin:at]


def fixed_graph(graph, extents):
    out = b""
    for field, block, whole in fields(graph):
        name = next((b.decode() for f, b, _ in fields(block) if f == 1), "") if field == INPUT else ""
        out += onnx.block(INPUT, onnx.value(name, extents.pop(name))) if name in extents else whole
    if extents:
        sys.exit(f"The model has no input {', '.join(extents)}.")
    return out


def main(source, target, *told):
    extents = {name: [int(e) for e in to.split(",")] for name, _, to in (t.partition("=") for t in told)}
    with open(source, "rb") as file:
        model = file.read()
    out = b"".join(onnx.block(GRAPH, fixed_graph(block, extents)) if field == GRAPH else whole
                   for field, block, whole in fields(model))  # fmt: skip
    with open(target, "wb") as file:
        file.write(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
