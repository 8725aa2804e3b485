#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What levada costs to compile, by counts that do not depend on the machine.

Tested against tests/compile_cost/pinned.json (at most 10 % more):
  - template instantiations of tests/compile_cost/fifty_stages.cpp, counted by clang's -ftime-trace;
  - its object size, and its longest symbol, which is below 2,000 characters;
  - the preprocessed lines of <levada/levada.hpp> over those of oneTBB's flow graph plus xsimd.
Reported beside them: seconds and peak memory of the compiler.

compile_cost.py [--compiler CXX] [--clang CXX] [--report] [--kernels] [--growth OPS [--level=-O0]] [--pin]
    --kernels  only what kernels and their SPIR-V modules cost, 1, 10 and 50 in a unit, on top of the header
    --growth   only residual blocks of so many ops and of half as many: they compile, and memory grows linearly
    --report   adds fifty plain stages, and the time of the include against the same two headers, \
as the median of paired runs
    --pin      writes what was counted into pinned.json
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "compile_cost"
PINNED = FOLDER / "pinned.json"
PROGRAM = FOLDER / "fifty_stages.cpp"
PLAIN = FOLDER / "fifty_plain_stages.cpp"
OURS = "#include <levada/levada.hpp>\n"
THEIRS = "#include <tbb/flow_graph.h>\n#include <xsimd/xsimd.hpp>\n"
LONGEST_SYMBOL = 2000
ALLOWED = 1.10
INCLUDE_LIMIT = 1.5
PAIRS = 7
SKIPPED = 77


def compile_unit(compiler, *flags, unit=None):
    """Compiles, and returns its output, its seconds of processor time, and its peak memory in MiB."""
    command = [compiler, "-std=c++20", "-I", str(ROOT / "include"), *flags]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdin.write(unit or "")
    process.stdin.close()
    output = process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"does not compile: {' '.join(command)}")
    # The driver waits for the compiler proper, so its children are counted with it.
    return output, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def instantiations(clang, folder):
    """How many classes and functions clang instantiates."""
    trace = folder / "unit.json"
    compile_unit(clang, "-c", str(PROGRAM), "-o", str(folder / "unit.o"), "-ftime-trace", "-ftime-trace-granularity=0")
    events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    return sum(event["name"] in ("InstantiateClass", "InstantiateFunction") for event in events)


def longest_symbol(object_file):
    names = subprocess.run(["nm", "-j", str(object_file)], text=True, capture_output=True, check=True).stdout.split()
    return max(map(len, names))


def preprocessed_lines(compiler, unit):
    return compile_unit(compiler, "-E", "-P", "-x", "c++", "-", unit=unit)[0].count("\n")


def include_seconds(compiler, unit):
    return compile_unit(compiler, "-fsyntax-only", "-x", "c++", "-", unit=unit)[1]


def measure(compiler, clang):
    """What was counted, by the names of pinned.json."""
    counted = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if PROGRAM.exists():
            _, seconds, memory = compile_unit(compiler, "-O2", "-c", str(PROGRAM), "-o", str(folder / "unit.o"))
            print(f"fifty stages: {seconds:.2f} s and {memory:.0f} MiB in {compiler} -O2")
            counted["object_bytes"] = (folder / "unit.o").stat().st_size
            counted["longest_symbol"] = longest_symbol(folder / "unit.o")
            if clang:
                counted["instantiations"] = instantiations(clang, folder)
    if (ROOT / "include" / "levada" / "levada.hpp").exists():
        lines = [preprocessed_lines(compiler, unit) for unit in (OURS, THEIRS)]
        print(f"include: {lines[0]} preprocessed lines against {lines[1]} of oneTBB's flow graph and xsimd")
        counted["include_lines_ratio"] = round(lines[0] / lines[1], 3)
    return counted


def report_time(compiler):
    with tempfile.TemporaryDirectory() as name:
        for level in ("-O0", "-O2"):
            _, seconds, memory = compile_unit(compiler, level, "-c", str(PLAIN), "-o", str(Path(name) / "unit.o"))
            print(f"fifty plain stages: {seconds:.2f} s and {memory:.0f} MiB in {compiler} {level}")
    ratios = []
    for _ in range(PAIRS):
        ratios.append(include_seconds(compiler, OURS) / include_seconds(compiler, THEIRS))
    print(f"include: {statistics.median(ratios):.2f} times the seconds of oneTBB's flow graph and xsimd"
          f" (median of {PAIRS} pairs, {min(ratios):.2f} to {max(ratios):.2f}; limit {INCLUDE_LIMIT})")


TRANSFORM = """
inline constexpr auto f{i} = [gain = lv::uniform{{{i}.5f}}](auto x) {{ return {body}; }};
const std::uint32_t* m{i}() {{ return lv::spirv_module<lv::program_of<decltype(f{i}), float>>.data(); }}
"""
CONV = """
inline constexpr auto f{i} = [](auto g, auto in, auto w, auto b, auto out) {{
  auto x = g.x(), y = g.y(), co = g.z();
  auto acc = g.fold(0, {channels}, b[co], [&](auto ci, auto s) {{
    for (int ky = 0; ky < {k}; ++ky)
      for (int kx = 0; kx < {k}; ++kx) s += in(ci, y + ky, x + kx) * w(co, ci, ky, kx);
    return s;
  }});
  out(co, y, x) = max(acc, 0.0f);
}};
inline constexpr auto k{i} = lv::grid_kernel<"conv",
    std::tuple<lv::tensor<float, {channels}, {side}, {side}>, lv::tensor<float, 16, {channels}, {k}, {k}>,
               lv::tensor<float, 16>>,
    lv::tensor<float, 16, {valid}, {valid}>>(lv::grid<{valid}, {valid}, 16>{{}}, f{i});
const std::uint32_t* m{i}() {{ return k{i}.module().data(); }}
"""
KERNEL_HEADERS = """#include <levada/kernel.hpp>
namespace lv = levada;
"""


def conv(size):
    """The kernel `i` of a unit: no two have the same shapes."""
    return lambda i: CONV.format(i=i, k=size, channels=8 + i, side=28 + i, valid=29 + i - size)


KERNELS = {
    "transform": lambda i: TRANSFORM.format(i=i, body=f"max(x * gain + {i}.25f, 0.0f) - x * x"),
    "tanh": lambda i: TRANSFORM.format(i=i, body=f"tanh(x * {i}.25f)"),
    "conv 1x1": conv(1),
    "conv 3x3": conv(3),
    "conv 5x5": conv(5),
}


def report_kernels(compiler):
    def least(unit):
        runs = [compile_unit(compiler, "-O2", "-x", "c++", "-c", "-o", os.devnull, "-", unit=unit)[1:]
                for _ in range(3)]
        return min(seconds for seconds, _ in runs), min(memory for _, memory in runs)

    header, header_memory = least(KERNEL_HEADERS)
    print(f"{compiler} -O2, least of 3: the headers {header:.2f} s and {header_memory:.0f} MiB; "
          "a kernel on top of them:")
    for name, kernel in KERNELS.items():
        row = []
        for count in (1, 10, 50):
            seconds, memory = least(KERNEL_HEADERS + "".join(kernel(i) for i in range(count)))
            row.append(f"{1000 * (seconds - header) / count:.1f} ms and "
                       f"{(memory - header_memory) / count:.1f} MiB of {count}")
        print(f"  {name}: {', '.join(row)}")


BLOCK = """      | lv::residual(
            lv::nn::conv2d<"block {i}, first", 8, lv::size<3>, lv::padding<1>>(weights) | lv::nn::relu |
            lv::nn::conv2d<"block {i}, second", 8, lv::size<3>, lv::padding<1>>(weights)) | lv::nn::relu
"""
BLOCKS = """#include <levada/levada.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/nn/residual.hpp>
namespace lv = levada;
using picture = lv::tensor<float, 8, 8, 8>;
float run(const lv::parameter_map& weights, const picture& in) {{
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<picture>
{blocks}  );
  return app(in)[0];
}}
"""
OPS_OF_A_BLOCK = 5
# A plan whose types or tables grow with the square of its ops shows in these first. Seconds depend on the other work of
# the machine, so they are printed and not tested.
MEMORY_GROWTH_LIMIT = 2.0
OBJECT_GROWTH_LIMIT = 2.0


def residual_blocks(ops):
    return BLOCKS.format(blocks="".join(BLOCK.format(i=i) for i in range(ops // OPS_OF_A_BLOCK)))


def growth_is_linear(compiler, ops, level):
    """Twice as many ops compile with the compiler's default limits, in about twice the memory at most."""
    seconds, memory, size = [], [], []
    with tempfile.TemporaryDirectory() as name:
        unit = Path(name) / "unit.o"
        for count in (ops // 2, ops):
            _, spent, peak = compile_unit(compiler, level, "-x", "c++", "-c", "-o", str(unit), "-",
                                          unit=residual_blocks(count))
            seconds.append(spent)
            memory.append(peak)
            size.append(unit.stat().st_size)
            print(f"{count} ops: {spent:.2f} s, {peak:.0f} MiB and {size[-1]} bytes of object in {compiler} {level}")
    print(f"twice as many ops: {seconds[1] / seconds[0]:.2f} times the seconds, "
          f"{memory[1] / memory[0]:.2f} times the memory (at most {MEMORY_GROWTH_LIMIT}), "
          f"{size[1] / size[0]:.2f} times the object (at most {OBJECT_GROWTH_LIMIT})")
    return memory[1] <= MEMORY_GROWTH_LIMIT * memory[0] and size[1] <= OBJECT_GROWTH_LIMIT * size[0]


def family_and_release(compiler):
    """"gcc 12", "clang 16": whose counts are pinned together."""
    def ask(flag):
        return subprocess.run([compiler, flag], text=True, capture_output=True, check=True).stdout
    return f"{'clang' if 'clang' in ask('--version') else 'gcc'} {ask('-dumpversion').split('.')[0].strip()}"


def above(counted, pinned):
    """A sentence for every count above what it may be."""
    limits = {"longest_symbol": LONGEST_SYMBOL - 1, "include_lines_ratio": INCLUDE_LIMIT}
    for name, value in counted.items():
        limit = min(limits.get(name, value), pinned.get(name, value) * ALLOWED)
        note = f"{name}: {value}, pinned {pinned.get(name, 'nowhere')}"
        if value > limit:
            yield f"{note}: above {limit:g}"
        elif value < pinned.get(name, value):
            print(f"{note}: lower, so it can be pinned lower")
        else:
            print(note)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--compiler", default="g++")
    arguments.add_argument("--clang")
    arguments.add_argument("--report", action="store_true")
    arguments.add_argument("--kernels", action="store_true")
    arguments.add_argument("--growth", type=int, metavar="OPS")
    arguments.add_argument("--level", choices=["-O0", "-O2"], default="-O2")
    arguments.add_argument("--pin", action="store_true")
    options = arguments.parse_args()
    if options.kernels:
        report_kernels(options.compiler)
        return 0
    if options.growth:
        return 0 if growth_is_linear(options.compiler, options.growth, options.level) else 1

    counted = measure(options.compiler, options.clang)
    if not counted:
        print("neither tests/compile_cost/fifty_stages.cpp nor <levada/levada.hpp> is there")
        return SKIPPED
    if options.report:
        report_time(options.compiler)
    compiler = family_and_release(options.compiler)
    pins = json.loads(PINNED.read_text(encoding="utf-8")) if PINNED.exists() else {}
    if options.pin:
        pins[compiler] = counted
        PINNED.write_text(json.dumps(pins, indent=2) + "\n", encoding="utf-8")
    # Another compiler or release counts differently: only the absolute limits hold there.
    found = list(above(counted, pins.get(compiler, {})))
    print("\n".join(found) or "compile cost: within its limits")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
