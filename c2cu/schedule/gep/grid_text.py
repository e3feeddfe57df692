"""CUDA text of a step: the update and what scales a row or a column, as inline functions of elements."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ...analysis.uniform import Uniform
from ...base import catalogue
from ...base.ctype import BOOL
from ...codegen.cuda import CudaText, element_name, literal, type_name
from ...codegen.places import place_in
from ...gep import Gep, Part, Range
from ...gep.cell import replaced
from ...gep.nonnegative import LARGEST_BITS, chooses, nonnegative, reduction
from ...gep.pairs import least_sum
from ...gep.semiring import Proof, proof
from ...ir.nodes import Binary, Const, Expr, Kernel, Region, Var, Variable
from ...ir.walk import rewrite
from ...transform.minmax import minima
from ..pack import is_plain
from ..slots import Layout, Slot
from .about import about
from .extrema import extrema
from .grid_shape import GridShape, Storage, bordered, in_tiles, pivots, read_at, resident, stored, trivial
from .memory_layout import memory_layout
from .names import matrix_name
from .sequential_text import SequentialText

_SIDES = (("u", "ik"), ("v", "kj"), ("w", "kk"))
NARROW = (("u", 1), ("u", 2), ("i", 2))  # types of which two fit a word, and have a greatest element that may be
_BITS = {("f", 4): "__float_as_uint", ("f", 8): "__double_as_longlong"}


@dataclass(frozen=True)
class Matrix:
    """``type``: of an element in working storage, ``element``: in the program. ``in_tile``: whether updates read or
    write its element (i, j); ``u``, ``v``, ``w``: whether they read (i, k), (k, j), (k, k). ``slot``: its number.
    ``count``, ``stride``: elements in C, and from a row to the next; ``all_touched``: the loops have all.
    ``updated``: whether updates write it; ``pivot``: whether anything reads (k, k) of it. ``bits``: the function
    that gives its bits; ``equal``: whether equal numbers are the same, as -0 and 0."""

    name: str
    type: str
    element: str
    slot: int
    count: int
    stride: int
    written: bool
    goes_out: bool
    all_touched: bool
    in_tile: bool
    u: bool
    v: bool
    w: bool
    updated: bool
    pivot: bool
    initial: str
    bits: str
    equal: bool


class StepText(CudaText):
    """Prints a step as a function whose parameters are the elements that the step reads and writes."""

    def __init__(self, names: Mapping[Variable, str]):
        super().__init__()
        self.names = names

    def variable(self, v: Variable) -> str:
        text = self.names[v]
        return f"({text} != 0)" if v.type == BOOL else text


class SequentialGridText(SequentialText):
    """Prints the sequential kernel, on the padded copies."""

    def __init__(self, gep: Gep, kernel: Kernel, slots: Layout):
        super().__init__(gep, kernel, 2)
        self.strides, self.slots = dict(gep.strides), slots

    def element(self, r: Region, index: Expr) -> str:
        at, t = self.expr(index), element_name(r.type)
        if r not in self.strides:
            k = self.slots[r.name][0]
            return f"((const {t} *)((const char *)slot[{k}].in + id * slot[{k}].in_stride))[{at}]"
        n = self.strides[r]
        return f"X_{matrix_name(r)}[(long long)({at} / {n}) * PITCH + {at} % {n}]"


def values(
    u: Uniform,
    gep: Gep,
    slots: tuple[Slot, ...],
    layout: Layout,
    fp: str,
    shape: GridShape,
    storage: Storage,
    steps: Any,
) -> dict[str, Any]:
    """The template's values. ``steps``: (first, last) blocks of steps of each large product."""
    common = in_order(u, gep, slots, layout, fp, storage.pairs)
    rows, columns = gep.update.rows, gep.update.columns
    places, shared_bytes = _places(gep, shape, storage.pairs)
    minima_stand = storage.looks and not storage.pairs
    reduced = reduction(gep) if minima_stand else None  # of two steps at once
    functions = [
        _update(gep, fp, "c2cu_apart", storage.pairs),
        *([_term(gep, reduced[1])] if reduced else []),
        *([_update(gep, "fast", "c2cu_least", False)] if minima_stand and not reduced else []),
    ]
    scales = _scales(gep, fp)
    step = common["step"]
    if functions[0].lines[1:] == step.lines[1:]:
        functions[0] = replace(step, lines=[], alias="c2cu_apart")  # one function is enough
    return {
        **common,
        "call": partial(_call, gep, [step, *functions]),
        "matrix": "unsigned char *const matrix",
        "shape": shape,
        "resident": resident(gep, shape),
        "storage": storage,
        "functions": [f.lines for f in (step, *functions, *scales) if f.lines],
        "looked": [matrix_name(r) for r in (gep.regions if storage.pairs else nonnegative(gep))]
        if storage.looks
        else [],
        "pairs": storage.pairs,
        "twice": reduced[0] if reduced else "",
        "extrema": extrema("\n".join(line for f in functions for line in f.lines), reduced[0] if reduced else ""),
        "wants_pivots": any(name[0] in "wp" for name in places),
        "largest": LARGEST_BITS,
        "steps_named": bool(gep.k.low % shape.depth or gep.k.high % shape.depth)
        or "k" in step.counters
        or bool(read_at(gep, "kk"))
        or bool(gep.scale)
        or rows.after
        or columns.after,
        "scale": [_part(gep, p, common["matrices"], f.counters) for p, f in zip(gep.scale, scales)],
        "masked": bordered(rows, gep.rows, shape, gep, steps) or bordered(columns, gep.columns, shape, gep, steps),
        "partial": bool(gep.k.low % shape.depth or gep.k.high % shape.depth),
        "row_moves": gep.row_moves and common["moves"],
        "column_moves": gep.column_moves and common["moves"],
        "places": places,
        "shared_bytes": shared_bytes,
    }


def in_pairs(gep: Gep, shape: GridShape | None = None, pack: bool = False) -> bool:
    """Whether products may take two 16-bit integers in a word, in this ``shape`` if there is one. ``pack``: the user
    says that all elements fit 15 bits, whatever their type."""
    r = least_sum(gep)
    fits = shape is None or shape.columns % 8 == 0
    narrow = r is not None and (pack or (r.type.kind, r.type.size) in NARROW)
    return narrow and fits and _ordered(gep) is not None


def looks(gep: Gep, fp: str, pairs: bool) -> bool:
    """Whether a kernel first checks the elements to choose the product: two elements at a time, minima instead of
    choices, or two steps at a time."""
    if pairs:
        return gep.regions[0].type.size == 2  # bytes are small enough, and what is packed is known to be
    return bool(nonnegative(gep)) and (reduction(gep) is not None or (fp != "fast" and chooses(gep)))


def in_order(
    u: Uniform, gep: Gep, slots: tuple[Slot, ...], layout: Layout, fp: str, pairs: bool = False
) -> dict[str, Any]:
    """The values of a template that can compute an input again, in the order of the C program."""
    step = _update(gep, fp, "c2cu_step", pairs)
    proven = proof(gep)
    return {
        "about": about(u.kernel.name, gep),
        "at": place_in(gep.update.loc),
        "moves": (gep.row_moves or gep.column_moves) and (proven is None or proven != Proof(proven.region)),
        "gep": gep,
        "matrices": [_matrix(gep, r, slots, layout, fp, pairs) for r in gep.regions],
        "initial": [_initial(r) for r in gep.regions if r.begins_otherwise],
        "step": step,
        "mentions": _mentions,
        "call": partial(_call, gep, [step]),
        "whole_range": {
            "rows": trivial(gep.update.rows, gep.rows),
            "columns": trivial(gep.update.columns, gep.columns),
        },
        "inside": {"rows": partial(_inside, gep.update.rows), "columns": partial(_inside, gep.update.columns)},
        "again": SequentialGridText(gep, u.kernel, layout).whole(),
        "ordered": _ordered(gep),
    }


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _places(gep: Gep, shape: GridShape, pairs: bool) -> tuple[dict[str, int], int]:
    """Offsets in shared memory by name, and the bytes of all: rows and columns k, and element (k, k) as updates read it
    (of even and of odd k) and as each scaling reads it."""
    panel = 2 * shape.chunk * shape.tile
    pieces = [
        (f"{x}_{matrix_name(r)}", panel * stored(r, pairs))
        for x, at in (("u", "ik"), ("v", "kj"))
        for r in read_at(gep, at)
    ]
    if pairs:
        pieces.append((f"d_{matrix_name(gep.regions[0])}", 4 * panel))
    pieces += [(f"w_{matrix_name(r)}", 16) for r in read_at(gep, "kk")]
    pieces += [(f"p{n}_{matrix_name(r)}", 16) for n, p in enumerate(gep.scale) for r in pivots(p)]
    places, size = memory_layout(pieces, 1)
    return places, max(16, size)


def _inside(span: Range, x: str) -> str:
    """The condition that a counter is in its range, at step k."""
    return f"{x} >= {span.low}{' + k' * span.after} && {x} < {span.high}"


def _ordered(gep: Gep) -> dict[str, str] | None:
    """By copy (``u_D``), for which (i, j) an update reads row k or column k as the same step has made it, in the C's
    order; None where that is not one rule alone."""
    if gep.scale or any(level < 0 for _, level in gep.levels):
        return None
    levels, out = dict(gep.levels), {}
    outer, inner = ("i", "j") if gep.rows_outside else ("j", "i")
    for p in gep.update.places:
        level = levels.get(p.variable, 0)
        match p.where:
            case "ik":
                out[f"u_{matrix_name(p.region)}"] = "j > k" if level == 2 else "false"
            case "kj":
                out[f"v_{matrix_name(p.region)}"] = "i > k" if level == 2 else "false"
            case "kk":
                later = f"{outer} > k || ({outer} == k && {inner} > k)"
                out[f"w_{matrix_name(p.region)}"] = ("false", f"{outer} > k", f"({later})")[level]
    return out


def _matrix(gep: Gep, r: Region, slots: tuple[Slot, ...], layout: Layout, fp: str, pairs: bool) -> Matrix:
    if r.name not in layout or not is_plain(slots, layout[r.name]):
        message = catalogue.PART_OF_STRUCT if r.name in layout else catalogue.GEP_OWN_MATRIX
        raise message.error(r.loc, name=r.name)
    slot = layout[r.name][0]
    parts = (gep.update, *gep.scale)
    written = any(r in dict(p.values) for p in parts)
    initial = f"c2cu_initial_{matrix_name(r)}" if r.begins_otherwise else ""
    return Matrix(
        name=matrix_name(r),
        type=_stored(r, pairs),
        element=element_name(r.type),
        slot=slot,
        count=r.count,
        stride=dict(gep.strides)[r],
        written=written,
        goes_out=slots[slot].writes,
        all_touched=r.count <= gep.rows * dict(gep.strides)[r] and dict(gep.strides)[r] <= gep.columns,
        in_tile=r in in_tiles(gep),
        u=r in read_at(gep, "ik"),
        v=r in read_at(gep, "kj"),
        w=r in read_at(gep, "kk"),
        updated=r in dict(gep.update.values),
        pivot=any(p.region == r and p.where == "kk" for part in parts for p in part.places),
        initial=initial,
        bits=_BITS.get((r.type.kind, r.type.size), ""),
        equal=fp == "fast" and r.type.is_float,
    )


def _stored(r: Region, pairs: bool) -> str:
    """The type of an element in working storage."""
    return "unsigned short" if pairs and r.type.size != 2 else element_name(r.type)


def _initial(r: Region) -> str:
    text = ", ".join(literal(v, r.type) for v in r.init or ())
    return f"__device__ const {element_name(r.type)} c2cu_initial_{matrix_name(r)}[{r.count}] = {{{text}}};"


# functions


def _names(gep: Gep, part: Part) -> dict[Variable, str]:
    """How places and counters are spelled in a function."""
    spelled = {"ij": "x", "ik": "u", "kj": "v", "kk": "w"}
    if part.where != "ij":
        spelled[part.where] = "x"
    names = {p.variable: f"{spelled[p.where]}_{matrix_name(p.region)}" for p in part.places}
    return {**names, **dict(zip(gep.counters, "kij"))}


@dataclass(frozen=True)
class _Function:
    """``counters``: those of k, i and j that it takes, behind the elements. ``alias``: another name for it."""

    name: str
    lines: list[str]
    counters: str
    alias: str = ""


def _defined(gep: Gep, result: str, name: str, parameters: list[str], text: StepText) -> _Function:
    """The function whose body ``text`` has."""
    body = "\n".join(text.lines)
    counters = [(n, v) for n, v in zip("kij", gep.counters) if _mentions(body, n)]
    passed = [*parameters, *(f"const {type_name(v.type)} {n}" for n, v in counters)]
    head = f"static __device__ __forceinline__ {result} {name}({', '.join(passed)}) {{"
    return _Function(name, [head, *text.lines, "}"], "".join(n for n, _ in counters))


def _call(
    gep: Gep, functions: list[_Function], name: str, x: str, u: str, v: str, w: str, k: str, i: str, j: str
) -> str:
    """A call of a function of an element. ``x``, ``u``, ``v``, ``w``: how operands are spelled, with {} for the matrix'
    name; no ``x``: it takes none."""
    f = next(f for f in functions if name in (f.name, f.alias))
    operands = [x.format(matrix_name(r)) for r in in_tiles(gep) if x]
    for spelled, (_, where) in zip((u, v, w), _SIDES):
        operands += [spelled.format(matrix_name(r)) for r in read_at(gep, where)]
    operands += [text for n, text in zip("kij", (k, i, j)) if n in f.counters]
    return f"{f.name}({', '.join(operands)})"


def _function(gep: Gep, name: str, part: Part, parameters: list[str], fp: str, apart: bool) -> _Function:
    """A function that computes the values that a part stores, from the old elements."""
    text = StepText(_names(gep, part))
    for r, value in part.values:
        value = minima(_apart(value, gep) if apart else value, fp == "fast")
        t = element_name(r.type)
        text.line(f"const {t} n_{matrix_name(r)} = ({t}){text.expr(value)};")
    for r, _ in part.values:
        text.line(f"x_{matrix_name(r)} = n_{matrix_name(r)};")
    return _defined(gep, "void", name, parameters, text)


def _apart(e: Expr, gep: Gep) -> Expr:
    """An update's value for rows and columns other than k."""
    k, i, j = gep.counters

    def step(x: Expr) -> Expr:
        match x:
            case Binary(op="==" | "!=", left=Var(var=a), right=Var(var=b)) if {a, b} in ({k, i}, {k, j}):
                return Const(int(x.op == "!="), x.type, x.loc)
        return x

    return replaced(rewrite(e, step), {})


def _update(gep: Gep, fp: str, name: str, pairs: bool) -> _Function:
    """``c2cu_step`` for any element, the others for rows and columns other than k."""
    parameters = [f"{_stored(r, pairs)} &x_{matrix_name(r)}" for r in in_tiles(gep)]
    for letter, where in _SIDES:
        parameters += [f"const {_stored(r, pairs)} {letter}_{matrix_name(r)}" for r in read_at(gep, where)]
    return _function(gep, name, gep.update, parameters, fp, name != "c2cu_step")


def _term(gep: Gep, term: Expr) -> _Function:
    """A function that computes the value with which a reduction compares an element."""
    text = StepText(_names(gep, gep.update))
    parameters = [f"const {element_name(r.type)} {x}_{matrix_name(r)}" for x, w in _SIDES for r in read_at(gep, w)]
    text.line(f"return {text.text(minima(_apart(term, gep), True))};")
    return _defined(gep, "float", "c2cu_term", parameters, text)


def _scales(gep: Gep, fp: str) -> list[_Function]:
    out = []
    for n, part in enumerate(gep.scale):
        parameters = [f"{element_name(r.type)} &x_{matrix_name(r)}" for r in _accessed(gep, part)]
        parameters += [f"const {element_name(r.type)} w_{matrix_name(r)}" for r in pivots(part)]
        out.append(_function(gep, f"c2cu_scale{n}", part, parameters, fp, False))
    return out


def _accessed(gep: Gep, part: Part) -> list[Region]:
    accessed = {r for r, _ in part.values} | {p.region for p in part.places if p.where == part.where}
    return [r for r in gep.regions if r in accessed]


def _part(gep: Gep, part: Part, matrices: list[Matrix], counters: str) -> dict[str, Any]:
    pivot_names = [matrix_name(r) for r in pivots(part)]
    names = [matrix_name(r) for r in _accessed(gep, part)]
    span = part.columns if part.where == "kj" else part.rows
    row = part.where == "kj"
    given = zip("kij", ("k", "k" if row else "i + r", "j + c" if row else "k"))
    return {
        "at": place_in(part.loc),
        "counters": [text for n, text in given if n in counters],
        "row": row,
        "names": names,
        "pivots": [m for m in matrices if m.name in pivot_names],
        "inside": partial(_inside, span),
        "whole": trivial(span, gep.columns if part.where == "kj" else gep.rows),
    }
