#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks tools/check_must_not_compile.py itself: what it must find is found among right cases, in one unit and
alone."""

import subprocess
import sys
import tempfile
from pathlib import Path

CHECKER = Path(__file__).resolve().parents[2] / "tools" / "check_must_not_compile.py"
WRONG = """// error: {sentence}
// place: numbers_of<false>
template <bool Right> struct numbers_of {{ static_assert(Right, "{says}"); }};
#ifdef LEVADA_CORRECT
numbers_of<true> all;
{correct}
#else
{wrong}
#endif
int main() {{}}
"""
CASES = {
    # name: what its file has, and what the checker has to say of it, nothing for a case that is right
    "right": ({}, ""),
    "right_again": ({}, ""),
    "of_the_same_name_elsewhere": ({}, ""),
    "another_sentence": ({"sentence": "another sentence"}, "does not say the error `another sentence`"),
    "compiles": ({"wrong": ""}, "compiles, and must not"),
    "two_errors": ({"wrong": "numbers_of<false> one; int two = nothing;"}, "gives 2 errors instead of one"),
    "wrong_when_correct": ({"correct": "int more = nothing;"}, "does not compile with LEVADA_CORRECT"),
}


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        files = []
        for case, (parts, _) in CASES.items():
            text = {"sentence": "a sentence", "says": "a sentence", "correct": "",
                    "wrong": "numbers_of<false> some;"} | parts
            files.append(Path(name) / f"{case}.cpp")
            files[-1].write_text(WRONG.format(**text), encoding="utf-8")
        for way in "--together", "--alone":
            done = subprocess.run([sys.executable, CHECKER, way, *files], text=True, capture_output=True)
            said = [line for line in done.stdout.splitlines() if ".cpp (gcc): " in line]
            for case, (_, finding) in CASES.items():
                of_case = [line for line in said if line.startswith(f"{case}.cpp ")]
                if (finding not in "".join(of_case)) or bool(finding) != bool(of_case):
                    print(f"{way}, {case}: expected `{finding}`, said {of_case}")
                    failed += 1
            if done.returncode != 1:
                print(f"{way}: exit status {done.returncode}")
                failed += 1
    print("the checker of wrong programs finds what it must" if not failed else f"{failed} findings are wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
