"""Parameters that are no array in C: rows by address (``T **a``), bytes of some type (``void *a``), and arrays whose
rows have a variable length (``T a[n][m]``, ``T (*a)[m]``).

A function is appended to the kernel's file that has arrays in their place, and calls the kernel: every schedule then
takes it as what the user might have written.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace

from pycparser import c_ast as C
from pycparser.c_generator import CGenerator

from ..base import catalogue
from ..base.ctype import Pointer
from ..base.diagnostics import Loc, quoted
from .link import Linked
from .options import DTYPES, Options
from .parse import loc_of
from .preprocess import Source
from .tree import nodes
from .typed import FunctionDef, Unit

_SUFFIX = "_of_arrays"


def original_name(kernel: FunctionDef) -> str:
    """The function that such a function calls; "" of any other."""
    return kernel.name.removesuffix(_SUFFIX) if kernel.name.endswith(_SUFFIX) else ""


def adapted(
    source: Source, linked: Linked, unit: Unit, kernel: FunctionDef, options: Options
) -> tuple[Source, Options] | None:
    """The program with such a function, and options that name it; None where ``options`` has no shapes that ask for
    one. Raises InputError for a dtype of what is no ``void *``."""
    params = _parameters(kernel)
    if kernel.name.endswith(_SUFFIX) or params is None:
        return None
    changed: dict[str, tuple[C.Node, C.Node | None]] = {
        p.name: c for p in params if (c := _adapted(p, options, unit)) is not None
    }
    for n in options.dtypes:
        if n not in changed or changed[n][1]:
            value, expected = f"{(options.shapes[n], options.dtypes[n])}", f"extents: '{n}' is no 'void *'"
            raise catalogue.WRONG_KIND.error(kernel.loc, argument=f"the shape of '{n}'", value=value, expected=expected)
    if not changed or any(p.name == kernel.name for p in params):
        return None
    name = f"{kernel.name}{_SUFFIX}"
    options = replace(options, fn=name, dtypes={})
    if name in unit.functions:  # the source is of one who has done this already
        return source, options
    text = _function(kernel, params, changed, name, _moves_rows(unit, kernel), linked)
    units, number = [*source.units], linked.owner(kernel.name)
    units[number] = replace(units[number], text=f"{units[number].text}\n{text}")
    whole = replace(units[0], others=tuple(units[1:]), pre=None)
    return whole, options


def unknown_rows(unit: Unit, kernel: FunctionDef) -> dict[str, tuple[int | None, ...]]:
    """The extents of the parameters whose rows have a variable length, by name; None where only a call tells one."""
    unknown: dict[str, tuple[int | None, ...]] = {}
    for p in _parameters(kernel) or ():
        t = _resolved(p.type, unit)
        if not isinstance(t, (C.ArrayDecl, C.PtrDecl)) or not isinstance(t.type, C.ArrayDecl):
            continue
        if p.name and _of_variable_rows(t.type, unit):
            unknown[p.name] = (None, *(unit.declarations.constant(n, unit.scope) for n in _extents(t.type)))  # pyright: ignore
    return unknown


def _parameters(kernel: FunctionDef) -> list[C.Decl] | None:
    """None where they are not written as a prototype has them."""
    if not isinstance(kernel.node.decl.type, C.FuncDecl):
        return None
    args = kernel.node.decl.type.args
    params = [p for p in (args.params if args else []) if isinstance(p, C.Decl)]
    return None if kernel.node.param_decls or (args and len(params) != len(args.params)) else params


def _adapted(p: C.Decl, options: Options, unit: Unit) -> tuple[C.Node, C.Node | None] | None:
    """A parameter's type as an array, and the type of a row's address, None where the kernel takes the array."""
    shape, dtypes = options.shapes.get(p.name), options.dtypes
    if not shape:
        return None
    t = _resolved(p.type, unit)
    depth, inner = 0, t
    while isinstance(inner, (C.PtrDecl, C.ArrayDecl)):
        depth, inner = depth + 1, inner.type
    if not isinstance(inner, C.TypeDecl):
        return None
    element = inner
    is_void = isinstance(inner.type, C.IdentifierType) and inner.type.names == ["void"]
    if p.name in dtypes and is_void and depth == 1:
        element = copy.copy(inner)
        element.type = C.IdentifierType([DTYPES[dtypes[p.name]]])
    elif is_void or depth < 2 or depth != len(shape):
        return None
    elif isinstance(t.type, C.ArrayDecl):  # pyright: ignore
        if not _of_variable_rows(t.type, unit):  # pyright: ignore
            return None
    elif depth != 2 or not isinstance(t.type, C.PtrDecl):  # pyright: ignore
        return None
    array: C.Node = element
    for n in reversed(shape):
        array = C.ArrayDecl(array, C.Constant("int", str(n)), [])
    rows = depth == 2 and isinstance(t.type, C.PtrDecl)  # pyright: ignore
    return array, C.PtrDecl([], element) if rows else None


def _of_variable_rows(row: C.ArrayDecl, unit: Unit) -> bool:
    """Whether a row is an array, of arrays perhaps, with an extent that only a call tells."""
    inner: C.Node = row
    while isinstance(inner, C.ArrayDecl):
        inner = inner.type
    extents = _extents(row)
    if not isinstance(inner, C.TypeDecl) or None in extents:
        return False
    return any(unit.declarations.constant(n, unit.scope) is None for n in extents)  # pyright: ignore


def _extents(t: C.Node) -> list[C.Node | None]:
    """Those of the arrays that a type begins with, outermost first."""
    extents: list[C.Node | None] = []
    while isinstance(t, C.ArrayDecl):
        extents.append(t.dim)
        t = t.type
    return extents


def _resolved(t: C.Node, unit: Unit) -> C.Node:
    """A declarator with the pointers and arrays that its typedefs stand for."""
    if isinstance(t, (C.PtrDecl, C.ArrayDecl)):
        t = copy.copy(t)
        t.type = _resolved(t.type, unit)
        return t
    if not isinstance(t, C.TypeDecl) or not isinstance(t.type, C.IdentifierType):
        return t
    definition = next((n for n in unit.ast.ext if isinstance(n, C.Typedef) and [n.name] == t.type.names), None)
    if definition is None or not isinstance(definition.type, (C.PtrDecl, C.ArrayDecl)):
        return t
    meant = _resolved(copy.deepcopy(definition.type), unit)
    inner = meant
    while isinstance(inner, C.ArrayDecl):
        inner = inner.type
    inner.quals = [*(inner.quals or []), *(t.quals or [])]  # pyright: ignore
    return meant


def _moves_rows(unit: Unit, kernel: FunctionDef) -> bool:
    """Whether the kernel may put another address in the place of a row's."""
    for f in (unit.functions[n] for n in unit.reachable(kernel.name)):
        if f.error is not None:
            return True
        for n in nodes(f.node.body):
            match n:
                case C.Assignment(lvalue=C.ArrayRef() | C.UnaryOp() as place):
                    if isinstance(unit.value_type(place), Pointer):
                        return True
                case C.FuncCall(name=C.ID(name=callee), args=C.ExprList(exprs=arguments)) if (
                    callee not in unit.functions
                ):
                    passed = [unit.value_type(a) for a in arguments]
                    if any(isinstance(t, Pointer) and isinstance(t.to, Pointer) for t in passed):
                        return True
                case C.UnaryOp(op="++" | "--" | "p++" | "p--", expr=C.ArrayRef() | C.UnaryOp() as place):
                    if isinstance(unit.value_type(place), Pointer):
                        return True
    return False


def _named(t: C.Node, name: str) -> C.Decl:
    """A declaration of a name with a type."""
    t = copy.deepcopy(t)
    inner = t
    while not isinstance(inner, C.TypeDecl):
        inner = inner.type  # pyright: ignore
    inner.declname = name
    return C.Decl(name, inner.quals, [], [], [], t, None, None)


def _function(
    kernel: FunctionDef,
    params: list[C.Decl],
    changed: Mapping[str, tuple[C.Node, C.Node | None]],
    name: str,
    moves: bool,
    linked: Linked,
) -> str:
    """``moves``: rows may end up in other places, and are copied to where they belong."""

    def text(t: C.Node, name: str = "") -> str:
        return CGenerator().visit(_in_file(_named(t, name), linked))

    declared, types, arguments, before, after = [], [], [], [], []
    names = {p.name for p in params}
    for p in params:
        array, row = changed.get(p.name, (None, None))
        declared.append(_placed(text(p.type if array is None else array, _NAME), p.name, loc_of(p)))
        if row is not None:
            rows, address, copied = f"rows_of_{p.name}", f"{name}_row_of_{p.name}", f"{name}_copy_of_{p.name}"
            while rows in names:
                rows += "_"
            count, length = array.dim.value, array.type.dim.value  # pyright: ignore
            loop = f"for (int c2cu_i = 0; c2cu_i < {count}; c2cu_i++)"
            types.append(f"typedef {text(row, address)};")
            before += [f"{address} {rows}[{count}];", f"{loop} {rows}[c2cu_i] = ({address}){p.name}[c2cu_i];"]
            if moves and "const" not in row.type.quals:  # pyright: ignore
                each = f"{loop} for (int c2cu_j = 0; c2cu_j < {length}; c2cu_j++)"
                types.append(f"typedef {text(array, copied)};")  # pyright: ignore
                after += [
                    f"{copied} copy_of_{rows};",
                    f"{each} copy_of_{rows}[c2cu_i][c2cu_j] = {rows}[c2cu_i][c2cu_j];",
                    f"{each} {p.name}[c2cu_i][c2cu_j] = copy_of_{rows}[c2cu_i][c2cu_j];",
                ]
            arguments.append(rows)
        else:
            arguments.append(p.name if array is None else f"(void *){p.name}")
    returns, callee = kernel.node.decl.type.type, linked.spelled(kernel.name)
    call = f"{callee}({', '.join(arguments)});"
    is_void = (kernel.error is None and not kernel.gives_value) or text(returns).split()[-1:] == ["void"]
    if is_void:
        result, middle = "void", [call, *after]
    else:
        result = f"{name}_result"
        types.append(f"typedef {text(returns, result)};")
        middle = [f"{result} c2cu_result = {call}", *after, "return c2cu_result;"]
    body = " ".join([*before, *middle])
    undefined = "".join(f"#undef {n}\n" for n in dict.fromkeys([callee, *(p.name for p in params)]))
    head = f'\n#line {kernel.loc.line} "{quoted(kernel.loc.file)}"\n'
    types = " ".join(types)
    return f"\n{undefined}{head}{types} {result} {name}({','.join(declared) or 'void'}{head}) {{ {body} }}\n"


_NAME = "c2cu_name"  # for that of a parameter


def _in_file(node: C.Node, linked: Linked) -> C.Node:
    """A declaration with the names that its file has for types, which linking may have changed."""
    for n in nodes(node):
        match n:
            case C.IdentifierType():
                n.names = [linked.spelled(x) for x in n.names]
            case C.Struct() | C.Union() | C.Enum() if n.name:
                n.name = linked.spelled(n.name)
    return node


def _placed(declaration: str, name: str, loc: Loc) -> str:
    """A declaration whose name stands where the user has it, so that messages show his line."""
    before, after = declaration.split(_NAME)
    head, column = f'\n#line {loc.line} "{quoted(loc.file)}"\n', loc.column - 1
    if len(before) <= column:
        return f"{head}{' ' * (column - len(before))}{before}{name}{after}"
    return f"{head}{before}{head}{' ' * column}{name}{after}"
