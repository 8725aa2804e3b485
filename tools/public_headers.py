#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints, as an option of Doxygen, the internal headers that declare what documents and examples use.

public_headers.py            prints it
public_headers.py --names    prints these headers, each with its names

Users include levada/levada.hpp and the headers of docs/headers.md. Many of the names that these bring are declared
under a detail/ folder: `session`, `target`, `deadline`. The reference has them too.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include" / "levada"
# What a line that begins a declaration of namespace levada declares: the name before its body, value or parameters.
DECLARED = re.compile(r"^(?!namespace |template|return|using namespace|[ /#}])[^({;=\n]*?\b(\w+)(?: final)?"
                      r"(?= *(?:[({;=]|:[^:]|$))", re.M)
# Types that users have by `auto`.
WITHOUT_A_NAME = {"session", "executable", "item_stream", "any_session", "slot_result", "parameter_group"}


def used_names():
    """Those of namespace levada, which all call `lv`."""
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.[ch]pp")]
    found = {name for file in files for name in re.findall(r"\blv::(\w+)", file.read_text(encoding="utf-8"))}
    return found | WITHOUT_A_NAME


def declared_names(path):
    """In namespace levada itself: there a declaration begins its line."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^namespace detail \{.*?^\}  // namespace detail$", "", text, flags=re.M | re.S)
    return set(DECLARED.findall(text))


def main():
    used = used_names()
    headers = [path for path in sorted(INCLUDE.rglob("*.hpp")) if "detail" in path.relative_to(INCLUDE).parts]
    shown = {path: declared_names(path) & used for path in headers}
    if sys.argv[1:] == ["--names"]:
        for path, names in shown.items():
            if names:
                print(path.relative_to(INCLUDE), *sorted(names))
        return 0
    print("INPUT +=", *(path.relative_to(ROOT) for path, names in shown.items() if names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
