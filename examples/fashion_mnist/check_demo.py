#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the demo as a newcomer does and checks what is promised of it: accuracy, no allocations, its JSON, its messages.

Usage: check_demo.py DEMO     (exit status 77: the data set is not installed)
"""
import json
import pathlib
import subprocess
import sys
import tempfile

demo = sys.argv[1]
tools = pathlib.Path(__file__).resolve().parents[2] / "tools"
failures = []


def check(holds: bool, sentence: str) -> None:
    print("ok  " if holds else "FAIL", sentence)
    if not holds:
        failures.append(sentence)


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([demo, *arguments], capture_output=True, text=True, timeout=600)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)

    missing = run("--data", name)
    check(missing.returncode == 77, "a missing data set ends the demo with 77")
    check("apt-get install dataset-fashion-mnist" in missing.stderr, "and says what to install")
    check(missing.stdout == "", "and prints no figures")

    whole = run("--json", f"{name}/whole.json", "--report", f"{name}/plan.json")
    if whole.returncode == 77:
        print(whole.stderr)
        sys.exit(1 if failures else 77)
    check(whole.returncode == 0, f"the demo runs to its end {whole.stderr}")
    figures = json.loads((folder / "whole.json").read_text())
    print(json.dumps(figures, indent=2))
    check(figures["items"] == 10_000, "all 10,000 test pictures are classified")
    check(figures["accuracy"] >= 0.90, "at least 0.90 of them rightly")
    # Of oneTBB's queue, where a worker is asked for the 64th time: how often is up to what else the machine does. The
    # medians of the rounds keep to that as each round does, where no worker comes for the first time in most of them.
    counted = figures["items"] / 2
    messages = figures["pooled_messages_per_item"] or 0
    check((figures["allocations_per_item"] or 0) * counted <= messages * counted / 64 + 1,
          "nothing is allocated on the steady path")
    check(messages <= 1, "and at most one message of oneTBB's a picture")
    check(figures["items_per_s_stream"] > 0 and figures["items_per_s_inline"] > 0, "rates are measured")
    check(figures["segments"] >= 1, "the plan has segments")
    check(f"{figures['accuracy']:.4f}" in whole.stdout, "the accuracy is printed")
    check(figures["instruction_set"] in whole.stdout, "the instruction set is printed")
    check("normalise" in whole.stdout and "label" in whole.stdout, "the plan is printed with the stages' names")
    check("\r" not in whole.stderr, "no progress bar is drawn where there is no terminal")
    check(bool(json.loads((folder / "plan.json").read_text())), "the plan is written as JSON")

    few = run("--limit", "100", "--json", f"{name}/few.json", "--report", f"{name}/plan.html")
    check(few.returncode == 0, "the demo runs on a few pictures")
    check(json.loads((folder / "few.json").read_text())["items"] == 100, "as many as asked for")
    page = (folder / "plan.html").read_text()
    check("conv1" in page and '"trace":' in page, "the page of the plan has the stages and a run")
    drawn = subprocess.run([sys.executable, tools / "report_screenshot.py", folder / "plan.html"],
                           capture_output=True, text=True)
    if drawn.returncode != 77:
        check(drawn.returncode == 0, f"a browser draws it {drawn.stdout}{drawn.stderr}")

    device = run("--vulkan", "--limit", "300", "--json", f"{name}/device.json")
    if device.returncode == 0:
        check(json.loads((folder / "device.json").read_text())["unlike_cpu"] == 0, "a GPU gives the labels of the CPU")
        check("vulkan<0>" in device.stdout, "and the plan says what it does")
    else:
        check("--vulkan: " in device.stderr or "levada: device vulkan<0>: the machine has no " in device.stderr,
              f"without a GPU the demo says so: {device.stderr}")

    (folder / "short.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0{}")
    wrong = run("--weights", f"{name}/short.safetensors")
    check(wrong.returncode == 1 and "short.safetensors: announces a header" in wrong.stderr,
          "a broken weights file is a message and status 1")
    check(run("--weights", "none.safetensors").stderr.startswith("none.safetensors: "), "so is a missing one")
    check(run("--limit", "0").returncode not in (0, 77), "no pictures at all are refused")

sys.exit(1 if failures else 0)
