#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that links of documents lead to files, that the README has 150 lines at most, and a paragraph 60 words.

tools/check_snippets.py checks the code of documents.
"""

import re
import sys
from pathlib import Path

import check_snippets

ROOT = Path(__file__).resolve().parent.parent


def documents():
    """Each with its text, but for blocks of code."""
    for document in check_snippets.documents():
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
    right = [links_lead_somewhere(), is_short("README.md"), paragraphs_are_short()]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
