"""The kernel as a whole: parameters become regions, its body statements, and what sets up its statics goes first."""

from __future__ import annotations

from dataclasses import replace

from ..base import catalogue
from ..base.ctype import INT, Array, Leaf, Pointer, Scalar, object_leaves
from ..frontend.ends import early_ends
from ..frontend.kernel import KernelProgram, Parameter
from ..frontend.symbols import Symbol
from ..ir.nodes import ENDED, Assign, Block, Const, Expr, Kernel, Load, Region, Store, Var, Variable
from ..ir.simplify import simplify, without_stores, without_unread
from ..ir.walk import rewritten, statements, touched
from . import calls, complex_values, control, declarations, expressions, wide_values
from .allocation import clearing
from .calls import addressed, function_body
from .context import Context, Frame, Rules
from .declarations import initial_values, start_pointers, tables
from .long_double import refuse_long_doubles
from .memory import clear_half_stored, copy_object, initial_elements, part_of
from .objects import Object, whole
from .opaque import hidden
from .pairs import is_complex
from .pointers import write_pointer

#: Functions that files of this folder call although theirs are imported later.
RULES = Rules(
    binding=declarations.binding,
    value=expressions.value,
    wide=wide_values.wide,
    complex=complex_values.complex_value,
    condition=expressions.condition,
    call=calls.call,
    inline=calls.inline,
    initialise=declarations.initialise,
    effect=control.effect,
    statements=control.statements,
)


def lower(program: KernelProgram) -> Kernel:
    """The flat kernel of a program. Its bulk regions are the leaves of its parameters: "D", "s.x", "return"."""
    cx, k = Context(program.unit, RULES), program.kernel
    if (error := k.error or k.sized) is not None:
        raise error
    cx.addressed = frozenset(addressed(program.unit, *program.functions))
    cx.ends, cx.judged = early_ends(program), program.judged
    cx.hidden = hidden(program.unit, program.functions)
    bulk: list[Region] = []
    objects = [(b, bind_parameter(cx, b, bulk)) for b in program.parameters]
    cx.outside = tuple(obj for b, obj in objects if b.kind != "return")
    copies = [local_copy(cx, b.symbol) for b in program.parameters if b.shared and b.by_value]
    for symbol, _ in copies:
        if symbol.name in program.values:
            start_known(cx, symbol, program.values[symbol.name])
    result = next((obj for b, obj in objects if b.kind == "return"), None)
    for b, obj in objects:
        if b.kind == "global" and b.symbol is not None:
            start_pointers(cx, obj, b.symbol)
    with cx.block() as body:
        cx.frames.append(Frame(k, cx.exit_flag("returned", k.loc), result))
        for b, obj in objects:
            if b.kind == "param" and b.symbol is not None and isinstance(b.symbol.type, Pointer):
                point_to(cx, b.symbol, obj)
        function_body(cx, k)
    body = list(clearing(cx, tuple(body)))
    for loc, name in cx.unset:
        raise catalogue.POINTER_UNSET.error(loc, name=name)
    with cx.block() as first:
        clear_half_stored(cx)
        enter(cx, objects, copies)
    with cx.block() as last:
        leave(cx, objects, {s.var for s in statements(tuple(body)) if isinstance(s, Assign)})
    lowered = simplify(without_unread((*first, *cx.statics, *body, *last), frozenset(cx.singles)))
    refuse_long_doubles(statements(lowered))
    constant = tables(cx, tuple(body))
    if constant:
        lowered = simplify(as_tables(lowered, constant))
    named = set(touched(lowered))
    parameter_regions = set(bulk)
    regions = [*bulk, *(constant.get(r, r) for r in cx.regions if r not in parameter_regions)]
    regions = [r for r in regions if r in parameter_regions or r in named]
    regions += [ENDED] if ENDED in named else []
    return Kernel(k.name, tuple(regions), lowered, k.loc)


def as_tables(block: Block, constant: dict[Region, Region]) -> Block:
    """Regions that are written where they begin and nowhere else become tables."""

    def expression(e: Expr) -> Expr:
        return replace(e, region=constant[e.region]) if isinstance(e, Load) and e.region in constant else e

    return rewritten(without_stores(block, lambda r: r in constant), expression)


def point_to(cx: Context, symbol: Symbol, obj: Object) -> None:
    """A pointer parameter of the kernel points to the array that comes in."""
    assert isinstance(symbol.type, Pointer)
    pointer = cx.new_object(symbol.name, symbol.type, "local", symbol.loc)
    ref = whole(obj)
    start = ref.element(symbol.loc) if isinstance(ref.type, Array) and ref.type != symbol.type.to else ref
    write_pointer(cx, whole(pointer), start, symbol.loc)
    cx.bindings[id(symbol)] = pointer


def bind_parameter(cx: Context, b: Parameter, bulk: list[Region]) -> Object:
    """The object that a parameter is; its regions are appended to ``bulk``."""
    storage = "shared" if b.shared else "bulk"
    values = initial_values(cx, b.symbol) if b.kind == "global" and b.symbol is not None else None
    volatile = b.symbol is not None and b.symbol.volatile
    obj = cx.new_object(b.name, b.type, storage, b.loc, None if b.shared else values, volatile)
    if b.symbol is not None:
        cx.bindings[id(b.symbol)] = obj
    several = 2 if is_complex(b.type) else 1  # numbers of what is no array
    for leaf in object_leaves(b.type):
        t = leaf.type
        if isinstance(t, Scalar) and t.size < 16:
            region = outside(obj, leaf)
            bulk.append(region)
            cx.names[region.name] = 1
            if b.shared or leaf.count != several or volatile or isinstance(b.type, Array):
                obj.parts[leaf.path] = region
    return obj


def outside(obj: Object, leaf: Leaf) -> Region:
    """The region in which a leaf of a parameter comes and goes."""
    assert isinstance(leaf.type, Scalar)
    return Region(obj.name + leaf.path, leaf.type, leaf.extents, obj.storage, initial_elements(obj, leaf), obj.loc)


def place_outside(obj: Object, path: str) -> tuple[Region, Const]:
    """The region and the index there in which a variable of a parameter comes and goes."""
    leaves = {leaf.path: leaf for leaf in object_leaves(obj.type)}
    if is_complex(obj.type):
        return outside(obj, leaves[""]), Const(int(path == ".imag"), INT)
    return outside(obj, leaves[path]), Const(0, INT)


def local_copy(cx: Context, symbol: Symbol | None) -> tuple[Symbol, Object]:
    """A parameter by value is local to the function, also where all inputs share what it starts from."""
    assert symbol is not None
    shared = cx.bindings[id(symbol)]
    assert isinstance(shared, Object)
    cx.bindings[id(symbol)] = cx.new_object(symbol.name, symbol.type, "local", symbol.loc, volatile=symbol.volatile)
    return symbol, shared


def start_known(cx: Context, symbol: Symbol, value: int) -> None:
    """A parameter whose value all inputs share, and which is known."""
    copy = cx.bindings[id(symbol)]
    part = part_of(cx, copy, "", symbol.loc)
    if isinstance(part, Variable) and part.type.is_integer:
        cx.start.known[part] = Const(part.type.wrap(value), part.type, symbol.loc)


def enter(cx: Context, objects: list[tuple[Parameter, Object]], copies: list[tuple[Symbol, Object]]) -> None:
    """Bulk scalars start in their variables."""
    for symbol, obj in copies:
        copy = cx.bindings[id(symbol)]
        assert isinstance(copy, Object)
        copy_object(cx, whole(copy), whole(obj), symbol.loc)
    for b, obj in objects:
        for path, part in sorted(obj.parts.items()):
            if isinstance(part, Variable) and b.kind != "return":
                cx.emit(Assign(part, Load(*place_outside(obj, path), b.loc), b.loc))


def leave(cx: Context, objects: list[tuple[Parameter, Object]], changed: set[Variable]) -> None:
    """Bulk scalars that the kernel changes go back; a parameter passed by value does not."""
    for b, obj in objects:
        for path, part in sorted(obj.parts.items()):
            if isinstance(part, Variable) and part in changed and not b.by_value:
                cx.emit(Store(*place_outside(obj, path), Var(part, b.loc), b.loc))
