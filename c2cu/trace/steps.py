"""The steps of the tracer in order: the uniform part of a kernel, and a record of every access. `text` prints them as
C."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

from ..analysis.uniform import Uniform
from ..base.ctype import INT
from ..base.diagnostics import Loc
from ..ir.nodes import (
    ENDED,
    Assign,
    Binary,
    Bitcast,
    Block,
    Call,
    Cast,
    Const,
    Expr,
    If,
    Load,
    Loop,
    Region,
    Stmt,
    Store,
    Unary,
    Var,
    Variable,
)
from ..ir.walk import operands, touched, used
from ..transform.early import has_end
from .guards import Guards, KnownOutcomes, Outcomes, reads, without
from .sites import (
    Nest,
    Place,
    Site,
    arms,
    carried,
    changed,
    data_ends,
    doubtful,
    needed,
    nests,
    passed_over,
    uniform_arms,
)
from .undefined import Why, undefined

_Node = Load | Store | Var | Assign
COUNTERS = 8  # values that a fault is reported with


class Unknown(Exception):
    """Addresses depend on values that only the run brings. ``regions``: the shared variables."""

    def __init__(self, regions: tuple[Region, ...]):
        self.regions = regions


# Steps. An `Assign` or a `Store` among them is uniform, and is executed as it is.


@dataclass(frozen=True)
class CountBlock:
    """Counts an execution of the straight line of statements that has this number."""

    block: int


@dataclass(frozen=True)
class Branch:
    cond: Expr
    then: Steps
    other: Steps = ()


@dataclass(frozen=True)
class Guarded:
    """An arm of a branch on data. Where ``cond`` is false, the arm cannot be reached, whatever the data."""

    cond: Expr
    steps: Steps


@dataclass(frozen=True)
class Stop:
    """The trace ends here where ``cond`` is true."""

    cond: Expr
    why: Why


@dataclass(frozen=True)
class Began:
    """The first arm of a branch on data begins, or (``turned``) its else. ``pair``: the branch's number."""

    pair: int
    turned: bool


@dataclass(frozen=True)
class Repeat:
    """A loop, as `ir.Loop` says."""

    nest: Nest
    head: Steps
    body: Steps
    step: Steps


@dataclass(frozen=True)
class Check:
    """Checks that ``index`` is at least 0 and below ``extent``; else ``site`` has a fault. ``stops``: whether the trace
    ends then, as what follows depends on it."""

    index: Expr
    extent: int
    site: int
    stops: bool

    @property
    def element(self) -> int | None:
        """The index where it is a constant that passes."""
        index = self.index
        return int(index.value) if isinstance(index, Const) and 0 <= index.value < self.extent else None


@dataclass(frozen=True)
class Access:
    """Records an access. ``checks`` are made first, that of the index last; if one fails, nothing is recorded.

    ``cell``: the number of the record of the place's first element. ``local``: the place has no value before the first
    store. ``known``: every turn computes the value by itself. ``private``, ``ordered``: a bit for the depth of each
    loop whose turns may have a copy of the place each (``private``), or must store to it in order (``ordered``).
    ``certain``: a store that happens whatever the data. ``once``: a store in one arm of a branch on data; ``pair``: the
    number of that branch, as the store is certain if its other arm stores there too."""

    site: int
    store: bool
    cell: int
    loops: tuple[int, ...]
    checks: tuple[Check, ...]
    local: bool
    known: bool
    private: int = 0
    ordered: int = 0
    certain: bool = False
    once: bool = False
    pair: int = -1


Step = Assign | Store | CountBlock | Branch | Guarded | Stop | Began | Repeat | Access
Steps = tuple[Step, ...]


@dataclass(frozen=True)
class Tracer:
    """The steps, and what the numbers in the tracer's report stand for."""

    u: Uniform
    steps: Steps
    sites: tuple[Site, ...]
    nests: tuple[Nest, ...]
    counters: tuple[tuple[Variable, ...], ...]  # of each site, what a fault is reported with
    blocks: tuple[tuple[Block, Expr | None], ...]  # whose executions are counted, with the test at the end
    regions: tuple[Region, ...]  # those whose elements are computed
    elements: Mapping[Place, int]  # number of a place's first cell
    cells: int
    pairs: int  # branches on data with an else

    @property
    def numbers(self) -> tuple[Region, ...]:
        """The shared scalars whose values the tracer is started with."""
        return tuple(r for r in self.regions if _is_unknown(r))

    @property
    def depths(self) -> int:
        """The depth of the deepest loop nest; at least 1."""
        return max((len(n.around) + 1 for n in self.nests), default=1)

    @property
    def memory(self) -> int:
        """Bytes that the records and the computed elements take."""
        return self.cells * (9 + 16 * self.depths) + sum(r.count * r.type.size for r in self.regions)


def tracer(u: Uniform, numbers: Container[str] = ()) -> Tracer:
    """The tracer of a kernel. Where data decides on an address or a loop, it is left out; the tracer then only checks
    the subscripts of the rest. ``numbers``: names of shared scalars whose values the tracer gets as arguments. Raises
    Unknown."""
    writer = _Writer(u, numbers)
    writer.block(u.kernel.body)
    return Tracer(
        u,
        tuple(writer.steps),
        tuple(writer.sites),
        tuple(writer.nests.values()),
        tuple(writer.reported),
        tuple(writer.blocks),
        tuple(r for r in u.kernel.regions if r in writer.needed),
        writer.elements,
        writer.cells,
        writer.pairs,
    )


@dataclass
class _Writer:
    u: Uniform
    numbers: Container[str]
    steps: list[Step] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    reported: list[tuple[Variable, ...]] = field(default_factory=list)
    blocks: list[tuple[Block, Expr | None]] = field(default_factory=list)
    inside: tuple[Nest, ...] = ()  # the loops around here
    conditional: int = 0  # branches on data around here
    ended: bool = False  # inputs may have ended early before
    pairs: int = 0  # branches on data with an else
    other: int = -1  # number of the pair whose else this is, where no other branch is around
    cells: int = 0
    outcomes: KnownOutcomes = field(default_factory=dict)  # of the variables here

    def __post_init__(self) -> None:
        self.nests, self.needed = nests(self.u), needed(self.u)
        self.uses, self.touches = used(self.u.kernel.body), touched(self.u.kernel.body)
        self.guards = Guards(self.u, self.needed.__contains__)
        self.carried, self.doubtful, self.unsure = carried(self.u), doubtful(self.u), passed_over(self.u)
        regions = self.u.kernel.regions
        unknown = [r for r in regions if r in self.needed and _is_unknown(r) and r.name not in self.numbers]
        if unknown:
            raise Unknown(tuple(unknown))
        self.elements: dict[Place, int] = {}
        for r in regions:
            self.elements[r] = self.cells
            self.cells += r.count

    def apart(self, work: Callable[[], None]) -> Steps:
        """The steps that ``work`` adds, for the inside of another step."""
        outer, self.steps = self.steps, []
        work()
        inner, self.steps = self.steps, outer
        return tuple(inner)

    # statements

    def block(self, block: Block, test: Expr | None = None, computed: bool = True) -> None:
        """A straight line of statements, and the condition at its end."""
        self.steps.append(CountBlock(len(self.blocks)))
        self.blocks.append((block, test))
        for s in block:
            self.statement(s)
        if test is not None:
            self.read(test, computed)

    def statement(self, s: Stmt) -> None:
        match s:
            case Assign(var=v, value=e):
                computed = v in self.needed and v not in self.u.varying
                self.read(e, computed, s.loc)
                if computed:
                    self.steps.append(s)
                if v in self.carried or v in self.doubtful:
                    self.access(s, v)
                self.outcomes = self.guards.after(s, self.outcomes)
            case Store(region=r) if r == ENDED:
                self.ended = True
            case Store(region=r, index=i, value=e):
                self.read(i, True)
                self.read(e, r in self.needed, s.loc)
                self.access(s, r)
                if r in self.needed:
                    self.steps.append(s)
            case If():
                self.branch(s)
            case Loop():
                self.loop(s)

    def read(self, e: Expr, computed: bool, copy: Loc | None = None) -> None:
        """Record what an expression reads. ``computed``: the tracer computes its value, so nothing may go wrong.
        ``copy``: what has this very place is read for the copy of a whole object: lowering gives both sides one."""
        sometimes = arms(e)
        computed = computed and not self.u.is_varying(e)
        inner = computed or isinstance(e, Load) or bool(uniform_arms(self.u, e))
        for x in operands(e):
            if all(x is not arm for _, _, arm in sometimes):
                self.read(x, inner, copy)
        for cond, truth, arm in sometimes:
            self.arm(cond, truth, arm, computed)
        match e:
            case Var(var=v) if v in self.carried or v in self.doubtful:
                self.access(e, v, e.loc is copy)
            case Load(region=r):
                self.access(e, r, e.loc is copy)
            case Binary() | Cast() | Bitcast() | Call() if computed:
                self.steps += [Stop(cond, why) for cond, why in undefined(e)]

    def arm(self, cond: Expr, truth: bool, e: Expr, computed: bool) -> None:
        """Record what an operand reads that C evaluates only where ``cond`` is ``truth``."""
        if isinstance(e, Const):
            return
        if self.u.is_varying(cond):
            self.conditional += 1
            self.guarded(cond, truth, lambda: self.read(e, computed))
            self.conditional -= 1
            return
        then = self.apart(lambda: self.block((), e, computed))
        self.steps.append(Branch(cond if truth else Unary("!", cond, INT), then))

    def branch(self, s: If) -> None:
        self.read(s.cond, True)
        before = self.outcomes
        if not self.u.is_varying(s.cond):
            then = self.apart(lambda: self.block(s.then))
            yes, self.outcomes = self.outcomes, before
            other = self.apart(lambda: self.block(s.other)) if s.other else ()
            self.steps.append(Branch(s.cond, then, other))
        else:
            yes = self.both_arms(s)
        self.outcomes = self.guards.joined(s, before, yes, self.outcomes)

    def both_arms(self, s: If) -> KnownOutcomes:
        """Both arms of a branch on data; `outcomes` are those at the end of the second then, the result those of the
        first."""
        pair = self.pairs if s.other and not self.conditional else -1
        outer, self.other = self.other, -1
        self.conditional += 1
        if pair >= 0:
            self.pairs += 1
            self.steps.append(Began(pair, False))
        outside = self.outcomes
        self.guarded(s.cond, True, lambda: self.block(s.then))
        yes, self.outcomes = self.outcomes, outside
        if s.other:
            self.other = pair
            if pair >= 0:
                self.steps.append(Began(pair, True))
            since = frozenset[Variable]().union(*map(self.guards.assigned, s.then))  # the tracer does both, in turn
            self.guarded(s.cond, False, lambda: self.block(s.other), since)
        self.other = outer
        self.conditional -= 1
        return yes

    def guarded(
        self, cond: Expr, truth: bool, work: Callable[[], None], since: frozenset[Variable] = frozenset()
    ) -> None:
        """Do ``work``, which adds the steps of what C does where a condition on data is ``truth``. ``since``:
        variables that have got other values since the condition was evaluated."""
        outcomes = self.guards.outcomes(cond, self.outcomes)
        possible = outcomes.can_be_true if truth else outcomes.can_be_false
        if since:
            self.outcomes = without(self.outcomes, since)
        if possible is None or reads(Outcomes(possible, None)) & since:
            work()
        else:
            self.steps.append(Guarded(possible, self.apart(work)))

    def loop(self, s: Loop) -> None:
        if data_ends(self.u, s):
            self.pass_over(s)
            return
        self.ended = self.ended or has_end((s,))  # in an earlier turn
        n = self.nests[id(s)]
        outer, self.inside = self.inside, (*self.inside, n)
        every = self.outcomes = without(self.outcomes, self.guards.assigned(s))  # in every turn, and after the last
        head = self.apart(lambda: self.block(s.head, s.cond))
        body = self.apart(lambda: self.block(s.body))
        step = self.apart(lambda: self.block(s.step))
        self.inside, self.outcomes = outer, every
        self.steps.append(Repeat(n, head, body, step))

    def pass_over(self, s: Loop) -> None:
        """A loop whose turns depend on data. What it computes is not known: the trace ends if the rest needs that."""
        self.outcomes = without(self.outcomes, self.guards.assigned(s))
        lost = changed(s) & self.needed
        variables, regions = self.uses - used((s,)), self.touches - touched((s,))  # outside of it
        if not lost.isdisjoint(variables) or not lost.isdisjoint(regions):
            self.steps.append(Stop(Const(1, INT), Why.DATA))

    # accesses

    def access(self, node: _Node, place: Place, copied: bool = False) -> None:
        """Check and record an access. ``copied``: of a whole object, some of which may never have been set."""
        if isinstance(node, (Load, Store)) and self.u.is_varying(node.index):
            return  # the program is not oblivious
        store = isinstance(node, (Store, Assign))
        if place not in self.elements:
            self.elements[place] = self.cells
            self.cells += 1
        checks: list[Check] = []
        if isinstance(node, (Load, Store)):
            stops = place in self.needed
            rows = [(k, n) for k, n in node.rows if not self.u.is_varying(k)]
            checks += [Check(k, n, self.site(node, place, store, n, True), stops) for k, n in rows]
            site = self.site(node, place, store, node.region.count)
            checks.append(Check(node.index, node.region.count, site, stops))
        else:
            site = self.site(node, place, store)
        local = isinstance(place, Variable) or place.storage == "local"
        self.steps.append(
            Access(
                site,
                store,
                self.elements[place],
                self.sites[site].loops,
                tuple(checks),
                local and not store and not copied and not self.conditional and place not in self.unsure,
                isinstance(place, Variable) and place not in self.u.varying,
                sum(1 << d for d, n in enumerate(self.inside) if n.owns(place)),
                self.ordered(place),
                not self.conditional,
                self.conditional == 1,
                self.other if self.conditional == 1 else -1,
            )
        )

    def site(self, node: _Node, place: Place, store: bool, extent: int = 1, row: bool = False) -> int:
        loops = tuple(n.number for n in self.inside)
        conditional = self.conditional + self.ended
        self.sites.append(Site(place, store, node.loc, loops, conditional, extent, row))
        self.reported.append(tuple(dict.fromkeys(v for n in self.inside for v in n.counters))[-COUNTERS:])
        return len(self.sites) - 1

    def ordered(self, place: Place) -> int:
        """A bit for the depth of each loop whose turns must store to the place in order, as others see it."""
        if isinstance(place, Variable):
            return 0
        return sum(1 << d for d, n in enumerate(self.inside) if place not in n.private)


def _is_unknown(r: Region) -> bool:
    """Whether only the run brings its values."""
    return r.storage == "shared" and r.init is None
