#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that programs shown in documents are those that are compiled and run as tests, line for line.

The README's smallest program is examples/minimal/main.cpp; the code of other documents stands between the marks
`// docs: TITLE` and `// docs: end` of a source, block by block. Links lead to files, the README has 150 lines at
most, and a paragraph 60 words.
"""

import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = {"docs/backends.md": "tests/backend/own_backend.cpp", "docs/start.md": "examples/tracker/main.cpp"}


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


def documents():
    """Each with its text, but for blocks of code."""
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))):
        yield document, re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.S)


def links_lead_somewhere():
    wrong = False
    for document, text in documents():
        for place in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", re.sub(r"`[^`\n]*`(?!\])", "", text)):
            if "://" not in place and not (document.parent / place).exists():
                print(f"{document.relative_to(ROOT)}: nothing is at {place}")
                wrong = True
    return not wrong


def paragraphs(text):
    """Those of prose: a list item is one, a table's row, a heading and what is indented are none."""
    for paragraph in re.split(r"\n\s*\n|\n(?=- |\d+\. |\|)", text):
        if not paragraph.lstrip("\n").startswith(("|", "#", "    ")):
            yield paragraph


def paragraphs_are_short(most=60):
    long = False
    made = ("onnx_cases.md", "onnx_ops.md", "onnx_models.md")  # by tools
    for document, text in documents():
        for paragraph in paragraphs(text):
            words = len(paragraph.split())
            if words > most and document.name not in made:
                print(f"{document.relative_to(ROOT)}: {words} words in one paragraph: {paragraph.strip()[:60]}...")
                long = True
    return not long


def is_short(name, most=150):
    lines = (ROOT / name).read_text(encoding="utf-8").count("\n")
    if lines > most:
        print(f"{name} has {lines} lines, {most} at most")
    return lines <= most


def main():
    readme = (ROOT / "README.md").read_text(encoding="utf-8").split("## The smallest program", 1)[1]
    example = (ROOT / "examples/minimal/main.cpp").read_text(encoding="utf-8").split("\n\n", 1)[1]
    failed = differs("README.md", code(blocks(readme)[0]), code(example))

    for document, source in DOCUMENTS.items():
        shown = blocks((ROOT / document).read_text(encoding="utf-8"))
        text = (ROOT / source).read_text(encoding="utf-8")
        compiled = re.findall(r"// docs: (?!end)[^\n]*\n(.*?)\n *// docs: end", text, re.S)
        if len(shown) != len(compiled):
            print(f"{document} shows {len(shown)} blocks of {len(compiled)}")
            failed = True
        for a, b in zip(shown, compiled):
            failed |= differs(document, code(a), code(b))
    failed |= not links_lead_somewhere()
    failed |= not is_short("README.md")
    failed |= not paragraphs_are_short()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
