#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes random graphs of ops as types, deployed with backends of regions: FIRST COUNT SOURCE.

Ops take one or two of all that was there before, by names; some stand on a simulated device, some behind a callable.
Two backends take regions by chance: of other shapes for each graph, with one to three outputs."""

import random

import generated_tests

HEAD = generated_tests.first_lines("generate_region_graphs",
                                   "random graphs of ops, by backends of regions and op by op",
                                   "generated_regions")


class Graph:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.nodes, self.untaken = [], ["in"]
        there = ["in"]
        for i in range(self.random.randint(3, 9)):
            self.add(f"n{i}", self.random.choices(there[-4:] + self.untaken, k=self.random.choice([1, 1, 2])))
            there.append(f"n{i}")
        while len(self.untaken) > 1:
            self.add(f"s{len(self.untaken)}", self.untaken[:2])

    def add(self, name, inputs):
        """One op, at times behind a callable."""
        op = self.random.choice(["neg", "abs", "relu"] if len(inputs) == 1 else ["add", "sub", "mul"])
        part = f"lv::nn::{op}"
        if self.random.random() < 0.1:
            part = f'{part} | lv::stage<"{name}c">(doubled)'
        elif self.random.random() < 0.1:
            part = f"lv::on<lv::simulated<0>>({part})"
        takes = "".join(f', "{i}"' for i in inputs)
        self.nodes.append(f'lv::node<"{name}"{takes}>({part})')
        self.untaken = [n for n in self.untaken if n not in inputs] + [name]

    def text(self):
        parts = ['lv::port<"in", small_item>'] + self.nodes + [f'lv::output<"out", "{self.untaken[0]}">']
        shapes = [f"lv::test::some_regions<{2 * self.seed + b}, {self.random.randint(2, 5)}, "
                  f"{self.random.choice([1, 1, 2, 3])}>" for b in range(2)]
        return (f'\nTEST_CASE("generated regions {self.seed}") {{\n'
                f"  const auto pipeline = lv::input<small_item> | lv::graph({', '.join(parts)});\n"
                f"  gives_what_reference_gives<{', '.join(shapes)}>(pipeline);\n}}\n")


if __name__ == "__main__":
    generated_tests.write(__doc__, HEAD, Graph)
