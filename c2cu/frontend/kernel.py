"""The program model: which function is the kernel, and which C variables go in and out: its parameters.

See "Program model" of docs/language.md for the rules in a user's words.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import LONG, UCHAR, VOID, Array, CType, Function, Number, Pointer, Struct
from ..base.diagnostics import Error, Loc, Note, UnsupportedError, did_you_mean
from .parse import loc_of
from .sizes import sizing
from .symbols import Symbol
from .tree import nodes
from .typed import FunctionDef, Unit

LISTED = 16  # names in a message, where there are more


@dataclass(frozen=True, eq=False)
class Parameter:
    """A C variable that goes into the kernel, comes out of it, or both.

    ``kind``: global, param or return. ``type`` has every extent bound: a ``T *a`` parameter is the array it points
    to; an extent that nothing has told yet is None. ``shared``: one copy for all inputs. ``symbol`` is None for
    the returned value.
    """

    name: str
    kind: str
    type: CType
    symbol: Symbol | None
    shared: bool
    loc: Loc

    @property
    def is_open_struct(self) -> bool:
        """Whether it is one struct because nothing says that the pointer leads to several."""
        pointer = self.symbol is not None and isinstance(self.symbol.type, Pointer)
        return self.kind == "param" and pointer and isinstance(self.type, Struct)

    @property
    def by_value(self) -> bool:
        """Whether the function has a copy of its own: what it writes there nobody sees."""
        return self.kind == "param" and self.symbol is not None and not isinstance(self.symbol.type, Pointer)

    @property
    def points_to_const(self) -> bool:
        """Whether it is declared as a pointer to what it does not change."""
        declared = self.symbol.decl if self.kind == "param" and self.symbol is not None else None
        declarator = declared.type if declared is not None else None
        pointed = declarator.type if isinstance(declarator, (C.PtrDecl, C.ArrayDecl)) else None
        return isinstance(pointed, C.TypeDecl) and "const" in pointed.quals


@dataclass(frozen=True, eq=False)
class KernelProgram:
    """``functions``: the kernel and all it calls, callees first. ``call``: the kernel's call in ``main``, if any.
    ``constants``: const globals the kernel touches, whose values are in the text. ``obstacle``: why the program only
    runs as its own text, which nothing prints; ``hidden``: why nothing analyses it either. ``followed``: every function
    is typed; else ``parameters`` has all mutable globals, as nobody knows which of them the kernel touches.
    ``values``: of parameters that one number for all inputs is known of, and some object's size comes from. ``judged``:
    it is lowered for a verdict on secrets, which ``#pragma c2cu declassify`` matters to. ``given``: globals that a call
    brings or asks for although they need not exist (`ir.nodes.Kernel.begun`). ``at_home``: it will run beside this
    machine's C library, whose functions may be called already."""

    unit: Unit
    kernel: FunctionDef
    functions: tuple[FunctionDef, ...]
    parameters: tuple[Parameter, ...]
    constants: tuple[Symbol, ...]
    call: C.FuncCall | None = None
    lengths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    obstacle: UnsupportedError | None = None
    hidden: UnsupportedError | None = None
    followed: bool = True
    values: Mapping[str, int] = field(default_factory=dict)
    judged: bool = False
    given: frozenset[str] = frozenset()
    at_home: bool = False

    @property
    def declassified(self) -> tuple[C.Node | Error, ...]:
        """What ends being a secret in the functions that it reaches, in their order, or why that is not known."""
        known = self.unit.declassified
        bodies = (f.node.body for f in self.functions if f.error is None and known)
        return tuple(known[id(n)] for body in bodies for n in nodes(body) if id(n) in known)

    def require_text(self) -> None:
        """Raises UnsupportedError where there is an obstacle: for schedules that print the program anew."""
        if self.obstacle is not None:
            raise self.obstacle


def kernel_program(
    unit: Unit,
    fn: str | None = None,
    shared: tuple[str, ...] = (),
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    unwritten: tuple[str, ...] = (),
    values: Mapping[str, int | float] | None = None,
) -> KernelProgram:
    """Find the kernel and its parameters.

    ``shapes``: the shape of one input for each array that is known so far; ``unwritten``: globals that are
    `Symbol.unwritten`; ``values``: of parameters that are one number for all inputs. Raises ParseError where no kernel
    or several are found, UnsupportedError for what no schedule can take, InputError for unknown shared names.
    """
    kernel, call, pragma_shared = chosen_kernel(unit, fn)
    if kernel.head is not None:
        raise kernel.head
    if fn is not None and (call is None or _callee(call) != fn):
        call = _call_in_main(unit, fn)
    elif call is None:
        call = _call_in_main(unit, kernel.name)
    sizes = _size_values(unit, kernel, values or {})
    if kernel.sized is not None and sizes:
        with contextlib.suppress(UnsupportedError):  # something else stands in the way, which is said later
            kernel = unit.sized(kernel, sizes)
    functions = tuple(kernel if f == kernel.name else unit.functions[f] for f in unit.reachable(kernel.name))
    followed = all(f.error is None for f in functions)
    names = tuple(shared) + pragma_shared
    named = tuple(touched(unit, functions) if followed else _defined(unit))
    for s in named:
        if s.name in unwritten and s.storage != "static-local":
            object.__setattr__(s, "unwritten", True)
    known = {s.name for s in named} | {p.name for p in kernel.params} | set(unit.variables)
    for name in names:
        if name not in known:
            raise catalogue.UNKNOWN_VARIABLE.error(
                kernel.loc, role="variable", name=name, meant=did_you_mean(name, known), known=sorted(known)
            )
    parameters = tuple(_parameters(unit, kernel, named, names, shapes or {}, call))
    constants = tuple(s for s in named if s.is_constant and s.name not in names)
    return KernelProgram(unit, kernel, functions, parameters, constants, call, followed=followed, values=sizes)


def _size_values(unit: Unit, kernel: FunctionDef, values: Mapping[str, int | float]) -> dict[str, int]:
    """Those of the values of parameters that some object's size comes from."""
    names = sizing(unit, kernel) if values else frozenset()
    return {n: v for n, v in values.items() if n in names and isinstance(v, int)}


# the kernel


def chosen_kernel(unit: Unit, fn: str | None) -> tuple[FunctionDef, C.FuncCall | None, tuple[str, ...]]:
    """The kernel; its call after ``#pragma kernel``, and the names that this shares. Raises ParseError where no kernel
    or several are found."""
    call, shared = _pragma_call(unit)
    marked, skipped_shared = _skipped_pragma(unit)
    return _kernel(unit, fn or marked, call), call, shared + skipped_shared


def _callee(call: C.FuncCall) -> str:
    return call.name.name if isinstance(call.name, C.ID) else ""


def _pragma_call(unit: Unit) -> tuple[C.FuncCall | None, tuple[str, ...]]:
    """The call after ``#pragma kernel`` in main, and the names of its ``shared(...)`` clause."""
    main = unit.functions.get("main")
    if main is None:
        return None, ()
    marked: list[tuple[C.FuncCall, tuple[str, ...]]] = []
    for items in (n.block_items for n in nodes(main.node.body) if isinstance(n, C.Compound) and n.block_items):
        for i, item in enumerate(items):
            if not isinstance(item, C.Pragma):
                continue
            word = "".join(item.string.split("(")[0].split()[:1])
            if word == "kernel":
                marked.append(_marked(unit, items[i + 1 :], item))
            elif difflib.get_close_matches(word, ["kernel"], 1, 0.75):
                raise catalogue.PRAGMA_MISSPELT.error(loc_of(item), word=word)
    if len(marked) > 1:
        raise catalogue.TWO_PRAGMAS.error(loc_of(marked[1][0]), (Note("the first", loc_of(marked[0][0])),))
    return marked[0] if marked else (None, ())


def _skipped_pragma(unit: Unit) -> tuple[str | None, tuple[str, ...]]:
    """The same where the parser did not take main: the kernel's name, and the names of the clause."""
    main = unit.parsed.bodies.get("main")
    m = main and re.search(
        r"^[ \t]*#\s*pragma\s+kernel\b(.*)\n(?:\s*#.*\n)*\s*(?:[\w\s*.\[\]]*=\s*)?(\w+)\s*\(", main.text, re.M
    )
    if not m:
        return None, ()
    names = re.fullmatch(r"\s*shared\s*\((.*)\)\s*", m[1])
    return m[2], tuple(n.strip() for n in names[1].split(",")) if names else ()


def _marked(unit: Unit, rest: list[C.Node], pragma: C.Pragma) -> tuple[C.FuncCall, tuple[str, ...]]:
    words = pragma.string[len("kernel") :].strip()
    names: tuple[str, ...] = ()
    if words:
        if not (words.startswith("shared") and words.endswith(")") and "(" in words):
            raise catalogue.PRAGMA_CLAUSE.error(
                loc_of(pragma), words=f"kernel {words}", right="'#pragma kernel' or '#pragma kernel shared(name, ...)'"
            )
        names = tuple(n.strip() for n in words[words.index("(") + 1 : -1].split(",") if n.strip())
    following = next((s for s in rest if not isinstance(s, C.Pragma)), None)
    call = _call_of(following)
    if call is None or _callee(call) not in unit.functions:
        raise catalogue.PRAGMA_WITHOUT_CALL.error(loc_of(following) if following is not None else loc_of(pragma))
    return call, names


def _call_of(s: C.Node | None) -> C.FuncCall | None:
    match s:
        case C.FuncCall():
            return s
        case C.Assignment(rvalue=C.FuncCall() as call):
            return call
        case C.Decl(init=C.FuncCall() as call):
            return call
    return None


def _call_in_main(unit: Unit, name: str) -> C.FuncCall | None:
    main = unit.functions.get("main")
    if main is None:
        return None
    calls = [s for s in nodes(main.node.body) if isinstance(s, C.FuncCall) and _callee(s) == name]
    return calls[0] if len(calls) == 1 else None


def _kernel(unit: Unit, fn: str | None, call: C.FuncCall | None) -> FunctionDef:
    if fn is not None:
        if fn not in unit.functions:
            if fn in unit.declarations.lost:
                raise unit.declarations.lost[fn]
            raise catalogue.UNKNOWN_FUNCTION.error(
                Loc(unit.pre.name),
                name=fn,
                meant=did_you_mean(fn, unit.functions),
                functions=_listed([*unit.functions]) or "none",
            )
        return unit.functions[fn]
    if call is not None:
        return unit.functions[_callee(call)]
    others = [f for f in unit.functions if f != "main"]
    called = {c for f in unit.functions.values() for c in f.calls if c != f.name}
    roots = [f for f in others if f not in called]
    if not roots:
        inner = {c for f in others for c in unit.functions[f].calls if c != f}
        roots = [f for f in others if f not in inner]
    roots = roots or others  # which call each other in a circle
    if len(roots) == 1:
        return unit.functions[roots[0]]
    if not roots:
        raise catalogue.NO_KERNEL.error(Loc(unit.pre.name))
    raise catalogue.SEVERAL_KERNELS.error(
        unit.functions[roots[1]].loc,
        tuple(Note(f"'{r}' is defined here", unit.functions[r].loc) for r in roots[:LISTED]),
        names=_listed(roots),
    )


def _listed(names: list[str]) -> list[str]:
    more = [f"{len(names) - LISTED} more"] if len(names) > LISTED else []
    return names[:LISTED] + more


# the parameters


def unseen_statics(program: KernelProgram) -> frozenset[str]:
    """Static globals that nothing but the kernel, and what it calls, names."""
    inside = {f.name for f in program.functions}
    others = [f for f in program.unit.functions.values() if f.name not in inside]
    bodies = [f.node.body for f in others]
    named = (n for part in (*bodies, *program.unit.initialisers()) for n in nodes(part))
    mentioned = {n.name for n in named if isinstance(n, C.ID)}
    mentioned.update(*(skipped.words for skipped in program.unit.parsed.bodies.values()))
    symbols = (b.symbol for b in program.parameters if b.kind == "global" and b.symbol is not None)
    return frozenset(s.name for s in symbols if s.storage == "static" and s.name not in mentioned)


def read_statics(program: KernelProgram) -> frozenset[Symbol]:
    """Of the static globals, those that the kernel, or what it calls, does more with than assign to them."""
    seen = [n for f in program.functions for n in nodes(f.node.body)]
    targets = {id(_root(n.lvalue)) for n in seen if isinstance(n, C.Assignment) and n.op == "="}
    symbols = (program.unit.symbols.get(id(n)) for n in seen if isinstance(n, C.ID) and id(n) not in targets)
    return frozenset(s for s in symbols if s is not None and s.is_global and s.storage == "static")


def _root(lvalue: C.Node) -> C.Node:
    """What a member, or an element, is part of."""
    while isinstance(lvalue, C.ArrayRef) or (isinstance(lvalue, C.StructRef) and lvalue.type == "."):
        lvalue = lvalue.name
    return lvalue


def set_elsewhere(program: KernelProgram) -> frozenset[str]:
    """The names that ``main``, and what it calls, has outside the kernel."""
    unit = program.unit
    if "main" in unit.parsed.bodies:
        return frozenset(unit.parsed.bodies["main"].words)
    if "main" not in unit.functions:
        return frozenset()
    inside = {f.name for f in program.functions}
    others = [unit.functions[f] for f in unit.reachable("main") if f not in inside]
    return frozenset(n.name for f in others for n in nodes(f.node.body) if isinstance(n, C.ID))


def touched(unit: Unit, functions: tuple[FunctionDef, ...]) -> Iterator[Symbol]:
    """Global variables that the functions name, static locals among them, in order of declaration."""
    used: set[Symbol] = set()
    work: list[C.Node] = [f.node.body for f in functions]
    while work:
        for n in nodes(work.pop()):
            s = unit.symbols.get(id(n))
            if s is None or s in used or not s.is_global:
                continue
            used.add(s)
            if s.decl is not None and s.decl.init is not None:
                work.append(s.decl.init)  # it may hold the address of another
    yield from (s for s in unit.variables.values() if s in used)
    yield from (s for s in unit.statics if s in used)


def static_locals(program: KernelProgram) -> list[Symbol]:
    """The static locals that the kernel reaches, const ones too, in order of declaration."""
    return [s for s in touched(program.unit, program.functions) if s.storage == "static-local"]


def why_no_input(program: KernelProgram, name: str) -> str:
    """Why a variable of the file is no input, for a hint; "" where there is none, or nothing keeps it from that."""
    if any(s.name == name for s in program.constants):
        return f"'{name}' is const, and has its value in the C;"
    lost = program.unit.parsed.lost.get(name)
    if lost is None and name in program.unit.variables:
        return f"'{program.kernel.name}' has no use for '{name}': leave it out;"
    if lost is None:
        return ""
    return f"'{name}' is of a type that c2cu does not know (line {lost.error.line}): keep it in one of standard C;"


def _defined(unit: Unit) -> Iterator[Symbol]:
    """Every global variable that the unit defines."""
    for s in unit.variables.values():
        if s.decl is None or s.decl.init is not None or "extern" not in s.decl.storage:
            yield s


def with_place(program: KernelProgram) -> KernelProgram:
    """The program, the place of the pointer that its kernel returns as its output. Raises UnsupportedError where that
    is no place in an array."""
    f = program.kernel
    arrays = (b for b in program.parameters if b.kind == "global" or isinstance(b.symbol and b.symbol.type, Pointer))
    if not isinstance(f.returns, Pointer) or isinstance(f.returns.to, Function) or not any(arrays):
        raise catalogue.RETURNS_POINTER.error(f.loc, name=f.name)
    place = Parameter("return", "return", LONG, None, False, f.loc)
    return replace(program, parameters=(*program.parameters, place))


def returns_place(program: KernelProgram) -> bool:
    """Whether the place of the returned pointer is an output."""
    return isinstance(program.kernel.returns, Pointer) and any(b.kind == "return" for b in program.parameters)


def _parameters(
    unit: Unit,
    kernel: FunctionDef,
    touched: tuple[Symbol, ...],
    shared: tuple[str, ...],
    shapes: Mapping[str, tuple[int, ...]],
    call: C.FuncCall | None,
) -> Iterator[Parameter]:
    for s in touched:
        if s.storage == "static-local" or (s.is_constant and s.name not in shared):
            continue
        yield Parameter(s.name, "global", s.type, s, s.name in shared, s.loc)
    arguments = call.args.exprs if call is not None and call.args else []
    inputs = {s.name: s for s in touched if s.storage != "static-local" and not s.is_constant}
    for i, p in enumerate(kernel.params):
        if p.name in inputs:
            raise catalogue.ONE_NAME.error(p.loc, (Note("the global", inputs[p.name].loc),), name=p.name)
        argument = arguments[i] if i < len(arguments) else None
        if shapes.get(p.name) == () and kernel.error is None:
            _require_one_element(unit, kernel, p, p.name in shared)
        t = _param_type(unit, kernel, p, shapes.get(p.name), argument)
        yield Parameter(p.name, "param", t, p, p.name in shared, p.loc)
    asked = kernel.returns != VOID and call is not None  # main may store what it gets
    if (kernel.gives_value or asked) and not isinstance(kernel.returns, Pointer):
        yield Parameter("return", "return", kernel.returns, None, False, kernel.loc)


def _param_type(
    unit: Unit, kernel: FunctionDef, p: Symbol, shape: tuple[int, ...] | None, argument: C.Node | None
) -> CType:
    """What a parameter brings in: the object itself for a pointer."""
    t = p.type
    if not isinstance(t, Pointer):
        return t
    if isinstance(t.to, Function) or (
        isinstance(t.to, Pointer) and (t.to.to == VOID or isinstance(t.to.to, (Function, Pointer)))
    ):
        raise catalogue.INDIRECT_PARAMETER.error(p.loc, name=p.name, type=t, kernel=kernel.name)
    if isinstance(t.to, Pointer):
        raise catalogue.KERNEL_PARAMETER.error(p.loc, name=p.name, type=t)
    to = UCHAR if t.to == VOID else t.to  # of which nothing is known but its bytes
    if shape is not None and len(shape) == 0 and not isinstance(to, Array):
        return to
    if shape:
        return Array(to, shape[0])
    length = _declared_length(unit, p)
    if length is None and argument is not None:
        length = _argument_length(unit, argument, to)
    if length is None and isinstance(to, Struct) and (kernel.error is not None or _beyond(unit, kernel, p) is None):
        return to
    if length is None and kernel.error is None:
        length = _constant_extent(unit, kernel, p)
    return Array(to, length)


def _constant_extent(unit: Unit, f: FunctionDef, p: Symbol, within: tuple[str, ...] = ()) -> int | None:
    """How many elements ``f`` reaches through its pointer parameter ``p``, where every subscript is constant, and 1 if
    it never names it; None where a subscript is not, or the pointer goes elsewhere."""
    if f.error is not None or f.name in within:
        return None
    most, mentions = 0, 0
    for n in nodes(f.node.body):
        extents: list[int | None] = []
        match n:
            case C.ID() if unit.symbols.get(id(n)) is p:
                mentions += 1
            case C.ArrayRef(name=C.ID() as name, subscript=subscript) if unit.symbols.get(id(name)) is p:
                k = unit.constant(subscript)
                extents.append(int(k) + 1 if k is not None and k >= 0 else None)
            case C.UnaryOp(op="*", expr=C.ID() as name) if unit.symbols.get(id(name)) is p:
                extents.append(1)
            case C.StructRef(type="->", name=C.ID() as name) if unit.symbols.get(id(name)) is p:
                extents.append(1)
            case C.UnaryOp(op="&", expr=element) if _element(unit, element, p) is not None:
                mentions += 1  # an address, which may lead anywhere, unless it is a known function's argument
            case C.FuncCall(args=C.ExprList(exprs=arguments)) if _callee(n) in unit.functions:
                callee = unit.functions[_callee(n)]
                for q, a in zip(callee.params, arguments):
                    first = _first_element(unit, a, p) if q.type == p.type else None
                    if first is not None:
                        beyond = _constant_extent(unit, callee, q, (*within, f.name))
                        extents.append(None if beyond is None else first + beyond)
        for extent in extents:
            if extent is None:
                return None
            most, mentions = max(most, extent), mentions - 1
    return None if mentions else max(most, 1)


def _first_element(unit: Unit, argument: C.Node, p: Symbol) -> int | None:
    """Which element of ``p`` an argument points to: 0 for ``p``, k for ``&p[k]``; None where it is neither."""
    match argument:
        case C.ID() if unit.symbols.get(id(argument)) is p:
            return 0
        case C.UnaryOp(op="&", expr=element):
            return _element(unit, element, p)
    return None


def _element(unit: Unit, node: C.Node, p: Symbol) -> int | None:
    """k where a node is ``p[k]``, 0 where it is ``*p``, of a constant k that is not negative; else None."""
    match node:
        case C.ArrayRef(name=C.ID() as name, subscript=subscript) if unit.symbols.get(id(name)) is p:
            k = unit.constant(subscript)
            return int(k) if k is not None and k >= 0 else None
        case C.UnaryOp(op="*", expr=C.ID() as name) if unit.symbols.get(id(name)) is p:
            return 0
    return None


def _require_one_element(unit: Unit, kernel: FunctionDef, p: Symbol, shared: bool) -> None:
    """Refuse an array with no axis of its own for a pointer that the kernel steps or subscripts."""
    beyond = _beyond(unit, kernel, p) if isinstance(p.type, Pointer) else None
    if beyond is None:
        return
    shape, needed = ("()", "(n,)") if shared else ("(p,)", "(p, n)")
    rows = "" if shared else f": n elements for each of p inputs; {p.name}[None] makes it one input"
    raise catalogue.MORE_THAN_ONE_ELEMENT.error(
        loc_of(beyond),
        (Note(f"'{p.name}' is declared here", p.loc),),
        name=p.name,
        shape=shape,
        expected=needed,
        rows=rows,
    )


def _beyond(unit: Unit, f: FunctionDef, p: Symbol, within: tuple[str, ...] = ()) -> C.Node | None:
    """Where ``f``, or what it calls, goes past the first element that its pointer parameter ``p`` points to. Where it
    sees the element as several that are smaller, bytes for example, only constants tell."""
    element, same = _step(p), _copies(unit, f, p)

    def step(node: C.Node | None) -> int | None:
        """By how much the pointer that a node is steps, if it is one of these."""
        symbol = unit.symbols.get(id(node)) if isinstance(node, C.ID) else None
        return _step(symbol) if symbol in same else None

    def is_past(node: C.Node | None, number: Number | None) -> bool:
        """Whether an element of that pointer is beyond."""
        size = step(node)
        if size is None:
            return False
        if size == element or not element:
            return number != 0
        return size > element or number is not None and not 0 <= number < element // (size or 1)

    def moves(node: C.Node | None) -> bool:
        size = step(node)
        return size is not None and (size == element or not element)

    for n in nodes(f.node.body):
        match n:
            case C.ArrayRef() if is_past(n.name, unit.constant(n.subscript)):
                return n
            case C.StructRef(type="->") if element and (step(n.name) or 0) > element:
                return n
            case C.BinaryOp(op="+" | "-") if moves(n.left) or moves(n.right):
                return n
            case C.UnaryOp(op="++" | "--" | "p++" | "p--") if moves(n.expr):
                return n
            case C.Assignment(op="+=" | "-=") if moves(n.lvalue):
                return n
            case C.FuncCall(args=C.ExprList(exprs=arguments)) if _callee(n) in {*unit.functions} - {*within, f.name}:
                callee = unit.functions[_callee(n)]
                passed = [
                    q for q, a in zip(callee.params, arguments) if moves(a) and (_step(q) == element or not element)
                ]
                places = (_beyond(unit, callee, q, (*within, f.name)) for q in passed)
                place = next((b for b in places if b is not None), None)
                if place is not None:
                    return place
    return None


def _step(p: Symbol | None) -> int:
    """By how many bytes a pointer steps; 0 where that is not known."""
    return p.type.to.size if p is not None and isinstance(p.type, Pointer) and p.type.to is not None else 0


def _copies(unit: Unit, f: FunctionDef, p: Symbol) -> list[Symbol]:
    """A pointer parameter, and the variables to which ``f`` assigns it or one of them."""
    given: list[tuple[Symbol | None, Symbol | None]] = []
    for n in nodes(f.node.body):
        match n:
            case C.Decl(init=C.Node() as value):
                given.append((unit.symbols.get(id(n)), _named(unit, value)))
            case C.Assignment(op="="):
                given.append((_named(unit, n.lvalue), _named(unit, n.rvalue)))
    found = [p]
    for q in found:  # which grows
        found.extend(to for to, value in given if value is q and to is not None and to not in found)
    return found


def _named(unit: Unit, node: C.Node) -> Symbol | None:
    """The variable that an expression is, but for casts and parentheses."""
    while isinstance(node, C.Cast):
        node = node.expr
    return unit.symbols.get(id(node)) if isinstance(node, C.ID) else None


def _declared_length(unit: Unit, p: Symbol) -> int | None:
    """The outermost extent as written: ``T a[N]`` says N although C forgets it."""
    node = p.decl.type if p.decl is not None else None
    if isinstance(node, C.ArrayDecl) and node.dim is not None:
        value = unit.declarations.constant(node.dim, unit.scope)
        return None if value is None else int(value)
    if isinstance(node, C.TypeDecl):  # a type that is an array
        t = unit.declarations.type(node, unit.scope)
        return t.length if isinstance(t, Array) else None
    return None


def _argument_length(unit: Unit, argument: C.Node, to: CType) -> int | None:
    """How many elements of type ``to`` the array that main passes has."""
    if isinstance(argument, C.UnaryOp) and argument.op == "&":
        return 1
    t = unit.types.get(id(argument))
    if isinstance(t, Array) and t.length is not None and to.size:
        return t.size // to.size
    return None
