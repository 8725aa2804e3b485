#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens pages of levada::report in a headless browser, light and dark, and checks that they draw themselves: no \
error of the script,
a box for each unit, a row for each kernel. The pictures are for people.

report_screenshot.py [--out FOLDER] [--width N] [--height N] PAGE...     (exit status 77: there is no chromium)
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def run(browser, *arguments):
    with tempfile.TemporaryDirectory() as profile:
        fixed = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking",
                 f"--user-data-dir={profile}", "--enable-logging=stderr", "--virtual-time-budget=3000"]
        return subprocess.run([browser, *fixed, *arguments], capture_output=True, text=True, timeout=120)


def data_of(page):
    text = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))


def faults(browser, page, url):
    """What is wrong with the page as the browser built it."""
    shown = run(browser, "--dump-dom", url)
    for line in shown.stderr.splitlines():
        if "CONSOLE" in line:
            yield line.split("CONSOLE", 1)[1]
    drawn = shown.stdout.split("<script", 1)[0]
    units = sum(len(region["plan"]["units"]) for region in data_of(page)["regions"])
    boxes, rows = len(re.findall(r'<g class="unit', drawn)), drawn.split('id="memory"', 1)[0].count("<tr") - 1
    if boxes != units:
        yield f"{boxes} boxes for {units} units"
    if rows != units:
        yield f"{rows} rows of kernels for {units} units"
    if "NaN" in drawn or "undefined" in drawn:
        yield "a number or a word is missing: " + re.search(r".{60}(NaN|undefined).{40}", drawn, re.S).group(0)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("pages", nargs="+", type=Path)
    arguments.add_argument("--out", type=Path, help="where the pictures go; without it only the checks are made")
    arguments.add_argument("--width", type=int, default=1400)
    arguments.add_argument("--height", type=int, default=2000)
    o = arguments.parse_args()
    browser = next((found for found in map(shutil.which, BROWSERS) if found), None)
    if browser is None:
        print("no chromium here: apt-get install chromium", file=sys.stderr)
        return 77
    wrong = 0
    for page in o.pages:
        if not page.exists():
            arguments.error(f"{page}: there is no such file")
        url = page.resolve().as_uri()
        for fault in faults(browser, page, url):
            wrong += 1
            print(f"{page}: {fault}")
        for theme, flags in (("light", []), ("dark", ["--blink-settings=preferredColorScheme=0"])) if o.out else ():
            o.out.mkdir(parents=True, exist_ok=True)
            picture = o.out / f"{page.stem}_{theme}.png"
            run(browser, *flags, f"--window-size={o.width},{o.height}", f"--screenshot={picture.resolve()}", url)
            if not picture.exists():
                wrong += 1
                print(f"{page}: no picture was taken")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
