#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docs/ops.md against the headers: that it has a row for each op of nn::, image:: and signal:: and no other,
that the columns `simd` and `Vulkan` say which backend's headers have a kernel of the op's type, and that the column
`header` names the umbrella that declares the op and brings its kernel on simd. Prints each difference.

check_ops.py
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include" / "levada"

DECLARED = [
    # inline constexpr op_stage<"relu", relu_op> relu{};
    # inline constexpr weighted_stage<Name, conv2d_op<Filters, Options...>> conv2d{};
    re.compile(r'inline constexpr (?:op_stage<"\w+"|weighted_stage<Name),\s*'
               r'(?P<op>\w+_op)[^;{]*?>\s*(?P<name>\w+)\{\}'),
    # inline constexpr broadcast_stage<"add", detail::sum_of_two> add{};
    re.compile(r'inline constexpr (?P<op>transform|broadcast)_stage<"\w+",[^;{]*?> (?P<name>\w+)\{\}'),
    # constexpr auto layer_norm(...) { return op_stage<Name, layer_norm_op<...
    re.compile(r'constexpr auto (?P<name>\w+)\([^;{]*?\)\s*\{[^}]*?return '
               r'(?:op_stage<[\w"]+,\s*(?P<op>\w+_op)|(?P<of>transform)<")'),
    # inline constexpr auto crop = detail::picture_stage<...>(crop_op<... and constexpr auto letterbox(...) { return ...
    re.compile(r'constexpr auto (?P<name>\w+)(?: =|\([^;{]*?\)\s*\{\s*return)\s*'
               r'detail::picture_stage<[^;]*?(?P<op>\w+_op)<'),
]
LAYERS = ("nn", "image", "signal")
ROW = re.compile(r"^\| `(nn|image|signal)::(\w+).*\| (\w*) \| (\w*) \| ([\w.]*) \|$")
UMBRELLAS = ("levada.hpp", "ops.hpp")  # the first that has an op is the one to include
INCLUDED = re.compile(r"^#include <levada/([^>]+)>", re.M)


def declared_ops():
    """nn::NAME and so on with the type of the op and the header that declares it."""
    ops = {}
    for layer in LAYERS:
        for header in sorted((INCLUDE / layer).glob("*.hpp")):
            _, _, text = header.read_text().partition(f"namespace {layer} {{")
            for pattern in DECLARED:
                for found in pattern.finditer(text):
                    groups = found.groupdict()
                    op = groups["op"] or groups.get("of")
                    ops[f"{layer}::{found['name']}"] = (
                        op if op.endswith("_op") else f"{op}_op", f"{layer}/{header.name}"
                    )
    return ops


def included_by(umbrella):
    """The library's headers that come with that one."""
    found, waiting = set(), [umbrella]
    while waiting:
        header = waiting.pop()
        if header not in found:
            found.add(header)
            waiting += INCLUDED.findall((INCLUDE / header).read_text())
    return found


def kernels_on_simd(headers):
    """The text that has the kernels of those headers: simd's own, and the definitions that it computes the other ops
    by."""
    def text_of(folder):
        return "\n".join((INCLUDE / h).read_text() for h in sorted(headers) if h.startswith(folder))

    defines = "backend/simd/detail/definition.hpp" in headers
    return text_of("backend/simd/"), text_of("backend/detail/define/") if defines else ""


def comparisons():
    """The ops that give bool, which vectors of numbers do not: simd computes them by their definition."""
    found = []
    for header in (INCLUDE / "nn").glob("*.hpp"):
        text = header.read_text()
        found += re.findall(r'_stage<"\w+", detail::(?:is|are)_\w+> (\w+)\{', text)
        found += re.findall(r'auto (\w+)\([^;{]*?\)\s*\{[^}]*?return\s*(?:broadcast|transform)<"\w+">'
                            r'\(detail::(?:is|are)_\w+{', text)  # fmt: skip
    return {f"nn::{name}" for name in found}


def backend_text(folder):
    return "\n".join(header.read_text() for header in sorted((INCLUDE / "backend" / folder).rglob("*.hpp")))


def moves():
    """The ops that one kernel moves."""
    return set(re.findall(r"struct (\w+_op) : separable_move<", (INCLUDE / "nn" / "move.hpp").read_text()))


def main():
    wrong = []
    rows = {}
    for line in (ROOT / "docs" / "ops.md").read_text().splitlines():
        if found := ROW.match(line):
            rows[f"{found[1]}::{found[2]}"] = found[3], found[4], found[5]
    ops, separable, comparing = declared_ops(), moves(), comparisons()
    umbrellas = [(name, headers, *kernels_on_simd(headers)) for name in UMBRELLAS for headers in [included_by(name)]]
    wrong += [f"{name} has no row" for name in sorted(ops.keys() - rows.keys())]
    wrong += [f"{name} is no op of the headers" for name in sorted(rows.keys() - ops.keys())]
    simd, spirv = backend_text("simd"), backend_text("spirv")
    for name in sorted(ops.keys() & rows.keys()):
        op, declared = ops[name]
        kernel = r"moves_separably\b" if op in separable else rf"\b{op}\b"
        there = "vectors" if re.search(kernel, simd) and name not in comparing else "definition"
        if rows[name][0] != there:
            wrong.append(f"{name}: simd computes it by {there}, the table says {rows[name][0] or 'nothing'}")
        gives_bool = op == "transform_op" and name in comparing  # a kernel of words has none to store
        there = "yes" if re.search(kernel, spirv) and not gives_bool else "no"
        if rows[name][1] != there:
            wrong.append(f"{name}: Vulkan: {there}, the table says {rows[name][1] or 'nothing'}")
        there = next((umbrella for umbrella, headers, own, defined in umbrellas if declared in headers
                      and re.search(kernel, defined if name in comparing else own + defined)), "none")  # fmt: skip
        if rows[name][2] != there:
            wrong.append(f"{name}: it comes with {there}, the table says {rows[name][2] or 'nothing'}")
    print("\n".join(wrong) or f"{len(rows)} ops, as the headers say")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
