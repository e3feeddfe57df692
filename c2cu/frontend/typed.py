"""Typed AST: every name resolved to its symbol, every expression given its C type.

The AST itself stays as pycparser made it; types and symbols are kept beside it, by node.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from pycparser import c_ast as C

from ..base import catalogue, libm, literals
from ..base.ctype import (
    CHAR,
    INT,
    INT128,
    LONG,
    UINT,
    UINT128,
    ULONG,
    USHORT,
    VOID,
    Array,
    CType,
    Function,
    Number,
    Pointer,
    Scalar,
    Struct,
    common,
    complex_of,
    leaf_element,
)
from ..base.diagnostics import Error, Loc, UnsupportedError, did_you_mean
from .attributes import LAYOUT, MEANING, WIDE_MODE, Mark
from .declassify import declassified
from .initial import count_elements, items
from .layouts import HostLayout, layouts, mark_of
from .parse import Parsed, is_user_file, loc_of
from .preprocess import Preprocessed
from .symbols import Declarations, Scope, Symbol, has_qualifier
from .tree import children, ends, nodes
from .unparsed import unparsed

LARGEST = 1 << 31  # extent that comes from values


@dataclass(frozen=True, eq=False)
class FunctionDef:
    """A function with a body. ``error``: what the parser or the typing ran into, raised when the function is needed.
    ``calls``: names of the functions it calls, in order of first call; where it has an error, all that it names.
    ``head``: what is wrong with its parameters, so that it can be no kernel. ``sized``: an extent is no constant, so
    types are right only in what `Unit.sized` makes of it for known values."""

    name: str
    symbol: Symbol
    params: tuple[Symbol, ...]
    node: C.FuncDef
    loc: Loc
    calls: tuple[str, ...]
    error: Error | None = None
    head: Error | None = None
    sized: Error | None = None

    @property
    def returns(self) -> CType:
        assert isinstance(self.symbol.type, Function)
        return self.symbol.type.returns

    @property
    def variadic(self) -> bool:
        """Whether it is declared with '...'."""
        return isinstance(self.symbol.type, Function) and self.symbol.type.variadic

    @property
    def gives_value(self) -> bool:
        """Whether it returns a value: before C89, functions that do not were of type int too."""
        is_read = self.error is None or self.node.body.block_items
        if self.returns == VOID or self.name == "main" or not is_read:
            return self.returns != VOID
        return any(isinstance(n, C.Return) and n.expr is not None for n in nodes(self.node.body))


@dataclass
class Unit:
    """One typed translation unit."""

    pre: Preprocessed
    parsed: Parsed
    declarations: Declarations
    scope: Scope
    variables: dict[str, Symbol] = field(default_factory=dict)  # file-scope variables, in order
    statics: list[Symbol] = field(default_factory=list)  # static locals, in order
    functions: dict[str, FunctionDef] = field(default_factory=dict)
    types: dict[int, CType] = field(default_factory=dict)  # id(expression node) -> type
    symbols: dict[int, Symbol] = field(default_factory=dict)  # id(ID, Decl node) -> symbol
    scopes: dict[int, Scope] = field(default_factory=dict)  # id(Cast, Typename, ... node) -> scope it stands in
    bits: dict[int, int] = field(default_factory=dict)  # id(expression whose value is a bit-field's) -> its width
    declassified: dict[int, C.Node | Error] = field(default_factory=dict)  # id(Pragma node) -> what is no secret from
    # there on, or why that is not known
    always: UnsupportedError | None = None  # what stands in the way of any kernel
    sized: Callable[[FunctionDef, Mapping[str, int]], FunctionDef] = lambda f, values: f  # `_Annotator.sized`

    def doubts(self) -> list[Error]:
        """All that was not understood, and may be no C."""
        skipped = [*self.parsed.lost.values(), *self.parsed.bodies.values()]
        errors = [s.error for s in dict.fromkeys(skipped)]
        errors += [f.error for f in self.functions.values() if f.error is not None]
        return [*errors, *dict.fromkeys(self.declarations.lost.values())]

    @property
    def ast(self) -> C.FileAST:
        return self.parsed.ast

    def initialisers(self) -> list[C.Node]:
        """Of variables that are there before the kernel runs."""
        variables = (*self.variables.values(), *self.statics)
        return [s.decl.init for s in variables if s.decl is not None and s.decl.init is not None]

    def type(self, node: C.Node) -> CType:
        return self.types[id(node)]

    def value_type(self, node: C.Node) -> CType:
        """The type of an expression's value: arrays and functions decayed to pointers."""
        return decay(self.types[id(node)])

    def symbol(self, node: C.Node) -> Symbol:
        return self.symbols[id(node)]

    def constant(self, node: C.Node) -> Number | None:
        return self.declarations.constant(node, self.scopes.get(id(node), self.scope))

    def require_constant(self, node: C.Node) -> int:
        """The value of a constant expression; ParseError where it is none."""
        return int(self.declarations.require(node, self.scopes.get(id(node), self.scope)))

    def require(self, name: str) -> FunctionDef:
        """The function ``name``; raises what its typing ran into."""
        f = self.functions[name]
        if f.error is not None:
            raise f.error
        return f

    def reachable(self, name: str) -> tuple[str, ...]:
        """``name`` and every defined function it may call, callees before callers."""
        order: list[str] = []
        visited: set[str] = set()

        def visit(f: str) -> None:
            if f in visited or f not in self.functions:
                return
            visited.add(f)
            for callee in self.functions[f].calls:
                visit(callee)
            order.append(f)

        visit(name)
        return tuple(order)


def decay(t: CType) -> CType:
    """6.3.2.1: an array becomes a pointer to its first element, a function a pointer to it."""
    match t:
        case Array():
            return Pointer(t.of)
        case Function():
            return Pointer(t)
        case _:
            return t


def typed(parsed: Parsed, pre: Preprocessed) -> Unit:
    """Resolve and type a translation unit. A declaration or function that is not understood is an error of those who
    use it. Raises ParseError for a pragma of c2cu's that is not known."""
    declarations, scope = Declarations(), Scope()
    unit = Unit(pre, parsed, declarations, scope)
    annotator = _Annotator(unit)
    declarations.type_of_expression = annotator.expression
    unit.sized = annotator.sized
    declarations.lost.update((n, unparsed(skipped.error, pre)) for n, skipped in parsed.lost.items())
    if parsed.marked:
        declarations.hosts = layouts(parsed, pre)
    for macro in pre.macros.values():
        scope.names[macro.name] = _macro(macro.name, macro.value, macro.loc)
    for node in parsed.ast.ext:
        annotator.external(node)
    annotator.finish()
    for node in parsed.ast.ext:
        if isinstance(node, C.Pragma) and declassified(node) is not None:
            raise catalogue.OUTSIDE_FUNCTIONS.error(loc_of(node))
    for named in unit.declassified.values():
        if isinstance(named, Error) and named.code == catalogue.PRAGMA_CLAUSE.code:
            raise named
    return unit


def _macro(name: str, value: str, loc: Loc) -> Symbol:
    text = value.replace("(", " ").replace(")", " ").strip()
    sign, body = (-1, text[1:].strip()) if text.startswith("-") else (1, text.lstrip("+ "))
    if "'" in body:
        number, t = literals.character(body)
    else:
        try:
            number, t = literals.integer(body)
        except ValueError:
            number, t = literals.floating(body)
    return Symbol(name, "constant", t, loc, value=t.wrap(sign * number), macro=True)


class _Annotator:
    def __init__(self, unit: Unit):
        self.unit = unit
        self.d = unit.declarations
        self.d.extent_of = lambda n, scope: _integer(self.d.constant(n, _Known(scope)))
        self.named: list[Symbol] = []  # functions and variables named so far in the current definition
        self.named_by: dict[Symbol, tuple[Symbol, ...]] = {}  # those that a variable's initialiser names
        self.names_of: dict[str, tuple[Symbol, ...]] = {}  # those that a function names
        self.words_of: dict[str, frozenset[str]] = {}  # identifiers in a function that is not understood
        self.linked: dict[str, Symbol] = {}  # objects with linkage, each with all its declarations
        self.values: Mapping[str, int] = {}  # of parameters of the function that is typed
        self.constant_names: frozenset[str] = frozenset()  # those of its variables that nothing changes
        self.for_values: dict[Hashable, FunctionDef] = {}
        self.copies: list[C.FuncDef] = []

    # declarations

    def external(self, node: C.Node) -> None:
        mark = mark_of(self.unit.parsed, node) if self.unit.parsed.marked else None
        error = mark and catalogue.LAYOUT_ATTRIBUTE.error(mark.loc, attribute=mark.attribute)
        if mark is not None and error is not None and not isinstance(node, C.FuncDef):
            host = self.d.hosts.get(id(node))
            if not self.d.hosts.keys() & {id(node), *map(id, _tags(node))}:
                return self.lose(node, error)
            assert isinstance(node, (C.Typedef, C.Decl))
            if mark.attribute == WIDE_MODE and isinstance(node, C.Typedef) and isinstance(node.type, C.TypeDecl):
                return self.wide(node)
            if host is not None and mark.kind == MEANING and not _is_struct(node.type):
                return self.opaque(node, host)
        try:
            self.understood(node)
        except Error as e:
            self.lose(node, e)

    def opaque(self, node: C.Typedef | C.Decl, host: HostLayout) -> None:
        """Declare a name of which only the size is known."""
        t, scope, loc = self.d.opaque(node, host), self.unit.scope, loc_of(node)
        if isinstance(node, C.Typedef):
            scope.names[node.name] = Symbol(node.name, "typedef", t, loc)
            return
        const = has_qualifier(node.type, "const")
        storage = "static" if "static" in node.storage else "global"
        symbol = self.one_object(Symbol(node.name, "variable", t, loc, storage, const, decl=node))
        scope.names[node.name] = self.unit.symbols[id(node)] = self.unit.variables[node.name] = symbol

    def wide(self, node: C.Typedef) -> None:
        """Declare an integer type, made one of 128 bits."""
        t = self.d.type(node.type, self.unit.scope)
        wide = UINT128 if isinstance(t, Scalar) and t.kind == "u" else INT128
        self.unit.scope.names[node.name] = Symbol(node.name, "typedef", wide, loc_of(node))

    def lose(self, node: C.Node, error: Error) -> None:
        """The names that a declaration at file scope declares have no meaning that is understood."""
        name = getattr(node, "name", None)
        enumerators = (n.name for n in nodes(node) if isinstance(n, C.Enumerator))
        names = [name or f"{loc_of(node)}", *(n.name for n in _tags(node) if n.name), *enumerators]
        self.d.lost.update((n, error) for n in names)
        if isinstance(node, C.Decl) and name is not None:
            self.unit.scope.names.pop(name, None)
            self.unit.variables.pop(name, None)

    def understood(self, node: C.Node) -> None:
        scope = self.unit.scope
        match node:
            case C.FuncDef():
                self.function(node)
            case C.Typedef():
                self.typedef(node, scope)
            case C.Decl():
                self.declare(node, scope, "static" if "static" in node.storage else "global")
            case C.Pragma() | C.StaticAssert() | C.EmptyStatement() | C.DeclList():
                pass

    def typedef(self, node: C.Typedef, scope: Scope) -> None:
        t, extents = self.d.type(node.type, scope), self.extent_names(node.type, scope)
        scope.names[node.name] = Symbol(node.name, "typedef", t, loc_of(node), extents=extents)

    def declare(self, node: C.Decl, scope: Scope, storage: str) -> None:
        t = self.d.type(node.type, scope)
        if node.name is None:
            return
        element = self.complete(leaf_element(t))
        if isinstance(element, Struct) and not element.complete and element.tag in self.d.lost:
            raise self.d.lost[element.tag]
        loc = loc_of(node)
        builtin = not is_user_file(self.unit.pre, loc.file)
        if isinstance(t, Function):
            known = scope.find(node.name)
            if known is None or known.kind != "function":
                scope.names[node.name] = Symbol(node.name, "function", t, loc, builtin=builtin)
            return
        if isinstance(t, Array) and t.length is None and node.init is not None:
            t = Array(t.of, self.initialiser_length(node.init, t.of, scope))
        if storage == "local" and "static" in node.storage:
            storage = "static-local"
        if storage == "local" and "extern" in node.storage:
            storage = "global"
        known = self.constant_names and storage == "local" and node.init is not None
        symbol = Symbol(
            node.name,
            "variable",
            t,
            loc,
            storage,
            has_qualifier(node.type, "const"),
            self.value_of(node.name, t, node.init, scope) if known else None,
            decl=node,
            builtin=builtin,
            extents=self.extent_names(node.type, scope),
            volatile=has_qualifier(node.type, "volatile"),
        )
        if storage in ("global", "static"):
            symbol = self.one_object(symbol)
            if not builtin:
                self.unit.variables[node.name] = symbol
        if storage == "static-local":
            self.unit.statics.append(symbol)
        scope.names[node.name] = symbol
        self.unit.symbols[id(node)] = symbol
        if node.init is not None:
            before = len(self.named)
            self.initialiser(node.init, scope)
            self.named_by[symbol] = tuple(self.named[before:])
            self.refuse_larger(t, node)

    def refuse_larger(self, t: CType, node: C.Decl) -> None:
        """Refuse an object that its initialiser makes larger than its type: nothing else tells by how much."""
        last = t.members[-1] if isinstance(t, Struct) and t.members else None
        if last is None or not isinstance(last.type, Array) or last.type.length is not None:
            return
        explicit = items(t, node.init, self.unit.require_constant, lambda n: self.unit.types.get(id(n)))
        if any(offset + of.size > t.size for offset, of, _ in explicit):
            what = f"an initialiser of the flexible array member '{last.name}'"
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc_of(node.init), construct=what)

    def one_object(self, new: Symbol) -> Symbol:
        """The symbol of an object with linkage, whatever the number of its declarations: tentative ones, ``extern``
        ones in blocks, and the definition are one symbol, which has the definition's place and the complete type."""
        known = self.linked.setdefault(new.name, new)
        if known is new:
            return new
        first, second = (new, known) if _defines(new) > _defines(known) else (known, new)
        t = first.type
        if isinstance(t, Array) and t.length is None:
            t = second.type
        storage = "static" if "static" in (known.storage, new.storage) else first.storage
        parts = {"type": t, "storage": storage, "loc": first.loc, "decl": first.decl, "extents": first.extents}
        parts["const"], parts["builtin"] = known.const or new.const, known.builtin and new.builtin
        for name, value in parts.items():
            object.__setattr__(known, name, value)
        return known

    def finish(self) -> None:
        """What is known only when every declaration was read: of which functions an initialiser holds the address, and
        that a tentative definition without an extent has one element (6.9.2p5)."""
        for s in self.unit.variables.values():
            if isinstance(s.type, Array) and s.type.length is None and _defines(s):
                object.__setattr__(s, "type", Array(s.type.of, 1))
        names = self.unit.scope.names
        for name, symbols in self.names_of.items():
            symbols += tuple(names[w] for w in sorted(self.words_of.get(name, ())) if w in names and w != name)
            calls = tuple(dict.fromkeys(s.name for s in self.closure(symbols) if s.kind == "function"))
            self.unit.functions[name] = replace(self.unit.functions[name], calls=calls)

    def closure(self, symbols: tuple[Symbol, ...]) -> Iterator[Symbol]:
        """Symbols, and those that the initialisers of variables among them name, in order."""
        known: set[Symbol] = set()
        work = list(reversed(symbols))
        while work:
            s = work.pop()
            if s not in known:
                known.add(s)
                yield s
                work += reversed(self.named_by.get(s, ()))

    def extent_names(self, node: C.Node, scope: Scope) -> tuple[str, ...]:
        names: list[str] = []
        while isinstance(node, C.ArrayDecl):
            known = scope.find(node.dim.name) if isinstance(node.dim, C.ID) else None
            names.append(known.name if known is not None and known.macro else "")
            node = node.type
        if isinstance(node, C.TypeDecl) and isinstance(node.type, C.IdentifierType):
            known = scope.find(" ".join(node.type.names))
            names += known.extents if known is not None and known.kind == "typedef" else ()
        return tuple(names)

    def initialiser_length(self, init: C.Node, of: CType, scope: Scope) -> int:
        whole = init.exprs[0] if isinstance(init, C.InitList) and len(init.exprs) == 1 else init
        if isinstance(whole, C.Constant) and "string" in whole.type and of.size == literals.width(whole.value):
            return len(literals.codes(whole.value, of.size))
        assert isinstance(init, C.InitList)  # else the compiler complains
        return count_elements(
            init, of, lambda node: int(self.d.require(node, scope)), lambda node: self.expression(node, scope)
        )

    def initialiser(self, node: C.Node, scope: Scope) -> None:
        match node:
            case C.InitList():
                for e in node.exprs:
                    self.initialiser(e, scope)
            case C.NamedInitializer():
                for n in node.name:
                    if isinstance(n, C.ArrayDesignator):
                        self.label(n.expr, scope)
                self.initialiser(node.expr, scope)
            case _:
                self.expression(node, scope)

    def label(self, node: C.Node, scope: Scope) -> None:
        for value in dict.fromkeys(ends(node)):
            self.expression(value, scope)

    def function(self, node: C.FuncDef) -> None:
        statics = len(self.unit.statics)
        f = self.definition(node)
        if f.error is not None and f.error.code == catalogue.VARIABLE_EXTENT.code and f.name != "main":
            del self.unit.statics[statics:]
            with self.extents(lambda *_: 1):
                guessed = self.definition(node)
            f = replace(guessed, head=f.head, sized=f.error) if guessed.error is None else f
        if f.symbol.builtin:
            return
        if f.error is not None:
            skipped = self.unit.parsed.bodies.get(f.name)
            self.words_of[f.name] = skipped.words if skipped is not None else _identifiers(node)
        self.names_of[f.name] = tuple(self.named)
        self.unit.functions[f.name] = f

    @contextmanager
    def extents(self, extent_of: Callable[[C.Node, Scope], int | None]) -> Iterator[None]:
        """With what an extent is that is no constant."""
        before, self.d.extent_of = self.d.extent_of, extent_of
        try:
            yield
        finally:
            self.d.extent_of = before

    def sized(self, f: FunctionDef, values: Mapping[str, int]) -> FunctionDef:
        """A function whose extents come from these values of its parameters, typed for them. Raises UnsupportedError
        where others are needed, and for static variables, which all copies would share."""
        key = f.name, *sorted(values.items())
        if key not in self.for_values:
            assert f.sized is not None
            node, named, statics = copy.deepcopy(f.node), self.named, len(self.unit.statics)
            self.values, self.constant_names = values, _unchanged(node)
            typed_again = self.definition(node, f.symbol)
            self.values, self.constant_names, self.named = {}, frozenset(), named
            self.copies.append(node)  # whose nodes have types, by their addresses
            refused = typed_again.error or len(self.unit.statics) > statics or _measures_effects(node)
            del self.unit.statics[statics:]
            if refused:  # as of an extent that is negative: control need not come there
                raise f.sized
            self.for_values[key] = replace(typed_again, calls=f.calls)
        return self.for_values[key]

    def value_of(self, name: str, t: CType, init: C.Node | None, scope: Scope) -> int | None:
        """What an integer variable of the function always is, as far as that is known."""
        if name not in self.constant_names or not isinstance(t, Scalar) or not t.is_integer or t.is_wide:
            return None
        if init is None:
            return int(t.wrap(self.values[name])) if name in self.values else None
        value = self.d.constant(init, _Known(scope))
        return None if value is None else int(t.wrap(value))

    def definition(self, node: C.FuncDef, known: Symbol | None = None) -> FunctionDef:
        """A function, typed. ``known``: what its name stands for, where that is known."""
        decl = node.decl
        loc = loc_of(node)
        scope = Scope(self.unit.scope)
        error: Error | None = None
        head = True
        params: list[Symbol] = []
        self.named = []
        skipped = self.unit.parsed.bodies.get(decl.name)
        try:
            t = known.type if known is not None else self.d.type(decl.type, scope)
            assert isinstance(t, Function)
            is_builtin = not is_user_file(self.unit.pre, loc.file)
            symbol = known or Symbol(decl.name, "function", t, loc, builtin=is_builtin)
            self.unit.scope.names[decl.name] = symbol
            for p in decl.type.args.params if decl.type.args else []:
                if isinstance(p, C.Decl):
                    params.append(self.param(p, scope))
            head = False
            if skipped is not None:
                raise unparsed(skipped.error, self.unit.pre)
            self.refuse_mark(mark_of(self.unit.parsed, node), node)
            _refuse_effects_in_extents(node)
            self.statement(node.body, scope)
        except Error as e:
            error = e
            symbol = self.unit.scope.names.get(decl.name) or Symbol(decl.name, "function", Function(VOID, ()), loc)
            self.unit.scope.names.setdefault(decl.name, symbol)  # so that the error is its own, not its caller's
        return FunctionDef(decl.name, symbol, tuple(params), node, loc, (), error, error if head else None)

    def refuse_mark(self, mark: Mark | None, node: C.FuncDef) -> None:
        """Refuse a mark in a function, but for one of layout where the function defines no type with one."""
        types = (n for n in nodes(node) if isinstance(n, (C.Struct, C.Union, C.Enum)))
        if mark is None or (mark.kind == LAYOUT and not any(_has_body(t) for t in types)):
            return
        error = catalogue.LAYOUT_ATTRIBUTE.error(mark.loc, attribute=mark.attribute)
        if "structor" in mark.attribute:  # it runs before or after any kernel
            self.unit.always = self.unit.always or error
        raise error

    def param(self, node: C.Decl, scope: Scope) -> Symbol:
        written = self.d.written(node, scope)
        t = Declarations.parameter(written, node)
        extents = self.extent_names(node.type, scope)
        const, volatile = (_is_qualified(node.type, written, word) for word in ("const", "volatile"))
        value = self.value_of(node.name, t, None, scope)
        symbol = Symbol(
            node.name, "variable", t, loc_of(node), "param", const, value, node, extents=extents, volatile=volatile
        )
        scope.names[node.name] = symbol
        self.unit.symbols[id(node)] = symbol
        return symbol

    # statements

    def statement(self, node: C.Node | None, scope: Scope) -> None:
        match node:
            case None | C.EmptyStatement() | C.Break() | C.Continue() | C.Goto() | C.StaticAssert():
                pass
            case C.Pragma():
                self.pragma(node, scope)
            case C.Compound():
                inner = Scope(scope)
                for item in node.block_items or []:
                    self.statement(item, inner)
            case C.Decl():
                self.declare(node, scope, "local")
            case C.Typedef():
                self.typedef(node, scope)
            case C.DeclList():
                for d in node.decls:
                    self.statement(d, scope)
            case C.If():
                self.expression(node.cond, scope)
                self.statement(node.iftrue, Scope(scope))
                self.statement(node.iffalse, Scope(scope))
            case C.For():
                inner = Scope(scope)
                self.statement(node.init, inner)
                for e in (node.cond, node.next):
                    if e is not None:
                        self.expression(e, inner)
                self.statement(node.stmt, Scope(inner))
            case C.While() | C.DoWhile() | C.Switch():
                self.expression(node.cond, scope)
                self.statement(node.stmt, Scope(scope))
            case C.Case():
                self.label(node.expr, scope)
                for s in node.stmts or []:
                    self.statement(s, scope)
            case C.Default():
                for s in node.stmts or []:
                    self.statement(s, scope)
            case C.Return():
                if node.expr is not None:
                    self.expression(node.expr, scope)
            case C.Label():
                self.statement(node.stmt, scope)
            case _:
                self.expression(node, scope)

    def pragma(self, node: C.Pragma, scope: Scope) -> None:
        """Only a verdict on secrets needs to know what one declassifies."""
        try:
            named = declassified(node)
            if named is not None:
                self.expression(named, scope)
                self.unit.declassified[id(node)] = named
        except Error as e:
            self.unit.declassified[id(node)] = e

    # expressions

    def expression(self, node: C.Node, scope: Scope) -> CType:
        t = self._expression(node, scope)
        self.unit.types[id(node)] = t
        bits = self.bits(node)
        if bits is not None:
            self.unit.bits[id(node)] = bits
        self.unit.scopes[id(node)] = scope
        return t

    def bits(self, node: C.Node) -> int | None:
        """The width of the bit-field whose value an expression has."""
        match node:
            case C.StructRef():
                base = decay(self.unit.types[id(node.name)])
                struct = self.complete(base.to if isinstance(base, Pointer) else base)
                member = struct.member(node.field.name) if isinstance(struct, Struct) else None
                return member.bits if member is not None else None
            case C.Assignment():
                return self.unit.bits.get(id(node.lvalue))
            case C.UnaryOp(op="++" | "--" | "p++" | "p--"):
                return self.unit.bits.get(id(node.expr))
            case C.ExprList():
                return self.unit.bits.get(id(node.exprs[-1]))
        return None

    def _expression(self, node: C.Node, scope: Scope) -> CType:
        match node:
            case C.Constant():
                if "string" in node.type:
                    size = literals.width(node.value)
                    element = {1: CHAR, 2: USHORT, 4: INT if node.value.startswith("L") else UINT}[size]
                    return Array(element, len(literals.codes(node.value, size)))
                if literals.is_imaginary(node.value):
                    return self.imaginary(node)
                constant = self.d.typed_constant(node, scope)
                assert constant is not None
                return constant[1]
            case C.ID():
                return self.name(node, scope)
            case C.ArrayRef():
                base, index = decay(self.expression(node.name, scope)), decay(self.expression(node.subscript, scope))
                pointer = base if isinstance(base, Pointer) else index
                if not isinstance(pointer, Pointer):
                    raise self.d.why_foreign(base) or catalogue.NOT_SUBSCRIPTABLE.error(loc_of(node))
                return self.complete(pointer.to)
            case C.StructRef():
                return self.member(node, scope)
            case C.UnaryOp():
                return self.unary(node, scope)
            case C.BinaryOp():
                return self.binary(node, scope)
            case C.Assignment():
                left = self.expression(node.lvalue, scope)
                self.expression(node.rvalue, scope)
                return left
            case C.TernaryOp():
                return self.ternary(node, scope)
            case C.Cast():
                self.expression(node.expr, scope)
                t = self.d.type(node.to_type, scope)
                if isinstance(t, (Struct, Array)):
                    raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc_of(node), construct=f"a cast to '{t}'")
                return t
            case C.FuncCall():
                return self.call(node, scope)
            case C.ExprList():
                t: CType = VOID
                for e in node.exprs:
                    t = self.expression(e, scope)
                return decay(t)
            case C.Compound():
                return self.block_value(node, scope)
            case C.CompoundLiteral():
                self.initialiser(node.init, scope)
                t = self.d.type(node.type, scope)
                if isinstance(t, Array) and t.length is None:
                    t = Array(t.of, self.initialiser_length(node.init, t.of, scope))
                return t
            case C.InitList():
                self.initialiser(node, scope)
                return VOID
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc_of(node), construct=_construct(node))

    def imaginary(self, node: C.Constant) -> Scalar:
        """The type of an imaginary number."""
        value = literals.imaginary(node.value)
        if value is None:
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc_of(node), construct="a complex integer")
        self.d.complex = True
        return complex_of(value[1])

    def block_value(self, node: C.Compound, scope: Scope) -> CType:
        """The type of GNU's ``({ ... })``: that of its last statement, where that is an expression."""
        inner = Scope(scope)
        *before, last = node.block_items or [C.EmptyStatement(node.coord)]
        for item in before:
            self.statement(item, inner)
        if isinstance(last, C.Compound):
            return self.expression(last, inner)
        self.statement(last, inner)
        return decay(self.unit.types.get(id(last), VOID))

    def name(self, node: C.ID, scope: Scope) -> CType:
        symbol = scope.find(node.name)
        if symbol is None and node.name in self.d.lost:
            raise self.d.lost[node.name]
        if symbol is None:
            raise catalogue.UNDECLARED.error(loc_of(node), name=node.name)
        self.unit.symbols[id(node)] = symbol
        if symbol.kind in ("function", "variable"):
            self.named.append(symbol)
        return self.complete(symbol.type)

    def complete(self, t: CType) -> CType:
        return self.d.complete(t)

    def member(self, node: C.StructRef, scope: Scope) -> CType:
        base = self.expression(node.name, scope)
        if node.type == "->":
            pointer = decay(base)
            base = pointer.to if isinstance(pointer, Pointer) else pointer
        struct = self.complete(base)
        if isinstance(struct, Struct) and not struct.complete and struct.tag in self.d.lost:
            raise self.d.lost[struct.tag]
        if not isinstance(struct, Struct):
            raise catalogue.NOT_A_STRUCT.error(loc_of(node), member=node.field.name)
        m = struct.member(node.field.name)
        if m is None and struct.foreign and struct.tag in self.d.foreign:
            raise self.d.foreign[struct.tag]
        if m is None:
            raise catalogue.NO_MEMBER.error(
                loc_of(node.field),
                struct=struct,
                member=node.field.name,
                meant=did_you_mean(node.field.name, (m.name for m in struct.members)),
            )
        return self.complete(m.type)

    def unary(self, node: C.UnaryOp, scope: Scope) -> CType:
        if node.op in ("sizeof", "_Alignof"):
            if not isinstance(node.expr, C.Typename):
                self.expression(node.expr, scope)
            return ULONG
        t = self.expression(node.expr, scope)
        match node.op:
            case "*":
                pointer = decay(t)
                if not isinstance(pointer, Pointer):
                    raise catalogue.NOT_A_POINTER.error(loc_of(node))
                return self.complete(pointer.to)
            case "&":
                return Pointer(t)
            case "!":
                return INT
            case "++" | "--" | "p++" | "p--":
                return t
            case "__real" | "__imag":
                number = self.arithmetic(t, node)
                return number.part if number.is_complex else number
            case _:
                return self.promoted(self.arithmetic(t, node), node.expr)

    def arithmetic(self, t: CType, node: C.Node) -> Scalar:
        foreign = self.d.why_foreign(t) if isinstance(t, Struct) else None
        if foreign is not None:
            raise foreign
        if not isinstance(t, Scalar) or t == VOID:
            raise catalogue.NOT_ARITHMETIC.error(loc_of(node), type=t)
        return t

    def binary(self, node: C.BinaryOp, scope: Scope) -> CType:
        a, b = decay(self.expression(node.left, scope)), decay(self.expression(node.right, scope))
        op = node.op
        if op in ("&&", "||", "<", "<=", ">", ">=", "==", "!="):
            return INT
        if op in ("+", "-") and (isinstance(a, Pointer) or isinstance(b, Pointer)):
            if isinstance(a, Pointer) and isinstance(b, Pointer):
                return LONG
            return a if isinstance(a, Pointer) else b
        x = self.promoted(self.arithmetic(a, node.left), node.left)
        y = self.promoted(self.arithmetic(b, node.right), node.right)
        return x if op in ("<<", ">>") else common(x, y)

    def promoted(self, t: Scalar, node: C.Node) -> Scalar:
        """The type of an operand after promotion: that of a bit-field goes by its width, 6.3.1.1p2."""
        bits = self.unit.bits.get(id(node), t.bits)
        if bits > INT.bits and bits != t.bits:  # gcc computes in as many bits
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(
                loc_of(node), construct=f"arithmetic on a bit-field of {bits} bits"
            )
        narrow = bits < INT.bits or (bits == INT.bits and t.kind == "i")
        return (INT if narrow else UINT if bits == INT.bits else t) if t.is_integer else t

    def ternary(self, node: C.TernaryOp, scope: Scope) -> CType:
        self.expression(node.cond, scope)
        a, b = decay(self.expression(node.iftrue, scope)), decay(self.expression(node.iffalse, scope))
        if isinstance(a, Scalar) and isinstance(b, Scalar) and VOID not in (a, b):
            return common(self.promoted(a, node.iftrue), self.promoted(b, node.iffalse))
        if isinstance(a, Pointer) and isinstance(b, Pointer) and self.is_null(node.iftrue, scope):
            return b
        if isinstance(a, Pointer) and isinstance(b, Pointer) and b.to == VOID and not self.is_null(node.iffalse, scope):
            return b
        return b if isinstance(a, Scalar) and isinstance(b, Pointer) else a

    def is_null(self, node: C.Node, scope: Scope) -> bool:
        """Whether an expression is a null pointer constant, 6.3.2.3p3."""
        if isinstance(node, C.Cast) and self.unit.types.get(id(node)) == Pointer(VOID):
            node = node.expr
        return self.d.constant(node, scope) == 0

    def call(self, node: C.FuncCall, scope: Scope) -> CType:
        if isinstance(node.name, C.ID) and node.name.name in ("asm", "__asm", "__asm__"):
            raise catalogue.ASSEMBLER.error(loc_of(node))
        if isinstance(node.name, C.ID) and scope.find(node.name.name) is None and node.name.name not in self.d.lost:
            name = node.name.name
            known = name.startswith("__builtin_") or name in libm.FUNCTIONS or name in libm.COMPLEX
            t = libm.builtin(name) if known else Function(INT, ())
            implicit = Symbol(name, "function", t, loc_of(node), builtin=known, implicit=not known)
            self.unit.scope.names[name] = implicit
        callee = decay(self.expression(node.name, scope))
        for a in node.args.exprs if node.args else []:
            if isinstance(a, C.Typename):  # as va_arg has one
                raise catalogue.VARIADIC.error(loc_of(node))
            self.expression(a, scope)
        if isinstance(node.name, C.ID) and node.name.name == "__builtin_complex" and node.args:
            return self.made_complex(node.args.exprs)
        function = callee.to if isinstance(callee, Pointer) else callee
        if not isinstance(function, Function):
            raise catalogue.NOT_A_FUNCTION.error(loc_of(node))
        return self.complete(function.returns)

    def made_complex(self, parts: list[C.Node]) -> Scalar:
        """The type of ``__builtin_complex(x, y)``, whose arguments have one type."""
        self.d.complex = True
        return complex_of(self.arithmetic(self.unit.types[id(parts[0])], parts[0]))


def _defines(s: Symbol) -> int:
    """Of a declaration of an object with linkage: 2 with an initialiser, 1 where it is tentative, 0 otherwise."""
    assert s.decl is not None
    return 2 if s.decl.init is not None else int("extern" not in s.decl.storage)


def _is_struct(t: C.Node) -> bool:
    """Whether a declarator is that of a struct or union that is defined there."""
    return isinstance(t, (C.Struct, C.Union)) or (isinstance(t, C.TypeDecl) and _is_struct(t.type))


def _tags(node: C.Node) -> Iterator[C.Struct | C.Union]:
    """The structs and unions that a declaration defines."""
    yield from (n for n in nodes(node) if isinstance(n, (C.Struct, C.Union)) and n.decls is not None)


def _has_body(t: C.Struct | C.Union | C.Enum) -> bool:
    return (t.values if isinstance(t, C.Enum) else t.decls) is not None


def _refuse_effects_in_extents(node: C.Node) -> None:
    """An extent is evaluated where control passes its declarator, 6.7.6.2p5: nothing that follows the C does that."""
    for n in nodes(node):
        if isinstance(n, C.ArrayDecl) and n.dim is not None and _has_effects(n.dim):
            raise catalogue.VARIABLE_EXTENT.error(loc_of(n.dim))


def _has_effects(n: C.Node) -> bool:
    match n:
        case C.UnaryOp(op="sizeof" | "_Alignof"):
            return False
        case C.UnaryOp(op="++" | "--" | "p++" | "p--") | C.Assignment():
            return True
        case C.FuncCall(name=C.ID(name=name)) if not name.startswith("__builtin_"):
            return True
    return any(map(_has_effects, children(n)))


def _integer(value: Number | None) -> int | None:
    return int(value) if value is not None and 0 <= value <= LARGEST else None


def _measures_effects(f: C.FuncDef) -> bool:
    """Whether a ``sizeof`` has effects: C evaluates it where the type has a variable length, 6.5.3.4p2."""
    measured = (n.expr for n in nodes(f.body) if isinstance(n, C.UnaryOp) and n.op == "sizeof")
    return any(_has_effects(e) for e in measured if not isinstance(e, C.Typename))


class _Known(Scope):
    """A scope in which variables whose value is known are constants."""

    def __init__(self, of: Scope):
        super().__init__()
        self.of = of

    def _outwards(self) -> Iterator[Scope]:
        return self.of._outwards()

    def find(self, name: str) -> Symbol | None:
        s = self.of.find(name)
        return s if s is None or s.value is None else replace(s, kind="constant")


def _unchanged(f: C.FuncDef) -> frozenset[str]:
    """The names in a function that are never assigned to, stepped, or have their address taken."""
    changed: set[str] = set()
    for n in nodes(f.body):
        match n:
            case C.Assignment(lvalue=C.ID(name=name)):
                changed.add(name)
            case C.UnaryOp(op="++" | "--" | "p++" | "p--" | "&", expr=C.ID(name=name)):
                changed.add(name)
    return frozenset(n.name for n in nodes(f) if isinstance(n, C.Decl) and n.name) - changed


def _identifiers(node: C.Node) -> frozenset[str]:
    return frozenset(n.name for n in nodes(node) if isinstance(n, C.ID))


def _construct(node: C.Node) -> str:
    names = {"GenericSelection": "_Generic", "Label": "a label"}
    return names.get(type(node).__name__, f"this construct ({type(node).__name__})")


def _is_qualified(node: C.Node, written: CType, word: str) -> bool:
    """Whether a parameter itself is const or volatile, 6.7.6.3p7: of an array, words in its brackets say so, and those
    before its elements are about these."""
    if not isinstance(written, Array):
        return has_qualifier(node, word)
    return isinstance(node, C.ArrayDecl) and word in node.dim_quals
