"""Names and their types: scopes, declarations, constant expressions (6.2, 6.6, 6.7)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from pycparser import c_ast as C

from ..base import catalogue, libm, literals
from ..base.ctype import (
    BOOL,
    CDOUBLE,
    CFLOAT,
    CHAR,
    CLDOUBLE,
    DOUBLE,
    FLOAT,
    INT,
    INT128,
    LDOUBLE,
    LLONG,
    LONG,
    SCHAR,
    SHORT,
    UCHAR,
    UINT,
    UINT128,
    ULLONG,
    ULONG,
    USHORT,
    VOID,
    Array,
    CType,
    Function,
    Member,
    Number,
    Pointer,
    Scalar,
    Struct,
    align_of,
    common,
    opaque,
    promote,
)
from ..base.diagnostics import Error, Loc
from ..base.literals import long_double, long_literal
from ..ir.evaluate import COMPARISONS, binary_value, unary_value
from ..ir.fold import nearest_integer
from .attributes import LAYOUT, MEANING
from .layouts import HostLayout
from .parse import loc_of
from .tree import RANGE


@dataclass(frozen=True, eq=False)
class Symbol:
    """What a name stands for. ``kind``: variable, function, typedef or constant (enumerator, kept macro).

    ``storage`` of a variable: global, static (file scope), local, static-local or param. ``value``: of a constant, and
    of a variable that always has it while its function is typed for such values (`typed.Unit.sized`).
    """

    name: str
    kind: str
    type: CType
    loc: Loc
    storage: str = ""
    const: bool = False
    value: int | float | None = None
    decl: C.Decl | None = None
    macro: bool = False
    extents: tuple[str, ...] = ()  # per array extent: the kept macro that spells it, or ""
    builtin: bool = False  # declared by a system header
    volatile: bool = False
    implicit: bool = False  # a function that is called, but not declared
    unwritten: bool = False  # not const, but nothing writes it and no call brings it

    @property
    def is_constant(self) -> bool:
        """Whether all inputs share the value that the C gives it."""
        return self.const or self.unwritten

    @property
    def is_undefined(self) -> bool:
        """Whether it is an object of another file: no file that was given defines it."""
        declared = self.decl is not None and "extern" in self.decl.storage and self.decl.init is None
        return declared and self.storage == "global"

    @property
    def is_global(self) -> bool:
        return self.storage in ("global", "static", "static-local")


class Scope:
    """One block's names and tags; looks outwards."""

    def __init__(self, outer: Scope | None = None):
        while outer is not None and outer.outer is not None and outer.is_empty():
            outer = outer.outer  # what it declares from now on comes after this block
        self.outer = outer
        self.names: dict[str, Symbol] = {}
        self.tags: dict[str, Struct] = {}
        self.enums: dict[str, Scalar] = {}

    def is_empty(self) -> bool:
        return not (self.names or self.tags or self.enums)

    def find(self, name: str) -> Symbol | None:
        return next((s.names[name] for s in self._outwards() if name in s.names), None)

    def find_tag(self, name: str) -> Struct | None:
        return next((s.tags[name] for s in self._outwards() if name in s.tags), None)

    def find_enum(self, name: str) -> Scalar | None:
        return next((s.enums[name] for s in self._outwards() if name in s.enums), None)

    def _outwards(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


_BASIC = {
    ("void",): VOID, ("_Bool",): BOOL, ("char",): CHAR, ("char", "signed"): SCHAR, ("char", "unsigned"): UCHAR,
    ("short",): SHORT, ("int", "short"): SHORT, ("short", "signed"): SHORT, ("int", "short", "signed"): SHORT,
    ("short", "unsigned"): USHORT, ("int", "short", "unsigned"): USHORT,
    ("int",): INT, ("signed",): INT, ("int", "signed"): INT, ("unsigned",): UINT, ("int", "unsigned"): UINT,
    ("long",): LONG, ("int", "long"): LONG, ("long", "signed"): LONG, ("int", "long", "signed"): LONG,
    ("long", "unsigned"): ULONG, ("int", "long", "unsigned"): ULONG,
    ("long", "long"): LLONG, ("int", "long", "long"): LLONG, ("long", "long", "signed"): LLONG,
    ("int", "long", "long", "signed"): LLONG, ("long", "long", "unsigned"): ULLONG,
    ("int", "long", "long", "unsigned"): ULLONG,
    ("__int128",): INT128, ("__int128", "signed"): INT128, ("__int128", "unsigned"): UINT128,
    ("__uint128_t",): UINT128, ("float",): FLOAT, ("double",): DOUBLE, ("double", "long"): LDOUBLE,
    ("_Complex", "float"): CFLOAT, ("_Complex", "double"): CDOUBLE, ("_Complex",): CDOUBLE,
    ("_Complex", "double", "long"): CLDOUBLE,
}  # fmt: skip


_OPAQUE = {("_Float128",): opaque("_Float128", 16, 16)} | {
    tuple(sorted((*names, "_Complex"))): opaque(" ".join(("_Complex", *names)), 2 * t.size, t.size)
    for names, t in _BASIC.items()
    if isinstance(t, Scalar) and t.is_integer
}
_OF_INTEGERS = ("%", "&", "|", "^", "<<", ">>")


class Declarations:
    """Builds types from pycparser's declarators and evaluates constant expressions in a scope."""

    def __init__(self) -> None:
        self._anonymous = 0
        self.type_of_expression: Callable[[C.Node, Scope], CType] | None = None  # for sizeof; set by typed.py
        self.structs: dict[str, Struct] = {}  # every complete struct by unique tag, in order of completion
        self.struct_of: dict[int, Struct] = {}  # id of the Struct/Union node -> type
        self._enums: dict[int, Scalar] = {}  # id(Enum node) -> type of its variables
        self.hosts: Mapping[int, HostLayout] = {}  # id of a node -> the layout that attributes give it
        self.foreign: dict[str, Error] = {}  # tags of structs that C would lay out otherwise, and why
        self.complex = False  # whether something is a complex number
        self.extent_of: Callable[[C.Node, Scope], int | None] = lambda node, scope: None  # where it is no constant
        self.lost: dict[str, Error] = {}  # names whose declarations at file scope are not understood, and why

    # types

    def type(self, node: C.Node, scope: Scope) -> CType:
        """The type of a declarator, type name or specifier node."""
        match node:
            case C.TypeDecl() | C.Typename():
                return self.type(node.type, scope)
            case C.IdentifierType():
                return self._named(node, scope)
            case C.PtrDecl():
                return Pointer(
                    self.type(node.type, scope), has_qualifier(node.type, "const"), has_qualifier(node.type, "volatile")
                )
            case C.ArrayDecl():
                return Array(self.type(node.type, scope), self._extent(node, scope))
            case C.FuncDecl():
                return self._function(node, scope)
            case C.Struct() | C.Union():
                return self._struct(node, scope)
            case C.Enum():
                return self._enum(node, scope)
            case C.TypeOf() if isinstance(node.expr, C.Typename):
                return self.type(node.expr, scope)
            case C.TypeOf() if self.type_of_expression is not None:
                return self.type_of_expression(node.expr, scope)
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc_of(node), construct=type(node).__name__)

    def _named(self, node: C.IdentifierType, scope: Scope) -> CType:
        basic = _BASIC.get(tuple(sorted(node.names)))
        if basic is not None:
            self.complex = self.complex or basic.is_complex
            return basic
        if len(node.names) == 1:
            symbol = scope.find(node.names[0])
            if symbol and symbol.kind == "typedef":
                return symbol.type
        names = " ".join(node.names)
        if names in self.lost:
            raise self.lost[names]
        if (known := _OPAQUE.get(tuple(sorted(node.names)))) is not None:
            error = catalogue.UNSUPPORTED_CONSTRUCT.error(loc_of(node), construct=f"'{names}'")
            self.foreign.setdefault(known.tag, error)
            return known
        raise catalogue.UNKNOWN_TYPE.error(loc_of(node), type=names)

    def _extent(self, node: C.ArrayDecl, scope: Scope) -> int | None:
        if node.dim is None:
            return None
        value = self.constant(node.dim, scope)
        value = value if value is not None else self.extent_of(node.dim, scope)
        if value is None:
            raise catalogue.VARIABLE_EXTENT.error(loc_of(node.dim))
        if value < 0:
            raise catalogue.NEGATIVE_EXTENT.error(loc_of(node.dim), value=value)
        return int(value)

    def _function(self, node: C.FuncDecl, scope: Scope) -> Function:
        params: list[CType] = []
        variadic = False
        for p in node.args.params if node.args else []:
            if isinstance(p, C.EllipsisParam):
                variadic = True
            elif isinstance(p, C.ID):
                params.append(INT)  # an old-style identifier list: types come from param_decls
            else:
                params.append(self.parameter(self.written(p, scope), p))
        if params == [VOID]:
            params = []
        return Function(self.type(node.type, scope), tuple(params), variadic)

    def written(self, node: C.Decl, scope: Scope) -> CType:
        """A parameter's type as it is written; of ``T a[n]`` nothing says how many elements there are."""
        t = node.type
        if isinstance(t, C.ArrayDecl) and t.dim is not None and self.constant(t.dim, scope) is None:
            return Array(self.type(t.type, scope), None)
        return self.type(t, scope)

    @staticmethod
    def parameter(t: CType, node: C.Node) -> CType:
        """A parameter's type after adjustment, 6.7.6.3p7: arrays and functions become pointers."""
        if isinstance(t, Array):
            element = getattr(node, "type", None)
            const = element is not None and has_qualifier(element, "const")
            return Pointer(t.of, const, element is not None and has_qualifier(element, "volatile"))
        return Pointer(t) if isinstance(t, Function) else t

    def _struct(self, node: C.Struct | C.Union, scope: Scope) -> Struct:
        if id(node) in self.struct_of and self.struct_of[id(node)].complete:
            return self.struct_of[id(node)]
        if node.decls is None:
            known = scope.find_tag(node.name)
            if known is None:
                known = self._new_struct(node, scope)
            return self.with_members(known)
        struct = scope.tags.get(node.name or "")
        if struct is None or struct.complete:
            struct = self._new_struct(node, scope)
        self._lay_out(struct, node, scope)
        if (host := self.hosts.get(id(node))) is not None:
            self._as_the_host(struct, host)
        self.struct_of[id(node)] = struct
        self.structs[struct.tag] = struct
        return struct

    def complete(self, t: CType) -> CType:
        """A struct type with its members, where it was declared before them."""
        return self.with_members(t) if isinstance(t, Struct) else t

    def with_members(self, struct: Struct) -> Struct:
        return self.structs.get(struct.tag, struct)

    def _new_struct(self, node: C.Struct | C.Union, scope: Scope) -> Struct:
        tag = node.name
        if tag is None:
            self._anonymous += 1
            tag = f"__anonymous{self._anonymous}"
        elif tag in self.structs:  # another scope's struct of the same name
            self._anonymous += 1
            tag = f"{tag}__{self._anonymous}"
        struct = Struct(tag, isinstance(node, C.Union), complete=False)
        if node.name:
            scope.tags[node.name] = struct
        return struct

    def _lay_out(self, struct: Struct, node: C.Struct | C.Union, scope: Scope) -> None:
        members: list[Member] = []
        unnamed: list[tuple[int, CType, int]] = []
        end = size = 0  # in bits: where the last member ends, and the furthest of them
        align = 1
        for d in node.decls:
            if not isinstance(d, C.Decl):
                continue
            t = self.type(d.type, scope)
            if struct.union:
                end = 0
            if d.bitsize is not None:
                width = int(self.require(d.bitsize, scope))
                unit = 8 * t.size
                if width == 0 or end // unit != (end + width - 1) // unit:
                    end = -(-end // unit) * unit
                if d.name:
                    members.append(Member(d.name, t, end // unit * t.size, width, bit=end % unit))
                    align = max(align, t.size)
                else:
                    unnamed.append((len(members), t, width))
                end += width
            elif d.name or _is_anonymous(d.type):
                a = align_of(t)
                start = -(-end // (8 * a)) * a
                name = d.name or f"c2cu_anonymous{len(members)}"
                members.append(Member(name, t, start, anonymous=d.name is None))
                end = 8 * (start + (0 if isinstance(t, Array) and t.length is None else t.size))
                align = max(align, a)
            size = max(size, end)
        object.__setattr__(struct, "members", tuple(members))
        object.__setattr__(struct, "unnamed", tuple(unnamed))
        object.__setattr__(struct, "size", -(-size // (8 * align)) * align)
        object.__setattr__(struct, "align", align)
        object.__setattr__(struct, "complete", True)

    def _as_the_host(self, struct: Struct, host: HostLayout) -> None:
        """Lay ``struct`` out as the host's compiler does."""
        moved = (replace(m, offset=host.offsets.get(m.name, m.offset)) for m in struct.members)
        members = () if host.mark.kind == MEANING else tuple(moved)
        same = (struct.members, struct.size, struct.align) == (members, host.size, host.align)
        parts = {"members": members, "size": host.size, "align": host.align, "foreign": not same}
        for name, value in parts.items():
            object.__setattr__(struct, name, value)
        known = all(m.name in host.offsets and m.bits is None for m in members) and not struct.unnamed
        message = catalogue.HOST_LAYOUT if known and host.mark.kind == LAYOUT else catalogue.LAYOUT_ATTRIBUTE
        self.foreign[struct.tag] = message.error(host.mark.loc, attribute=host.mark.attribute)

    def opaque(self, node: C.Typedef | C.Decl, host: HostLayout) -> Struct:
        """The type that an attribute gives to a name at file scope."""
        t = opaque(node.name, host.size, host.align)
        self.foreign[t.tag] = catalogue.LAYOUT_ATTRIBUTE.error(host.mark.loc, attribute=host.mark.attribute)
        return t

    def why_foreign(self, t: CType, with_fields: bool = False) -> Error | None:
        """What stands in the way of whoever uses an object of this type, or a pointer to one. ``with_fields``: only
        structs count that have bit-fields, whose places the host's compiler does not tell."""
        visited: set[str] = set()
        pending = [t]
        while pending and self.foreign:
            t = pending.pop()
            match t:
                case Struct():
                    if t.tag in visited:
                        continue
                    visited.add(t.tag)
                    t = self.with_members(t)
                    if t.foreign and (not with_fields or any(m.bits is not None for m in t.members)):
                        return self.foreign.get(t.tag)
                    pending += [m.type for m in t.members]
                case Pointer():
                    pending.append(t.to)
                case Array():
                    pending.append(t.of)
                case Function():
                    pending += [t.returns, *t.params]
        return None

    def enum_type(self, node: C.Enum) -> Scalar:
        """The type of the variables of an enum that is defined at ``node``."""
        return self._enums[id(node)]

    def _enum(self, node: C.Enum, scope: Scope) -> Scalar:
        """The type of an enum's variables is unsigned where no enumerator is negative, as gcc and clang have it."""
        if id(node) in self._enums:
            return self._enums[id(node)]
        if node.values is None:
            return scope.find_enum(node.name) or UINT
        values: list[int] = []
        for e in node.values.enumerators:
            value = int(self.require(e.value, scope)) if e.value is not None else values[-1] + 1 if values else 0
            values.append(value)
            scope.names[e.name] = Symbol(e.name, "constant", INT, loc_of(e), value=value)  # for those that follow
        if min(values) < 0:
            t = INT if min(values) >= -(2**31) and max(values) < 2**31 else LONG
        else:
            t = UINT if max(values) < 2**32 else ULONG
        for e, value in zip(node.values.enumerators, values):
            fitting = INT if INT.wrap(value) == value else t
            scope.names[e.name] = Symbol(e.name, "constant", fitting, loc_of(e), value=fitting.wrap(value))
        self._enums[id(node)] = t
        if node.name:
            scope.enums[node.name] = t
        return t

    # constant expressions

    def require(self, node: C.Node, scope: Scope) -> Number:
        """The value of a constant expression; ParseError where it is none."""
        value = self.constant(node, scope)
        if value is None:
            raise catalogue.NOT_CONSTANT.error(loc_of(node))
        return value

    def constant(self, node: C.Node, scope: Scope) -> Number | None:
        """The value of an arithmetic constant expression, None where it is not constant; a fraction where it is a long
        double that is no double."""
        typed = self.typed_constant(node, scope)
        value = None if typed is None else typed[0]
        return float(value) if isinstance(value, Fraction) and _is_double(value) else value

    def typed_constant(self, node: C.Node, scope: Scope) -> tuple[Number, Scalar] | None:
        match node:
            case C.Constant():
                return self._literal(node)
            case C.ID():
                s = scope.find(node.name)
                if s is None or s.kind != "constant" or s.value is None or not isinstance(s.type, Scalar):
                    return None
                return s.value, s.type
            case C.Cast():
                t = self.type(node.to_type, scope)
                x = self.typed_constant(node.expr, scope) or self._address(node.expr, scope)
                if x is None or not isinstance(t, Scalar) or t == VOID or t.is_complex:
                    return None
                if t.is_integer and t != BOOL and not isinstance(x[0], int):
                    return nearest_integer(x[0], t), t
                return _converted(x[0], t), t
            case C.UnaryOp(op="sizeof") | C.UnaryOp(op="_Alignof"):
                return self._sizeof(node, scope)
            case C.UnaryOp():
                return self._unary(node.op, self.typed_constant(node.expr, scope))
            case C.BinaryOp():
                return self._binary(node, scope) if node.op != RANGE else None
            case C.TernaryOp():
                c = self.typed_constant(node.cond, scope)
                a, b = self.typed_constant(node.iftrue, scope), self.typed_constant(node.iffalse, scope)
                if not (c and a and b):
                    return None
                t = common(a[1], b[1])
                return _converted((a if c[0] else b)[0], t), t
            case C.FuncCall(name=C.ID(name=name)) if name.startswith("__builtin_"):  # of INFINITY, NAN
                plain = all(_is_empty(a) for a in (node.args or []))
                return libm.CONSTANTS.get(name.removeprefix("__builtin_")) if plain else None
        return None

    def _address(self, node: C.Node, scope: Scope) -> tuple[int, Scalar] | None:
        """An address that is a constant number, such as ``&((struct S *)0)->member``."""
        match node:
            case C.Cast():
                x = self.typed_constant(node.expr, scope)
                number = x is not None and isinstance(self.type(node.to_type, scope), Pointer)
                return (int(x[0]), ULONG) if x and number else self._address(node.expr, scope)
            case C.UnaryOp(op="&"):
                return self._place(node.expr, scope)
        return None

    def _place(self, node: C.Node, scope: Scope) -> tuple[int, Scalar] | None:
        """The address of an lvalue, where it is a constant number."""
        if self.type_of_expression is None:
            return None
        match node:
            case C.StructRef():
                start = (self._address if node.type == "->" else self._place)(node.name, scope)
                t = self.type_of_expression(node.name, scope) if start else VOID
                struct = self.complete(t.to if isinstance(t, Pointer) else t)
                member = struct.member(node.field.name) if isinstance(struct, Struct) else None
                return (start[0] + member.offset, ULONG) if start and member and member.bits is None else None
            case C.ArrayRef():
                start, index = self._place(node.name, scope), self.typed_constant(node.subscript, scope)
                t = self.type_of_expression(node.name, scope) if start else VOID
                if start and index and isinstance(t, Array):
                    return start[0] + int(index[0]) * self.complete(t.of).size, ULONG
            case C.UnaryOp(op="*"):
                return self._address(node.expr, scope)
        return None

    def _literal(self, node: C.Constant) -> tuple[Number, Scalar] | None:
        try:
            if "string" in node.type or literals.is_imaginary(node.value):
                return None
            if node.value.endswith("'"):
                return literals.character(node.value)
            if any(word in node.type for word in ("float", "double")):
                value, t = literals.floating(node.value)
                return (long_literal(node.value), t) if t == LDOUBLE else (value, t)
            return literals.integer(node.value)
        except ValueError as e:
            raise catalogue.BAD_LITERAL.error(loc_of(node), reason=e) from None

    def _sizeof(self, node: C.UnaryOp, scope: Scope) -> tuple[int, Scalar] | None:
        if isinstance(node.expr, C.Typename):
            t = self.type(node.expr, scope)
        elif self.type_of_expression is not None:
            t = self.type_of_expression(node.expr, scope)
        else:
            return None
        try:
            return (t.size if node.op == "sizeof" else align_of(t)), ULONG
        except ValueError:
            raise catalogue.UNKNOWN_SIZE.error(loc_of(node)) from None

    @staticmethod
    def _unary(op: str, x: tuple[Number, Scalar] | None) -> tuple[Number, Scalar] | None:
        if x is None or op not in ("+", "-", "~", "!") or (op == "~" and x[1].is_float):
            return None
        t = INT if op == "!" else promote(x[1])
        if isinstance(x[0], Fraction):
            return (int(not x[0]) if op == "!" else -x[0] if op == "-" else x[0]), t
        return unary_value(op, x[0], t), t

    def _binary(self, node: C.BinaryOp, scope: Scope) -> tuple[Number, Scalar] | None:
        a, b = self.typed_constant(node.left, scope), self.typed_constant(node.right, scope)
        if node.op in ("&&", "||") and a is not None:
            if bool(a[0]) == (node.op == "||"):
                return int(bool(a[0])), INT
            return None if b is None else (int(bool(b[0])), INT)
        if a is None or b is None or (node.op in _OF_INTEGERS and (a[1].is_float or b[1].is_float)):
            return None
        if node.op in ("<<", ">>"):
            t = promote(a[1])
            return binary_value(node.op, a[0], b[0], t), t
        t = common(a[1], b[1])
        x, y = _converted(a[0], t), _converted(b[0], t)
        if node.op in ("/", "%") and y == 0 and not t.is_float:
            raise catalogue.CONSTANT_DIVISION_BY_ZERO.error(loc_of(node))
        result = INT if node.op in COMPARISONS else t
        if isinstance(x, Fraction) or isinstance(y, Fraction):
            finite = all(isinstance(v, Fraction) or math.isfinite(v) for v in (x, y))
            if finite and (y or node.op != "/"):
                exact = _EXACT[node.op](Fraction(x), Fraction(y))
                return (long_double(exact) if result == LDOUBLE else int(exact)), result
            x, y = (math.copysign(1.0, v) if isinstance(v, Fraction) else v for v in (x, y))  # beside inf, NaN or 0
        return binary_value(node.op, x, y, result), result


_EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "<": operator.lt, ">": operator.gt,
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def _converted(x: Number, t: Scalar) -> Number:
    """A constant as a type: long doubles are fractions, but for infinities, NaN and zeros."""
    if t == LDOUBLE:
        return long_double(x)
    try:
        return t.wrap(x)
    except OverflowError:
        if not isinstance(x, Fraction):
            raise
        return math.copysign(math.inf, x)


def _is_empty(node: C.Node) -> bool:
    return isinstance(node, C.Constant) and node.value == '""'


def _is_double(x: Fraction) -> bool:
    try:
        return Fraction(float(x)) == x
    except OverflowError:
        return False


def _is_anonymous(node: C.Node) -> bool:
    """Whether a declaration without a name declares a member all the same, 6.7.2.1p13: not where it has a tag."""
    return isinstance(node, (C.Struct, C.Union)) and node.name is None


def _quals(node: C.Node) -> list[str]:
    return list(getattr(node, "quals", None) or [])


def has_qualifier(node: C.Node, word: str) -> bool:
    """Whether the object a declarator declares is const or volatile (the elements, for an array)."""
    while isinstance(node, C.ArrayDecl):
        node = node.type
    return word in _quals(node)
