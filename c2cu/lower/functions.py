"""Functions and declarations: every call is inlined, its parameters bound to what they stand for."""

from __future__ import annotations

from dataclasses import dataclass, field

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, INT, LONG, VOID, Array, CType, Pointer, Scalar, Struct
from ..base.diagnostics import Loc, UnsupportedError
from ..frontend.initial import items
from ..frontend.kernel import KernelProgram, Parameter
from ..frontend.parse import loc_of
from ..frontend.symbols import Symbol
from ..frontend.typed import FunctionDef
from ..ir.nodes import Const, Expr, Stmt, Var, Variable
from .library import Library
from .objects import FunctionRef, Object, PointerVariable, Ref, Target, leaf_table

Flags = frozenset[Variable]
NONE: Flags = frozenset()


@dataclass
class Frame:
    """One inlined call: where its result goes and the flag that ``return`` sets."""

    function: FunctionDef
    flag: Variable
    result: Variable | Object | PointerVariable | None
    exits: list[dict[PointerVariable, Target | None]] = field(default_factory=list)


@dataclass
class Jump:
    """What ``break`` and ``continue`` mean here; a switch has no ``proceed`` of its own.

    ``exits``, ``repeats``: what pointers point to at each ``break`` and at each ``continue``.
    """

    leave: Variable
    proceed: Variable | None
    exits: list[dict[PointerVariable, Target | None]] = field(default_factory=list)
    repeats: list[dict[PointerVariable, Target | None]] = field(default_factory=list)


class Functions(Library):
    """Calls, parameters, local and static variables and their initial values."""

    def __init__(self, program: KernelProgram):
        super().__init__(program.unit)
        self.program = program
        self.frames: list[Frame] = []
        self.jumps: list[Jump] = []
        self.parameters: list[tuple[Parameter, Object]] = []
        self.statics: list[Stmt] = []  # what sets up static locals

    def statements(self, nodes: list[C.Node]) -> Flags:
        raise NotImplementedError

    def binding(self, symbol: Symbol, loc: Loc) -> Object | PointerVariable:
        bound = self.bindings.get(id(symbol))
        if bound is not None:
            return bound
        if not symbol.is_global or symbol.builtin:
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"'{symbol.name}'")
        values = self.values(symbol)
        if symbol.const:
            obj = Object(symbol.name, symbol.type, "shared", symbol.loc, values or {})
        elif symbol.storage == "static-local":
            obj = self.static_local(symbol, values)
        else:
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"'{symbol.name}'")
        self.bindings[id(symbol)] = obj
        return obj

    def static_local(self, symbol: Symbol, values: dict[int, Const] | None) -> Object:
        """A static local of one run: initialised at the start of the kernel."""
        obj = Object(symbol.name, symbol.type, "local", symbol.loc, volatile=symbol.volatile)
        with self.block() as first:
            ref = Ref(obj, "", Const(0, INT), symbol.type)
            self.zero(ref, symbol.loc)
            if symbol.decl is not None and symbol.decl.init is not None:
                self.initialise(ref, symbol.decl.init)
        self.statics += first
        return obj

    def values(self, symbol: Symbol) -> dict[int, Const] | None:
        """The constant initial values of a global by byte offset; None where it has no initialiser."""
        init = symbol.decl.init if symbol.decl is not None else None
        if init is None:
            return None
        out: dict[int, Const] = {}
        for offset, t, e in items(symbol.type, init, self.unit.require_constant, lambda n: self.unit.types.get(id(n))):
            value = e if isinstance(e, int) else self.unit.constant(e)
            if isinstance(t, Pointer) and value == 0:
                continue
            if value is None or not isinstance(t, Scalar):
                at = symbol.loc if isinstance(e, int) else loc_of(e)
                raise catalogue.ADDRESS_IN_INITIALISER.error(at, name=symbol.name)
            out[offset] = Const(t.wrap(value), t, symbol.loc if isinstance(e, int) else loc_of(e))
        return out

    def function_body(self, f: FunctionDef) -> None:
        frame = self.frames[-1]
        outer, self.jumps = self.jumps, []
        self.assign(frame.flag, Const(0, BOOL), f.loc)
        self.statements(f.node.body.block_items or [])
        self.meet(frame.exits)
        self.jumps = outer

    def call(self, node: C.FuncCall) -> Expr | Ref | Target | None:
        loc = loc_of(node)
        callee = self.callee(node)
        if callee not in self.unit.functions:
            return self.library(callee, node)
        f = self.unit.require(callee)
        args = node.args.exprs if node.args else []
        if len(args) != len(f.params):
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(
                loc, construct=f"a call of '{callee}' with {len(args)} arguments"
            )
        saved = {id(p): self.bindings.get(id(p)) for p in f.params}
        bound = [self.argument(p, a) for p, a in zip(f.params, args)]
        self.bindings.update(zip((id(p) for p in f.params), bound))
        frame = Frame(f, self.exit_flag("returned", f.loc), self.result(f))
        self.frames.append(frame)
        self.function_body(f)
        self.frames.pop()
        self.bindings.update((k, v) for k, v in saved.items() if v is not None)
        match frame.result:
            case Variable():
                return Var(frame.result, loc)
            case Object():
                return Ref(frame.result, "", Const(0, INT), frame.result.type)
            case PointerVariable():
                return self.current(frame.result, loc)
        return None

    def callee(self, node: C.FuncCall) -> str:
        if isinstance(node.name, C.ID) and self.unit.symbol(node.name).kind == "function":
            return node.name.name
        target = self.pointer(node.name)
        if not isinstance(target, FunctionRef):
            raise catalogue.INDIRECT_CALL.error(loc_of(node))
        return target.name

    def result(self, f: FunctionDef) -> Variable | Object | PointerVariable | None:
        t = f.returns
        if t == VOID:
            return None
        if isinstance(t, Pointer):
            return PointerVariable(f.name, t, self.fresh(f.name, LONG, f.loc), f.loc)
        if isinstance(t, Scalar):
            return self.fresh(f.name, t, f.loc)
        return Object(f.name, t, "local", f.loc)

    def argument(self, p: Symbol, node: C.Node) -> Object | PointerVariable:
        """A parameter, holding the argument's value."""
        loc = loc_of(node)
        if isinstance(p.type, Pointer):
            variable = PointerVariable(p.name, p.type, self.fresh(p.name, LONG, loc), p.loc)
            target = self.pointer(node)
            self.point(variable, target, loc)
            return variable
        obj = Object(p.name, p.type, "local", p.loc, volatile=p.volatile)
        ref = Ref(obj, "", Const(0, INT), p.type)
        if isinstance(p.type, Scalar):
            self.store(ref, self.converted(self.value(node), p.type, loc), loc)
        else:
            self.copy(ref, self.object(node), loc)
        return obj

    def declare(self, node: C.Decl) -> None:
        symbol = self.unit.symbols.get(id(node))
        if symbol is None or symbol.is_global:
            return
        if isinstance(symbol.type, Pointer):
            p = PointerVariable(symbol.name, symbol.type, self.fresh(symbol.name, LONG, symbol.loc), symbol.loc)
            self.bindings[id(symbol)] = p
            if node.init is not None:
                init = node.init.exprs[0] if isinstance(node.init, C.InitList) else node.init
                self.point(p, self.pointer(init), symbol.loc)
            return
        obj = Object(symbol.name, symbol.type, "local", symbol.loc, volatile=symbol.volatile)
        if (
            symbol.const
            and isinstance(symbol.type, Array)
            and node.init is not None
            and self.constant_table(symbol, obj)
        ):
            return
        self.bindings[id(symbol)] = obj
        if node.init is not None:
            self.initialise(Ref(obj, "", Const(0, INT), symbol.type), node.init)

    def constant_table(self, symbol: Symbol, obj: Object) -> bool:
        """A const local array of constants needs no stores: it is a table."""
        try:
            obj.values = self.values(symbol)
        except UnsupportedError:
            return False
        obj.storage = "shared"
        self.bindings[id(symbol)] = obj
        return True

    def initialise(self, ref: Ref, init: C.Node) -> None:
        loc = loc_of(init)
        if isinstance(ref.type, Scalar):
            e = init.exprs[0] if isinstance(init, C.InitList) else init
            self.store(ref, self.converted(self.value(e), ref.type, loc), loc)
            return
        if isinstance(ref.type, Struct) and not isinstance(init, C.InitList):
            self.copy(ref, self.object(init), loc)
            return
        found = list(items(ref.type, init, self.unit.require_constant, lambda n: self.unit.types.get(id(n))))
        scalars = sum(count for _, count in leaf_table(ref.type).values())
        if len(found) < scalars or any(isinstance(t, (Array, Struct)) for _, t, _ in found):
            self.zero(ref, loc)
        for offset, t, e in found:
            at = self.at_offset(ref, offset, t, loc)
            if isinstance(t, Struct) and isinstance(e, C.Node):
                self.copy(at, self.object(e), loc)
                continue
            if not isinstance(t, Scalar):
                raise catalogue.POINTER_IN_MEMORY.error(loc, name=ref.object.name + ref.path)
            value = Const(e, t, loc) if isinstance(e, int) else self.converted(self.value(e), t, loc_of(e))
            self.store(at, value, loc)

    def zero(self, ref: Ref, loc: Loc) -> None:
        for path, (t, count) in leaf_table(ref.type).items():
            if not isinstance(t, Scalar):
                raise catalogue.POINTER_IN_MEMORY.error(loc, name=ref.object.name + path)
            start = self.below(ref, path, count, loc)
            self.each(Const(count, INT), lambda k, s=start, t=t: self.store(s.moved(k), Const(t.wrap(0), t), loc), loc)

    def at_offset(self, ref: Ref, offset: int, t: CType, loc: Loc) -> Ref:
        """The subobject of type ``t`` at a byte offset."""
        while ref.type != t or offset:
            if isinstance(ref.type, Array):
                k, offset = divmod(offset, ref.type.of.size)
                ref = ref.element(loc).moved(Const(k, INT))
            else:
                assert isinstance(ref.type, Struct)
                before = (m for m in ref.type.members if m.offset <= offset)
                m = max(before, key=lambda m: (m.offset, m.type == t))  # in a union, the one that is meant
                ref, offset = ref.member(m.name, loc), offset - m.offset
        return ref
