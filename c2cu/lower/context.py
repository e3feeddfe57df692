"""State of lowering one kernel, and what writes its statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, INT, LDOUBLE, CType, Scalar, Struct
from ..base.diagnostics import Loc
from ..frontend.ends import Ends
from ..frontend.symbols import Symbol
from ..frontend.typed import FunctionDef, Unit
from ..ir.fold import cast
from ..ir.nodes import ENDED, TRUE, ZERO, Assign, Block, Cast, Const, Expr, If, Region, Stmt, Store, Var, Variable
from .environment import Environment, join
from .objects import Complex, LValue, Null, Object, OneOf, Pair, Ref, Single, Target, View, Wide, at_start, has_gaps

LIMIT = 60_000  # statements of one flat kernel
WORK = 400_000  # statements written until there is one, those of loops that had to be written again among them
Flags = frozenset[Variable]
NONE: Flags = frozenset()
A = TypeVar("A")
B = TypeVar("B")


@dataclass
class Label:
    """Where a ``goto`` leads to: the flag that it sets, and what is known at each."""

    flag: Variable
    paths: list[Environment] = field(default_factory=list)


@dataclass
class Frame:
    """One inlined call: where its result goes, the flag that ``return`` sets, in how many branches and loops it
    stands."""

    function: FunctionDef
    flag: Variable
    result: Object | None
    depth: int = 0
    exits: list[Environment] = field(default_factory=list)
    labels: dict[str, Label] = field(default_factory=dict)  # those that a jump from here can reach
    inside: list[str] = field(default_factory=list)  # those of blocks that jumps lead into, whose rest is lowered now


@dataclass
class Jump:
    """What ``break`` and ``continue`` mean here; a switch has no ``proceed`` of its own.

    ``exits``, ``repeats``: what is known at each ``break`` and at each ``continue``.
    """

    leave: Variable
    proceed: Variable | None
    exits: list[Environment] = field(default_factory=list)
    repeats: list[Environment] = field(default_factory=list)


@dataclass(frozen=True)
class Rules:
    """Functions that a file calls although theirs imports it: an lvalue has subscripts, which are expressions, which
    have calls, which have statements, which have lvalues. `kernel.py` lists them, `Context` has a method for each."""

    binding: Callable[[Context, Symbol, Loc], Object]
    value: Callable[[Context, C.Node], Expr]
    wide: Callable[[Context, C.Node, Scalar | None], Wide]
    complex: Callable[[Context, C.Node, Scalar | None], Complex]
    condition: Callable[[Context, C.Node], Expr]
    call: Callable[[Context, C.FuncCall], Expr | Target | Complex | None]
    inline: Callable[[Context, str, Sequence[Expr], Loc], LValue]
    initialise: Callable[[Context, LValue, C.Node], None]
    effect: Callable[[Context, C.Node], None]
    statements: Callable[[Context, list[C.Node]], Flags]


@dataclass(eq=False)
class Context:
    """State of lowering one kernel. ``out``: the statements of the block that is being written."""

    unit: Unit
    rules: Rules
    out: list[Stmt] = field(default_factory=list)
    depth: int = 0  # branches and loops around what is written
    size: int = 0  # statements so far
    work: int = 0  # statements so far, and those that were given up
    turns: int = 0  # of loops, that were written one by one
    vain: int = 0  # loops of which that was in vain
    uids: int = 0  # variables so far
    objects: int = 0  # objects so far
    names: dict[str, int] = field(default_factory=dict)  # name -> regions that asked for it
    regions: list[Region] = field(default_factory=list)
    bindings: dict[int, Object] = field(default_factory=dict)  # id(Symbol) -> what it stands for here
    env: Environment = field(default_factory=Environment)
    start: Environment = field(default_factory=Environment)  # what holds of initial values, whatever the path
    numbers: dict[Single, int] = field(default_factory=lambda: {Null(): 0})  # of what pointers point to: their tags
    changing: dict[int, set[tuple[str, Loc]]] = field(default_factory=dict)  # id(loop) -> what its turns change
    library: bool = False  # whether it knows the functions of `substitutes`
    unset: list[tuple[Loc, str]] = field(default_factory=list)  # pointers that were read and not set
    literals: dict[int, Object] = field(default_factory=dict)  # id(string) -> its array
    conjunctions: set[Variable] = field(default_factory=set)  # what && comes to, each read once
    frames: list[Frame] = field(default_factory=list)
    jumps: list[Jump] = field(default_factory=list)
    statics: list[Stmt] = field(default_factory=list)  # what sets up static locals
    folded: dict[int, frozenset[int] | None] = field(default_factory=dict)  # id(expression) -> `folded.numbers`
    bits: dict[int, int] = field(default_factory=dict)  # id(expression) -> `folded.bits`
    singles: set[Region] = field(default_factory=set)  # that stand for variables with subscripts: see `check_single`
    half_stored: dict[Region | Variable, None] = field(default_factory=dict)  # local, and stored in parts of elements
    complex_constants: dict[int, tuple[float, float] | None] = field(default_factory=dict)  # likewise
    without_value: dict[int, tuple[C.ExprList | C.BinaryOp, ...]] = field(default_factory=dict)  # the same of `order`'s
    begun: dict[int, C.Node | None] = field(default_factory=dict)  # id(`order.without_value`) -> what is left of it
    outside: tuple[Object, ...] = ()  # those that come in or go out
    addressed: frozenset[Symbol] = frozenset()  # local variables whose address is taken
    static_locals: list[tuple[Symbol, Object]] = field(default_factory=list)
    cleared: dict[Region, Object] = field(default_factory=dict)  # what stands for setting an object to zero
    ends: Ends = field(default_factory=Ends)
    judged: bool = False  # see `KernelProgram`
    hidden: dict[str, Struct] = field(default_factory=dict)  # what variables of some structs' tags are: see `opaque`

    # the functions of other files

    def binding(self, symbol: Symbol, loc: Loc) -> Object:
        """What a name stands for: `declarations.binding`."""
        return self.rules.binding(self, symbol, loc)

    def value(self, node: C.Node) -> Expr:
        """The number that an expression gives: `expressions.value`."""
        return self.rules.value(self, node)

    def wide(self, node: C.Node, t: Scalar | None = None) -> Wide:
        """The integer of 128 bits that an expression gives: `wide_values.wide`."""
        return self.rules.wide(self, node, t)

    def complex(self, node: C.Node, t: Scalar | None = None) -> Complex:
        """The complex number that an expression gives: `complex_values.complex_value`."""
        return self.rules.complex(self, node, t)

    def pair(self, node: C.Node, t: Scalar | None = None) -> Pair:
        """The number that an expression gives, of a type that is a pair."""
        value_type = t or self.unit.value_type(node)
        return self.complex(node, t) if isinstance(value_type, Scalar) and value_type.is_complex else self.wide(node, t)

    def condition(self, node: C.Node) -> Expr:
        """A controlling expression, as truth: `expressions.condition`."""
        return self.rules.condition(self, node)

    def call(self, node: C.FuncCall) -> Expr | Target | Complex | None:
        """What a call returns: `calls.call`."""
        return self.rules.call(self, node)

    def inline(self, name: str, values: Sequence[Expr], loc: Loc) -> LValue:
        """What a function of `substitutes` returns: `calls.inline`."""
        return self.rules.inline(self, name, values, loc)

    def initialise(self, ref: LValue, init: C.Node) -> None:
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
        self.work += 1
        if self.size > LIMIT or self.work > WORK:
            raise catalogue.TOO_MANY_STATEMENTS.error(s.loc, limit=LIMIT)
        self.out.append(s)

    def insert(self, at: int, s: Stmt) -> None:
        """Put a statement before those that the current block has from ``at`` on."""
        self.emit(s)
        self.out.insert(at, self.out.pop())

    @contextmanager
    def block(self, sometimes: bool = False) -> Iterator[list[Stmt]]:
        """Statements emitted inside go to the list it yields. ``sometimes``: data may say whether they are executed."""
        outer, self.out = self.out, []
        inner = self.out
        self.depth += sometimes
        try:
            yield inner
        finally:
            self.out = outer
            self.depth -= sometimes

    def assign(self, var: Variable, value: Expr, loc: Loc) -> None:
        """``var = value``, converted to its type."""
        self.emit(Assign(var, cast(value, var.type), loc))

    def either(
        self, cond: Expr, yes: Callable[[], object], no: Callable[[], object], loc: Loc, branch: bool = True
    ) -> None:
        """An `If` around what ``yes()`` and ``no()`` emit."""
        if isinstance(cond, Const):
            (yes if cond.value else no)()
            return
        (then, _), (other, _) = self.arms(yes, no)
        if then or other:
            self.emit(If(cond, then, other, branch, loc))

    # what is known

    def arms(self, yes: Callable[[], A], no: Callable[[], B]) -> tuple[tuple[Block, A], tuple[Block, B]]:
        """What ``yes()`` and ``no()`` emit and return: two paths that begin with what is known here, and meet."""
        before = self.env.copy()
        with self.block(sometimes=True) as then:
            a = yes()
        after_yes, self.env = self.env, before
        with self.block(sometimes=True) as other:
            b = no()
        self.meet([after_yes])
        return (tuple(then), a), (tuple(other), b)

    def meet(self, paths: Iterable[Environment]) -> None:
        """Other paths arrive here too: ``paths`` says what is known on each."""
        for env in paths:
            self.env = join(self.env, env, self.start)

    def part_ways(self) -> Environment:
        """What is known where control leaves for elsewhere; it does not go on from here."""
        gone = self.env
        self.env = replace(gone.copy(), reached=False)
        return gone

    def end(self, loc: Loc) -> None:
        """The input ends early here."""
        self.emit(Store(ENDED, ZERO, TRUE, loc))
        self.part_ways()

    def number(self, target: Single) -> int:
        """The tag of a pointer to ``target``, whatever its index."""
        return self.numbers.setdefault(at_start(target), len(self.numbers))

    def learn(self, var: Variable, value: Expr) -> None:
        """``var`` was assigned ``value``. An unknown value is noted only where one is known at the start."""
        if isinstance(value, Const) and value.type.is_integer:
            self.env.known[var] = value
        elif var in self.start.known:
            self.env.known[var] = None
        else:
            self.env.known.pop(var, None)

    def settled(self, var: Variable, loc: Loc) -> Expr:
        """The value of ``var``: a constant where that is known."""
        constant = self.env.known[var] if var in self.env.known else self.start.known.get(var)
        return replace(constant, loc=loc) if constant is not None else Var(var, loc)

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
        if isinstance(value, Cast) and value.type == LDOUBLE:  # no variable has that type
            return replace(value, operand=self.saved(value.operand, loc, name))
        var = self.fresh_temporary(name, value.type, loc)
        self.assign(var, value, loc)
        return Var(var, loc)

    def pinned(self, ref: LValue, loc: Loc, name: str = "t") -> LValue:
        """``ref`` with its index computed here and now, whatever is stored later."""
        if isinstance(ref, (Ref, View)):
            return ref.at(self.saved(ref.index, ref.index.loc if ref.index.loc.line else loc, name))
        tag = self.saved(ref.tag, loc)
        return OneOf(tag, tuple((n, self._pinned(t, loc, name)) for n, t in ref.targets))

    def _pinned(self, t: Single, loc: Loc, name: str) -> Single:
        return t.at(self.saved(t.index, loc, name)) if isinstance(t, (Ref, View)) else t

    # objects

    def new_object(
        self,
        name: str,
        t: CType,
        storage: str,
        loc: Loc,
        values: dict[int, Const] | None = None,
        volatile: bool = False,
    ) -> Object:
        self.objects += 1
        obj = Object(name, t, storage, loc, values, volatile=volatile, born=self.objects)
        if storage == "local" and has_gaps(t):
            self.clear_gaps(obj)
        return obj

    # what lies between the members of structs: nothing but zero is known of it

    def clear_gaps(self, obj: Object) -> None:
        """It is zero from here on, or nobody may rely on what it is."""
        if obj.gaps is None:
            obj.gaps = self.fresh_temporary(f"gaps of {obj.name}", INT, obj.loc)
        self.learn(obj.gaps, Const(0, INT))

    def fill_gaps(self, obj: Object) -> None:
        """It may be anything from here on."""
        if obj.gaps is not None:
            self.learn(obj.gaps, Var(obj.gaps))

    def gaps_may_hold(self, obj: Object) -> bool:
        """Whether it may be other than zero: that of what comes in may."""
        if not has_gaps(obj.type) or (obj.storage == "shared" and obj.values is not None):
            return False
        return obj.gaps is None or not isinstance(self.settled(obj.gaps, obj.loc), Const)

    def read_gaps(self, obj: Object, loc: Loc) -> None:
        """It is read as zero. Raises UnsupportedError where it may be something else."""
        if self.gaps_may_hold(obj):
            raise catalogue.COPIED_GAPS.error(loc, name=obj.name)
