#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes random pipelines that change their rate as types: generate_rate_graphs.py FIRST COUNT FOLDER.

FOLDER/rates_FIRST.cpp has those whose balance equations have a solution, each with the simulation that gives the same
(tests/run/rate_simulation.hpp). Every fourth has none, and is a program of its own, FOLDER/wrong_rates_NUMBER.cpp, \
with the
sentence that its compiler has to say (tools/check_must_not_compile.py)."""

import math
import random
from fractions import Fraction

import generated_tests

HEAD = generated_tests.first_lines("generate_rate_graphs",
                                   "random pipelines that change their rate as types, against simulations",
                                   "generated_rates")

WRONG = """// error: {sentence}
{places}
// Written by tools/generate_rate_graphs.py.

#include <levada/levada.hpp>

#include <run/generated_rates_parts.hpp>

namespace lv = levada;
using namespace levada::test;

int main() {{
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>({pipeline});
  auto session = app.open();
  return session.is_over() ? 1 : 0;
}}
"""

MOST = 6  # items taken or given at once


class Unfit(Exception):
    """Another try is needed."""


class Part:
    """A piece of a pipeline, the simulation of it, how many items it gives of one, and the first mistake in it."""

    def __init__(self, text, simulated, slope=Fraction(1), rated=False, mistake=None, ratios=()):
        self.text, self.simulated, self.slope, self.rated, self.mistake = text, simulated, slope, rated, mistake
        self.ratios = ratios  # of the rates that it is in a line: so many taken, so many given


def given_of(slope):
    return f"given_of<{slope.numerator}, {slope.denominator}>"


def in_line(parts):
    text = " | ".join(p.text for p in parts) or "lv::identity"
    simulated = f"in_line({{{', '.join(p.simulated for p in parts)}}})"
    mistake = next((p.mistake for p in parts if p.mistake), None)
    ratios = [r for p in parts for r in p.ratios]
    return Part(text, simulated, math.prod((p.slope for p in parts), start=Fraction(1)), any(p.rated for p in parts),
                mistake, ratios)


class Generator:
    def __init__(self, seed, consistent):
        self.random = random.Random(seed)
        self.consistent = consistent
        self.count = 0

    def name(self):
        self.count += 1
        return f"p{self.count}"

    def part(self, text, simulated, takes=1, gives=1):
        return Part(text, simulated, Fraction(gives, takes), True, ratios=[(takes, gives)])

    def stage(self, kinds, around="stage"):
        name, salt = self.name(), self.count
        kind = self.random.choice(kinds)
        made = {"plain": f"mixing<{salt}>", "serial": f"serially_mixing<{salt}>()", "failing": f"failing<{salt}>"}[kind]
        return Part(f'lv::{around}<"{name}">({made})', f"of<stage>(stage::{kind}, {salt})")

    def rate(self, kinds):
        """A part of a line that changes the rate."""
        kind = self.random.choice(["downsample", "repeat", "batch", "unbatch", "window", "window", "rate"])
        n, m = self.random.randint(2, 4), self.random.randint(1, 3)
        pads = self.random.choice([True, False])
        partial, padded = ("lv::partial::pad" if pads else "lv::partial::drop"), str(pads).lower()
        if kind == "downsample":
            return [self.part(f"lv::downsample<{n}>", f"of<downsample>({n})", takes=n)]
        if kind == "repeat":
            return [self.part(f"lv::repeat<{m}>", f"of<repeat>({m})", gives=m)]
        if kind == "batch":
            return [self.part(f"lv::batch<{n}, {partial}>", f"of<batch>({n}, {padded})", takes=n), self.stage(kinds)]
        if kind == "unbatch":
            self.count += 1
            each = Part(f'lv::stage<"e{self.count}">(mixing_each<{self.count}>)',
                        f"of<stage>(stage::each, {self.count})")
            return [self.part(f"lv::batch<{n}, {partial}>", f"of<batch>({n}, {padded})", takes=n), each,
                    self.part("lv::unbatch", "of<unbatch>()", gives=n)]
        if kind == "window":
            return [self.part(f"lv::window<{n + m - 1}, {m}, {partial}>", f"of<window>({n + m - 1}, {m}, {padded})",
                              takes=m),
                    self.stage(kinds)]
        return [self.some_for_others(n, m)]

    def some_for_others(self, takes, gives):
        name = self.name()
        return self.part(f'lv::rate<"{name}", {takes}, {gives}, word>(some_for_others<{self.count}>)',
                         f"of<rate>({takes}, {gives}, {self.count})", takes, gives)

    def line(self, kinds, depth, fewest=0, most=3):
        parts = []
        for _ in range(self.random.randint(fewest, most)):
            what = self.random.choice(["stage", "rate", "rate", "fork", "graph"] if depth else ["stage", "rate"])
            if what == "stage":
                parts.append(self.stage(kinds))
            elif what == "rate":
                parts += self.rate(kinds)
            elif what == "fork":
                parts += self.fork(kinds, depth - 1)
            else:
                parts += self.graph(kinds, depth - 1)
        return in_line(parts)

    def brought_to(self, slope, line):
        """What is missing in a line that should give at that rate."""
        missing = slope / line.slope
        if missing == 1:
            return line
        if max(missing.numerator, missing.denominator) > MOST:
            raise Unfit
        last = self.some_for_others(missing.denominator, missing.numerator)
        if line.text == "lv::identity":
            return in_line([last])
        return in_line([line, last])

    def wants_balance(self):
        return self.consistent or self.random.random() < 0.4

    def fork(self, kinds, depth):
        branches = [self.line(kinds, depth) for _ in range(self.random.choice([2, 2, 3]))]
        if self.wants_balance():
            branches[1:] = [self.brought_to(branches[0].slope, b) for b in branches[1:]]
        if all(b.text == "lv::identity" for b in branches):
            branches[0] = in_line([self.stage(kinds)])
        mistake = next((b.mistake for b in branches if b.mistake), None)
        first = branches[0].slope
        for i, b in enumerate(branches):
            if mistake is None and b.slope != first:
                mistake = ("branches_of_a_fork_give_at_different_rates", [given_of(first), str(i), given_of(b.slope)])
        rated = any(b.rated for b in branches)
        fork = Part(f"lv::fork({', '.join(b.text for b in branches)})",
                    f"fork({{{', '.join(b.simulated for b in branches)}}})", first, rated, mistake,
                    [(first.denominator, first.numerator)] if rated else [])
        return [fork, self.stage(kinds, "join")]

    def graph(self, kinds, depth, ports=1, joins_outputs=True):
        names = [self.name() for _ in range(ports)]
        slopes, taken, texts, simulated = [Fraction(1)] * ports, set(), [], []
        mistake, rated = None, False

        def add(inputs, line):
            nonlocal mistake, rated
            name = self.name()
            for k, i in enumerate(inputs):
                if mistake is None and slopes[i] != slopes[inputs[0]]:
                    mistake = ("graph_takes_together_what_comes_at_different_rates",
                               [f'"{name}"', given_of(slopes[inputs[0]]), str(k), given_of(slopes[i])])
            mistake, rated = mistake or line.mistake, rated or line.rated
            taken.update(inputs)
            slopes.append(slopes[inputs[0]] * line.slope)
            names.append(name)
            takes = "".join(f', "{names[i]}"' for i in inputs)
            texts.append(f'lv::node<"{name}"{takes}>({line.text})')
            simulated.append(f"{{{{{', '.join(map(str, inputs))}}}, {line.simulated}}}")

        for n in range(self.random.randint(2, 4)):
            first = self.random.randrange(len(names))
            fitting = [i for i in range(len(names))
                       if i != first and (slopes[i] == slopes[first] or not self.wants_balance())]
            inputs = [first] + self.random.sample(fitting, min(len(fitting), self.random.choice([0, 0, 1, 2])))
            if n == 0:
                inputs = list(range(ports))
            if len(inputs) == 1:
                add(inputs, self.line(kinds, depth, fewest=1, most=2))
            else:
                add(inputs, in_line([self.stage(kinds, "join"), self.line(kinds, 0, fewest=1, most=1)]))
        outputs = [i for i in range(len(names)) if i not in taken]
        if self.wants_balance():
            for i in outputs[1:]:
                if slopes[i] != slopes[outputs[0]]:
                    add([i], self.brought_to(slopes[outputs[0]] / slopes[i], in_line([])))
            outputs = [i for i in range(len(names)) if i not in taken]
        for k, i in enumerate(outputs):
            if mistake is None and slopes[i] != slopes[outputs[0]]:
                mistake = ("graph_takes_together_what_comes_at_different_rates",
                           [f'"o{names[i]}"', given_of(slopes[outputs[0]]), str(k), given_of(slopes[i])])
        pieces = [f'lv::port<"{names[i]}", word>' for i in range(ports)] + texts
        pieces += [f'lv::output<"o{names[i]}", "{names[i]}">' for i in outputs]
        slope = slopes[outputs[0]]
        if not rated and mistake is not None:
            raise Unfit
        graph = Part(f"lv::graph({', '.join(pieces)})",
                     f"std::make_shared<graph>({ports}, std::vector<graph::node>{{{', '.join(simulated)}}},"
                     f" std::vector<std::size_t>{{{', '.join(map(str, outputs))}}})",
                     slope, rated, mistake, [(slope.denominator, slope.numerator)] if rated else [])
        self.outputs = [f"o{names[i]}" for i in outputs]
        return [graph, self.joined(kinds)] if joins_outputs and len(outputs) > 1 else [graph]

    def joined(self, kinds):
        """A graph that makes one of what the one before gives."""
        join, name = self.stage(kinds, "join"), self.name()
        ports = ", ".join(f'lv::port<"{o}", word>' for o in self.outputs)
        takes = ", ".join(f'"{o}"' for o in self.outputs)
        return Part(f'lv::graph({ports}, lv::node<"{name}", {takes}>({join.text}), lv::output<"o{name}", "{name}">)',
                    join.simulated)

    def pipeline(self):
        """Parts in a line, and the names of what leaves."""
        inside = lambda: self.random.choice([["plain", "serial"], ["plain", "failing"]])
        anywhere = ["plain", "plain", "serial", "failing"]
        parts, outputs = [], []
        ports = self.random.choice([1, 1, 2, 3])
        if ports > 1:
            parts += self.graph(inside(), 0, ports)
        else:
            parts.append(Part("lv::input<word>", None))
        for _ in range(self.random.randint(0, 2)):
            parts += self.random.choice([lambda: [self.stage(anywhere)], lambda: self.rate(anywhere)])()
        if self.random.random() < 0.3:
            parts += self.graph(inside(), 1, joins_outputs=False)
            outputs = self.outputs if len(self.outputs) > 1 else []
        else:
            parts += self.random.choice([self.fork, self.graph])(inside(), 1)
            for _ in range(self.random.randint(0, 2)):
                parts += self.random.choice([lambda: [self.stage(anywhere)], lambda: self.rate(anywhere)])()
        return parts, outputs


def repetitions(ratios):
    times = [Fraction(1)]
    for takes, gives in ratios:
        times.append(times[-1] * gives / takes)
    least = math.lcm(*(t.denominator for t in times))
    return [int(t * least) for t in times]


def generate(seed, consistent):
    """One that is fit, found in the order of tries."""
    for attempt in range(10_000):
        generator = Generator(seed * 10_000 + attempt, consistent)
        try:
            parts, outputs = generator.pipeline()
        except Unfit:
            continue
        whole = in_line([p for p in parts if p.simulated])
        inside = any("lv::fork" in p.text or "lv::graph" in p.text for p in parts if p.rated)
        most, slope = Fraction(1), Fraction(1)
        for p in parts:
            slope *= p.slope
            most = max(most, slope)
        if not inside or (whole.mistake is None) != consistent or most > MOST or max(repetitions(whole.ratios)) > 60:
            continue
        return parts, outputs, whole
    raise SystemExit(f"no fit pipeline for seed {seed}")


def test_case(seed):
    parts, outputs, whole = generate(seed, True)
    times = repetitions(whole.ratios)
    names = "".join(f', "{o}"' for o in outputs)
    return (f'\nTEST_CASE("generated rates {seed}") {{\n  using namespace simulation;\n'
            f"  const auto app = lv::deploy<rates_box, lv::slots<{random.Random(seed).choice([1, 2, 8, 64])}>>("
            f"{' | '.join(p.text for p in parts)});\n"
            f"  static_assert(decltype(app)::plan.repetitions == "
            f"std::array<std::size_t, {len(times)}>{{{', '.join(map(str, times))}}});\n"
            f"  gives_what_the_simulation_gives<{names[2:]}>(app, "
            f"line{{{', '.join(p.simulated for p in parts if p.simulated)}}});\n}}\n")


def wrong_program(seed):
    parts, _, whole = generate(seed, False)
    sentence, places = whole.mistake
    return WRONG.format(sentence=sentence, places="\n".join(f"// place: {p}" for p in places),
                        pipeline=" | ".join(p.text for p in parts))


def main():
    seeds, folder = generated_tests.seeds_and_place(__doc__)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"rates_{seeds.start}.cpp").write_text(
        HEAD + "".join(test_case(seed) for seed in seeds if seed % 4 != 3), encoding="utf-8")
    for seed in seeds:
        if seed % 4 == 3:
            (folder / f"wrong_rates_{seed}.cpp").write_text(wrong_program(seed), encoding="utf-8")


if __name__ == "__main__":
    main()
