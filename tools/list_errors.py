#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/errors.md: each compile-time error with the program that gives it, each run-time error with its source.

list_errors.py            writes it
list_errors.py --check    says whether it is what the sources give, and which error no program or test makes
list_errors.py --untested lists the run-time errors that no test makes, but those of UNPROVOKED
"""

import re
import sys
import textwrap
from pathlib import Path

from check_must_not_compile import EXPECTED, expectations

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include" / "levada"
PROGRAMS = ROOT / "tests" / "must_not_compile"
DOCUMENT = ROOT / "docs" / "errors.md"

MISTAKE = re.compile(r"^(?:inline )?struct (\w+)\s*(?:final )?:\s*(?:levada::)?(?:detail::)?mistake\b", re.M)
THROWN = re.compile(r"\bthrow\s+(?:levada::)?(?:detail::)?\w*(?:error|cancelled|no_result)\w*\s*[({]|\bfail\s*\(")
RAW = re.compile(r'\bR"(\w*)\(.*?\)\1"', re.S)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')

# Of the run-time errors those that no test can ask for: the header, what the message has, and why.
UNPROVOKED = [
    ("backend/device", "", "a driver of Vulkan that lacks what every one here has"),
    ("backend/loader", "", "a machine without the loader of Vulkan"),
    ("backend/memory", "", "a device whose memory is full"),
    ("backend/library", "oneDNN cannot", "oneDNN itself fails"),
    ("backend/run", "oneDNN", "oneDNN refuses what the backend's predicate took"),
    ("fleet/session_record", "cannot be taken", "ten drivers take the session at once"),
    ("fleet/taken_state", "has outcomes behind its last state", "the driver of the other program purged its items"),
    ("interop/tune", "levada: tune:", "the same deployment does not compile"),
    ("kernel/spirv_grid", "32,768 words", "the same module does not compile"),
    ("service/termination", "", "a system without a descriptor left"),
    ("run/library_file", "cannot be read", "a disk that fails behind the call that opened the file"),
]

# Of the run-time errors of a header, by its name: what a user does about them.
REMEDIES = {
    "backend/chosen_set": "Compile kernels for a set that the processor has: `levada_add_kernels(... ISA sse4.2 ...)`.",
    "backend/device": "Install a driver of Vulkan 1.2 with timeline semaphores; name a device that is there; or deploy "
                      "with `cpu_fallback`.",
    "backend/kernels_of_sets": "Build the program again, all of it with one version of levada and one set of flags.",
    "backend/library": "The status is oneDNN's. Name another backend before `onednn`.",
    "backend/loader": "Install `libvulkan1`, or deploy with `cpu_fallback`.",
    "backend/matrix_registers": "Linux gives AMX to a process from 5.16 on, where a container does not forbid "
                                "`arch_prctl`.",
    "backend/memory": "Deploy with fewer slots, or close sessions: each has slots of its own.",
    "backend/prepared": "Pin the stage to another device, or let its grid kernel need less.",
    "backend/run": "Name another backend before `onednn`.",
    "cluster/lane": "The text is what the stage threw.",
    "cluster/queue": "Start as many ranks as the target has, all of one program, and let each call `lv::serve`.",
    "core/foreign": "Give a hook that releases the memory; look at a view before its item moves on.",
    "core/start_thread": "The process has as many threads as the system allows (`ulimit -u`): open fewer sessions.",
    "core/whole_file": "Look at the path, its rights, and the room on the disk.",
    "image/view": "Give the address of the pixels, and a pitch of a row's bytes or more.",
    "fleet/handshake_files": "Link the program with the OpenSSL that libnats is linked with.",
    "fleet/keyed_inputs": "Another program publishes there: give it other subjects.",
    "fleet/keyed_lane": "Open one session at a time. Or another program publishes there: give it other subjects.",
    "fleet/keyed_member": "Start workers of the same pipeline, target and `version` as the driver.",
    "fleet/keyed_session": "Open one session at a time; let the workers of the old program finish first.",
    "fleet/keyed_states": "Give `partitions` more keys. A callable's `load` reads what its `save` wrote.",
    "fleet/lease": "Delete the bucket, or give all programs the same `jetstream::lease`.",
    "fleet/named_session": "Open it of a pipeline with `lv::on<lv::fleet<...>>`.",
    "fleet/outcome": "The text is what the stage threw.",
    "fleet/session_keeper": "Open it without a number, or with a higher one.",
    "fleet/session_record": "Give the session another name.",
    "fleet/taken_state": "Purge the stream, and the states begin anew; or deploy the program that wrote them.",
    "fleet/lane": "The text is what the stage threw, or why its worker was lost.",
    "fleet/member": "Another program publishes there: give it other subjects.",
    "fleet/message": "Another program publishes there: give it other subjects.",
    "fleet/nats": "Start a server at one of the addresses, or give `certificates`. libnats' words say what it met.",
    "fleet/queue": "Start workers of the same pipeline, target and `version`. Or do as the text says.",
    "fleet/streams": "Delete the stream, or give all programs the same `jetstream`. Or do as the text says.",
    "fleet/server_configuration": "Leave quotes, backslashes and ends of lines out of names and files.",
    "interop/calibrate": "Calibrate with items that reach the stage with numbers that are no NaN.",
    "interop/model_weights": "Convert the model and its weights together ([onnx.md](onnx.md)).",
    "interop/onnx_runtime": "Install a library at least as new as the header, and give it a model of one input and one "
                            "output.",
    "interop/opencv": "Convert the `cv::Mat` to the type and the extents of the view.",
    "interop/packed_weights": "The text is in the log, and the weights are packed at start. Write the file again: "
                              "`save()`, `levada_pack`.",
    "interop/pipeline_library": "The reason is the system's, or how the library differs: build it with the same "
                                "headers.",
    "interop/recording": "Read a recording as the type that it was written as. One that ends in the middle has the "
                         "items before; look for room on the disk.",
    "interop/safetensors": "The file is damaged, or no safetensors file: write it again.",
    "interop/saved_plan": "Write the file again: `save(app, file)`.",
    "interop/tune": "Profile on this machine first; name backends that take all stages; bound devices less.",
    "kernel/interpret_grid": "Bound the index in the kernel; give the buffers that it was traced with.",
    "kernel/interpreter": "Give as many inputs, outputs and uniforms as the kernel was traced with.",
    "kernel/spirv_grid": "Divide the kernel.",
    "remote/far_clock": "The other end is no program of levada, or was compiled with another version of it.",
    "remote/frame": "The other end is no program of levada, or was compiled with another version of it.",
    "remote/greeting": "Start a node at one of the addresses, of the same pipeline, target and `version`.",
    "remote/grpc_credentials": "Another program has the port.",
    "remote/in_process": "Give each node an address of its own.",
    "remote/lane": "The text is what the stage threw, or why its node was lost.",
    "remote/node_stream": "The other end is no program of levada, or was compiled with another version of it.",
    "remote/driven_session": "The other end is no program of levada, or was compiled with another version of it.",
    "remote/this_machine": "Give `certificates`, or an address of this machine. Or a path is wrong, or its file not "
                           "for this user.",
    "remote/wire": "Look at `most_bytes`, `write` and `read` of the item's `wire`.",
    "run/any_pipeline": "Give it a pipeline before it is called.",
    "run/choose_deployment": "Put a deployment last that every machine can run.",
    "run/collected_parameters": "Give the parameter as the op wants it: another name (`renamed`), transposed or "
                                "converted where it is stored.",
    "run/event_session": "The process has as many open files as the system allows (`ulimit -n`).",
    "run/for_each": "Give the `for_each` more room, or let the stage before it give fewer parts.",
    "run/held_results": "Let results end before more are popped, or deploy with more slots.",
    "run/inline_call": "Call another app there, or make those stages part of this pipeline.",
    "run/library_file": "The library is cut off: build or copy it again.",
    "run/pop_results": "Ask for a type that a stage attaches.",
    "run/prometheus": "Give each session labels of its own, of letters, digits and underscores.",
    "run/result_dispatcher": "Open a plain session, and pop.",
    "run/route": "Return an index below the number of branches.",
    "run/session": "Call `on_error` before the first push; pop all results before `reset`; push by ports to close one.",
    "run/session_calls": "Drain on another thread.",
    "run/session_chain": "Stop pushing where a session may be closed: the exception is `cancelled`.",
    "run/session_entry": "Push either whole items or by ports. A closed session takes none: the exception is "
                         "`cancelled`.",
    "run/session_exit": "Pop either whole results or by outputs.",
    "run/simulated": "Tests ask for it.",
    "run/thread_executor": "Leave `in_arena` out, or use oneTBB's workers.",
    "run/time_feed": "Push the items of a port in the order of their capture.",
    "service/grpc_calls": "The client sends no message, or what is none of the protocol.",
    "service/pages": "Give an address of this machine, and a port that no other program has.",
    "service/protobuf": "The client sends no message, or what is none of the protocol.",
    "service/termination": "The process has as many open files as the system allows (`ulimit -n`).",
    "run/worker": "Name processors that the process may use: `taskset -p PID` prints them.",
}

HEAD = """# Errors

Made by `tools/list_errors.py` of the headers and of the tests; a test compares.

## While compiling

The message has `mistake_found<NAME<...>>`. Each program shows the mistake, and behind `#ifdef LEVADA_CORRECT` how the
same is written right. [mistakes.md](mistakes.md) is the short list.

"""

RUN_TIME = """
## At run time

`levada::error` is a `std::runtime_error`; `device_error` and others derive from it. `...` stands for names and numbers.
An item that fails is delivered as the exception of its stage, and is none of these.

Each header is followed by what to do about its errors. Behind each message is the test that provokes it; a few cannot
be provoked: a full device, a failing disk.
"""


# What stands between strings that are one behind the other.
BESIDE = re.compile(r'"((?:\s|//[^\n]*)*)"')
# `a ? "one" : "the other"`, either with more behind it.
CHOICE = re.compile(r'\?\s*({0})\s*:\s*({0})'.format(r'"(?:[^"\\]|\\.)*"(?:\s*\+\s*[^"()?:;]*(?:"(?:[^"\\]|\\.)*")?)*'))


def headers():
    for path in sorted(INCLUDE.rglob("*.hpp")):
        yield path, path.read_text(encoding="utf-8")


def programs():
    """What each wrong program is to give, and what it is about."""
    for path in sorted(PROGRAMS.glob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        wanted = [said for kind, said in expectations(text, "gcc") if kind == "error"]
        comment = re.match(r"(?:(?://.*)?\n)*", text)[0].splitlines()[1:]
        about = " ".join(line[3:] for line in comment if line[3:] and not EXPECTED.match(line))
        yield path.name, wanted, about


def compile_time():
    found = {}
    for path, text in headers():
        for name in MISTAKE.findall(text):
            found[name] = []
    for file, wanted, about in programs():
        for name in found:
            if any(re.search(rf"\b{name}\b", text) for text in wanted):
                found[name].append((file, about))
    return found


def statement(text, begin):
    """From there to the semicolon that ends it, strings left whole."""
    depth, at = 0, begin
    while at < len(text):
        literal = LITERAL.match(text, at) if text[at] == '"' else None
        if literal:
            at = literal.end()
            continue
        if text[at] == ";" and depth == 0:
            break
        depth += (text[at] in "({") - (text[at] in ")}")
        at += 1
    return text[begin:at]


def choices(said):
    """The statements that a statement is, by what its conditions give."""
    choice = CHOICE.search(said)
    if not choice:
        return [said]
    one, other = said[:choice.start()] + choice[1], said[:choice.start()] + choice[2]
    return [each for part in (one, other) for each in choices(part + said[choice.end():])]


def message_of(said):
    pieces, end = [], 0
    for literal in LITERAL.finditer(said):
        between = said[end:literal.start()].strip()
        if literal.group(1):
            if pieces and between not in ("", "+") or not pieces and "+" in between:
                pieces.append(" ... ")
            pieces.append(literal.group(1))
        end = literal.end()
    if pieces and "+" in said[end:]:
        pieces.append(" ...")
    return re.sub(r"\s+", " ", "".join(pieces).replace('\\"', '"')).strip()


def run_time():
    """Messages that stand where they are thrown, or are given to a `fail` that throws them."""
    found = set()
    for path, text in headers():
        code = re.sub(r"//[^\n]*", "", text)
        for thrown in THROWN.finditer(code):
            if re.match(r"fail\s*\((?:const|Fail) ", thrown[0] + code[thrown.end():thrown.end() + 6]):
                continue  # its definition
            for said in choices(statement(code, thrown.start())):
                message = message_of(said)
                if len(re.findall(r"[A-Za-z]{2,}", message)) > 1:
                    found.add((message, f"{path.relative_to(INCLUDE).parts[0]}/{path.stem}"))
    return sorted(found)


def tested_texts():
    """The strings of all tests, those one behind the other as one, each with its file."""
    for path in sorted((ROOT / "tests").rglob("*.[ch]pp")):
        if path.parent.name not in ("must_not_compile", "snippets"):
            text = BESIDE.sub("", RAW.sub('""', path.read_text(encoding="utf-8")))
            for said in LITERAL.findall(text):
                if len(said.split()) > 1:
                    yield said.replace('\\"', '"'), path.relative_to(ROOT).as_posix()


def provoked(messages):
    """Each message with the first test that has its whole text, or a part that no message of another header has."""
    texts = list(tested_texts())
    for message, source in messages:
        others = [other for other, of in messages if of != source]
        parts = [part.strip(' "') for part in message.split("...")]
        whole = re.compile(".*".join(re.escape(part.strip()) for part in message.split("...")))
        parts = [part for part in parts if len(part.split()) > 1 and not any(part in other for other in others)]
        tests = [file for text, file in texts if any(part in text for part in parts) or whole.fullmatch(text)]
        tests += [file for text, file in texts
                  if len(text.split()) > 2 and text in message and not any(text in other for other in others)]
        yield message, source, tests[0] if tests else None


def untested(messages):
    for message, source, test in provoked(messages):
        if test is None and not any(source == of and part in message for of, part, _ in UNPROVOKED):
            yield f"{source}: {message}"


def wrapped(text, first=""):
    """Lines of 120 columns, the later ones under the text of the first."""
    return textwrap.fill(text, 120, initial_indent=first, subsequent_indent=" " * len(first), break_long_words=False,
                         break_on_hyphens=False) + "\n"


def document(mistakes):
    text = HEAD
    for name, shown in sorted(mistakes.items()):
        file, about = shown[0] if shown else ("", "")
        text += wrapped(f"`{name}`: {about} [{file}](../tests/must_not_compile/{file})", "- ")
    text += RUN_TIME
    before = None
    for message, header, test in sorted(provoked(run_time()), key=lambda each: (each[1], each[0])):
        if header != before:
            text += "\n" + wrapped(f"**`{header}`**: {REMEDIES.get(header, '')}") + "\n"
        text += wrapped(message + (f" [{Path(test).name}](../{test})" if test else ""), "- ")
        before = header
    return text


def main():
    if sys.argv[1:] == ["--untested"]:
        print("\n".join(untested(run_time())))
        return 0
    mistakes = compile_time()
    made = document(mistakes)
    if sys.argv[1:] != ["--check"]:
        DOCUMENT.write_text(made, encoding="utf-8")
        return 0
    failed = DOCUMENT.read_text(encoding="utf-8") != made
    if failed:
        print("docs/errors.md is not what the sources give: run tools/list_errors.py")
    for name, shown in mistakes.items():
        if not shown:
            print(f"no program in tests/must_not_compile makes the mistake {name}")
            failed = True
    for message in untested(run_time()):
        print(f"no test makes the run-time error {message}")
        failed = True
    sources = {source for _, source in run_time()}
    for source in sorted(sources - set(REMEDIES)):
        print(f"REMEDIES of tools/list_errors.py does not say what to do about the errors of {source}")
        failed = True
    for source in sorted(set(REMEDIES) - sources):
        print(f"REMEDIES of tools/list_errors.py has {source}, which throws nothing")
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
