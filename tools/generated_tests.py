# SPDX-License-Identifier: Apache-2.0
"""What the generators of tests take: FIRST COUNT PLACE, of which the seeds are FIRST to FIRST + COUNT - 1."""

import argparse
from pathlib import Path


def seeds_and_place(doc):
    arguments = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("first", type=int)
    arguments.add_argument("count", type=int)
    arguments.add_argument("place", type=Path)
    options = arguments.parse_args()
    return range(options.first, options.first + options.count), options.place


def first_lines(by, what, header):
    """The first lines of a source of `what`, written by that tool."""
    return f"""// Written by tools/{by}.py: {what}.

#include <run/{header}.hpp>

namespace lv = levada;
using namespace levada::test;
"""


def write(doc, head, case):
    """One source of cases: `case(seed).text()` of each seed behind `head`."""
    seeds, source = seeds_and_place(doc)
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(head + "".join(case(seed).text() for seed in seeds), encoding="utf-8")
