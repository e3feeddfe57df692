"""Def-use webs: a variable that serves two purposes becomes two variables.

Reaching definitions over the structured IR; definitions that reach a common use belong to one web. Beside the
renamed kernel stands, for each definition, which constructs control has left on the way to a use: what the uniform
analysis needs to know about divergence (compare "temporal divergence" in the literature on SPMD compilers).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..ir.nodes import Assign, Block, Expr, If, Kernel, Loop, Stmt, Store, Var, Variable
from ..ir.walk import expressions, rewrite, subexpressions

# A definition that reaches a place: its number, and the outermost construct left since. Control leaves the inner ones
# first, and their numbers are higher: one number tells them all.
# Variables are told by numbers, which Python finds in a dict in a fraction of the time.
Reaching = dict[int, frozenset[tuple[int, int]]]
_NONE: frozenset[tuple[int, int]] = frozenset()
STAYS = 1 << 62  # no construct was left


@dataclass(frozen=True)
class Webs:
    """``escapes[k]``: of the k-th `Assign` in textual order, the number (in textual order, counting `If` and `Loop`) of
    the outermost construct around it that control leaves before some use: of those around it, it leaves the ones whose
    numbers are no less. `STAYS` where it leaves none."""

    kernel: Kernel
    escapes: tuple[int, ...]


def webs(kernel: Kernel) -> Webs:
    """Rename the variables of ``kernel`` so that each is one web."""
    analysis = _WebAnalysis(kernel.body)
    analysis.block(kernel.body, {})
    body = _Renaming(analysis).block(kernel.body)
    return Webs(replace(kernel, body=body), tuple(analysis.escapes))


class _WebAnalysis:
    def __init__(self, body: Block):
        self.definition: dict[int, int] = {}  # id(Assign) -> number
        self.construct: dict[int, int] = {}  # id(If or Loop) -> number
        self.span: dict[int, tuple[int, int]] = {}  # construct -> numbers of the definitions inside
        self.assigned: dict[int, tuple[int, ...]] = {}  # construct -> variables assigned inside
        self.numbers: dict[Variable, int] = {}
        self.read: dict[int, tuple[int, ...]] = {}  # id(statement) -> variables that it reads itself
        self.parent: list[int] = []  # union-find over definitions
        self.variables: list[Variable] = []  # of each definition
        self.escapes: list[int] = []
        self.heads: dict[int, Reaching] = {}  # id(Loop) -> what reaches its head, as far as it is known
        self.uses: dict[tuple[int, int], int] = {}  # (id(statement), variable) -> a definition that reaches it
        self.number(body)

    def number_of(self, v: Variable) -> int:
        return self.numbers.setdefault(v, len(self.numbers))

    def number(self, block: Block) -> dict[int, None]:
        """Number the definitions and constructs of a block; the variables it assigns, in order."""
        assigned: dict[int, None] = {}
        for s in block:
            self.read[id(s)] = tuple(
                self.number_of(x.var) for e in expressions(s) for x in subexpressions(e) if isinstance(x, Var)
            )
            if isinstance(s, Assign):
                assert id(s) not in self.definition, "a statement stands in two places"
                self.definition[id(s)] = len(self.parent)
                self.parent.append(len(self.parent))
                self.variables.append(s.var)
                self.escapes.append(STAYS)
                assigned[self.number_of(s.var)] = None
            elif isinstance(s, (If, Loop)):
                c = self.construct[id(s)] = len(self.construct)
                start = len(self.parent)
                inside: dict[int, None] = {}
                for inner in (s.then, s.other) if isinstance(s, If) else (s.head, s.body, s.step):
                    inside.update(self.number(inner))
                self.span[c] = (start, len(self.parent))
                self.assigned[c] = tuple(inside)
                assigned.update(inside)
        return assigned

    def root(self, d: int) -> int:
        while self.parent[d] != d:
            self.parent[d] = self.parent[self.parent[d]]
            d = self.parent[d]
        return d

    def use(self, s: Stmt, var: int, state: Reaching) -> None:
        for d, left in state.get(var, ()):
            self.escapes[d] = min(self.escapes[d], left)
            first = self.uses.setdefault((id(s), var), d)
            a, b = self.root(first), self.root(d)
            self.parent[max(a, b)] = min(a, b)

    def reads(self, s: Stmt, state: Reaching) -> None:
        for var in self.read[id(s)]:
            self.use(s, var, state)

    def block(self, block: Block, state: Reaching, branch: bool = False) -> Reaching:
        """``state``, which becomes what reaches the end of ``block``. After the last statement of a ``branch`` of an
        `If`, control leaves that `If` too."""
        for k, s in enumerate(block):
            self.statement(s, state)
            if isinstance(s, (If, Loop)) and not (branch and k == len(block) - 1):
                self.left(s, state)
        return state

    def statement(self, s: Stmt, state: Reaching) -> None:
        match s:
            case Assign():
                self.reads(s, state)
                state[self.numbers[s.var]] = frozenset({(self.definition[id(s)], STAYS)})
            case Store():
                self.reads(s, state)
            case If():
                self.reads(s, state)
                yes, no = self.block(s.then, dict(state), True), self.block(s.other, dict(state), True)
                self.join(s, state, yes, no)
            case Loop():
                self.loop(s, state)

    def loop(self, s: Loop, state: Reaching) -> None:
        """What reaches the head only grows from visit to visit, as the loops around are gone through again: each visit
        begins with what the last one found, or nested loops would take twice the time for each level."""
        assigned = self.assigned[self.construct[id(s)]]
        for var, reaching in self.heads.get(id(s), {}).items():
            state[var] = state.get(var, _NONE) | reaching
        while True:
            self.flags(s, state)
            tested = self.block(s.head, dict(state))
            self.reads(s, tested)
            done = self.block(s.body, dict(tested))
            self.flags(s, done)
            again = self.block(s.step, dict(done))
            if not self.join(s, state, state, again):
                break
        self.heads[id(s)] = {var: state[var] for var in assigned if var in state}
        self.join(s, state, tested, done if s.flags else tested)

    def join(self, s: If | Loop, state: Reaching, a: Reaching, b: Reaching) -> bool:
        """Make of ``state`` what comes together where ``s`` ends, of what ``s`` assigns; whether that changed it."""
        changed = False
        from_a, from_b, known = a.get, b.get, state.get
        for var in self.assigned[self.construct[id(s)]]:
            both, other, before = from_a(var, _NONE), from_b(var, _NONE), known(var, _NONE)
            if both is not other:
                both = both | other
            if both is not before and both != before:
                state[var] = both
                changed = True
        return changed

    def flags(self, s: Loop, state: Reaching) -> None:
        for f in s.flags:
            self.use(s, self.number_of(f), state)

    def left(self, s: If | Loop, state: Reaching) -> None:
        """Definitions inside a construct have left it."""
        c = self.construct[id(s)]
        first, last = self.span[c]
        for var in self.assigned[c]:
            if var in state:
                state[var] = frozenset((d, c if first <= d < last else left) for d, left in state[var])


class _Renaming:
    def __init__(self, analysis: _WebAnalysis):
        self.a = analysis
        self.fresh: dict[int, Variable] = {}  # root -> variable
        self.unset: dict[Variable, Variable] = {}  # used without any definition

    def web(self, d: int) -> Variable:
        root = self.a.root(d)
        if root not in self.fresh:
            old = self.a.variables[root]
            self.fresh[root] = replace(old, uid=len(self.fresh) + 1)
        return self.fresh[root]

    def use(self, s: Stmt, var: Variable) -> Variable:
        d = self.a.uses.get((id(s), self.a.number_of(var)))
        if d is not None:
            return self.web(d)
        if var not in self.unset:
            self.unset[var] = replace(var, uid=-1 - len(self.unset))
        return self.unset[var]

    def expression(self, s: Stmt, e: Expr) -> Expr:
        return rewrite(e, lambda x: Var(self.use(s, x.var), x.loc) if isinstance(x, Var) else x)

    def block(self, block: Block) -> Block:
        return tuple(self.statement(s) for s in block)

    def statement(self, s: Stmt) -> Stmt:
        match s:
            case Assign():
                return Assign(self.web(self.a.definition[id(s)]), self.expression(s, s.value), s.loc)
            case Store():
                index, value = self.expression(s, s.index), self.expression(s, s.value)
                return replace(s, index=index, value=value, rows=tuple((self.expression(s, k), n) for k, n in s.rows))
            case If():
                return replace(s, cond=self.expression(s, s.cond), then=self.block(s.then), other=self.block(s.other))
            case Loop():
                return replace(
                    s,
                    cond=self.expression(s, s.cond),
                    head=self.block(s.head),
                    body=self.block(s.body),
                    step=self.block(s.step),
                    flags=tuple(self.use(s, f) for f in s.flags),
                )
        raise AssertionError(s)
