#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks tools/test_results.py: tests that passed, failed, were skipped, skipped a part or could not run are
counted as such, and named.

check.py CMAKE CTEST
"""

import subprocess
import sys
import tempfile
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "tools" / "test_results.py"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(results NONE)
enable_testing()
add_test(NAME passes COMMAND sh -c "echo fine")
add_test(NAME fails COMMAND sh -c "exit 1")
add_test(NAME lacks_data COMMAND sh -c "echo the photograph is not there; exit 77")
set_tests_properties(lacks_data PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME lacks_device
         COMMAND sh -c "echo x.cpp:3: MESSAGE: not tested: no device; echo x.cpp:9: MESSAGE: not tested: no device")
add_test(NAME prepares COMMAND sh -c "exit 1")
set_tests_properties(prepares PROPERTIES FIXTURES_SETUP prepared)
add_test(NAME waits_for_it COMMAND sh -c "exit 0")
set_tests_properties(waits_for_it PROPERTIES FIXTURES_REQUIRED prepared)
add_test(NAME has_no_program COMMAND ${CMAKE_BINARY_DIR}/none)
"""
EXPECTED = "2 4 2"
SAID = """skipped: lacks_data: the photograph is not there
skipped: lacks_device, in part: no device
failed: fails
failed: prepares
failed: waits_for_it
failed: has_no_program
"""


def main():
    cmake, ctest = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        Path(name, "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        subprocess.run([cmake, "-S", name, "-B", f"{name}/build"], check=True, capture_output=True)
        subprocess.run([ctest, "--test-dir", f"{name}/build", "--output-junit", "ctest.xml"], capture_output=True)
        done = subprocess.run([sys.executable, RESULTS, "count", f"{name}/build"], text=True, capture_output=True)
    if done.stdout.strip() == EXPECTED and done.stderr == SAID:
        print("passed, failed and skipped are counted as they are")
        return 0
    print(f"counted `{done.stdout.strip()}` instead of `{EXPECTED}`, and said:\n{done.stderr}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
