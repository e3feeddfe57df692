"""Control flow made structured: a jump sets a flag; what it skips stands in an `If` on that flag."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, INT, VOID, CType, Pointer, Scalar, Struct, promote
from ..base.diagnostics import Loc
from ..frontend.parse import loc_of
from ..ir.fold import binary, cast, truth, unary
from ..ir.nodes import Assign, Binary, Block, Const, Expr, If, Loop, Stmt, Var, Variable
from .functions import NONE, Flags, Functions, Jump
from .memory import join, same_object
from .objects import Object, PointerVariable, Ref, Target


class Control(Functions):
    """Statements."""

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
                return self.jump(self.jumps[-1].exits, self.jumps[-1].leave, loc)
            case C.Continue():
                target = next(j for j in reversed(self.jumps) if j.proceed is not None)
                assert target.proceed is not None
                return self.jump(target.repeats, target.proceed, loc)
            case C.Return():
                return self.return_(node)
            case C.Case() | C.Default():
                raise catalogue.NESTED_CASE.error(loc)
            case C.Goto() | C.Label():
                raise catalogue.GOTO.error(loc)
        self.effect(node)
        return NONE

    def jump(self, paths: list[dict[PointerVariable, Target | None]], flag: Variable, loc: Loc) -> Flags:
        """Set the flag; ``paths`` collects what pointers point to where control goes on."""
        self.emit(Assign(flag, Const(1, BOOL, loc), loc))
        paths.append(dict(self.targets))
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
        if no:
            self.emit(If(cond, tuple(yes), tuple(no), True, loc))
        else:
            self.emit_if(cond, tuple(yes), loc)
        return flags | more

    def emit_if(self, cond: Expr, then: Block, loc: Loc) -> None:
        """An `If` without else; inside the one that has just settled what ``&&`` comes to, if so: then it is not
        reached where the first condition, which may not depend on data, is false."""
        match cond, self.out[-1:]:
            case Binary(op="!=", left=Var(var=v), right=Const(value=0)), [
                If(then=(*right, Assign(var=yes, value=b)), other=(Assign(var=no),)) as first
            ] if v == yes == no and v in self.conjunctions:
                self.out.pop()
                with self.block() as inner:
                    self.out += right
                    self.emit_if(b, then, b.loc if b.loc.line else loc)
                self.emit_if(first.cond, tuple(inner), first.loc)
            case _:
                self.emit(If(cond, then, (), True, loc))

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
        if self.unit.constant(node.cond) == 0:
            return self.once(node.stmt, loc)
        go = self.made("again", BOOL, loc)
        self.assign(go, Const(1, BOOL), loc)

        def test() -> None:
            self.assign(go, self.condition(node.cond), loc)

        return self.repeat(node.stmt, dict(self.targets), Var(go, loc), [], test, loc)

    def once(self, body: C.Node, loc: Loc) -> Flags:
        """``do body while (0)``, as macros have it: no loop."""
        jump = Jump(self.exit_flag("left", loc), self.exit_flag("skipped", loc))
        self.assign(jump.leave, Const(0, BOOL), loc)
        assert jump.proceed is not None
        self.assign(jump.proceed, Const(0, BOOL), loc)
        self.jumps.append(jump)
        flags = self.statement(body)
        self.jumps.pop()
        self.meet([*jump.repeats, *jump.exits])
        return flags - {jump.leave, jump.proceed}

    def repeat(
        self, body: C.Node, start: dict[PointerVariable, Target | None], cond: Expr, head: list[Stmt], step, loc: Loc
    ) -> Flags:
        """The loop itself. ``start``: what pointers point to before its first test."""
        jump = Jump(self.exit_flag("left", loc), self.exit_flag("skipped", loc))
        assert jump.proceed is not None
        frame = self.frames[-1]
        self.jumps.append(jump)
        with self.block() as inner:
            self.assign(jump.proceed, Const(0, BOOL), loc)
            flags = self.statement(body)
        self.jumps.pop()
        self.meet(jump.repeats)
        with self.block() as last:
            step()
        self.check_targets(start, loc)
        self.meet(jump.exits)
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
                raise catalogue.TARGET_CHANGES_IN_LOOP.error(loc, name=p.name)
        self.targets = join(start, self.targets)

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
                raise catalogue.BEFORE_FIRST_CASE.error(loc_of(s))
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
                raise catalogue.UNSUPPORTED_CONSTRUCT.error(
                    loc_of(label), construct="a case label that is not constant"
                )
            one = binary("==", value, Const(value.type.wrap(constant), value.type), INT, loc)
            test = one if test is None else binary("||", test, one, INT, loc)
        return test if test is not None else Const(0, INT, loc)

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

    def chain(self, segments, value: Expr, loc: Loc) -> Flags:
        """Every group but the last ends in a jump: if, else if, else."""
        jump = Jump(self.exit_flag("left", loc), None)
        self.assign(jump.leave, Const(0, BOOL), loc)
        self.jumps.append(jump)
        default = next((s for _, d, s in segments if d), [])
        flags = self.links([(labels, s) for labels, d, s in segments if not d], default, value, loc)
        self.jumps.pop()
        self.meet(jump.exits)
        return flags - {jump.leave}

    def arm(self, body: list[C.Node]) -> Flags:
        return self.statements(body[:-1] if body and isinstance(body[-1], C.Break) else body)

    def fall_through(self, segments, value: Expr, loc: Loc) -> Flags:
        """A flag says that a label was reached and no break was."""
        jump = Jump(self.exit_flag("left", loc), None)
        hit = self.made("reached", BOOL, loc)
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
        self.meet(jump.exits)
        return flags - {jump.leave}

    def effect(self, node: C.Node) -> None:
        """An expression for its side effects."""
        match node:
            case C.Decl() | C.DeclList():
                self.statement(node)
            case C.ExprList():
                for e in node.exprs:
                    self.effect(e)
            case C.Assignment() if isinstance(self.unit.type(node), Struct):
                self.assign_object(node)
            case C.Assignment() if isinstance(self.unit.type(node), Pointer):
                self.assign_pointer(node)
            case C.UnaryOp(op="++" | "--" | "p++" | "p--") if isinstance(self.unit.type(node), Pointer):
                self.step_pointer(node)
            case C.UnaryOp(op="++" | "--" | "p++" | "p--"):
                self.step(node, used=False)
            case C.Assignment():
                self.assignment(node, used=False)
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


def is_number(t: CType) -> bool:
    return isinstance(t, Scalar) and t != VOID
