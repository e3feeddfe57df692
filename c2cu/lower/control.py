"""Control flow made structured: a jump sets a flag; what it skips stands in an `If` on that flag."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, INT, VOID, CType, Pointer, Scalar, Struct, promote
from ..base.diagnostics import Loc
from ..frontend.parse import loc_of
from ..frontend.tree import children, ends
from ..frontend.tree import nodes as below
from ..ir.fold import binary, cast, truth, unary
from ..ir.nodes import Assign, Binary, Block, Const, Expr, If, Var, Variable
from .context import NONE, Context, Flags, Jump
from .declarations import declare
from .declassify import declassify
from .environment import Environment
from .expressions import assignment, condition, increment, number, place_number
from .jumps import labelled, tail_of
from .loops import do_while, loop, none_of, skipped
from .lvalues import assign_object, assign_pointer, last_of, object_value, pointer_value, step_pointer
from .memory import apart, copy_object, store, store_pair
from .objects import Object, whole
from .pairs import is_pair
from .pointers import write_pointer


def statements(cx: Context, nodes: list[C.Node]) -> Flags:
    """Lower a statement list; the flags it may have set."""
    if any(isinstance(s, C.Label) for s in nodes):
        return labelled(cx, nodes)
    for i, s in enumerate(nodes):
        if not cx.env.reached:
            return NONE
        if id(s) in cx.ends.doomed:
            cx.end(end_of(cx, nodes[i:]))
            return NONE
        last = i == len(nodes) - 1
        if isinstance(s, C.If) and not last and escapes(s.iftrue) and not (s.iffalse and escapes(s.iffalse)):
            other = [s.iffalse] if s.iffalse is not None else []
            return if_else(cx, s, [s.iftrue], [*other, *nodes[i + 1 :]])
        flags = statement(cx, s)
        if flags and not last:
            return flags | unless(cx, flags, nodes[i + 1 :])
        if flags:
            return flags
    return NONE


def end_of(cx: Context, nodes: list[C.Node]) -> Loc:
    """Where statements that lead to an early end come to it."""
    calls = (n for s in nodes for n in below(s) if isinstance(n, C.FuncCall) and id(n) in cx.ends.doomed)
    return loc_of(next(calls))


def unless(cx: Context, flags: Flags, rest: list[C.Node]) -> Flags:
    """``rest``, skipped where a flag is set."""
    return skipped(cx, flags, lambda: statements(cx, rest))


def statement(cx: Context, node: C.Node | None) -> Flags:
    loc = loc_of(node) if node is not None else Loc()
    match node:
        case None | C.EmptyStatement() | C.Typedef() | C.StaticAssert():
            return NONE
        case C.Pragma():
            if cx.judged and id(node) in cx.unit.declassified:
                declassify(cx, cx.unit.declassified[id(node)])
            return NONE
        case C.Compound():
            return statements(cx, node.block_items or [])
        case C.DeclList():
            for d in node.decls:
                declare(cx, d)
            return NONE
        case C.Decl():
            declare(cx, node)
            return NONE
        case C.If():
            return if_else(cx, node, [node.iftrue], [node.iffalse] if node.iffalse is not None else [])
        case C.For() | C.While():
            return loop(cx, node)
        case C.DoWhile():
            return do_while(cx, node)
        case C.Switch():
            return switch(cx, node)
        case C.Break():
            return take_jump(cx, cx.jumps[-1].exits, cx.jumps[-1].leave, loc)
        case C.Continue():
            target = next(j for j in reversed(cx.jumps) if j.proceed is not None)
            assert target.proceed is not None
            return take_jump(cx, target.repeats, target.proceed, loc)
        case C.Return():
            return return_(cx, node)
        case C.Case() | C.Default():
            raise catalogue.NESTED_CASE.error(loc)
        case C.Goto():
            label = cx.frames[-1].labels.get(node.name)
            if label is None:
                return jump_inside(cx, node)
            return take_jump(cx, label.paths, label.flag, loc)
        case C.Label():
            return statements(cx, [node])
    effect(cx, node)
    return NONE


def take_jump(cx: Context, paths: list[Environment], flag: Variable, loc: Loc) -> Flags:
    """Set the flag; ``paths`` collects what is known where control goes on."""
    cx.emit(Assign(flag, Const(1, BOOL, loc), loc))
    paths.append(cx.part_ways())
    return frozenset({flag})


def jump_inside(cx: Context, node: C.Goto) -> Flags:
    """A jump into a block that ends in a return: what is done from the label on stands here once more."""
    frame = cx.frames[-1]
    rest = tail_of(frame.function.node.body, node)
    if rest is None or node.name in frame.inside:
        raise catalogue.GOTO.error(loc_of(node))
    frame.inside.append(node.name)
    flags = statements(cx, rest)
    frame.inside.pop()
    return flags


def return_(cx: Context, node: C.Return) -> Flags:
    frame, loc = cx.frames[-1], loc_of(node)
    if node.expr is not None:
        if frame.result is None:
            effect(cx, node.expr)
        else:
            set_result(cx, frame.result, node.expr, loc)
    return take_jump(cx, frame.exits, frame.flag, loc)


def set_result(cx: Context, result: Object, node: C.Node, loc: Loc) -> None:
    match result.type:
        case Pointer():
            write_pointer(cx, whole(result), pointer_value(cx, node), loc)
        case Scalar() if is_pair(result.type):
            store_pair(cx, whole(result), cx.pair(node, result.type), loc)
        case Scalar() if isinstance(returns := cx.frames[-1].function.returns, Pointer):
            store(cx, whole(result), place_number(cx, pointer_value(cx, node), returns, loc), loc)
        case Scalar():
            store(cx, whole(result), number(cx, node, result.type, loc), apart(loc))
        case _:
            copy_object(cx, whole(result), object_value(cx, node), loc)


def if_else(cx: Context, node: C.If, then: list[C.Node], other: list[C.Node]) -> Flags:
    loc = loc_of(node.cond)
    cond = condition(cx, node.cond)
    if isinstance(cond, Const):
        return statements(cx, then if cond.value else other)
    (yes, flags), (no, more) = cx.arms(lambda: statements(cx, then), lambda: statements(cx, other))
    if no:
        cx.emit(If(cond, yes, no, True, loc))
    elif yes:
        emit_if(cx, cond, yes, loc)
    return flags | more


def emit_if(cx: Context, cond: Expr, then: Block, loc: Loc) -> None:
    """An `If` without else; inside the one that has just settled what ``&&`` comes to, if so: then it is not
    reached where the first condition, which may not depend on data, is false."""
    match cond, cx.out[-1:]:
        case Binary(op="!=", left=Var(var=v), right=Const(value=0)), [
            If(then=(*right, Assign(var=yes, value=b)), other=(Assign(var=no),)) as first
        ] if v == yes == no and v in cx.conjunctions:
            cx.out.pop()
            with cx.block() as inner:
                cx.out += right
                emit_if(cx, b, then, b.loc if b.loc.line else loc)
            emit_if(cx, first.cond, tuple(inner), first.loc)
        case _:
            cx.emit(If(cond, then, (), True, loc))


def switch(cx: Context, node: C.Switch) -> Flags:
    loc = loc_of(node.cond)
    value = cx.saved(cast_promoted(cx.value(node.cond)), loc, "selector")
    segments = labelled_groups(cx, node)
    if all(escapes_list(s) for _, _, s in segments[:-1]):
        return chain(cx, segments, value, loc)
    return fall_through(cx, segments, value, loc)


def labelled_groups(cx: Context, node: C.Switch) -> list[tuple[list[C.Node], bool, list[C.Node]]]:
    """(constants, has default, statements) of each group of labels, in order."""
    groups: list[tuple[list[C.Node], bool, list[C.Node]]] = []
    items_ = node.stmt.block_items if isinstance(node.stmt, C.Compound) else [node.stmt]
    for s in items_ or []:
        if not isinstance(s, (C.Case, C.Default)):
            if isinstance(s, C.Decl) and s.init is None:
                declare(cx, s)
                continue
            raise catalogue.BEFORE_FIRST_CASE.error(loc_of(s))
        labels, default = ([s.expr], False) if isinstance(s, C.Case) else ([], True)
        if groups and not groups[-1][2]:
            labels, default = groups[-1][0] + labels, groups[-1][1] or default
            groups.pop()
        groups.append((labels, default, list(s.stmts or [])))
        refuse_nested_labels(groups[-1][2])
    return groups


def refuse_nested_labels(statements: list[C.Node]) -> None:
    """Raise UnsupportedError for a case label inside another statement, which a known selector would pass over."""
    pending = list(statements)
    while pending:
        n = pending.pop()
        if isinstance(n, (C.Case, C.Default)):
            raise catalogue.NESTED_CASE.error(loc_of(n))
        if not isinstance(n, C.Switch):  # whose labels are its own
            pending += children(n)


def label_matches(cx: Context, labels: list[C.Node], value: Expr, loc: Loc) -> Expr:
    test: Expr | None = None
    for label in labels:
        values = [cx.unit.constant(end) for end in ends(label)]
        if None in values or not isinstance(value.type, Scalar):
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc_of(label), construct="a case label that is not constant")
        first, last = (Const(value.type.wrap(v), value.type) for v in values if v is not None)
        one = binary("==", value, first, INT, loc)
        if first != last:
            one = binary("&&", binary(">=", value, first, INT, loc), binary("<=", value, last, INT, loc), INT, loc)
        test = one if test is None else binary("||", test, one, INT, loc)
    return test if test is not None else Const(0, INT, loc)


def if_chain(cx: Context, cases, default: list[C.Node], value: Expr, loc: Loc) -> Flags:
    if not cases:
        return arm(cx, default)
    (labels, body), *rest = cases
    test = label_matches(cx, labels, value, loc)
    if isinstance(test, Const):
        return arm(cx, body) if test.value else if_chain(cx, rest, default, value, loc)
    (yes, flags), (no, more) = cx.arms(lambda: arm(cx, body), lambda: if_chain(cx, rest, default, value, loc))
    if yes or no:
        cx.emit(If(test, yes, no, True, loc))
    return flags | more


def chain(cx: Context, segments, value: Expr, loc: Loc) -> Flags:
    """Every group but the last ends in a jump: if, else if, else."""
    jump = Jump(cx.exit_flag("left", loc), None)
    cx.assign(jump.leave, Const(0, BOOL), loc)
    cx.jumps.append(jump)
    default = next((s for _, d, s in segments if d), [])
    flags = if_chain(cx, [(labels, s) for labels, d, s in segments if not d], default, value, loc)
    cx.jumps.pop()
    cx.meet(jump.exits)
    return flags - {jump.leave}


def arm(cx: Context, body: list[C.Node]) -> Flags:
    return statements(cx, body[:-1] if body and isinstance(body[-1], C.Break) else body)


def fall_through(cx: Context, segments, value: Expr, loc: Loc) -> Flags:
    """A flag says that a label was reached and no break was."""
    jump = Jump(cx.exit_flag("left", loc), None)
    hit = cx.fresh_temporary("reached", BOOL, loc)
    cx.assign(jump.leave, Const(0, BOOL), loc)
    cx.assign(hit, Const(0, BOOL), loc)
    every = [label for labels, _, _ in segments for label in labels]
    cx.jumps.append(jump)
    flags: Flags = NONE
    for labels, default, body in segments:
        here = label_matches(cx, labels, value, loc)
        if default:
            here = binary("||", here, unary("!", label_matches(cx, every, value, loc), INT, loc), INT, loc)
        reached = binary("||", Var(hit, loc), here, INT, loc)
        cx.assign(hit, truth(reached), loc)
        test: Expr = Var(hit, loc)
        if flags:
            test = binary("&&", test, none_of(flags, loc), INT, loc)
        with cx.block(sometimes=True) as inner:
            before = cx.env.copy()
            flags |= statements(cx, body)
            cx.meet([before])
        if inner:
            cx.emit(If(test, tuple(inner), (), True, loc))
    cx.jumps.pop()
    cx.meet(jump.exits)
    return flags - {jump.leave}


def effect(cx: Context, node: C.Node) -> None:
    """An expression for its side effects."""
    match node:
        case C.Decl() | C.DeclList():
            statement(cx, node)
        case C.ExprList():
            for e in node.exprs:
                effect(cx, e)
        case C.Compound():
            statement(cx, last_of(cx, node))
        case _ if is_pair(cx.unit.types.get(id(node))):
            cx.pair(node)
        case C.Assignment() if isinstance(cx.unit.type(node), Struct):
            assign_object(cx, node)
        case C.Assignment() if isinstance(cx.unit.type(node), Pointer):
            assign_pointer(cx, node)
        case C.UnaryOp(op="++" | "--" | "p++" | "p--") if isinstance(cx.unit.type(node), Pointer):
            step_pointer(cx, node)
        case C.UnaryOp(op="++" | "--" | "p++" | "p--"):
            increment(cx, node, used=False)
        case C.Assignment():
            assignment(cx, node, used=False)
        case C.Cast() if cx.unit.type(node) == VOID:
            effect(cx, node.expr)
        case C.FuncCall():
            cx.call(node)
        case C.TernaryOp() if not is_number(cx.unit.type(node)):
            cond = condition(cx, node.cond)
            cx.either(cond, lambda: effect(cx, node.iftrue), lambda: effect(cx, node.iffalse), loc_of(node.cond))
        case _ if is_number(cx.unit.type(node)):
            cx.value(node)
        case _ if isinstance(cx.unit.value_type(node), Pointer):
            pointer_value(cx, node)
        case _:
            object_value(cx, node)


def cast_promoted(e: Expr) -> Expr:
    return cast(e, promote(e.type))


def escapes(node: C.Node | None) -> bool:
    """Whether control never comes out at the end of a statement."""
    match node:
        case C.Break() | C.Continue() | C.Return() | C.Goto():
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
