#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the code of README.md, CONTRIBUTING.md and docs/: C++ is compiled, commands, options and files exist.

    check_snippets.py [--compiler CXX] [FLAG...]     FLAGs go to the compiler
    check_snippets.py --write FILE                   writes the unit that is compiled

All blocks of C++ are one unit. Each is a function of its own, behind the declarations of tests/snippets/STEM.hpp, where
STEM is the name of the document or of its folder. A comment before the block says what else it is:

    <!-- snippet: declarations -->            it stands outside a function
    <!-- snippet: continues -->               its function goes on from the block before
    <!-- snippet: needs HEADER -->            it is compiled where that header is
    <!-- snippet: needs HEADER of MODULE -->  the same, with the flags that pkg-config has for the module
    <!-- snippet: as in FILE -->              its lines stand in that source, one behind the other
    <!-- snippet: all of FILE -->             and nothing but the file's first comment stands before or behind them

Several are separated by commas.
"""

import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PREAMBLES = ROOT / "tests" / "snippets"
LANGUAGE = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-Wno-missing-braces",
            "-fno-diagnostics-color", "-I", str(ROOT / "include"), "-I", str(PREAMBLES)]
INCLUDE = re.compile(r"^#include .*$")
MARK = re.compile(r"<!-- snippet: (.*?) -->$")


def documents():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]


class Block:
    def __init__(self, document, line, language, marks, lines):
        self.document, self.line, self.language, self.marks, self.lines = document, line, language, marks, lines
        self.place = f"{document.relative_to(ROOT)}:{line}"

    def mark(self, word):
        """What stands behind that word among the marks: "" for nothing, None where the word is missing."""
        return next((m.removeprefix(word).strip() for m in self.marks if m == word or m.startswith(f"{word} ")), None)

    def needed(self):
        """The header without which it is not compiled, and the module of pkg-config that has it; or None."""
        header, _, module = (self.mark("needs") or "").partition(" of ")
        return header or None, module or None


def blocks(document):
    """The fenced blocks of a document, and as language None each line of code that is indented or between backticks."""
    found, marks, fence = [], [], None
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        opened = re.match(r" *```(\w*)$", line)
        if fence is not None:
            if opened:
                fence.lines = textwrap.dedent("\n".join(fence.lines)).split("\n")
                fence = None
            else:
                fence.lines.append(line)
        elif opened:
            fence = Block(document, number + 1, opened[1], marks, [])
            found.append(fence)
            marks = []
        elif MARK.match(line):
            marks = MARK.match(line)[1].split(", ")
        elif line.startswith("    "):
            found.append(Block(document, number, None, [], [line.strip()]))
        else:
            found += [Block(document, number, None, [], [code]) for code in re.findall(r"`([^`]+)`", line)]
    return found


def compared(text):
    """The lines that a snippet is compared by."""
    return [line.strip() for line in text.splitlines() if line.strip() and "clang-format" not in line]


def stands_there(block):
    """Whether the lines of the block stand in the file that its mark names."""
    file = block.mark("as in") or block.mark("all of")
    there = compared((ROOT / file).read_text(encoding="utf-8"))
    if block.mark("all of"):
        there = there[next(i for i, line in enumerate(there) if not line.startswith("//")):]
    shown = compared("\n".join(block.lines))
    starts = [i for i, line in enumerate(there) if line == shown[0]]
    same, start = max(((sum(1 for _ in common(shown, there[i:])), i) for i in starts), default=(0, 0))
    if same < len(shown):
        print(f"{block.place}: of this block {file} has {same} lines, and no `{shown[same]}` behind them")
    elif block.mark("all of") and len(there) != len(shown):
        print(f"{block.place}: {file} has more than what is shown")
        return False
    return same == len(shown)


def common(shown, there):
    for a, b in zip(shown, there):
        if a != b:
            return
        yield a


def preamble_of(document):
    """The declarations that a document's blocks stand behind."""
    names = document.stem, document.parent.name
    return next((file for file in (PREAMBLES / f"{name}.hpp" for name in names) if file.exists()), None)


def quoted(path):
    return '"' + str(path).replace("\\", "\\\\") + '"'


def unit(all_blocks):
    """The unit that has them all, and the headers without which a block is left out."""
    includes, body, needs = ["#include <levada/levada.hpp>"], [], {}
    names = {}
    for block in all_blocks:
        names.setdefault(block.document, []).append(block)
    for document, its_blocks in names.items():
        space = re.sub(r"\W", "_", str(document.relative_to(ROOT).with_suffix("")))
        preamble = preamble_of(document)
        body.append(f"namespace {space} {{")
        if preamble:
            text = preamble.read_text(encoding="utf-8")
            includes += [line for line in text.splitlines() if INCLUDE.match(line)]
            text = "\n".join("" if INCLUDE.match(line) or line == "#pragma once" else line for line in text.split("\n"))
            body += [f"#line 1 {quoted(preamble)}", text]
        opened = None  # what closes the function that is open
        for block in its_blocks:
            if opened and block.mark("continues") is None:
                body.append(opened)
                opened = None
            needed = block.needed()[0]
            if needed:
                needs[block.place] = needed
                body.append(f"#if __has_include(<{needed}>)")
                includes.append(f"#if __has_include(<{needed}>)")
            includes += [line.split(" //")[0] for line in block.lines if INCLUDE.match(line)]
            if needed:
                includes.append("#endif")
            if opened is None:
                if block.mark("declarations") is None:
                    body.append(f"inline void line_{block.line}() {{")
                else:
                    body.append(f"namespace line_{block.line} {{")
                opened = "}"
            body.append(f"#line {block.line} {quoted(block.document.relative_to(ROOT))}")
            body += ["" if INCLUDE.match(line) else line for line in block.lines]
            if needed:
                body += [opened, "#endif"]
                opened = None
        if opened:
            body.append(opened)
        body.append(f"}}  // namespace {space}")
    return "\n".join([*includes, *body, ""]), needs


def flags_of_modules(all_blocks):
    """What pkg-config says of the modules that blocks need. System folders: their headers are not ours to warn of."""
    flags = []
    for module in sorted({block.needed()[1] for block in all_blocks} - {None}):
        try:
            said = subprocess.run(["pkg-config", "--cflags", module], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return []
        flags += [re.sub("^-I", "-isystem", flag) for flag in said.stdout.split()]
    return flags


def compiles(all_blocks, compiler, flags):
    text, needs = unit(all_blocks)
    flags = [*flags, *flags_of_modules(all_blocks)]
    with tempfile.NamedTemporaryFile("w", suffix=".cpp", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([compiler, *LANGUAGE, *flags, file.name], capture_output=True, text=True, check=False,
                              cwd=ROOT)
        print(done.stderr, end="")
        for header in sorted(set(needs.values())):
            probe = subprocess.run([compiler, *LANGUAGE, *flags, "-x", "c++", "-"], capture_output=True, text=True,
                                   input=f"#if !__has_include(<{header}>)\n#error\n#endif\n", check=False)
            if probe.returncode:
                left_out = ", ".join(place for place, needed in needs.items() if needed == header)
                print(f"not compiled: {left_out}; <{header}> is not here")
    return done.returncode == 0


# Commands, options and files.


FOLDERS = "tools|tests|examples|include|benchmarks|cmake|docs"


def text_of(*patterns):
    return "\n".join(path.read_text(encoding="utf-8") for pattern in patterns for path in sorted(ROOT.glob(pattern)))


class Known:
    def __init__(self):
        self.run = text_of("run")
        self.cmake = text_of("CMakeLists.txt", "cmake/*.cmake", "cmake/*.in", "tools/*/CMakeLists.txt",
                             "tests/**/CMakeLists.txt", "benchmarks/CMakeLists.txt", "examples/**/CMakeLists.txt")
        self.commands = set(re.findall(r"^  (\w+)\)$", self.run, re.M)) | {"help"}
        self.benchmarks = {path.stem for path in (ROOT / "benchmarks").iterdir()}
        self.functions = {}
        for name, body in re.findall(r"(?:function|macro)\((\w+)(.*?)\nend(?:function|macro)\(", self.cmake, re.S):
            self.functions[name] = set(re.findall(r"\b[A-Z]+\b", " ".join(re.findall(r'"[A-Z;]*"', body)))) | set(
                re.findall(r"\b\w+_([A-Z]+)\b", body))


def mistakes_of_line(line, known):
    for command in re.findall(r"\./run ([a-z]+)\b", line):
        if command not in known.commands:
            yield f"./run has no command {command}"
    for name in re.findall(r"\./run bench ([a-z_]+)", line):
        if name not in known.benchmarks:
            yield f"there is no benchmark {name}"
    for option in re.findall(r"-D(LEVADA_\w+)=", line):
        if not re.search(rf"\b{option}\b", known.cmake):
            yield f"CMake has no option {option}"
    for name, arguments in re.findall(r"\b(levada_\w+)\((.*)\)", line):
        if name not in known.functions:
            yield f"CMake has no function {name}"
            continue
        for keyword in re.findall(r"(?<![\w{<.])[A-Z]{2,}(?![\w}>.])", arguments):
            if keyword not in known.functions[name] and keyword not in ("NAME", "FILE"):
                yield f"{name} has no {keyword}"
    for place in re.findall(rf"(?<![\w/.-])((?:{FOLDERS})/[a-z_./-]*[a-z_]\b)", line):
        if not (ROOT / place).exists() and not list(ROOT.glob(f"{place}.*")):
            yield f"nothing is at {place}"
    for place in re.findall(r"(?<![\w/.-])levada/[\w/]+\.hpp", line):
        if not (ROOT / "include" / place).exists():
            yield f"there is no header {place}"


def names_exist(all_blocks):
    known, right = Known(), True
    for block in all_blocks:
        for number, line in enumerate(block.lines):
            for mistake in mistakes_of_line(line, known):
                print(f"{block.document.relative_to(ROOT)}:{block.line + number}: {mistake}")
                right = False
    return right


def marks_are_known(block):
    for mark in block.marks:
        if not re.fullmatch(r"declarations|continues|needs \S+( of \S+)?|(as in|all of) \S+", mark):
            print(f"{block.place}: nobody knows the mark {mark!r}")
            return False
    return True


def is_cpp_elsewhere(block):
    """C++ in a block that nobody compiles. Between backticks stand names and parts of lines."""
    return block.language not in ("cpp", "cmake", "python") and any(
        re.search(r"^#include|^(auto|const|for) .*;|\blv::.*;$", line) for line in block.lines)


def main(arguments):
    compiler = "g++"
    all_blocks = [block for document in documents() for block in blocks(document)]
    cpp = [block for block in all_blocks if block.language == "cpp"]
    copies = [block for block in cpp if block.mark("as in") or block.mark("all of")]
    to_compile = [block for block in cpp if block not in copies]
    if arguments[:1] == ["--write"]:
        Path(arguments[1]).write_text(unit(to_compile)[0], encoding="utf-8")
        return 0
    if arguments[:1] == ["--compiler"]:
        compiler, arguments = arguments[1], arguments[2:]
    right = names_exist(all_blocks) and all([marks_are_known(block) for block in cpp])
    for block in all_blocks:
        if is_cpp_elsewhere(block):
            print(f"{block.place}: C++ stands in a block of cpp, where it is compiled")
            right = False
    for block in copies:
        right &= stands_there(block)
    right &= compiles(to_compile, compiler, arguments)
    print(f"{len(to_compile)} snippets compiled, {len(copies)} compared")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
