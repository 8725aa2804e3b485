#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that one wrong program gives one error, with its sentence and its places in the first lines.

The first comment lines of the case say what the compiler has to say:

    // error: stage_cannot_take_what_the_one_before_gives
    // place: "decode"
    // place-clang: {{"decode"}}

-gcc and -clang mark what only one of the compilers spells so.

A case that has `#ifdef LEVADA_CORRECT` has to compile once LEVADA_CORRECT is defined: then the mistake is its only one.

check_must_not_compile.py [--compiler CXX] [--show] [--wrong-only] [--precompiled FOLDER] CASE...
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
    return ["-include-pch", f"{header}.gch"] if family == "clang" else ["-include", str(header)]


def compile_case(compiler, case, *flags):
    done = subprocess.run([compiler, "-fsyntax-only", *flags, *LANGUAGE, str(case)], text=True, capture_output=True, env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stderr


def mistakes(compiler, family, case, show, wrong_only, precompiled):
    text = case.read_text(encoding="utf-8")
    header = flags_for(family, precompiled, text)
    expected = expectations(text, family)
    if "error" not in (kind for kind, _ in expected):
        yield "no `// error:` line says what the compiler has to say"
        return
    code, output = compile_case(compiler, case, *header)
    if show:
        print(output)
    if code == 0:
        yield "compiles, and must not"
        return
    errors = len(ERROR.findall(output))
    if errors != 1:
        yield f"gives {errors} errors instead of one"
    first_lines = "\n".join(line for line in output.splitlines()[:LINES] if SAID.match(line))
    for kind, wanted in expected:
        if wanted not in first_lines:
            yield f"the compiler does not say the {kind} `{wanted}` in the first {LINES} lines"
    if "LEVADA_CORRECT" in text and not wrong_only:
        code, correct_output = compile_case(compiler, case, *header, "-DLEVADA_CORRECT")
        if code:
            yield f"does not compile with LEVADA_CORRECT:\n{correct_output}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--compiler", default="g++")
    arguments.add_argument("--show", action="store_true", help="print what the compiler says")
    arguments.add_argument("--wrong-only", action="store_true", help="leave the correct variant to another compiler")
    arguments.add_argument("--precompile", type=Path, help="make the umbrella header ready in that folder")
    arguments.add_argument("--precompiled", type=Path, help="where it is")
    arguments.add_argument("case", nargs="*", type=Path)
    options = arguments.parse_args()

    version = subprocess.run([options.compiler, "--version"], text=True, capture_output=True, check=True).stdout
    family = "clang" if "clang" in version else "gcc"
    if options.precompile:
        precompile(options.compiler, family, options.precompile)
        return 0
    failed = 0
    for case in options.case:
        found = list(mistakes(options.compiler, family, case, options.show, options.wrong_only, options.precompiled))
        failed += bool(found)
        for mistake in found:
            print(f"{case.name} ({family}): {mistake}")
        if found and not options.show:
            print("\n".join(compile_case(options.compiler, case)[1].splitlines()[: 2 * LINES]))
    print(f"{len(options.case) - failed} of {len(options.case)} give the one error they should")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
