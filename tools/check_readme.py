#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the README's program is examples/minimal/main.cpp, which is compiled and run as a test, line for line."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def code(lines):
    return [line.rstrip() for line in lines if line.strip() and "clang-format" not in line]


def main():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = readme.split("## The smallest program", 1)[1].split("```cpp\n", 1)[1].split("```", 1)[0]
    example = (ROOT / "examples/minimal/main.cpp").read_text(encoding="utf-8")
    shown, compiled = code(block.splitlines()), code(example.split("\n\n", 1)[1].splitlines())
    for a, b in zip(shown, compiled):
        if a != b:
            print(f"the README says     {a}\nthe example says    {b}")
            return 1
    if len(shown) != len(compiled):
        print("the README's program and examples/minimal/main.cpp end at different places")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
