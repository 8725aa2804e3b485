#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every header of include/levada alone, with warnings as errors.

Headers that include each other in a line are compiled in one unit, the inner before the outer: what stands before a
header then is only what it includes itself, so that it compiles there where it does alone. Where a unit does not
compile, each of its headers is compiled alone and says so.

One that needs a library which is not here is named and skipped. With --public only those that users include, and those
that no other includes.

With --together all headers are compiled in one unit instead, forwards, and backwards without run-time type information:
no header may depend on what stands before it, or have a name that another hides. Without exceptions the umbrella says
one sentence.

check_headers.py [--compiler CXX] [--public | --together]
"""

import argparse
import re
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
OPTIONAL = re.compile(
    r"fatal error: '?((?:Eigen|oneapi/dnnl|dnnl|opencv2|vulkan|nlohmann|png|zlib|onnxruntime|grpc|httplib|nats|openssl"
    r"|mpi)\S*?)'?(?::| file)"
)
INCLUDED = re.compile(r"^#include <(levada/\S+)>", re.M)
OF_MPI = f"{sysconfig.get_config_var('MULTIARCH')}/mpi"
FOLDERS = [f"/usr/include/{folder}" for folder in ("eigen3", "opencv4", OF_MPI)]
INCLUDES = ["-I", str(ROOT / "include"), *chain.from_iterable(("-isystem", folder) for folder in FOLDERS)]


def compile_unit(compiler, names, *flags):
    command = [compiler, "-std=c++20", "-fsyntax-only", *WARNINGS, *flags, "-march=native", *INCLUDES, "-x", "c++", "-"]
    # Included twice: the second time has to be silent.
    unit = "".join(f"#include <{name}>\n" for name in names) * 2
    done = subprocess.run(command, input=unit, text=True, capture_output=True)
    return done.returncode, done.stderr


def compile_line(compiler, line):
    """Each header of a line with its exit code and what the compiler says."""
    code, output = compile_unit(compiler, line)
    if code == 0 or len(line) == 1:
        return [(name, code, output) for name in line]
    alone = [(name, *compile_unit(compiler, [name])) for name in line]
    return alone if any(code for _, code, _ in alone) else [(" and then ".join(line), code, output)]


def lines_of(names, includes):
    """The names, each once, in lines of which each header includes, by itself or by another, all before it, and none of
    them includes it."""
    def reached_from(name):
        found, todo = set(), [name]
        while todo:
            new = includes[todo.pop()] - found
            found |= new
            todo += new
        return found

    reached = {name: reached_from(name) for name in includes}
    inside = {name: {other for other in reached[name] if name not in reached[other]} for name in names}
    left, lines = set(names), []
    while left:
        line, can_be_next = [], left
        while can_be_next:
            largest = max(can_be_next, key=lambda name: (len(inside[name]), name))
            line.insert(0, largest)
            left.remove(largest)
            can_be_next = inside[largest] & left
        lines.append(line)
    return lines


NEEDS_EXCEPTIONS = "levada needs exceptions: compile without -fno-exceptions"


def compile_together(compiler, names):
    """What the compiler says about each order, by the name of the order; a header that needs what is not here is left
    out."""
    here = set(names)
    for backwards, flags in ((False, ()), (True, ("-fno-rtti",))):
        missing = True
        while missing:
            order = sorted(here, reverse=backwards)
            code, output = compile_unit(compiler, order, *flags)
            missing = OPTIONAL.search(output) if code else None
            if missing:
                lacking = order[int(re.search(r"<stdin>:(\d+)", output)[1]) - 1]
                print(f"{lacking}: left out, {missing[1]} is not here")
                here.remove(lacking)
        yield f"from {order[0]} to {order[-1]} {' '.join(flags)}", code, output


def check_together(compiler, names):
    failed = 0
    for order, code, output in compile_together(compiler, names):
        failed += bool(code)
        print(f"{compiler}: all headers {order}: {'do not compile' if code else 'compile'}\n{output if code else ''}",
              end="")
    _, output = compile_unit(compiler, ["levada/levada.hpp"], "-fno-exceptions")
    errors = re.findall(r"error: .*", output)
    if len(errors) != 2 or NEEDS_EXCEPTIONS not in errors[0] or "levada_needs_exceptions" not in errors[1]:
        failed += 1
        print(f"{compiler}: without exceptions it is not this sentence that ends the compilation: "
              f"{NEEDS_EXCEPTIONS}\n{output}")
    return failed


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--compiler", default="g++")
    which = arguments.add_mutually_exclusive_group()
    which.add_argument("--public", action="store_true")
    which.add_argument("--together", action="store_true")
    options = arguments.parse_args()
    compiler = options.compiler

    headers = {p.relative_to(ROOT / "include").as_posix(): p for p in (ROOT / "include").rglob("*.hpp")}
    includes = {name: set(INCLUDED.findall(p.read_text(encoding="utf-8"))) & headers.keys()
                for name, p in headers.items()}
    if options.together:
        return 1 if check_together(compiler, headers.keys()) else 0
    names = set(headers)
    if options.public:
        names = {name for name in headers if "/detail/" not in name} | names.difference(*includes.values())
    lines = lines_of(names, includes)
    failed = skipped = 0
    with ThreadPoolExecutor(2) as pool:
        for name, code, output in chain.from_iterable(pool.map(lambda line: compile_line(compiler, line), lines)):
            missing = OPTIONAL.search(output)
            if code and missing:
                print(f"{name}: skipped, {missing[1]} is not here")
                skipped += 1
            elif code:
                print(f"{name}: does not compile alone\n{output}")
                failed += 1
    print(f"{compiler}: {len(names) - failed - skipped} headers compile alone, {failed} do not, {skipped} skipped")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
