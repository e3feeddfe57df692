"""Expressions of the gang schedule: a uniform one is plain C, a varying one is a vector with an input in each lane.

In registers a lane is 4 or 8 bytes wide: char and short are kept widened, a varying _Bool is a mask of 0 and -1. Where
16 bits are enough for all that varies (`schedule/gang/halves.py`), a lane is 2 bytes wide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..analysis.uniform import Uniform
from ..base.ctype import BOOL, INT, UINT, Scalar
from ..ir.evaluate import COMPARISONS
from ..ir.indices import simplified
from ..ir.nodes import Binary, Bitcast, Call, Cast, Const, Expr, Extremum, Load, Region, Select, Unary, Var, Variable
from ..ir.ranges import Ranges, ranges_of_variables
from .division import inverse, is_by_constant
from .lanes import ROUNDINGS
from .math_calls import host_call
from .precedence import NAME, PREFIX, SUM, WHOLE, enclosed, infix


def register(t: Scalar) -> str:
    """The vector type that holds a varying value of type ``t``."""
    if t.is_float:
        return "f32" if t.size == 4 else "f64"
    if t.size == 8:
        return "u64" if t.kind == "u" else "i64"
    return "u32" if t.size == 4 and t.kind == "u" else "i32"


def memory(t: Scalar) -> str:
    """The vector type of a varying region's elements."""
    if t.is_float:
        return register(t)
    return f"{'u' if t.kind in 'ub' else 'i'}{8 * t.size}"


def member(r: Region) -> str:
    """A region's C name. It holds the places of the dots: field ``b`` of ``a`` is not the variable ``a_b``."""
    dots = [str(k) for k, c in enumerate(r.name) if c == "."]
    return f"r{'_'.join(dots)}_{r.name.replace('.', '_')}"


def mask_of(rep: str) -> str:
    """The integer vector that a comparison of ``rep`` gives."""
    return f"i{rep[1:]}"


def literal(value: int | float, t: Scalar) -> str:
    """A constant in C, exact."""
    if t.is_float:
        suffix = "f" if t.size == 4 else ""
        if math.isnan(value):
            return f'__builtin_nan{suffix}("")'
        if math.isinf(value):
            return f"({'-' if value < 0 else ''}__builtin_inf{suffix}())"
        return (
            f"({float(value).hex()}{suffix})" if value < 0 or str(value)[0] == "-" else f"{float(value).hex()}{suffix}"
        )
    suffix = ("u" if t.kind == "u" else "") + ("l" if t.size == 8 else "")
    value = int(value)
    if value == -(2 ** (8 * t.size - 1)) and t.size >= 4:
        return f"({value + 1}{suffix} - 1)"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


LOW = "0xfffffffful"
TABLE = 256  # bytes of a table that a few registers hold
GATHERED = 1 << 26  # elements of a region below which a place among all lanes' elements is an int


def is_table(r: Region) -> bool:
    """Whether lanes look up what they have of ``r`` in registers, where the processor can."""
    return r.storage == "shared" and r.init is not None and 0 < r.count * r.type.size <= TABLE


def is_word(e: Expr) -> bool:
    """Whether a 64-bit value is a zero-extended one of at most 32 bits."""
    match e:
        case Cast(operand=x) if x.type.is_integer:
            return (x.type.kind in "ub" and x.type.size <= 4) or (x.type.size == 8 and is_word(x))
        case Const(value=v):
            return 0 <= v < 2**32
    return False


def boolean(e: Expr) -> bool:
    """Whether the value is certainly 0 or 1."""
    match e:
        case Binary(op=op) if op in COMPARISONS or op in ("&&", "||"):
            return True
        case Binary(op="&" | "|" | "^"):
            return boolean(e.left) and boolean(e.right)
        case Unary(op="!"):
            return True
        case Cast():
            return e.type == BOOL or (e.type.is_integer and boolean(e.operand))
        case Var() | Load():
            return e.type == BOOL
        case Const():
            return e.type.is_integer and e.value in (0, 1)
    return False


def is_instruction(e: Expr | None) -> bool:
    """Whether ``e`` is one instruction of x86, whose minima and maxima take the second of equal zeros, and with NaN."""
    return isinstance(e, Extremum) and e.rule == "strict" and e.type != BOOL


def before(index: Expr) -> Expr | None:
    """A subscript that is one less, where that can be told from its text."""
    match index:
        case Binary(op="+", left=x, right=Const(value=1)):
            return x
        case Binary(op="+", left=x, right=Const(value=n, type=t)) if n > 1:
            return Binary("+", x, Const(n - 1, t), index.type, index.loc)
    return None


def parted(index: Expr, region: Region) -> tuple[Expr, int]:
    """A subscript as one and a constant, which an address has for nothing. From 0, where lanes that are not active
    look, the constant and the next element are in the region."""
    match index:
        case Binary(op="+", left=x, right=Const(value=int(n))) if index.type == INT and 0 < n < region.count - 1:
            return x, n
    return index, 0


def is_folded(e: Call) -> bool:
    """Whether compilers have something simpler for a call, with other bits: x * x for pow(x, 2)."""
    if e.name not in ("pow", "powf"):
        return False
    base, exponent = e.args
    if isinstance(base, Const):
        return math.frexp(base.value)[0] == 0.5
    return isinstance(exponent, Const) and exponent.value in (-1, 0, 1, 2)


def other_lanes(text: str, source: str, target: str) -> str:
    """A vector of registers as another one."""
    if source[1:] == target[1:] and "f" not in (source[0], target[0]):
        return f"(({target}){text})"
    match source[1:], target[1:]:
        case ("64", "32") if "f" not in (source[0], target[0]):
            text, made = f"words({text})", "i32"
        case ("32", "64") if "f" not in (source[0], target[0]):
            text, made = (f"wide({text})", "i64") if source[0] == "i" else (f"wide_unsigned({text})", "u64")
        case _:
            return f"CONVERT({target}, {text})"
    return text if made == target else f"(({target}){text})"


@dataclass
class Printer:
    """Prints the expressions of one kernel. ``lines``: where statements that an expression needs go."""

    u: Uniform
    lines: list[str] = field(default_factory=list)
    temporaries: int = 0
    wide_multiply: bool = False
    roots: dict[str, None] = field(default_factory=dict)  # the vector types whose square root is taken,
    fused: dict[str, None] = field(default_factory=dict)  # and that are multiplied and added in one
    rounded: dict[str, None] = field(default_factory=dict)  # "floor_f64" and the like, where used
    functions: dict[str, None] = field(default_factory=dict)  # of math.h, that are called for all lanes at once
    known: frozenset[str] = frozenset()  # those that can be: see `schedule.gang.functions`
    alone: dict[str, None] = field(default_factory=dict)  # functions that are called lane by lane
    constants: dict[tuple[str, str], str] | None = None  # calls of constants that stand apart, by type and text
    gathers: dict[tuple[str, bool], None] = field(default_factory=dict)  # vector types; of a region with lanes, or not
    pairs: dict[str, None] = field(default_factory=dict)  # vector types of which neighbours are loaded together,
    neighbours: frozenset[tuple[Region, Expr]] = frozenset()  # where: their table, the first one's subscript;
    loaded: dict[tuple[Region, Expr, str], tuple[str, str]] = field(default_factory=dict)  # and, by gang, their names
    lookups: dict[Region, int] = field(default_factory=dict)  # tables in registers; how many elements it takes
    together: set[Region] = field(default_factory=set)  # those of which four lookups are one somewhere,
    bytes_of: set[Region] = field(default_factory=set)  # and give bytes
    bytes: dict[str, None] = field(default_factory=dict)  # vectors of bytes that become words, or words become
    unsigned: dict[tuple[str, int], None] = field(default_factory=dict)  # vectors of floats, bits they become
    extremes: dict[str, None] = field(default_factory=dict)  # "min_f32" and the like, where used
    wide: bool = False  # lanes are 8 bytes: unsigned int is kept widened too, its products are then one instruction
    half: bool = False  # lanes are 2 bytes: of a whole number the lower 16 bits are kept
    by_products: bool = False  # whether divisions by constants are done so, where there are some in a row
    odd: str = ""  # the number of what shows that a division by products was wrong; "" where none is done so
    looks: Mapping[int, Expr | None] = field(default_factory=dict)  # what each looks at: `schedule.dividends`
    divides: bool = False  # whether one is done so somewhere
    mask: str = ""  # name of the mask of active lanes; "" where all are
    gang: str = "g"  # the pointer to the gang's regions
    suffix: str = ""  # of varying variables' names: of several gangs, each has its own
    common: frozenset[Variable | Region] = frozenset()  # uniform ones that stand in ``c``, for several functions

    def register(self, t: Scalar) -> str:
        """The vector type that holds a varying value of type ``t`` in this kernel."""
        if self.half:
            return "i16"
        return "u64" if self.wide and t == UINT else register(t)

    def memory(self, r: Region) -> str:
        """The vector type of a varying region's elements in this kernel."""
        if self.half and r.storage == "local" and r.type.size > 2:
            return "i16"
        return "u64" if self.wide and r.type == UINT else memory(r.type)

    # names

    def var(self, v: Variable) -> str:
        name = f"{v.name}_{v.uid}" if v.uid >= 0 else f"{v.name}_u{-v.uid}"
        if v in self.common:
            return f"c->{name}"
        return name + self.suffix if self.suffix and v in self.u.varying else name

    def region(self, r: Region) -> str:
        name = member(r)
        if r in self.common:
            return f"c->{name}"
        in_gang = r in self.u.varying_regions or (r.storage == "shared" and r.init is None)
        return f"{self.gang}->{name}" if in_gang else name

    def varying(self, e: Expr) -> bool:
        return self.u.is_varying(e)

    def temporary(self, rep: str) -> str:
        self.temporaries += 1
        name = f"t{self.temporaries}"
        self.lines.append(f"{rep} {name};")
        return name

    # uniform values: plain C

    def scalar(self, e: Expr) -> str:
        """A uniform value as an operand of any operator."""
        return self.text(e, PREFIX)

    def text(self, e: Expr, level: int = WHOLE) -> str:
        """A uniform value, in parentheses where it binds less tightly than ``level``."""
        return enclosed(self.printed(e), level)

    def subscript(self, e: Expr) -> str:
        """A uniform subscript."""
        return self.text(simplified(e))

    def printed(self, e: Expr) -> tuple[str, int]:
        """A uniform value, and how tightly its text binds."""
        match e:
            case Const():
                return literal(e.value, e.type), NAME
            case Var(var=v):
                return self.var(v), NAME
            case Load():
                return f"{self.region(e.region)}[{self.subscript(e.index)}]", NAME
            case Unary():
                return f"{e.op}{self.text(e.operand, NAME)}", PREFIX
            case Binary():
                return infix(e, self.text)
            case Cast():
                return self.scalar_cast(e)
            case Bitcast():
                return f"BITS({e.type}, {e.operand.type}, {self.scalar(e.operand)})", NAME
            case Select():
                return f"{self.scalar(e.cond)} ? {self.text(e.yes, SUM)} : {self.text(e.no, SUM)}", WHOLE
            case Extremum(rule="number"):
                return f"{e.function}({self.text(e.left)}, {self.text(e.right)})", NAME
            case Extremum():
                return self.printed(e.choice)
            case Call():
                text = f"{host_call(e.name)}({', '.join(map(self.text, e.args))})"
                if self.constants is None or not all(isinstance(a, Const) for a in e.args):
                    return text, NAME
                name = self.constants.setdefault((e.type.name, text), f"constant_{len(self.constants)}")
                return f"{name}()", NAME
        raise AssertionError(e)

    def scalar_cast(self, e: Cast) -> tuple[str, int]:
        """A conversion as x86 has it without AVX-512, whose own gives other numbers for what the type does not hold."""
        x = self.scalar(e.operand)
        if not e.operand.type.is_float or e.type.kind != "u" or e.type.size < 4:
            return f"({e.type}){x}", PREFIX
        if e.type.size == 4:
            return f"({e.type})(long){x}", PREFIX
        high = f"({e.type})(long)({x} - 0x1p63) ^ (1ul << 63)"
        return f"{x} >= 0x1p63 ? {high} : ({e.type})(long){x}", WHOLE

    # masks

    def truth(self, e: Expr) -> str:
        """A mask: -1 in the lanes where ``e`` is not 0."""
        if not self.varying(e):
            return self.everywhere(self.scalar(e))
        match e:
            case Binary(op="&&" | "||"):
                return f"({self.truth(e.left)} {e.op[0]} {self.truth(e.right)})"
            case Binary(op="==" | "!=") if boolean(e.left) and boolean(e.right):
                same = f"({self.truth(e.left)} ^ {self.truth(e.right)})"
                return f"(~{same})" if e.op == "==" else same
            case Binary(op=op) if op in COMPARISONS:
                return self.compared(self.vector(e.left), op, self.vector(e.right), self.register(e.left.type))
            case Binary(op="&" | "|" | "^") if boolean(e):
                return f"({self.truth(e.left)} {e.op} {self.truth(e.right)})"
            case Unary(op="!"):
                return f"(~{self.truth(e.operand)})"
            case Cast() if e.type == BOOL or boolean(e):
                return self.truth(e.operand)
            case Var(var=v) if v.type == BOOL:
                return self.var(v)
        rep = self.register(e.type)
        return self.compared(self.vector(e), "!=", f"({rep}){{0}}", rep)

    # how a mask is held: a subclass may hold it in another way

    @property
    def mask_type(self) -> str:
        return "i16" if self.half else "i32"

    @property
    def every_lane(self) -> str:
        return f"splat_{self.mask_type}(-1)"

    def everywhere(self, scalar: str) -> str:
        """The mask of a uniform condition."""
        return f"splat_{self.mask_type}(-({scalar} != 0))"

    def compared(self, left: str, op: str, right: str, rep: str) -> str:
        text = f"{left} {op} {right}"
        return f"words({text})" if rep[1:] == "64" else f"(({self.mask_type})({text}))"

    def ones(self, mask: str, rep: str) -> str:
        """1 in the lanes of a mask, 0 in the others."""
        text = f"({mask} & 1)"
        return text if rep == self.mask_type else other_lanes(text, self.mask_type, rep)

    def lane(self, mask: str) -> str:
        """Whether lane ``l`` is one of the mask's."""
        return f"{mask}[l]"

    def within(self, mask: str, value: str, rep: str) -> str:
        """An integer vector with 0 in the lanes outside a mask."""
        return f"{value} & {self.mask_for(mask, rep)}"

    def merged(self, mask: str, yes: str, no: str) -> str:
        """A choice between masks."""
        return self.select(mask, yes, no, self.mask_type)

    # varying values

    def vector(self, e: Expr) -> str:
        """The value in every lane, as `register` of its type."""
        rep = self.register(e.type)
        if not self.varying(e):
            return f"splat_{rep}({self.text(e)})"
        match e:
            case _ if boolean(e) and not isinstance(e, Load):
                return self.ones(self.truth(e), rep)
            case Var(var=v):
                return self.var(v)
            case Load():
                return self.load(e)
            case Unary():
                return self.narrowed(f"({e.op}{self.vector(e.operand)})", e.type)
            case Binary():
                text = self.binary(e, rep)
                return self.narrowed(text, e.type) if e.op in ("+", "-", "*", "<<") else text
            case Cast():
                return self.convert(self.vector(e.operand), e.operand.type, e.type)
            case Bitcast():
                return self.bitcast(e, rep)
            case Select():
                return self.select(self.truth(e.cond), self.vector(e.yes), self.vector(e.no), rep)
            case Extremum(rule="number"):
                return self.call(Call(e.function, (e.left, e.right), e.type, e.loc), rep)
            case Extremum() if is_instruction(e):
                self.extremes[f"{e.op}_{rep}"] = None
                return f"{e.op}_{rep}({self.vector(e.left)}, {self.vector(e.right)})"
            case Extremum():
                return self.vector(e.choice)
            case Call():
                return self.call(e, rep)
        raise AssertionError(e)

    def stored(self, value: Expr) -> str:
        """A value whose upper bits do not matter, as they do not go into memory."""
        match value:
            case Cast(operand=x) if value.type.size < x.type.size and not boolean(value):
                if self.half:
                    return self.vector(x)
                if self.register(x.type) in ("i32", "u32"):
                    return f"((i32){self.vector(x)})"
        return self.vector(value)

    def narrowed(self, text: str, t: Scalar) -> str:
        """A result of type ``t`` brought back to its 32 bits where it is kept widened."""
        return f"({text} & {LOW})" if self.wide and t == UINT else text

    def bitcast(self, e: Bitcast, rep: str) -> str:
        text = self.vector(e.operand)
        if self.wide and e.operand.type == UINT:
            return f"(({rep})CONVERT(u32, {text}))"
        return f"CONVERT(u64, (u32){text})" if self.wide and e.type == UINT else f"(({rep}){text})"

    def select(self, mask: str, yes: str, no: str, rep: str) -> str:
        return f"select_{rep}({self.mask_for(mask, rep)}, {yes}, {no})"

    def mask_for(self, mask: str, rep: str) -> str:
        """A mask as wide as what it chooses from."""
        return mask if mask_of(rep) == self.mask_type else other_lanes(mask, self.mask_type, mask_of(rep))

    def converted(self, text: str, source: str, target: str) -> str:
        """An integer vector of memory as one of registers, or the other way round. No step takes more than twice the
        width or half of it: GCC 12 has instructions for those alone, and goes lane by lane else."""
        if source == target:
            return text
        size, last = int(source[1:]), int(target[1:])
        if {size, last} == {8, 32}:
            self.bytes[source if size == 8 else target] = None
            return f"words_of_{source}({text})" if size == 8 else f"{target}_of_words({text})"
        while max(size, last) > 2 * min(size, last):
            size = 2 * size if size < last else size // 2
            text = f"CONVERT({source[0]}{size}, {text})"
        return f"CONVERT({target}, {text})"

    def load(self, e: Load) -> str:
        rep = self.register(e.type)
        if not self.varying(e.index):
            text = f"{self.region(e.region)}[{self.subscript(e.index)}]"
            return self.converted(text, self.memory(e.region), rep)
        if is_table(e.region):
            return self.lookup(e, rep)
        if (name := self.neighbour(e, rep)) is not None:
            return name
        index = self.lanes_index(e.index)
        out = self.temporary(rep)
        own = e.region in self.u.varying_regions
        if self.is_gathered(e):
            element = self.memory(e.region) if own else memory(e.region.type)
            self.gathers[element, own] = None
            text = f"gather{'_own' * own}_{element}({self.region(e.region)}, {index})"
            self.lines.append(f"{out} = {self.converted(text, element if int(element[1:]) >= 32 else rep, rep)};")
            return out
        lane = "[l]" if own else ""
        self.lines.append(f"LANES {out}[l] = {self.region(e.region)}[{index}[l]]{lane};")
        return out

    def neighbour(self, e: Load, rep: str) -> str | None:
        """The name of what is loaded together with the element before or behind it; None where it is alone."""
        for place, first in enumerate((e.index, before(e.index))):
            if first is None or (e.region, first) not in self.neighbours:
                continue
            if (e.region, first, self.suffix) not in self.loaded:
                start, ahead = parted(first, e.region)
                index = self.lanes_index(start)
                names = self.temporary(rep), self.temporary(rep)
                self.pairs[rep] = None
                row = f"&{self.region(e.region)}[{ahead}]" if ahead else self.region(e.region)
                self.lines.append(f"pair_{rep}({row}, {index}, &{names[0]}, &{names[1]});")
                self.loaded[e.region, first, self.suffix] = names
            return self.loaded[e.region, first, self.suffix][place]
        return None

    def lookup(self, e: Load, rep: str) -> str:
        """What stands in a table that a register or a few hold, if the processor can."""
        element = memory(e.region.type)
        self.reached(e)
        text = f"lookup_{member(e.region)}({self.place(e.index)})"
        out = self.temporary(rep)
        self.lines.append(f"{out} = {self.converted(text, element if e.region.type.size >= 4 else 'i32', rep)};")
        return out

    def lookups_together(self, loads: list[Load]) -> list[str]:
        """What up to four lookups in one table of bytes give."""
        name = self.places_together(loads)
        self.together.add(loads[0].region)
        self.lines.append(f"lookup4_{member(loads[0].region)}({name});")
        return [f"{name}[{k}]" for k in range(len(loads))]

    def bytes_together(self, loads: list[Load]) -> list[str]:
        """The same as vectors of bytes."""
        table, name = loads[0].region, self.places_together(loads)
        element = memory(table.type)
        self.bytes_of.add(table)
        self.bytes[element] = None
        self.lines += [f"{element} {name}b[4];", f"bytes4_{member(table)}({name}, {name}b);"]
        return [f"{name}b[{k}]" for k in range(len(loads))]

    def places_together(self, loads: list[Load]) -> str:
        """The name of the subscripts of up to four lookups, in an array of four."""
        for e in loads:
            self.reached(e)
        places = ", ".join(self.place(e.index) for e in loads)
        self.temporaries += 1
        self.lines.append(f"i32 t{self.temporaries}[4] = {{{places}}};")
        return f"t{self.temporaries}"

    def reached(self, e: Load) -> None:
        """Note what of a table is looked up."""
        self.gathers[memory(e.region.type), False] = None
        low, high = self.ranges(e.index)
        count = min(high + 1, e.region.count) if low >= 0 else e.region.count
        self.lookups[e.region] = max(count, self.lookups.get(e.region, 1))

    @cached_property
    def ranges(self) -> Ranges:
        return Ranges(ranges_of_variables(self.u.kernel.body))

    def place(self, index: Expr) -> str:
        """A subscript of a small array, in 32 bits."""
        text, rep = self.lanes_index(index), self.register(index.type)
        return text if rep == "i32" else other_lanes(text, rep, "i32")

    def is_gathered(self, e: Load) -> bool:
        """Whether lanes have an instruction that loads an element each, from places that are ints. What is shorter than
        an instruction takes is loaded with what follows: there must be something, not so in arrays of users."""
        t = e.region.type
        if e.index.type != INT or e.region.count >= GATHERED:
            return False
        return t.size >= 4 or e.region in self.u.varying_regions or e.region.init is not None

    def lanes_index(self, index: Expr) -> str:
        """A varying subscript in a variable; 0 in lanes that are not active."""
        rep = self.register(index.type)
        out = self.temporary(rep)
        text = self.vector(index)
        self.lines.append(f"{out} = {self.within(self.mask, text, rep) if self.mask else text};")
        return out

    def binary(self, e: Binary, rep: str) -> str:
        if e.op in ("/", "%") and e.type.is_integer:
            name = "divide" if e.op == "/" else "modulo"
            return f"{name}_{rep}({self.vector(e.left)}, {self.vector(e.right)}, {self.mask or self.every_lane})"
        if e.op in ("<<", ">>"):
            if not self.varying(e.right):
                return f"({self.vector(e.left)} {e.op} {self.shift(e.right)})"
            right = self.vector(e.right)
            if self.register(e.right.type) != rep:
                right = other_lanes(right, self.register(e.right.type), rep)
            return f"({self.vector(e.left)} {e.op} {right})"
        if e.op == "*" and self.wide and self.is_product_of_words(e):
            self.wide_multiply = True
            return f"(({rep})multiply_wide((u64){self.vector(e.left)}, (u64){self.vector(e.right)}))"
        if self.odd and is_by_constant(e):
            return self.divided(e, rep)
        return f"({self.vector(e.left)} {e.op} {self.vector(e.right)})"

    def divided(self, e: Binary, rep: str) -> str:
        """A division by a constant: `codegen.division`."""
        assert isinstance(e.right, Const)
        self.divides, self.fused[rep] = True, None
        c = float(e.right.value)
        sums = inverse(c)
        assert sums is not None
        constants = ", ".join(self.vector(Const(x, e.type)) for x in (c, *sums))
        x, look = self.vector(e.left), self.looks[id(e)]
        if look == e.left:
            return f"over_looked_{rep}({x}, {constants}, &least{self.odd})"
        text = f"over_{rep}({x}, {constants})"
        return text if look is None else f"looked_{rep}({self.vector(look)}, {text}, &least{self.odd})"

    def is_product_of_words(self, e: Binary) -> bool:
        """Whether both factors are certainly below 2^32."""
        return e.type == UINT or (e.type.is_integer and e.type.size == 8 and is_word(e.left) and is_word(e.right))

    def shift(self, e: Expr) -> str:
        return self.scalar(e) if isinstance(e, Const) else f"({'short' if self.half else 'int'})({self.scalar(e)})"

    def convert(self, text: str, a: Scalar, b: Scalar) -> str:
        """``text``, of type ``a``, as ``b`` (6.3.1)."""
        source, target = self.register(a), self.register(b)
        fits = a.size < b.size or (a.size == b.size and a.kind == b.kind)
        fits = fits and (a.kind in "ub" or b.kind == "i")
        if self.half:
            return text if fits or b.size >= 2 else self.wrapped(text, b, 16)
        if self.wide and b == UINT:
            wide = text if source[1:] == "64" and source[0] != "f" else f"CONVERT(i64, {text})"
            return f"((u64){wide} & {LOW})"
        if b.is_float or a.is_float:
            if b.is_integer and b.size < 4:
                return self.wrapped(f"CONVERT(i32, {text})", b)
            if a.is_float and b.kind == "u":
                self.unsigned[source, b.bits] = None
                return f"u{b.bits}_of_{source}({text})"
            if target == "f64" and source in ("i32", "f32"):
                return f"f64_of_{source}({text})"
            return text if source == target else f"CONVERT({target}, {text})"
        if b.size < 4:
            inner = f"words({text})" if source[1:] == "64" else text if source == "i32" else f"((i32){text})"
            return inner if fits else self.wrapped(inner, b)
        if source == target:
            return text
        return other_lanes(text, source, target)

    @staticmethod
    def wrapped(text: str, t: Scalar, lane: int = 32) -> str:
        """A vector of lanes of so many bits with what ``t`` holds of each."""
        bits = lane - 8 * t.size
        return f"(({text} << {bits}) >> {bits})" if t.kind == "i" else f"({text} & {(1 << 8 * t.size) - 1})"

    def call(self, e: Call, rep: str) -> str:
        if e.name in ("fabs", "fabsf"):
            integer, top = ("i32", "0x7fffffff") if rep == "f32" else ("i64", "0x7fffffffffffffffl")
            return f"(({rep})(({integer}){self.vector(e.args[0])} & {top}))"
        if e.name in ("copysign", "copysignf"):
            integer, top = ("i32", "(-0x7fffffff - 1)") if rep == "f32" else ("i64", "(-0x7fffffffffffffffl - 1)")
            size, sign = (f"({integer}){self.vector(a)}" for a in e.args)
            return f"(({rep})(({size} & ~{top}) | ({sign} & {top})))"
        if e.name in ROUNDINGS:
            name = f"{e.name.removesuffix('f') if rep == 'f32' else e.name}_{rep}"
            self.rounded[name] = None
            return f"{name}({self.vector(e.args[0])})"
        if e.name in ("sqrt", "sqrtf"):
            self.roots[rep] = None
            return f"root_{rep}({self.vector(e.args[0])})"
        if e.name in ("fma", "fmaf"):
            self.fused[rep] = None
            return f"fma_{rep}({', '.join(map(self.vector, e.args))})"
        if e.name in self.known and not is_folded(e):
            self.functions[e.name] = None
            return f"lanes_{e.name}({', '.join(map(self.vector, e.args))})"
        return self.lane_by_lane(e, rep)

    def lane_by_lane(self, e: Call, rep: str) -> str:
        """A vector of what a function of the library returns, called for one lane after the other."""
        args = []
        for a in e.args:
            if not self.varying(a):
                args.append(self.scalar(a))
                continue
            name = self.temporary(self.register(a.type))
            self.lines.append(f"{name} = {self.vector(a)};")
            args.append(f"{name}[l]")
        out = self.temporary(rep)
        self.alone[e.name] = None
        active = self.active(e)
        if active:  # the other lanes hold something too, or compilers warn
            self.lines.append(f"{out} = splat_{rep}(0);")
        self.lines.append(f"LANES {active}{out}[l] = {host_call(e.name)}({', '.join(args)});")
        return out

    def active(self, e: Call) -> str:
        """What a call in a loop over the lanes begins with."""
        return ""
