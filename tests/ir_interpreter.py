"""The flat IR, executed: several inputs in lockstep, as `ir.nodes` says in words.

Lanes go through a kernel together; an If or a Loop splits the active ones as a SIMD machine's mask does. Given a
`Uniform` analysis, what it calls uniform has *one* copy for all lanes, and the interpreter asserts that the active
lanes agree on every uniform expression. So a kernel that runs alike with the analysis and, lane by lane, without
it is one that the analysis did not misjudge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from c2cu.analysis.uniform import Uniform
from c2cu.base.ctype import Scalar
from c2cu.ir.nodes import (
    Assign,
    Binary,
    Bitcast,
    Block,
    Call,
    Cast,
    Const,
    Expr,
    Extremum,
    If,
    Kernel,
    Load,
    Loop,
    Region,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    Variable,
)

Number = int | float
Lanes = tuple[int, ...]  # numbers of the active lanes


@dataclass
class Outcome:
    """``memory``: of each lane, every region's elements by name. ``split``: the kinds of divergence that happened,
    in the words of `Finding.kind`."""

    memory: list[dict[str, list[Number]]]
    split: set[str] = field(default_factory=set)


def run(
    kernel: Kernel,
    inputs: Sequence[Mapping[str, Sequence[Number]]],
    analysis: Uniform | None = None,
    budget: int = 100_000,
) -> Outcome:
    """Execute ``kernel`` for ``inputs``: of each lane, elements by the region's name.

    What is not given starts as ``init`` says, or at zero; a shared region takes what the first lane gives. Raises
    AssertionError for a subscript out of bounds, a division by zero, a shift too far, more than ``budget``
    statements, or lanes that disagree on what ``analysis`` calls uniform.
    """
    machine = _Machine(kernel, inputs, analysis, budget)
    machine.block(kernel.body, tuple(range(len(inputs))))
    memory = [{r.name: machine.memory[r][lane] for r in kernel.regions} for lane in range(len(inputs))]
    return Outcome(memory, machine.split)


class _Machine:
    def __init__(self, kernel: Kernel, inputs: Sequence[Mapping], analysis: Uniform | None, budget: int):
        self.lanes, self.analysis, self.budget = len(inputs), analysis, budget
        self.variables: dict[Variable, list[Number]] = {}
        self.memory: dict[Region, list[list[Number]]] = {}
        self.split: set[str] = set()
        self.is_uniform: dict[int, bool] = {}  # id(expression) -> what the analysis says
        for r in kernel.regions:
            if r.storage == "shared" or (analysis is not None and r not in analysis.varying_regions):
                self.memory[r] = [_initial(r, inputs[0])] * self.lanes
            else:
                self.memory[r] = [_initial(r, data) for data in inputs]

    # statements

    def block(self, block: Block, active: Lanes) -> None:
        for s in block:
            if active:
                self.statement(s, active)

    def statement(self, s: Stmt, active: Lanes) -> None:
        self.budget -= 1
        assert self.budget, "too many steps"
        match s:
            case Assign():
                self.assign(s, active)
            case Store():
                self.store(s, active)
            case If():
                taken = self.where(s.cond, active)
                if s.branch and 0 < len(taken) < len(active):
                    self.split.add("branch")
                self.block(s.then, taken)
                self.block(s.other, tuple(k for k in active if k not in taken))
            case Loop():
                self.loop(s, active)

    def assign(self, s: Assign, active: Lanes) -> None:
        new = self.values(s.value, active)
        if self.analysis is not None and s.var not in self.analysis.varying:
            _agree(s, new)
            self.variables[s.var] = [new[0]] * self.lanes
            return
        cells = self.variables.setdefault(s.var, [0] * self.lanes)
        for lane, value in zip(active, new):
            cells[lane] = value

    def store(self, s: Store, active: Lanes) -> None:
        index, new = self.index(s, active), self.values(s.value, active)
        if self.analysis is not None and s.region not in self.analysis.varying_regions:
            _agree(s, index)
            _agree(s, new)
        for lane, i, value in zip(active, index, new):
            self.memory[s.region][lane][int(i)] = value

    def loop(self, s: Loop, active: Lanes) -> None:
        while active := self.staying(active, self.unflagged(s, active)):
            self.block(s.head, active)
            active = self.staying(active, self.where(s.cond, active))
            self.block(s.body, active)
            active = self.staying(active, self.unflagged(s, active))
            self.block(s.step, active)

    def staying(self, active: Lanes, left: Lanes) -> Lanes:
        if 0 < len(left) < len(active):
            self.split.add("loop-bound")
        return left

    def unflagged(self, s: Loop, active: Lanes) -> Lanes:
        for f in s.flags:
            leaving = self.where(Var(f), active) if active else ()
            active = tuple(k for k in active if k not in leaving)
        return active

    def where(self, cond: Expr, active: Lanes) -> Lanes:
        return tuple(k for k, v in zip(active, self.values(cond, active)) if v) if active else ()

    # expressions

    def values(self, e: Expr, active: Lanes) -> list[Number]:
        """The value of ``e`` in each active lane."""
        out = self.evaluate(e, active)
        if self.analysis is not None:
            if id(e) not in self.is_uniform:
                self.is_uniform[id(e)] = not self.analysis.is_varying(e)
            if self.is_uniform[id(e)]:
                _agree(e, out)
        return out

    def evaluate(self, e: Expr, active: Lanes) -> list[Number]:
        match e:
            case Const():
                return [e.value] * len(active)
            case Var():
                cells = self.variables.get(e.var, [0] * self.lanes)
                return [cells[k] for k in active]
            case Load():
                return [self.memory[e.region][k][int(i)] for k, i in zip(active, self.index(e, active))]
            case Unary():
                return [_unary(e.op, e.type, a) for a in self.values(e.operand, active)]
            case Binary():
                left, right = self.values(e.left, active), self.values(e.right, active)
                if e.op in ("&&", "||") and len({bool(a) for a in left}) > 1:
                    self.split.add("branch")
                return [_binary(e.op, e.type, a, b) for a, b in zip(left, right)]
            case Cast():
                return [_cast(a, e.operand.type, e.type) for a in self.values(e.operand, active)]
            case Bitcast():
                return [_bits(a, e.operand.type, e.type) for a in self.values(e.operand, active)]
            case Select():
                cond, yes, no = (self.values(x, active) for x in (e.cond, e.yes, e.no))
                if len({bool(c) for c in cond}) > 1:
                    self.split.add("branch")
                return [a if c else b for c, a, b in zip(cond, yes, no)]
            case Extremum():
                return list(map(partial(_extremum, e), self.values(e.left, active), self.values(e.right, active)))
            case Call():
                args = [self.values(x, active) for x in e.args]
                return [_call(e, operands) for operands in zip(*args)]
        raise AssertionError(e)

    def index(self, e: Load | Store, active: Lanes) -> list[Number]:
        index = self.values(e.index, active)
        assert all(0 <= i < e.region.count for i in index), f"out of bounds: {e}"
        if len(set(index)) > 1:
            self.split.add("address")
        return index


def _initial(r: Region, data: Mapping[str, Sequence[Number]]) -> list[Number]:
    if r.name in data:
        assert len(data[r.name]) == r.count
        return list(data[r.name])
    return list(r.init) if r.init is not None else [r.type.wrap(0)] * r.count


def _agree(node: Any, values: Sequence[Number]) -> None:
    """By their text, so that NaN equals NaN and -0.0 does not equal 0.0."""
    assert len({repr(v) for v in values}) < 2, f"{node} is called uniform and is {values}"


def _unary(op: str, t: Scalar, a: Number) -> Number:
    if op == "!":
        return int(not a)
    return t.wrap(-a if op == "-" else ~int(a))


COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
}
ARITHMETIC: dict[str, Callable[[Any, Any], Number]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
}


def _binary(op: str, t: Scalar, a: Number, b: Number) -> Number:
    if op in COMPARISONS:
        return int(COMPARISONS[op](a, b))
    if op in ("/", "%"):
        return t.wrap(_divide(op, t, a, b))
    assert op not in ("<<", ">>") or 0 <= b < t.bits, f"a shift of {t} by {b}"
    return t.wrap(ARITHMETIC[op](a, b))


def _divide(op: str, t: Scalar, a: Number, b: Number) -> Number:
    if t.is_float:
        with np.errstate(all="ignore"):
            return float(np.float64(a) / np.float64(b))
    assert b, "a division by zero"
    quotient = abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if op == "/" else a - quotient * b


def _cast(a: Number, source: Scalar, target: Scalar) -> Number:
    if source.is_integer and target.is_float:
        return float(np.array(a, source.numpy).astype(target.numpy))  # rounds once
    if source.is_float and target.is_integer and target.kind != "b":
        if not math.isfinite(a):
            return 0  # undefined; C does not get here, but the arms of a Select are all evaluated
    return target.wrap(a)


def _bits(a: Number, source: Scalar, target: Scalar) -> Number:
    return np.array([a], source.numpy).view(target.numpy)[0].item()


def _extremum(e: Extremum, a: Number, b: Number) -> Number:
    first, second = (a, b) if e.op == "min" else (b, a)
    match e.rule:
        case "strict":
            return a if first < second else b
        case "weak":
            return a if first <= second else b
    return b if a != a else a if b != b else min(a, b) if e.op == "min" else max(a, b)


def _call(e: Call, args: Sequence[Number]) -> Number:
    """Those of libm that NumPy has under the same or a similar name."""
    name = e.name if hasattr(np, e.name) else e.name.removesuffix("f")
    operands = [np.array(a, x.type.numpy) for a, x in zip(args, e.args)]
    with np.errstate(all="ignore"):
        return getattr(np, {"pow": "power"}.get(name, name))(*operands).item()
