#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes test cases of ops of random shapes, `simd` against `reference`: generate_shapes.py FIRST COUNT SOURCE.

A case is named by its kind and its seed, which says all of it: the op, its extents, what follows it in its kernel, and
the numbers. Sixteen in a row have every kind. Sums are small, so that `reference` takes milliseconds; extents lie about
the lengths of vectors and blocks of registers."""

import random

import generated_tests

HEAD = """// Written by tools/generate_shapes.py: ops of random shapes, simd against reference.

#include <backend/shapes.hpp>

using namespace levada;
using namespace levada::testing;
"""

MOST_PRODUCTS = 300_000  # of a case, but those of Winograd's transforms
KINDS = ["conv", "depthwise", "pointwise", "int8", "ways", "pool", "product", "bfloat16", "conv", "transposed", "int8",
         "resize", "winograd", "depthwise", "pointwise", "ways"]


class Window:
    """A window in two dimensions, as options."""

    def __init__(self, size, stride=(1, 1), dilation=(1, 1), padding=(0, 0, 0, 0)):
        self.size, self.stride, self.dilation, self.padding = size, stride, dilation, padding

    def reach(self, axis):
        return (self.size[axis] - 1) * self.dilation[axis] + 1

    def output(self, axis, extent):
        """Rows or columns of the result, 0 where the window does not fit."""
        room = extent + self.padding[axis] + self.padding[axis + 2] - self.reach(axis)
        return 0 if room < 0 else room // self.stride[axis] + 1

    def pools(self, axis, extent):
        """Each window lies on an element of the picture."""
        if max(self.padding[axis], self.padding[axis + 2]) >= self.reach(axis):
            return False
        for i in range(self.output(axis, extent)):
            taps = [i * self.stride[axis] + k * self.dilation[axis] - self.padding[axis]
                    for k in range(self.size[axis])]
            if not any(0 <= t < extent for t in taps):
                return False
        return True

    def options(self):
        """All of them, or those that are not the default."""
        options = [f"levada::size<{self.size[0]}, {self.size[1]}>", f"stride<{self.stride[0]}, {self.stride[1]}>"]
        if self.dilation != (1, 1):
            options.append(f"dilation<{self.dilation[0]}, {self.dilation[1]}>")
        if any(self.padding):
            options.append(f"padding<{', '.join(map(str, self.padding))}>")
        return options


class Case:
    def __init__(self, seed):
        self.seed, self.kind = seed, KINDS[seed % len(KINDS)]
        self.random = random.Random(seed)

    def text(self):
        line = getattr(self, self.kind)()
        return f'\nTEST_CASE("{self.kind} {self.seed}") {{\n  generator().seed({self.seed});\n  {line};\n}}\n'

    # What shapes are made of.

    def one_of(self, *values):
        return self.random.choice(values)

    def chance(self, probability):
        return self.random.random() < probability

    def extent(self, most=40):
        """A length about those of vectors and blocks, or any."""
        length = self.one_of(1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 20, 23, 24, 25, 31, 32, 33, 39, 40)
        return min(most, length if self.chance(0.6) else self.random.randint(1, most))

    def channels(self, most=70):
        count = self.one_of(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 33, 40, 47, 48, 49, 63, 64, 65)
        return min(most, count if self.chance(0.6) else self.random.randint(1, most))

    def element(self):
        return "double" if self.chance(1 / 16) else "float"

    def window(self, sizes=(1, 2, 3, 3, 3, 4, 5, 5, 7), strides=(1, 1, 1, 2, 2, 3), most_padding=None):
        size = self.one_of(*sizes)
        both = (size, size) if self.chance(0.7) else (size, self.one_of(*sizes))
        stride = self.one_of(*strides)
        steps = (stride, stride) if self.chance(0.7) else (stride, self.one_of(*strides))
        apart = (1, 1) if self.chance(0.75) else (self.random.randint(1, 3), self.random.randint(1, 3))
        window = Window(both, steps, apart)
        if self.chance(0.35):
            return window
        most = [most_padding if most_padding is not None else window.reach(axis) for axis in (0, 1)]
        if self.chance(0.5):
            window.padding = (both[0] // 2, both[1] // 2) * 2  # as most networks have it
        elif self.chance(0.3):
            window.padding = tuple(self.random.randint(0, most[i % 2]) for i in range(4))
        else:
            window.padding = tuple(self.random.randint(0, min(2, most[i % 2])) for i in range(4))
        return window

    def function(self):
        """What may follow the sums, and makes no error larger."""
        return self.one_of([], ["relu_op()"], ["relu_op()"], ["bias_op()"], ["bias_op()", "relu_op()"], ["leaky"],
                           ["halved"], ["relu_op()", "halved"])

    def tail(self, rows, columns):
        """A function, and a pool that fuses."""
        behind = self.function()
        if self.chance(0.2) and rows > 1 and columns > 1 and not {"leaky", "halved"} & set(behind):
            sizes = (self.random.randint(1, min(4, rows)), self.random.randint(1, min(4, columns)))
            more = f", stride<{sizes[0] + 1}, {sizes[1]}>" if self.chance(0.2) else ""
            behind.append(f"max_pool2d_op<levada::size<{sizes[0]}, {sizes[1]}>{more}>()")
        if self.chance(0.1):
            behind.append("flatten_op()")
        return behind

    def convolution(self, groups_of, **window):
        """Channels, height, width, filters, window, groups, and the extents of the result."""
        while True:
            groups, channels, filters = groups_of()
            height, width = self.extent(), self.extent()
            w = self.window(**window)
            rows, columns = w.output(0, height), w.output(1, width)
            products = rows * columns * filters * (channels // groups) * w.size[0] * w.size[1]
            if 0 < products <= MOST_PRODUCTS:
                return channels, height, width, filters, w, groups, rows, columns

    # Groups, channels and filters.

    def one_group(self):
        return 1, self.channels(), self.channels()

    def one_channel(self):
        return 1, 1, 1

    def groups_of_conv(self):
        if self.chance(0.8):
            return self.one_group()
        groups = self.one_of(2, 3, 4, 5, 8)
        return groups, groups * self.channels(70 // groups), groups * self.channels(70 // groups)

    def groups_of_channels(self):
        channels = self.channels()
        return channels, channels, channels * self.one_of(1, 1, 1, 1, 2, 3)

    def options(self, window, groups):
        options = window.options() + ([f"groups<{groups}>"] if groups > 1 else [])
        return ", ".join(options + (["no_bias"] if self.chance(0.25) else []))

    # Kinds.

    def float_conv(self, groups_of, **window):
        channels, height, width, filters, w, groups, rows, columns = self.convolution(groups_of, **window)
        element = self.element()
        options = self.options(w, groups)
        op = f"conv2d_op<{filters}, {options}>()"
        given = f"tensor<{element}, {channels}, {height}, {width}>"
        if element == "float" and self.chance(0.2):
            return f"check_residual<{given}, {self.one_of('false', 'true')}>({op})"
        behind = self.tail(rows, columns) if element == "float" else self.one_of([], ["relu_op()"])
        return f"check_conv<{given}>({', '.join([op, *behind])})"

    def conv(self):
        return self.float_conv(self.groups_of_conv)

    def depthwise(self):
        return self.float_conv(self.groups_of_channels)

    def pointwise(self):
        return self.float_conv(self.one_group, sizes=(1,), most_padding=1,
                               strides=(1, 1, 1, 1, 2))

    def winograd(self):
        """Large enough to be transformed, most of them."""
        while True:
            channels, filters = self.random.randint(8, 70), self.random.randint(8, 70)
            height, width = self.random.randint(3, 24), self.random.randint(3, 40)
            w = Window((3, 3), padding=self.one_of((1, 1, 1, 1), (0, 0, 0, 0), tuple(
                self.random.randint(0, 3) for _ in range(4))))
            if height * width * channels * filters * 9 <= 10 * MOST_PRODUCTS:
                break
        groups = self.one_of(1, 1, 1, 2)
        channels, filters = groups * channels, groups * filters
        given = f"tensor<float, {channels}, {height}, {width}>"
        op = f"conv2d_op<{filters}, {self.options(w, groups)}>()"
        if self.chance(0.4):
            return f"check_residual<{given}, {self.one_of('false', 'true')}>({op})"
        return f"check_conv<{given}>({', '.join([op, *self.function()])})"

    def ways(self):
        """A convolution in each of the ways that can compute it."""
        groups_of = self.one_of(self.one_group, self.one_group, self.one_group, self.one_channel)
        windows = [{}, {"sizes": (1,), "most_padding": 0, "strides": (1, 1, 2)}, {"sizes": (3,), "strides": (1,)}]
        channels, height, width, filters, w, _, _, _ = self.convolution(groups_of, **self.one_of(*windows))
        return f"check_ways<tensor<float, {channels}, {height}, {width}>>(conv2d_op<{filters}, {self.options(w, 1)}>())"

    def int8(self):
        given, result = self.one_of("std::uint8_t", "std::int8_t"), self.one_of("std::uint8_t", "std::int8_t", "float")
        relu = self.one_of("false", "false", "true")
        if self.chance(0.2):
            inputs, outputs = self.channels(300), self.channels()
            bias = ", no_bias" if self.chance(0.25) else ""
            return (f"check_agreement<tensor<{given}, {inputs}>>(0, qlinear_dense_op<{outputs}, {result}, float{bias}>"
                    f"{{spread_numbers({inputs}, {relu})}})")
        groups_of = self.one_of(self.groups_of_conv, self.groups_of_channels)
        channels, height, width, filters, w, groups, rows, columns = self.convolution(groups_of)
        products = channels // groups * w.size[0] * w.size[1]
        op = (f"qlinear_conv2d_op<{filters}, {result}, float, {self.options(w, groups)}>"
              f"{{{{}}, spread_numbers({products}, {relu})}}")
        behind = ""
        if self.chance(0.2) and rows > 1 and columns > 1 and groups == 1:
            behind = f", max_pool2d_op<levada::size<{self.random.randint(1, min(3, rows))}>>()"
        return f"check_agreement<tensor<{given}, {channels}, {height}, {width}>>(0, {op}{behind})"

    def bfloat16(self):
        given, result = self.one_of("bfloat16", "bfloat16", "float"), self.one_of("bfloat16", "bfloat16", "float")
        range_of = self.one_of("", "not_below_zero")
        if self.chance(0.2):
            inputs, outputs = self.channels(300), self.channels()
            bias = ", no_bias" if self.chance(0.25) else ""
            return (f"check_equal<tensor<{given}, {inputs}>>(bfloat16_dense_op<{outputs}, {result}{bias}>"
                    f"{{{range_of}}})")
        groups_of = self.one_of(self.groups_of_conv, self.groups_of_conv, self.groups_of_channels)
        channels, height, width, filters, w, groups, _, _ = self.convolution(groups_of)
        op = f"bfloat16_conv2d_op<{filters}, {result}, {self.options(w, groups)}>{{{{}}, {range_of or '{}'}}}"
        return f"check_equal<tensor<{given}, {channels}, {height}, {width}>>({op})"

    def pool(self):
        while True:
            height, width = self.extent(), self.extent()
            w = self.window(sizes=(1, 2, 2, 3, 3, 4, 5, 7), strides=(1, 2, 2, 3), most_padding=3)
            if all(w.pools(axis, extent) and w.output(axis, extent) for axis, extent in ((0, height), (1, width))):
                break
        options, channels = w.options(), self.channels(9)
        if self.chance(0.5):
            element = self.one_of("float", "float", "float", "double", "std::uint8_t", "std::int8_t")
            op, bound = f"max_pool2d_op<{', '.join(options)}>()", "0"
        else:
            element, bound = "float", f"{max(10, w.size[0] * w.size[1])} * epsilon"
            op = f"avg_pool2d_op<{', '.join(options + self.one_of([], ['count_padding']))}>()"
        given = f"tensor<{element}, {channels}, {height}, {width}>"
        fuses = element == "float" and w.dilation == (1, 1)
        behind = self.one_of("", ", leaky", ", halved") if fuses else ""
        return f"check_agreement<{given}>({bound}, {op}{behind})"

    def product(self):
        """dense of one or several rows, or a product of two matrices."""
        if self.chance(0.5):
            inner, element = self.channels(150), self.element()
            left, right = [self.extent(), inner], [inner, self.channels(100)]
            batch = self.one_of([], [], [self.random.randint(1, 4)], [self.random.randint(2, 3), 2])
            left = [1 if self.chance(0.2) else b for b in batch] + left
            right = (batch if self.chance(0.5) else []) + right
            if self.chance(0.1):
                left, right = [inner], right
            elif self.chance(0.1):
                left, right = left, [inner]
            extents = [", ".join(map(str, s)) for s in (left, right)]
            return f"check_matmul<tensor<{element}, {extents[0]}>, tensor<{element}, {extents[1]}>>()"
        inputs, outputs = self.channels(300), self.channels(100)
        rows = self.one_of([], [], [self.extent()], [self.random.randint(1, 4), self.random.randint(1, 9)])
        behind = self.function()
        if rows and "bias_op()" in behind:
            behind.remove("bias_op()")  # it is along the first axis
        bias = ", no_bias" if self.chance(0.25) else ""
        extents = ", ".join(map(str, rows + [inputs]))
        ops = ", ".join([f"dense_op<{outputs}{bias}>()", *behind])
        return f"check_agreement<tensor<float, {extents}>>({inputs + 2} * epsilon, {ops})"

    def transposed(self):
        while True:
            groups, channels, filters = self.groups_of_conv()
            height, width = self.extent(20), self.extent(20)
            w = self.window(most_padding=3)
            added = [self.random.randint(0, w.stride[axis] - 1) if self.chance(0.3) else 0 for axis in (0, 1)]
            out = [(extent - 1) * w.stride[axis] + w.reach(axis) + added[axis] - w.padding[axis] - w.padding[axis + 2]
                   for axis, extent in ((0, height), (1, width))]
            products = height * width * filters * (channels // groups) * w.size[0] * w.size[1]
            if min(out) > 0 and products <= MOST_PRODUCTS:
                break
        more = f", output_padding<{added[0]}, {added[1]}>" if any(added) else ""
        op = f"conv_transpose2d_op<{filters}, {self.options(w, groups)}{more}>()"
        element = self.element()
        behind = self.function() if element == "float" else []
        if behind and self.chance(0.2):
            behind.append("flatten_op()")
        return f"check_conv<tensor<{element}, {channels}, {height}, {width}>>({', '.join([op, *behind])})"

    def resize(self):
        mode = self.one_of("nearest", "bilinear", "bilinear", "bicubic")
        element, layout = self.one_of("float", "std::uint8_t"), self.one_of("chw", "hwc")
        height, width, channels = self.extent(), self.extent(), self.one_of(1, 2, 3, 4, 5)
        extents = (channels, height, width) if layout == "chw" else (height, width, channels)
        bound = "0" if mode == "nearest" else "1" if element != "float" else \
            "8 * epsilon" if mode == "bilinear" else "16 * epsilon"
        coordinates = self.one_of("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                  "tf_half_pixel_for_nn")
        nearest = self.one_of("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
        rule = f"{{.coordinates = coordinate_mode::{coordinates}, .nearest = nearest_mode::{nearest}}}"
        op = f"resize_op<{self.extent()}, {self.extent()}, resize_mode::{mode}, layout::{layout}>{{{{}}, {rule}}}"
        return f"check_agreement<tensor<{element}, {', '.join(map(str, extents))}>>({bound}, {op})"


if __name__ == "__main__":
    generated_tests.write(__doc__, HEAD, Case)
