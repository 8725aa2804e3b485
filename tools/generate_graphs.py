#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes random graphs as types, each with the loop that does the same: generate_graphs.py FIRST COUNT SOURCE.

Nodes take one to three ports or earlier nodes, by names; some are serial stages with a state, some fail for some \
items, some
are lines, graphs themselves, or branches of a fork; some stand on a simulated device or before a border. What no node \
takes
is an output."""

import random

import generated_tests

HEAD = generated_tests.first_lines("generate_graphs", "random graphs as types, against loops", "generated_types")


class Graph:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.ports = [f"p{i}" for i in range(self.random.choice([1, 1, 2, 3]))]
        self.nodes, self.loop, self.states, self.taken = [], [], [], set()
        self.salt = 0
        there = list(self.ports)
        count = self.random.randint(2, 9)
        for i in range(count):
            name = f"n{i}"
            inputs = self.random.sample(there, min(len(there), self.random.choice([1, 1, 1, 2, 2, 3])))
            if i == 0 and len(self.ports) > 1:
                inputs = list(self.ports)  # no port without a taker
            self.add_node(name, inputs, i + 1 == count)
            there.append(name)
        self.outputs = [n for n in there if n not in self.taken]

    def next_salt(self):
        self.salt += 1
        return self.salt

    def stage(self, name, inputs, target):
        """The part and the lines of the loop for one callable."""
        kind = self.random.choice(["map", "map", "map", "serial", "failing"])
        salt = self.next_salt()
        parameters = ", ".join(f"const word& v{k}" for k in range(len(inputs)))
        values = ", ".join(f"v{k}" for k in range(len(inputs)))
        given = ", ".join(inputs)
        around = "stage" if len(inputs) == 1 else "join"
        if kind == "serial":
            self.states.append(f"s{salt}")
            self.loop.append(f"const word {target} = s{salt} = mixed({salt}, s{salt}, {given});")
            return (f'lv::{around}<"{name}">([s = word()]({parameters}) mutable'
                    f" {{ return s = mixed({salt}, s, {values}); }})")
        if kind == "failing":
            self.loop.append(f"const word {target} = may_fail({salt}, {given});")
            return f'lv::{around}<"{name}">(+[]({parameters}) {{ return may_fail({salt}, {values}); }})'
        self.loop.append(f"const word {target} = mixed({salt}, {given});")
        return f'lv::{around}<"{name}">(+[]({parameters}) {{ return mixed({salt}, {values}); }})'

    def part(self, name, inputs):
        """A stage, a line of two, a fork of one input, or a graph in the graph."""
        shape = self.random.choice(["stage", "stage", "stage", "line", "fork", "graph"])
        if shape == "line":
            first = self.stage(name + "a", inputs, name + "a")
            return f"{first} | {self.stage(name, [name + 'a'], name)}"
        if shape == "fork" and len(inputs) == 1:
            left = self.stage(name + "l", inputs, name + "l")
            right = self.random.choice([True, False])
            other = self.stage(name + "r", inputs, name + "r") if right else "lv::identity"
            joined = [name + "l", name + "r" if right else inputs[0]]
            return f"lv::fork({left}, {other}) | {self.stage(name, joined, name)}"
        if shape == "graph" and len(inputs) == 1:
            first = self.stage(name + "x", inputs, name + "x")
            last = self.stage(name, [name + "x", inputs[0]], name)
            return (f'lv::graph(lv::port<"in", word>, lv::node<"x", "in">({first}),'
                    f' lv::node<"y", "x", "in">({last}), lv::output<"out", "y">)')
        return self.stage(name, inputs, name)

    def add_node(self, name, inputs, is_last):
        part = self.part(name, inputs)
        if self.random.random() < 0.15:
            part = f"lv::on<lv::simulated<0>>({part})"
        elif self.random.random() < 0.15 and not is_last:
            part = f"{part} | lv::split_here"
        self.taken.update(inputs)
        takes = "".join(f', "{i}"' for i in inputs)
        self.nodes.append(f'lv::node<"{name}"{takes}>({part})')

    def text(self):
        parts = [f'lv::port<"{p}", word>' for p in self.ports] + self.nodes
        parts += [f'lv::output<"{o}", "{o}">' for o in self.outputs]
        state = "".join(f", {s} = word()" for s in self.states).lstrip(", ")
        ports = "".join(f"  const word {p} = item[{i}];\n" for i, p in enumerate(self.ports))
        loop = "".join(f"  {line}\n" for line in self.loop)
        names = ", ".join(f'"{o}"' for o in self.outputs)
        return (f'\nTEST_CASE("generated graph {self.seed}") {{\n'
                f"  const auto app = lv::deploy<box, lv::slots<{self.random.choice([1, 3, 8, 64])}>>("
                f"lv::graph({', '.join(parts)}));\n"
                f"  gives_what_the_loop_gives<{names}>(app, "
                f"[{state}]([[maybe_unused]] const words& item) mutable -> words {{\n"
                f"{ports}{loop}  return {{{', '.join(self.outputs)}}};\n  }});\n}}\n")


if __name__ == "__main__":
    generated_tests.write(__doc__, HEAD, Graph)
