"""State of lowering one kernel, and what writes its statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, Scalar
from ..base.diagnostics import Loc
from ..frontend.symbols import Symbol
from ..frontend.typed import FunctionDef, Unit
from ..ir.fold import cast
from ..ir.nodes import Assign, Const, Expr, If, Region, Stmt, Var, Variable
from .objects import Object, PointerVariable, Ref, Target, Targets, join

LIMIT = 60_000  # statements of one flat kernel
Flags = frozenset[Variable]
NONE: Flags = frozenset()


@dataclass
class Frame:
    """One inlined call: where its result goes and the flag that ``return`` sets."""

    function: FunctionDef
    flag: Variable
    result: Variable | Object | PointerVariable | None
    exits: list[Targets] = field(default_factory=list)


@dataclass
class Jump:
    """What ``break`` and ``continue`` mean here; a switch has no ``proceed`` of its own.

    ``exits``, ``repeats``: what pointers point to at each ``break`` and at each ``continue``.
    """

    leave: Variable
    proceed: Variable | None
    exits: list[Targets] = field(default_factory=list)
    repeats: list[Targets] = field(default_factory=list)


@dataclass(frozen=True)
class Rules:
    """Functions that a file calls although theirs imports it: an lvalue has subscripts, which are expressions, which
    have calls, which have statements, which have lvalues. `kernel.py` lists them, `Context` has a method for each."""

    binding: Callable[[Context, Symbol, Loc], Object | PointerVariable]
    value: Callable[[Context, C.Node], Expr]
    call: Callable[[Context, C.FuncCall], Expr | Ref | Target | None]
    initialise: Callable[[Context, Ref, C.Node], None]
    effect: Callable[[Context, C.Node], None]
    statements: Callable[[Context, list[C.Node]], Flags]


@dataclass(eq=False)
class Context:
    """State of lowering one kernel. ``out``: the statements of the block that is being written."""

    unit: Unit
    rules: Rules
    out: list[Stmt] = field(default_factory=list)
    size: int = 0  # statements so far
    uids: int = 0  # variables so far
    names: dict[str, int] = field(default_factory=dict)  # name -> regions that asked for it
    regions: list[Region] = field(default_factory=list)
    bindings: dict[int, Object | PointerVariable] = field(default_factory=dict)  # id(Symbol) -> what it stands for here
    targets: Targets = field(default_factory=dict)
    conjunctions: set[Variable] = field(default_factory=set)  # what && comes to, each read once
    frames: list[Frame] = field(default_factory=list)
    jumps: list[Jump] = field(default_factory=list)
    statics: list[Stmt] = field(default_factory=list)  # what sets up static locals

    # the functions of other files

    def binding(self, symbol: Symbol, loc: Loc) -> Object | PointerVariable:
        """What a name stands for: `declarations.binding`."""
        return self.rules.binding(self, symbol, loc)

    def value(self, node: C.Node) -> Expr:
        """The number that an expression gives: `expressions.value`."""
        return self.rules.value(self, node)

    def call(self, node: C.FuncCall) -> Expr | Ref | Target | None:
        """What a call returns: `calls.call`."""
        return self.rules.call(self, node)

    def initialise(self, ref: Ref, init: C.Node) -> None:
        """Store an initialiser: `declarations.initialise`."""
        self.rules.initialise(self, ref, init)

    def effect(self, node: C.Node) -> None:
        """An expression for its side effects: `control.effect`."""
        self.rules.effect(self, node)

    def statements(self, nodes: list[C.Node]) -> Flags:
        """A list of statements; the flags it may have set: `control.statements`."""
        return self.rules.statements(self, nodes)

    # statements

    def emit(self, s: Stmt) -> None:
        """Append a statement to the current block."""
        self.size += 1
        if self.size > LIMIT:
            raise catalogue.TOO_MANY_STATEMENTS.error(s.loc, limit=LIMIT)
        self.out.append(s)

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        """Statements emitted inside go to the list it yields."""
        outer, self.out = self.out, []
        inner = self.out
        try:
            yield inner
        finally:
            self.out = outer

    def assign(self, var: Variable, value: Expr, loc: Loc) -> None:
        """``var = value``, converted to its type."""
        self.emit(Assign(var, cast(value, var.type), loc))

    def either(
        self, cond: Expr, yes: Callable[[], object], no: Callable[[], object], loc: Loc, branch: bool = True
    ) -> None:
        """An `If` around what ``yes()`` and ``no()`` emit; pointers that differ afterwards are marked."""
        if isinstance(cond, Const):
            (yes if cond.value else no)()
            return
        before = dict(self.targets)
        with self.block() as then:
            yes()
        after_yes, self.targets = self.targets, dict(before)
        with self.block() as other:
            no()
        self.targets = join(after_yes, self.targets)
        if then or other:
            self.emit(If(cond, tuple(then), tuple(other), branch, loc))

    def meet(self, paths: Iterable[Targets]) -> None:
        """Jumps arrive here too: ``paths`` says what pointers point to at each."""
        for targets in paths:
            self.targets = join(self.targets, targets)

    # variables

    def fresh(self, name: str, t: Scalar, loc: Loc, spelling: str = "") -> Variable:
        """A variable of the C program."""
        self.uids += 1
        return Variable(name, t, self.uids, loc, spelling)

    def fresh_temporary(self, name: str, t: Scalar, loc: Loc) -> Variable:
        """A variable that the C program does not have."""
        return replace(self.fresh(name, t, loc), role="temporary")

    def exit_flag(self, name: str, loc: Loc) -> Variable:
        """A flag that says that control has left: what follows is skipped where it is set."""
        return replace(self.fresh(name, BOOL, loc), role="exit")

    def unique(self, name: str) -> str:
        """A region's name that no other has."""
        self.names[name] = self.names.get(name, 0) + 1
        return name if self.names[name] == 1 else self.unique(f"{name}_{self.names[name]}")

    def saved(self, value: Expr, loc: Loc, name: str = "t") -> Expr:
        """``value``, computed here and now."""
        if isinstance(value, Const):
            return value
        var = self.fresh_temporary(name, value.type, loc)
        self.assign(var, value, loc)
        return Var(var, loc)

    def pinned(self, ref: Ref, loc: Loc, name: str = "t") -> Ref:
        """``ref`` with its index computed here and now, whatever is stored later."""
        return ref.at(self.saved(ref.index, ref.index.loc if ref.index.loc.line else loc, name))
