#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that one wrong program gives one error, with its sentence and its places in the first lines.

The first comment lines of the case say what the compiler has to say:

    // error: stage_cannot_take_what_the_one_before_gives
    // place: "decode"
    // place-clang: {{"decode"}}

-gcc and -clang mark what only one of the compilers spells so.

A case that has `#ifdef LEVADA_CORRECT` has to compile once LEVADA_CORRECT is defined: then the mistake is its only one.

With --together the cases are compiled in one unit, each in a namespace of its own, and each error is counted for the \
case whose lines
it names. A case that does not give its one error there is compiled alone, and that decides.

check_must_not_compile.py [--compiler CXX] [--show] [--wrong-only] [--precompiled FOLDER] [--together] \
[--part K/N] CASE...
check_must_not_compile.py [--compiler CXX] --precompile FOLDER
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINES = 15
EXPECTED = re.compile(r"//\s*(error|place)(?:-(gcc|clang))?:\s*(.*?)\s*$")
# What the compiler says, as against the source lines that it shows and the pointers under them.
SAID = re.compile(r"\S.*?:\d+:\d+:|\S+: In |In file included")
ERROR = re.compile(r"^.*?:\d+:\d+: (fatal )?error: ", re.M)
WARNING = re.compile(r"^.*?:\d+:\d+: warning: ")
# What stands before the error or the note that it belongs to.
CONTEXT = re.compile(
    r"\S+: In |In file included|\s+from \S+:\d+|.*:\d+:\d+:\s+(recursively )?(required|in .constexpr. expansion)|"
    r".*\[ skipping "
)
# In a unit of many cases includes stand at its head, and each case in the namespace of its name behind this prefix.
INCLUDE = re.compile(r"^#include .*$", re.M)
SPACE = "alone_in_"
EVERY_ERROR = {"gcc": [], "clang": ["-ferror-limit=0"]}


def expectations(text, family):
    """The strings `family` has to print, and whether a sentence is among them."""
    found = []
    for line in text.splitlines():
        if line and not line.startswith("//"):
            break
        expected = EXPECTED.match(line)
        if expected and expected[2] in (None, family):
            found.append((expected[1], expected[3]))
    return found


LANGUAGE = ["-std=c++20", "-fno-diagnostics-color", "-I", str(ROOT / "include"), "-I", str(ROOT / "tests")]
UMBRELLA = "#include <levada/levada.hpp>"


def precompiled_header(family, folder):
    """What most cases include, ready: that is most of what a case takes."""
    return folder / family / "umbrella.hpp"


def precompile(compiler, family, folder):
    header = precompiled_header(family, folder)
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text(f"{UMBRELLA}\n", encoding="utf-8")
    subprocess.run([compiler, *LANGUAGE, "-x", "c++-header", str(header), "-o", f"{header}.gch"], check=True)


def flags_for(family, folder, text):
    if folder is None or UMBRELLA not in text:
        return []
    header = precompiled_header(family, folder)
    if family == "clang":
        return ["-include-pch", f"{header}.gch"]
    return ["-include", str(header), "--param=ggc-min-heapsize=600000"]  # a fifth of its time is to collect garbage


def compile_unit(compiler, *flags, unit=None):
    command = [compiler, "-fsyntax-only", *flags, *LANGUAGE]
    done = subprocess.run(command, input=unit, text=True, capture_output=True, env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stderr


def compile_case(compiler, case, *flags):
    return compile_unit(compiler, *flags, str(case))


def mistakes_of_output(family, text, output):
    """What is wrong about what the compiler says of the wrong program `text`."""
    expected = expectations(text, family)
    if "error" not in (kind for kind, _ in expected):
        yield "no `// error:` line says what the compiler has to say"
        return
    errors = len(ERROR.findall(output))
    if errors != 1:
        yield f"gives {errors} errors instead of one"
    first_lines = "\n".join(line for line in output.splitlines()[:LINES] if SAID.match(line))
    for kind, wanted in expected:
        if wanted not in first_lines:
            yield f"the compiler does not say the {kind} `{wanted}` in the first {LINES} lines"


def mistakes(compiler, family, case, show, precompiled):
    text = case.read_text(encoding="utf-8")
    code, output = compile_case(compiler, case, *flags_for(family, precompiled, text))
    if show:
        print(output)
    if code == 0:
        yield "compiles, and must not"
        return
    yield from mistakes_of_output(family, text, output)


def mistakes_of_correct(compiler, family, case, precompiled):
    header = flags_for(family, precompiled, case.read_text(encoding="utf-8"))
    code, output = compile_case(compiler, case, *header, "-DLEVADA_CORRECT")
    if code:
        yield f"does not compile with LEVADA_CORRECT:\n{output}"


def unit_of(texts):
    """One unit of many cases: what they include, then each in its namespace, with the lines of its own file."""
    includes = sorted({line for text in texts.values() for line in INCLUDE.findall(text)})
    def space(case, text):
        return f'namespace {SPACE}{case.stem} {{\n#line 1 "{case}"\n{INCLUDE.sub("", text)}\n}}\n'
    return "\n".join([*includes, *(space(case, text) for case, text in texts.items())])


def said_of(cases, output):
    """What the compiler says of each case, as it would of that case alone; None where an error is of no case or of
    several. Warnings are of no case."""
    blocks, before = [], []
    for line in output.splitlines():
        if ERROR.match(line) or WARNING.match(line):
            blocks.append([*before, line])
            before = []
        elif CONTEXT.match(line):
            before.append(line)
        elif blocks:
            blocks[-1] += [*before, line]
            before = []
    said = {case: "" for case in cases}
    for block in blocks:
        if any(WARNING.match(line) for line in block):
            continue
        text = "\n".join(block) + "\n"
        named = [case for case in cases if f"{case}:" in text]
        if len(named) != 1:
            return None
        said[named[0]] += text.replace(f"{SPACE}{named[0].stem}::", "")
    return said


def settled_together(compiler, family, cases, wrong_only, precompiled):
    """The cases that give their one error, and those that compile once they are correct, in one unit of all."""
    texts = {case: case.read_text(encoding="utf-8") for case in cases}
    unit = unit_of(texts)
    flags = [*flags_for(family, precompiled, unit), *EVERY_ERROR[family], "-x", "c++", "-"]
    code, output = compile_unit(compiler, *flags, unit=unit)
    said = said_of(cases, output) if code else None
    wrong = {case for case in cases if said and not list(mistakes_of_output(family, texts[case], said[case]))}
    correct = set()
    if not wrong_only and compile_unit(compiler, *flags, "-DLEVADA_CORRECT", unit=unit)[0] == 0:
        correct = set(cases)
    return wrong, correct


def part_of(cases, part):
    """The cases of part "K/N": those that include the same stand together."""
    def included(case):
        text = case.read_text(encoding="utf-8")
        return UMBRELLA in text, sorted(line for line in INCLUDE.findall(text) if "levada/" in line), case
    number, count = map(int, part.split("/"))
    ordered = sorted(cases, key=included)
    return ordered[len(ordered) * (number - 1) // count : len(ordered) * number // count]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--compiler", default="g++")
    arguments.add_argument("--show", action="store_true", help="print what the compiler says")
    arguments.add_argument("--wrong-only", action="store_true", help="leave the correct variant to another compiler")
    arguments.add_argument("--precompile", type=Path, help="make the umbrella header ready in that folder")
    arguments.add_argument("--precompiled", type=Path, help="where it is")
    arguments.add_argument("--together", action="store_true", help="compile the cases in one unit")
    arguments.add_argument("--alone", dest="together", action="store_false",
                           help="compile each case by itself, as is done unless told")
    arguments.add_argument("--part", help="K/N: only the K-th of N parts of the cases")
    arguments.add_argument("case", nargs="*", type=Path)
    options = arguments.parse_args()

    version = subprocess.run([options.compiler, "--version"], text=True, capture_output=True, check=True).stdout
    family = "clang" if "clang" in version else "gcc"
    if options.precompile:
        precompile(options.compiler, family, options.precompile)
        return 0
    cases = part_of(options.case, options.part) if options.part else options.case
    wrong, correct = set(), set()
    if options.together:
        wrong, correct = settled_together(options.compiler, family, cases, options.wrong_only, options.precompiled)
    failed = alone = 0
    for case in cases:
        found = []
        if case not in wrong:
            alone += 1
            found += mistakes(options.compiler, family, case, options.show, options.precompiled)
        if not options.wrong_only and case not in correct and "LEVADA_CORRECT" in case.read_text(encoding="utf-8"):
            alone += 1
            found += mistakes_of_correct(options.compiler, family, case, options.precompiled)
        failed += bool(found)
        for mistake in found:
            print(f"{case.name} ({family}): {mistake}")
        if found and not options.show:
            print("\n".join(compile_case(options.compiler, case)[1].splitlines()[: 2 * LINES]))
    note = f"; {alone} compilers were started for one case alone" if options.together else ""
    print(f"{len(cases) - failed} of {len(cases)} give the one error they should{note}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
