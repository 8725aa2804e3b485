#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ctest ran, for ./run: which programs the chosen tests need, and how many of them passed, failed and were \
skipped.

A test is skipped where it says so by its exit status, and what a passed test prints behind "not tested: " or \
"skipped: ", once for
each reason, is skipped beside it. A test that did not run because another failed has failed.

test_results.py targets FOLDER [CTEST ARGS]  prints the ninja targets of the build in FOLDER that the \
chosen tests run or read
test_results.py count FOLDER                 prints "PASSED FAILED SKIPPED" of FOLDER/ctest.xml, and on stderr \
what was skipped, and why, and what failed
"""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ADDED = re.compile(r"^add_test\(\[=*\[(.*?)\]=*\] (.*)\)$", re.M)
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
CHOSEN = re.compile(r"^ *Test +#\d+: (\S+)", re.M)
REASON = re.compile(r"(?:not tested|skipped): *(.*\S)")
LAST_LINES = 3


def targets(folder, arguments):
    """Of what the commands of the chosen tests name, what is built."""
    root = Path(folder).resolve()
    # ctest shows no command whose program is not there yet.
    commands = {}
    for file in root.rglob("CTestTestfile.cmake"):
        commands.update(ADDED.findall(file.read_text(encoding="utf-8")))
    shown = subprocess.run(["ctest", "--test-dir", folder, "-N", *arguments],
                           text=True, capture_output=True, check=True).stdout
    words = {Path(word) for name in CHOSEN.findall(shown) for word in QUOTED.findall(commands.get(name, ""))}
    inside = {path.relative_to(root).as_posix() for path in words if path.is_absolute() and path.is_relative_to(root)}
    known = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"],
                           text=True, capture_output=True, check=True).stdout
    outputs = {line.rsplit(": ", 1)[0] for line in known.splitlines()}
    return sorted(inside & outputs)


def count(folder):
    passed = 0
    failed = []
    skipped = []
    for test in ElementTree.parse(Path(folder) / "ctest.xml").getroot().iter("testcase"):
        name, output = test.get("name"), test.findtext("system-out") or ""
        said = list(dict.fromkeys(REASON.findall(output)))
        left = test.find("skipped")
        if left is not None and left.get("message", "").startswith("SKIP_"):
            lines = [line.strip() for line in output.splitlines() if line.strip()]
            skipped.append((name, said[0] if said else " ".join(lines[-LAST_LINES:])))
        elif test.get("status") == "run":
            passed += 1
            skipped += [(f"{name}, in part", reason) for reason in said]
        else:
            failed.append(name)
    for name, reason in skipped:
        print(f"skipped: {name}: {reason}", file=sys.stderr)
    for name in failed:
        print(f"failed: {name}", file=sys.stderr)
    print(passed, len(failed), len(skipped))


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("targets", "count"):
        sys.exit(__doc__)
    if sys.argv[1] == "targets":
        print("\n".join(targets(sys.argv[2], sys.argv[3:])))
    else:
        count(sys.argv[2])


if __name__ == "__main__":
    main()
