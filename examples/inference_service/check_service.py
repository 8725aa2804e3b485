#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the service with clients of another language, as one user starts it and another asks it, and ends it by SIGTERM.

Usage: check_service.py SERVICE NODE_MODULES     (exit status 77: node, its packages or the data set are not there)
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import urllib.request

service, modules = sys.argv[1], pathlib.Path(sys.argv[2] or "none")
here = pathlib.Path(__file__).resolve().parent
data = pathlib.Path("/usr/share/datasets/fashion-mnist")
definition = here / "open_inference_grpc.proto"


def skip_without(is_there: bool, what: str) -> None:
    if not is_there:
        print(f"not tested: {what}")
        sys.exit(77)


skip_without(shutil.which("node") is not None, "there is no node")
skip_without((modules / "@grpc" / "grpc-js").exists(), "there is no @grpc/grpc-js, which ./run fetches by npm")
skip_without((data / "t10k-images-idx3-ubyte.gz").exists(), "there is no data: apt-get install dataset-fashion-mnist")

failures = []


def check(holds: bool, sentence: str) -> None:
    print("ok  " if holds else "FAIL", sentence)
    if not holds:
        failures.append(sentence)


def node(script: pathlib.Path, *arguments: object) -> subprocess.CompletedProcess:
    done = subprocess.run(["node", script, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "NODE_PATH": str(modules)})
    print(done.stdout, done.stderr, sep="")
    return done


running = subprocess.Popen([service, "--plain-text", "--address", "127.0.0.1:0", "--pages", "0"],
                           stdout=subprocess.PIPE, text=True)
try:
    line = running.stdout.readline()
    pages = re.match(r"pages at (\S+)", line)  # none where cpp-httplib is missing
    found = re.match(r"serving at (\S+) until SIGTERM", running.stdout.readline() if pages else line)
    check(found is not None, "the service says where it is")
    address = found[1]

    asked = node(here / "client.js", address, definition, data, 1000)
    right = re.search(r"(\d+) of 1000 labels are right", asked.stdout)
    check(asked.returncode == 0 and right is not None and 870 <= int(right[1]) <= 930,
          "a client in JavaScript gets as many right labels as the demo finds")
    check(node(here.parents[1] / "tests" / "service" / "grpc_js.js", address, definition).returncode == 0,
          "it sees the protocol as it is published")

    if pages:
        with urllib.request.urlopen(pages[1] + "/metrics", timeout=60) as metrics:
            check(b"levada_requests_total" in metrics.read(), "its metrics are a page")
        with urllib.request.urlopen(pages[1] + "/plan", timeout=60) as plan:
            check(plan.headers["Content-Type"] == "text/html" and b"conv1" in plan.read(), "and so is its plan")

    running.send_signal(signal.SIGTERM)
    said, _ = running.communicate(timeout=60)
    check(running.returncode == 0, "SIGTERM ends the service, and all were answered")
    check(re.search(r'levada_requests_total\{.*code="OK"\} \d', said) is not None, "it counts what it answered")
    # Of short items some are timed.
    check(re.search(r'levada_stage_items_total\{.*stage="label".*\} 10\d\d', said) is not None, "and items of stages")
    check(re.search(r'levada_stage_seconds_count\{.*stage="label".*\} [1-9]', said) is not None, "and measures stages")
finally:
    running.kill()
    running.wait()

wrong = subprocess.run([service, "--plain-text", "--address", "0.0.0.0:0"], capture_output=True, text=True, timeout=60)
check(wrong.returncode == 1 and "plain text goes to no other" in wrong.stderr,
      "it listens for other machines with certificates only")
sys.exit(1 if failures else 0)
