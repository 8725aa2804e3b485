#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants faults in a copy of the schedule, one at a time, and prints a table of how the exploration finds them.

faults.py [--compiler CXX] [--seconds N] [NAME...]
faults.py --check    only looks whether the text of each fault is there

A fault is a place of a header, its text and the wrong one. Where the text is not there any more, the list is out of
date, and that is an error. A fault is found where explore_sessions ends with its sentence. It runs twice at once, so
many seconds of a processor each: through all schedules with no preemption, with one, with two, and so on, and through
random ones. What it was called with to find the fault runs that schedule again.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
from itertools import count
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# name, header (its name is unique), text, wrong text
FAULTS = [
    ("a slot freed beside the last look lets nothing in", "time_feed.hpp",
     "note(due_of_next(), is_full && !is_empty())",
     "note(due_of_next(), !is_empty() && of.free_slots() == 0)"),
    ("items meet where there is no slot", "time_feed.hpp",
     "while (!(is_full = of.free_slots() == 0) &&",
     "while (!(is_full = !is_empty() && of.free_slots() == 0) &&"),
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
    ("two free the slot of an item without a result", "finish_items.hpp",
     "if (ring_.popped.compare_exchange_strong(p, p + 1)) tally_",
     "static_cast<void>(ring_.popped.compare_exchange_strong(p, p + 1)), tally_"),
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
     "    if (has_devices()) devices_->cancel();\n    enter();\n    wake();",
     "    if (has_devices()) devices_->cancel();\n    enter();"),
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
    ("a stream ends before its last items", "stream.hpp",
     "    if (count != 0) {\n      if (takes_row_)",
     "    if (!more) core_->close();\n    if (count != 0) {\n      if (takes_row_)"),
    ("a stream ends as the one before it did", "engine/engine.hpp",
     "    closed_.store(false);\n",
     ""),
    ("a stream reads the items of the one before it", "engine/engine.hpp",
     "    first_ = pushed();\n",
     ""),
    ("no permit is asked back for a session that is away", "permits.hpp",
     "called = std::min(called, away->since_);",
     "static_cast<void>(away);"),
    ("who brings a worker counts as one", "session_core.hpp",
     "  static void call_worker(void* session) noexcept { "
     "static_cast<session_core*>(session)->invite_from_elsewhere(); }",
     "  static void call_worker(void* session) noexcept {\n"
     "    auto& self = *static_cast<session_core*>(session);\n"
     "    self.for_each_engine([](engine& e) { e.worker_awake_again(); });\n"
     "    self.invite();\n    self.worker_asleep();\n  }"),
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
    ("a part is begun that another thread has begun", "item_team.hpp",
     "if (!places_[part].claimed.compare_exchange_strong(before, number)) continue;",
     "if (places_[part].claimed.exchange(number) == before + 1) continue;"),
    ("an item goes on before its parts are done", "item_team.hpp",
     "      if (left == 0) return;\n",
     "      if (left <= 1) return;\n"),
    ("a helper of an item has no permit", "item_team.hpp",
     "        if (concurrency_limit_.try_acquire()) {\n          compute_parts(number, own);\n"
     "          concurrency_limit_.release();\n        }\n",
     "        compute_parts(number, own);\n"),
    ("two take one free grain", "segment.hpp",
     "          g.state.compare_exchange_strong(expected, grain_state::running))\n        return &g;",
     "          (g.state.store(grain_state::running), true))\n        return static_cast<void>(expected), &g;"),
]


def place_of(fault, include):
    """The header of a fault among these, or a sentence why it cannot be planted."""
    _, header, text, _ = fault
    places = list(include.rglob(header))
    if len(places) != 1:
        return None, f"{header} stands in {len(places)} places"
    found = places[0].read_text(encoding="utf-8").count(text)
    if found != 1:
        return None, f"{header} has the text {found} times: {text.strip().splitlines()[0]}"
    return places[0], None


def planted(fault, folder):
    """A copy of the headers with the fault, or a sentence why not."""
    _, _, text, wrong = fault
    include = folder / "include"
    shutil.copytree(ROOT / "include", include)
    place, out_of_date = place_of(fault, include)
    if out_of_date:
        return None, out_of_date
    place.write_text(place.read_text(encoding="utf-8").replace(text, wrong), encoding="utf-8")
    return include, None


def by_search():
    return (["--preemptions", str(n)] for n in count())


def at_random():
    first = 1
    for schedules in (500 * 3**n for n in count()):
        yield [str(schedules), "", str(first)]
        first += schedules


SENTENCE = re.compile(r"explore: (.*): (?:(early|late) schedule \"(.*)\"|seed (\d+), .*), \d+ steps")


def what_is_seen(errors):
    """What the last sentence says, and with which arguments that schedule runs again; or None."""
    lines = [line for line in errors.splitlines() if line.strip()]
    sentence = SENTENCE.fullmatch(lines[-1]) if lines else None
    if sentence is None:
        return None
    case = lines[-2].strip() if len(lines) > 1 else ""
    what, stores, schedule, seed = sentence.groups()
    again = f'1 "{case}" {seed}' if seed else f'--{stores} "{schedule}" "{case}"'
    return what, again


class Explorer(threading.Thread):
    """One that runs `program` in one way after the other, until it finds something, its seconds are over or it is
    stopped."""

    def __init__(self, program, ways, seconds, on_found):
        super().__init__()
        self.program, self.ways, self.seconds, self.on_found = program, ways, seconds, on_found
        self.took, self.found, self.stopped, self.process = 0.0, None, False, None

    def run(self):
        for way in self.ways:
            left = int(self.seconds - self.took)
            if left < 1 or self.stopped or self.found:
                return
            with tempfile.TemporaryFile("w+") as errors:
                self.process = subprocess.Popen(
                    [self.program, *way], stdout=subprocess.DEVNULL, stderr=errors,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (left, left)))
                _, status, usage = os.wait4(self.process.pid, 0)
                self.process.returncode = status
                self.took += usage.ru_utime + usage.ru_stime
                errors.seek(0)
                self.found = what_is_seen(errors.read()) if os.WIFEXITED(status) else None
            if self.found:
                self.on_found()

    def stop(self):
        self.stopped = True
        if self.process is not None and self.process.returncode is None:
            self.process.kill()


def explored(compiler, fault, seconds):
    """What was found, or None; after how many seconds; or why it could not be looked for."""
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
        explorers = []
        for ways in (by_search(), at_random()):
            explorers.append(Explorer(program, ways, seconds, lambda: [e.stop() for e in explorers]))
        for e in explorers:
            e.start()
        for e in explorers:
            e.join()
        found = [(e.took, e.found) for e in explorers if e.found]
        if not found:
            return None, max(e.took for e in explorers), None
        took, what = min(found)
        return what, took, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    missed = 0
    if options.check:
        for fault in FAULTS:
            if out_of_date := place_of(fault, ROOT / "include")[1]:
                missed += 1
                print(f"OUT OF DATE: {fault[0]}: {out_of_date}")
        print(f"{missed} of {len(FAULTS)} cannot be planted")
        return 1 if missed else 0
    print("| fault | what is seen | `explore_sessions` | seconds |\n|---|---|---|---|", flush=True)
    for fault in FAULTS:
        if options.names and fault[0] not in options.names:
            continue
        found, took, wrong = explored(options.compiler, fault, options.seconds)
        if wrong:
            missed += 1
            print(f"OUT OF DATE: {fault[0]}: {wrong}", flush=True)
        elif found is None:
            missed += 1
            print(f"| {fault[0]} | **not found** | | {took:.0f} |", flush=True)
        else:
            what, again = found
            print(f"| {fault[0]} | {what} | `{again}` | {took:.1f} |", flush=True)
    print(f"{missed} of {len(FAULTS)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
