#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/errors.md: each compile-time error with the program that gives it, each run-time error with its source.

list_errors.py            writes it
list_errors.py --check    says whether it is what the sources give, and which error no program or test makes
list_errors.py --untested lists the run-time errors that no test makes, but those of UNPROVOKED
"""

import re
import sys
from pathlib import Path

from check_must_not_compile import EXPECTED, expectations

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include" / "levada"
PROGRAMS = ROOT / "tests" / "must_not_compile"
DOCUMENT = ROOT / "docs" / "errors.md"

MISTAKE = re.compile(r"^(?:inline )?struct (\w+)\s*(?:final )?:\s*(?:levada::)?(?:detail::)?mistake\b", re.M)
THROWN = re.compile(r"\bthrow\s+(?:levada::)?(?:detail::)?\w*(?:error|cancelled|no_result)\w*\s*[({]|\bfail\s*\(")
RAW = re.compile(r'\bR"(\w*)\(.*?\)\1"', re.S)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')

# Of the run-time errors those that no test can ask for: the header, what the message has, and why.
UNPROVOKED = [
    ("backend/device", "", "a driver of Vulkan that lacks what every one here has"),
    ("backend/loader", "", "a machine without the loader of Vulkan"),
    ("backend/memory", "", "a device whose memory is full"),
    ("backend/library", "oneDNN cannot", "oneDNN itself fails"),
    ("backend/run", "oneDNN", "oneDNN refuses what the backend's predicate took"),
    ("interop/tune", "levada: tune:", "the same deployment does not compile"),
    ("kernel/spirv_grid", "32,768 words", "the same module does not compile"),
    ("run/library_file", "cannot be read", "a disk that fails behind the call that opened the file"),
]

HEAD = """# Errors

Made by `tools/list_errors.py` of the headers and of `tests/must_not_compile`; a test compares.

## While compiling

The message has `mistake_found<NAME<...>>`. Each program shows the mistake, and behind `#ifdef LEVADA_CORRECT` how the
same is written right. [mistakes.md](mistakes.md) is the short list.

| name | program | shows |
|---|---|---|
"""

RUN_TIME = """
## At run time

`levada::error` is a `std::runtime_error`; `device_error` and others derive from it. `...` stands for names and numbers.
An item that fails is delivered as the exception of its stage, and is none of these.

| message | source |
|---|---|
"""


# What stands between strings that are one behind the other.
BESIDE = re.compile(r'"((?:\s|//[^\n]*)*)"')
# `a ? "one" : "the other"`, either with more behind it.
CHOICE = re.compile(r'\?\s*({0})\s*:\s*({0})'.format(r'"(?:[^"\\]|\\.)*"(?:\s*\+\s*[^"()?:;]*(?:"(?:[^"\\]|\\.)*")?)*'))


def headers():
    for path in sorted(INCLUDE.rglob("*.hpp")):
        yield path, path.read_text(encoding="utf-8")


def programs():
    """What each wrong program is to give, and what it is about."""
    for path in sorted(PROGRAMS.glob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        wanted = [said for kind, said in expectations(text, "gcc") if kind == "error"]
        comment = re.match(r"(?:(?://.*)?\n)*", text)[0].splitlines()[1:]
        about = " ".join(line[3:] for line in comment if line[3:] and not EXPECTED.match(line))
        yield path.name, wanted, about


def compile_time():
    found = {}
    for path, text in headers():
        for name in MISTAKE.findall(text):
            found[name] = []
    for file, wanted, about in programs():
        for name in found:
            if any(re.search(rf"\b{name}\b", text) for text in wanted):
                found[name].append((file, about))
    return found


def statement(text, begin):
    """From there to the semicolon that ends it, strings left whole."""
    depth, at = 0, begin
    while at < len(text):
        literal = LITERAL.match(text, at) if text[at] == '"' else None
        if literal:
            at = literal.end()
            continue
        if text[at] == ";" and depth == 0:
            break
        depth += (text[at] in "({") - (text[at] in ")}")
        at += 1
    return text[begin:at]


def choices(said):
    """The statements that a statement is, by what its conditions give."""
    choice = CHOICE.search(said)
    if not choice:
        return [said]
    one, other = said[:choice.start()] + choice[1], said[:choice.start()] + choice[2]
    return [each for part in (one, other) for each in choices(part + said[choice.end():])]


def message_of(said):
    pieces, end = [], 0
    for literal in LITERAL.finditer(said):
        between = said[end:literal.start()].strip()
        if literal.group(1):
            if pieces and between not in ("", "+") or not pieces and "+" in between:
                pieces.append(" ... ")
            pieces.append(literal.group(1))
        end = literal.end()
    if pieces and "+" in said[end:]:
        pieces.append(" ...")
    return re.sub(r"\s+", " ", "".join(pieces).replace('\\"', '"')).strip()


def run_time():
    """Messages that stand where they are thrown, or are given to a `fail` that throws them."""
    found = set()
    for path, text in headers():
        code = re.sub(r"//[^\n]*", "", text)
        for thrown in THROWN.finditer(code):
            if re.match(r"fail\s*\((?:const|Fail) ", thrown[0] + code[thrown.end():thrown.end() + 6]):
                continue  # its definition
            for said in choices(statement(code, thrown.start())):
                message = message_of(said)
                if len(re.findall(r"[A-Za-z]{2,}", message)) > 1:
                    found.add((message, f"{path.relative_to(INCLUDE).parts[0]}/{path.stem}"))
    return sorted(found)


def tested_texts():
    """The strings of all tests, those one behind the other as one."""
    found = []
    for path in sorted((ROOT / "tests").rglob("*.[ch]pp")):
        if path.parent.name not in ("must_not_compile", "snippets"):
            text = BESIDE.sub("", RAW.sub('""', path.read_text(encoding="utf-8")))
            found += [said.replace('\\"', '"') for said in LITERAL.findall(text)]
    return [text for text in found if len(text.split()) > 1]


def untested(messages):
    """Those of which no test has the whole text, or a part that no message of another header has."""
    texts = tested_texts()
    every = "\n".join(texts)
    for message, source in messages:
        others = [other for other, of in messages if of != source]
        parts = [part.strip(' "') for part in message.split("...")]
        whole = re.compile(".*".join(re.escape(part.strip()) for part in message.split("...")))
        parts = [part for part in parts if len(part.split()) > 1 and not any(part in other for other in others)]
        is_part = (text for text in texts if text in message and not any(text in other for other in others))
        if not any(part in every for part in parts) and next(is_part, None) is None \
                and not any(whole.fullmatch(text) for text in texts) \
                and not any(source == of and part in message for of, part, _ in UNPROVOKED):
            yield f"{source}: {message}"


def document(mistakes):
    text = HEAD
    for name, shown in sorted(mistakes.items()):
        file, about = shown[0] if shown else ("", "")
        link = f"[{file.removesuffix('.cpp')}](../tests/must_not_compile/{file})" if file else "-"
        text += f"| `{name}` | {link} | {about} |\n"
    text += RUN_TIME
    for message, header in run_time():
        text += f"| {message.replace('|', chr(92) + '|')} | `{header}` |\n"
    return text


def main():
    if sys.argv[1:] == ["--untested"]:
        print("\n".join(untested(run_time())))
        return 0
    mistakes = compile_time()
    made = document(mistakes)
    if sys.argv[1:] != ["--check"]:
        DOCUMENT.write_text(made, encoding="utf-8")
        return 0
    failed = DOCUMENT.read_text(encoding="utf-8") != made
    if failed:
        print("docs/errors.md is not what the sources give: run tools/list_errors.py")
    for name, shown in mistakes.items():
        if not shown:
            print(f"no program in tests/must_not_compile makes the mistake {name}")
            failed = True
    for message in untested(run_time()):
        print(f"no test makes the run-time error {message}")
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
