#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom under include/levada, and prints `file:line: rule` for every include against the layers.

Headers that users include are those of PUBLIC and of nn/, image/, signal/, interop/ and service/; docs/headers.md lists
them. All others stand under detail/ of their layer, and no example, document or installed project
includes one. No header is longer than 450 lines, and none includes itself by way of others. There are at most 45 for
users, besides those in the folders of the libraries.

check_includes.py [ROOT]    ROOT is the folder that has include/levada; by default the repository of this script.
"""

import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

# Layer -> the layers it may include besides itself. A header of backend/ itself is what all backends share.
LAYERS = {
    "core": "",
    "graph": "core",
    "plan": "core graph",
    "kernel": "core",
    "nn": "core graph kernel",
    "image": "core graph kernel",
    "signal": "core graph nn",
    "backend": "core graph plan kernel nn image signal",
    "backend/*": "core graph plan kernel nn image signal backend",
    "run": "core graph plan",
    "remote": "core graph plan run",
    "service": "core graph plan run remote",
    "fleet": "core graph plan run remote",
    "cluster": "core graph plan run remote",
    "onnx": "core graph kernel nn",
    "interop": "core graph plan kernel nn image signal backend backend/* run onnx remote",
    "ops": "core graph kernel nn image signal backend backend/simd",
    "levada": "core graph plan kernel nn image signal backend backend/simd run",
}

# The rooms of run/detail, each of which may include those before it.
ROOMS = ["workers", "program", "measure", "engine", "session", "deploy"]

# Headers that users include, beside those of the op libraries, of interop/ and of service/.
PUBLIC = """
    cluster image kernel levada nn ops remote signal
    backend/eigen backend/onednn backend/prepared backend/reference backend/reference/ops backend/shard backend/simd
    backend/simd/kernel_stage backend/simd/ops backend/simd/quantized backend/spirv backend/spirv/ops
    core/error core/tensor
    fleet/deploy fleet/server_configuration fleet/work
    graph/op graph/parameter_map graph/sync
    plan/arena plan/cost_table plan/rules
    remote/grpc remote/in_process
    run/any_of run/any_pipeline run/async_session run/callback_session run/choose_deployment run/deploy
    run/event_session run/hot_swap run/multi_producer run/prometheus run/promises run/simulated
""".split()
LIBRARIES = ("nn", "image", "signal", "interop", "service")
MOST_PUBLIC = 45  # the umbrellas of the libraries among them
# Public headers of run/ that one of its rooms may include: the room.
ROOM_OF_PUBLIC = {
    "run/any_pipeline": "deploy",
    "run/deploy": "deploy",
}

# Other people's headers and who may see them: the rule, what they are included as, the files it names.
FOREIGN = [
    ("oneTBB is seen only by run/", r"(tbb|oneapi/tbb)(/|\.h)", r"run/"),
    (
        "xsimd is seen only by backend/simd and kernel's xsimd lowering",
        r"xsimd/",
        r"backend/simd(/|\.hpp)|kernel/.*xsimd",
    ),
    ("Vulkan is seen only by backend/spirv", r"vulkan/|vk_", r"backend/spirv(/|\.hpp)"),
    ("Eigen is seen only by backend/eigen and interop/", r"(unsupported/)?Eigen/", r"backend/eigen(/|\.hpp)|interop/"),
    ("oneDNN is seen only by backend/onednn and interop/", r"dnnl|oneapi/dnnl", r"backend/onednn(/|\.hpp)|interop/"),
    ("gRPC is seen only by remote/grpc and service/grpc", r"grpc(pp)?/", r"(remote|service)/(detail/)?grpc"),
    ("libnats is seen only by fleet/", r"nats/", r"fleet/"),
    ("OpenSSL is seen only by fleet/", r"openssl/", r"fleet/"),
    ("MPI is seen only by cluster/", r"mpi\.h", r"cluster/"),
    ("cpp-httplib is seen only by service/pages", r"httplib\.h", r"service/pages"),
    ("another library is seen only by interop/", r"opencv2/|nlohmann/|CLI/|png\.h|zlib\.h|google/|onnx", r"interop/"),
    (
        "a heavy standard header is seen only by interop/ and onnx/",
        r"(iostream|istream|ostream|fstream|sstream|iomanip|locale|filesystem|future|regex|syncstream|codecvt|format)$",
        r"interop/|onnx/",
    ),
    (
        "the umbrella does without calendars: core/detail/clock.hpp has what else <chrono> has",
        r"chrono$",
        r"backend/spirv|cluster|fleet|interop|remote|service",
    ),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
MOST_LINES = 450


def layer_of(path, base):
    """The layer of the header `path` below `base`; nn.hpp belongs to nn/, backend/simd.hpp to backend/simd/."""
    parts = path.removesuffix(".hpp").split("/")
    if parts[0] == "backend" and len(parts) > 1 and parts[1] != "detail" and (base / "backend" / parts[1]).is_dir():
        return "/".join(parts[:2])
    return parts[0]


def allowed(layer):
    """The layers it may include besides itself, or None where it is no layer."""
    rule = LAYERS.get("backend/*" if layer.startswith("backend/") else layer)
    return None if rule is None else rule.split()


def may_include(layer, other):
    return other == layer or other in allowed(layer) or (other.startswith("backend/") and "backend/*" in allowed(layer))


def room_of(path):
    """The index of the room in which a header of run/ stands, or None where it is in none."""
    name = path.removesuffix(".hpp")
    parts = name.split("/")
    if parts[:2] == ["run", "detail"] and len(parts) == 4 and parts[2] in ROOMS:
        return ROOMS.index(parts[2])
    return ROOMS.index(ROOM_OF_PUBLIC[name]) if name in ROOM_OF_PUBLIC else None


def is_public(path):
    return "/detail/" not in path


def places(root, base):
    """Headers that stand in the wrong place, or in no list."""
    listed = (root / "docs" / "headers.md").read_text(encoding="utf-8")
    for header in sorted(base.rglob("*.hpp")):
        path = header.relative_to(base).as_posix()
        name = path.removesuffix(".hpp")
        if path.startswith("run/detail/") and room_of(path) is None:
            yield header, 1, f"run/detail has the rooms {', '.join(ROOMS)}"
        if not is_public(path) or name.split("/")[0] in LIBRARIES and "/" in name:
            continue
        if name not in PUBLIC:
            yield (header, 1,
                   "what users do not include stands under detail/ (tools/check_includes.py lists what they do)")
        elif f"`levada/{path}`" not in listed:
            yield header, 1, "docs/headers.md does not have it"
    for name in PUBLIC:
        if not (base / f"{name}.hpp").exists():
            yield root / "tools" / "check_includes.py", 1, f"{name}.hpp does not exist"
    if len(PUBLIC) > MOST_PUBLIC:
        yield (root / "tools" / "check_includes.py", 1, f"{len(PUBLIC)} headers for users, above {MOST_PUBLIC}")


def users(root):
    """What users read and copy from: includes of detail/ there."""
    files = [root / "README.md", *(root / "docs").rglob("*.md")]
    for folder in ("examples", "tests/install"):
        files += [f for f in (root / folder).rglob("*") if f.suffix in (".cpp", ".hpp")]
    for file in sorted(files):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if re.search(r"(levada|core|graph|plan|kernel|backend|simd|spirv|run)/detail/", line):
                yield file, number, "users include no header of detail/"


def violations(root):
    base = root / "include" / "levada"
    headers = sorted(base.rglob("*.hpp"))
    for header in headers:
        path = header.relative_to(base).as_posix()
        layer = layer_of(path, base)
        if allowed(layer) is None:
            yield header, 1, f"{layer} is no layer of levada"
            continue
        for number, line in enumerate(header.read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            name = found[1]
            if '"' in line.split("include", 1)[1][:3]:
                yield header, number, "levada's headers include each other as <levada/...>"
            elif name.startswith("levada/"):
                other = layer_of(name.removeprefix("levada/"), base)
                if not (base.parent / name).exists():
                    yield header, number, f"<{name}> does not exist"
                elif layer == other == "run" and room_of(path) is not None and (
                    room_of(name.removeprefix("levada/")) is None
                    or room_of(name.removeprefix("levada/")) > room_of(path)
                ):
                    yield header, number, f"a room of run/ includes only those below it: {', '.join(ROOMS)}"
                elif not may_include(layer, other):
                    others = " ".join(allowed(layer)) or "only itself"
                    yield header, number, f"{layer} must not include {other} (it may: {others})"
            else:
                for rule, pattern, where in FOREIGN:
                    if re.match(pattern, name) and not re.match(where, path):
                        yield header, number, f"{layer} must not include <{name}>: {rule}"


def longest(root, base):
    """Headers that have more than one idea, by their length."""
    for header in sorted(base.rglob("*.hpp")):
        lines = header.read_text(encoding="utf-8").count("\n")
        if lines > MOST_LINES:
            yield header, MOST_LINES + 1, f"{lines} lines; a header has at most {MOST_LINES}"


def circles(root, base):
    """One line for a circle of headers that include each other, if there is one."""
    includes = {
        header.relative_to(base.parent).as_posix(): INCLUDE.findall(header.read_text(encoding="utf-8"))
        for header in base.rglob("*.hpp")
    }
    try:
        TopologicalSorter({name: [i for i in found if i in includes] for name, found in includes.items()}).prepare()
    except CycleError as circle:
        names = circle.args[1][::-1]
        yield base.parent / names[0], 1, f"a circle of includes: {' -> '.join(names)}"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    count = 0
    base = root / "include" / "levada"
    for header, number, rule in [
        *violations(root),
        *places(root, base),
        *users(root),
        *longest(root, base),
        *circles(root, base),
    ]:
        print(f"{header.relative_to(root)}:{number}: {rule}")
        count += 1
    print(f"include arrows: {count} against the layers")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
