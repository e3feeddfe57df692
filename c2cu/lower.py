"""Lowering: typed AST to the flat IR of one kernel, every call inlined, every jump made structured.

``break``, ``continue`` and ``return`` set a flag; what would be skipped stands in an `If` on that flag. A loop lists
the flags that end it. Raises UnsupportedError, with the place, for C that only the pass-through schedules take.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pycparser import c_ast as C

from .ctype import BOOL, INT, LONG, VOID, Array, CType, Pointer, Scalar, Struct, promote
from .diagnostics import Loc, UnsupportedError
from .fold import binary, cast, truth, unary
from .initial import items
from .ir import Assign, Const, Expr, If, Kernel, Load, Loop, Region, Stmt, Store, Var, Variable
from .lower_expr import Expressions, join, same_object
from .objects import FunctionRef, Object, PointerVariable, Ref, Target, leaf_table
from .parse import loc_of
from .program import Border, Program, nodes
from .simplify import simplify
from .symbols import Symbol
from .typed import FunctionDef
from .walk import statements

Flags = frozenset[Variable]
NONE: Flags = frozenset()


def lower(program: Program) -> Kernel:
    """The flat kernel of a program. Its bulk regions are the leaves of the borders: "D", "s.x", "return"."""
    return Lowering(program).kernel()


@dataclass
class Frame:
    """One inlined call: where its result goes and the flag that ``return`` sets."""

    function: FunctionDef
    flag: Variable
    result: Variable | Object | PointerVariable | None
    exits: list[dict[PointerVariable, Target | None]] = field(default_factory=list)


@dataclass
class Jump:
    """What ``break`` and ``continue`` mean here; a switch has no ``proceed`` of its own."""

    leave: Variable
    proceed: Variable | None
    exits: list[dict[PointerVariable, Target | None]] = field(default_factory=list)


class Lowering(Expressions):
    def __init__(self, program: Program):
        super().__init__(program.unit)
        self.program = program
        self.frames: list[Frame] = []
        self.jumps: list[Jump] = []
        self.borders: list[tuple[Border, Object]] = []
        self.statics: list[Stmt] = []  # what sets up static locals

    # the kernel

    def kernel(self) -> Kernel:
        k = self.program.kernel
        bulk: list[Region] = []
        for b in self.program.borders:
            self.border(b, bulk)
        result = next((obj for b, obj in self.borders if b.kind == "return"), None)
        with self.block() as body:
            self.frames.append(Frame(k, self.fresh("returned", BOOL, k.loc), result))
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

    def border(self, b: Border, bulk: list[Region]) -> None:
        storage = "shared" if b.shared else "bulk"
        values = self.values(b.symbol) if b.kind == "global" and b.symbol is not None else None
        obj = Object(b.name, b.type, storage, b.loc, None if b.shared else values)
        if b.symbol is not None:
            self.bindings[id(b.symbol)] = obj
        self.borders.append((b, obj))
        for path, (t, count) in leaf_table(b.type).items():
            if isinstance(t, Scalar) and t.size < 16:
                region = Region(b.name + path, t, count, storage, self.initial(obj, path), b.loc)
                bulk.append(region)
                self.names[region.name] = 1
                if b.shared or count != 1:
                    obj.parts[path] = region

    def entry(self) -> None:
        """Bulk scalars start in their variables."""
        for b, obj in self.borders:
            for path, part in sorted(obj.parts.items()):
                if isinstance(part, Variable) and b.kind != "return":
                    region = Region(obj.name + path, part.type, 1, "bulk", None, b.loc)
                    self.emit(Assign(part, Load(region, Const(0, INT), b.loc), b.loc))

    def leave(self, changed: set[Variable]) -> None:
        """Bulk scalars that the kernel changes go back; a parameter passed by value does not."""
        for b, obj in self.borders:
            by_value = b.kind == "param" and b.symbol is not None and not isinstance(b.symbol.type, Pointer)
            for path, part in sorted(obj.parts.items()):
                if isinstance(part, Variable) and part in changed and not by_value:
                    region = Region(obj.name + path, part.type, 1, "bulk", None, b.loc)
                    self.emit(Store(region, Const(0, INT), Var(part, b.loc), b.loc))

    # names

    def binding(self, symbol: Symbol, loc: Loc) -> Object | PointerVariable:
        bound = self.bindings.get(id(symbol))
        if bound is not None:
            return bound
        if not symbol.is_global or symbol.builtin:
            raise UnsupportedError("C2CU014", f"'{symbol.name}' in a kernel", loc)
        values = self.values(symbol)
        if symbol.const:
            obj = Object(symbol.name, symbol.type, "shared", symbol.loc, values or {})
        elif symbol.storage == "static-local":
            obj = self.static_local(symbol, values)
        else:
            raise UnsupportedError("C2CU014", f"'{symbol.name}' in a kernel", loc)
        self.bindings[id(symbol)] = obj
        return obj

    def static_local(self, symbol: Symbol, values: dict[int, int | float] | None) -> Object:
        """A static local of one run: initialised at the start of the kernel."""
        obj = Object(symbol.name, symbol.type, "local", symbol.loc)
        with self.block() as first:
            ref = Ref(obj, "", Const(0, INT), symbol.type)
            self.zero(ref, symbol.loc)
            if symbol.decl is not None and symbol.decl.init is not None:
                self.initialise(ref, symbol.decl.init)
        self.statics += first
        return obj

    def values(self, symbol: Symbol) -> dict[int, int | float] | None:
        """The constant initial values of a global by byte offset; None where it has no initialiser."""
        init = symbol.decl.init if symbol.decl is not None else None
        if init is None:
            return None
        out: dict[int, int | float] = {}
        for offset, t, e in items(symbol.type, init, self.unit.require_constant, lambda n: self.unit.types.get(id(n))):
            value = e if isinstance(e, int) else self.unit.constant(e)
            if isinstance(t, Pointer) and value == 0:
                continue
            if value is None or not isinstance(t, Scalar):
                at = symbol.loc if isinstance(e, int) else loc_of(e)
                raise UnsupportedError("C2CU022", f"the initialiser of '{symbol.name}' stores an address", at)
            out[offset] = t.wrap(value)
        return out

    # functions

    def function_body(self, f: FunctionDef) -> None:
        frame = self.frames[-1]
        outer, self.jumps = self.jumps, []
        self.assign(frame.flag, Const(0, BOOL), f.loc)
        self.statements(f.node.body.block_items or [])
        for exit_targets in frame.exits:
            self.targets = join(self.targets, exit_targets)
        self.jumps = outer

    def call(self, node: C.FuncCall) -> Expr | Ref | Target | None:
        loc = loc_of(node)
        callee = self.callee(node)
        if callee not in self.unit.functions:
            return self.library(callee, node)
        f = self.unit.require(callee)
        args = node.args.exprs if node.args else []
        if len(args) != len(f.params):
            raise UnsupportedError("C2CU014", f"a call of '{callee}' with {len(args)} arguments", loc)
        saved = {id(p): self.bindings.get(id(p)) for p in f.params}
        bound = [self.argument(p, a) for p, a in zip(f.params, args)]
        self.bindings.update(zip((id(p) for p in f.params), bound))
        frame = Frame(f, self.fresh("returned", BOOL, f.loc), self.result(f))
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
            raise UnsupportedError("C2CU082", "a call through a pointer", loc_of(node))
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
            if isinstance(target, Ref) and isinstance(target.index, Const):
                target = Ref(target.object, target.path, target.index, target.type)
            self.point(variable, target, loc)
            return variable
        obj = Object(p.name, p.type, "local", p.loc)
        ref = Ref(obj, "", Const(0, INT), p.type)
        if isinstance(p.type, Scalar):
            self.store(ref, self.converted(self.value(node), p.type, loc), loc)
        else:
            self.copy(ref, self.object(node), loc)
        return obj

    # declarations

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
        obj = Object(symbol.name, symbol.type, "local", symbol.loc)
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
                raise UnsupportedError("C2CU022", "a pointer is stored in memory", loc)
            value = Const(e, t, loc) if isinstance(e, int) else self.converted(self.value(e), t, loc_of(e))
            self.store(at, value, loc)

    def zero(self, ref: Ref, loc: Loc) -> None:
        for path, (t, count) in leaf_table(ref.type).items():
            if not isinstance(t, Scalar):
                raise UnsupportedError("C2CU022", f"'{ref.object.name}{path}' stores a pointer in memory", loc)
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
                m = max((m for m in ref.type.members if m.offset <= offset), key=lambda m: m.offset)
                ref, offset = ref.member(m.name, loc), offset - m.offset
        return ref

    # statements

    def statements(self, nodes: list[C.Node]) -> Flags:
        """Lower a statement list; the flags it may have set."""
        for i, s in enumerate(nodes):
            rest = nodes[i + 1 :]
            if isinstance(s, C.If) and rest and escapes(s.iftrue) and not (s.iffalse and escapes(s.iffalse)):
                other = [s.iffalse, *rest] if s.iffalse is not None else rest
                return self.if_else(s, [s.iftrue], other)
            flags = self.statement(s)
            if flags and rest:
                return flags | self.unless(flags, rest)
            if flags:
                return flags
        return NONE

    def unless(self, flags: Flags, rest: list[C.Node]) -> Flags:
        """``rest``, skipped where a flag is set."""
        with self.block() as inner:
            more = self.statements(rest)
        if inner:
            self.emit(If(none_of(flags, inner[0].loc), tuple(inner), (), False, inner[0].loc))
        return more

    def statement(self, node: C.Node | None) -> Flags:
        loc = loc_of(node) if node is not None else Loc()
        match node:
            case None | C.EmptyStatement() | C.Pragma() | C.Typedef() | C.StaticAssert():
                return NONE
            case C.Compound():
                return self.statements(node.block_items or [])
            case C.DeclList():
                for d in node.decls:
                    self.declare(d)
                return NONE
            case C.Decl():
                self.declare(node)
                return NONE
            case C.If():
                return self.if_else(node, [node.iftrue], [node.iffalse] if node.iffalse is not None else [])
            case C.For() | C.While():
                return self.loop(node)
            case C.DoWhile():
                return self.do_while(node)
            case C.Switch():
                return self.switch(node)
            case C.Break():
                return self.jump(self.jumps[-1], self.jumps[-1].leave, loc)
            case C.Continue():
                target = next(j for j in reversed(self.jumps) if j.proceed is not None)
                assert target.proceed is not None
                return self.jump(None, target.proceed, loc)
            case C.Return():
                return self.return_(node)
            case C.Goto() | C.Label():
                raise UnsupportedError("C2CU014", "goto", loc, "write a loop, or break and continue")
        self.effect(node)
        return NONE

    def jump(self, target: Jump | None, flag: Variable, loc: Loc) -> Flags:
        self.emit(Assign(flag, Const(1, BOOL, loc), loc))
        if target is not None:
            target.exits.append(dict(self.targets))
        return frozenset({flag})

    def return_(self, node: C.Return) -> Flags:
        frame, loc = self.frames[-1], loc_of(node)
        if node.expr is not None:
            match frame.result:
                case Variable():
                    self.assign(frame.result, self.converted(self.value(node.expr), frame.result.type, loc), loc)
                case PointerVariable():
                    self.point(frame.result, self.pointer(node.expr), loc)
                case Object() if isinstance(frame.result.type, Scalar):
                    ref = Ref(frame.result, "", Const(0, INT), frame.result.type)
                    self.store(ref, self.converted(self.value(node.expr), frame.result.type, loc), loc)
                case Object():
                    self.copy(Ref(frame.result, "", Const(0, INT), frame.result.type), self.object(node.expr), loc)
                case None:
                    self.effect(node.expr)
        self.emit(Assign(frame.flag, Const(1, BOOL, loc), loc))
        frame.exits.append(dict(self.targets))
        return frozenset({frame.flag})

    def if_else(self, node: C.If, then: list[C.Node], other: list[C.Node]) -> Flags:
        loc = loc_of(node.cond)
        cond = self.condition(node.cond)
        if isinstance(cond, Const):
            return self.statements(then if cond.value else other)
        before = dict(self.targets)
        with self.block() as yes:
            flags = self.statements(then)
        after, self.targets = self.targets, before
        with self.block() as no:
            more = self.statements(other)
        if escapes_list(other):
            self.targets = after
        elif not escapes_list(then):
            self.targets = join(after, self.targets)
        self.emit(If(cond, tuple(yes), tuple(no), True, loc))
        return flags | more

    # loops

    def loop(self, node: C.For | C.While) -> Flags:
        loc = loc_of(node)
        if isinstance(node, C.For) and node.init is not None:
            self.statement(node.init)
        step = node.next if isinstance(node, C.For) else None
        start = dict(self.targets)
        with self.block() as head:
            cond = self.condition(node.cond) if node.cond is not None else Const(1, INT, loc)
        return self.repeat(node.stmt, start, cond, head, lambda: self.effect(step) if step is not None else None, loc)

    def do_while(self, node: C.DoWhile) -> Flags:
        loc = loc_of(node.cond)
        go = self.fresh("again", BOOL, loc)
        self.assign(go, Const(1, BOOL), loc)

        def test() -> None:
            self.assign(go, self.condition(node.cond), loc)

        return self.repeat(node.stmt, dict(self.targets), Var(go, loc), [], test, loc)

    def repeat(
        self, body: C.Node, start: dict[PointerVariable, Target | None], cond: Expr, head: list[Stmt], step, loc: Loc
    ) -> Flags:
        """The loop itself. ``start``: what pointers point to before its first test."""
        jump = Jump(self.fresh("left", BOOL, loc), self.fresh("skipped", BOOL, loc))
        assert jump.proceed is not None
        frame = self.frames[-1]
        self.jumps.append(jump)
        with self.block() as inner:
            self.assign(jump.proceed, Const(0, BOOL), loc)
            flags = self.statement(body)
        self.jumps.pop()
        with self.block() as last:
            step()
        self.check_targets(start, loc)
        for exit_targets in jump.exits:
            self.targets = join(self.targets, exit_targets)
        exits = tuple(f for f in (jump.leave, frame.flag) if f in flags)
        if jump.leave in flags:
            self.assign(jump.leave, Const(0, BOOL), loc)
        self.emit(Loop(cond, tuple(inner), tuple(last), tuple(head), exits, loc))
        return flags - {jump.leave, jump.proceed}

    def check_targets(self, start: dict[PointerVariable, Target | None], loc: Loc) -> None:
        """A pointer that points into another object on the next turn: its uses were lowered for the first."""
        for p, target in start.items():
            now = self.targets.get(p)
            if target is not None and not same_object(target, now):
                raise UnsupportedError("C2CU028", f"pointer '{p.name}' moves to another object inside a loop", loc)
        self.targets = join(start, self.targets)

    # switch

    def switch(self, node: C.Switch) -> Flags:
        loc = loc_of(node.cond)
        value = self.temporary(cast_promoted(self.value(node.cond)), loc, "selector")
        segments = self.segments(node)
        if all(escapes_list(s) for _, _, s in segments[:-1]):
            return self.chain(segments, value, loc)
        return self.fall_through(segments, value, loc)

    def segments(self, node: C.Switch) -> list[tuple[list[C.Node], bool, list[C.Node]]]:
        """(constants, has default, statements) of each group of labels, in order."""
        groups: list[tuple[list[C.Node], bool, list[C.Node]]] = []
        items_ = node.stmt.block_items if isinstance(node.stmt, C.Compound) else [node.stmt]
        for s in items_ or []:
            if not isinstance(s, (C.Case, C.Default)):
                if isinstance(s, C.Decl) and s.init is None:
                    self.declare(s)
                    continue
                raise UnsupportedError("C2CU083", "a statement of a switch before its first case", loc_of(s))
            labels, default = ([s.expr], False) if isinstance(s, C.Case) else ([], True)
            if groups and not groups[-1][2]:
                labels, default = groups[-1][0] + labels, groups[-1][1] or default
                groups.pop()
            groups.append((labels, default, list(s.stmts or [])))
        return groups

    def matches(self, labels: list[C.Node], value: Expr, loc: Loc) -> Expr:
        test: Expr | None = None
        for label in labels:
            constant = self.unit.constant(label)
            if constant is None or not isinstance(value.type, Scalar):
                raise UnsupportedError("C2CU083", "a case label that is not constant", loc_of(label))
            one = binary("==", value, Const(value.type.wrap(constant), value.type), INT, loc)
            test = one if test is None else binary("||", test, one, INT, loc)
        return test if test is not None else Const(0, INT, loc)

    def chain(self, segments, value: Expr, loc: Loc) -> Flags:
        """Every group but the last ends in a jump: if, else if, else."""
        jump = Jump(self.fresh("left", BOOL, loc), None)
        self.assign(jump.leave, Const(0, BOOL), loc)
        self.jumps.append(jump)
        default = next((s for _, d, s in segments if d), [])
        flags = self.links([(labels, s) for labels, d, s in segments if not d], default, value, loc)
        self.jumps.pop()
        return flags - {jump.leave}

    def links(self, cases, default: list[C.Node], value: Expr, loc: Loc) -> Flags:
        if not cases:
            return self.arm(default)
        (labels, body), *rest = cases
        before = dict(self.targets)
        with self.block() as yes:
            flags = self.arm(body)
        after, self.targets = self.targets, before
        with self.block() as no:
            more = self.links(rest, default, value, loc)
        self.targets = join(after, self.targets)
        self.emit(If(self.matches(labels, value, loc), tuple(yes), tuple(no), True, loc))
        return flags | more

    def arm(self, body: list[C.Node]) -> Flags:
        return self.statements(body[:-1] if body and isinstance(body[-1], C.Break) else body)

    def fall_through(self, segments, value: Expr, loc: Loc) -> Flags:
        """A flag says that a label was reached and no break was."""
        jump = Jump(self.fresh("left", BOOL, loc), None)
        hit = self.fresh("reached", BOOL, loc)
        self.assign(jump.leave, Const(0, BOOL), loc)
        self.assign(hit, Const(0, BOOL), loc)
        every = [label for labels, _, _ in segments for label in labels]
        self.jumps.append(jump)
        flags: Flags = NONE
        for labels, default, body in segments:
            here = self.matches(labels, value, loc)
            if default:
                here = binary("||", here, unary("!", self.matches(every, value, loc), INT, loc), INT, loc)
            reached = binary("||", Var(hit, loc), here, INT, loc)
            self.assign(hit, truth(reached), loc)
            test: Expr = Var(hit, loc)
            if flags:
                test = binary("&&", test, none_of(flags, loc), INT, loc)
            with self.block() as inner:
                before = dict(self.targets)
                flags |= self.statements(body)
                self.targets = join(before, self.targets)
            if inner:
                self.emit(If(test, tuple(inner), (), True, loc))
        self.jumps.pop()
        for exit_targets in jump.exits:
            self.targets = join(self.targets, exit_targets)
        return flags - {jump.leave}

    # expression statements

    def effect(self, node: C.Node) -> None:
        """An expression for its side effects."""
        loc = loc_of(node)
        match node:
            case C.Decl() | C.DeclList():
                self.statement(node)
            case C.ExprList():
                for e in node.exprs:
                    self.effect(e)
            case C.Assignment() if isinstance(self.unit.type(node), Struct):
                self.copy(self.lvalue(node.lvalue), self.object(node.rvalue), loc)
            case C.Assignment() if isinstance(self.unit.type(node), Pointer):
                self.assign_pointer(node)
            case C.UnaryOp(op="++" | "--" | "p++" | "p--") if isinstance(self.unit.type(node), Pointer):
                self.step_pointer(node)
            case C.UnaryOp(op="p++" | "p--"):
                self.step(C.UnaryOp(node.op[1:], node.expr, node.coord))
            case C.Cast() if self.unit.type(node) == VOID:
                self.effect(node.expr)
            case C.FuncCall():
                self.call(node)
            case C.TernaryOp() if not is_number(self.unit.type(node)):
                cond = self.condition(node.cond)
                self.either(
                    cond, lambda: self.effect(node.iftrue), lambda: self.effect(node.iffalse), loc_of(node.cond)
                )
            case _ if is_number(self.unit.type(node)):
                self.value(node)
            case _ if isinstance(self.unit.value_type(node), Pointer):
                self.pointer(node)
            case _:
                self.object(node)

    def assign_pointer(self, node: C.Assignment) -> None:
        loc = loc_of(node)
        p = self.pointer_variable(node.lvalue)
        if node.op == "=":
            self.point(p, self.pointer(node.rvalue), loc)
            return
        start = self.pointee(self.current(p, loc), p.type.to, loc)
        by = self.index(node.rvalue)
        self.point(p, start.moved(by if node.op == "+=" else unary("-", by, by.type, by.loc)), loc)


def stepped(program: Program) -> list[Symbol]:
    """Pointer parameters of the kernel that it assigns to or steps."""
    found: set[int] = set()
    for n in nodes(program.kernel.node.body):
        target = n.lvalue if isinstance(n, C.Assignment) else n.expr if isinstance(n, C.UnaryOp) else None
        steps = isinstance(n, C.Assignment) or (isinstance(n, C.UnaryOp) and n.op in ("++", "--", "p++", "p--"))
        if isinstance(target, C.ID) and steps:
            found.add(id(program.unit.symbol(target)))
    return [p for p in program.kernel.params if isinstance(p.type, Pointer) and id(p) in found]


def is_number(t: CType) -> bool:
    return isinstance(t, Scalar) and t != VOID


def cast_promoted(e: Expr) -> Expr:
    return cast(e, promote(e.type))


def none_of(flags: Flags, loc: Loc) -> Expr:
    """True where no flag is set."""
    test: Expr | None = None
    for f in sorted(flags, key=lambda v: v.uid):
        one = unary("!", Var(f, loc), INT, loc)
        test = one if test is None else binary("&&", test, one, INT, loc)
    assert test is not None
    return test


def escapes(node: C.Node | None) -> bool:
    """Whether control never comes out at the end of a statement."""
    match node:
        case C.Break() | C.Continue() | C.Return():
            return True
        case C.Compound():
            return escapes_list(node.block_items or [])
        case C.If():
            return node.iffalse is not None and escapes(node.iftrue) and escapes(node.iffalse)
    return False


def escapes_list(nodes: list[C.Node]) -> bool:
    return any(escapes(s) for s in nodes)
