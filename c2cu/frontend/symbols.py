"""Names and their types: scopes, declarations, constant expressions (6.2, 6.6, 6.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pycparser import c_ast as C

from ..base import catalogue, literals
from ..base.ctype import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LDOUBLE,
    LLONG,
    LONG,
    SCHAR,
    SHORT,
    UCHAR,
    UINT,
    ULLONG,
    ULONG,
    USHORT,
    VOID,
    Array,
    CType,
    Function,
    Member,
    Pointer,
    Scalar,
    Struct,
    align_of,
    common,
    promote,
)
from ..base.diagnostics import Loc
from ..ir.evaluate import COMPARISONS, binary_value, converted, unary_value
from .parse import loc_of


@dataclass(frozen=True, eq=False)
class Symbol:
    """What a name stands for. ``kind``: variable, function, typedef or constant (enumerator, kept macro).

    ``storage`` of a variable: global, static (file scope), local, static-local or param.
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

    @property
    def is_global(self) -> bool:
        return self.storage in ("global", "static", "static-local")


class Scope:
    """One block's names and tags; looks outwards."""

    def __init__(self, outer: Scope | None = None):
        self.outer = outer
        self.names: dict[str, Symbol] = {}
        self.tags: dict[str, Struct] = {}
        self.enums: dict[str, Scalar] = {}

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
    ("float",): FLOAT, ("double",): DOUBLE, ("double", "long"): LDOUBLE,
}  # fmt: skip


_OF_INTEGERS = ("%", "&", "|", "^", "<<", ">>")


class Declarations:
    """Builds types from pycparser's declarators and evaluates constant expressions in a scope."""

    def __init__(self) -> None:
        self._anonymous = 0
        self.type_of_expression: Callable[[C.Node, Scope], CType] | None = None  # for sizeof; set by typed.py
        self.structs: dict[str, Struct] = {}  # every complete struct by unique tag, in order of completion
        self.struct_of: dict[int, Struct] = {}  # id of the Struct/Union node -> type
        self._enums: dict[int, Scalar] = {}  # id(Enum node) -> type of its variables

    # types

    def type(self, node: C.Node, scope: Scope) -> CType:
        """The type of a declarator, type name or specifier node."""
        match node:
            case C.TypeDecl() | C.Typename():
                return self.type(node.type, scope)
            case C.IdentifierType():
                return self._named(node, scope)
            case C.PtrDecl():
                return Pointer(self.type(node.type, scope), "const" in _quals(node.type))
            case C.ArrayDecl():
                return Array(self.type(node.type, scope), self._extent(node, scope))
            case C.FuncDecl():
                return self._function(node, scope)
            case C.Struct() | C.Union():
                return self._struct(node, scope)
            case C.Enum():
                return self._enum(node, scope)
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc_of(node), construct=type(node).__name__)

    def _named(self, node: C.IdentifierType, scope: Scope) -> CType:
        basic = _BASIC.get(tuple(sorted(node.names)))
        if basic is not None:
            return basic
        if len(node.names) == 1:
            symbol = scope.find(node.names[0])
            if symbol and symbol.kind == "typedef":
                return symbol.type
        names = " ".join(node.names)
        if "_Complex" in node.names:
            raise catalogue.COMPLEX.error(loc_of(node))
        raise catalogue.UNKNOWN_TYPE.error(loc_of(node), type=names)

    def _extent(self, node: C.ArrayDecl, scope: Scope) -> int | None:
        if node.dim is None:
            return None
        value = self.constant(node.dim, scope)
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
                params.append(self.parameter(self.type(p.type, scope), p))
        if params == [VOID]:
            params = []
        return Function(self.type(node.type, scope), tuple(params), variadic)

    @staticmethod
    def parameter(t: CType, node: C.Node) -> CType:
        """A parameter's type after adjustment, 6.7.6.3p7: arrays and functions become pointers."""
        if isinstance(t, Array):
            return Pointer(t.of, "const" in (getattr(node, "quals", None) or []))
        return Pointer(t) if isinstance(t, Function) else t

    def _struct(self, node: C.Struct | C.Union, scope: Scope) -> Struct:
        if id(node) in self.struct_of and self.struct_of[id(node)].complete:
            return self.struct_of[id(node)]
        if node.decls is None:
            known = scope.find_tag(node.name)
            if known is None:
                known = self._new_struct(node, scope)
            return self._completed(known)
        struct = scope.tags.get(node.name or "")
        if struct is None or struct.complete:
            struct = self._new_struct(node, scope)
        self._lay_out(struct, node, scope)
        self.struct_of[id(node)] = struct
        self.structs[struct.tag] = struct
        return struct

    def _completed(self, struct: Struct) -> Struct:
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
        offset = size = align = 0
        align = 1
        bit = 0  # bits used in the current bit-field unit
        for d in node.decls:
            if not isinstance(d, C.Decl):
                continue
            t = self.type(d.type, scope)
            if d.bitsize is not None:
                width = int(self.constant(d.bitsize, scope) or 0)
                if struct.union:
                    offset = bit = 0
                unit = 8 * t.size
                position = offset * 8 + bit
                if width == 0 or position // unit != (position + width - 1) // unit:
                    position = -(-position // unit) * unit
                if d.name:
                    members.append(Member(d.name, t, position // unit * t.size, width))
                offset, bit = (position + width) // 8, (position + width) % 8
                align = max(align, t.size)
                size = max(size, offset + (bit > 0))
                continue
            if bit:
                offset, bit = offset + 1, 0
            a = align_of(t)
            offset = 0 if struct.union else -(-offset // a) * a
            if d.name or isinstance(t, Struct):
                members.append(Member(d.name or f"c2cu_anonymous{len(members)}", t, offset, anonymous=d.name is None))
            offset += 0 if isinstance(t, Array) and t.length is None else t.size
            size, align = max(size, offset), max(align, a)
        object.__setattr__(struct, "members", tuple(members))
        object.__setattr__(struct, "size", -(-size // align) * align)
        object.__setattr__(struct, "align", align)
        object.__setattr__(struct, "complete", True)

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

    def require(self, node: C.Node, scope: Scope) -> int | float:
        """The value of a constant expression; ParseError where it is none."""
        value = self.constant(node, scope)
        if value is None:
            raise catalogue.NOT_CONSTANT.error(loc_of(node))
        return value

    def constant(self, node: C.Node, scope: Scope) -> int | float | None:
        """The value of an arithmetic constant expression, None where it is not constant."""
        typed = self.typed_constant(node, scope)
        return None if typed is None else typed[0]

    def typed_constant(self, node: C.Node, scope: Scope) -> tuple[int | float, Scalar] | None:
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
                x = self.typed_constant(node.expr, scope)
                return (converted(x[0], t), t) if x and isinstance(t, Scalar) and t != VOID else None
            case C.UnaryOp(op="sizeof") | C.UnaryOp(op="_Alignof"):
                return self._sizeof(node, scope)
            case C.UnaryOp():
                return self._unary(node.op, self.typed_constant(node.expr, scope))
            case C.BinaryOp():
                return self._binary(node, scope)
            case C.TernaryOp():
                c = self.typed_constant(node.cond, scope)
                a, b = self.typed_constant(node.iftrue, scope), self.typed_constant(node.iffalse, scope)
                if not (c and a and b):
                    return None
                t = common(a[1], b[1])
                return converted((a if c[0] else b)[0], t), t
        return None

    def _literal(self, node: C.Constant) -> tuple[int | float, Scalar] | None:
        try:
            if node.type == "string" or "string" in node.type:
                return None
            if node.type == "char":
                return literals.character(node.value), INT
            if any(word in node.type for word in ("float", "double")):
                return literals.floating(node.value)
            if node.value.startswith("'"):
                raise catalogue.MULTI_CHARACTER.error(loc_of(node))
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
    def _unary(op: str, x: tuple[int | float, Scalar] | None) -> tuple[int | float, Scalar] | None:
        if x is None or op not in ("+", "-", "~", "!") or (op == "~" and x[1].is_float):
            return None
        t = INT if op == "!" else promote(x[1])
        return unary_value(op, x[0], t), t

    def _binary(self, node: C.BinaryOp, scope: Scope) -> tuple[int | float, Scalar] | None:
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
        x, y = converted(a[0], t), converted(b[0], t)
        if node.op in ("/", "%") and y == 0 and not t.is_float:
            raise catalogue.CONSTANT_DIVISION_BY_ZERO.error(loc_of(node))
        result = INT if node.op in COMPARISONS else t
        return binary_value(node.op, x, y, result), result


def _quals(node: C.Node) -> list[str]:
    return list(getattr(node, "quals", None) or [])


def has_qualifier(node: C.Node, word: str) -> bool:
    """Whether the object a declarator declares is const or volatile (the elements, for an array)."""
    while isinstance(node, C.ArrayDecl):
        node = node.type
    return word in _quals(node)
