#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs onnx_to_levada as a build does: the same bytes twice, a committed header that is stale, new weights, weights
of another model, and everything that is missing in one message.

check_tool.py TOOL FOLDER      FOLDER is emptied
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import onnx_writer as onnx

tool, folder = sys.argv[1], Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
failed = []


def net(filters=2, scale=1.0, extra=()):
    """conv | relu of a picture of three planes."""
    weights = [scale * (i % 7 - 3) for i in range(filters * 27)]
    return onnx.model(
        [onnx.node("Conv", ["x", "w"], ["c"], "layer/conv", pads=[1, 1, 1, 1]),
         onnx.node("Relu", ["c"], ["y"], "layer/relu"), *extra],
        [onnx.value("x", ["batch", 3, 8, "width"])], [onnx.value("y", ["batch", filters, 8, "width"])],
        [onnx.tensor("w", [filters, 3, 3, 3], weights)])  # fmt: skip


def table(scale=1.0):
    """conv, and a row of numbers for each place along the width, of which there are sixteen."""
    weights = [scale * (i % 7 - 3) for i in range(2 * 27)]
    numbers = [onnx.tensor("zero", [1], [0], onnx.INT64), onnx.tensor("three", [1], [3], onnx.INT64),
               onnx.tensor("four", [1], [4], onnx.INT64)]  # fmt: skip
    return onnx.model(
        [onnx.node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]), onnx.node("Shape", ["c"], ["s"]),
         onnx.node("Slice", ["s", "three", "four"], ["width"]),
         onnx.node("Slice", ["places", "zero", "width"], ["row"]), onnx.node("Add", ["c", "row"], ["y"], "position")],
        [onnx.value("x", ["batch", 3, 8, "width"])], [onnx.value("y", ["batch", 2, 8, "width"])],
        [onnx.tensor("w", [2, 3, 3, 3], weights), onnx.tensor("places", [16], [float(i) for i in range(16)]),
         *numbers])  # fmt: skip


def safetensors_names(file):
    data = file.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return sorted(name for name in header if name != "__metadata__")


def run(data, *arguments, output="out"):
    (folder / "net.onnx").write_bytes(data)
    command = [tool, folder / "net.onnx", "-o", folder / output, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def expect(what, holds, text=""):
    print(("ok: " if holds else "FAILED: ") + what)
    if not holds:
        print(text)
        failed.append(what)


DIMS = ["--dims", "batch=1", "width=10"]
header, weights = folder / "out/net.onnx.hpp", folder / "out/net.safetensors"

code, text = run(net(), *DIMS)
expect("a model converts", code == 0, text)
first = {f.name: f.read_bytes() for f in (folder / "out").iterdir()}
written = ["net.onnx.hpp", "net.onnx.json", "net.onnx.txt", "net.safetensors"]
expect("it writes a header, weights and listings", sorted(first) == written, str(sorted(first)))
first_header = first["net.onnx.hpp"].decode()
run(net(), *DIMS, output="again")
expect("twice the same bytes", first == {f.name: f.read_bytes() for f in (folder / "again").iterdir()})
expect("the header names ONNX's nodes", "Conv layer/conv" in first_header, first_header)
expect("and has the types", "lv::tensor<float, 3, 8, 10>" in first_header, first_header)

(folder / "committed.hpp").write_bytes(first["net.onnx.hpp"])
committed = ["--compare", str(folder / "committed.hpp")]
code, text = run(net(), *DIMS, *committed)
expect("a committed header that is up to date", code == 0, text)
code, text = run(net(), "--dims", "batch=1", "width=12", *committed)
expect("other options make it stale", code != 0 and "convert again" in text, text)
code, text = run(net(scale=2.0), *DIMS, *committed)
expect("another model makes it stale", code != 0 and "convert again" in text, text)
older = first["net.onnx.hpp"].replace(b"onnx_to_levada 0.", b"onnx_to_levada 9.")
(folder / "committed.hpp").write_bytes(older)
code, text = run(net(scale=2.0), *DIMS, *committed)
expect("one of another version only warns", code == 0 and "warning" in text, text)

run(net(), *DIMS)
code, text = run(net(scale=2.0), *DIMS, "--weights-only")
expect("new weights of the same extents", code == 0 and weights.read_bytes() != first["net.safetensors"], text)
expect("leave the header alone", header.read_bytes() == first["net.onnx.hpp"])
code, text = run(net(filters=4), *DIMS, "--weights-only")
expect("weights of another model are refused", code != 0 and "other names, types or extents" in text, text)

SEVERAL = ["--dims", "batch=1", "width=10|12"]
code, text = run(table(), *SEVERAL, output="several")
several, made = folder / "several", (folder / "several/net.onnx.hpp").read_text()
expect("extents to choose from are a graph each", code == 0 and "namespace width10 {" in made
       and "lv::tensor<float, 3, 8, 12>" in made, text)  # fmt: skip
stored = safetensors_names(several / "net.safetensors")
expect("weights are there once, those that differ under names of their own",
       stored == ["conv.weight", "position_width10.value", "position_width12.value"], str(stored))  # fmt: skip
expect("all names are in the header", made.count('nn::conv2d<"conv"') == 2
       and '"position_width12", 12>' in made, made)  # fmt: skip
expect("each has its listing", "net::width12, of net.onnx" in (several / "net.onnx.txt").read_text()
       and len(json.loads((several / "net.onnx.json").read_text())["graphs"]) == 2)  # fmt: skip
code, text = run(table(), *SEVERAL, "--compare", str(several / "net.onnx.hpp"), output="several")
expect("such a header is up to date", code == 0, text)
code, text = run(table(2.0), *SEVERAL, "--weights-only", output="several")
expect("and gets new weights", code == 0 and (several / "net.onnx.hpp").read_text() == made, text)
code, text = run(table(), "--dims", "batch=1", "width=10|14", "--weights-only", output="several")
expect("of the same extents alone", code != 0 and "other names, types or extents" in text, text)
code, text = run(table(), *SEVERAL, "--embed", output="embedded")
expect("they may be a part of the program", code == 0 and
       (folder / "embedded/net.onnx.hpp").read_text().count("embedded_weights();") == 1, text)  # fmt: skip
code, text = run(net(), "--dims", "width=10|12")
expect("an axis that stays free is named, and with what", code != 0 and "with width=10: free axis 0" in text, text)
code, text = run(table(), "--dims", "batch=1", "width=10|32")
expect("extents that do not fit are named", code != 0 and 'with width=32: Add "position"' in text, text)

code, text = run(net())
expect("all free axes in one message", code != 0 and "batch=N" in text and "width=N" in text, text)
unknown = [onnx.node("Nonsense", ["y"], ["n1"], "first"), onnx.node("Nonsense", ["n1"], ["n2"], "second"),
           onnx.node("StringNormalizer", ["n2"], ["n3"], "third")]  # fmt: skip
code, text = run(net(extra=unknown), *DIMS)
counted = 'unsupported op Nonsense, 2 times, first: "first"'
expect("all unsupported ops in one message", code != 0 and counted in text and "StringNormalizer" in text, text)
code, text = run(net(), *DIMS, "height=3")
expect("an axis that no input has", code != 0 and '"height"' in text, text)

scaled = onnx.function("scaled", ["a"], ["b"], [onnx.node("Constant", [], ["k"], value=onnx.tensor("", [], [2.0])),
                                               onnx.node("Mul", ["a", "k"], ["b"], "by_two")])  # fmt: skip
code, text = run(onnx.model([onnx.node("scaled", ["x"], ["y"], "call", domain="local")], [onnx.value("x", [1, 4])],
                            [onnx.value("y", [1, 4])], functions=[scaled]))  # fmt: skip
expect("a function of the model is written out", code == 0 and b"nn::scale(2.0f)" in header.read_bytes(), text)

half = onnx.model([onnx.node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2]), onnx.node("Relu", ["t"], ["r"]),
                   onnx.node("Transpose", ["r"], ["y"], perm=[0, 2, 3, 1])],
                  [onnx.value("x", [1, 4, 5, 3])], [onnx.value("y", [1, 4, 5, 3])])  # fmt: skip
code, text = run(half)
expect("transposes that cancel are gone", code == 0 and b"nn::transpose" not in header.read_bytes(), text)
code, text = run(net(), *DIMS, "--layout", "x=NHWC")
expect("items with their channels last", code == 0 and b"lv::tensor<float, 8, 10, 3>" in header.read_bytes(), text)

loop = onnx.model([onnx.node("Add", ["x", "state"], ["next"], "sum"), onnx.node("Relu", ["next"], ["y"])],
                  [onnx.value("x", [1, 4]), onnx.value("state", [1, 4])],
                  [onnx.value("y", [1, 4]), onnx.value("next", [1, 4])])  # fmt: skip
code, text = run(loop, "--state", "next=state")
expect("an output that is the next item's input", code == 0 and b'lv::feedback<"state">' in header.read_bytes(), text)
twice = onnx.model([onnx.node("Add", ["x", "h"], ["y"], "sum"), onnx.node("Relu", ["y"], ["hn"]),
                    onnx.node("Add", ["c", "y"], ["cn"])],
                   [onnx.value(name, [1, 4]) for name in ("x", "h", "c")],
                   [onnx.value(name, [1, 4]) for name in ("y", "hn", "cn")])  # fmt: skip
code, text = run(twice, "--state", "hn=h", "cn=c")
made = header.read_bytes()
expect("two states are one", code == 0 and b'lv::feedback<"state">' in made and b"<float, 8>" in made, text)
x14, y14 = [onnx.value("x", [1, 4])], [onnx.value("y", [1, 4])]


def chosen(second, flag_dims=()):
    """An If of an input of the model."""
    branches = [onnx.graph([onnx.node(op, ["x"], ["a"])], [], [onnx.value("a", [1, 4])]) for op in ("Relu", second)]
    return onnx.model([onnx.node("If", ["flag"], ["y"], "choice", then_branch=branches[0], else_branch=branches[1])],
                      [*x14, onnx.value("flag", flag_dims, onnx.BOOL)], y14)  # fmt: skip


code, text = run(chosen("Neg"))
made = header.read_bytes()
expect("an If of the item is a route", code == 0 and b'lv::route<"choice">(' in made, text)
expect("of two functions", b"choice_then(w), choice_else(w)" in made, text)
code, text = run(chosen("Neg"), "--constants", "flag=0")
expect("an If of a constant is its branch", code == 0 and b"nn::neg" in header.read_bytes()
       and b"route" not in header.read_bytes(), text)  # fmt: skip
code, text = run(chosen("ReduceSum"))
expect("branches of other extents are refused", code != 0 and "other types or extents" in text, text)
code, text = run(chosen("Nonsense"))
expect("what a branch lacks is named", code != 0 and "unsupported op Nonsense" in text, text)
grown = onnx.model([onnx.node("Concat", ["cache", "x"], ["next"], "join", axis=1), onnx.node("Relu", ["next"], ["y"])],
                   [onnx.value("x", [1, 1, 4]), onnx.value("cache", [1, "past", 4])],
                   [onnx.value(name, [1, 3, 4]) for name in ("y", "next")])  # fmt: skip
code, text = run(grown, "--dims", "past=2|4", "--state", "next=cache")
expect("a cache that grows is refused", code != 0 and "a cache that grows is none" in text, text)
code, text = run(loop, "--state", "y=nothing")
expect("a state that is no input", code != 0 and "nothing" in text, text)

sys.exit(1 if failed else 0)
