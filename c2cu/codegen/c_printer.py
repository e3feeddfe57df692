"""How C is spelled: declarations from resolved types, and statements and expressions from the typed AST.

Types are printed resolved to basic ones and struct tags, so generated text needs no typedef and no header.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import isfinite, isnan

from pycparser import c_ast as C
from pycparser.c_generator import CGenerator

from ..base import catalogue, libm, literals
from ..base.ctype import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LDOUBLE,
    LONG,
    UINT,
    ULONG,
    VOID,
    Array,
    CType,
    Function,
    Number,
    Pointer,
    Scalar,
    Struct,
    align_of,
    common,
    leaf_element,
    promote,
    unsigned_of,
)
from ..frontend.choices import chooses_constant, is_float
from ..frontend.initial import Part, refuse_calls, tree
from ..frontend.parse import jumps_out, loc_of
from ..frontend.preprocess import Macro
from ..frontend.symbols import Symbol
from ..frontend.tree import ends, nodes
from ..frontend.typed import FunctionDef, Unit
from ..ir.evaluate import converted
from ..ir.fold import float_value, nearest_integer
from . import device_library
from .addresses import not_constant
from .contraction import plain_products
from .cuda import literal
from .positions import marked

STATE = "struct c2cu_state *"
CPP_KEYWORDS = frozenset(
    "alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class compl concept "
    "consteval constexpr constinit const_cast co_await co_return co_yield decltype delete dynamic_cast "
    "explicit export false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq "
    "private protected public reinterpret_cast requires static_assert static_cast template this "
    "thread_local throw true try typeid typename using virtual wchar_t xor xor_eq".split()
)
#: What CUDA's words for functions and variables (``__device__``) are macros for.
CUDA_ATTRIBUTES = frozenset(
    "device host global shared constant managed grid_constant launch_bounds maxnreg cluster_dims location align aligned"
    " always_inline noinline".split()
)


def is_cplusplus(macro: str) -> bool:
    """Whether C++ for CUDA says the name of a macro in something else."""
    return macro in CPP_KEYWORDS | CUDA_ATTRIBUTES


def spelled_out(macro: Macro) -> str:
    """The value of a macro where its name cannot stand."""
    return f"({macro.value})" if macro.value[0] in "+-" else macro.value


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


def declare(t: CType, what: str, const: bool = False, state: bool = True, volatile: bool = False) -> str:
    """``what`` declared as ``t``. ``state``: functions take a pointer to the state first."""
    qualifiers = ("const " if const else "") + ("volatile " if volatile else "")
    match t:
        case Pointer():
            inner = f"(*{qualifiers}{what})" if isinstance(t.to, (Array, Function)) else f"*{qualifiers}{what}"
            return declare(t.to, inner, t.const, state, t.volatile)
        case Array():
            return declare(t.of, f"{what}[{'' if t.length is None else t.length}]", const, state, volatile)
        case Function():
            params = [STATE] if state else []
            params += [declare(p, "", False, state) for p in t.params]
            params += ["..."] if t.variadic else []
            return declare(t.returns, f"{what}({', '.join(params) or 'void'})", False, state)
        case Struct():  # C++ does not copy what is volatile
            return f"{'const ' if const else ''}{base_name(t)} {what}".rstrip()
    return f"{qualifiers}{base_name(t)} {what}".rstrip()


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
                t = unit.declarations.with_members(t)
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


def in_order(unit: Unit, constants: Iterable[Symbol]) -> list[Symbol]:
    """Constants, each after those that its value names. Raises UnsupportedError where they name each other."""
    known = {s.name: s for s in constants if s.storage != "static-local"}
    out: dict[Symbol, None] = {}

    def visit(s: Symbol, path: tuple[Symbol, ...]) -> None:
        if s in path:
            raise catalogue.ADDRESS_IN_INITIALISER.error(s.loc, name=s.name)
        init = s.decl.init if s.decl is not None and s not in out else None
        for n in nodes(init) if init is not None else ():
            named = unit.symbols.get(id(n))
            if named is not None and named.storage in ("global", "static") and named.name in known:
                visit(known[named.name], (*path, s))
        out.setdefault(s)

    for s in constants:
        visit(s, ())
    return list(out)


def define_struct(s: Struct) -> str:
    head = base_name(s)
    if s.foreign:
        head = head.replace(" ", f" __attribute__((packed, aligned({s.align}))) ", 1)
    elif any(is_flexible(m.type) for m in s.members):
        head = head.replace(" ", f" alignas({align_of(s)}) ", 1)
    return "\n".join([f"{head} {{", *_members(s, "    "), "};"])


def is_flexible(t: CType) -> bool:
    """Whether a member is an array of no elements: C++ has none, so a struct goes without it, and its place is computed
    where it is used."""
    return isinstance(t, Array) and not t.length


def _members(s: Struct, indent: str) -> list[str]:
    lines: list[str] = []
    for k, m in enumerate(s.members):
        lines += [f"{indent}{declare(t, '')} : {bits};" for at, t, bits in s.unnamed if at == k]
        if is_flexible(m.type):
            continue
        width = f" : {m.bits}" if m.bits is not None else ""
        if m.anonymous and isinstance(m.type, Struct):
            lines += [f"{indent}{m.type.kind} {{", *_members(m.type, indent + "    "), f"{indent}}};"]
        else:
            lines.append(f"{indent}{declare(m.type, name(m.name))}{width};")
    return lines + [f"{indent}{declare(t, '')} : {bits};" for at, t, bits in s.unnamed if at == len(s.members)]


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
        return marked(text.rstrip("\n"), loc_of(n)) + "\n"


@dataclass
class _FunctionState:
    """What the printer knows of the function that it prints."""

    returns: CType = VOID
    counters: frozenset[Symbol] = frozenset()  # stepped by for loops
    labelled: bool = False  # it has labels
    jumps: bool = False  # no declaration may give a value here
    literals: list[str] = field(default_factory=list)  # its compound literals, declared


class CPrinter(Indented):
    """Prints functions of a unit for a C++ device compiler, with signed arithmetic made to wrap and, where
    `called_products` says so, products that no compiler contracts into a multiply-add.

    C++ decides nothing: what it does not convert as C does is cast, what it lacks is said in other words.
    """

    def __init__(self, unit: Unit):
        super().__init__()
        self.unit, self.fused = unit, plain_products()
        self.function = _FunctionState()
        self.linear = False  # inside a subscript, reached by + - * alone
        self.spelled_out: frozenset[str] = frozenset()  # macros that are printed by their values
        self.macros: dict[str, None] = {}  # kept macros that were printed, in order
        self.helpers: dict[str, None] = {}  # functions of `device_library` that were printed
        self.adapters: dict[str, str] = {}  # library functions whose address is taken -> their definitions
        self.taken: dict[str, Function] = {}  # functions whose address is taken, as they are spelled
        self.indirect: dict[str, Function] = {}  # what calls through pointers are made of
        self.loose: set[CType] = set()  # types that may lie at any address

    # hooks for schedules

    def variable(self, symbol: Symbol) -> str:
        """How a variable is spelled in this schedule."""
        return name(symbol.name)

    def cast(self, t: CType, text: str, n: C.Node) -> str:
        """``text``, the value of ``n``, cast to ``t``."""
        return f"({declare(t, '')})({text})"

    def passed_first(self) -> list[str]:
        """What calls of the file's functions pass before their arguments."""
        return ["c2cu_s"]

    # functions

    def body(self, f: FunctionDef) -> str:
        """The compound statement of a function."""
        refuse_long_double(self.unit, f)
        labelled = any(isinstance(n, C.Label) for n in nodes(f.node.body))
        outer, indent = self.function, self.indent_level
        self.function, self.indent_level = _FunctionState(f.returns, frozenset(_counters(self.unit, f)), labelled), 0
        text = self.visit(f.node.body).rstrip("\n")
        literals = self.function.literals
        self.function, self.indent_level = outer, indent
        if f.returns != VOID and falls_through(f.node.body):
            text = f"{text[:-1].rstrip()}\n    return {{}};\n}}"  # C lets a function end without one
        if literals:
            text = "{\n" + "".join(f"    {d};\n" for d in literals) + text[2:]
        return text

    # expressions

    def visit_ID(self, n: C.ID) -> str:
        symbol = self.unit.symbols.get(id(n))
        if symbol is None:
            return name(n.name)
        if symbol.kind == "constant":
            return self.constant_name(n, symbol)
        if symbol.kind == "function":
            return self.function_address(n, symbol)
        return self.variable(self.whole(symbol)) if symbol.kind == "variable" else name(n.name)

    def function_address(self, n: C.ID, symbol: Symbol) -> str:
        """A function's name where it is not called."""
        address = name(n.name) if n.name in self.unit.functions else self.adapter(n, symbol)
        if isinstance(symbol.type, Function):
            self.taken[address] = symbol.type
        return address

    def whole(self, symbol: Symbol) -> Symbol:
        """Of the declarations of one variable that which has its value."""
        known = self.unit.variables.get(symbol.name) if symbol.storage in ("global", "static") else None
        return known or symbol

    def constant_name(self, n: C.ID, symbol: Symbol) -> str:
        if symbol.macro and not is_cplusplus(n.name) and n.name not in self.spelled_out:
            self.macros[n.name] = None
            return n.name
        if symbol.macro and isinstance(symbol.value, float):
            return spelled_out(self.unit.pre.macros[n.name])
        assert isinstance(symbol.type, Scalar) and symbol.value is not None
        suffix = {UINT: "u", LONG: "l", ULONG: "ul"}.get(symbol.type, "")
        if symbol.value == -(2**31) and not suffix:
            return "(-2147483647 - 1)"
        return f"({symbol.value}{suffix})" if symbol.value < 0 else f"{symbol.value}{suffix}"

    def adapter(self, n: C.ID, symbol: Symbol) -> str:
        """A library function's address: of one that has our form, and but one type."""
        t = symbol.type
        assert isinstance(t, Function)
        adapter = f"c2cu_of_{n.name}"
        if adapter not in self.adapters:
            params = [declare(p, f"c2cu_{k}") for k, p in enumerate(t.params)]
            head = f"__device__ static {declare(t.returns, '')} {adapter}"
            call = self.library_text(n.name, [f"c2cu_{k}" for k in range(len(t.params))], n)
            self.adapters[adapter] = f"{head}({', '.join([STATE, *params])}) {{ return {call}; }}"
        return adapter

    def visit_Constant(self, n: C.Constant) -> str:
        if n.value.endswith("'"):
            return f"{self.unit.constant(n)}{'u' * (self.unit.types.get(id(n)) == UINT)}"
        if "string" in n.type:
            return self.string(n)
        return n.value

    def string(self, n: C.Constant) -> str:
        """A string as C has it: an array that may be written."""
        t = self.unit.types.get(id(n))
        element = t.of if isinstance(t, Array) else CHAR
        if element != CHAR:
            return f"(({element} *){n.value})"
        return f"((char *){quoted(literals.string(n.value))})"

    def visit_StructRef(self, n: C.StructRef) -> str:
        base, t = self._parenthesize_unless_simple(n.name), self.unit.types.get(id(n))
        if not isinstance(t, Array) or not is_flexible(t):
            return f"{base}{n.type}{name(n.field.name)}"
        struct = self.unit.type(n.name)
        struct = struct.to if isinstance(struct, Pointer) else struct
        member = struct.member(n.field.name) if isinstance(struct, Struct) else None
        assert member is not None
        start = base if n.type == "->" else f"&{base}"
        return f"(({declare(Pointer(t.of), '')})((char *){start} + {member.offset}))"

    def visit_Cast(self, n: C.Cast) -> str:
        t = self.unit.type(n)
        if self.in_constant and isinstance(t, Pointer) and t.to != CHAR and t.to.size == 1 and _is_string(n.expr):
            return self.named_string(n.expr, t)
        integer = self.integer(n.expr, t)
        return integer or self.cast(t, self.through_long(n.expr, t), n)

    def named_string(self, n: C.Constant, t: Pointer) -> str:
        """A string in a constant as an array of its own: C++ has no constant that points to it as another type."""
        array = f"{self.string_stem}_{len(self.strings)}"
        self.strings.append(f"__device__ {declare(t.to, array)}[] = {quoted(literals.string(n.value))};")
        return self.cast(t, array, n)

    def integer(self, n: C.Node, t: CType) -> str:
        """The value of ``n``, a float, as an integer type has it; "" for any other two types, and where C++ agrees."""
        source = self.unit.value_type(n)
        if not isinstance(source, Scalar) or not source.is_float:
            return ""
        if not isinstance(t, Scalar) or not t.is_integer or t == BOOL or t.size > 8:
            return ""
        value = self.unit.constant(n)
        if chooses_constant(self.unit, n):
            return self.by_parts(
                n,
                lambda value, text: (
                    self.integer_of(text, t) if value is None else literal(nearest_integer(value, t), t)
                ),
            )
        if value is None or (isnan(value) and not self.in_constant):  # GCC leaves that to the machine
            return self.integer_of(self._visit_expr(n), t)
        nearest = nearest_integer(value, t)
        return "" if isfinite(value) and nearest == int(value) else literal(nearest, t)

    def by_parts(self, n: C.Node, then: Callable[[Number | None, str], str]) -> str:
        """The text of a float, with what ``then`` makes of each part that may be its value: a constant, or a text."""
        t = self.unit.type(n)

        def as_float(value: Number | None, text: str) -> str:
            assert isinstance(t, Scalar)
            return then(None if value is None else converted(value, t), f"({t})({text})")

        def negated(value: Number | None, text: str) -> str:
            return then(None if value is None else -value, f"-({text})")

        def operation(*operands: tuple[Number | None, str]) -> str:
            assert isinstance(t, Scalar) and isinstance(n, C.BinaryOp)
            (a, first), (b, second) = operands
            both = None if a is None or b is None else float_value(n.op, converted(a, t), converted(b, t), t)
            first, second = f"({t})({first})", f"({t})({second})"
            if n.op == "*" and not self.multiplies_plainly:
                return then(both, f"__{'f' if t.size == 4 else 'd'}mul_rn({first}, {second})")
            return then(both, f"{first} {n.op} {second}")

        match n:
            case _ if not is_float(self.unit, n):
                pass
            case C.ExprList(exprs=[*before, last]):
                return f"({', '.join([*map(self.operand, before), self.by_parts(last, then)])})"
            case C.Assignment(op="=", rvalue=right) if (value := self.unit.constant(right)) is not None:
                return f"({self._visit_expr(n)}, {as_float(value, self._visit_expr(right))})"
            case C.TernaryOp():
                arms = (self.by_parts(x, as_float) for x in (n.iftrue, n.iffalse))
                return f"({self.operand(n.cond)} ? {' : '.join(arms)})"
            case C.Cast():
                return self.by_parts(n.expr, as_float)
            case C.UnaryOp(op="+" | "-"):
                return self.by_parts(n.expr, then if n.op == "+" else negated)
            case C.BinaryOp(left=left, right=right) if (value := self.unit.constant(right)) is not None:
                return self.by_parts(left, lambda x, text: operation((x, text), (value, self._visit_expr(right))))
            case C.BinaryOp(left=left, right=right) if (value := self.unit.constant(left)) is not None:
                return self.by_parts(right, lambda x, text: operation((value, self._visit_expr(left)), (x, text)))
        value = self.unit.constant(n)
        return then(None if value is None or isnan(value) else value, self._visit_expr(n))

    in_constant = False  # whether an initialiser is printed that has to be constant
    string_stem = ""  # what names of its strings begin with
    strings: list[str]  # definitions that go before it

    @property
    def multiplies_plainly(self) -> bool:
        """Whether products of floats are plain: in constants compilers round each by itself."""
        return self.fused or self.in_constant

    def integer_of(self, text: str, t: CType) -> str:
        self.helpers["c2cu_integer"] = None
        return f"c2cu_integer<{t}>({text})"

    def through_long(self, n: C.Node, t: CType) -> str:
        """The value of ``n``, which a cast to ``t`` takes: C++ lets no address become a small number at once."""
        text = self._visit_expr(n)
        small = isinstance(t, Scalar) and t.is_integer and t.size < 8 and t != BOOL
        return f"(unsigned long)({text})" if small and isinstance(self.unit.value_type(n), Pointer) else text

    def converted(self, n: C.Node, to: CType, braced: bool = False) -> str:
        """The value of ``n`` as C converts it where a ``to`` is wanted. ``braced``: C++ narrows nothing there."""
        if integer := self.integer(n, to):
            return integer
        text = self._visit_expr(n)
        source = self.spelled(n)
        if isinstance(source, Struct) and self.is_loose(n):
            self.helpers["c2cu_loose"] = None
            return f"c2cu_load<{declare(source, '')}>(&{text})"
        match source, to:
            case Pointer(), Pointer() if not assignable(source, to):
                return self.cast(to, text, n)
            case Scalar(), Pointer() if text != "0":
                return self.cast(to, text, n)
            case Pointer(), Scalar() if to != BOOL:
                return self.cast(to, self.through_long(n, to), n)
            case Pointer(), Scalar() if braced:
                return f"({text}) != 0"
            case Scalar(), Scalar() if braced and source != to and not self.fits(n, to):
                return f"({to})({text})"
        return text

    def fits(self, n: C.Node, to: Scalar) -> bool:
        """Whether braces take ``n`` for a ``to``: a constant that stays what it is."""
        value = self.unit.constant(n)
        source = self.unit.value_type(n)
        assert isinstance(source, Scalar)
        if value is None or to == BOOL or (source.is_float and to.is_integer):
            return False
        return value == value and to.wrap(value) == value

    def spelled(self, n: C.Node) -> CType:
        """The type of a value as C++ sees it, with what C's own conversions drop."""
        t = self.unit.types.get(id(n))
        match n:
            case C.Constant():
                return Pointer(CHAR) if t is None or isinstance(t, Array) else t
            case C.UnaryOp(op="&"):
                return Pointer(self.unit.type(n.expr), *self.qualifiers(n.expr))
            case C.BinaryOp(op="+" | "-") if isinstance(t, Pointer):
                return self.spelled(n.left if isinstance(self.unit.value_type(n.left), Pointer) else n.right)
            case C.ExprList():
                return self.spelled(n.exprs[-1])
            case C.CompoundLiteral():
                return self.unit.value_type(n)
        if isinstance(t, Array):
            return Pointer(t.of, *self.qualifiers(n))
        return self.unit.value_type(n)

    def qualifiers(self, n: C.Node) -> tuple[bool, bool]:
        """Whether the object that an lvalue names is const, and volatile, where it is declared."""
        match n:
            case C.ID():
                symbol = self.unit.symbols.get(id(n))
                symbol = self.whole(symbol) if symbol is not None else None
                return (
                    (symbol.const, symbol.volatile)
                    if symbol is not None and symbol.kind == "variable"
                    else (False, False)
                )
            case C.StructRef(type="."):
                const, _ = self.qualifiers(n.name)
                return const, False
            case C.ArrayRef() | C.StructRef() | C.UnaryOp(op="*"):
                base = n.expr if isinstance(n, C.UnaryOp) else n.name
                if isinstance(n, C.ArrayRef) and not isinstance(self.unit.value_type(base), Pointer):
                    base = n.subscript
                pointer = self.spelled(base)
                if not isinstance(pointer, Pointer):
                    return False, False
                return pointer.const, pointer.volatile and not isinstance(pointer.to, Struct)
        return False, False

    def visit_CompoundLiteral(self, n: C.CompoundLiteral) -> str:
        t = self.unit.type(n)
        variable = f"c2cu_literal{len(self.function.literals)}"  # C's lives as long as its block, C++'s has no address
        self.function.literals.append(declare(t, variable))
        self.helpers["c2cu_literal"] = None
        return f"c2cu_literal({variable}, {self.initial_value(n.init, t)})"

    def visit_FuncCall(self, n: C.FuncCall) -> str:
        args = n.args.exprs if n.args else []
        symbol = self.unit.symbols.get(id(n.name)) if isinstance(n.name, C.ID) else None
        if symbol is not None and symbol.kind == "function" and symbol.name not in self.unit.functions:
            return self.library(symbol.name, args, n)
        if symbol is not None and symbol.kind == "function":
            params = tuple(p.type for p in self.unit.functions[symbol.name].params)
            return f"{name(symbol.name)}({', '.join([*self.passed_first(), *self.passed(args, params)])})"
        t = self.unit.value_type(n.name)
        t = t.to if isinstance(t, Pointer) else t
        assert isinstance(t, Function)
        callee = self._visit_expr(n.name)
        if not t.params and args:  # a pointer to a function of unknown parameters
            t = replace(t, params=tuple(self.promoted(a) for a in args))
            callee = f"({declare(Pointer(t), '')})({callee})"
        return f"{self.dispatcher(t)}({', '.join([callee, 'c2cu_s', *self.passed(args, t.params)])})"

    def dispatcher(self, t: Function) -> str:
        """The function that calls through pointers to a ``t``."""
        dispatcher = next((k for k, known in self.indirect.items() if known == t), f"c2cu_call{len(self.indirect)}")
        self.indirect[dispatcher] = t
        return dispatcher

    def dispatchers(self) -> list[str]:
        """Functions that call through pointers: the targets are known, so that each can be a call that the compiler
        sees. (NVVM makes machine code that ptxas refuses where it finds out late what a pointer points to.)"""
        out = []
        for dispatcher, t in self.indirect.items():
            args = [f"c2cu_{k}" for k in range(len(t.params))]
            params = [declare(Pointer(t), "c2cu_f"), f"{STATE}c2cu_s"]
            params += [declare(p, a) for p, a in zip(t.params, args)]
            lines = []
            for target, u in self.taken.items():
                both = zip((u.returns, *u.params), (t.returns, *t.params))
                if len(u.params) != len(t.params) or not all(alike(a, b) for a, b in both):
                    continue
                passed = [f"({declare(p, '')}){a}" if isinstance(p, Pointer) else a for p, a in zip(u.params, args)]
                call = f"{target}({', '.join(['c2cu_s', *passed])})"
                value = f"({declare(t.returns, '')}){call}" if isinstance(t.returns, Pointer) else call
                lines.append(f"    if ((void *)c2cu_f == (void *){target}) return {value};")
            head = f"__device__ static {declare(t.returns, dispatcher + '(' + ', '.join(params) + ')')} {{"
            end = "    return;" if t.returns == VOID else "    return {};"
            out.append("\n".join([head, *lines, "    __trap();", end, "}"]))
        return out

    def promoted(self, n: C.Node) -> CType:
        """The type that an argument has where no parameter says one."""
        t = self.unit.value_type(n)
        return t if not isinstance(t, Scalar) else DOUBLE if t == FLOAT else promote(t)

    def passed(self, args: list[C.Node], params: tuple[CType, ...]) -> list[str]:
        return [
            self.converted(a, params[k]) if k < len(params) else self.converted(a, self.promoted(a))
            for k, a in enumerate(args)
        ]

    def library(self, callee: str, args: list[C.Node], n: C.FuncCall) -> str:
        """A call of a function that the file does not define."""
        t = self.unit.symbol(n.name).type
        assert isinstance(t, Function)
        if callee in ("qsort", "bsearch"):
            return self.with_comparison(callee, args)
        return self.library_text(callee, self.passed(args, t.params), n, [self.unit.value_type(a) for a in args])

    def with_comparison(self, callee: str, args: list[C.Node]) -> str:
        """A call of qsort or bsearch, whose last argument is the function that compares."""
        address = Pointer(VOID, True)
        t = Function(INT, (address, address))
        texts = self.passed(args, tuple(address for _ in args[:-3]) + (ULONG, ULONG, Pointer(t)))
        self.helpers["c2cu_qsort"] = None
        compare = f"{self.dispatcher(t)}({texts[-1]}, c2cu_s, c2cu_x, c2cu_y)"
        function = f"[&](const void *c2cu_x, const void *c2cu_y) {{ return {compare}; }}"
        first = f"(void *)({texts[0]})" if callee == "qsort" else texts[0]
        return f"c2cu_{callee}({', '.join([first, *texts[1:-1], function])})"

    def library_text(self, callee: str, args: list[str], n: C.Node, types: list[CType] | None = None) -> str:
        text = device_library.call(callee, args, types or [], self.helpers)
        if text is None:
            raise catalogue.NOT_ON_GPU.error(loc_of(n), name=callee)
        return text

    def visit_UnaryOp(self, n: C.UnaryOp) -> str:
        if n.op in ("sizeof", "_Alignof"):
            return f"{self.unit.constant(n)}ul"
        if n.op in ("++", "--", "p++", "p--"):
            return self.stepped(n)
        if n.op == "-" and self.wraps(n) and not isinstance(n.expr, C.Constant):
            t = self.unit.type(n)
            assert isinstance(t, Scalar)
            return f"({t})(0 - ({unsigned_of(t)})({self.visit(n.expr)}))"
        if n.op == "*" and isinstance(self.unit.type(n.expr), Function):
            return self.visit(n.expr)
        operand = self.address_of(n.expr) if n.op == "&" else self.visit(n.expr)
        if not self._is_simple_node(n.expr):
            operand = f"({operand})"
        if n.op in ("-", "+", "&") and operand[0] == n.op:
            operand = f"({operand})"
        return f"{n.op}{operand}"

    def address_of(self, n: C.Node) -> str:
        """The text of an lvalue whose address is taken, or which is assigned to."""
        outer, self.naming = self.naming, n
        text = self.visit(n)
        self.naming = outer
        return text

    naming: C.Node | None = None  # the lvalue that is not read

    def stepped(self, n: C.UnaryOp) -> str:
        """``++`` and ``--``."""
        t, op, after = self.unit.type(n), n.op[-1], n.op[0] == "p"
        x = self.address_of(n.expr)
        if not self._is_simple_node(n.expr):
            x = f"({x})"
        if isinstance(t, Scalar) and t == BOOL:
            return _stepped_bool(n.op, x)
        loose = self.is_loose(n.expr)
        if isinstance(t, Scalar) and (loose or (self.wraps(n) and not self.counted(n.expr))):
            self.helpers["c2cu_step"] = None
            helper = "c2cu_after" if after else "c2cu_before"
            if loose:
                self.helpers["c2cu_loose"] = None
                return f"{helper}_loose<{unsigned_of(t)}, {t}>(&{x}, {op}1)"
            return f"{helper}<{unsigned_of(t)}>({x}, {op}1)"
        if isinstance(t, Pointer) and t.to == VOID or isinstance(t, Pointer) and isinstance(t.to, Function):
            self.helpers["c2cu_step"] = None
            return f"c2cu_void{'_after' if after else '_before'}({x}, {op}1)"
        return f"{x}{op}{op}" if after else f"{op}{op}{x}"

    def counted(self, n: C.Node) -> bool:
        """What no step makes overflow in C: a loop's counter, or a bit-field, which has room to spare."""
        match n:
            case C.ID():
                return self.unit.symbols.get(id(n)) in self.function.counters
            case C.StructRef():
                return self.is_bit_field(n)
        return False

    def is_bit_field(self, n: C.Node) -> bool:
        return id(n) in self.unit.bits

    def is_loose(self, n: C.Node) -> bool:
        """Whether an lvalue may lie at any address: what is reached through a pointer that may point to one, such as a
        byte buffer's, and members that an attribute moves."""
        if not self.loose or self.is_bit_field(n):
            return False
        match n:
            case C.StructRef(type="."):
                whole = self.unit.type(n.name)
                return (isinstance(whole, Struct) and whole.foreign) or self.is_loose(n.name)
            case C.StructRef():
                pointer = self.unit.value_type(n.name)
                if not isinstance(pointer, Pointer):
                    return False
                return (isinstance(pointer.to, Struct) and pointer.to.foreign) or pointer.to in self.loose
            case C.ArrayRef():
                base = n.name if isinstance(self.unit.value_type(n.name), Pointer) else n.subscript
                if isinstance(self.unit.type(base), Array):
                    return self.is_loose(base)
                pointer = self.unit.value_type(base)
                return isinstance(pointer, Pointer) and leaf_element(pointer.to) in self.loose
            case C.UnaryOp(op="*"):
                if isinstance(self.unit.type(n.expr), Array):
                    return self.is_loose(n.expr)
                pointer = self.unit.value_type(n.expr)
                return isinstance(pointer, Pointer) and leaf_element(pointer.to) in self.loose
        return False

    def visit(self, node: C.Node) -> str:
        outer = self.linear
        self.linear = outer and isinstance(node, (C.ID, C.Constant, C.BinaryOp)) and getattr(node, "op", "+") in "+-*"
        text = super().visit(node)
        self.linear = outer
        if self.loose and isinstance(node, (C.ArrayRef, C.StructRef, C.UnaryOp)) and self.naming is not node:
            t = self.unit.types.get(id(node))
            if isinstance(t, (Scalar, Pointer)) and align_of(t) > 1 and self.is_loose(node):
                self.helpers["c2cu_loose"] = None
                return f"c2cu_load<{declare(t, '')}>(&{text})"
        return text

    def visit_ArrayRef(self, n: C.ArrayRef) -> str:
        outer, self.linear = self.linear, False
        base = self._parenthesize_unless_simple(n.name)
        self.linear = True
        text = f"{base}[{self._visit_expr(n.subscript)}]"
        self.linear = outer
        return text

    def visit_For(self, n: C.For) -> str:
        """In C++ the body's outermost block may not declare the loop's variable again, and nothing jumps past it."""
        items = n.stmt.block_items or [] if isinstance(n.stmt, C.Compound) else []
        names = {d.name for d in n.init.decls} if isinstance(n.init, C.DeclList) else set()
        if any(isinstance(d, C.Decl) and d.name in names for d in items):
            n = C.For(n.init, n.cond, n.next, C.Compound([n.stmt], n.stmt.coord), n.coord)  # pyright: ignore
        labelled = any(isinstance(x, C.Label) for x in nodes(n.stmt))
        if self.function.jumps and isinstance(n.init, C.DeclList) and labelled:
            loop = C.For(None, n.cond, n.next, n.stmt, n.coord)  # pyright: ignore
            return self.visit(C.Compound([*n.init.decls, loop], n.coord)).strip()
        outer, self.function.jumps = self.function.jumps, False
        start = self._visit_expr(n.init, allow_comma=True) if n.init is not None else ""
        self.function.jumps = outer
        parts = [f" {self._visit_expr(e, allow_comma=True)}" if e is not None else "" for e in (n.cond, n.next)]
        return f"for ({start};{parts[0]};{parts[1]})\n{self._generate_stmt(n.stmt, add_indent=True)}"

    def visit_Compound(self, n: C.Compound) -> str:
        """C++ lets no case and no label jump past a declaration that gives a value."""
        if id(n) in self.unit.types:
            return self.block_value(n)
        f, outer = self.function, self.function.jumps
        f.jumps = f.labelled or any(isinstance(x, (C.Case, C.Default)) for x in n.block_items or [])
        text = super().visit_Compound(n)
        f.jumps = outer
        return text

    def block_value(self, n: C.Compound) -> str:
        """GNU's ``({ ... })``, which device compilers lack: a function called where it stands."""
        if jumps_out(n):
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc_of(n), construct="a jump in an expression")
        items, t = list(n.block_items or []), self.unit.type(n)
        if t == VOID:
            return f"[&] {super().visit_Compound(n).strip()}()"
        items[-1] = C.Return(items[-1], n.coord)
        outer, self.function.returns = self.function.returns, t
        text = super().visit_Compound(C.Compound(items, n.coord)).strip()
        self.function.returns = outer
        returned = "" if isinstance(t, Pointer) else f"() -> {declare(t, '')}"  # a pointer may be one to columns
        return f"[&]{returned} {text}()"

    def visit_BinaryOp(self, n: C.BinaryOp) -> str:
        if (text := self.on_pointers(n)) is not None:
            return text
        a, b = self.operand(n.left), self.operand(n.right)
        if n.op in ("+", "-", "*", "<<") and self.wraps(n):
            t = self.unit.type(n)
            assert isinstance(t, Scalar)
            u = unsigned_of(t)
            right = b if n.op == "<<" else f"({u}){b}"
            return f"({t})(({u}){a} {n.op} {right})"
        if n.op == "*" and not self.multiplies_plainly and self.floating(n):
            t = self.unit.type(n)
            return f"__{'f' if t.size == 4 else 'd'}mul_rn({self._visit_expr(n.left)}, {self._visit_expr(n.right)})"
        return f"{a} {n.op} {b}"

    def on_pointers(self, n: C.BinaryOp) -> str | None:
        """Of an operation on addresses what C++ has no form for as it stands."""
        x, y = self.spelled(n.left), self.spelled(n.right)
        if n.op in ("<", "<=", ">", ">=", "==", "!="):
            return self.compared(n, x, y)
        if n.op not in ("+", "-"):
            return None
        bytes_ = [isinstance(t, Pointer) and (t.to == VOID or isinstance(t.to, Function)) for t in (x, y)]
        if not any(bytes_):
            return None
        a, b = self.operand(n.left), self.operand(n.right)
        a, b = f"(char *){a}" if bytes_[0] else a, f"(char *){b}" if bytes_[1] else b
        t = self.unit.type(n)
        return self.cast(t, f"{a} {n.op} {b}", n) if isinstance(t, Pointer) else f"{a} {n.op} {b}"

    def compared(self, n: C.BinaryOp, x: CType, y: CType) -> str | None:
        if not isinstance(x, Pointer) and not isinstance(y, Pointer):
            return None
        a, b = self.operand(n.left), self.operand(n.right)
        if isinstance(x, Pointer) and isinstance(y, Pointer):
            if assignable(x, y) or assignable(y, x):
                return None
            return f"(const volatile void *){a} {n.op} (const volatile void *){b}"
        if isinstance(x, Scalar):
            return None if a == "0" and n.op in ("==", "!=") else f"{self.cast(y, a, n.right)} {n.op} {b}"
        return None if b == "0" and n.op in ("==", "!=") else f"{a} {n.op} {self.cast(x, b, n.left)}"

    def operand(self, n: C.Node) -> str:
        text = self.visit(n)
        return text if self._is_simple_node(n) else f"({text})"

    def wraps(self, n: C.Node) -> bool:
        """Signed arithmetic must wrap, as with -fwrapv. In a subscript that counts with loop counters it does not."""
        t = self.unit.types.get(id(n))
        if isinstance(n, C.UnaryOp) and n.op != "-":
            return isinstance(t, Scalar) and t.kind == "i" and t.size >= 4
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
                return symbol is not None and (symbol.kind == "constant" or symbol in self.function.counters)
            case C.BinaryOp(op="+" | "-" | "*" | "/" | "%"):
                return self.is_index(n.left) and self.is_index(n.right)
            case C.UnaryOp(op="-" | "+"):
                return self.is_index(n.expr)
        return False

    def floating(self, n: C.Node) -> bool:
        t = self.unit.types.get(id(n))
        return isinstance(t, Scalar) and t.is_float

    def visit_Assignment(self, n: C.Assignment) -> str:
        t, r = self.unit.type(n), self.unit.value_type(n.rvalue)
        op = n.op[:-1]
        left = self.address_of(n.lvalue)
        loose = self.is_loose(n.lvalue) and align_of(t) > 1
        if not op:
            value = self.converted(n.rvalue, t)
            if loose:
                return self.stored(t, f"&{left}", value)
            return f"{left} = {f'({value})' if isinstance(n.rvalue, C.Assignment) else value}"
        wrapping = self.updated(n, op, t, r)
        if wrapping is None and not loose:
            value = self._visit_expr(n.rvalue)
            return f"{left} {n.op} {f'({value})' if isinstance(n.rvalue, C.Assignment) else value}"
        value = self.operand(n.rvalue)
        form = wrapping or "({0}) " + op + " {1}"
        if _is_plain(n.lvalue):
            if loose:
                return self.stored(t, f"&{left}", form.format(f"c2cu_load<{declare(t, '')}>(&{left})", value))
            return f"{left} = {form.format(left, value)}"
        if self.is_bit_field(n.lvalue):
            return f"{left} {n.op} {value}"
        read = f"c2cu_load<{declare(t, '')}>(c2cu_p)" if loose else "*c2cu_p"
        done = self.stored(t, "c2cu_p", form.format(read, value)) if loose else f"*c2cu_p = {form.format(read, value)}"
        return f"[&] {{ auto *c2cu_p = &{left}; return {done}; }}()"

    def stored(self, t: CType, place: str, value: str) -> str:
        self.helpers["c2cu_loose"] = None
        return f"c2cu_store<{declare(t, '')}>({place}, {value})"

    def updated(self, n: C.Assignment, op: str, t: CType, r: CType) -> str | None:
        """How ``x op= y`` computes its value where C++ does it otherwise: ``{0}`` stands for x, ``{1}`` for y."""
        if isinstance(t, Pointer):
            if t.to == VOID or isinstance(t.to, Function):
                return f"({declare(t, '')})((char *){{0}} {op} {{1}})"
            return None
        if not isinstance(t, Scalar) or not isinstance(r, Scalar):
            return None
        both = promote(t) if op in ("<<", ">>") else common(t, r)
        if both.is_float and t.is_integer and t != BOOL and t.size <= 8 and not self.is_bit_field(n.lvalue):
            a, b = f"({both}){{0}}", f"({both}){{1}}"
            multiplied = op == "*" and not self.multiplies_plainly
            return self.integer_of(
                f"__{'f' if both.size == 4 else 'd'}mul_rn({a}, {b})" if multiplied else f"{a} {op} {b}", t
            )
        counts = isinstance(n.lvalue, (C.ID, C.Constant)) and self.is_index(n.lvalue) and self.is_index(n.rvalue)
        if both.kind == "i" and op in ("+", "-", "*", "<<") and not counts:
            u = unsigned_of(both)
            to = f"({t})" if t == both else f"({t})({both})"
            return f"{to}(({u}){{0}} {op} {'' if op == '<<' else f'({u})'}{{1}})"
        if op == "*" and both.is_float and not self.multiplies_plainly:
            return f"({t})__{'f' if both.size == 4 else 'd'}mul_rn({{0}}, {{1}})"
        return None

    def visit_TernaryOp(self, n: C.TernaryOp) -> str:
        t = self.unit.type(n)
        arms = [self.operand(x) for x in (n.iftrue, n.iffalse)]
        if t == VOID:
            arms = [f"(void){text}" for text in arms]
        elif isinstance(t, Pointer):
            alike = [self.exactly(x, t) for x in (n.iftrue, n.iffalse)]
            arms = [
                text if same else self.cast(t, text, x) for same, text, x in zip(alike, arms, (n.iftrue, n.iffalse))
            ]
        return f"{self.operand(n.cond)} ? {arms[0]} : {arms[1]}"

    def exactly(self, n: C.Node, t: Pointer) -> bool:
        source = self.spelled(n)
        return isinstance(source, Pointer) and identical(source, t)

    # statements

    def visit_Return(self, n: C.Return) -> str:
        if n.expr is None:
            return "return;" if self.function.returns == VOID else "return {};"
        if self.function.returns == VOID:
            plain = self.unit.type(n.expr) == VOID
            return f"return {'' if plain else '(void)'}{self.operand(n.expr)};"
        return f"return {self.converted(n.expr, self.function.returns)};"

    def visit_Label(self, n: C.Label) -> str:
        text = self._generate_stmt(n.stmt)
        return f"{name(n.name)}:\n{text or self._make_indent() + ';'}"

    def visit_Goto(self, n: C.Goto) -> str:
        return f"goto {name(n.name)};"

    # declarations

    def visit_Decl(self, n: C.Decl, no_type: bool = False) -> str:
        symbol = self.unit.symbols.get(id(n))
        if symbol is None or symbol.is_global:
            return ""  # a type, a prototype, or something that lives elsewhere
        if n.init is None:
            return self.declared(symbol, False)
        if self.function.jumps or self.as_statements(n.init, symbol.type):
            return f"{self.declared(symbol, False)}; {self.assigned_value(name(symbol.name), n.init, symbol.type)}"
        return f"{self.declared(symbol)} = {self.initial_value(n.init, symbol.type)}"

    def declared(self, symbol: Symbol, constant: bool = True) -> str:
        text = declare(symbol.type, name(symbol.name), symbol.const and constant, volatile=symbol.volatile)
        wide = isinstance(symbol.type, Array) and align_of(symbol.type) < 16 <= symbol.type.size
        return f"alignas(16) {text}" if wide and symbol.storage == "local" else text

    def device_constant(self, s: Symbol, device_name: str) -> str:
        """A constant of the device, ``device_name``, with the value that a variable starts with. Raises
        UnsupportedError where only statements could give it."""
        init = s.decl.init if s.decl is not None else None
        if init is not None:
            refuse_calls(init, s.name, self.known)
        if init is not None and (reason := self.by_statements(init, s.type)):
            raise catalogue.CONSTANT_INITIALISER.error(s.loc, name=s.name, reason=reason)
        self.in_constant, self.string_stem, self.strings = True, device_name, []
        value = self.initial_value(init, s.type) if init is not None else "{}"
        self.in_constant = False
        return "\n".join([*self.strings, f"__device__ {declare(s.type, device_name, not s.unwritten)} = {value};"])

    def known(self, n: C.Node) -> Number | None:
        """The value of an expression that a constant of the device may start with."""
        called = (
            n.name.name.removeprefix("__builtin_") if isinstance(n, C.FuncCall) and isinstance(n.name, C.ID) else ""
        )
        return 0 if called in libm.CONSTANTS or called == "complex" else self.unit.constant(n)

    def initial_value(self, init: C.Node, t: CType) -> str:
        """The text of an initialiser of a ``t``."""
        if not isinstance(t, (Array, Struct)):
            while isinstance(init, C.InitList):
                init = init.exprs[0] if init.exprs else C.Constant("int", "0")
            return self.converted(init, t) if id(init) in self.unit.types else "0"
        if not isinstance(init, C.InitList) and not isinstance(t, Array):
            return self.converted(init, t)
        return self.braces(t, self.tree(t, init))

    def tree(self, t: CType, init: C.Node) -> Part:
        return tree(t, init, self.unit.require_constant, self.unit.types.get)

    def braces(self, t: CType, part: Part | None) -> str:
        """An initialiser with every brace, in order; ``part``: what C gives, None for zero."""
        if part is None:
            return "{}" if isinstance(t, (Array, Struct)) else "0"
        if isinstance(t, Array) and isinstance(part, C.Constant):
            return self.string_value(t, part)
        if not isinstance(part, dict):
            return str(part) if isinstance(part, int) else self.converted(part, t, braced=True)
        if isinstance(t, Array):
            last = max(part, default=-1)
            return f"{{{', '.join(self.braces(t.of, part.get(k)) for k in range(last + 1))}}}"
        assert isinstance(t, Struct)
        t = self.unit.declarations.with_members(t)
        last = max(part, default=-1)
        return f"{{{', '.join(self.braces(t.members[k].type, part.get(k)) for k in range(last + 1))}}}"

    def string_value(self, t: Array, n: C.Constant) -> str:
        """What an array of characters starts with: C++ wants room for the NUL, and knows characters of its own."""
        data = literals.string(n.value)
        if t.of.size == 1 and (t.length is None or len(data) < t.length):
            return quoted(data)
        codes = literals.codes(n.value, t.of.size)[: t.length]
        assert isinstance(t.of, Scalar)
        return f"{{{', '.join(str(t.of.wrap(x)) for x in codes)}}}"

    def by_statements(self, init: C.Node, t: CType) -> str:
        """Why only statements can give a variable of the device this value; "" where its initialiser can."""
        if self.as_statements(init, t):
            return "a union's value is a bit-field, or not its first member"
        return not_constant(self.unit, init)

    def as_statements(self, init: C.Node, t: CType) -> bool:
        """Whether C++ has no initialiser for it: a member of a union that is not its first, or one given twice. Nor
        has CUDA's compiler for a bit-field in a union."""
        if not isinstance(t, (Array, Struct)) or not isinstance(init, C.InitList):
            return False
        return self.has_union(t) and self.chooses(t, self.tree(t, init))

    def has_union(self, t: CType) -> bool:
        t = self.unit.declarations.complete(leaf_element(t))
        return isinstance(t, Struct) and (t.union or any(self.has_union(m.type) for m in t.members))

    def chooses(self, t: CType, part: Part | None) -> bool:
        if not isinstance(part, dict):
            return False
        if isinstance(t, Array):
            return any(self.chooses(t.of, x) for x in part.values())
        assert isinstance(t, Struct)
        t = self.unit.declarations.with_members(t)
        return (t.union and any(k > 0 or t.members[k].bits is not None for k in part)) or any(
            self.chooses(t.members[k].type, x) for k, x in part.items()
        )

    def assigned_value(self, target: str, init: C.Node, t: CType) -> str:
        """Statements that give a declared object its first value."""
        if not isinstance(t, (Array, Struct)) or not (isinstance(init, C.InitList) or isinstance(t, Array)):
            return f"{target} = {self.initial_value(init, t)}"
        if not self.as_statements(init, t):
            self.helpers["c2cu_literal"] = None
            return f"c2cu_literal({target}, {self.initial_value(init, t)})"
        lines = [f"memset(&{target}, 0, sizeof {target})", *self.leaf_values(target, t, self.tree(t, init))]
        return "; ".join(lines)

    def leaf_values(self, target: str, t: CType, part: Part | None) -> Iterable[str]:
        if part is None:
            return
        if isinstance(t, Array) and isinstance(part, C.Constant):
            for k, code in enumerate(literals.codes(part.value, t.of.size)[: t.length]):
                yield f"{target}[{k}] = {code}"
        elif isinstance(part, dict) and isinstance(t, Array):
            for k, x in part.items():
                yield from self.leaf_values(f"{target}[{k}]", t.of, x)
        elif isinstance(part, dict):
            assert isinstance(t, Struct)
            t = self.unit.declarations.with_members(t)
            for k, x in part.items():
                m = t.members[k]
                yield from self.leaf_values(target if m.anonymous else f"{target}.{name(m.name)}", m.type, x)
        else:
            yield f"{target} = {part if isinstance(part, int) else self.converted(part, t)}"

    def visit_DeclList(self, n: C.DeclList) -> str:
        """Declarations of a for loop: one type, several names."""
        texts = [self.visit(d) for d in n.decls]
        first = texts[0]
        for d, text in zip(n.decls[1:], texts[1:]):
            symbol = self.unit.symbols[id(d)]
            words = f"{'const ' if symbol.const and not isinstance(symbol.type, Pointer) else ''}"
            first += ", " + text.removeprefix(words).removeprefix(base_name(leaf_element(_base(symbol.type)))).lstrip()
        return first

    def visit_Typedef(self, n: C.Typedef) -> str:
        return ""

    def visit_Pragma(self, n: C.Pragma) -> str:
        return ""

    def visit_StaticAssert(self, n: C.StaticAssert) -> str:
        return ""

    def visit_Case(self, n: C.Case) -> str:
        values = dict.fromkeys(self.unit.constant(end) for end in ends(n.expr))
        s = f"case {' ... '.join(map(str, values))}:\n"
        for stmt in n.stmts or []:
            s += self._generate_stmt(stmt, add_indent=True)
        return s

    def visit_Default(self, n: C.Default) -> str:
        s = "default:\n"
        for stmt in n.stmts or []:
            s += self._generate_stmt(stmt, add_indent=True)
        return s


def quoted(data: bytes) -> str:
    """Bytes as a string literal."""
    plain = {34: '\\"', 92: "\\\\", 10: "\\n", 9: "\\t"}
    return '"' + "".join(plain.get(b) or (chr(b) if 32 <= b < 127 and b != 63 else f"\\{b:03o}") for b in data) + '"'


def identical(a: CType, b: CType) -> bool:
    """Whether C++ takes two types for one, qualifiers within included."""
    match a, b:
        case Pointer(), Pointer():
            return a.const == b.const and a.volatile == b.volatile and identical(a.to, b.to)
        case Array(), Array():
            return a.length == b.length and identical(a.of, b.of)
        case Function(), Function():
            alike = len(a.params) == len(b.params) and a.variadic == b.variadic
            return alike and identical(a.returns, b.returns) and all(map(identical, a.params, b.params))
    return a == b


def _is_string(n: C.Node) -> bool:
    return isinstance(n, C.Constant) and "string" in n.type


def assignable(source: Pointer, to: Pointer) -> bool:
    """Whether C++ converts one pointer to the other by itself."""
    if (source.const and not to.const) or (source.volatile and not to.volatile):
        return False
    if to.to == VOID and not isinstance(source.to, Function):
        return True
    return identical(source.to, to.to)


def alike(a: CType, b: CType) -> bool:
    """Whether values of two types are passed in one way."""
    return a == b or (isinstance(a, Pointer) and isinstance(b, Pointer))


def falls_through(n: C.Node | None) -> bool:
    """Whether control may reach the end of a statement."""
    match n:
        case C.Return() | C.Goto():
            return False
        case C.Compound():
            return not n.block_items or falls_through(n.block_items[-1])
        case C.If():
            return n.iffalse is None or falls_through(n.iftrue) or falls_through(n.iffalse)
        case C.Label():
            return falls_through(n.stmt)
        case C.For(cond=None) | C.While(cond=C.Constant(value="1")):
            return any(isinstance(x, (C.Break, C.Goto)) for x in nodes(n.stmt))
        case C.Switch(stmt=C.Compound()):
            items = n.stmt.block_items or []
            last = items[-1] if items else None
            ends = isinstance(last, (C.Case, C.Default)) and last.stmts and not falls_through(last.stmts[-1])
            whole = any(isinstance(x, C.Default) for x in items)
            return not (ends and whole) or any(isinstance(x, C.Break) for x in nodes(n.stmt))
    return True


def refuse_long_double(unit: Unit, f: FunctionDef) -> None:
    """Raise UnsupportedError where a device would compute in another type."""
    for n in nodes(f.node):
        t = unit.types.get(id(n))
        symbol = unit.symbols.get(id(n))
        what = f"'{symbol.name}'" if symbol is not None and symbol.kind == "variable" else "a value"
        declared = leaf_element(symbol.type) if symbol is not None and symbol.kind == "variable" else None
        if LDOUBLE in (t, declared):
            raise catalogue.LONG_DOUBLE.error(loc_of(n), what=what)


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
            return f"({x} || ({x} = true, false))"
        case "--":
            return f"({x} = !{x})"
    return f"({x} ? ({x} = false, true) : ({x} = true, false))"


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
