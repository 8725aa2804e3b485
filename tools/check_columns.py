#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds lines above 120 columns in sources and documents.

Not looked at: tables and code in documents, files that programs of ours wrote, and the expected texts of wrong
programs.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST = 120
FOLDERS = ("include", "tests", "examples", "benchmarks", "tools", "cmake", "docs", ".github")
FILES = ("CMakeLists.txt", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "run", ".ci/run", ".clang-tidy",
         ".clang-format", ".editorconfig")
KINDS = (".hpp", ".cpp", ".py", ".cmake", ".txt", ".md", ".yml", ".js", ".glsl", ".comp", ".proto", ".in")
WRITTEN = (".plan.hpp", ".scales.hpp", ".costs.hpp")


def lines_of(path):
    """The lines that are looked at, numbered."""
    in_code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if path.suffix == ".md":
            if line.lstrip().startswith("```"):
                in_code = not in_code
            if in_code or line.startswith(("    ", "|")):
                continue
        if path.parent.name == "must_not_compile" and line.startswith("//"):
            continue
        yield number, line


def main():
    files = [ROOT / name for name in FILES]
    for folder in FOLDERS:
        files += [p for p in sorted((ROOT / folder).rglob("*")) if p.is_file() and p.suffix in KINDS]
    found = 0
    for path in files:
        if path.name.endswith(WRITTEN):
            continue
        for number, line in lines_of(path):
            if len(line) > MOST:
                found += 1
                print(f"{path.relative_to(ROOT)}:{number}: {len(line)} columns")
    print(f"{found} lines above {MOST} columns in {len(files)} files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
