"""Long products: the rows of a multiplication, kept in two numbers until the last.

Written as C does it, each link of a row is a wide multiply, two 64-bit additions and moves between register pairs. A
product of two words is a pair of words, and the hardware adds it to an aligned pair with the carry flag in one
instruction; so the pairs that begin at even words of the long number go into one accumulator, those at odd words into
another. Rows that follow one another, each adding to what the last one left (moved down by a word, in operand scanning
and in Montgomery's reduction), need no sum of the two but its lowest word; the rest is added up once, at the end.

Why nothing is lost. Words are numbered absolutely: where a row is moved down by a word, its base moves up by one.
Each accumulator is a number without sign, the long number is the sum of both, and each row adds the same products as
the C. What leaves the accumulators are words below the base: the one below is complete then, since only the
accumulator with pairs at the base has a word there; the other one's word at the next base is added to it, and the carry
goes on where that accumulator's pairs begin. What comes out of a row's topmost pair is added to the word above it,
which has held nothing but such carries, and becomes part of a pair only after the base has moved: it does not
overflow. The C cuts its result off at the words that it keeps, so rows are linked only where the largest number
possible fits into those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ...base.ctype import UINT
from ...codegen.cuda import CudaText, type_name
from ...ir.nodes import Assign, Binary, Block, Cast, Const, Expr, Var, Variable
from .carry_chain import Chain, chain, is_high, reads, terms, word
from .carry_text import add_words, multiply_add_pairs

ZERO = Const(0, UINT)


@dataclass(frozen=True)
class Row:
    """Statements ``start`` to ``end``: a chain, and the words above that take in its carry. The sum of addends and
    products is that of the results, word by word; a result None: nothing reads it."""

    chain: Chain
    start: int
    end: int
    addends: tuple[Expr, ...]
    results: tuple[Variable | None, ...]

    @property
    def n(self) -> int:
        return len(self.chain.links)

    @property
    def most(self) -> int:
        """The largest number that the products come to."""
        return sum(_most(k.x) * _most(k.y) << 32 * at for at, k in enumerate(self.chain.links))

    def fits(self, number: int) -> bool:
        return number < 1 << 32 * len(self.results)


@dataclass(frozen=True)
class LongProduct:
    """Rows, each on what the one before left; ``bases``: the lowest word of each."""

    rows: tuple[Row, ...]
    bases: tuple[int, ...]


def long_products(block: Block, uses: Counter[Variable], single: frozenset[Variable]) -> tuple[LongProduct, ...]:
    """All rows of ``block``, linked as far as they can be. ``single``: variables that are assigned once."""
    rows = list(_rows(block, uses, single))
    reader = {a.var: k for k, r in reversed(list(enumerate(rows))) for a in r.addends if isinstance(a, Var)}
    linked: set[int] = set()
    out: list[LongProduct] = []
    for k, row in enumerate(rows):
        if k in linked:
            continue
        most = row.most + sum(_most(a) << 32 * at for at, a in enumerate(row.addends))
        if not row.fits(most) or any(a != ZERO for a in row.addends[row.n + 1 :]):
            row = _bare(row)
            most = row.most + sum(_most(a) << 32 * at for at, a in enumerate(row.addends))
        chained, bases = [row], [0]
        while (at := _follower(chained[-1], reader)) is not None:
            following = rows[at]
            shift = _shift(chained[-1], following, uses)
            if shift is None or not following.fits((most >> 32 * shift) + following.most):
                break
            most = (most >> 32 * shift) + following.most
            linked.add(at)
            chained.append(following)
            bases.append(bases[-1] + shift)
        out.append(LongProduct(tuple(chained), tuple(bases)))
    return tuple(out)


def _rows(block: Block, uses: Counter[Variable], single: frozenset[Variable]) -> Iterator[Row]:
    k = 0
    while k < len(block):
        links = chain(block, k, uses, single)
        if links is not None:
            addends, results, length = _above(block, k + links.length, links, uses, single)
            addends = (*(x.addend for x in links.links), *addends)
            addends += (ZERO,) * (len(links.links) + len(results) - len(addends))
            yield Row(links, k, k + links.length + length, addends, (*(x.low for x in links.links), *results))
            k += length
        k += links.length if links is not None else 1


def _above(
    block: Block, at: int, c: Chain, uses: Counter[Variable], single: frozenset[Variable]
) -> tuple[tuple[Expr, ...], tuple[Variable, ...], int]:
    """Addends and results of the words above a chain, and the statements that make them: ``top = t + carry;
    t' = low(top); t'' = high(top) [+ another word]``, ``t' = low(carry)``, or none and the carry itself."""
    none: tuple[tuple[Expr, ...], tuple[Variable, ...], int] = (), (c.carry,), 0
    if uses[c.carry] != 1:
        return none
    match block[at : at + 3]:
        case [Assign(var=v, value=Cast(operand=Var(var=a), type=t)), *_] if a == c.carry and t == UINT and v in single:
            return (), (v,), 1
        case [Assign(var=s, value=total), Assign(var=l, value=Cast(operand=Var(var=a), type=t)), *rest] if (
            a == s and t == UINT and {s, l} <= single
        ):
            summands = terms(total)
            addends = [word(x) for x in summands if x != Var(c.carry)]
            if len(summands) != 2 or len(addends) != 1 or addends[0] is None or reads(addends[0]) & {*c.lows}:
                return none
            if uses[s] == 1:
                return (addends[0],), (l,), 2
            match rest:
                case [Assign(var=h, value=high)] if (
                    uses[s] == 2 and h in single and (added := _high_word(high, s)) is not None
                ):
                    return (addends[0], added), (l, h), 3
    return none


def _high_word(e: Expr, of: Variable) -> Expr | None:
    """What ``e`` adds to the high word of ``of``."""
    match e:
        case Cast(operand=x, type=t) if t == UINT and is_high(x, Var(of)):
            return ZERO
        case Binary(op="+", left=a, right=b, type=t) if t == UINT:
            for added, high in ((a, b), (b, a)):
                if high != ZERO and _high_word(high, of) == ZERO:
                    return added
    return None


def _bare(row: Row) -> Row:
    """The row without the words above: they stay as they are written."""
    c = row.chain
    return replace(
        row,
        end=row.start + c.length,
        addends=(*(x.addend for x in c.links), ZERO),
        results=(*(x.low for x in c.links), c.carry),
    )


def _follower(row: Row, reader: dict[Variable, int]) -> int | None:
    """The row that adds to this one's second word, if any."""
    second = row.results[1]
    return None if second is None else reader.get(second)


def _shift(row: Row, following: Row, uses: Counter[Variable]) -> int | None:
    """How many words the following row, on exactly what this one left, lies above it; None: it does not."""
    if row.n != following.n or any(v is None or uses[v] != 1 for v in row.results[1:]):
        return None
    for shift in (0, 1):
        remainder = tuple(Var(v) if v is not None else None for v in row.results[shift:])
        if following.addends == remainder + (ZERO,) * (len(following.addends) - len(remainder)):
            return shift
    return None


def _most(e: Expr) -> int:
    return int(e.value) if isinstance(e, Const) else (1 << 32) - 1


@dataclass
class LongProductText:
    """Prints one; ``number`` tells its accumulators from those of others. ``functions``: what it calls, by name."""

    product: LongProduct
    number: int
    printer: CudaText
    functions: dict[str, str] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)  # accumulators' words that are declared
    lines: list[str] = field(default_factory=list)

    def row(self, k: int) -> list[str]:
        """The lines of row ``k``; ask for them in order."""
        row, base = self.product.rows[k], self.product.bases[k]
        moved = k > 0 and base > self.product.bases[k - 1]
        self.lines = []
        if k == 0:
            for at, addend in enumerate(row.addends[: row.n + 1]):
                if addend != ZERO:
                    self.word((row.n - 1 if at else 0), at, self.printer.expr(addend))
        for first in (1, 0) if moved else (0, 1):
            self.pairs(row, base, first, moved and first == 1)
        if row.results[0] is not None:
            self.lines.append(f"unsigned int {self.printer.variable(row.results[0])} = {self.word(base, base)};")
        if k + 1 == len(self.product.rows):
            self.merge(row, base)
        return self.lines

    def name(self, parity: int, at: int) -> str:
        """Word ``at`` of the accumulator with pairs at even or at odd words."""
        return f"c2cu_{'odd' if parity % 2 else 'even'}{self.number}_{at}"

    def word(self, parity: int, at: int, value: str = "0") -> str:
        """The same, declared."""
        name = self.name(parity, at)
        if name not in self.declared:
            self.declared.add(name)
            self.lines.append(f"unsigned int {name} = {value};")
        return name

    def pairs(self, row: Row, base: int, first: int, moved: bool) -> None:
        """Add the products of every other link from ``first`` on."""
        links = row.chain.links[first::2]
        end = base + first + 2 * len(links)
        fresh = self.name(base + first, end - 1) not in self.declared
        words = [self.word(base + first, at) for at in range(base + first, end + (not fresh))]
        lowest = [self.word(base, base), self.word(base + 1, base)] if moved else []
        factors = [self.printer.expr(e) for part in ("x", "y") for e in (getattr(link, part) for link in links)]
        name, text = multiply_add_pairs(len(links), moved, fresh)
        self.functions[name] = text
        self.lines.append(f"{name}({', '.join([*words, *lowest, *factors])});")

    def merge(self, row: Row, base: int) -> None:
        """The results but the lowest: the sum of both accumulators."""
        results = [
            self.printer.variable(v) if v is not None and v.type == UINT else f"c2cu_word{self.number}_{at}"
            for at, v in enumerate(row.results)
        ][1:]
        both = [
            name if name in self.declared else "0u"
            for parity in (0, 1)
            for name in (self.name(parity, base + at) for at in range(1, len(row.results)))
        ]
        name, text = add_words("+", len(results))
        self.functions[name] = text
        self.lines += [f"unsigned int {', '.join(results)};", f"{name}({', '.join([*results, *both])});"]
        last = row.results[-1]
        if last is not None and last.type != UINT:
            self.lines.append(f"{type_name(last.type)} {self.printer.variable(last)} = {results[-1]};")
