"""Where an input may end early, by ``exit``, ``abort`` and their kind; and what certainly leads there.

An input that ends early is done again as the user's own text. So what leads to such an end, whatever the data, need not
be understood: messages, cleaning up, functions that never return.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pycparser import c_ast as C

from ..base import libc
from .kernel import KernelProgram
from .parse import jumps_out
from .symbols import Symbol
from .tree import nodes
from .typed import FunctionDef, Unit


@dataclass(frozen=True)
class Ends:
    """``functions``: names of those of the program that never return. ``doomed``: ids of statements and calls that lead
    to an early end, whatever the data; ``dead``: ids of all nodes in them. ``alive``: the functions that are called
    elsewhere, and the kernel."""

    functions: frozenset[str] = frozenset()
    doomed: frozenset[int] = frozenset()
    dead: frozenset[int] = frozenset()
    alive: tuple[FunctionDef, ...] = ()

    def dying(self, program: KernelProgram) -> Iterator[C.Node]:
        """The nodes that are executed on the way to an early end alone."""
        living = {f.name for f in self.alive}
        for f in program.functions:
            if f.error is None:
                yield from (n for n in nodes(f.node.body) if f.name not in living or id(n) in self.dead)

    def symbols(self, program: KernelProgram) -> Iterator[Symbol]:
        """The variables that are named there."""
        known = program.unit.symbols
        yield from (known[id(n)] for n in self.dying(program) if isinstance(n, C.ID) and id(n) in known)

    def writes_through(self, program: KernelProgram) -> bool:
        """Whether something is written there whose name does not stand there."""
        for n in self.dying(program):
            match n:
                case C.Assignment(lvalue=to) | C.UnaryOp(op="++" | "--" | "p++" | "p--", expr=to):
                    if any(isinstance(x, (C.UnaryOp, C.StructRef, C.ArrayRef)) for x in nodes(to)):
                        return True
                case C.FuncCall(name=C.ID(name=name)) if name not in libc.PRINTS | libc.ENDERS:
                    return True
        return False

    def with_copy(self, f: FunctionDef, copy: FunctionDef) -> Ends:
        """The same where ``copy`` is a copy of a function."""
        pairs = [(id(n), id(c)) for n, c in zip(nodes(f.node.body), nodes(copy.node.body)) if id(n) in self.dead]
        doomed = self.doomed | {c for n, c in pairs if n in self.doomed}
        return replace(self, doomed=doomed, dead=self.dead | {c for _, c in pairs}) if pairs else self

    def living(self, program: KernelProgram) -> KernelProgram:
        """The program with those functions alone that are called elsewhere."""
        return replace(program, functions=self.alive) if self.doomed else program


def early_ends(program: KernelProgram) -> Ends:
    """The early ends of a kernel and what it calls."""
    if not any(_names_an_end(f, program.unit) for f in program.functions):
        return Ends()
    walk = _Walk(program.unit)
    bodies = [f for f in program.functions if f.error is None]
    while new := [f.name for f in bodies if f.name not in walk.never and walk.certain(f.node.body)]:
        walk.never.update(new)
    doomed = [n for f in bodies for n in walk.doomed(f.node.body)]
    dead = frozenset(id(x) for n in doomed for x in nodes(n))
    alive = _alive(program, dead, walk.never)
    return Ends(frozenset(walk.never), frozenset(map(id, doomed)), dead, alive)


def _names_an_end(f: FunctionDef, unit: Unit) -> bool:
    names = (n.name for n in nodes(f.node.body) if isinstance(n, C.ID)) if f.error is None else ()
    return any(_ends(name, unit) for name in names)


def _ends(name: str, unit: Unit) -> bool:
    return name.removeprefix("__builtin_") in libc.ENDERS and name not in unit.functions


def _alive(program: KernelProgram, dead: frozenset[int], never: set[str]) -> tuple[FunctionDef, ...]:
    """The functions that are named outside of dead code, in the program's order."""
    known = {f.name: f for f in program.functions}
    reached, pending = {program.kernel.name}, [program.kernel]
    while pending:
        f = pending.pop()
        named = (n.name for n in nodes(f.node.body) if isinstance(n, C.ID) and id(n) not in dead) if not f.error else ()
        for name in named:
            if name in known and name not in reached | never:
                reached.add(name)
                pending.append(known[name])
    return tuple(f for f in program.functions if f.name in reached)


class _Walk:
    """``never``: the functions that are known never to return."""

    def __init__(self, unit: Unit):
        self.unit = unit
        self.never: set[str] = set()

    def certain(self, n: C.Node | None) -> bool:
        """Whether a statement or an expression leads to an early end, and nowhere else."""
        match n:
            case C.FuncCall(name=C.ID(name=name) as f):
                symbol = self.unit.symbols.get(id(f))
                is_function = symbol is not None and symbol.kind == "function"
                return is_function and (name in self.never or _ends(name, self.unit))
            case C.Compound():
                items = list(n.block_items or ())
                led = self.led(items)
                return bool(led) and led[0] is items[0]
            case C.If():
                return self.certain(n.iftrue) and self.certain(n.iffalse)
            case C.TernaryOp():
                return self.certain(n.iftrue) and self.certain(n.iffalse)
            case C.ExprList():
                return any(map(self.certain, n.exprs))
            case C.Cast() | C.Return():
                return self.certain(n.expr)
            case C.Label() | C.DoWhile():
                return self.certain(n.stmt)
        return False

    def led(self, statements: Sequence[C.Node]) -> list[C.Node]:
        """Of a list of statements those that lead to an early end, the one that does it last."""
        end = next((k for k, s in enumerate(statements) if self.certain(s)), None)
        if end is None:
            return []
        first = end
        while first and not jumps_out(_plain(statements[first - 1])):
            first -= 1
        return list(statements[first : end + 1])

    def doomed(self, body: C.Node) -> Iterator[C.Node]:
        """The statements and calls of a function that lead to an early end."""
        for n in nodes(body):
            for statements in _lists(n):
                for s in self.led(statements):
                    yield s
                    yield _plain(s)
            if isinstance(n, C.FuncCall) and self.certain(n):
                yield n


def _plain(s: C.Node) -> C.Node:
    while isinstance(s, C.Label):
        s = s.stmt
    return s


def _lists(n: C.Node) -> Iterator[Sequence[C.Node]]:
    """The lists of statements in a node."""
    match n:
        case C.Compound():
            yield n.block_items or ()
        case C.Case() | C.Default():
            yield n.stmts or ()
        case C.If():
            yield from ([x] for x in (n.iftrue, n.iffalse) if x is not None)
        case C.For() | C.While() | C.DoWhile():
            yield [n.stmt]
