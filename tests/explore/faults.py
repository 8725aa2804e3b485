#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants faults in a copy of the schedule, one at a time, and says which of them the exploration finds, how soon, by
which seed or schedule.

faults.py [--compiler CXX] [--seconds N] [NAME...]

A fault is a place of a header, its text and the wrong one. Where the text is not there any more, the list is out of
date, and that is an error. A fault is found where explore_sessions ends with its sentence, within so many seconds of
a processor.
"""

import argparse
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from itertools import chain, count
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# name, header (its name is unique), text, wrong text
FAULTS = [
    ("an old deposit is claimed", "segment.hpp",
     "static_cast<std::uint64_t>(deposited_as) + 1",
     "static_cast<std::uint64_t>(deposited_as)"),
    ("a grain is taken up before its ticket", "grain.hpp",
     "->load() == first.load(std::memory_order_relaxed);",
     "->load() <= first.load(std::memory_order_relaxed);"),
    ("a ticket is passed before the stage has run", "run_grains.hpp",
     "    run_next(seg, g, count);\n    if (unit.serial) {",
     "    if (unit.serial) seg.tickets[unit.ticket].next.store(g.end);\n"
     "    run_next(seg, g, count);\n"
     "    if (unit.serial) {"),
    ("nobody is told of a finished grain", "run_grains.hpp",
     "  if (finish(s, begin, end, silent)) wake_next(s);",
     "  static_cast<void>(finish(s, begin, end, silent));"),
    ("a grain of cheap items is claimed by two", "run_grains.hpp",
     "  if (!seg.claimed.compare_exchange_strong(begin, begin + count)) return false;",
     "  seg.claimed.store(begin + count);"),
    ("stamps of others are not followed", "segment.hpp",
     "    return follow_stamps(ring, frontier) || at_end;",
     "    return at_end;"),
    ("the frontier is not read again behind a stamp", "segment.hpp",
     "      done[ring.index(begin)].store(end);\n      frontier = finished.load();",
     "      done[ring.index(begin)].store(end);"),
    ("the frontier moves in a buffered store", "segment.hpp",
     "      finished.store(end);  // nobody",
     "      finished.store(end, std::memory_order_release);  // nobody"),
    ("a stamp stays in the buffer", "segment.hpp",
     "      done[ring.index(begin)].store(end);",
     "      done[ring.index(begin)].store(end, std::memory_order_release);"),
    ("a push in a buffered store", "push_items.hpp",
     "    ring_.pushed.store(ring_.pushed.load(std::memory_order_relaxed) + count);\n",
     "    ring_.pushed.store(ring_.pushed.load(std::memory_order_relaxed) + count, std::memory_order_release);\n"),
    ("a pusher is not told of room", "pop_results.hpp",
     "    if (ring_.head != finished()) pass_over();\n    tell_waiters();",
     "    if (ring_.head != finished()) pass_over();"),
    ("a slot is free before its result was read", "pop_results.hpp",
     "    const bool none = ring_.head >= ring_.known_finished && ring_.head >= finished();\n",
     "    const bool none = ring_.head >= ring_.known_finished && ring_.head >= finished();\n"
     "    if (!none && ring_.kept == 0 && ring_.head == ring_.popped.load()) ring_.popped.store(ring_.head + 1), "
     "tell_waiters();\n"),
    ("close tells nobody", "session_engines.hpp",
     "    engine_.close();\n    event_.notify_all();",
     "    engine_.close();"),
    ("cancel tells nobody", "engine.hpp",
     "    end_of_items_.store(before_all_items);\n    enter();\n    wake();",
     "    end_of_items_.store(before_all_items);\n    enter();"),
    ("a permit is given back twice", "engine.hpp",
     "    concurrency_limit_.release();\n    waker_.tell_parked();  // to others",
     "    concurrency_limit_.release();\n    concurrency_limit_.release();\n    waker_.tell_parked();  // to others"),
    ("a permit is not given back", "helped_session.hpp",
     "    at_work_.fetch_sub(1);\n    engine_.give_back_permit();",
     "    at_work_.fetch_sub(1);\n    if (any) engine_.give_back_permit();"),
    ("who gives back a permit tells nobody", "engine.hpp",
     "    concurrency_limit_.release();\n    waker_.tell_parked();  // to others",
     "    concurrency_limit_.release();  // to others"),
    ("a thread parks without a second look", "helped_session.hpp",
     "    if (reason() || can_help()) {\n      event_.cancel();",
     "    if (false) {\n      event_.cancel();"),
    ("a worker goes without a second look", "session_core.hpp",
     "      if (!pays_for_a_worker() || !(waits ? has_work() : can_help())) return;",
     "      static_cast<void>(waits);\n      return;"),
    ("an event wakes nobody who has just come", "event_count.hpp",
     "    waiters_.fetch_add(1);\n    return epoch_.load();",
     "    const std::uint32_t epoch = epoch_.load();\n"
     "    waiters_.store(waiters_.load() + 1, std::memory_order_release);\n"
     "    return epoch;"),
    ("who is left out parks where one session is left", "helped_session.hpp",
     "           (at_work_.load() == 0 || !deployment_->concurrency_limit.has_one_session());",
     "           !deployment_->concurrency_limit.has_one_session();"),
    ("items on the way to the next rate are not seen", "rate_converter.hpp",
     "    return to_.all_settled() && !has_something(no_more) && !busy_.load() && to_.pushed() == pushed;",
     "    return static_cast<void>(pushed), to_.all_settled() && !has_something(no_more);"),
    ("a session that is over may not be", "session_engines.hpp",
     "    if (is_over) is_over_.store(true, std::memory_order_relaxed);\n",
     ""),
    ("who hands items to a device does not look again", "device_lanes.hpp",
     "      seg.submitting.store(false);\n    }\n",
     "      seg.submitting.store(false);\n      return any;\n    }\n"),
    ("a branch is offered and nobody is told", "run_branches.hpp",
     "  waker_.offer(fork.branches - 1, concurrency_limit_);\n",
     ""),
    ("the last branch is not the last", "program/branches.hpp",
     "fetch_sub(1, std::memory_order_acq_rel) == 1;",
     "fetch_sub(1, std::memory_order_acq_rel) <= 2;"),
    ("two take one free grain", "segment.hpp",
     "          g.state.compare_exchange_strong(expected, grain_state::running))\n        return &g;",
     "          (g.state.store(grain_state::running), true))\n        return static_cast<void>(expected), &g;"),
]


def planted(fault, folder):
    """A copy of the headers with the fault, or a sentence why not."""
    _, header, text, wrong = fault
    include = folder / "include"
    shutil.copytree(ROOT / "include", include)
    places = [p for p in include.rglob(header)]
    if len(places) != 1:
        return None, f"{header} stands in {len(places)} places"
    old = places[0].read_text(encoding="utf-8")
    if old.count(text) != 1:
        return None, f"{header} has the text {old.count(text)} times: {text.strip().splitlines()[0]}"
    places[0].write_text(old.replace(text, wrong), encoding="utf-8")
    return include, None


def seconds_of_children():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def explored(compiler, fault, seconds):
    """What was found, or None; and after how many seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        include, out_of_date = planted(fault, folder)
        if include is None:
            return None, 0.0, out_of_date
        program = folder / "explore"
        command = [compiler, "-std=c++20", "-O1", "-g0", "-w", f"-I{include}", f"-I{ROOT / 'tests'}",
                   str(ROOT / "tests/explore/sessions.cpp"), "-o", str(program), "-lpthread"]
        done = subprocess.run(command, text=True, capture_output=True)
        if done.returncode != 0:
            return None, 0.0, "does not compile: " + done.stderr.strip().splitlines()[0]
        start = seconds_of_children()
        # All with no and with one preemption in small cases, and in between a few at random of each large case. Then
        # more of both: what is seldom in one may be frequent in another.
        ways = chain([["--preemptions", "0"], ["500"], ["--preemptions", "1"]],
                     ([str(1000 * 3**n)] for n in count()))
        while (left := seconds - (seconds_of_children() - start)) > 1:
            way = next(ways)
            limit = int(min(left, seconds / 3) if way[0] == "--preemptions" else left)
            ran = subprocess.run([str(program), *way], text=True, capture_output=True,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
            if ran.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
                continue
            if ran.returncode != 0:
                lines = [line for line in ran.stderr.splitlines() if line.strip()]
                case = re.sub(r"\s+$", "", lines[-2][:40]) if len(lines) > 1 else ""
                what = lines[-1].removeprefix("explore: ") if lines else f"ends by signal {-ran.returncode}"
                return f"{case}: {what}", seconds_of_children() - start, None
        return None, seconds_of_children() - start, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    missed = 0
    for fault in FAULTS:
        if options.names and fault[0] not in options.names:
            continue
        found, took, wrong = explored(options.compiler, fault, options.seconds)
        if wrong:
            missed += 1
            print(f"OUT OF DATE  {fault[0]}: {wrong}", flush=True)
        elif found is None:
            missed += 1
            print(f"NOT FOUND    {fault[0]} ({took:.0f} s)", flush=True)
        else:
            print(f"found        {fault[0]} ({took:.1f} s): {found}", flush=True)
    print(f"{missed} of {len(FAULTS)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
