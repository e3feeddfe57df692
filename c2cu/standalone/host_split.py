"""Splitting ``main`` at the kernel call: what stands before it, what goes in, what stands after it.

A translation runs the part before for every input, the kernel once for all, and the part after for every input. Each
run sees the globals as a fresh process would; what it leaves before the kernel is kept until after it. Locals of main
that both parts may reach are *kept*: they live in the run's own memory, where pointers to them stay good.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, VOID, Array, CType, Function, Pointer, Scalar, Struct, is_packed
from ..codegen.c_printer import CPP_KEYWORDS, CPrinter, Indented, assignable, base_name, declare, spelled_out
from ..frontend.kernel import KernelProgram, static_locals
from ..frontend.parse import is_user_file, loc_of
from ..frontend.symbols import Symbol
from ..frontend.tree import nodes
from ..frontend.typed import Unit
from .host_rules import ENDS, READS, UNBUFFERED, fresh_library, host_statics, prints, reach, refuse_host


@dataclass(frozen=True)
class HostSplit:
    """``result``: what the kernel's value is assigned to, as an AST node, or None. ``arguments``: of the call.
    ``whole``: the statement that calls the kernel is part of ``after``."""

    before: tuple[C.Node, ...]
    after: tuple[C.Node, ...]
    result: C.Node | None
    arguments: tuple[C.Node, ...]
    carried: tuple[Symbol, ...]  # locals of main that outlive the part before the call
    statics: tuple[Symbol, ...]  # static locals of host code that a run has its own of
    types: tuple[C.Node, ...]  # that main defines before the call
    functions: tuple[str, ...]  # that host code calls, in the file's order
    fresh: tuple[list[str], list[str]]  # statements by which the library starts anew, before each part
    unbuffered: bool  # some output goes past stdio's buffers
    reads: bool  # the part before the call may read stdin
    prints: bool  # it may print to stdout
    whole: bool = False


def hostsplit(program: KernelProgram, whole: bool = False) -> HostSplit:
    """Split the main of ``program``. ``whole``: before the kernel call, which stays as it stands. Raises
    UnsupportedError where its parts cannot be run apart."""
    unit, call = program.unit, program.call
    main = unit.functions.get("main")
    if main is None or call is None:
        raise catalogue.NO_MAIN.error(program.kernel.loc)
    unit.require("main")
    items = main.node.body.block_items or []
    k = next((i for i, s in enumerate(items) if _is_call(s, call) or (whole and call in nodes(s))), None)
    if k is None:
        raise catalogue.CALL_INSIDE_STATEMENT.error(loc_of(call))
    before, after = tuple(items[:k]), tuple(items[k if whole else k + 1 :])
    arguments = tuple(call.args.exprs if call.args and not whole else [])
    first = (*before, *arguments)  # what runs before the kernel
    mentions, _ = reach(unit, first)
    library, named = reach(unit, (*first, *after, *(s.decl for s in globals_of(unit) if s.decl is not None)))
    called = tuple(f for f in unit.functions if f in named)
    for f in called:
        unit.require(f)
    refuse_host(unit, first, after, () if whole else tuple(f.node for f in program.functions))
    statics = host_statics(unit, ("main", *called), () if whole else static_locals(program))
    carried = _carried(unit, before, tuple(items[k:]))
    types = tuple(t for n in before for t in _types(n))
    _refuse_hidden_names(unit, types)
    return HostSplit(
        tuple(n for n in before if n not in types and not _is_unnamed(n, first)),
        tuple(n for n in before if _is_lasting(n) and not _is_unnamed(n, after)) + after,
        items[k] if not isinstance(items[k], C.FuncCall) and not whole else None,
        arguments,
        carried,
        statics,
        types,
        called,
        fresh_library(unit, first, after),
        any(m.name in UNBUFFERED for m in library),
        any(m.name in READS for m in mentions),
        prints(mentions),
        whole,
    )


def _is_call(s: C.Node, call: C.FuncCall) -> bool:
    return s is call or getattr(s, "rvalue", None) is call or getattr(s, "init", None) is call


def _carried(unit: Unit, before: tuple[C.Node, ...], rest: tuple[C.Node, ...]) -> tuple[Symbol, ...]:
    """Locals of main that are named from the kernel call on, or that a pointer which is read there may lead to."""
    symbols = [unit.symbols[id(n)] for n in before if isinstance(n, C.Decl) and id(n) in unit.symbols]
    locals_ = [s for s in symbols if s.storage == "local"]
    named = {unit.symbols[id(n)] for s in rest for n in nodes(s) if id(n) in unit.symbols}
    reached = [*(s for s in locals_ if s in named), *globals_of(unit)]
    if any(holds_pointer(unit, s.type) for s in reached):
        _refuse_nameless(unit, before)
        named |= {s for s in locals_ if isinstance(s.type, (Array, Struct))} | addressed(unit, before)
    return tuple(s for s in locals_ if s in named)


def holds_pointer(unit: Unit, t: CType) -> bool:
    match t:
        case Pointer():
            return True
        case Array():
            return holds_pointer(unit, t.of)
        case Struct():
            members = unit.declarations.with_members(t).members
            return any(holds_pointer(unit, m.type) for m in members)
    return False


def addressed(unit: Unit, statements: tuple[C.Node, ...]) -> set[Symbol]:
    """What ``&`` is applied to by name."""
    operands = (n.expr for s in statements for n in nodes(s) if isinstance(n, C.UnaryOp) and n.op == "&")
    return {unit.symbols[id(n)] for n in operands if id(n) in unit.symbols}


def _refuse_nameless(unit: Unit, before: tuple[C.Node, ...]) -> None:
    """A compound literal has no name by which it could be kept."""
    for n in (n for s in before for n in nodes(s)):
        inner = n.expr if isinstance(n, C.UnaryOp) and n.op == "&" else n
        if isinstance(inner, C.CompoundLiteral) and (inner is not n or isinstance(unit.type(inner), Array)):
            raise catalogue.COMPOUND_LITERAL.error(loc_of(inner))


def _types(n: C.Node) -> Iterator[C.Node]:
    """The types that a declaration of main defines, as declarations of their own."""
    if isinstance(n, C.Typedef) or (isinstance(n, C.Decl) and n.name is None):
        yield n
    elif isinstance(n, C.Decl):
        inner = n.type
        while hasattr(inner, "type"):
            inner = inner.type
        members = inner.values if isinstance(inner, C.Enum) else getattr(inner, "decls", None)
        if members is not None and (inner.name or isinstance(inner, C.Enum)):
            yield C.Decl(None, [], [], [], [], inner, None, None, inner.coord)


def _is_lasting(n: C.Node) -> bool:
    """A declaration that both parts may repeat, for it makes no object of a run."""
    return isinstance(n, C.Decl) and (isinstance(n.type, C.FuncDecl) or bool({"static", "extern"} & set(n.storage)))


def _is_unnamed(n: C.Node, part: tuple[C.Node, ...]) -> bool:
    """A lasting declaration that ``part`` does not use."""
    if not _is_lasting(n):
        return False
    assert isinstance(n, C.Decl)
    return not any(isinstance(x, C.ID) and x.name == n.name for s in part for x in nodes(s))


def _refuse_hidden_names(unit: Unit, types: tuple[C.Node, ...]) -> None:
    """Types of main move to file scope, for both parts."""
    for n in (n for t in types for n in nodes(t)):
        name = getattr(n, "name", None)
        known = unit.scope.tags if isinstance(n, (C.Struct, C.Union)) else unit.scope.names
        if isinstance(n, (C.Typedef, C.Enumerator, C.Struct, C.Union)) and name in known:
            raise catalogue.HIDDEN_NAME.error(loc_of(n), name=name)


#: Functions that C++ has twice: of what is const, they return what is const.
_SEARCHES = ("strchr", "strrchr", "strstr", "strpbrk", "memchr")


def _is_literals(n: C.Node) -> bool:
    """Whether an address leads into a string literal, maybe, which is const in C++."""
    match n:
        case C.Constant():
            return "string" in n.type
        case C.ID():
            return n.name in ("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__")
        case C.BinaryOp(op="+" | "-") | C.TernaryOp():
            arms = (n.left, n.right) if isinstance(n, C.BinaryOp) else (n.iftrue, n.iffalse)
            return any(map(_is_literals, arms))
        case C.UnaryOp(op="&", expr=C.ArrayRef() as element):
            return _is_literals(element.name)
        case C.ExprList():
            return _is_literals(n.exprs[-1])
    return False


class _Conversions(CPrinter):
    """What C++ wants said of values in host code, whose expressions ``host`` prints."""

    def __init__(self, host: HostPrinter):
        super().__init__(host.unit)
        self.host = host

    def _visit_expr(self, n: C.Node, *, allow_comma: bool = False) -> str:
        return self.host._visit_expr(n, allow_comma=allow_comma)

    def integer(self, n: C.Node, t: CType) -> str:
        return ""  # the host converts floats as it does

    def cast(self, t: CType, text: str, n: C.Node) -> str:
        return f"({declare(t, '', state=False)})({text})"

    def converted(self, n: C.Node, to: CType, braced: bool = False) -> str:
        if self.host.must_cast(n, to):
            return self.cast(to, self._visit_expr(n), n)
        return super().converted(n, to, braced)


class HostPrinter(Indented):
    """Host code as the user wrote it, for C and C++. ``carried``: locals of main that live in its run. ``statics``:
    static locals that are variables of the file. ``values``: macros that it says by their values.

    ``ended``: what a ``return`` of main before the kernel sets.
    """

    def __init__(
        self,
        unit: Unit,
        carried: tuple[Symbol, ...],
        statics: tuple[Symbol, ...],
        cplusplus: bool,
        values: frozenset[str],
    ):
        super().__init__()
        self.unit, self.carried, self.cplusplus, self.values = unit, carried, cplusplus, values
        self.statics = {s: f"__{s.name}_static{k}" for k, s in enumerate(statics)}
        self.aliases: dict[str, str] = {}  # names of the C library's functions in our own text
        self.ended = ""
        self.labelled = False  # the function that is printed has labels
        self.returns: CType | None = None  # the type of the function that is printed, for C++
        self.jumps = False  # no declaration may give a value here
        self.ends: set[str] = set()  # those of hostrules.ENDS that were printed
        self.defined: set[int] = set()  # ids of the structs, unions and enums whose members were printed
        self.literals: list[str] | None = None  # declarations of the block at work, None outside of functions
        self.literal_count = 0
        self.addressed: set[C.CompoundLiteral] = set()  # those that & is applied to
        self.enumerated: set[int] = set()  # ids of those enums whose enumerators stand before, by themselves

    def visit_ID(self, n: C.ID) -> str:
        if n.name in self.values:
            return spelled_out(self.unit.pre.macros[n.name])
        symbol = self.unit.symbols.get(id(n))
        if symbol in self.carried:
            return f"__kept->{n.name}"
        if symbol in self.statics:
            return self.statics[symbol]
        if symbol is None or symbol.kind != "function" or n.name in self.unit.functions or n.name not in ENDS:
            return n.name
        self.ends.add(ENDS[n.name])
        return ENDS[n.name]

    def _generate_struct_union_enum(self, n: C.Struct | C.Union | C.Enum, name: str) -> str:
        """Members stand where a type is first named, and nowhere else. To C++ an enum of the file is a number: it would
        not let one be assigned to it."""
        if isinstance(n, C.Enum) and self.cplusplus:
            if id(n) in self.enumerated:
                return base_name(self.unit.declarations.enum_type(n))
            known = self.unit.scope.enums.get(n.name) if n.values is None else None
            if known is not None:
                return base_name(known)
        if id(n) in self.defined and (n.name or name == "enum"):
            return f"{name} {n.name}" if n.name else "int"
        struct = self.unit.declarations.struct_of.get(id(n))
        members = None if isinstance(n, C.Enum) else n.decls
        if struct is not None and struct.foreign and members is not None and not is_packed(struct):
            reason = self.unit.declarations.foreign[struct.tag]
            if "_Alignas" not in reason.diagnostic.message:  # which is printed as it stands
                raise reason
            struct = None
        self.defined.add(id(n))
        text = super()._generate_struct_union_enum(n, name)
        if struct is None or not struct.foreign or members is None:
            return text
        return text.replace(name, f"{name} __attribute__((packed, aligned({struct.align})))", 1)

    @functools.cached_property
    def typedefs(self) -> dict[str, str]:
        """New names for typedefs that are called like a struct, union or enum, which are one kind of name to C++, or
        like a word of C++, such as bool."""
        ast = self.unit.ast.ext
        if not self.cplusplus:
            return {}
        tags = {n.name for x in ast for n in nodes(x) if isinstance(n, (C.Struct, C.Union, C.Enum)) and n.name}
        taken = tags | CPP_KEYWORDS
        typedefs = [n for x in ast for n in nodes(x) if isinstance(n, C.Typedef) and n.name in taken]
        clashing = {n.name for n in typedefs if not _is_of_its_tag(n) and is_user_file(self.unit.pre, loc_of(n).file)}
        named = (getattr(n, a, None) for x in ast for n in nodes(x) for a in ("name", "declname"))
        every = {x for x in named if isinstance(x, str)}
        return {n: next(f"{n}_type{k or ''}" for k in count() if f"{n}_type{k or ''}" not in every) for n in clashing}

    def visit_IdentifierType(self, n: C.IdentifierType) -> str:
        return " ".join(self.typedefs.get(name, name) for name in map(str, n.names or ()))

    def visit_Typedef(self, n: C.Typedef) -> str:
        name = self.typedefs.get(n.name or "", n.name or "")
        text = super().visit_Typedef(C.Typedef(name, n.quals, n.storage, _of(n.type, name)))
        return re.sub(r"\brestrict\b ?", "", text) if self.cplusplus else text  # C++ has no such word

    def visit_Alignas(self, n: C.Alignas) -> str:
        if not self.cplusplus:
            return super().visit_Alignas(n)
        by = self.visit(n.alignment)  # an attribute, as `alignas` may not stand after `static`
        return f"__attribute__((aligned({f'alignof({by})' if isinstance(n.alignment, C.Typename) else by})))"

    def visit_Pragma(self, n: C.Pragma) -> str:
        return "" if n.string.split("(")[0].split()[:1] == ["kernel"] else super().visit_Pragma(n)

    def visit_Return(self, n: C.Return) -> str:
        if not self.ended and n.expr is not None and self.returns is not None:
            return f"return {self.passed(n.expr, self.returns)};"
        if not self.ended:
            return super().visit_Return(n)
        value = self.visit(n.expr) if n.expr is not None else "0"
        return f"return ({self.ended} = 1, ({value}));"

    def visit_Assignment(self, n: C.Assignment) -> str:
        if n.op == "=" and self.must_cast(n.rvalue, self.unit.types.get(id(n))):
            left = self.visit(n.lvalue)
            return f"{left} = (__typeof__({left}))({self.visit(n.rvalue)})"
        return super().visit_Assignment(n)

    def visit_Decl(self, n: C.Decl, no_type: bool = False) -> str:
        symbol = self.unit.symbols.get(id(n))
        if symbol in self.carried:
            return self.first_value(n, symbol.type)
        if symbol in self.statics:
            return ""
        if self.jumps and n.init is not None and symbol is not None and symbol.storage == "local" and not no_type:
            return f"{self.member(symbol)}; {self.assigned(n, n.name, symbol.type)}"
        return self.declaration(n, symbol, no_type)

    def declaration(self, n: C.Decl, symbol: Symbol | None, no_type: bool = False) -> str:
        if n.init is not None and symbol is not None and not no_type:
            value = self.initial(n.init, symbol.type)
            if value is not None:
                return f"{self.without_value(n, n.name)} = {value}"
        if n.init is None or symbol is None or not self.must_cast(n.init, symbol.type):
            return super().visit_Decl(n, no_type)
        return f"{self.without_value(n, n.name)} = (__typeof__({n.name}))({self.visit(n.init)})"

    def first_value(self, n: C.Decl, t: CType) -> str:
        """The initialiser of a kept variable, as statements."""
        return self.assigned(n, f"__kept->{n.name}", t) if n.init is not None else ""

    def assigned(self, n: C.Decl, left: str, t: CType) -> str:
        """Statements that give ``left`` the value of an initialiser."""
        assert n.init is not None
        if not isinstance(n.init, C.InitList) and not isinstance(t, Array):
            cast = f"(__typeof__({left}))" if self.must_cast(n.init, t) else ""
            return f"{left} = {cast}{f'({self.visit(n.init)})' if cast else self._visit_expr(n.init)}"
        start = f"__first_{n.name}"
        text = f"{self.without_value(n, start)} = {self.initial(n.init, t) or self._visit_expr(n.init)};"
        copy = f"memcpy(&{left}, &{start}, sizeof {start})"
        return f"{{ {text} {copy}; }}" if self.jumps else f"{text}\n    {copy}"

    def without_value(self, n: C.Decl, name: str) -> str:
        """A declaration without its initialiser, of ``name``."""
        return super().visit_Decl(C.Decl(name, n.quals, n.align, n.storage, n.funcspec, _of(n.type, name), None, None))

    def static(self, s: Symbol) -> str:
        """The definition of a static local at file scope."""
        d, name = s.decl, self.statics[s]
        assert d is not None
        moved = C.Decl(name, d.quals, d.align, d.storage, d.funcspec, _of(d.type, name), d.init, None)
        return f"{self.declaration(moved, s)};"

    def member(self, s: Symbol) -> str:
        """A variable's declaration as a struct's member, which can be written; typedefs stay."""
        d = s.decl
        assert d is not None
        name = self.statics.get(s, s.name)
        text = super().visit_Decl(C.Decl(name, [], [], [], [], _of(d.type, name, writable=True), None, None))
        if isinstance(s.type, Array) and isinstance(d.type, C.ArrayDecl) and d.type.dim is None:
            text = text.replace("[]", f"[{s.type.length}]", 1)
        return text

    def parameter(self, t: C.Node, name: str) -> str:
        """The declaration of a member of a type that the kernel's head names; typedefs stay."""
        return super().visit_Decl(C.Decl(name, [], [], [], [], _of(t, name, writable=True), None, None))

    def visit_FuncCall(self, n: C.FuncCall) -> str:
        t = self.unit.types.get(id(n.name)) if self.cplusplus else None
        t = t.to if isinstance(t, Pointer) else t
        if not isinstance(t, Function) or n.args is None or not t.params:
            return super().visit_FuncCall(n)
        args = [self.passed(a, t.params[k] if k < len(t.params) else None) for k, a in enumerate(n.args.exprs)]
        if isinstance(n.name, C.ID) and n.name.name in _SEARCHES and n.name.name not in self.unit.functions:
            args[0] = f"(char *)({args[0]})"  # of what is const C++'s return what is const
        return f"{self._parenthesize_unless_simple(n.name)}({', '.join(args)})"

    def passed(self, n: C.Node, t: CType | None) -> str:
        """An argument, or what is returned, cast where C++ does not convert it by itself."""
        if t is None or id(n) not in self.unit.types or not self.must_cast(n, t) or "__anonymous" in declare(t, ""):
            return self._visit_expr(n)
        return f"({declare(t, '', state=False)})({self._visit_expr(n)})"

    def initial(self, init: C.Node, t: CType) -> str | None:
        """An initialiser that C++ takes: whole, in order, with room for every NUL; None where it takes C's."""
        if not self.cplusplus or not isinstance(t, (Array, Struct)):
            return None
        strings = any(isinstance(n, C.Constant) and "string" in n.type for n in nodes(init))
        if not strings and not any(isinstance(n, C.NamedInitializer) for n in nodes(init)):
            return None
        whole = isinstance(init, C.InitList) or isinstance(t, Array)
        if not whole or any(isinstance(n, C.CompoundLiteral) for n in nodes(init)):
            return None
        conversions = _Conversions(self)
        if conversions.as_statements(init, t):
            return None
        return conversions.initial_value(init, t)

    def visit_CompoundLiteral(self, n: C.CompoundLiteral) -> str:
        """As long as its block, in C; C++'s has no address."""
        t = self.unit.type(n)
        if not self.cplusplus or self.literals is None or not (isinstance(t, Array) or n in self.addressed):
            value = self.initial(n.init, t)
            return super().visit_CompoundLiteral(n) if value is None else f"({self.visit(n.type)}){value}"
        conversions = _Conversions(self)
        if conversions.as_statements(n.init, t):
            return super().visit_CompoundLiteral(n)
        name = f"__literal{self.literal_count}"
        self.literal_count += 1
        of = _of(n.type.type, name, writable=True)
        text = super().visit_Decl(C.Decl(name, [], [], [], [], of, None, None))
        length = t.length if isinstance(t, Array) else None
        self.literals.append(f"{text.replace('[]', f'[{length}]', 1)};")
        return f"__literal({name}, {conversions.initial_value(n.init, t)})"

    def visit_UnaryOp(self, n: C.UnaryOp) -> str:
        if n.op == "&" and isinstance(n.expr, C.CompoundLiteral):
            self.addressed.add(n.expr)
        text = super().visit_UnaryOp(n)
        return "__alignof__" + text.removeprefix("_Alignof") if self.cplusplus and n.op == "_Alignof" else text

    def visit_Cast(self, n: C.Cast) -> str:
        null = self.cplusplus and self.unit.types.get(id(n)) == Pointer(VOID) and getattr(n.expr, "value", "") == "0"
        return "NULL" if null else super().visit_Cast(n)

    def must_cast(self, value: C.Node, to: CType | None) -> bool:
        """Whether C++ does not make what C makes of a value: of a pointer to another type, or of a number an address.
        Its strings are const."""
        if not self.cplusplus or to is None or id(value) not in self.unit.types:
            return False
        if _is_literals(value):
            return isinstance(to, Pointer) and to.to.size == 1 and not to.const
        match _Conversions(self).spelled(value), to:
            case Scalar(), Pointer() if self.unit.constant(value) == 0:
                return False
            case Pointer() as source, Pointer():
                return not assignable(source, to)
            case Scalar(), Pointer():
                return self.unit.constant(value) != 0
            case Pointer(), Scalar():
                return to != BOOL
        return False

    def statements(self, items: tuple[C.Node, ...]) -> str:
        self.indent_level = 4
        self.jumps = self.labelled = self.cplusplus and _has_label(items)
        self.literals = []
        text = "".join(self._generate_stmt(s) for s in items)
        text = "".join(f"    {d}\n" for d in self.literals) + text
        self.literals = None
        self.indent_level, self.jumps, self.labelled = 0, False, False
        return "\n".join(line for line in text.split("\n") if line.strip())

    def function(self, n: C.FuncDef) -> str:
        self.labelled = self.cplusplus and _has_label((n.body,))
        self.returns = self.unit.functions[n.decl.name].returns if self.cplusplus else None
        text = self.visit(n).rstrip("\n")
        self.labelled, self.returns = False, None
        return text

    def visit_Compound(self, n: C.Compound) -> str:
        """C++ lets no case and no label jump past a declaration that gives a value."""
        outer = self.jumps
        cases = self.cplusplus and any(isinstance(x, (C.Case, C.Default)) for x in n.block_items or [])
        self.jumps = self.labelled or cases
        around, self.literals = self.literals, []
        text = super().visit_Compound(n)
        if self.literals:
            head, _, rest = text.partition("{\n")
            indent = " " * (self.indent_level + 4)
            text = head + "{\n" + "".join(f"{indent}{d}\n" for d in self.literals) + rest
        self.jumps, self.literals = outer, around
        return text

    def visit_For(self, n: C.For) -> str:
        outer, self.jumps = self.jumps, False
        text = super().visit_For(n)
        self.jumps = outer
        return text

    def once(self, n: C.Decl, symbol: Symbol | None) -> C.Decl | None:
        """A variable's declaration as C++ has it, which defines a variable once: one before the definition names it,
        one after it is None. None of them is static then, as C++ has no declaration of a static variable."""
        mine = [d for d in self.unit.ast.ext if isinstance(d, C.Decl) and d.name == n.name]
        plain = [d for d in mine if "extern" not in d.storage]
        whole = [d for d in plain if not isinstance(d.type, C.ArrayDecl) or d.type.dim is not None]
        definition = next((d for d in mine if d.init is not None), None) or next(iter([*whole, *plain, *mine]))
        if n is definition:
            const = symbol is not None and symbol.const and "extern" not in n.storage
            init = C.InitList([]) if const and n.init is None else n.init  # C++ wants it said
            storage = n.storage if n is mine[0] else []
            return C.Decl(n.name, n.quals, n.align, storage, n.funcspec, n.type, init, n.bitsize, n.coord)
        if mine.index(n) > mine.index(definition):
            return None
        return C.Decl(n.name, n.quals, n.align, ["extern"], n.funcspec, n.type, None, n.bitsize, n.coord)

    def enumerators(self, n: C.Node) -> str:
        """The enums that a declaration defines, by themselves: in a struct, C++ would have them be a part of that."""
        while isinstance(n, (C.Typedef, C.Decl, C.TypeDecl, C.PtrDecl, C.ArrayDecl)):
            n = n.type
        if isinstance(n, (C.Struct, C.Union)):
            return "".join(self.enumerators(m) for m in n.decls or ())
        if not isinstance(n, C.Enum) or n.values is None or id(n) in self.enumerated:
            return ""
        text = super()._generate_struct_union_enum(n, "enum") + ";\n"
        self.enumerated.add(id(n))
        return text

    def top(self, n: C.Node) -> str:
        """A file-scope declaration."""
        before = self.enumerators(n) if self.cplusplus else ""
        if before and isinstance(n, C.Decl) and isinstance(n.type, C.Enum):
            return before.rstrip()
        symbol = self.unit.symbols.get(id(n))
        if self.cplusplus and isinstance(n, C.Decl) and n.name in self.unit.variables:
            once = self.once(n, symbol)
            if once is None:
                return before.rstrip()
            text = self.declaration(once, symbol) if once.init is None or n.init is not None else self.visit(once)
        else:
            text = self.visit(n)
        static = isinstance(n, C.Decl) and "static" in n.storage
        alone = (self.cplusplus or static) and symbol is not None and symbol.const  # maybe the kernel alone has it
        return before + ("__attribute__((unused)) " if alone else "") + text + ";"


def _is_of_its_tag(n: C.Typedef) -> bool:
    """``typedef struct S S``, which C++ takes; of an enum it would not know that the type is a number."""
    inner = n.type.type if isinstance(n.type, C.TypeDecl) else None
    return isinstance(inner, (C.Struct, C.Union)) and inner.name == n.name


def _has_label(statements: tuple[C.Node, ...]) -> bool:
    return any(isinstance(n, C.Label) for s in statements for n in nodes(s))


def _of(n: C.Node, name: str, writable: bool = False) -> C.Node:
    """A declarator, of ``name``. ``writable``: whose object is plain memory, neither const nor volatile."""
    quals = [q for q in getattr(n, "quals", None) or [] if q not in ("const", "volatile") or not writable]
    match n:
        case C.TypeDecl():
            return C.TypeDecl(name, quals, n.align, n.type)
        case C.PtrDecl():
            return C.PtrDecl(quals, _of(n.type, name))
        case C.ArrayDecl():
            return C.ArrayDecl(_of(n.type, name, writable), n.dim, n.dim_quals)
        case C.FuncDecl():
            return C.FuncDecl(n.args, _of(n.type, name))
    return n


def declarations(unit: Unit, functions: tuple[str, ...]) -> Iterator[C.Node]:
    """The file's own types and variables and its declarations of ``functions``, in order."""
    for n in unit.ast.ext:
        if not is_user_file(unit.pre, loc_of(n).file):
            continue
        if isinstance(n, C.FuncDef) and n.decl.name in functions:
            yield n.decl
        if isinstance(n, C.Typedef) or (isinstance(n, C.Decl) and _is_wanted(unit, n, functions)):
            yield n


def _is_wanted(unit: Unit, n: C.Decl, functions: tuple[str, ...]) -> bool:
    if not isinstance(n.type, C.FuncDecl):
        return not _names_others(unit, n, functions)
    return n.name in functions and not (
        n.name in unit.functions and _is_otherwise(unit, n, unit.functions[n.name].node.decl)
    )


def _names_others(unit: Unit, n: C.Decl, functions: tuple[str, ...]) -> bool:
    """Whether a constant's value names functions that are the kernel's alone, as the constant then is."""
    symbol = unit.variables.get(n.name or "")
    if symbol is None or not symbol.const or symbol.decl is None or symbol.decl.init is None:
        return False
    named = (x.name for x in nodes(symbol.decl.init) if isinstance(x, C.ID))
    return any(name in unit.functions and name not in functions for name in named)


def _is_otherwise(unit: Unit, n: C.Decl, definition: C.Decl) -> bool:
    """Whether a prototype of another file gives parameters other types, which no compiler takes in one file."""
    if loc_of(n).file == loc_of(definition).file:
        return False
    here, there = (unit.declarations.type(x.type, unit.scope) for x in (n, definition))
    assert isinstance(here, Function) and isinstance(there, Function)
    return here.params != there.params and bool(here.params) and bool(there.params)


def globals_of(unit: Unit) -> list[Symbol]:
    """The file's mutable globals."""
    return [
        s
        for s in unit.variables.values()
        if not s.const and not s.builtin and "extern" not in (s.decl.storage if s.decl is not None else ())
    ]
