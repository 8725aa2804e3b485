#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom under include/levada, and prints `file:line: rule` for every include against the layers.

check_includes.py [ROOT]    ROOT is the folder that has include/levada; by default the repository of this script.
"""

import re
import sys
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
    "onnx": "core graph kernel nn",
    "interop": "core graph plan kernel nn image signal backend backend/* run onnx",
    "ops": "core graph kernel nn image signal backend backend/simd",
    "levada": "core graph plan kernel nn image signal backend backend/simd run",
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
    ("another library is seen only by interop/", r"opencv2/|nlohmann/|CLI/|png\.h|zlib\.h|google/|onnx", r"interop/"),
    (
        "a heavy standard header is seen only by interop/ and onnx/",
        r"(iostream|istream|ostream|fstream|sstream|iomanip|locale|filesystem|future|regex|syncstream|codecvt|format)$",
        r"interop/|onnx/",
    ),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def layer_of(path, base):
    """The layer of the header `path` below `base`; nn.hpp belongs to nn/, backend/simd.hpp to backend/simd/."""
    parts = path.removesuffix(".hpp").split("/")
    if parts[0] == "backend" and len(parts) > 1 and (base / "backend" / parts[1]).is_dir():
        return "/".join(parts[:2])
    return parts[0]


def allowed(layer):
    """The layers it may include besides itself, or None where it is no layer."""
    rule = LAYERS.get("backend/*" if layer.startswith("backend/") else layer)
    return None if rule is None else rule.split()


def may_include(layer, other):
    return other == layer or other in allowed(layer) or (other.startswith("backend/") and "backend/*" in allowed(layer))


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
                elif not may_include(layer, other):
                    others = " ".join(allowed(layer)) or "only itself"
                    yield header, number, f"{layer} must not include {other} (it may: {others})"
            else:
                for rule, pattern, where in FOREIGN:
                    if re.match(pattern, name) and not re.match(where, path):
                        yield header, number, f"{layer} must not include <{name}>: {rule}"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    count = 0
    for header, number, rule in violations(root):
        print(f"{header.relative_to(root)}:{number}: {rule}")
        count += 1
    print(f"include arrows: {count} against the layers")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
