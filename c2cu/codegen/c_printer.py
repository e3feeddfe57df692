"""How C is spelled: declarations from resolved types, and statements and expressions from the typed AST.

Types are printed resolved to basic ones and struct tags, so generated text needs no typedef and no header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pycparser import c_ast as C
from pycparser.c_generator import CGenerator

from ..base import catalogue, libm
from ..base.ctype import (
    BOOL,
    Array,
    CType,
    Function,
    Pointer,
    Scalar,
    Struct,
    common,
    leaf_element,
    promote,
    unsigned_of,
)
from ..frontend.kernel import nodes
from ..frontend.parse import loc_of
from ..frontend.symbols import Symbol
from ..frontend.typed import FunctionDef, Unit

STATE = "struct c2cu_state *"
CPP_KEYWORDS = frozenset(
    "alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class compl concept "
    "consteval constexpr constinit const_cast co_await co_return co_yield decltype delete dynamic_cast "
    "explicit export false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq "
    "private protected public reinterpret_cast requires static_assert static_cast template this "
    "thread_local throw true try typeid typename using virtual wchar_t xor xor_eq".split()
)
_CUDA_BUILTINS = {
    "__builtin_inff": "__int_as_float(0x7f800000)",
    "__builtin_inf": "__longlong_as_double(0x7ff0000000000000ll)",
    "__builtin_nanf": "__int_as_float(0x7fc00000)",
    "__builtin_nan": "__longlong_as_double(0x7ff8000000000000ll)",
}
_NOT_ON_DEVICE = re.compile(r"^(is(al|bl|cn|di|gr|lo|pr|pu|sp|up|xd).*|to(lower|upper)|str.*|memcmp|memchr)$")


#: Names in the templates' own code, which stands after the user's: a macro of this name ends before it.
_OWN = frozenset(
    "T W LANES CHUNK at begin buffer e end first from g id in in_stride initial k l lanes memory n out out_stride p "
    "pack slot start state to unpack".split()
)


def undefined(macros: Iterable[str]) -> list[str]:
    return [f"#undef {m}" for m in macros if m in _OWN]


def name(text: str) -> str:
    """A C identifier that is a keyword of C++ gets a new name; so do ours in generated text."""
    return text + "_" if text in CPP_KEYWORDS else text


def base_name(t: CType) -> str:
    match t:
        case Scalar():
            return t.name
        case Struct():
            return f"{t.kind} {name(t.tag)}"
    raise AssertionError(t)


def declare(t: CType, what: str, const: bool = False, state: bool = True) -> str:
    """``what`` declared as ``t``. ``state``: functions take a pointer to the state first."""
    match t:
        case Pointer():
            inner = f"(*{what})" if isinstance(t.to, (Array, Function)) else f"*{'const ' if const else ''}{what}"
            return declare(t.to, inner, t.const, state)
        case Array():
            return declare(t.of, f"{what}[{'' if t.length is None else t.length}]", const, state)
        case Function():
            params = [STATE] if state else []
            params += [declare(p, "", False, state) for p in t.params]
            return declare(t.returns, f"{what}({', '.join(params) or 'void'})", False, state)
    return f"{'const ' if const else ''}{base_name(t)} {what}".rstrip()


def structs_used(unit: Unit, functions: Iterable[FunctionDef], extra: Iterable[CType]) -> list[Struct]:
    """Structs and unions that the functions need, each after those it contains."""
    used: dict[str, Struct] = {}

    def visit(t: CType) -> None:
        match t:
            case Pointer():
                visit(t.to)
            case Array():
                visit(t.of)
            case Function():
                for x in (t.returns, *t.params):
                    visit(x)
            case Struct():
                t = unit.declarations.structs.get(t.tag, t)
                if t.tag in used:
                    return
                for m in t.members:
                    if isinstance(leaf_element(m.type), Struct):
                        visit(m.type)
                used[t.tag] = t
                for m in t.members:
                    visit(m.type)

    for t in extra:
        visit(t)
    for f in functions:
        visit(f.symbol.type)
        for n in nodes(f.node):
            if id(n) in unit.symbols:
                visit(unit.symbols[id(n)].type)
            if id(n) in unit.types:
                visit(unit.types[id(n)])
    order = {tag: k for k, tag in enumerate(unit.declarations.structs)}
    return sorted(used.values(), key=lambda s: order.get(s.tag, -1))


def define_struct(s: Struct) -> str:
    return "\n".join([f"{base_name(s)} {{", *_members(s, "    "), "};"])


def _members(s: Struct, indent: str) -> list[str]:
    lines: list[str] = []
    for m in s.members:
        width = f" : {m.bits}" if m.bits is not None else ""
        if m.anonymous and isinstance(m.type, Struct):
            lines += [f"{indent}{m.type.kind} {{", *_members(m.type, indent + "    "), f"{indent}}};"]
        else:
            lines.append(f"{indent}{declare(m.type, name(m.name))}{width};")
    return lines


class Indented(CGenerator):
    """pycparser's generator with nested statements indented and the empty ones left out."""

    def visit_Compound(self, n: C.Compound) -> str:
        self.indent_level += 4
        inner = "".join(self._generate_stmt(s) for s in n.block_items or [])
        self.indent_level -= 4
        return f"{self._make_indent()}{{\n{inner}{self._make_indent()}}}\n"

    def _generate_stmt(self, n: C.Node, add_indent: bool = False) -> str:
        """A statement with its indentation; nothing for what is declared elsewhere."""
        deeper = 4 if add_indent and not isinstance(n, C.Compound) else 0
        self.indent_level += deeper
        text = super()._generate_stmt(n)
        self.indent_level -= deeper
        if text.strip() in (";", "") and not isinstance(n, C.EmptyStatement):
            return ""
        return text.rstrip("\n") + "\n"


class CPrinter(Indented):
    """Prints functions of a unit. ``cuda``: for a C++ device compiler, with signed arithmetic made to wrap and, if
    ``fused`` is False, products that no compiler contracts into a multiply-add."""

    def __init__(self, unit: Unit, cuda: bool, fused: bool = True):
        super().__init__()
        self.unit, self.cuda, self.fused = unit, cuda, fused
        self.counters: set[Symbol] = set()
        self.linear = False  # inside a subscript, reached by + - * alone
        self.macros: dict[str, None] = {}  # kept macros that were printed, in order
        self.libraries: dict[str, C.Node] = {}  # library functions that were printed, and where

    # hooks for schedules

    def variable(self, symbol: Symbol) -> str:
        """How a variable is spelled in this schedule."""
        return name(symbol.name)

    def state_argument(self) -> list[str]:
        """What every call of a user's function passes beside its own arguments."""
        return ["c2cu_s"]

    # functions

    def body(self, f: FunctionDef) -> str:
        """The compound statement of a function."""
        self.counters = set(_counters(self.unit, f))
        return self.visit(f.node.body).rstrip("\n")

    # expressions

    def visit_ID(self, n: C.ID) -> str:
        symbol = self.unit.symbols.get(id(n))
        if symbol is None:
            return name(n.name)
        if symbol.kind == "constant":
            if symbol.macro:
                self.macros[n.name] = None
                return n.name
            return f"({symbol.value})" if symbol.value is not None and symbol.value < 0 else str(symbol.value)
        return self.variable(symbol) if symbol.kind == "variable" else name(n.name)

    def visit_Constant(self, n: C.Constant) -> str:
        if n.type == "char":
            return str(self.unit.constant(n))
        return n.value

    def visit_StructRef(self, n: C.StructRef) -> str:
        return f"{self._parenthesize_unless_simple(n.name)}{n.type}{name(n.field.name)}"

    def visit_Cast(self, n: C.Cast) -> str:
        return f"({declare(self.unit.type(n), '')})({self.visit(n.expr)})"

    def visit_CompoundLiteral(self, n: C.CompoundLiteral) -> str:
        return f"({declare(self.unit.type(n), '')}){{{self.initialiser(n.init)}}}"

    def visit_FuncCall(self, n: C.FuncCall) -> str:
        args = [self._visit_expr(a) for a in n.args.exprs] if n.args else []
        symbol = self.unit.symbols.get(id(n.name)) if isinstance(n.name, C.ID) else None
        if symbol is not None and symbol.kind == "function" and symbol.name not in self.unit.functions:
            return self.library(symbol.name, args, n)
        callee = self._parenthesize_unless_simple(n.name)
        return f"{callee}({', '.join(self.arguments(args))})"

    def arguments(self, args: list[str]) -> list[str]:
        return [*self.state_argument(), *args]

    def library(self, callee: str, args: list[str], n: C.FuncCall) -> str:
        if self.cuda and callee in _CUDA_BUILTINS:
            return _CUDA_BUILTINS[callee]
        if self.cuda and _NOT_ON_DEVICE.match(callee):
            raise catalogue.NOT_ON_GPU.error(loc_of(n), name=callee)
        if not self.cuda and callee in libm.CLASSIFICATION:
            callee = f"__builtin_{callee}"  # a macro in C's header, for any floating type
        self.libraries[callee] = n.name
        return f"{callee}({', '.join(args)})"

    def visit_UnaryOp(self, n: C.UnaryOp) -> str:
        if n.op in ("sizeof", "_Alignof"):
            return f"{self.unit.constant(n)}ul"
        if n.op == "-" and self.cuda and self.wraps(n) and not isinstance(n.expr, C.Constant):
            t = self.unit.type(n)
            assert isinstance(t, Scalar)
            return f"({t})(0 - ({unsigned_of(t)})({self.visit(n.expr)}))"
        operand = self.visit(n.expr)
        if not self._is_simple_node(n.expr):
            operand = f"({operand})"
        if self.cuda and n.op in ("++", "--", "p++", "p--") and self.unit.type(n) == BOOL:
            return _stepped_bool(n.op, operand)
        if n.op in ("p++", "p--"):
            return f"{operand}{n.op[1:]}"
        if n.op in ("-", "+", "&") and operand[0] == n.op:
            operand = f"({operand})"
        return f"{n.op}{operand}"

    def visit(self, node: C.Node) -> str:
        outer = self.linear
        self.linear = outer and isinstance(node, (C.ID, C.Constant, C.BinaryOp)) and getattr(node, "op", "+") in "+-*"
        text = super().visit(node)
        self.linear = outer
        return text

    def visit_ArrayRef(self, n: C.ArrayRef) -> str:
        base = self._parenthesize_unless_simple(n.name)
        outer, self.linear = self.linear, True
        text = f"{base}[{self.visit(n.subscript)}]"
        self.linear = outer
        return text

    def visit_For(self, n: C.For) -> str:
        """In C++ the body's outermost block may not declare the loop's variable again."""
        items = n.stmt.block_items or [] if isinstance(n.stmt, C.Compound) else []
        names = {d.name for d in n.init.decls} if isinstance(n.init, C.DeclList) else set()
        if self.cuda and any(isinstance(d, C.Decl) and d.name in names for d in items):
            n = C.For(n.init, n.cond, n.next, C.Compound([n.stmt], n.stmt.coord), n.coord)  # pyright: ignore
        return super().visit_For(n)

    def visit_BinaryOp(self, n: C.BinaryOp) -> str:
        a, b = self.operand(n.left), self.operand(n.right)
        if self.cuda and n.op in ("+", "-", "*", "<<") and self.wraps(n):
            t = self.unit.type(n)
            assert isinstance(t, Scalar)
            u = unsigned_of(t)
            right = b if n.op == "<<" else f"({u}){b}"
            return f"({t})(({u}){a} {n.op} {right})"
        if n.op == "*" and not self.fused and self.floating(n):
            t = self.unit.type(n)
            return f"__{'f' if t.size == 4 else 'd'}mul_rn({self.visit(n.left)}, {self.visit(n.right)})"
        return f"{a} {n.op} {b}"

    def operand(self, n: C.Node) -> str:
        text = self.visit(n)
        return text if self._is_simple_node(n) else f"({text})"

    def wraps(self, n: C.Node) -> bool:
        """Signed arithmetic must wrap, as with -fwrapv. In a subscript that counts with loop counters it does not."""
        t = self.unit.types.get(id(n))
        if not isinstance(t, Scalar) or t.kind != "i" or (isinstance(n, C.BinaryOp) and not self.on_numbers(n)):
            return False
        return not (self.linear and self.is_index(n))

    def on_numbers(self, n: C.BinaryOp) -> bool:
        return all(isinstance(self.unit.value_type(x), Scalar) for x in (n.left, n.right))

    def is_index(self, n: C.Node) -> bool:
        match n:
            case C.Constant():
                return True
            case C.ID():
                symbol = self.unit.symbols.get(id(n))
                return symbol is not None and (symbol.kind == "constant" or symbol in self.counters)
            case C.BinaryOp(op="+" | "-" | "*" | "/" | "%"):
                return self.is_index(n.left) and self.is_index(n.right)
            case C.UnaryOp(op="-" | "+"):
                return self.is_index(n.expr)
        return False

    def floating(self, n: C.Node) -> bool:
        t = self.unit.types.get(id(n))
        return isinstance(t, Scalar) and t.is_float

    def visit_Assignment(self, n: C.Assignment) -> str:
        value = self._visit_expr(n.rvalue)
        left = self.visit(n.lvalue)
        t, r = self.unit.type(n), self.unit.value_type(n.rvalue)
        op = n.op[:-1]
        if isinstance(r, Scalar) and isinstance(t, Scalar) and op and self.cuda and _is_plain(n.lvalue):
            both = promote(t) if op == "<<" else common(t, r)
            if (
                both.kind == "i"
                and op in ("+", "-", "*", "<<")
                and not (self.is_index(n.lvalue) and self.is_index(n.rvalue))
            ):
                u = unsigned_of(both)
                return f"{left} = ({t})({both})(({u}){left} {op} {'' if op == '<<' else f'({u})'}({value}))"
            if op == "*" and both.is_float and not self.fused:
                return f"{left} = ({t})__{'f' if both.size == 4 else 'd'}mul_rn({left}, {value})"
        if isinstance(n.rvalue, C.Assignment):
            value = f"({value})"
        if self.cuda and isinstance(t, Pointer) and r != t and not op:
            value = f"({declare(t, '')})({value})"
        return f"{left} {n.op} {value}"

    def visit_TernaryOp(self, n: C.TernaryOp) -> str:
        return f"{self.operand(n.cond)} ? {self.operand(n.iftrue)} : {self.operand(n.iffalse)}"

    # declarations

    def visit_Decl(self, n: C.Decl, no_type: bool = False) -> str:
        symbol = self.unit.symbols.get(id(n))
        if symbol is None or symbol.storage == "static-local":
            return ""  # a type, a prototype, or something that lives elsewhere
        text = self.declared(symbol)
        if n.init is None:
            return text
        return f"{text} = {self.initial_value(n.init)}"

    def declared(self, symbol: Symbol) -> str:
        constant = symbol.const and not isinstance(symbol.type, Pointer)
        return declare(symbol.type, name(symbol.name), constant)

    def initial_value(self, init: C.Node) -> str:
        return f"{{{self.initialiser(init)}}}" if isinstance(init, C.InitList) else self.visit(init)

    def initialiser(self, init: C.Node) -> str:
        """What stands between the braces."""
        assert isinstance(init, C.InitList)
        return ", ".join(self.designated(e) for e in init.exprs) or ("" if self.cuda else "0")

    def designated(self, e: C.Node) -> str:
        if not isinstance(e, C.NamedInitializer):
            return self.narrowed(e)
        if self.cuda:
            raise catalogue.DESIGNATED_ON_GPU.error(loc_of(e.expr))
        path = "".join(f".{d.name}" if isinstance(d, C.ID) else f"[{self.visit(d.expr)}]" for d in e.name)
        return f"{path} = {self.initial_value(e.expr)}"

    def narrowed(self, e: C.Node) -> str:
        return self.initial_value(e)

    def visit_DeclList(self, n: C.DeclList) -> str:
        """Declarations of a for loop: one type, several names."""
        texts = [self.visit(d) for d in n.decls]
        first = texts[0]
        for d, text in zip(n.decls[1:], texts[1:]):
            symbol = self.unit.symbols[id(d)]
            first += ", " + text.removeprefix(base_name(leaf_element(_base(symbol.type)))).lstrip()
        return first

    def visit_Typedef(self, n: C.Typedef) -> str:
        return ""

    def visit_Pragma(self, n: C.Pragma) -> str:
        return ""

    def visit_StaticAssert(self, n: C.StaticAssert) -> str:
        return ""

    def visit_Case(self, n: C.Case) -> str:
        s = f"case {self.unit.constant(n.expr)}:\n"
        for stmt in n.stmts or []:
            s += self._generate_stmt(stmt, add_indent=True)
        return s


def _base(t: CType) -> CType:
    while isinstance(t, (Pointer, Array)):
        t = t.to if isinstance(t, Pointer) else t.of
    return t


def _stepped_bool(op: str, x: str) -> str:
    """``++`` and ``--`` of a _Bool, which C++ has not."""
    match op:
        case "++":
            return f"({x} = true)"
        case "p++":
            return f"({x} ? true : !({x} = true))"
        case "--":
            return f"({x} = !{x})"
    return f"(!({x} = !{x}))"


def _is_plain(n: C.Node) -> bool:
    """An lvalue that may be printed twice."""
    return not any(
        isinstance(x, (C.FuncCall, C.Assignment)) or (isinstance(x, C.UnaryOp) and x.op in ("++", "--", "p++", "p--"))
        for x in nodes(n)
    )


def _counters(unit: Unit, f: FunctionDef) -> Iterable[Symbol]:
    """Variables that a for loop steps by a constant."""
    for loop in nodes(f.node.body):
        if isinstance(loop, C.For) and loop.next is not None:
            for n in nodes(loop.next):
                target = n.expr if isinstance(n, C.UnaryOp) else None
                if isinstance(n, C.Assignment) and n.op in ("+=", "-=") and unit.constant(n.rvalue) is not None:
                    target = n.lvalue
                if isinstance(target, C.ID) and id(target) in unit.symbols:
                    yield unit.symbols[id(target)]
