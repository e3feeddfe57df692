"""Typed AST: every name resolved to its symbol, every expression given its C type.

The AST itself stays as pycparser made it; types and symbols are kept beside it, by node.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pycparser import c_ast as C

from ..base import catalogue, libm, literals
from ..base.ctype import CHAR, INT, LONG, ULONG, VOID, Array, CType, Function, Pointer, Scalar, Struct, common, promote
from ..base.diagnostics import Error, Loc, did_you_mean
from .initial import count_elements
from .parse import is_user_file, loc_of
from .preprocess import Preprocessed
from .symbols import Declarations, Scope, Symbol, has_qualifier


@dataclass(frozen=True, eq=False)
class FunctionDef:
    """A function with a body. ``error``: what its typing ran into, raised when the function is needed."""

    name: str
    symbol: Symbol
    params: tuple[Symbol, ...]
    node: C.FuncDef
    loc: Loc
    calls: tuple[str, ...]  # names of the functions it calls, in order of first call
    error: Error | None = None

    @property
    def returns(self) -> CType:
        assert isinstance(self.symbol.type, Function)
        return self.symbol.type.returns


@dataclass
class Unit:
    """One typed translation unit."""

    pre: Preprocessed
    ast: C.FileAST
    declarations: Declarations
    scope: Scope
    variables: dict[str, Symbol] = field(default_factory=dict)  # file-scope variables, in order
    statics: list[Symbol] = field(default_factory=list)  # static locals, in order
    functions: dict[str, FunctionDef] = field(default_factory=dict)
    types: dict[int, CType] = field(default_factory=dict)  # id(expression node) -> type
    symbols: dict[int, Symbol] = field(default_factory=dict)  # id(ID, Decl node) -> symbol
    scopes: dict[int, Scope] = field(default_factory=dict)  # id(Cast, Typename, ... node) -> scope it stands in

    def type(self, node: C.Node) -> CType:
        return self.types[id(node)]

    def value_type(self, node: C.Node) -> CType:
        """The type of an expression's value: arrays and functions decayed to pointers."""
        return decay(self.types[id(node)])

    def symbol(self, node: C.Node) -> Symbol:
        return self.symbols[id(node)]

    def constant(self, node: C.Node) -> int | float | None:
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


def typed(ast: C.FileAST, pre: Preprocessed) -> Unit:
    """Resolve and type a translation unit. Raises ParseError for names and types that do not work at file scope."""
    declarations, scope = Declarations(), Scope()
    unit = Unit(pre, ast, declarations, scope)
    annotator = _Annotator(unit)
    declarations.type_of_expression = annotator.expression
    for macro in pre.macros.values():
        scope.names[macro.name] = _macro(macro.name, macro.value, macro.loc)
    for node in ast.ext:
        annotator.external(node)
    return unit


def _macro(name: str, value: str, loc: Loc) -> Symbol:
    text = value.replace("(", " ").replace(")", " ").strip()
    sign, body = (-1, text[1:].strip()) if text.startswith("-") else (1, text.lstrip("+ "))
    if "'" in body:
        number, t = literals.character(body), INT
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
        self.calls: list[str] = []  # functions named so far in the current definition
        self.named_by: dict[Symbol, tuple[str, ...]] = {}  # functions that a variable's initialiser names

    # declarations

    def external(self, node: C.Node) -> None:
        scope = self.unit.scope
        match node:
            case C.FuncDef():
                self.function(node)
            case C.Typedef():
                t = self.d.type(node.type, scope)
                scope.names[node.name] = Symbol(node.name, "typedef", t, loc_of(node))
            case C.Decl():
                self.declare(node, scope, "static" if "static" in node.storage else "global")
            case C.Pragma() | C.StaticAssert() | C.EmptyStatement() | C.DeclList():
                pass

    def declare(self, node: C.Decl, scope: Scope, storage: str) -> None:
        t = self.d.type(node.type, scope)
        if node.name is None:
            return
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
        symbol = Symbol(
            node.name,
            "variable",
            t,
            loc,
            storage,
            has_qualifier(node.type, "const"),
            decl=node,
            builtin=builtin,
            extents=self.extent_names(node.type, scope),
            volatile=has_qualifier(node.type, "volatile"),
        )
        if storage in ("global", "static"):
            symbol = self.merged(symbol)
            if not builtin:
                self.unit.variables[node.name] = symbol
        if storage == "static-local":
            self.unit.statics.append(symbol)
        scope.names[node.name] = symbol
        self.unit.symbols[id(node)] = symbol
        if node.init is not None:
            before = len(self.calls)
            self.initialiser(node.init, scope)
            self.named_by[symbol] = tuple(self.calls[before:])

    def merged(self, symbol: Symbol) -> Symbol:
        """A tentative definition or ``extern`` declaration gives way to the one with the initialiser."""
        known = self.unit.variables.get(symbol.name)
        if known is None or known.decl is None or known.decl.init is None:
            return symbol
        return known

    def extent_names(self, node: C.Node, scope: Scope) -> tuple[str, ...]:
        names: list[str] = []
        while isinstance(node, C.ArrayDecl):
            known = scope.find(node.dim.name) if isinstance(node.dim, C.ID) else None
            names.append(known.name if known is not None and known.macro else "")
            node = node.type
        return tuple(names)

    def initialiser_length(self, init: C.Node, of: CType, scope: Scope) -> int:
        if isinstance(init, C.Constant):
            return len(literals.string(init.value)) + 1
        assert isinstance(init, C.InitList)  # else the compiler complains
        if len(init.exprs) == 1 and isinstance(init.exprs[0], C.Constant) and "string" in init.exprs[0].type:
            return len(literals.string(init.exprs[0].value)) + 1
        return count_elements(init, of, lambda node: int(self.d.require(node, scope)))

    def initialiser(self, node: C.Node, scope: Scope) -> None:
        match node:
            case C.InitList():
                for e in node.exprs:
                    self.initialiser(e, scope)
            case C.NamedInitializer():
                for n in node.name:
                    if isinstance(n, C.ArrayDesignator):
                        self.expression(n.expr, scope)
                self.initialiser(node.expr, scope)
            case _:
                self.expression(node, scope)

    def function(self, node: C.FuncDef) -> None:
        decl = node.decl
        loc = loc_of(node)
        scope = Scope(self.unit.scope)
        error: Error | None = None
        params: list[Symbol] = []
        self.calls = []
        try:
            t = self.d.type(decl.type, scope)
            assert isinstance(t, Function)
            symbol = Symbol(decl.name, "function", t, loc, builtin=not is_user_file(self.unit.pre, loc.file))
            self.unit.scope.names[decl.name] = symbol
            if node.param_decls:
                raise catalogue.OLD_STYLE.error(loc, name=decl.name)
            for p in decl.type.args.params if decl.type.args else []:
                if isinstance(p, C.Decl):
                    params.append(self.param(p, scope))
            self.statement(node.body, scope)
        except Error as e:
            error = e
            symbol = self.unit.scope.names.get(decl.name) or Symbol(decl.name, "function", Function(VOID, ()), loc)
            self.unit.scope.names.setdefault(decl.name, symbol)  # so that the error is its own, not its caller's
        calls = tuple(dict.fromkeys(self.calls))
        if symbol.builtin:
            return
        self.unit.functions[decl.name] = FunctionDef(decl.name, symbol, tuple(params), node, loc, calls, error)

    def param(self, node: C.Decl, scope: Scope) -> Symbol:
        written = self.d.type(node.type, scope)
        t = Declarations.parameter(written, node)
        extents = self.extent_names(node.type, scope)
        const, volatile = has_qualifier(node.type, "const"), has_qualifier(node.type, "volatile")
        symbol = Symbol(
            node.name, "variable", t, loc_of(node), "param", const, decl=node, extents=extents, volatile=volatile
        )
        scope.names[node.name] = symbol
        self.unit.symbols[id(node)] = symbol
        return symbol

    # statements

    def statement(self, node: C.Node | None, scope: Scope) -> None:
        match node:
            case None | C.EmptyStatement() | C.Break() | C.Continue() | C.Pragma() | C.Goto() | C.StaticAssert():
                pass
            case C.Compound():
                inner = Scope(scope)
                for item in node.block_items or []:
                    self.statement(item, inner)
            case C.Decl():
                self.declare(node, scope, "local")
            case C.Typedef():
                t = self.d.type(node.type, scope)
                scope.names[node.name] = Symbol(node.name, "typedef", t, loc_of(node))
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
                self.expression(node.expr, scope)
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

    # expressions

    def expression(self, node: C.Node, scope: Scope) -> CType:
        t = self._expression(node, scope)
        self.unit.types[id(node)] = t
        self.unit.scopes[id(node)] = scope
        return t

    def _expression(self, node: C.Node, scope: Scope) -> CType:
        match node:
            case C.Constant():
                if "string" in node.type:
                    return Array(CHAR, len(literals.string(node.value)) + 1)
                constant = self.d.typed_constant(node, scope)
                assert constant is not None
                return constant[1]
            case C.ID():
                return self.name(node, scope)
            case C.ArrayRef():
                base, index = decay(self.expression(node.name, scope)), decay(self.expression(node.subscript, scope))
                pointer = base if isinstance(base, Pointer) else index
                if not isinstance(pointer, Pointer):
                    raise catalogue.NOT_SUBSCRIPTABLE.error(loc_of(node))
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
                return self.d.type(node.to_type, scope)
            case C.FuncCall():
                return self.call(node, scope)
            case C.ExprList():
                t: CType = VOID
                for e in node.exprs:
                    t = self.expression(e, scope)
                return t
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

    def name(self, node: C.ID, scope: Scope) -> CType:
        symbol = scope.find(node.name)
        if symbol is None:
            raise catalogue.UNDECLARED.error(loc_of(node), name=node.name)
        self.unit.symbols[id(node)] = symbol
        if symbol.kind == "function":
            self.calls.append(node.name)
        self.calls += self.named_by.get(symbol, ())
        return self.complete(symbol.type)

    def complete(self, t: CType) -> CType:
        return self.d.structs.get(t.tag, t) if isinstance(t, Struct) else t

    def member(self, node: C.StructRef, scope: Scope) -> CType:
        base = self.expression(node.name, scope)
        if node.type == "->":
            pointer = decay(base)
            base = pointer.to if isinstance(pointer, Pointer) else pointer
        struct = self.complete(base)
        if not isinstance(struct, Struct):
            raise catalogue.NOT_A_STRUCT.error(loc_of(node), member=node.field.name)
        m = struct.member(node.field.name)
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
            case _:
                return promote(self.arithmetic(t, node))

    def arithmetic(self, t: CType, node: C.Node) -> Scalar:
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
        x, y = self.arithmetic(a, node.left), self.arithmetic(b, node.right)
        return promote(x) if op in ("<<", ">>") else common(x, y)

    def ternary(self, node: C.TernaryOp, scope: Scope) -> CType:
        self.expression(node.cond, scope)
        a, b = decay(self.expression(node.iftrue, scope)), decay(self.expression(node.iffalse, scope))
        if isinstance(a, Scalar) and isinstance(b, Scalar) and VOID not in (a, b):
            return common(a, b)
        return b if isinstance(a, Scalar) and isinstance(b, Pointer) else a

    def call(self, node: C.FuncCall, scope: Scope) -> CType:
        if isinstance(node.name, C.ID) and node.name.name in ("asm", "__asm", "__asm__"):
            raise catalogue.ASSEMBLER.error(loc_of(node))
        if isinstance(node.name, C.ID) and scope.find(node.name.name) is None:
            if not node.name.name.startswith("__builtin_"):
                raise catalogue.UNDECLARED_FUNCTION.error(loc_of(node), name=node.name.name)
            builtin = Symbol(node.name.name, "function", libm.builtin(node.name.name), loc_of(node), builtin=True)
            self.unit.scope.names[node.name.name] = builtin
        callee = decay(self.expression(node.name, scope))
        for a in node.args.exprs if node.args else []:
            self.expression(a, scope)
        function = callee.to if isinstance(callee, Pointer) else callee
        if not isinstance(function, Function):
            raise catalogue.NOT_A_FUNCTION.error(loc_of(node))
        return self.complete(function.returns)


def _construct(node: C.Node) -> str:
    names = {"GenericSelection": "_Generic", "Compound": "a statement as an expression", "Label": "a label"}
    return names.get(type(node).__name__, f"this construct ({type(node).__name__})")
