#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docs/ops.md against the headers: that it has a row for each op of nn:: and image:: and no other, and that the columns
`simd` and `Vulkan` say which backend's headers have a kernel of the op's type. Prints each difference.

check_ops.py
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include" / "levada"

DECLARED = [
    # inline constexpr op_stage<"relu", relu_op> relu{};
    re.compile(r'inline constexpr op_stage<"\w+",\s*(?P<op>\w+_op)[^;{]*?>\s*(?P<name>\w+)\{\}'),
    # inline constexpr auto add = broadcast<"add">(...)
    re.compile(r'inline constexpr auto (?P<name>\w+) = (?P<op>transform|broadcast)<"'),
    # constexpr auto conv2d(...) { return op_stage<Name, conv2d_op<...
    re.compile(r'constexpr auto (?P<name>\w+)\([^;{]*?\)\s*\{\s*return (?:op_stage<[\w"]+,\s*(?P<op>\w+_op)|(?P<of>transform)<")'),
]
ROW = re.compile(r"^\| `(nn|image)::(\w+).*\| (\w*) \| (\w*) \|$")


def declared_ops():
    """nn::NAME or image::NAME with the type of the op."""
    ops = {}
    for layer in ("nn", "image"):
        for header in sorted((INCLUDE / layer).glob("*.hpp")):
            _, _, text = header.read_text().partition(f"namespace {layer} {{")
            for pattern in DECLARED:
                for found in pattern.finditer(text):
                    groups = found.groupdict()
                    op = groups["op"] or groups.get("of")
                    ops[f"{layer}::{found['name']}"] = op if op.endswith("_op") else f"{op}_op"
    return ops


def backend_text(folder):
    return "\n".join(header.read_text() for header in sorted((INCLUDE / "backend" / folder).glob("*.hpp")))


def moves():
    """The ops that one kernel moves."""
    return set(re.findall(r"struct (\w+_op) : separable_move<", (INCLUDE / "nn" / "move.hpp").read_text()))


def main():
    wrong = []
    rows = {}
    for line in (ROOT / "docs" / "ops.md").read_text().splitlines():
        if found := ROW.match(line):
            rows[f"{found[1]}::{found[2]}"] = found[3], found[4]
    ops, separable = declared_ops(), moves()
    wrong += [f"{name} has no row" for name in sorted(ops.keys() - rows.keys())]
    wrong += [f"{name} is no op of the headers" for name in sorted(rows.keys() - ops.keys())]
    simd, spirv = backend_text("simd"), backend_text("spirv")
    for name in sorted(ops.keys() & rows.keys()):
        kernel = r"moves_separably\b" if ops[name] in separable else rf"\b{ops[name]}\b"
        there = "vectors" if re.search(kernel, simd) else "definition"
        if rows[name][0] != there:
            wrong.append(f"{name}: simd computes it by {there}, the table says {rows[name][0] or 'nothing'}")
        there = "yes" if re.search(kernel, spirv) else "no"
        if rows[name][1] != there:
            wrong.append(f"{name}: Vulkan: {there}, the table says {rows[name][1] or 'nothing'}")
    print("\n".join(wrong) or f"{len(rows)} ops, as the headers say")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
