#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the headers that the consumers of an any_pipeline include.

Each of them, alone, includes no stage, planner, backend, engine, oneTBB or xsimd, and has less than 1.3 times the
preprocessed lines of the standard headers that it and what it includes of levada name.

check_consumers.py [--compiler CXX]
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
HEADERS = ["run/any_pipeline", "run/hot_swap", "interop/pipeline_library"]
LIMIT = 1.3
# What a consumer may see of levada.
SEEN = re.compile(
    r"levada/(core/(detail/)?(clock|error|exchange|fixed_string|item_envelope|large_pages|log|named_items"
    r"|needs_exceptions|result|slot_result|storage|trace_context|type_list|type_words|units|whole_file)"
    r"|graph/detail/(mistake|said_once)|interop/pipeline_library"
    r"|run/(detail/\w+/)?(any_\w+|failure_calls|forwarded_session|hot_swap|input_iterator|item_counts|library_file"
    r"|observed_calls|push_calls|push_result|session_chain|session_handle|session_options|statistics|swap_point"
    r"|threading|trace_log|virtual_clock))\.hpp"
)
FOREIGN = re.compile(r"/(tbb|oneapi|xsimd)/")
MARKER = re.compile(r'^# \d+ "([^<"]+)"', re.M)
NAMED = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.M)


def preprocess(compiler, unit, *flags):
    command = [compiler, "-std=c++20", "-I", str(INCLUDE), "-E", *flags, "-x", "c++", "-"]
    return subprocess.run(command, input=unit, text=True, capture_output=True, check=True).stdout


def included(compiler, unit):
    """The files that `unit` includes, at any depth, by the line markers: g++ -M names what __has_include asked for,
    too."""
    return set(MARKER.findall(preprocess(compiler, unit)))


def mistakes(compiler, header):
    unit = f"#include <{header}>\n"
    ours, named = set(), set()
    for file in included(compiler, unit):
        if FOREIGN.search(file):
            yield f"includes {file}"
        path = Path(file).resolve()
        if not path.is_relative_to(INCLUDE):
            continue
        name = path.relative_to(INCLUDE).as_posix()
        ours.add(name)
        if not SEEN.fullmatch(name):
            yield f"includes <{name}>"
        named |= set(NAMED.findall(path.read_text(encoding="utf-8")))
    named = sorted(n for n in named if not n.startswith(("levada/", "levada_")))
    lines = preprocess(compiler, unit, "-P").count("\n")
    needed = preprocess(compiler, "".join(f"#include <{n}>\n" for n in named), "-P").count("\n")
    ratio = lines / needed
    print(f"{header}: {lines} preprocessed lines, {needed} of its standard headers: {ratio:.3f}")
    if header not in ours or not ratio < LIMIT:
        yield f"has {ratio:.3f} times the lines of its standard headers; the limit is {LIMIT}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--compiler", default="g++")
    compiler = arguments.parse_args().compiler
    found = [f"{name}: {m}" for name in HEADERS for m in mistakes(compiler, f"levada/{name}.hpp")]
    print("\n".join(found) or "consumers of an any_pipeline: within their limits")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
