"""The kernel as a whole: parameters become regions, its body statements, and what sets up its statics goes first."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base.ctype import INT, Pointer, Scalar
from ..frontend.kernel import KernelProgram, Parameter, nodes
from ..frontend.symbols import Symbol
from ..ir.nodes import Assign, Const, Kernel, Load, Region, Store, Var, Variable
from ..ir.simplify import simplify
from ..ir.walk import statements
from . import calls, control, declarations, expressions
from .calls import function_body
from .context import Context, Frame, Rules
from .declarations import initial_values
from .lvalues import rebound
from .memory import copy_object, initial_elements
from .objects import Object, leaf_table, whole

#: Functions that files of this folder call although theirs are imported later.
RULES = Rules(
    binding=declarations.binding,
    value=expressions.value,
    call=calls.call,
    initialise=declarations.initialise,
    effect=control.effect,
    statements=control.statements,
)


def lower(program: KernelProgram) -> Kernel:
    """The flat kernel of a program. Its bulk regions are the leaves of its parameters: "D", "s.x", "return"."""
    cx, k = Context(program.unit, RULES), program.kernel
    bulk: list[Region] = []
    objects = [(b, bind_parameter(cx, b, bulk)) for b in program.parameters]
    copies = [local_copy(cx, b.symbol) for b in program.parameters if b.shared and b.by_value]
    result = next((obj for b, obj in objects if b.kind == "return"), None)
    with cx.block() as body:
        cx.frames.append(Frame(k, cx.exit_flag("returned", k.loc), result))
        for p in stepped(program):
            bound = cx.bindings[id(p)]
            assert isinstance(bound, Object)
            rebound(cx, p, bound)
        function_body(cx, k)
    with cx.block() as first:
        enter(cx, objects, copies)
    with cx.block() as last:
        leave(cx, objects, {s.var for s in statements(tuple(body)) if isinstance(s, Assign)})
    regions = [*bulk, *(r for r in cx.regions if r not in bulk)]
    return Kernel(k.name, tuple(regions), simplify((*first, *cx.statics, *body, *last)), k.loc)


def bind_parameter(cx: Context, b: Parameter, bulk: list[Region]) -> Object:
    """The object that a parameter is; its regions are appended to ``bulk``."""
    storage = "shared" if b.shared else "bulk"
    values = initial_values(cx, b.symbol) if b.kind == "global" and b.symbol is not None else None
    volatile = b.symbol is not None and b.symbol.volatile
    obj = Object(b.name, b.type, storage, b.loc, None if b.shared else values, volatile=volatile)
    if b.symbol is not None:
        cx.bindings[id(b.symbol)] = obj
    for path, leaf in leaf_table(b.type).items():
        t = leaf.type
        if isinstance(t, Scalar) and t.size < 16:
            region = outside(obj, path)
            bulk.append(region)
            cx.names[region.name] = 1
            if b.shared or leaf.count != 1 or volatile:
                obj.parts[path] = region
    return obj


def outside(obj: Object, path: str) -> Region:
    """The region in which a leaf of a parameter comes and goes."""
    leaf = leaf_table(obj.type)[path]
    assert isinstance(leaf.type, Scalar)
    return Region(obj.name + path, leaf.type, leaf.extents, obj.storage, initial_elements(obj, path), obj.loc)


def local_copy(cx: Context, symbol: Symbol | None) -> tuple[Symbol, Object]:
    """A parameter by value is local to the function, also where all inputs share what it starts from."""
    assert symbol is not None
    shared = cx.bindings[id(symbol)]
    assert isinstance(shared, Object)
    cx.bindings[id(symbol)] = Object(symbol.name, symbol.type, "local", symbol.loc, volatile=symbol.volatile)
    return symbol, shared


def enter(cx: Context, objects: list[tuple[Parameter, Object]], copies: list[tuple[Symbol, Object]]) -> None:
    """Bulk scalars start in their variables."""
    for symbol, obj in copies:
        copy = cx.bindings[id(symbol)]
        assert isinstance(copy, Object)
        copy_object(cx, whole(copy), whole(obj), symbol.loc)
    for b, obj in objects:
        for path, part in sorted(obj.parts.items()):
            if isinstance(part, Variable) and b.kind != "return":
                cx.emit(Assign(part, Load(outside(obj, path), Const(0, INT), b.loc), b.loc))


def leave(cx: Context, objects: list[tuple[Parameter, Object]], changed: set[Variable]) -> None:
    """Bulk scalars that the kernel changes go back; a parameter passed by value does not."""
    for b, obj in objects:
        for path, part in sorted(obj.parts.items()):
            if isinstance(part, Variable) and part in changed and not b.by_value:
                cx.emit(Store(outside(obj, path), Const(0, INT), Var(part, b.loc), b.loc))


def stepped(program: KernelProgram) -> list[Symbol]:
    """Pointer parameters of the kernel that it assigns to or steps."""
    changed: set[int] = set()
    for n in nodes(program.kernel.node.body):
        target = n.lvalue if isinstance(n, C.Assignment) else n.expr if isinstance(n, C.UnaryOp) else None
        steps = isinstance(n, C.Assignment) or (isinstance(n, C.UnaryOp) and n.op in ("++", "--", "p++", "p--"))
        if isinstance(target, C.ID) and steps:
            changed.add(id(program.unit.symbol(target)))
    return [p for p in program.kernel.params if isinstance(p.type, Pointer) and id(p) in changed]
