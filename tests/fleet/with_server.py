#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program beside a nats-server of its own, whose address is the program's last argument.

Exits as the program does, and with 77 where there is no nats-server.

with_server.py PROGRAM [ARGUMENT...]
"""

import ctypes
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def address_of(server, ports):
    """Where the server listens, once it has written it down."""
    while server.poll() is None:
        for file in ports.iterdir():
            if found := re.search(r"nats://127\.0\.0\.1:\d+", file.read_text(encoding="utf-8")):
                return found[0]
        time.sleep(0.01)
    sys.exit(f"nats-server ended with {server.returncode}")


def die_with_parent():
    """For a child, before its program: it is killed when this one ends, however that ends."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def main():
    program = shutil.which("nats-server", path="/usr/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        print("not tested: nats-server is not here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        ports = Path(folder) / "ports"
        ports.mkdir()
        command = [program, "-js", "-sd", f"{folder}/store", "-a", "127.0.0.1", "-p", "-1",
                   "--ports_file_dir", str(ports), "-l", f"{folder}/log"]
        server = subprocess.Popen(command, preexec_fn=die_with_parent)
        try:
            return subprocess.run([*sys.argv[1:], address_of(server, ports)]).returncode
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
