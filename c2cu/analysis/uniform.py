"""The uniform/varying analysis, and the verdict on obliviousness.

*Uniform*: the same for all inputs (or for all that execute the place at that time). *Varying*: may differ.
A program is oblivious if no address and no loop exit is varying (thesis, section 4.2: at each step it touches one
fixed address or none, whatever the data).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ..base import catalogue
from ..base.ctype import FIELDS, INT
from ..base.diagnostics import Loc
from ..base.libm import COMPLEX_PARTS
from ..ir.nodes import (
    MADE_PUBLIC,
    PUBLIC_FROM,
    SOME_LANE,
    Assign,
    Binary,
    Block,
    Call,
    Const,
    Expr,
    If,
    Kernel,
    Load,
    Loop,
    Region,
    Select,
    Stmt,
    Store,
    Var,
    Variable,
)
from ..ir.simplify import simplify
from ..ir.walk import blocks, expressions, rewrite, rewritten, statements, subexpressions
from .effects import READ, effects
from .finding import Finding, Step
from .live import live
from .separate import separate
from .webs import webs

LONGEST_TRAIL = 8
#: Library functions whose time does not depend on their arguments: bits are moved, no more.
_CONSTANT_TIME = ("fabs", "fabsf", "copysign", "copysignf", "signbit")


@dataclass(frozen=True)
class Uniform:
    """The kernel with its variables split into webs, what of it varies, and the findings."""

    kernel: Kernel
    varying: frozenset[Variable]
    varying_regions: frozenset[Region]
    findings: tuple[Finding, ...]

    def is_varying(self, e: Expr) -> bool:
        return not _is_vote(e) and any(self.is_leaf(x) for x in subexpressions(e))

    def is_leaf(self, x: Expr) -> bool:
        """Whether a node varies by itself, whatever its operands."""
        return (isinstance(x, Var) and x.var in self.varying) or (
            isinstance(x, Load) and x.region in self.varying_regions
        )

    def is_ended_by_data(self, s: Loop) -> bool:
        """Whether inputs may leave a loop at different turns."""
        return self.is_varying(s.cond) or any(f in self.varying for f in s.flags)

    @property
    def ends_on_data(self) -> bool:
        """Whether any loop does."""
        return any(isinstance(s, Loop) and self.is_ended_by_data(s) for s in statements(self.kernel.body))

    @property
    def oblivious(self) -> bool:
        return not any(f.severe for f in self.findings)


@dataclass(frozen=True)
class _Cause:
    """Why something varies: a step of a trail and what lies behind it."""

    step: Step | None
    behind: Variable | Region | None


class _Latest(threading.local):
    """The last result whose kernel is as it was analysed: passes that find nothing to do hand on the same kernel."""

    result: Uniform | None = None


_latest = _Latest()


def uniform(kernel: Kernel) -> Uniform:
    """Analyse a flat kernel: bulk regions vary, shared ones do not, and all else follows."""
    latest = _latest.result
    if latest is not None and latest.kernel is kernel:
        return latest
    analysis = _analysis(kernel, frozenset())
    result = analysis.run()
    _latest.result = result if result.kernel is analysis.kernel else None
    return result


def staggered(u: Uniform, number: int) -> Uniform:
    """``u`` where lanes are at different turns of an outermost loop, the one of that number: what one of its turns
    hands to the next varies."""
    split = webs(u.kernel)
    analysis = _Analysis(split.kernel, split.escapes, frozenset())
    loop = [s for s in split.kernel.body if isinstance(s, Loop)][number]
    assigned = {s.var for s in statements((loop,)) if isinstance(s, Assign)}
    for v in sorted(assigned & live(split.kernel.body).head[id(loop)], key=lambda v: v.uid):
        analysis.mark(v, "lanes are at different turns", loop.loc, None)
    return analysis.run()


def secrets(kernel: Kernel, public: frozenset[str] = frozenset()) -> tuple[Finding, ...]:
    """Where a flat kernel's time may depend on its inputs, all of which are secret but those of ``public``, by name: a
    secret decides an address, a loop's bound or a branch, or reaches a division, a remainder or a library function."""
    kernel, later = _until_public(kernel)
    analysis = _analysis(kernel, public)
    analysis.later = later
    analysis.settle()
    return _Findings(analysis, operations=True).collect()


def _until_public(kernel: Kernel) -> tuple[Kernel, dict[Region, Region]]:
    """The kernel with a load of something public for each value that is made so, and with another region for what is
    in one after a mark that it is public, to the end of the block in which the mark stands; and the regions that these
    stand for."""
    by_name = {r.name: r for r in kernel.regions}
    later: dict[Region, Region] = {}

    def block(b: Block, now: Mapping[Region, Region]) -> Block:
        out: list[Stmt] = []
        for s in b:
            if isinstance(s, Store) and s.region.name.startswith(PUBLIC_FROM):
                r = by_name[s.region.name.removeprefix(PUBLIC_FROM)]
                new = replace(r, name=f"{r.variable}.{len(later)} {r.name}", storage="local", init=None)
                later[new] = now.get(r, r)
                now = {**now, r: new}
            else:
                out.append(statement(s, now))
        return tuple(out)

    def statement(s: Stmt, now: Mapping[Region, Region]) -> Stmt:
        def expression(e: Expr) -> Expr:
            if isinstance(e, Call) and e.name == MADE_PUBLIC:  # a value that no input decides, and nobody knows
                return Load(Region(f"{MADE_PUBLIC} {e.type}", e.type, (1,), "shared"), Const(0, INT), e.loc)
            return replace(e, region=now[e.region]) if isinstance(e, Load) and e.region in now else e

        match s:
            case If():
                return replace(s, cond=rewrite(s.cond, expression), then=block(s.then, now), other=block(s.other, now))
            case Loop():
                head, body, step = (block(b, now) for b in blocks(s))
                return replace(s, cond=rewrite(s.cond, expression), head=head, body=body, step=step)
        [s] = rewritten((s,), expression, lambda r: now.get(r, r))
        return s

    body = block(kernel.body, {})
    return Kernel(kernel.name, (*kernel.regions, *later), body, kernel.loc), later


def _analysis(kernel: Kernel, public: frozenset[str]) -> _Analysis:
    split = webs(kernel)
    pruned = simplify(split.kernel.body)
    if pruned != split.kernel.body:
        split = webs(replace(kernel, body=pruned))
    return _Analysis(split.kernel, split.escapes, public)


class _Analysis:
    def __init__(self, kernel: Kernel, escapes: tuple[int, ...], public: frozenset[str]):
        self.kernel, self.escapes = kernel, escapes
        self.causes: dict[Variable | Region, _Cause] = {}
        for r in kernel.regions:
            if r.storage == "bulk" and r.variable not in public:
                self.causes[r] = _Cause(Step(f"'{r.variable}' is an input", r.loc), None)
        self.stores: dict[Region, _Cause] = {}  # of bulk regions: where another's data first goes in
        self.diverging: dict[int, Expr] = {}  # number of a construct -> its varying condition
        self.later: Mapping[Region, Region] = {}  # what is in a region after a mark, and the region
        self.changed = False

    def settle(self) -> None:
        """Find all that varies."""
        self.changed = True
        while self.changed:
            self.changed = False
            self.definitions = self.constructs = 0
            self.block(self.kernel.body, ())

    def run(self) -> Uniform:
        self.settle()
        findings = _Findings(self).collect()
        variables = frozenset(k for k in self.causes if isinstance(k, Variable))
        regions = frozenset(k for k in self.causes if isinstance(k, Region))
        result = Uniform(self.kernel, variables, regions, findings)
        return replace(result, kernel=separate(self.kernel, variables, result.is_varying))

    def source(self, e: Expr) -> Variable | Region | None:
        """The first varying thing that ``e`` reads."""
        for x in subexpressions(e):
            if isinstance(x, Var) and x.var in self.causes:
                return x.var
            if isinstance(x, Load) and x.region in self.causes:
                return x.region
        return None

    def mark(self, what: Variable | Region, message: str, loc: Loc, behind: Variable | Region | None) -> None:
        if what not in self.causes:
            self.causes[what] = _Cause(Step(message, loc) if message else None, behind)
            self.changed = True
        if isinstance(what, Region) and what in self.later:
            self.mark(self.later[what], message, loc, behind)

    def block(self, block: Block, around: tuple[int, ...]) -> None:
        for s in block:
            self.statement(s, around)

    def statement(self, s: Stmt, around: tuple[int, ...]) -> None:
        match s:
            case Assign():
                self.assign(s, around)
            case Store():
                self.store(s, around)
            case If():
                inner = self.enter(self.source(s.cond), s.cond, around)
                self.block(s.then, inner)
                self.block(s.other, inner)
            case Loop():
                flag = next((f for f in s.flags if f in self.causes), None)
                cond = Var(flag, s.loc) if flag is not None else s.cond
                inner = self.enter(flag or self.source(s.cond), cond, around)
                for part in (s.head, s.body, s.step):
                    self.block(part, inner)

    def enter(self, source: Variable | Region | None, cond: Expr, around: tuple[int, ...]) -> tuple[int, ...]:
        c = self.constructs
        self.constructs += 1
        if source is not None and c not in self.diverging:
            self.diverging[c] = cond
            self.changed = True
        return (*around, c)

    def assign(self, s: Assign, around: tuple[int, ...]) -> None:
        left = self.escapes[self.definitions]
        self.definitions += 1
        source = None if _is_vote(s.value) else self.source(s.value)
        if source is not None:
            arrives = isinstance(s.value, Load) and s.loc == s.value.region.loc  # a bulk scalar at the start
            name = _users_name(s.var)
            self.mark(s.var, "" if arrives or not name else f"'{name}' is assigned here", s.loc, source)
            return
        cond = next((self.diverging[c] for c in around if c >= left and c in self.diverging), None)
        if cond is not None:
            name = _users_name(s.var)
            others = "control leaves from here" if s.var.role == "exit" else "a value is computed"
            what = f"'{name}' is assigned" if name else others
            self.mark(s.var, f"{what} under a condition that depends on input data", s.loc, self.source(cond))

    def store(self, s: Store, around: tuple[int, ...]) -> None:
        source = self.source(s.value) or self.source(s.index)
        if source is not None:
            written = f"'{s.region.said}' is written here"
            self.mark(s.region, written, s.loc, source)
            if s.region.storage == "bulk" and source != s.region:
                self.stores.setdefault(s.region, _Cause(Step(written, s.loc), source))
            return
        cond = next((self.diverging[c] for c in around if c in self.diverging), None)
        if cond is not None:
            self.mark(
                s.region,
                f"'{s.region.said}' is written under a condition that depends on input data",
                s.loc,
                self.source(cond),
            )

    def cause(self, what: Variable | Region) -> _Cause:
        """Why it varies. A bulk region that nothing reads before it is written has its data from elsewhere."""
        if isinstance(what, Region) and what in self.stores and self.first.get(what.name) != READ:
            return self.stores[what]
        return self.causes[what]

    @cached_property
    def first(self) -> Mapping[str, str]:
        return effects(self.kernel).first

    def trail(self, source: Variable | Region | None) -> tuple[Step, ...]:
        steps, arrived = self.steps(source, self.cause)
        if not arrived:  # what is written comes from itself
            steps, _ = self.steps(source, self.causes.__getitem__)
        if len(steps) > LONGEST_TRAIL:
            steps = [*steps[: LONGEST_TRAIL - 1], steps[-1]]
        return tuple(steps)

    def steps(
        self, source: Variable | Region | None, cause_of: Callable[[Variable | Region], _Cause]
    ) -> tuple[list[Step], bool]:
        """The steps from ``source`` back, and whether they end where nothing lies behind."""
        steps: dict[Step, None] = {}
        passed: set[Variable | Region] = set()
        while source is not None and source not in passed:
            passed.add(source)
            cause = cause_of(source)
            if cause.step is not None:
                steps[cause.step] = None
            source = cause.behind
        return list(steps), source is None


def _is_vote(e: Expr) -> bool:
    return isinstance(e, Call) and e.name == SOME_LANE


def _users_name(v: Variable) -> str:
    """What the program calls a variable; "" of one that it does not have."""
    return "" if v.role or v.loc.file.startswith("<library") else (v.spelling or v.name).split(f".{FIELDS}")[0]


class _Findings:
    """All findings of an analysis that has settled, one for each place."""

    def __init__(self, analysis: _Analysis, operations: bool = False):
        self.a, self.operations = analysis, operations
        self.by_place: dict[tuple[str, Loc], Finding] = {}
        self.exits: dict[Variable, list[Loc]] = {}
        for s in statements(analysis.kernel.body):
            if isinstance(s, Assign) and isinstance(s.value, Const) and s.value.value:
                self.exits.setdefault(s.var, []).append(s.loc)

    def collect(self) -> tuple[Finding, ...]:
        for s in statements(self.a.kernel.body):
            self.statement(s)
            for e in expressions(s):
                self.expression(e)
        return tuple(sorted(self.by_place.values(), key=lambda f: (f.file, f.line, f.column, f.kind)))

    def add(self, kind: str, message: str, loc: Loc, source: Variable | Region | None) -> None:
        key = (kind, Loc(loc.file, loc.line, loc.column))
        if key not in self.by_place:
            self.by_place[key] = Finding(kind, message, loc, self.a.trail(source))

    def statement(self, s: Stmt) -> None:
        match s:
            case Store():
                self.address(s.region, s.index, s.loc)
            case If(branch=True):
                self.branch(s.cond, s.loc)
            case Loop():
                source = self.a.source(s.cond)
                if source is not None:
                    at = s.cond.loc if s.cond.loc.line else s.loc
                    self.add("loop-bound", catalogue.LOOP_DEPENDS.says(what="loop condition"), at, source)
                for f in s.flags:
                    if f in self.a.causes:
                        for loc in self.exits.get(f, [s.loc]):
                            self.add("loop-bound", catalogue.LOOP_DEPENDS.says(what="exit from the loop"), loc, f)

    def expression(self, e: Expr) -> None:
        for x in subexpressions(e):
            match x:
                case Load():
                    self.address(x.region, x.index, x.loc)
                case Select(cond=c):
                    self.branch(c, x.loc)
                case Binary(op="&&" | "||", left=c) if x.loc.line:
                    self.branch(c, c.loc)
                case Binary(op="/" | "%") | Call() if self.operations:
                    self.operation(x)

    def operation(self, x: Binary | Call) -> None:
        source = self.a.source(x)
        if source is None or (isinstance(x, Call) and x.name in _CONSTANT_TIME):
            return
        if isinstance(x, Call):
            what = f"'{x.name.split('_')[0] if x.name in COMPLEX_PARTS else x.name}'"
        elif isinstance(x.right, Const) and x.type.is_integer:
            what = f"'{x.op}' by a constant, which only an optimising compiler does without dividing,"
        else:
            what = f"'{x.op}'"
        self.add("operation", catalogue.OPERATION_DEPENDS.says(what=what), x.loc, source)

    def branch(self, cond: Expr, loc: Loc) -> None:
        source = self.a.source(cond)
        if source is not None:
            self.add("branch", catalogue.BRANCH_DEPENDS.says(), cond.loc if cond.loc.line else loc, source)

    def address(self, region: Region, index: Expr, loc: Loc) -> None:
        source = self.a.source(index)
        if source is None:
            return
        at = self.subscript(index)
        message = catalogue.ADDRESS_DEPENDS.says(name=region.said)
        self.add("address", message, at if at.line else loc, source)

    def subscript(self, index: Expr) -> Loc:
        """The place of the varying term: linearising D[i][j] made nodes that have no place of their own."""
        while not index.loc.line and isinstance(index, Binary):
            index = index.left if self.a.source(index.left) is not None else index.right
        return index.loc
