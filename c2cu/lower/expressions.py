"""Values: side effects become statements, C's promotions and conversions become casts."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import INT, LONG, ULONG, VOID, Array, Pointer, Scalar, common, promote
from ..base.diagnostics import Loc
from ..frontend.parse import loc_of
from ..ir.fold import binary, cast, is_safe, loads, truth, unary
from ..ir.nodes import Assign, Const, Expr, If, Select, Var
from .lvalues import Lvalues
from .memory import join
from .objects import FunctionRef, Null, Ref, Target


class Values(Lvalues):
    """Expressions that give a number."""

    def value(self, node: C.Node) -> Expr:
        """The scalar value of an expression, promoted by nobody yet: it has the expression's C type."""
        loc = loc_of(node)
        match node:
            case C.Constant():
                return self.constant(node)
            case C.ID():
                return self.name_value(node)
            case C.ArrayRef() | C.StructRef() | C.UnaryOp(op="*") | C.CompoundLiteral():
                return self.load(self.lvalue(node), loc)
            case C.UnaryOp():
                return self.unary_value(node)
            case C.BinaryOp(op="&&" | "||"):
                return self.logical(node)
            case C.BinaryOp():
                return self.binary_value(node)
            case C.Assignment():
                return self.assignment(node)
            case C.TernaryOp():
                return self.ternary(node)
            case C.Cast():
                return self.cast_value(node)
            case C.FuncCall():
                result = self.call(node)
                if not isinstance(result, (Ref, Null, FunctionRef)) and result is not None:
                    return result
                raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct="the value of this call")
            case C.ExprList():
                for e in node.exprs[:-1]:
                    self.effect(e)
                return self.value(node.exprs[-1])
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=type(node).__name__)

    def constant(self, node: C.Node) -> Const:
        t = self.unit.type(node)
        value = self.unit.constant(node)
        if value is None or not isinstance(t, Scalar):
            raise catalogue.STRING.error(loc_of(node))
        return Const(value, t, loc_of(node))

    def name_value(self, node: C.ID) -> Expr:
        symbol = self.unit.symbol(node)
        if symbol.kind == "constant":
            assert symbol.value is not None and isinstance(symbol.type, Scalar)
            return Const(symbol.value, symbol.type, loc_of(node))
        if isinstance(symbol.type, (Pointer, Array)):
            raise catalogue.POINTER_AS_NUMBER.error(loc_of(node))
        return self.load(self.lvalue(node), loc_of(node))

    def unary_value(self, node: C.UnaryOp) -> Expr:
        loc, op = loc_of(node), node.op
        if op in ("sizeof", "_Alignof"):
            value = self.unit.constant(node)
            assert value is not None
            return Const(value, ULONG, loc)
        if op in ("++", "--", "p++", "p--"):
            return self.step(node)
        if op == "!" and isinstance(self.unit.value_type(node.expr), Pointer):
            return unary("!", self.pointer_truth(node.expr), INT, loc)
        x = self.value(node.expr)
        if op == "!":
            return unary("!", truth(x), INT, loc)
        x = cast(x, promote(x.type))
        return x if op == "+" else unary(op, x, x.type, loc)

    def pointer_truth(self, node: C.Node) -> Expr:
        return Const(0 if isinstance(self.pointer(node), Null) else 1, INT, loc_of(node))

    def condition(self, node: C.Node) -> Expr:
        """A controlling expression, as truth."""
        if isinstance(self.unit.value_type(node), Pointer):
            return self.pointer_truth(node)
        return truth(self.value(node), loc_of(node))

    def step(self, node: C.UnaryOp, used: bool = True) -> Expr:
        """``++`` or ``--``; its value, which no one may ask for unless ``used``."""
        loc, after = loc_of(node), node.op.startswith("p")
        ref = self.lvalue(node.expr)
        if used:
            ref = self.stable(ref)
        old = self.load(ref, loc)
        if after and used:
            old = self.temporary(old, loc, "old")
        t = common(promote(old.type), INT)
        new = binary("+" if "+" in node.op else "-", cast(old, t), Const(t.wrap(1), t), t, loc)
        self.store(ref, cast(new, old.type), loc)
        return old if after else self.load(ref, loc)

    def stable(self, ref: Ref) -> Ref:
        """``ref`` with an index that storing to it does not change."""
        return self.pinned(ref, ref.index.loc, "index") if loads(ref.index) else ref

    def binary_value(self, node: C.BinaryOp) -> Expr:
        a_type, b_type = self.unit.value_type(node.left), self.unit.value_type(node.right)
        if isinstance(a_type, Pointer) or isinstance(b_type, Pointer):
            return self.pointer_binary(node)
        a = self.value(node.left)
        b = self.value(node.right)
        return self.arithmetic(node.op, a, b, loc_of(node))

    def arithmetic(self, op: str, a: Expr, b: Expr, loc: Loc) -> Expr:
        """``a op b`` with C's conversions."""
        if op in ("<<", ">>"):
            t = promote(a.type)
            return binary(op, cast(a, t), cast(b, promote(b.type)), t, loc)
        t = common(a.type, b.type)
        a, b = cast(a, t), cast(b, t)
        if t.size == 16:
            raise catalogue.LONG_DOUBLE.error(loc, what="a value")
        return binary(op, a, b, INT if op in ("<", "<=", ">", ">=", "==", "!=") else t, loc)

    def pointer_binary(self, node: C.BinaryOp) -> Expr:
        loc = loc_of(node)
        a, b = self.pointer_or_null(node.left), self.pointer_or_null(node.right)
        if not (isinstance(a, Ref) and isinstance(b, Ref)):
            if node.op not in ("==", "!="):
                raise catalogue.NULL_COMPARED.error(loc)
            return Const(int((a == b) == (node.op == "==")), INT, loc)
        if (a.object, a.path) != (b.object, b.path) or a.type != b.type:
            if node.op in ("==", "!=") and a.object is not b.object:
                return Const(int(node.op == "!="), INT, loc)
            raise catalogue.DIFFERENT_OBJECTS.error(loc)
        x, y = cast(a.index, LONG), cast(b.index, LONG)
        return binary(node.op, x, y, LONG if node.op == "-" else INT, loc)

    def pointer_or_null(self, node: C.Node) -> Target:
        if isinstance(self.unit.value_type(node), Scalar):
            if self.unit.constant(node) == 0:
                return Null()
            raise catalogue.POINTER_AS_NUMBER.error(loc_of(node))
        return self.pointer(node)

    def logical(self, node: C.BinaryOp) -> Expr:
        loc = loc_of(node)
        a = self.condition(node.left)
        if isinstance(a, Const) and bool(a.value) == (node.op == "||"):
            return Const(int(bool(a.value)), INT, loc)
        before = dict(self.targets)
        with self.block() as right:
            b = self.condition(node.right)
        if not right and is_safe(b, loads(a)):
            return binary(node.op, a, b, INT, loc)
        self.targets = join(before, self.targets)
        result = self.made("both" if node.op == "&&" else "any", INT, loc)
        if node.op == "&&":
            self.conjunctions.add(result)
        second = (*right, Assign(result, cast(b, INT), loc))
        settled = (Assign(result, Const(int(node.op == "||"), INT), loc),)
        then, other = (second, settled) if node.op == "&&" else (settled, second)
        self.emit(If(a, then, other, True, loc_of(node.left)))
        return Var(result, loc)

    def ternary(self, node: C.TernaryOp) -> Expr:
        loc, t = loc_of(node), self.unit.type(node)
        if not isinstance(t, Scalar) or t == VOID:
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct="this ?:")
        cond = self.condition(node.cond)
        if isinstance(cond, Const):
            return cast(self.value(node.iftrue if cond.value else node.iffalse), t)
        before = dict(self.targets)
        with self.block() as yes:
            a = cast(self.value(node.iftrue), t)
        after_yes, self.targets = self.targets, before
        with self.block() as no:
            b = cast(self.value(node.iffalse), t)
        self.targets = join(after_yes, self.targets)
        if not yes and not no and is_safe(a, loads(cond)) and is_safe(b, loads(cond)):
            return Select(cond, a, b, t, loc)
        result = self.made("chosen", t, loc)
        self.emit(If(cond, (*yes, Assign(result, a, loc)), (*no, Assign(result, b, loc)), True, loc_of(node.cond)))
        return Var(result, loc)

    def cast_value(self, node: C.Cast) -> Expr:
        loc, t = loc_of(node), self.unit.type(node)
        if not isinstance(t, Scalar):
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"a cast to '{t}'")
        if isinstance(self.unit.value_type(node.expr), Pointer):
            raise catalogue.POINTER_AS_NUMBER.error(loc)
        e = self.value(node.expr)
        return Const(0, INT, loc) if t == VOID else self.converted(e, t, loc)

    def converted(self, e: Expr, t: Scalar, loc: Loc) -> Expr:
        if t.size == 16 or e.type.size == 16:
            raise catalogue.LONG_DOUBLE.error(loc, what="a value")
        return cast(e, t, loc)

    def assignment(self, node: C.Assignment, used: bool = True) -> Expr:
        """A scalar assignment; its value, which no one may ask for unless ``used``, is what was stored."""
        loc = loc_of(node)
        ref = self.lvalue(node.lvalue)
        if used:
            ref = self.stable(ref)
        t = ref.type
        if not isinstance(t, Scalar):
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct="the value of this assignment")
        if node.op == "=":
            value = self.converted(self.value(node.rvalue), t, loc)
        else:
            right = self.value(node.rvalue)
            value = self.converted(
                self.arithmetic(node.op[:-1], self.load(ref, loc_of(node.lvalue)), right, loc), t, loc
            )
        self.store(ref, value, loc)
        return self.load(ref, loc) if not isinstance(value, Const) else value
