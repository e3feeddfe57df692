"""The kernel as a whole: parameters become regions, its body statements, and what sets up its statics goes first."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base.ctype import INT, Pointer, Scalar
from ..frontend.kernel import KernelProgram, Parameter, nodes
from ..frontend.symbols import Symbol
from ..ir.nodes import Assign, Const, Kernel, Load, Region, Store, Var, Variable
from ..ir.simplify import simplify
from ..ir.walk import statements
from .control import Control
from .functions import Frame
from .objects import Object, Ref, leaf_table


def lower(program: KernelProgram) -> Kernel:
    """The flat kernel of a program. Its bulk regions are the leaves of its parameters: "D", "s.x", "return"."""
    return Lowering(program).kernel()


class Lowering(Control):
    """One kernel."""

    def kernel(self) -> Kernel:
        k = self.program.kernel
        bulk: list[Region] = []
        for b in self.program.parameters:
            self.parameter(b, bulk)
        self.copies = [self.own_copy(b.symbol) for b in self.program.parameters if b.shared and b.by_value]
        result = next((obj for b, obj in self.parameters if b.kind == "return"), None)
        with self.block() as body:
            self.frames.append(Frame(k, self.exit_flag("returned", k.loc), result))
            for p in stepped(self.program):
                bound = self.bindings[id(p)]
                assert isinstance(bound, Object)
                self.rebound(p, bound)
            self.function_body(k)
        with self.block() as entry:
            self.entry()
        with self.block() as leave:
            self.leave({s.var for s in statements(tuple(body)) if isinstance(s, Assign)})
        regions = [*bulk, *(r for r in self.regions if r not in bulk)]
        return Kernel(k.name, tuple(regions), simplify((*entry, *self.statics, *body, *leave)), k.loc)

    def parameter(self, b: Parameter, bulk: list[Region]) -> None:
        storage = "shared" if b.shared else "bulk"
        values = self.values(b.symbol) if b.kind == "global" and b.symbol is not None else None
        volatile = b.symbol is not None and b.symbol.volatile
        obj = Object(b.name, b.type, storage, b.loc, None if b.shared else values, volatile=volatile)
        if b.symbol is not None:
            self.bindings[id(b.symbol)] = obj
        self.parameters.append((b, obj))
        for path, (t, count) in leaf_table(b.type).items():
            if isinstance(t, Scalar) and t.size < 16:
                region = Region(b.name + path, t, count, storage, self.initial(obj, path), b.loc)
                bulk.append(region)
                self.names[region.name] = 1
                if b.shared or count != 1 or volatile:
                    obj.parts[path] = region

    def own_copy(self, symbol: Symbol | None) -> tuple[Symbol, Object]:
        """A parameter by value is the function's own, also where all inputs share what it starts from."""
        assert symbol is not None
        given = self.bindings[id(symbol)]
        assert isinstance(given, Object)
        self.bindings[id(symbol)] = Object(symbol.name, symbol.type, "local", symbol.loc, volatile=symbol.volatile)
        return symbol, given

    def entry(self) -> None:
        """Bulk scalars start in their variables."""
        for symbol, obj in self.copies:
            copy = self.bindings[id(symbol)]
            assert isinstance(copy, Object)
            self.copy(Ref(copy, "", Const(0, INT), copy.type), Ref(obj, "", Const(0, INT), obj.type), symbol.loc)
        for b, obj in self.parameters:
            for path, part in sorted(obj.parts.items()):
                if isinstance(part, Variable) and b.kind != "return":
                    region = Region(obj.name + path, part.type, 1, "bulk", None, b.loc)
                    self.emit(Assign(part, Load(region, Const(0, INT), b.loc), b.loc))

    def leave(self, changed: set[Variable]) -> None:
        """Bulk scalars that the kernel changes go back; a parameter passed by value does not."""
        for b, obj in self.parameters:
            for path, part in sorted(obj.parts.items()):
                if isinstance(part, Variable) and part in changed and not b.by_value:
                    region = Region(obj.name + path, part.type, 1, "bulk", None, b.loc)
                    self.emit(Store(region, Const(0, INT), Var(part, b.loc), b.loc))


def stepped(program: KernelProgram) -> list[Symbol]:
    """Pointer parameters of the kernel that it assigns to or steps."""
    found: set[int] = set()
    for n in nodes(program.kernel.node.body):
        target = n.lvalue if isinstance(n, C.Assignment) else n.expr if isinstance(n, C.UnaryOp) else None
        steps = isinstance(n, C.Assignment) or (isinstance(n, C.UnaryOp) and n.op in ("++", "--", "p++", "p--"))
        if isinstance(target, C.ID) and steps:
            found.add(id(program.unit.symbol(target)))
    return [p for p in program.kernel.params if isinstance(p.type, Pointer) and id(p) in found]
