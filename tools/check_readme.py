#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that links of documents lead to files, that the README has 150 lines at most and a paragraph 60 words, that
the section of a figure names the command that prints it, and that the glossary's words are used.

tools/check_snippets.py checks the code of documents, and that commands and files that they name are there.
"""

import re
import sys
from pathlib import Path

import check_snippets

ROOT = Path(__file__).resolve().parent.parent


def documents():
    """Each with its text, but for blocks of code."""
    for document in [*check_snippets.documents(), ROOT / "CHANGELOG.md", *sorted(ROOT.glob("tests/*/*.md"))]:
        yield document, re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.S)


def anchors(document):
    """Of its headings, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links_lead_somewhere():
    wrong = False
    for document, text in documents():
        for place, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", re.sub(r"`[^`\n]*`(?!\])", "", text)):
            to = (document.parent / place) if place else document
            if "://" in place:
                continue
            if not to.exists():
                print(f"{document.relative_to(ROOT)}: nothing is at {place}")
                wrong = True
            elif anchor and anchor not in anchors(to):
                print(f"{document.relative_to(ROOT)}: {place or 'it'} has no heading #{anchor}")
                wrong = True
    return not wrong


def paragraphs(text):
    """Those of prose: a list item is one, and a table's cell; a heading and what is indented are none."""
    for paragraph in re.split(r"\n\s*\n|\n(?= *- |\d+\. |\|)", text):
        if paragraph.lstrip("\n").startswith("|"):
            yield from re.split(r"(?<!\\)\|", paragraph)
        elif not paragraph.lstrip("\n").startswith(("#", "    ")):
            yield paragraph


def paragraphs_are_short(most=60):
    long = False
    for document, text in documents():
        for paragraph in paragraphs(text):
            words = len(paragraph.split())
            if words > most:
                print(f"{document.relative_to(ROOT)}: {words} words in one paragraph: {paragraph.strip()[:60]}...")
                long = True
    return not long


# What was measured, or a constant of the library: a number with a unit of time or rate, a ratio, a share. Numbers in
# code are settings and no figures; what a command printed stands indented.
UNITS = "|".join(["ns", "us", "ms", "s", "h", "seconds?", "minutes?", "hours?", "%", "points", "times", "[kMGT]B",
                  "[kKMGT]i?B/s", "[MGT]FLOP/s", "(?:pictures|items)/s"])
FIGURE = re.compile(rf"(?<![\w.<-])\d[\d.,]* ?(?:{UNITS})(?![\w/])|\b\d[\d.]*x(?!\w)|\b\d[\d.]*e-\d+")
COMMAND = r"\./\w+|\btools/\w+\.py|\\time|\bbin/\w+"
SOURCE = re.compile(rf"`[^`]*(?:{COMMAND})[^`]*`|^    \./run ", re.M)
CONSTANT = re.compile(r"^ *(?:(?:inline|static) constexpr [\w:]+|double|int) (\w+_\w+)(?:\{| = \d)", re.M)


def figures_have_commands():
    """In the section from one heading to the next; or the name of the constant that the library has for it."""
    right = True
    headers = (ROOT / "include").rglob("*.hpp")
    constants = {name for path in headers for name in CONSTANT.findall(path.read_text(encoding="utf-8"))}
    for document in check_snippets.documents():
        line = 1
        for section in re.split(r"^(?=#+ )", document.read_text(encoding="utf-8"), flags=re.M):
            found = FIGURE.search(re.sub(r"```.*?```|`[^`]*`", "", section, flags=re.S))
            names = re.findall(r"`(?:\w+::)*(\w+)`", section)
            if found and not SOURCE.search(section) and constants.isdisjoint(names):
                print(f"{document.relative_to(ROOT)}:{line}: no command in the section of the figure {found[0]!r}")
                right = False
            line += section.count("\n")
    return right


# docs/concepts.md has one word for each thing. Pages about other libraries and lists of ONNX's cases have theirs.
OTHER_WORDS = {r"sub-?graphs?": "region", r"operators?": "op", r"workspaces?": "scratchpad", r"tokens?": "slot or item",
               r"chunks? of items": "grain", r"device (?:moves?|copy|copies)": "transfer"}


def words_are_those_of_the_glossary():
    right = True
    for document, text in documents():
        if document.parent.name == "beside" or document.name.startswith("onnx_"):
            continue
        for other, word in OTHER_WORDS.items():
            for found in re.findall(rf"\b{other}\b", re.sub(r"`[^`]*`", "", text), re.I):
                print(f"{document.relative_to(ROOT)}: {found!r} is called {word} here")
                right = False
    return right


def is_short(name, most=150):
    lines = (ROOT / name).read_text(encoding="utf-8").count("\n")
    if lines > most:
        print(f"{name} has {lines} lines, {most} at most")
    return lines <= most


def main():
    right = [links_lead_somewhere(), is_short("README.md"), paragraphs_are_short(), figures_have_commands(),
             words_are_those_of_the_glossary()]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
