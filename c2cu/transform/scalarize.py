"""Scalar replacement: a region whose every subscript is a constant becomes a set of variables.

Local ones vanish. On demand bulk ones too: their elements are loaded at the start, and those that go out are stored
at the end. Loads of what is written before it is read are then dead: `webs` and `simplify` remove them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from ..base.ctype import INT
from ..ir.canonical import subscripts
from ..ir.nodes import Assign, Block, Const, Expr, If, Kernel, Load, Loop, Region, Stmt, Store, Var, Variable
from ..ir.simplify import simplify
from ..ir.walk import expressions, rewrite, statements, subexpressions

SHARED = 64  # elements of a shared region that are worth a variable each


def scalarize(kernel: Kernel, leaving: Collection[Region] | None = None) -> Kernel:
    """``kernel`` with variables for the elements of its `constant_regions`.

    ``leaving``: the bulk regions that go out, whole; None to leave bulk and shared regions alone. With it, the body
    starts with an `Assign` of a `Load` for each element that the kernel names and ends with a `Store` for each that
    goes out; in between nothing accesses these regions.
    """
    chosen = constant_regions(kernel, leaving is not None)
    if not chosen:
        return kernel
    every = list(statements(kernel.body))
    top = max((s.var.uid for s in every if isinstance(s, Assign)), default=0)
    elements = _Elements(frozenset(chosen), top)
    body = elements.block(kernel.body)
    regions = tuple(r for r in kernel.regions if r not in elements.chosen or r.storage != "local")
    if leaving is None:
        return replace(kernel, regions=regions, body=simplify(body))
    out = [(r, k) for r in chosen if r in leaving for k in range(r.count)]
    stores = tuple(Store(r, Const(k, INT), Var(elements.variable(r, k), r.loc), r.loc) for r, k in out)
    return replace(kernel, regions=regions, body=simplify((*elements.loads(), *body, *stores)))


def constant_regions(kernel: Kernel, visible: bool = False) -> list[Region]:
    """The local regions, and with ``visible`` bulk and shared ones too, of which every subscript is a constant, and
    inside: one that is not stands behind a branch never taken."""
    named: dict[Region, set[int]] = {r: set() for r in kernel.regions if r.storage != "shared" or r.init is None}
    for s in statements(kernel.body):
        accesses = [(x.region, x.index) for e in expressions(s) for x in subexpressions(e) if isinstance(x, Load)]
        if isinstance(s, Store):
            accesses.append((s.region, s.index))
        for r, index in accesses:
            if isinstance(index, Const) and r in named and 0 <= int(index.value) < r.count:
                named[r].add(int(index.value))
            else:
                named.pop(r, None)
    constant = {r for r, places in named.items() if r.storage != "shared" or len(places) <= SHARED}
    return [r for r in kernel.regions if r in constant and (r.storage == "local" or visible)]


@dataclass
class _Elements:
    """The variables of elements. ``chosen``: the regions that they stand for; ``top``: uids in use so far."""

    chosen: frozenset[Region]
    top: int
    variables: dict[tuple[Region, int], Variable] = field(default_factory=dict)

    def variable(self, r: Region, index: int) -> Variable:
        if (r, index) not in self.variables:
            r = next(listed for listed in self.chosen if listed == r)  # what a node names may lack the initial elements
            uid = self.top + 1 + len(self.variables)
            place = Const(index, INT)
            apart = subscripts(r, place)
            which = [str(e.value) for e in ((place,) if apart is None else apart) if isinstance(e, Const)]
            name = "_".join([r.name.replace(".", "_"), *which])
            self.variables[r, index] = Variable(name, r.type, uid, r.loc, spelling=r.spelling or r.name)
        return self.variables[r, index]

    def loads(self) -> Block:
        """Loads of all elements that come in, in order of regions and places."""
        visible = [(r, k) for r, k in self.variables if r.storage != "local"]
        order = {r: n for n, r in enumerate(dict.fromkeys(r for r, _ in visible))}
        visible.sort(key=lambda e: (order[e[0]], e[1]))
        return tuple(Assign(self.variables[r, k], Load(r, Const(k, INT), r.loc), r.loc) for r, k in visible)

    def load(self, x: Expr) -> Expr:
        if not isinstance(x, Load) or x.region not in self.chosen:
            return x
        assert isinstance(x.index, Const)
        return Var(self.variable(x.region, int(x.index.value)), x.loc)

    def block(self, b: Block) -> Block:
        return tuple(self.statement(s) for s in b)

    def statement(self, s: Stmt) -> Stmt:
        match s:
            case Assign():
                return replace(s, value=rewrite(s.value, self.load))
            case Store():
                value, index = rewrite(s.value, self.load), rewrite(s.index, self.load)
                if s.region in self.chosen:
                    assert isinstance(index, Const)
                    return Assign(self.variable(s.region, int(index.value)), value, s.loc)
                return replace(s, value=value, index=index)
            case If():
                cond = rewrite(s.cond, self.load)
                return replace(s, cond=cond, then=self.block(s.then), other=self.block(s.other))
            case Loop():
                head, cond = self.block(s.head), rewrite(s.cond, self.load)
                return replace(s, head=head, cond=cond, body=self.block(s.body), step=self.block(s.step))
        raise AssertionError(s)
