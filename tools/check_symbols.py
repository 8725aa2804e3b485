#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No symbol of an object is longer than so many characters: a type that spells out a whole network would be.

check_symbols.py --longest CHARACTERS [--nm NM] OBJECT...
"""

import argparse
import subprocess
import sys

SHOWN = 160


def names_in(nm, object_file):
    return subprocess.run([nm, "-j", object_file], text=True, capture_output=True, check=True).stdout.split()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--longest", type=int, required=True, metavar="CHARACTERS")
    arguments.add_argument("--nm", default="nm")
    arguments.add_argument("object", nargs="+")
    options = arguments.parse_args()
    names = [name for object_file in options.object for name in names_in(options.nm, object_file)]
    if not names:
        print("no symbols at all")
        return 1
    for name in sorted((n for n in names if len(n) > options.longest), key=len):
        print(f"{len(name)} characters: {name[:SHOWN]}...")
    longest = max(map(len, names))
    print(f"the longest of {len(names)} symbols has {longest} characters, of {options.longest} allowed")
    return 1 if longest > options.longest else 0


if __name__ == "__main__":
    sys.exit(main())
