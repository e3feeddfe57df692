"""Calls: every function is inlined, its parameters bound to what they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, INT, LDOUBLE, VOID, CType, Pointer, Scalar
from ..base.diagnostics import Error, Loc
from ..frontend.parse import loc_of
from ..frontend.sizes import in_extents
from ..frontend.symbols import Symbol
from ..frontend.tree import nodes
from ..frontend.typed import FunctionDef, Unit
from ..ir.fold import binary
from ..ir.nodes import Const, Expr
from .context import Context, Frame
from .environment import Environment
from .expressions import number
from .library import OfNumbers, library_call, numbers_function, of_numbers
from .lvalues import object_value, pointer_value
from .memory import apart, copy_object, load, store, store_pair
from .objects import Complex, FunctionRef, LValue, Object, OneOf, Pair, Target, whole
from .order import has_effects, in_register
from .pairs import is_pair
from .pointers import read_pointer, write_pointer
from .substitutes import LIBRARY, placed, substitute

MOST_FRAMES = 200  # of one function that calls itself
MOST_NESTED = 64  # of these, each deeper in branches and loops than the one before: data may be what ends them
MOST_WRITTEN = 20_000  # statements so far, where a function calls itself: they may be about to double
MOST_BRANCHED = 5_000  # of these, where it does so in branches and loops, and has done so twice
MOST_CALLS = 1_000  # functions that call one another in turn
Argument = Expr | Target | Pair


def function_body(cx: Context, f: FunctionDef) -> None:
    """The statements of the innermost frame's function."""
    frame = cx.frames[-1]
    outer, cx.jumps = cx.jumps, []
    cx.assign(frame.flag, Const(0, BOOL), f.loc)
    cx.statements(f.node.body.block_items or [])
    cx.meet(frame.exits)
    cx.jumps = outer


def call(cx: Context, node: C.FuncCall) -> Expr | Target | Complex | None:
    """Inline a call: its value, the object that it returns, or where the pointer that it returns points."""
    loc = loc_of(node)
    callees = callees_of(cx, node)
    args = node.args.exprs if node.args else []
    if isinstance(callees, OneOf):
        return one_of_several(cx, callees, args, loc)
    f = function_named(cx, callees.name)
    if f is None:
        return library_call(cx, callees.name, node)
    if f.name in cx.ends.functions:
        cx.end(loc)
        return result_of(cx, result_place(cx, f), loc)
    args = named_arguments(cx, f, args)
    require_arguments(f, args, loc)
    if f.name == "__fpclassify" and cx.unit.types.get(id(args[0])) == LDOUBLE:  # what the macro of any type makes of it
        raise catalogue.LONG_DOUBLE.error(loc, what="a value")
    f, objects = bound_to_sized(cx, f, args) if f.sized is not None else (f, bound_arguments(cx, f, args))
    return result_of(cx, _inlined_here(cx, f, objects, result_place(cx, f), loc), loc)


def inline(cx: Context, name: str, values: Sequence[Expr], loc: Loc) -> LValue:
    """Inline a function of the library's that has to do with nothing but numbers: the object that it returns."""
    f = substitute(cx, name)
    assert f is not None
    outer, cx.env = cx.env, Environment()  # what is known elsewhere need not go along its paths
    objects = [bound(cx, p, v, loc) for p, v in zip(f.params, values)]
    with cx.block() as body:
        result = inlined(cx, f, objects, result_place(cx, f))
    cx.env = outer
    cx.out += placed(tuple(body), loc)
    assert result is not None
    return whole(result)


def in_library(f: FunctionDef) -> bool:
    return f.loc.file == LIBRARY


def function_named(cx: Context, name: str) -> FunctionDef | None:
    """The program's function of this name, else the C that stands for the library's; None where there is neither."""
    if name in cx.unit.functions and not in_library(cx.frames[-1].function):
        return cx.unit.require(name)
    return substitute(cx, name)


def one_of_several(cx: Context, callees: OneOf, args: list[C.Node], loc: Loc) -> Expr | Target | None:
    """A call of the function that a pointer points to, one of a few."""
    functions = [(n, _pointed_to(cx, t.name, loc)) for n, t in callees.targets if isinstance(t, FunctionRef)]
    if not functions:
        raise catalogue.INDIRECT_CALL.error(loc)
    first = functions[0][1]
    if isinstance(first, FunctionDef):
        args = named_arguments(cx, first, args)
    for _, f in functions:
        if isinstance(f, FunctionDef):
            require_arguments(f, args, loc)
    tag = cx.saved(callees.tag, loc)
    types = [p.type for p in first.params] if isinstance(first, FunctionDef) else first.params
    values: list[Argument] = []
    for a, t in reversed(list(zip(args, types))):
        v = argument(cx, a, t)
        values.insert(0, v if isinstance(v, Target | Pair) else cx.saved(v, loc))
    result = _result(cx, first.name, first.returns, loc)

    def do(f: FunctionDef | OfNumbers) -> None:
        if isinstance(f, OfNumbers):
            assert result is not None
            numbers = [v for v in values if isinstance(v, Expr)]
            assert len(numbers) == len(values)
            store(cx, whole(result), of_numbers(f, numbers, loc), loc)
        elif f.name in cx.ends.functions:
            cx.end(loc)
        else:
            _inlined_here(cx, f, [bound(cx, p, v, loc) for p, v in zip(f.params, values)], result, loc)

    def choose(rest: list[tuple[int, FunctionDef | OfNumbers]]) -> None:
        (n, f), *others = rest
        if not others:
            do(f)
            return
        is_f = binary("==", tag, Const(n, INT), INT, loc)
        cx.either(is_f, lambda: do(f), lambda: choose(others), loc)

    choose(functions)
    return result_of(cx, result, loc)


def _pointed_to(cx: Context, name: str, loc: Loc) -> FunctionDef | OfNumbers:
    """A function that is called through a pointer: the program's, or the library's if it has C or takes numbers."""
    f = function_named(cx, name) or numbers_function(name)
    if f is None:
        raise catalogue.LIBRARY_FUNCTION.error(loc, name=name)
    return f


def _inlined_here(
    cx: Context, f: FunctionDef, arguments: list[Object], result: Object | None, loc: Loc
) -> Object | None:
    """As `inlined`; a function of the library's stands at the call."""
    ours = in_library(f) and not in_library(cx.frames[-1].function)
    try:
        with cx.block() as body:
            result = inlined(cx, f, arguments, result)
    except Error as e:
        if not ours:
            raise
        raise e.moved(loc) from None
    cx.out += placed(tuple(body), loc) if ours else body
    return result


def bound_to_sized(cx: Context, f: FunctionDef, args: list[C.Node]) -> tuple[FunctionDef, list[Object]]:
    """A function whose extents come from its parameters, for the values that they have here, and its parameters."""
    values: list[Argument] = []
    for a, p in reversed(list(zip(args, f.params))):
        v = argument(cx, a, p.type)
        values.insert(0, v if isinstance(v, Target | Pair) else cx.saved(v, loc_of(a)))
    numbers = in_extents(f)
    constants = {p.name: v for p, v in zip(f.params, values) if p.name in numbers and isinstance(v, Const)}
    known = {name: int(v.value) for name, v in constants.items() if v.type.is_integer}
    sized = cx.unit.sized(f, known)
    cx.addressed |= frozenset(addressed(cx.unit, sized))
    cx.ends = cx.ends.with_copy(f, sized)
    return sized, [bound(cx, p, v, loc_of(a)) for p, v, a in zip(sized.params, values, args)]


def addressed(unit: Unit, *functions: FunctionDef) -> Iterator[Symbol]:
    """The variables whose address is taken."""
    for f in functions:
        for n in nodes(f.node.body):
            if isinstance(n, C.UnaryOp) and n.op == "&" and id(n.expr) in unit.symbols:
                yield unit.symbols[id(n.expr)]


def named_arguments(cx: Context, f: FunctionDef, args: list[C.Node]) -> list[C.Node]:
    """The arguments that have names in ``f``, after those that '...' stands for were evaluated."""
    if not f.variadic:
        return args
    for a in reversed(args[len(f.params) :]):
        if has_effects(cx, a) or any(isinstance(n, C.FuncCall) for n in (a, *nodes(a))):
            cx.effect(a)
    return args[: len(f.params)]


def require_arguments(f: FunctionDef, args: list[C.Node], loc: Loc) -> None:
    """Raises UnsupportedError unless these are all that a function looks at."""
    if f.variadic and any(name.startswith(("__builtin_va_", "va_")) for name in f.calls):
        raise catalogue.VARIADIC.error(f.loc)
    if len(args) != len(f.params):
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"a call of '{f.name}' with {len(args)} arguments")


def inlined(cx: Context, f: FunctionDef, arguments: list[Object], result: Object | None) -> Object | None:
    """The body of ``f`` with its parameters in these objects; its result is in ``result``."""
    if len(cx.frames) > MOST_CALLS:
        raise catalogue.NESTED_FOR_ANALYSIS.error(f.loc, what="calls of functions", limit=f"{MOST_CALLS:,}")
    depths = [frame.depth for frame in cx.frames if frame.function is f]
    nested = len({*depths})
    most = MOST_BRANCHED if nested > 2 else MOST_WRITTEN
    if len(depths) > MOST_FRAMES or nested > MOST_NESTED or (depths and cx.size > most):
        raise catalogue.RECURSION.error(f.loc, name=f.name)
    if f.sized is not None:
        raise f.sized
    outer = dict(cx.bindings)
    cx.bindings.update(zip((id(p) for p in f.params), arguments))
    cx.frames.append(Frame(f, cx.exit_flag("returned", f.loc), result, cx.depth))
    function_body(cx, f)
    cx.frames.pop()
    cx.bindings.update(outer)  # where it calls itself, the caller's objects
    return result


def result_of(cx: Context, result: Object | None, loc: Loc) -> Expr | Target | None:
    if result is None:
        return None
    if not cx.env.reached and isinstance(result.type, Scalar) and not is_pair(result.type):
        return Const(result.type.wrap(0), result.type, loc)  # nobody reads it
    if isinstance(result.type, Scalar) and not is_pair(result.type):
        return load(cx, whole(result), loc)
    return read_pointer(cx, whole(result), loc) if isinstance(result.type, Pointer) else whole(result)


def callees_of(cx: Context, node: C.FuncCall) -> FunctionRef | OneOf:
    """The function that is called, by itself or through a pointer, which may point to one of several."""
    if isinstance(node.name, C.ID) and cx.unit.symbol(node.name).kind == "function":
        return FunctionRef(node.name.name)
    target = pointer_value(cx, node.name)
    if isinstance(target, OneOf):
        functions = tuple((n, t) for n, t in target.targets if isinstance(t, FunctionRef))
        if len(functions) == 1:
            return functions[0][1]
        return OneOf(target.tag, functions)
    if not isinstance(target, FunctionRef):
        raise catalogue.INDIRECT_CALL.error(loc_of(node))
    return target


def result_place(cx: Context, f: FunctionDef) -> Object | None:
    """What holds a function's result."""
    return _result(cx, f.name, f.returns, f.loc)


def _result(cx: Context, name: str, returns: CType, loc: Loc) -> Object | None:
    return None if returns == VOID else cx.new_object(name, cx.unit.declarations.complete(returns), "local", loc)


def argument(cx: Context, node: C.Node, t: CType) -> Argument:
    """An argument's value, or the object that is passed by value."""
    if isinstance(t, Pointer):
        return pointer_value(cx, node)
    if isinstance(t, Scalar) and is_pair(t):
        return cx.pair(node, t)
    return number(cx, node, t, loc_of(node)) if isinstance(t, Scalar) else object_value(cx, node)


def bound_arguments(cx: Context, f: FunctionDef, args: list[C.Node]) -> list[Object]:
    """The parameters, holding the arguments' values: from the last to the first, and last of all the variables that are
    read where the call is made."""
    pairs = list(enumerate(zip(f.params, args)))
    objects: dict[int, Object] = {}
    for last in (False, True):
        for k, (p, a) in reversed(pairs):
            if in_register(cx, a) == last:
                objects[k] = bound(cx, p, argument(cx, a, p.type), loc_of(a))
    return [objects[k] for k, _ in pairs]


def bound(cx: Context, p: Symbol, value: Argument, loc: Loc) -> Object:
    """A parameter, holding the argument's value."""
    obj = cx.new_object(p.name, p.type, "local", p.loc, volatile=p.volatile)
    if isinstance(p.type, Pointer):
        assert isinstance(value, Target)
        write_pointer(cx, whole(obj), value, loc)
    elif isinstance(value, Pair):
        store_pair(cx, whole(obj), value, loc)
    elif isinstance(p.type, Scalar):
        assert not isinstance(value, Target)
        store(cx, whole(obj), value, apart(loc))
    else:
        assert isinstance(value, LValue)
        copy_object(cx, whole(obj), value, loc)
    return obj
