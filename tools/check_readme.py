#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that programs shown in documents are those that are compiled and run as tests, line for line.

The README's smallest program is examples/minimal/main.cpp; the code of docs/backends.md stands between the marks
`// docs: TITLE` and `// docs: end` of tests/backend/own_backend.cpp, block by block.
"""

import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def code(text):
    lines = textwrap.dedent(text).splitlines()
    return [line.rstrip() for line in lines if line.strip() and "clang-format" not in line]


def blocks(document):
    return re.findall(r"```cpp\n(.*?)```", document, re.S)


def differs(name, shown, compiled):
    for a, b in zip(shown, compiled):
        if a != b:
            print(f"{name} says          {a}\nwhat is compiled says    {b}")
            return True
    if len(shown) != len(compiled):
        print(f"{name} and what is compiled end at different places")
    return len(shown) != len(compiled)


def main():
    readme = (ROOT / "README.md").read_text(encoding="utf-8").split("## The smallest program", 1)[1]
    example = (ROOT / "examples/minimal/main.cpp").read_text(encoding="utf-8").split("\n\n", 1)[1]
    failed = differs("README.md", code(blocks(readme)[0]), code(example))

    shown = blocks((ROOT / "docs/backends.md").read_text(encoding="utf-8"))
    test = (ROOT / "tests/backend/own_backend.cpp").read_text(encoding="utf-8")
    compiled = re.findall(r"// docs: (?!end)[^\n]*\n(.*?)\n *// docs: end", test, re.S)
    if len(shown) != len(compiled):
        print(f"docs/backends.md shows {len(shown)} blocks of {len(compiled)}")
        failed = True
    for a, b in zip(shown, compiled):
        failed |= differs("docs/backends.md", code(a), code(b))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
