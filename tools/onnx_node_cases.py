#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests from the cases of one node of ONNX's own suite, those of its ops and those that PyTorch exported: one \
source for
each group of ops, each case as calls of levada's ops.

A case is a model of one node with its inputs and outputs as files. Its attributes and those of its inputs that are \
constants
of an op in levada (axes, pads, sizes) become template arguments here; all other data are read when the test runs. \
What is not
mapped is left out with a reason; a case that is mapped has to pass.

onnx_node_cases.py CASES OUT      writes OUT/<group>.cpp from the folder CASES that has node/test_abs, \
node/test_add, ...
onnx_node_cases.py CASES OUT few  writes fewer: of each op a case for each attribute, each number of inputs and \
each element
onnx_node_cases.py CASES OUT one  writes one of each op
onnx_node_cases.py CASES --list   prints, as Markdown, what is mapped and what is left out, and why
onnx_node_cases.py CASES --check FILE   says whether FILE is what --list prints
"""

import math
import struct
import sys
from collections import defaultdict
from pathlib import Path

# --- protobuf: what a ModelProto and a TensorProto need -------------------------------------------------------------


def varints(data, at=0):
    value = shift = 0
    while at < len(data):
        value |= (data[at] & 127) << shift
        shift += 7
        if data[at] < 128:
            yield value - (1 << 64) if value >> 63 else value, at + 1
            value = shift = 0
        at += 1


def fields(data):
    """Number and value of each field: an integer, or bytes."""
    at = 0
    while at < len(data):
        tag, at = next(varints(data, at))
        kind = tag & 7
        if kind == 0:
            value, at = next(varints(data, at))
        else:
            size = 4 if kind == 5 else 8
            if kind == 2:
                size, at = next(varints(data, at))
            value, at = data[at : at + size], at + size
        yield tag >> 3, value


def all_of(data, number):
    return [value for n, value in fields(data) if n == number]


def first_of(data, number, default=b""):
    return next((value for n, value in fields(data) if n == number), default)


def integers_of(data, number):
    """A repeated integer, packed or not."""
    for value in all_of(data, number):
        yield from [value] if isinstance(value, int) else [v for v, _ in varints(value)]


def attribute_of(data):
    kind = first_of(data, 20)
    if kind == 1:
        value = struct.unpack("<f", first_of(data, 2))[0]
    elif kind == 2:
        value = first_of(data, 3, 0)
    elif kind == 3:
        value = first_of(data, 4).decode()
    elif kind == 6:
        value = [struct.unpack("<f", v)[0] for packed in all_of(data, 7) for v in
                 (packed[i : i + 4] for i in range(0, len(packed), 4))]
    elif kind == 7:
        value = list(integers_of(data, 8))
    elif kind == 8:
        value = [text.decode() for text in all_of(data, 9)]
    else:
        value = None
    return first_of(data, 1).decode(), value


# TensorProto.DataType: the element in C++ and in struct's letters
ELEMENTS = {1: ("float", "f"), 2: ("std::uint8_t", "B"), 3: ("std::int8_t", "b"), 4: ("std::uint16_t", "H"),
            5: ("std::int16_t", "h"), 6: ("std::int32_t", "i"), 7: ("std::int64_t", "q"), 9: ("bool", "?"),
            10: ("half", "e"), 11: ("double", "d"), 12: ("std::uint32_t", "I"), 13: ("std::uint64_t", "Q"),
            16: ("bfloat16", "H")}  # fmt: skip
FLOATING = (1, 10, 11)


class LeftOut(Exception):
    """Why a case has no test."""


class Value:
    """A tensor of a case: its name in C++, its element and extents."""

    def __init__(self, name, element, dims, source=None):
        self.name, self.element, self.dims, self.source = name, element, dims, source

    @classmethod
    def declared(cls, data, source):
        """From a ValueInfoProto."""
        tensor = first_of(first_of(data, 2), 1, None)
        if tensor is None:
            return cls(None, None, [], source)
        dims = [first_of(d, 1, 0) for d in all_of(first_of(tensor, 2), 1)]
        return cls(None, first_of(tensor, 1), dims, source)

    @property
    def rank(self):
        return len(self.dims)

    def type(self):
        if self.element not in ELEMENTS:
            raise LeftOut("an element type that levada lacks (string)")
        if 0 in self.dims:
            raise LeftOut("a tensor without elements")
        if math.prod(self.dims) > 1 << 17:
            raise LeftOut("large: seconds without optimisation")
        return f"tensor<{', '.join([ELEMENTS[self.element][0], *map(str, self.dims)])}>"


class Case:
    def __init__(self, folder):
        self.folder, self.name = folder, folder.name.removeprefix("test_")
        self.suite = folder.parent.name
        graph = first_of((folder / "model.onnx").read_bytes(), 7)
        nodes = all_of(graph, 1)
        self.nodes = len(nodes)
        self.op = first_of(nodes[0], 4).decode() if nodes else ""
        self.attributes = dict(attribute_of(a) for a in all_of(nodes[0], 5)) if nodes else {}
        # Weights lie in the model, all other inputs in files of their own.
        weights = [first_of(tensor, 8).decode() for tensor in all_of(graph, 5)]
        declared, files = {}, 0
        for data in all_of(graph, 11):
            name = first_of(data, 1).decode()
            source = ("initializer", weights.index(name)) if name in weights else ("input", files)
            files += name not in weights
            declared[name] = Value.declared(data, source)
        self.inputs = [declared.get(name.decode()) for name in all_of(nodes[0], 1)] if nodes else []
        self.outputs = [Value.declared(v, ("output", i)) for i, v in enumerate(all_of(graph, 12))]

    def input(self, index):
        return self.inputs[index] if index < len(self.inputs) else None

    def constant(self, index, default=None):
        """The numbers of an input that is a constant of levada's op."""
        if self.input(index) is None:
            return default
        kind, number = self.input(index).source
        tensor = (self.folder / "test_data_set_0" / f"{kind}_{number}.pb").read_bytes()
        raw, letter = first_of(tensor, 9), ELEMENTS[first_of(tensor, 2)][1]
        return [v for (v,) in struct.iter_unpack("<" + letter, raw)]

    def get(self, attribute, default=None):
        return self.attributes.get(attribute, default)

    def floating(self):
        """The data is float, half or double: the first input, and no tensor is of what levada lacks."""
        tensors = [v for v in [*self.inputs, *self.outputs] if v is not None]
        return tensors[0].element in FLOATING and all(v.element in ELEMENTS for v in tensors)


# --- programs: a case as C++ ----------------------------------------------------------------------------------------


class Program:
    """The body of a test, written call by call."""

    def __init__(self, case):
        self.case, self.lines, self.names, self.items = case, [], 0, 1

    def named(self, expression, element, dims):
        self.names += 1
        value = Value(f"v{self.names}", element, dims)
        value.type()
        self.lines.append(f"const auto {value.name} = {expression};")
        return value

    def input(self, index, dims=None, of_item=False):
        given = self.case.input(index)
        given.type()
        value = Value(None, given.element, given.dims if dims is None else dims)
        item = ", item" if self.items > 1 and of_item else ""
        kind, number = given.source
        return self.named(f"given.{kind}<{value.type()}>({number}{item})", value.element, value.dims)

    def item(self, dims=None):
        """The first input without its batch axis; the test runs for each item of the batch."""
        given = self.case.input(0)
        self.items = given.dims[0]
        return self.input(0, given.dims[1:] if dims is None else dims, of_item=True)

    def call(self, op, values, *parameters, element=None, dims=None, on="backend"):
        """An op of one value, or of a tuple of a list of values."""
        one = values if isinstance(values, Value) else values[0]
        argument = one.name if values is one else f"std::tuple({', '.join(v.name for v in values)})"
        arguments = ", ".join([on, op, argument, *(p.name for p in parameters)])
        return self.named(f"call({arguments})", element or one.element, one.dims if dims is None else dims)

    def stage(self, stage, *rest, **more):
        return self.call(f"nn::{stage}.description", *rest, **more)

    def prepared(self, stage, value, dims):
        """A parameter brought into levada's form, as whoever reads a model does once."""
        return self.call(f"nn::{stage}.description", value, dims=dims, on="std::type_identity<reference>()")

    def transposed(self, value, axes):
        if axes == list(range(len(axes))):
            return value
        return self.stage(f"transpose<{numbers(axes)}>", value, dims=[value.dims[a] for a in axes])

    def reshaped(self, value, dims):
        return value if dims == value.dims else self.stage(f"reshape<{numbers(dims)}>", value, dims=dims)

    def check(self, value, output=0):
        item = ", item" if self.items > 1 else ""
        self.lines.append(f"given.check({value.name}, {output}{item});")

    def text(self):
        body = "\n".join(f"    {line}" for line in self.lines)
        if self.items > 1:
            body = f"    for (std::size_t item = 0; item < {self.items}; ++item) {{\n{body}\n    }}"
        folder = f"{self.case.suite}/test_{self.case.name}"
        return (f'TEST_CASE("{self.case.op}: {self.case.name}") {{\n  const node_case given("{folder}");\n'
                f"  on_each_backend([&](auto backend) {{\n{body}\n  }});\n}}\n")  # fmt: skip


def numbers(values):
    return ", ".join(str(int(v)) for v in values)


def literal(value):
    """A float exactly."""
    if value in (float("inf"), float("-inf")):
        return "infinity" if value > 0 else "-infinity"
    return f"{float(value).hex()}f"


MAPPERS = {}


def maps(group, *ops):
    def register(mapper):
        for op in ops:
            MAPPERS[op] = group, mapper
        return mapper

    return register


# --- element-wise ---------------------------------------------------------------------------------------------------

UNARY = {"Abs": "abs", "Neg": "neg", "Sqrt": "sqrt", "Exp": "exp", "Log": "log", "Erf": "erf", "Tanh": "tanh",
         "Sigmoid": "sigmoid", "Softplus": "softplus", "HardSwish": "hard_swish", "Relu": "relu",
         "Reciprocal": "reciprocal", "Floor": "floor", "Ceil": "ceil", "Round": "round", "Sign": "sign", "Sin": "sin",
         "Cos": "cos", "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh",
         "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh", "Mish": "mish", "Softsign": "softsign",
         "Not": "logical_not", "IsNaN": "is_nan", "BitwiseNot": "bit_not"}  # fmt: skip


@maps("element_wise", *UNARY)
def unary(case, p):
    p.check(p.stage(UNARY[case.op], p.input(0), element=case.outputs[0].element))


@maps("element_wise", "LeakyRelu", "Elu", "HardSigmoid", "Clip", "Selu", "Celu", "ThresholdedRelu", "IsInf", "Shrink")
def with_constants(case, p):
    if case.op == "IsInf":
        signs = [str(bool(case.get(f"detect_{sign}", 1))).lower() for sign in ("negative", "positive")]
        p.check(p.stage(f"is_inf({', '.join(signs)})", p.input(0), element=9))
        return
    if case.op == "Clip":
        if case.inputs[0].element != 1:
            raise LeftOut("clip is of float")
        low = case.get("min", case.constant(1, [float("-inf")])[0])
        high = case.get("max", case.constant(2, [float("inf")])[0])
        stage = f"clip({literal(low)}, {literal(high)})"
    elif case.op == "HardSigmoid":
        stage = f"hard_sigmoid({literal(case.get('alpha', 0.2))}, {literal(case.get('beta', 0.5))})"
    elif case.op == "Selu":
        stage = f"selu({literal(case.get('alpha', 1.67326319))}, {literal(case.get('gamma', 1.05070102))})"
    elif case.op == "Shrink":
        stage = f"shrink({literal(case.get('lambd', 0.5))}, {literal(case.get('bias', 0.0))})"
    elif case.op in ("Elu", "Celu", "ThresholdedRelu"):
        stage = {"Elu": "elu", "Celu": "celu", "ThresholdedRelu": "thresholded_relu"}[case.op]
        stage += f"({literal(case.get('alpha', 1.0))})"
    else:
        stage = f"leaky_relu({literal(case.get('alpha', 0.01))})"
    p.check(p.stage(stage, p.input(0)))


BROADCAST = {"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "PRelu": "prelu", "Equal": "equal", "Less": "less",
             "LessOrEqual": "less_or_equal", "Greater": "greater", "GreaterOrEqual": "greater_or_equal", "Min": "min",
             "Max": "max", "Where": "where", "Pow": "pow", "Sum": "sum", "Mean": "mean", "And": "logical_and",
             "Or": "logical_or", "Xor": "logical_xor", "BitwiseAnd": "bit_and", "BitwiseOr": "bit_or",
             "BitwiseXor": "bit_xor", "Mod": "mod", "BitShift": "shift"}  # fmt: skip


@maps("broadcast", *BROADCAST)
def broadcast(case, p):
    if case.get("broadcast") or (case.op == "PRelu" and case.suite != "node"):
        raise LeftOut("broadcasting of an old set of operators")
    values = [p.input(i) for i in range(len(case.inputs))]
    if case.op == "Pow":  # of float and double; integers go through double
        computed = values[0].element if values[0].element in FLOATING else 11
        values = [converted(p, v, computed) for v in values]
    out = case.outputs[0]
    name = BROADCAST[case.op]
    if case.op == "Mod" and case.get("fmod", 0):
        name = "fmod"
    if case.op == "BitShift":
        name += f"_{case.get('direction').lower()}"
    # Comparisons give bool; narrow integers are computed in int, half in float.
    computed = 9 if out.element == 9 else {2: 6, 3: 6, 4: 6, 5: 6, 10: 1}.get(values[-1].element, values[-1].element)
    p.check(converted(p, p.stage(name, values, element=computed, dims=out.dims), out.element))


def converted(p, value, element):
    if value.element == element:
        return value
    return p.stage(f"cast<{ELEMENTS[element][0]}>", value, element=element)


# --- along an axis --------------------------------------------------------------------------------------------------


@maps("along_axis", "Softmax", "LogSoftmax", "Hardmax")
def softmax(case, p):
    axis, rank = case.get("axis", -1), case.inputs[0].rank
    stage = {"Softmax": "softmax", "LogSoftmax": "log_softmax", "Hardmax": "hardmax"}[case.op]
    p.check(p.stage(stage if axis in (-1, rank - 1) and case.op != "Hardmax" else f"{stage}_along<{axis}>", p.input(0)))


@maps("along_axis", "ArgMax", "ArgMin")
def argmax(case, p):
    kept = "keep" if case.get("keepdims", 1) else "drop"
    equals = "last" if case.get("select_last_index", 0) else "first"
    stage = f"{case.op.lower()}_along<{case.get('axis', 0)}, reduced_axes::{kept}, among_equals::{equals}>"
    p.check(p.stage(stage, p.input(0), element=7, dims=case.outputs[0].dims))


@maps("along_axis", "CumSum")
def cum_sum(case, p):
    (axis,) = case.constant(1)
    flags = ", ".join(str(bool(case.get(name, 0))).lower() for name in ("exclusive", "reverse"))
    p.check(p.stage(f"cum_sum<{axis}, {flags}>", p.input(0)))


@maps("along_axis", "LpNormalization")
def lp_norm(case, p):
    p.check(p.stage(f"lp_norm<{case.get('axis', -1)}, {case.get('p', 2)}>", p.input(0)))


@maps("along_axis", "MeanVarianceNormalization")
def mean_variance_norm(case, p):
    p.check(p.stage(f"mean_variance_norm<{numbers(case.get('axes', [0, 2, 3]))}>", p.input(0)))


@maps("along_axis", "LRN")
def lrn(case, p):
    given = ", ".join(float(case.get(*of)).hex() for of in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
    p.check(p.stage(f"lrn<{case.get('size')}>({given})", p.item()))


@maps("along_axis", "TopK")
def top_k(case, p):
    (k,) = case.constant(1)
    if case.get("axis", -1) not in (-1, case.inputs[0].rank - 1):
        raise LeftOut("top_k is along the last axis")
    x = p.input(0)
    if case.get("largest", 1):
        p.lines.append(f"given.check({p.stage(f'top_k<{k}>', x).name});")
    else:
        largest = p.stage(f"top_k<{k}>", p.stage("neg", x)).name
        p.check(p.named(f"call(backend, nn::neg.description, std::get<0>({largest}))", x.element, case.outputs[0].dims))
        p.lines.append(f"given.check(std::get<1>({largest}), 1);")


REDUCE = {"ReduceSum": "sum", "ReduceMean": "mean", "ReduceMax": "max", "ReduceMin": "min", "ReduceL2": "l2",
          "ReduceProd": "prod", "ReduceL1": "l1", "ReduceSumSquare": "sum_square", "ReduceLogSum": "log_sum",
          "ReduceLogSumExp": "log_sum_exp"}  # fmt: skip


@maps("along_axis", *REDUCE)
def reduce(case, p):
    axes = case.get("axes") or case.constant(1, [])
    if not axes and case.get("noop_with_empty_axes", 0):
        raise LeftOut("a node that does nothing")
    kept = "keep" if case.get("keepdims", 1) else "drop"
    named = "".join(f", {a}" for a in axes)
    op = f"reduce_op<reduction::{REDUCE[case.op]}, reduced_axes::{kept}{named}>()"
    p.check(p.call(op, p.input(0), dims=case.outputs[0].dims))


@maps("along_axis", "GlobalAveragePool", "GlobalMaxPool")
def global_pool(case, p):
    stage = "global_avg_pool2d" if case.op == "GlobalAveragePool" else "global_max_pool2d"
    p.check(p.stage(stage, p.item(), dims=case.outputs[0].dims[1:]))


# --- norms and products ---------------------------------------------------------------------------------------------


@maps("weighted", "BatchNormalization", "InstanceNormalization", "LayerNormalization")
def norm(case, p):
    if case.get("training_mode", 0):
        raise LeftOut("training mode")
    op = {"BatchNormalization": "batch_norm_op", "InstanceNormalization": "instance_norm_op",
          "LayerNormalization": f"layer_norm_op<{case.get('axis', -1)}>"}[case.op]  # fmt: skip
    x = p.input(0) if case.op == "LayerNormalization" else p.item()
    parameters = [p.input(i) for i in range(1, len(case.inputs))]
    p.check(p.call(f"{op}{{{float(case.get('epsilon', 1e-5)).hex()}}}", x, *parameters))


@maps("weighted", "MatMul")
def matmul(case, p):
    p.check(p.stage("matmul", [p.input(0), p.input(1)], dims=case.outputs[0].dims))


@maps("weighted", "Gemm")
def gemm(case, p):
    a, b = p.input(0), p.input(1)
    if case.get("transA", 0):
        a = p.transposed(a, [1, 0])
    if case.get("transB", 0):
        b = p.transposed(b, [1, 0])
    out = case.outputs[0].dims
    y = scaled(p, p.stage("matmul", [a, b], dims=out), case.get("alpha", 1.0))
    if case.input(2) is not None:
        y = p.stage("add", [y, scaled(p, p.input(2), case.get("beta", 1.0))], dims=out)
    p.check(y)


@maps("weighted", "RNN", "GRU", "LSTM")
def recurrent(case, p):
    """Each item of the batch by itself, all steps at once and, of what has them, one by one; from zeros."""
    if case.get("direction", "forward") != "forward" or case.get("activations") or case.get("clip"):
        raise LeftOut("another direction, other activations or a clip")
    x, lstm = case.inputs[0], case.op == "LSTM"
    lengths, begins = case.input(4), [case.input(i) for i in (5, 6)]
    by_item = case.get("layout", 0) == 1
    (items, steps) = x.dims[:2] if by_item else x.dims[1::-1]
    if lengths is not None and set(case.constant(4)) != {steps}:
        raise LeftOut("items of different lengths")
    if any(v is not None and any(case.constant(i)) for i, v in zip((5, 6), begins)):
        raise LeftOut("a state that does not begin with zeros")
    hidden = case.get("hidden_size")
    options = ["no_bias"] * (case.input(3) is None) + ["peepholes"] * (lstm and case.input(7) is not None)
    options += ["linear_before_reset"] * case.get("linear_before_reset", 0)
    name = case.op.lower()
    given = ", ".join([x.name for x in [p.input(i) for i in (1, 2, 3, 7) if case.input(i) is not None]])
    p.lines += [f"const auto x = given.input<{x.type()}>(0);", f"for (std::size_t item = 0; item < {items}; ++item) {{"]
    at = f"item * {steps} + step" if by_item else f"step * {items} + item"
    all_steps, last = len(case.outputs) == 2, len(case.outputs) - 1
    sequence = f"{name}_sequence_op<{', '.join([str(hidden), 'direction::forward', *options])}>"
    p.lines += [f"  tensor<float, {steps}, {x.dims[2]}> all;", f"  for (std::size_t step = 0; step < {steps}; ++step)",
                f"    std::copy_n(x.data() + ({at}) * {x.dims[2]}, {x.dims[2]}, all.begin() + step * {x.dims[2]});",
                f"  const auto made = call(backend, {sequence}{{default_functions<{sequence}>}}, all, {given});",
                f"  given.check(std::get<1>(made), {last}, item);"]  # fmt: skip
    if all_steps:
        p.lines += [f"  for (std::size_t step = 0; step < {steps}; ++step) {{", f"    tensor<float, {hidden}> part;",
                    f"    std::copy_n(std::get<0>(made).data() + step * {hidden}, {hidden}, part.begin());",
                    f"    given.check(part, 0, {at});", "  }"]  # fmt: skip
    if name != "rnn":
        state, op = f"tensor<float, {hidden}>", f"{name}_op<{', '.join([str(hidden), *options])}>()"
        p.lines.append(f"  std::tuple<{state}, {state}> state{{}};" if lstm else f"  {state} state{{}};")
        p.lines += [f"  for (std::size_t step = 0; step < {steps}; ++step) {{",
                    f"    tensor<float, {x.dims[2]}> part;",
                    f"    std::copy_n(x.data() + ({at}) * {x.dims[2]}, {x.dims[2]}, part.begin());",
                    f"    state = call(backend, {op}, std::tuple(part, state), {given});"]  # fmt: skip
        h = "std::get<0>(state)" if lstm else "state"
        if all_steps:
            p.lines.append(f"    given.check({h}, 0, {at});")
        p.lines += ["  }", f"  given.check({h}, {last}, item);"]
    p.lines.append("}")


def scaled(p, value, factor):
    if factor == 1.0:
        return value
    lambda_ = f"[f = uniform{{{literal(factor)}}}](auto x) {{ return x * f; }}"
    return p.call(f'transform<"scaled">({lambda_}).description', value)


# --- windows --------------------------------------------------------------------------------------------------------


class Window:
    """The attributes of an op with a window, made one for two axes and with its padding written out."""

    def __init__(self, case, kernel):
        spatial = case.inputs[0].dims[2:]
        if len(spatial) > 2:
            raise LeftOut("three spatial axes")
        self.rank = len(spatial)
        self.kernel = kernel
        self.strides = case.get("strides", [1] * self.rank)
        self.dilations = case.get("dilations", [1] * self.rank)
        self.reach = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations)]
        pads = case.get("pads", [0] * 2 * self.rank)
        self.begin, self.end = pads[: self.rank], pads[self.rank :]
        auto = case.get("auto_pad", "NOTSET")
        if auto in ("SAME_UPPER", "SAME_LOWER") and case.op != "ConvTranspose":
            for i, extent in enumerate(spatial):
                whole = max((-(-extent // self.strides[i]) - 1) * self.strides[i] + self.reach[i] - extent, 0)
                self.begin[i] = whole // 2 if auto == "SAME_UPPER" else whole - whole // 2
                self.end[i] = whole - self.begin[i]
        if case.get("ceil_mode", 0):
            for i, extent in enumerate(spatial):
                rest = (extent + self.begin[i] + self.end[i] - self.reach[i]) % self.strides[i]
                self.end[i] += self.strides[i] - rest if rest else 0

    def options(self, one_axis=False):
        """As options of an op; those of one axis become a row where the op is one of two axes."""
        pad = (lambda v, of_row: v) if self.rank == 2 or one_axis else (lambda v, of_row: [of_row, *v])
        return (f"size<{numbers(pad(self.kernel, 1))}>, stride<{numbers(pad(self.strides, 1))}>, "
                f"padding<{numbers([*pad(self.begin, 0), *pad(self.end, 0)])}>, "
                f"dilation<{numbers(pad(self.dilations, 1))}>")  # fmt: skip

    def rows(self, dims):
        """Channels and the spatial axes, as many as the op has."""
        return dims if self.rank == 2 else [dims[0], 1, *dims[1:]]


@maps("windows", "Conv")
def conv(case, p):
    weight = case.inputs[1].dims
    window = Window(case, weight[2:])
    one_axis = window.rank == 1
    bias = "" if case.input(2) is not None else ", no_bias"
    kind = "conv1d_op" if one_axis else "conv2d_op"
    op = f"{kind}<{weight[0]}, {window.options(one_axis)}, groups<{case.get('group', 1)}>{bias}>()"
    x = p.item()
    p.check(p.call(op, x, *(p.input(i) for i in range(1, len(case.inputs))), dims=case.outputs[0].dims[1:]))


@maps("windows", "ConvTranspose")
def conv_transpose(case, p):
    weight = case.inputs[1].dims
    window = Window(case, weight[2:])
    spatial, out = case.inputs[0].dims[2:], case.outputs[0].dims
    added = case.get("output_padding", [0] * window.rank)
    if case.get("output_shape") or case.get("auto_pad", "NOTSET") != "NOTSET":
        # The padding follows from the output; what is negative is added to it.
        for i, extent in enumerate(spatial):
            whole = window.strides[i] * (extent - 1) + added[i] + window.reach[i] - out[2 + i]
            if whole < 0:
                added[i], whole = added[i] - whole, 0
            upper = case.get("auto_pad") == "SAME_UPPER"
            window.begin[i] = whole // 2 if upper else whole - whole // 2
            window.end[i] = whole - window.begin[i]
    groups = case.get("group", 1)
    added = added if window.rank == 2 else [0, *added]
    bias = "" if case.input(2) is not None else ", no_bias"
    op = (f"conv_transpose2d_op<{weight[1] * groups}, {window.options()}, output_padding<{numbers(added)}>, "
          f"groups<{groups}>{bias}>()")  # fmt: skip
    x = p.item(window.rows(case.inputs[0].dims[1:]))
    y = p.call(op, x, *(p.input(i) for i in range(1, len(case.inputs))), dims=window.rows(out[1:]))
    p.check(p.reshaped(y, out[1:]))


@maps("pools", "MaxPool", "AveragePool")
def pool(case, p):
    if case.inputs[0].element not in (*FLOATING, 2, 3):
        raise LeftOut("pools are of float, double and, the largest, of bytes")
    if len(case.outputs) > 1:
        raise LeftOut("max_pool2d gives no indices")
    window = Window(case, case.get("kernel_shape"))
    op = "max_pool2d_op" if case.op == "MaxPool" else "avg_pool2d_op"
    counted = ", count_padding" if case.get("count_include_pad", 0) else ""
    out = case.outputs[0].dims
    y = p.call(f"{op}<{window.options()}{counted}>()", p.item(window.rows(case.inputs[0].dims[1:])),
               dims=window.rows(out[1:]))  # fmt: skip
    p.check(p.reshaped(y, out[1:]))


# --- numbers as integers --------------------------------------------------------------------------------------------


def quantization(case, index):
    """The scale and the zero point from input `index` on."""
    (scale,), (zero_point,) = case.constant(index), case.constant(index + 1)
    return f"{{{literal(scale)}, {zero_point}}}"


@maps("quantized", "QuantizeLinear", "DequantizeLinear")
def quantize(case, p):
    out = case.outputs[0].element
    if case.inputs[1].dims not in ([], [1]):
        axis = case.get("axis", 1)
        op = f"dequantize_along_op<{axis}>" if case.op == "DequantizeLinear" else \
            f"quantize_along_op<{ELEMENTS[out][0]}, {axis}>"
        p.check(p.call(f"{op}()", p.input(0), p.input(1), p.input(2), element=out))
        return
    op = "dequantize_linear_op" if case.op == "DequantizeLinear" else f"quantize_linear_op<{ELEMENTS[out][0]}>"
    p.check(p.call(f"{op}{{{{}}, {quantization(case, 1)}}}", p.input(0), element=out))


@maps("quantized", "DynamicQuantizeLinear")
def dynamic_quantize(case, p):
    x = p.input(0)
    p.lines.append(f"given.check(call(backend, nn::dynamic_quantize_linear.description, {x.name}));")


@maps("quantized", "MatMulInteger")
def matmul_integer(case, p):
    zeros = ", ".join(str(case.constant(i, [0])[0]) for i in (2, 3))
    p.check(p.stage(f"matmul_integer({zeros})", [p.input(0), p.input(1)], element=6, dims=case.outputs[0].dims))


@maps("quantized", "ConvInteger")
def conv_integer(case, p):
    weight = case.inputs[1]
    window = Window(case, weight.dims[2:])
    zeros = ", ".join(str(case.constant(i, [0])[0]) for i in (2, 3))
    op = (f"conv_integer2d_op<{weight.dims[0]}, {ELEMENTS[weight.element][0]}, {window.options()}, "
          f"groups<{case.get('group', 1)}>, no_bias>{{{{}}, {zeros}}}")  # fmt: skip
    p.check(p.call(op, p.item(), p.input(1), element=6, dims=case.outputs[0].dims[1:]))


def qlinear(case, p, op, x, weight, rest):
    """x, weight and result with their scales and zero points from inputs 1, 4 and 6 on; weights of one zero point."""
    (weight_zero_point,) = case.constant(5)
    numbers_ = (f"{{.x = {quantization(case, 1)}, .y = {quantization(case, 6)}, "
                f".weight_zero_point = {weight_zero_point}}}")  # fmt: skip
    out, given = case.outputs[0], case.inputs[4].dims
    outputs = weight.dims[0]
    scale = p.input(4)
    if given != [outputs]:
        scale = p.prepared(f"expand<{outputs}>", scale, [outputs])
    element, of_weight = ELEMENTS[out.element][0], ELEMENTS[weight.element][0]
    brace = "{{}, " if op.startswith("qlinear_conv2d") else "{"
    return p.call(f"{op}<{outputs}, {element}, {of_weight}{rest}>{brace}{numbers_}}}", x, weight, scale,
                  *([p.input(8)] if case.input(8) is not None else []),
                  element=out.element, dims=out.dims[1:])  # fmt: skip


@maps("quantized", "QLinearConv")
def qlinear_conv(case, p):
    window = Window(case, case.inputs[3].dims[2:])
    bias = "" if case.input(8) is not None else ", no_bias"
    options = f", {window.options()}, groups<{case.get('group', 1)}>{bias}"
    x = p.item()
    p.check(qlinear(case, p, "qlinear_conv2d_op", x, p.input(3), options))


@maps("quantized", "QLinearMatMul")
def qlinear_matmul(case, p):
    """Row by row of the left matrices, by the right one as weights."""
    a, b = case.inputs[0], case.inputs[3]
    rows, inner, outputs = a.dims[-2], a.dims[-1], b.dims[-1]
    p.items = math.prod(a.dims[:-1])
    x = p.named(f"given.input<{Value(None, a.element, [inner]).type()}>(0, item)", a.element, [inner])
    right = Value(None, b.element, [inner, outputs])
    weight = p.named(f"given.input<{right.type()}>(3, item / {rows if len(b.dims) == 3 else p.items})",
                     b.element, right.dims)
    weight = p.prepared("transpose<1, 0>", weight, [outputs, inner])
    y = qlinear(case, p, "qlinear_dense_op", x, weight, ", no_bias")
    y.dims = [outputs]
    p.check(y)


# --- moves ----------------------------------------------------------------------------------------------------------


@maps("moves", "Concat")
def concat(case, p):
    values = [p.input(i) for i in range(len(case.inputs))]
    p.check(p.stage(f"concat<{case.get('axis')}>", values, dims=case.outputs[0].dims))


@maps("moves", "Split")
def split(case, p):
    axis = case.get("axis", 0)
    for out in case.outputs:
        out.type()
    parts = numbers(out.dims[axis] for out in case.outputs)
    p.lines.append(f"given.check({p.stage(f'split<{axis}, {parts}>', p.input(0)).name});")


@maps("moves", "Slice")
def slices(case, p):
    starts, ends = case.constant(1), case.constant(2)
    axes, steps = case.constant(3, list(range(len(starts)))), case.constant(4, [1] * len(starts))
    ranges = ", ".join(f"along<{a}, {s}, {e}, {t}>" for a, s, e, t in zip(axes, starts, ends, steps))
    p.check(p.stage(f"slice<{ranges}>", p.input(0), dims=case.outputs[0].dims))


@maps("moves", "Pad")
def pad(case, p):
    mode = case.get("mode", "constant")
    sides, (value,) = case.get("pads") or case.constant(1), case.constant(2, [case.get("value", 0)])
    p.check(p.stage(f"pad<pad_mode::{mode}, {numbers(sides)}>({value})", p.input(0), dims=case.outputs[0].dims))


@maps("moves", "Transpose")
def transpose(case, p):
    x = p.input(0)
    axes = case.get("perm", list(reversed(range(x.rank))))
    p.check(p.stage(f"transpose<{numbers(axes)}>", x, dims=case.outputs[0].dims))


@maps("moves", "Reshape", "Flatten")
def reshape(case, p):
    out = case.outputs[0]
    out.type()
    p.check(p.stage(f"reshape<{numbers(out.dims)}>", p.input(0), dims=out.dims))


@maps("moves", "Squeeze", "Unsqueeze")
def squeeze(case, p):
    axes = case.get("axes") or case.constant(1, [])
    p.check(p.stage(f"{case.op.lower()}<{numbers(axes)}>", p.input(0), dims=case.outputs[0].dims))


@maps("moves", "Expand", "Tile")
def expand(case, p):
    p.check(p.stage(f"{case.op.lower()}<{numbers(case.constant(1))}>", p.input(0), dims=case.outputs[0].dims))


@maps("moves", "Gather")
def gather(case, p):
    p.check(p.stage(f"gather_by<{case.get('axis', 0)}>", [p.input(0), p.input(1)], dims=case.outputs[0].dims))


@maps("moves", "GatherElements")
def gather_elements(case, p):
    p.check(p.stage(f"gather_elements<{case.get('axis', 0)}>", [p.input(0), p.input(1)], dims=case.outputs[0].dims))


@maps("moves", "GatherND")
def gather_nd(case, p):
    p.check(p.stage(f"gather_nd<{case.get('batch_dims', 0)}>", [p.input(0), p.input(1)], dims=case.outputs[0].dims))


@maps("moves", "Scatter", "ScatterElements", "ScatterND")
def scatters(case, p):
    how = {"none": "replace"}.get(case.get("reduction", "none"), case.get("reduction"))
    stage = "scatter_nd<" if case.op == "ScatterND" else f"scatter_elements<{case.get('axis', 0)}, "
    p.check(p.stage(f"{stage}scatter::{how}>", [p.input(i) for i in range(3)], dims=case.outputs[0].dims))


@maps("moves", "OneHot")
def one_hot(case, p):
    (depth,), values, out = case.constant(1), case.constant(2), case.outputs[0]
    off, on = (f"{ELEMENTS[out.element][0]}({v})" for v in values)
    stage = f"one_hot<{int(depth)}, {case.get('axis', -1)}>({off}, {on})"
    p.check(p.stage(stage, p.input(0), element=out.element, dims=out.dims))


@maps("moves", "Trilu")
def trilu(case, p):
    (k,) = case.constant(1, [0])
    p.check(p.stage(f"trilu<{'true' if case.get('upper', 1) else 'false'}, {k}>", p.input(0)))


@maps("moves", "DepthToSpace", "SpaceToDepth")
def depth(case, p):
    order = f", depth_order::{case.get('mode', 'DCR').lower()}" if case.op == "DepthToSpace" else ""
    stage = "depth_to_space" if case.op == "DepthToSpace" else "space_to_depth"
    p.check(p.stage(f"{stage}<{case.get('blocksize')}{order}>", p.item(), dims=case.outputs[0].dims[1:]))


@maps("moves", "Cast", "CastLike")
def cast(case, p):
    out = case.outputs[0]
    out.type()
    if out.element == 16:
        raise LeftOut("the suite's numbers are cut off; Cast rounds to nearest even")
    p.check(p.stage(f"cast<{ELEMENTS[out.element][0]}>", p.input(0), element=out.element))


# --- pictures -------------------------------------------------------------------------------------------------------

MODES = {"nearest": "nearest", "linear": "bilinear", "cubic": "bicubic"}


@maps("pictures", "Resize", "Upsample")
def resize(case, p):
    upsample = case.op == "Upsample"
    out = case.outputs[0].dims
    rule = {"coordinates": "coordinate_mode::"
            + ("asymmetric" if upsample else case.get("coordinate_transformation_mode", "half_pixel")),
            "nearest": "nearest_mode::" + ("floor" if upsample else case.get("nearest_mode", "round_prefer_floor")),
            "cubic_coeff_a": literal(case.get("cubic_coeff_a", -0.75)),
            "exclude_outside": "true" if case.get("exclude_outside", 0) else "false"}  # fmt: skip
    scales = case.constant(1 if upsample else 2, [])
    if scales:
        rule |= {"scale_y": scales[2].hex(), "scale_x": scales[3].hex()}
    if not upsample and case.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        part = case.constant(1)
        rule |= {"top": part[2].hex(), "left": part[3].hex(), "bottom": part[6].hex(), "right": part[7].hex()}
        rule["extrapolation"] = literal(case.get("extrapolation_value", 0.0))
    members = ", ".join(f".{name} = {value}" for name, value in rule.items())
    op = (f"resize_op<{out[2]}, {out[3]}, resize_mode::{MODES[case.get('mode', 'nearest')]}, layout::chw>"
          f"{{{{}}, {{{members}}}}}")
    p.check(p.call(op, p.item(), dims=out[1:]))


@maps("pictures", "GridSample")
def grid_sample(case, p):
    if case.get("mode", "bilinear") == "bicubic":
        raise LeftOut("the suite's numbers are rounded to four digits")
    align = "true" if case.get("align_corners", 0) else "false"
    op = (f"grid_sample<sample_mode::{case.get('mode', 'bilinear')}, "
          f"sample_padding::{case.get('padding_mode', 'zeros')}, {align}>")  # fmt: skip
    x, out = p.item(), case.outputs[0].dims
    grid = p.input(1, case.inputs[1].dims[1:], of_item=True)
    p.check(p.stage(op, [x, grid], dims=out[1:]))


@maps("pictures", "NonMaxSuppression")
def non_max_suppression(case, p):
    (limit,) = case.constant(2, [0])
    form = "centre" if case.get("center_point_box", 0) else "corners"
    thresholds = f"{literal(case.constant(3, [0.0])[0])}, {literal(case.constant(4, [float('-inf')])[0])}"
    boxes = p.item()
    scores = p.input(1, case.inputs[1].dims[1:], of_item=True)
    p.lines.append(f"given.check(call(backend, "
                   f"non_max_suppression_op<{limit}, box_format::{form}>{{{{}}, {thresholds}}}, "
                   f"std::tuple({boxes.name}, {scores.name})), {'item' if p.items > 1 else 0});")  # fmt: skip


# --- the whole suite ------------------------------------------------------------------------------------------------


SUITES = "node", "pytorch-converted", "pytorch-operator"


def read_suites(folder):
    """By op in order of their names: the programs, and the cases left out with their reasons. Ops without a twin are
    named."""
    programs, left_out, others, graphs = defaultdict(list), defaultdict(list), defaultdict(int), 0
    folders = [f for suite in SUITES for f in sorted((folder / suite).glob("test_*"))]
    for case in (Case(f) for f in folders):
        if case.nodes != 1:
            graphs += 1
            continue
        if case.op not in MAPPERS:
            others[case.op] += 1
            continue
        program = Program(case)
        try:
            MAPPERS[case.op][1](case, program)
            programs[case.op].append(program)
        except LeftOut as reason:
            left_out[case.op].append((case, str(reason)))
    return programs, left_out, others, graphs


def all_programs(programs):
    return programs


def one_of_each(programs):
    return programs[:1]


def few_of_each(programs):
    """In their order, each that has something which none before it has."""
    chosen, seen = [], set()
    for p in programs:
        given = [v for v in p.case.inputs if v is not None]
        has = {*p.case.attributes, len(given), *((i, ELEMENTS[v.element][0]) for i, v in enumerate(given))}
        if not has <= seen:
            chosen.append(p)
            seen |= has
    return chosen


def write_sources(folder, out, chosen):
    programs, _, _, _ = read_suites(folder)
    out.mkdir(parents=True, exist_ok=True)
    for group in {group for group, _ in MAPPERS.values()}:
        tests = [p.text() for op in sorted(programs) if MAPPERS[op][0] == group for p in chosen(programs[op])]
        text = ("// Written by tools/onnx_node_cases.py.\n#include \"onnx/case.hpp\"\n\nusing namespace levada;\n"
                "using namespace levada::testing;\n\n" + "\n".join(tests))  # fmt: skip
        (out / f"{group}.cpp").write_text(text)


def listing(folder):
    programs, left_out, others, graphs = read_suites(folder)
    ops = sorted({*programs, *left_out})
    mapped = [p.case for op in ops for p in programs[op]]
    dropped = [case for op in ops for case, _ in left_out[op]]
    floats, floats_dropped = (sum(c.suite == "node" and c.floating() for c in cases) for cases in (mapped, dropped))
    exported, exported_dropped = (sum(c.suite != "node" for c in cases) for cases in (mapped, dropped))
    lines = ["# The cases of ONNX", "",
             "`tools/onnx_node_cases.py CASES --list` wrote this. `./run nightly` runs what is mapped, "
             "and all of it has to pass;",
             "`./run test` runs those cases of each op that differ in their attributes or in what they are given.",
             "",
             f"Of {floats + floats_dropped} node cases of float, half or double whose op levada has, "
             f"{floats} are mapped: "
             f"{100 * floats / (floats + floats_dropped):.1f} %. "
             f"Of other elements it is",
             f"{len(mapped) - floats - exported}; "
             f"of {exported + exported_dropped} that PyTorch exported, {exported}.", "",
             "| op | mapped | left out |", "|---|---|---|"]  # fmt: skip
    lines += [f"| {op} | {len(programs[op])} | {len(left_out[op]) or ''} |" for op in ops]
    lines += ["", "| left out | because |", "|---|---|"]
    lines += [f"| {case.name} | {reason} |" for op in ops for case, reason in left_out[op]]
    lines += ["", f"{graphs} cases are graphs of several nodes.", "",
              "| op without a twin in levada | cases |", "|---|---|"]  # fmt: skip
    lines += [f"| {op} | {count} |" for op, count in sorted(others.items())]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    if sys.argv[2] == "--list":
        print(listing(folder), end="")
    elif sys.argv[2] == "--check":
        if Path(sys.argv[3]).read_text() != listing(folder):
            sys.exit(f"{sys.argv[3]} is not what {sys.argv[0]} {folder} --list prints")
    else:
        choices = {"few": few_of_each, "one": one_of_each}
        write_sources(folder, Path(sys.argv[2]), choices[sys.argv[3]] if len(sys.argv) > 3 else all_programs)


if __name__ == "__main__":
    main()
