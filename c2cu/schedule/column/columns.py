"""Column storage: the input dimension appended to every array (thesis, section 4.3), for any C type.

``float D[N][N]`` becomes ``float D[N][N][__P__]``, a struct's leaves become arrays, and each scalar access gets
``[__id__]``; a pointer into column storage is a pointer to such arrays, so that C's own pointer arithmetic is right.
A function is cloned for each combination of storages its pointer parameters come with.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pycparser import c_ast as C

from ...base import catalogue
from ...base.ctype import VOID, Array, CType, Function, Pointer, Scalar, Struct, leaf_element
from ...base.diagnostics import Loc
from ...codegen.alignment import loose_types
from ...codegen.c_printer import CPrinter, base_name, declare, name
from ...frontend.initial import Part
from ...frontend.kernel import KernelProgram
from ...frontend.parse import loc_of
from ...frontend.refuse import refuse_printing
from ...frontend.symbols import Symbol
from ...frontend.tree import nodes
from ...frontend.typed import FunctionDef
from ...lower.lvalues import written

COLUMN, PLAIN = "column", "plain"
Storage = str | None  # None: a null pointer, or nothing known yet


def column(t: CType, width: str = "__P__", loc: Loc | None = None) -> CType:
    """A type with the input dimension, ``width`` inputs wide, appended to each of its leaves."""
    match t:
        case Scalar() if not t.is_wide:
            return Array(t, width)  # type: ignore[arg-type]  # an extent that is a macro
        case Array():
            return Array(column(t.of, width, loc), t.length)
        case Struct(union=False):
            return replace(t, tag=f"{t.tag}__column")
    raise catalogue.COLUMN_TYPE.error(loc, type=t)


def define_column_struct(s: Struct) -> str:
    lines = [f"{base_name(column(s))} {{"]
    lines += [f"    {declare(column(m.type), name(m.name))};" for m in s.members]
    return "\n".join([*lines, "};"])


@dataclass
class Instance:
    """A function as it is for certain storages of its parameters."""

    name: str
    returns: Storage
    head: str = ""
    text: str = ""


class Columns(CPrinter):
    """Prints functions whose globals are in column storage.

    ``names``: how each column object is spelled; ``extra``: the trailing (declaration, argument) pairs of every
    function, ``__id__`` last; ``plain``: spellings of globals that are not in column storage; ``width``: how many
    inputs stand side by side, a macro.
    """

    def __init__(
        self,
        program: KernelProgram,
        names: dict[Symbol, str],
        plain: dict[Symbol, str],
        extra: list[tuple[str, str]],
        width: str = "__P__",
    ):
        refuse_printing(program)
        super().__init__(program.unit)
        self.loose = loose_types(program.unit, program.functions)
        self.program, self.names, self.plain, self.extra = program, names, plain, extra
        self.width = width
        self.instances: dict[tuple[str, tuple[Storage, ...]], Instance] = {}
        self.finished: list[Instance] = []
        self.column_structs: dict[str, Struct] = {}
        self.pointees: dict[Symbol, Storage] = {}
        self.bare: list[C.Node] = []
        self.depth = 0

    # functions

    def instance(self, f: FunctionDef, storages: tuple[Storage, ...]) -> Instance:
        """The clone of ``f`` whose pointer parameters point into ``storages``."""
        key = (f.name, storages)
        if key in self.instances:
            return self.instances[key]
        count = sum(1 for n, _ in self.instances if n == f.name)
        clone = Instance(name(f.name) + (f"__{count + 1}" if count else ""), None)
        self.instances[key] = clone
        outer, self.pointees = self.pointees, {p: s for p, s in zip(f.params, storages)}
        self.infer(f)
        clone.returns = self.returned(f)
        text = self.body(f)
        params = [self.declared(p) for p in f.params] + [d for d, _ in self.extra]
        declarator = f"{clone.name}({', '.join(params)})"
        clone.head = f"__device__ {declare(self.result_type(f, clone), declarator, state=False)}"
        clone.text = f"{clone.head}\n{text}"
        self.pointees = outer
        self.finished.append(clone)
        return clone

    def result_type(self, f: FunctionDef, clone: Instance) -> CType:
        t = f.returns
        if isinstance(t, Pointer) and clone.returns == COLUMN:
            return Pointer(self.columned(t.to), t.const)
        return t

    def columned(self, t: CType, loc: Loc | None = None) -> CType:
        element = leaf_element(t)
        if isinstance(element, Struct):
            self.use_struct(element, loc)
        return column(t, self.width, loc)

    def use_struct(self, s: Struct, loc: Loc | None) -> None:
        for m in s.members:
            inner = leaf_element(m.type)
            if isinstance(inner, Struct):
                self.use_struct(inner, loc)
            if m.anonymous or not isinstance(inner, (Scalar, Struct)) or m.bits is not None:
                raise catalogue.COLUMN_TYPE.error(loc, type=m.type)
        if s.union:
            raise catalogue.COLUMN_TYPE.error(loc, type=s)
        self.column_structs.setdefault(s.tag, s)

    def infer(self, f: FunctionDef) -> None:
        """Find what local pointers point into: a fixpoint over all that is assigned to them."""
        while True:
            before = dict(self.pointees)
            for n in nodes(f.node.body):
                match n:
                    case C.Decl() if n.init is not None and id(n) in self.unit.symbols:
                        symbol = self.unit.symbols[id(n)]
                        if isinstance(symbol.type, Pointer) and not isinstance(n.init, C.InitList):
                            self.bind(symbol, self.pointee(n.init), n)
                    case C.Assignment(op="=") if isinstance(self.unit.types.get(id(n)), Pointer):
                        self.assigned(n)
            if self.pointees == before:
                return

    def assigned(self, n: C.Assignment) -> None:
        storage = self.pointee(n.rvalue)
        if isinstance(n.lvalue, C.ID):
            self.bind(self.unit.symbol(n.lvalue), storage, n)
        elif storage == COLUMN:
            raise catalogue.POINTER_IN_MEMORY.error(loc_of(n), name=written(n.lvalue))

    def bind(self, symbol: Symbol, storage: Storage, n: C.Node) -> None:
        known = self.pointees.get(symbol)
        if known is not None and storage is not None and known != storage:
            raise catalogue.COLUMN_POINTER.error(loc_of(n), name=symbol.name)
        self.pointees[symbol] = known or storage

    def returned(self, f: FunctionDef) -> Storage:
        if not isinstance(f.returns, Pointer):
            return PLAIN
        storages = {self.pointee(n.expr) for n in nodes(f.node.body) if isinstance(n, C.Return) and n.expr} - {None}
        if len(storages) > 1:
            raise catalogue.COLUMN_POINTER.error(f.loc, name=f.name)
        return next(iter(storages), PLAIN)

    # storages

    def place(self, n: C.Node) -> Storage:
        """Where the object that an lvalue designates lives."""
        match n:
            case C.ID():
                return COLUMN if self.unit.symbols.get(id(n)) in self.names else PLAIN
            case C.ArrayRef():
                base = n.name if isinstance(self.unit.value_type(n.name), Pointer) else n.subscript
                return self.pointee(base)
            case C.StructRef():
                return self.place(n.name) if n.type == "." else self.pointee(n.name)
            case C.UnaryOp(op="*"):
                return self.pointee(n.expr)
            case C.TernaryOp():
                return self.agreed(self.place(n.iftrue), self.place(n.iffalse), n)
        return PLAIN

    def pointee(self, n: C.Node) -> Storage:
        """Where a pointer value points."""
        if isinstance(self.unit.types.get(id(n)), Array):
            return self.place(n)
        match n:
            case C.ID():
                symbol = self.unit.symbols.get(id(n))
                return self.pointees.get(symbol) if symbol is not None and symbol not in self.plain else PLAIN
            case C.BinaryOp():
                return self.pointee(n.left if isinstance(self.unit.value_type(n.left), Pointer) else n.right)
            case C.UnaryOp(op="&"):
                return self.place(n.expr)
            case C.UnaryOp(op="*"):
                return PLAIN
            case C.UnaryOp():
                return self.pointee(n.expr)
            case C.Cast():
                return self.cast_pointee(n)
            case C.TernaryOp():
                return self.agreed(self.pointee(n.iftrue), self.pointee(n.iffalse), n)
            case C.FuncCall():
                return self.call_pointee(n)
            case C.Assignment():
                return self.pointee(n.rvalue)
            case C.ExprList():
                return self.pointee(n.exprs[-1])
            case C.Compound():
                return self.pointee(n.block_items[-1])
            case C.Constant() if "string" not in n.type:
                return None
        return PLAIN

    def agreed(self, a: Storage, b: Storage, n: C.Node) -> Storage:
        if a is not None and b is not None and a != b:
            raise catalogue.COLUMN_POINTER.error(loc_of(n), name=written(n))
        return a or b

    def cast_pointee(self, n: C.Cast) -> Storage:
        if not isinstance(self.unit.value_type(n.expr), Pointer):
            return None
        storage = self.pointee(n.expr)
        to, source = self.unit.type(n), self.unit.value_type(n.expr)
        if storage == COLUMN and isinstance(to, Pointer) and isinstance(source, Pointer) and to.to != VOID:
            if source.to == VOID:
                raise catalogue.COLUMN_VOID.error(loc_of(n), name=written(n.expr), type=source)
            if to.to != source.to:
                raise catalogue.OTHER_TYPE.error(loc_of(n), name=written(n), type=source, other=to)
        return storage

    def call_pointee(self, n: C.FuncCall) -> Storage:
        f = self.callee(n)
        return self.instance(f, self.argument_storages(f, n)).returns if f is not None else PLAIN

    def callee(self, n: C.FuncCall) -> FunctionDef | None:
        symbol = self.unit.symbols.get(id(n.name)) if isinstance(n.name, C.ID) else None
        return self.unit.functions.get(symbol.name) if symbol is not None and symbol.kind == "function" else None

    def argument_storages(self, f: FunctionDef, n: C.FuncCall) -> tuple[Storage, ...]:
        args = n.args.exprs if n.args else []
        return tuple(
            (self.pointee(a) or PLAIN) if isinstance(p.type, Pointer) else PLAIN for p, a in zip(f.params, args)
        )

    # printing

    def variable(self, symbol: Symbol) -> str:
        if symbol in self.names:
            return self.names[symbol]
        return self.plain.get(symbol, name(symbol.name))

    def function_address(self, n: C.ID, symbol: Symbol) -> str:
        raise catalogue.INDIRECT_CALL.error(loc_of(n))

    def visit(self, n: C.Node) -> str:
        text = super().visit(n)
        if not isinstance(n, (C.ID, C.ArrayRef, C.StructRef, C.UnaryOp)) or any(n is b for b in self.bare):
            return text
        if isinstance(n, C.UnaryOp) and n.op != "*":
            return text
        if not isinstance(self.unit.types.get(id(n)), Scalar) or self.place(n) != COLUMN:
            return text
        return f"({text})[__id__]" if isinstance(n, C.UnaryOp) else f"{text}[__id__]"

    def unread(self, n: C.Node) -> str:
        """An lvalue's text without the input's subscript: the whole row of inputs."""
        self.bare.append(n)
        text = self.visit(n)
        self.bare.pop()
        return text

    def visit_UnaryOp(self, n: C.UnaryOp) -> str:
        if n.op != "&" or self.place(n.expr) != COLUMN:
            if n.op == "&" and isinstance(self.unit.types.get(id(n.expr)), Pointer) and self.pointee(n.expr) == COLUMN:
                raise catalogue.POINTER_IN_MEMORY.error(loc_of(n), name=written(n.expr))
            return super().visit_UnaryOp(n)
        return f"&{self.unread(n.expr)}"

    def cast(self, t: CType, text: str, n: C.Node) -> str:
        if isinstance(t, Pointer) and self.pointee(n) == COLUMN and t.to != VOID:
            t = Pointer(self.columned(t.to), t.const, t.volatile)
        return super().cast(t, text, n)

    def is_loose(self, n: C.Node) -> bool:
        return super().is_loose(n) and self.place(n) != COLUMN

    def declared(self, symbol: Symbol, constant: bool = True) -> str:
        t = symbol.type
        if isinstance(t, Pointer) and self.pointees.get(symbol) == COLUMN:
            if t.to == VOID:
                raise catalogue.COLUMN_VOID.error(symbol.loc, name=symbol.name, type=t)
            return declare(Pointer(self.columned(t.to), t.const, t.volatile), name(symbol.name))
        if self.has_function(t):
            raise catalogue.INDIRECT_CALL.error(symbol.loc)
        return super().declared(symbol, constant)

    def has_function(self, t: CType, visited: tuple[str, ...] = ()) -> bool:
        """Whether a value of a type holds a function's address."""
        match t:
            case Function():
                return True
            case Pointer():
                return self.has_function(t.to, visited)
            case Array():
                return self.has_function(t.of, visited)
            case Struct() if t.tag not in visited:
                members = self.unit.declarations.with_members(t).members
                return any(self.has_function(m.type, (*visited, t.tag)) for m in members)
        return False

    def braces(self, t: CType, part: Part | None) -> str:
        if isinstance(part, C.Node):
            self.refuse_in_memory(t, part)
        return super().braces(t, part)

    def leaf_values(self, target: str, t: CType, part: Part | None) -> Iterable[str]:
        if isinstance(part, C.Node):
            self.refuse_in_memory(t, part)
        return super().leaf_values(target, t, part)

    def refuse_in_memory(self, t: CType, n: C.Node) -> None:
        """Raise UnsupportedError for what columns hold where plain memory is to hold it."""
        if isinstance(t, Pointer) and self.pointee(n) == COLUMN:
            raise catalogue.POINTER_IN_MEMORY.error(loc_of(n), name=written(n))
        if isinstance(t, Struct) and self.place(n) == COLUMN:
            raise catalogue.STRUCT_BY_VALUE.error(loc_of(n), name=written(n))

    def visit_Decl(self, n: C.Decl, no_type: bool = False) -> str:
        symbol = self.unit.symbols.get(id(n))
        if (
            symbol is None
            or n.init is None
            or not isinstance(symbol.type, Struct)
            or isinstance(n.init, C.InitList)
            or (self.place(n.init) != COLUMN)
        ):
            return super().visit_Decl(n)
        target = name(symbol.name)
        return f"{self.declared(symbol)}; {self.copied(target, PLAIN, self.unread(n.init), COLUMN, symbol.type)}"

    def visit_Assignment(self, n: C.Assignment) -> str:
        t = self.unit.type(n)
        if isinstance(t, Struct):
            return self.struct_assignment(n, t)
        return super().visit_Assignment(n)

    def struct_assignment(self, n: C.Assignment, t: Struct) -> str:
        to, source = self.place(n.lvalue), self.place(n.rvalue)
        if to == source == PLAIN:
            return super().visit_Assignment(n)
        left, right = self.unread(n.lvalue), self.unread(n.rvalue)
        inner = self.copied("__to", to, "__from", source, t)
        return f"do {{ auto &__to = {left}; auto &&__from = {right}; {inner} }} while (0)"

    def copied(self, to: str, a: Storage, source: str, b: Storage, t: CType) -> str:
        """Statements that copy an object leaf by leaf."""
        match t:
            case Scalar():
                return f"{to}{'[__id__]' if a == COLUMN else ''} = {source}{'[__id__]' if b == COLUMN else ''};"
            case Array():
                self.depth += 1
                k = f"__k{self.depth}"
                inner = self.copied(f"{to}[{k}]", a, f"{source}[{k}]", b, t.of)
                self.depth -= 1
                return f"for (int {k} = 0; {k} < {t.length}; {k}++) {{ {inner} }}"
            case Struct():
                t = self.unit.declarations.with_members(t)
                inner = " ".join(
                    self.copied(f"{to}.{name(m.name)}", a, f"{source}.{name(m.name)}", b, m.type) for m in t.members
                )
                return f"{{ {inner} }}"
        raise catalogue.COLUMN_TYPE.error(type=t)

    def visit_FuncCall(self, n: C.FuncCall) -> str:
        f = self.callee(n)
        args = n.args.exprs if n.args else []
        if f is None:
            return self.library_call(n, args)
        for a in args:
            if isinstance(self.unit.types.get(id(a)), Struct) and self.place(a) == COLUMN:
                raise catalogue.STRUCT_BY_VALUE.error(loc_of(a), name=written(a))
        clone = self.instance(f, self.argument_storages(f, n))
        texts = self.passed(args, tuple(p.type for p in f.params)) + [argument for _, argument in self.extra]
        return f"{clone.name}({', '.join(texts)})"

    def library_call(self, n: C.FuncCall, args: list[C.Node]) -> str:
        symbol = self.unit.symbols.get(id(n.name)) if isinstance(n.name, C.ID) else None
        if symbol is None or symbol.kind != "function":
            raise catalogue.INDIRECT_CALL.error(loc_of(n))
        callee = symbol.name
        pointers = [a for a in args if isinstance(self.unit.value_type(a), Pointer)]
        if all(self.pointee(a) != COLUMN for a in pointers):
            return super().visit_FuncCall(n)
        if callee not in ("memcpy", "memmove", "memset"):
            raise catalogue.LIBRARY_FUNCTION.error(loc_of(n), name=callee)
        return self.memory(callee, args, n)

    def memory(self, callee: str, args: list[C.Node], n: C.FuncCall) -> str:
        """memset, memcpy: a loop over elements."""
        t = self.element(args[0])
        lines = [f"unsigned long __n = ({self.visit(args[2])}) / {t.size}", self.elements("__to", args[0], t)]
        if callee == "memset":
            if t.size > 1 and self.unit.constant(args[1]) != 0:
                raise catalogue.MEMSET_VALUE.error(loc_of(n))
            lines.append(f"{t} __value = ({t})({self.visit(args[1])})")
            value = "__value"
        elif callee == "memmove" or self.element(args[1]) != t:
            raise catalogue.LIBRARY_FUNCTION.error(loc_of(n), name=callee)
        else:
            lines.append(self.elements("__from", args[1], t))
            value = f"__from[__k]{self.input_subscript(args[1])}"
        lines.append(
            f"for (unsigned long __k = 0; __k < __n; __k++) __to[__k]{self.input_subscript(args[0])} = {value}"
        )
        return f"do {{ {'; '.join(lines)}; }} while (0)"

    def element(self, n: C.Node) -> Scalar:
        while isinstance(n, C.Cast):
            n = n.expr
        t = self.unit.value_type(n)
        assert isinstance(t, Pointer)
        element = leaf_element(t.to)
        if not isinstance(element, Scalar) or element == VOID:
            raise catalogue.MEMORY_OF_STRUCT.error(loc_of(n))
        return element

    def elements(self, pointer: str, n: C.Node, t: Scalar) -> str:
        """A pointer to the elements at an address."""
        if self.pointee(n) == COLUMN:
            return f"{t} (*{pointer})[{self.width}] = ({t} (*)[{self.width}])({self.visit(n)})"
        return f"{t} *{pointer} = ({t} *)({self.visit(n)})"

    def input_subscript(self, n: C.Node) -> str:
        return "[__id__]" if self.pointee(n) == COLUMN else ""
