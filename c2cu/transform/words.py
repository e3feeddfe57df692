"""Words that a program puts together from bytes: loaded as words, where all of an array's bytes stay as they come in.

``x = b[4 * i] | b[4 * i + 1] << 8 | b[4 * i + 2] << 16 | b[4 * i + 3] << 24`` becomes ``x = w[i]``, where ``w`` has the
array's words, least significant byte first, or last: hashes and ciphers begin so. What memcpy copies to a word, and a
pointer to bytes that is seen as one to words, lowering writes so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from ..base.ctype import LONG, UCHAR, UINT, ULONG, USHORT
from ..ir.fold import add, cast, multiply
from ..ir.nodes import Binary, Cast, Const, Expr, Kernel, Load, Region, Store
from ..ir.walk import expressions, mapped, statements, subexpressions, with_body, with_expressions

TYPES = {2: USHORT, 4: UINT, 8: ULONG}
Bytes = dict[int, Load]  # by how many bits the byte that a load gives is shifted


@dataclass(frozen=True)
class Words:
    """A region of words, and the region of bytes that they are. ``swapped``: the most significant byte comes first."""

    region: Region
    of: Region
    swapped: bool


def words(kernel: Kernel, are_bytes: Callable[[Region], bool]) -> tuple[Kernel, tuple[Words, ...]]:
    """``kernel`` with words in place of bytes put together, and their regions, which it has too; without the regions of
    bytes that nothing loads any more. ``are_bytes``: regions that may be seen so; those that are stored to are not."""
    stored = {s.region for s in statements(kernel.body) if isinstance(s, Store)}
    taken = {r for r in kernel.regions if r.type == UCHAR and r not in stored and r.count and are_bytes(r)}
    if not taken:
        return kernel, ()
    made: dict[str, Words] = {}
    body = with_expressions(kernel.body, partial(_seen, taken=taken, made=made))
    if not made:
        return kernel, ()
    every = (x for s in statements(body) for e in expressions(s) for x in subexpressions(e))
    loaded = {x.region for x in every if isinstance(x, Load)}
    gone = {w.of for w in made.values()} - loaded
    regions = (*(r for r in kernel.regions if r not in gone), *(w.region for w in made.values()))
    return replace(with_body(kernel, body), regions=regions), tuple(made.values())


def _seen(e: Expr, taken: set[Region], made: dict[str, Words]) -> Expr:
    """``e`` with words where it puts together bytes."""
    if isinstance(e, Binary) and e.op in ("|", "+", "^") and (word := _word(e, taken, made)) is not None:
        return word
    return mapped(e, partial(_seen, taken=taken, made=made))


def _word(e: Binary, taken: set[Region], made: dict[str, Words]) -> Expr | None:
    """The word that a sum of bytes is, if it is one."""
    parts = _bytes(e)
    if parts is None or len(parts) not in TYPES or sorted(parts) != [8 * k for k in range(len(parts))]:
        return None
    loads, n = [parts[8 * k] for k in range(len(parts))], len(parts)
    region = loads[0].region
    if region not in taken or any(x.region != region for x in loads):
        return None
    places = [_linear(x.index) for x in loads]
    terms, first = places[0][0], min(c for _, c in places)
    constants = [c - first for _, c in places]
    swapped = constants == [*reversed(range(n))]
    if any(t != terms for t, _ in places) or not (swapped or constants == [*range(n)]):
        return None
    if first % n or any(c % n for c in terms.values()):
        return None  # not one of the array's words
    index: Expr = Const(first // n, LONG)
    for term, c in terms.items():
        index = add(multiply(cast(term, LONG), c // n), index)
    name = f"{region.name}.c2cu_words{8 * n}{'_swapped' * swapped}"
    if name not in made:
        whole = Region(name, TYPES[n], (region.count // n,), region.storage, None, region.loc, region.said)
        made[name] = Words(whole, region, swapped)
    return cast(Load(made[name].region, index, loads[0].loc), e.type)


def _bytes(e: Expr) -> Bytes | None:
    """The bytes that an integer is put together from, each of which lies wholly in it; None where it is not."""
    match e:
        case Load(region=Region(type=t)) if t == UCHAR:
            return {0: e}
        case Cast() if e.type.is_integer and e.operand.type.is_integer:
            parts = _bytes(e.operand)
            if parts is None or max(parts) + 8 > e.type.bits:
                return None
            grows = e.type.bits > e.operand.type.bits
            return None if grows and e.operand.type.kind == "i" and max(parts) + 8 == e.operand.type.bits else parts
        case Binary("<<", left, Const(n)) if e.type.is_integer:
            parts = _bytes(left)
            if parts is None or max(parts) + 8 + int(n) > e.type.bits:
                return None
            return {shift + int(n): load for shift, load in parts.items()}
        case Binary("|" | "+" | "^", left, right) if e.type.is_integer:
            a, b = _bytes(left), _bytes(right)
            return None if a is None or b is None or a.keys() & b.keys() else a | b
    return None


def _linear(e: Expr) -> tuple[Mapping[Expr, int], int]:
    """A subscript as a sum of terms with their coefficients, and a constant."""
    match e:
        case Const(n):
            return {}, int(n)
        case Cast() if e.type.is_integer and e.operand.type.is_integer and e.type.size > e.operand.type.size:
            return _linear(e.operand) if e.operand.type.kind == "i" else ({e: 1}, 0)
        case Binary("+" | "-" as op, left, right):
            (a, m), (b, n) = _linear(left), _linear(right)
            sign = 1 if op == "+" else -1
            terms = {t: a.get(t, 0) + sign * b.get(t, 0) for t in (*a, *b)}
            return {t: c for t, c in terms.items() if c}, m + sign * n
        case Binary("*", left, Const(n)) | Binary("*", Const(n), left):
            terms, m = _linear(left)
            return {t: c * int(n) for t, c in terms.items() if c * n}, m * int(n)
        case Binary("<<", left, Const(n)):
            terms, m = _linear(left)
            return {t: c << int(n) for t, c in terms.items()}, m << int(n)
    return {e: 1}, 0
