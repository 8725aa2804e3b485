#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every header of include/levada alone, with warnings as errors.

One that needs a library which is not here is named and skipped. With --outer only those that no other includes, which is
enough for a second compiler's warnings.

check_headers.py [--compiler CXX] [--outer]
"""

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
OPTIONAL = re.compile(r"fatal error: '?((?:Eigen|oneapi/dnnl|dnnl|opencv2|vulkan|nlohmann|png|zlib|onnxruntime)\S*?)'?(?::| file)")
INCLUDED = re.compile(r"^#include <(levada/\S+)>", re.M)
INCLUDES = ["-I", str(ROOT / "include"), "-isystem", "/usr/include/eigen3", "-isystem", "/usr/include/opencv4"]


def compile_alone(compiler, name):
    command = [compiler, "-std=c++20", "-fsyntax-only", *WARNINGS, "-march=native", *INCLUDES, "-x", "c++", "-"]
    # Included twice: the second time has to be silent.
    unit = f"#include <{name}>\n#include <{name}>\n"
    done = subprocess.run(command, input=unit, text=True, capture_output=True)
    return name, done.returncode, done.stderr


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--compiler", default="g++")
    arguments.add_argument("--outer", action="store_true")
    options = arguments.parse_args()
    compiler = options.compiler

    headers = {p.relative_to(ROOT / "include").as_posix(): p for p in (ROOT / "include").rglob("*.hpp")}
    names = sorted(headers)
    if options.outer:
        inner = {name for p in headers.values() for name in INCLUDED.findall(p.read_text(encoding="utf-8"))}
        names = [name for name in names if name not in inner]
    failed = skipped = 0
    with ThreadPoolExecutor(2) as pool:
        for name, code, output in pool.map(lambda name: compile_alone(compiler, name), names):
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
