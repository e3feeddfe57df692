"""The slots: which variables go in and out of a kernel, their dtypes, and their place in memory; do the arrays fit?

The stages before are imported where a program is understood: what an earlier process has understood needs none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..base import catalogue
from ..base.ctype import FIELDS, CType, Leaf, Member, Pointer, Scalar, Struct, extents, leaf_element, object_leaves
from ..base.diagnostics import Loc, Note, did_you_mean
from ..frontend.options import Options

if TYPE_CHECKING:
    from ..analysis.facts import Trace
    from ..frontend.kernel import KernelProgram, Parameter
    from ..gep import Gep, NotGep
    from ..ir.nodes import Kernel

MOST_SLOTS = 1000  # 32 bytes each of the 32,764 that a kernel's parameters have, from CUDA 12.1 on
Layout = Mapping[str, tuple[int, Leaf]]  # region name -> its slot's number, and where it lies in the slot's bytes


@dataclass(frozen=True)
class Slot:
    """A variable that the kernel reads or writes, as memory: a C global, a C parameter or the returned value.

    Attributes:
        name: The C name; ``return`` for the returned value.
        dtype: A NumPy dtype string, or for a struct a dictionary of names, formats, offsets and itemsize.
        shape: The extents for one input; ``()`` for a scalar, -1 for an extent that the inputs decide.
        nbytes: Bytes for one input.
        reads: It is an input.
        writes: It is an output.
        required: A call must pass it: the kernel reads it before writing it, and the C has no initialiser.
        shared: One copy serves all inputs.
        loc: Its declaration in the C.
        most: The largest integer that an input may have, the least being 0; None where ``pack`` sets no limit.
        keeps: The kernel never reads it. It is an input only so that elements that are not written keep a given value.
        zero: It starts at zero where a call does not give it, as the C says no value, and on some path the kernel reads
            that; known of programs that can be analysed.
        is_global: It is a variable of the file.
        is_written: The kernel writes it, whether or not that comes out.
        is_status: It is the exit status.
        is_address: It is a pointer, or pointers.
    """

    name: str
    dtype: Any
    shape: tuple[int, ...]
    nbytes: int
    reads: bool
    writes: bool
    required: bool = False
    shared: bool = False
    loc: Loc = field(default=Loc(), compare=False)
    most: int | None = None
    keeps: bool = False
    zero: bool = False
    is_global: bool = False
    is_written: bool = False
    is_status: bool = False
    is_address: bool = False


def bytes_moved(slots: tuple[Slot, ...]) -> int:
    """Bytes in and out an input; all extents are known."""
    return sum(s.nbytes * (s.reads + s.writes) for s in slots if not s.shared)


def piece(layout: str, first: int, last: int) -> Any:
    """The subscript of inputs first <= id < last of an array in a layout: the p axis is the first, or the last."""
    return slice(first, last) if layout == "row" else (..., slice(first, last))


def shape_of(slot: Slot, n: int, layout: str) -> tuple[int, ...]:
    """The shape of n inputs' arrays, as the user sees them."""
    return (n, *slot.shape) if layout == "row" else (*slot.shape, n)


def zeroed(slot: Slot) -> str:
    """The declaration of a variable of the file, without its type, that says that it starts at zero."""
    is_number = isinstance(slot.dtype, str) and not slot.shape
    return f"{slot.name}{''.join(f'[{n}]' for n in slot.shape)} = {'0' if is_number else '{0}'};"


def slots(program: KernelProgram, kernel: Kernel | None, trace: Trace | None) -> tuple[Slot, ...]:
    """The slots of a program's parameters, in order. ``kernel``: its flat form with dead code removed, if there is one;
    ``trace``: what it touches, where that is known."""
    inner = _inner_effects(program, kernel, _not_inputs(program, trace))
    return tuple(_slot(b, inner[b.name]) for b in program.parameters)


STATUS = "status"  # the output that is each input's exit status


def chosen(program: KernelProgram, slots: tuple[Slot, ...], options: Options) -> tuple[Slot, ...]:
    """The slots, those written that ``options`` does not ask for no outputs any more, and the exit status where it asks
    for that. Raises InputError for what is no output."""
    taken = next((s for s in slots if s.name == STATUS), None)
    if options.status and taken is not None:
        raise catalogue.STATUS_TAKEN.error(taken.loc)
    status = options.status or (STATUS in (options.outputs or ()) and taken is None)
    if options.outputs is not None:
        names = [s.name for s in slots if s.writes]
        for name in options.outputs:
            if name not in names and not (status and name == STATUS):
                raise catalogue.UNKNOWN_VARIABLE.error(
                    role="output", name=name, meant=did_you_mean(name, names), known=names
                )
        slots = tuple(s if s.name in options.outputs else replace(s, writes=False) for s in slots)
    if status:
        slots = (*slots, Slot(STATUS, "int32", (), 4, False, True, loc=program.kernel.loc, is_status=True))
    return slots


@dataclass(frozen=True)
class _Roles:
    """What a slot says of a parameter."""

    reads: bool
    writes: bool
    required: bool
    keeps: bool = False
    zero: bool = False


def _slot(b: Parameter, roles: _Roles) -> Slot:
    element = leaf_element(b.type)
    dims = extents(b.type)
    size = element.size
    for n in dims:
        size *= n or 0
    return Slot(
        b.name,
        numpy_dtype(element),
        tuple(n if n is not None else -1 for n in dims),
        size,
        roles.reads,
        roles.writes,
        roles.required,
        b.shared,
        b.loc,
        keeps=roles.keeps,
        zero=roles.zero,
        is_global=b.kind == "global",
        is_written=roles.writes,
        is_address=isinstance(element, Pointer),
    )


def _not_inputs(program: KernelProgram, trace: Trace | None) -> frozenset[str]:
    """Regions that are no input: no element goes in, as none may be read before it is written, whatever the data; and
    none of those that are not written goes out."""
    from ..analysis.facts import CERTAIN, INPUT
    from ..frontend.kernel import unseen_statics

    if trace is None or not trace.complete:
        return frozenset()
    unseen = unseen_statics(program)
    unread = [r for r in trace.regions if not r.count(INPUT)]
    whole = (r for r in unread if r.count(CERTAIN) == r.region.count or r.region.variable in unseen)
    return frozenset(r.region.name for r in whole)


def _inner_effects(program: KernelProgram, kernel: Kernel | None, not_inputs: frozenset[str]) -> dict[str, _Roles]:
    """The roles of each parameter."""
    from ..analysis.effects import MAYBE, READ, WRITE, effects, may_write
    from ..frontend.kernel import read_statics, set_elsewhere, unseen_statics
    from ..ir.nodes import ENDED

    if kernel is None:
        written = may_write(program)
        elsewhere = set_elsewhere(program)
        return {b.name: _from_ast(b, b.symbol in written, b.name in elsewhere) for b in program.parameters}
    e = effects(kernel)
    unseen = unseen_statics(program)
    # What the flat kernel does not say of those that it has in registers.
    read = read_statics(program) if unseen else frozenset()
    early = _Early(program) if ENDED in kernel.regions else None
    constants = {r.name for r in kernel.regions if r.storage == "shared" and r.init is not None}
    out: dict[str, _Roles] = {}
    scratch: list[str] = []
    for b in program.parameters:
        if _holds_addresses(b):
            out[b.name] = _Roles(False, False, False)
            continue
        names = [b.name + leaf.path for leaf in object_leaves(b.type)]
        if b.kind == "global" and not b.shared and (b.name in kernel.begun or constants.issuperset(names)):
            out[b.name] = _Roles(False, False, False)
            continue
        first = [MAYBE if FIELDS in n and e.first.get(n) == READ else e.first.get(n) for n in names]
        reads = any(
            n not in not_inputs and (f in (READ, MAYBE) or (f == WRITE and n in e.reads)) for n, f in zip(names, first)
        )
        writes = b.kind == "return" or (not b.shared and any(n in e.writes for n in names))
        if writes and b.name in unseen and (b.symbol in read or any(n in e.reads for n in names)):
            writes = reads or not all(n in not_inputs or f in (WRITE, None) for n, f in zip(names, first))
            if not writes:
                scratch.append(b.name)
        is_named = any(n in e.reads or n in e.writes for n in names)
        if early is not None:  # what an input that ends early leaves unwritten comes out as it came in
            is_named = is_named or early.names(b)
            writes = writes or (early.writes(b) and b.name not in scratch)
            reads = b.kind != "return" and (reads or writes or early.names(b))
        required = _required(b, READ in first, writes) and (is_named or b.shared)
        used = any(n in e.used for n in names) or (early is not None and early.names(b))
        zero = reads and not required and b.name not in unseen and not _initialised(b)
        zero = zero and any(n in e.read_first for n in names)
        out[b.name] = _Roles(reads, writes, required, reads and writes and not used, zero)
    if not any(roles.writes for roles in out.values()):  # then nobody would run it but for these
        out.update((name, replace(out[name], writes=True)) for name in scratch)
    return out


class _Early:
    """What is named and written on the way to an early end, which the flat kernel does not have."""

    def __init__(self, program: KernelProgram):
        from ..analysis.effects import may_write
        from ..frontend.ends import early_ends

        ends = early_ends(program)
        self.symbols = frozenset(ends.symbols(program))
        self.written = may_write(program)
        self.through = ends.writes_through(program)

    def names(self, b: Parameter) -> bool:
        return b.symbol in self.symbols

    def writes(self, b: Parameter) -> bool:
        may = b.symbol in self.written and not b.shared and not b.by_value
        return may and (self.through or self.names(b))


def _holds_addresses(b: Parameter) -> bool:
    """Whether it is a global of pointers: an address means nothing outside the program."""
    return b.kind == "global" and isinstance(leaf_element(b.type), Pointer)


def _from_ast(b: Parameter, written: bool, elsewhere: bool) -> _Roles:
    if _holds_addresses(b):
        return _Roles(False, False, False)
    writes = b.kind == "return" or (written and not b.shared and not b.by_value and not b.points_to_const)
    reads = b.kind != "return"
    hidden = b.symbol is not None and b.symbol.storage == "static" and not elsewhere  # nobody can have set it
    return _Roles(reads, writes, _required(b, reads and not writes and not hidden, writes))


def _required(b: Parameter, read_first: bool, writes: bool) -> bool:
    """What a call must pass: anything proved to be read before it is written, unless the C gives it a value."""
    if b.shared:
        return True
    if b.kind == "return":
        return False
    if b.kind == "param" and not writes:
        return True  # C has no value for it
    return read_first and not _initialised(b)


def _initialised(b: Parameter) -> bool:
    return b.kind == "global" and b.symbol is not None and b.symbol.decl is not None and b.symbol.decl.init is not None


def numpy_dtype(t: CType) -> object:
    """The NumPy dtype of an array's element: a string, or a dictionary for a struct with C's layout."""
    match t:
        case Scalar():
            return t.numpy
        case Pointer():
            return "uint64"
        case Struct(union=True):
            return f"V{t.size}"
        case Struct():
            fields = list(_fields(t))
            if not fields:
                return f"V{t.size}"  # bit-fields only, or nothing that has a name
            return {
                "names": [n for n, _, _ in fields],
                "formats": [f for _, f, _ in fields],
                "offsets": [o for _, _, o in fields],
                "itemsize": t.size,
            }
    raise AssertionError(t)


def _fields(t: Struct, offset: int = 0) -> Iterator[tuple[str, object, int]]:
    """(name, dtype, offset) of each member. Bit-fields that lie together are one, of all their bytes: NumPy copies what
    has a name. It is called as they are in C, "sign:1,exponent:8"."""
    fields = [m for m in t.members if m.bits is not None]
    if t.foreign and fields:  # where they lie is the compiler's secret
        yield _bits(fields), f"V{t.size}", offset
    for m in (m for m in t.members if m.bits is None) if t.foreign else t.storage:
        if m.anonymous and isinstance(m.type, Struct):
            yield from _fields(m.type, offset + m.offset)
        elif m.name.startswith(FIELDS):
            within = range(m.offset, m.offset + m.type.size)
            yield _bits(b for b in fields if b.bytes[0] in within), _field(m.type), offset + m.offset
        else:
            yield m.name, _field(m.type), offset + m.offset


def _bits(fields: Iterable[Member]) -> str:
    return ",".join(f"{m.name}:{m.bits}" for m in fields)


def without_bit_fields(dtype: Any) -> Any:
    """The dtype of a struct, with none of its bytes for bit-fields."""
    if not isinstance(dtype, dict):
        return dtype
    kept = [k for k, name in enumerate(dtype["names"]) if ":" not in name]
    formats = [without_bit_fields(f) if isinstance(f, dict) else f for f in dtype["formats"]]
    formats = [(without_bit_fields(f[0]), f[1]) if isinstance(f, tuple) else f for f in formats]
    lists = {"names": dtype["names"], "formats": formats, "offsets": dtype["offsets"]}
    return {**{name: [values[k] for k in kept] for name, values in lists.items()}, "itemsize": dtype["itemsize"]}


def _field(t: CType) -> object:
    dims = tuple(n or 0 for n in extents(t))
    element = numpy_dtype(leaf_element(t))
    return (element, dims) if dims else element


def layout(program: KernelProgram) -> Layout:
    """Region name -> (number of its slot, where it lies in the slot's bytes)."""
    out: dict[str, tuple[int, Leaf]] = {}
    for k, b in enumerate(program.parameters):
        for leaf in object_leaves(b.type):
            out[b.name + leaf.path] = (k, leaf)
    return out


def packed(slots: tuple[Slot, ...], gep: Gep | NotGep | None, bits: int, loc: Loc) -> tuple[Slot, ...]:
    """The slots, with the bound of what shortest paths are found in. ``loc``: the kernel's. Raises InputError where
    there are none."""
    from ..gep import Gep
    from ..gep.pairs import LIMIT, least_sum

    r = least_sum(gep) if isinstance(gep, Gep) else None
    if r is None or r.name not in {s.name for s in slots}:
        raise catalogue.NOT_PATHS.error(loc, bits=bits)
    most = min(1 << bits, LIMIT) - 1
    return tuple(replace(s, most=most) if s.name == r.name else s for s in slots)


def require_extents(slots: tuple[Slot, ...]) -> None:
    """Raises InputError for a slot whose extent nothing has told."""
    for s in slots:
        if -1 in s.shape:
            raise catalogue.UNKNOWN_LENGTH.error(s.loc, name=s.name)


def require_elements(slots: tuple[Slot, ...]) -> None:
    """Raises UnsupportedError for an array without elements."""
    for s in slots:
        if 0 in s.shape:
            raise catalogue.NO_ELEMENTS.error(s.loc, name=s.name)


def require_few(slots: tuple[Slot, ...]) -> None:
    """Raises UnsupportedError for more slots than the parameters of a CUDA kernel have room for."""
    if len(slots) > MOST_SLOTS:
        raise catalogue.TOO_MANY_VARIABLES.error(slots[MOST_SLOTS].loc, count=len(slots), most=MOST_SLOTS)


def require_shapes(slots: tuple[Slot, ...], asked: Mapping[str, tuple[int, ...]]) -> None:
    """Raises InputError where the shapes that a user gives are no variable's, or not what the C says."""
    by_name = {s.name: s for s in slots}
    for name, shape in asked.items():
        if name not in by_name:
            raise catalogue.UNKNOWN_VARIABLE.error(
                role="variable", name=name, meant=did_you_mean(name, by_name), known=list(by_name)
            )
        s = by_name[name]
        if shape == s.shape[: len(shape)]:  # a pointer to rows takes the first extent alone
            continue
        spelled = ",".join(map(str, shape))
        if s.is_address:
            raise catalogue.ADDRESS_VARIABLE.error(s.loc, name=name)
        if len(shape) > len(s.shape):
            raise catalogue.SURPLUS_EXTENTS.error(s.loc, name=name, shape=spelled, extents=_extents(len(s.shape)))
        raise catalogue.CONTRADICTED_SHAPE.error(s.loc, name=name, shape=spelled, expected=",".join(map(str, s.shape)))


def _extents(n: int) -> str:
    return "no extent" if n == 0 else "1 extent" if n == 1 else f"{n} extents"


def known_values(slots: tuple[Slot, ...], numbers: Mapping[str, str]) -> dict[str, int | float]:
    """What shared scalars are, by name, from their texts. Raises InputError."""
    import numpy

    values: dict[str, int | float] = {}
    for name, text in numbers.items():
        slot = next((s for s in slots if s.name == name), None)
        if slot is None or slot.shape:
            raise catalogue.NOT_A_SCALAR.error(name=name)
        if numpy.dtype(slot.dtype).kind == "c":
            continue  # no address depends on it
        try:
            value = float(text) if numpy.dtype(slot.dtype).kind == "f" else int(text, 0)
            values[name] = numpy.array(value, slot.dtype).item()
        except (ValueError, OverflowError):
            raise catalogue.NOT_A_NUMBER.error(slot.loc, text=text, type=slot.dtype, name=name) from None
    return values


def in_range(array: Any, slot: Slot) -> None:
    """Raises InputError for an element that is below 0 or above ``slot.most``, if there is such a bound."""
    if slot.most is None or not array.size or (array.min() >= 0 and array.max() <= slot.most):
        return
    at = ((array < 0) | (array > slot.most)).ravel().nonzero()[0][0]
    where, rest = (), int(at)
    for n in reversed(array.shape):
        rest, k = divmod(rest, int(n))
        where = (k, *where)
    raise catalogue.OUTSIDE_PACK.error(
        slot.loc, name=slot.name, index=list(where), value=int(array[where]), most=slot.most
    )


def bind_extents(program: KernelProgram, options: Options) -> dict[str, str]:
    """Macros that spell an extent, with the value that the arrays' shapes want. Raises InputError if they disagree."""
    extents: dict[str, tuple[int, str]] = {}
    for b in program.parameters:
        shape = options.shapes.get(b.name)
        names = b.symbol.extents if b.symbol is not None else ()
        if shape is None or len(shape) != len(names):
            continue
        for name, n in zip(names, shape):
            if not name:
                continue
            known = extents.setdefault(name, (n, b.name))
            if known[0] != n:
                notes = (Note(f"'{name}' is defined here", program.unit.pre.macros[name].loc),)
                if known[1] == b.name:
                    raise catalogue.NOT_SQUARE.error(b.loc, notes, name=b.name, first=known[0], second=n, macro=name)
                raise catalogue.EXTENTS_DISAGREE.error(
                    b.loc, notes, one=known[1], first=known[0], name=b.name, second=n, macro=name
                )
    macros = program.unit.pre.macros
    return {
        name: str(n)
        for name, (n, _) in extents.items()
        if not macros[name].overridden and program.unit.scope.names[name].value != n
    }


def refuse_shared_writes(program: KernelProgram) -> None:
    """Raise UnsupportedError where a program that could not be lowered may write what all inputs share."""
    from ..analysis.effects import may_write

    written = may_write(program) if program.followed else {}
    for b in program.parameters:
        if b.shared and not b.by_value and b.symbol in written:
            raise catalogue.SHARED_WRITTEN.error(written[b.symbol], name=b.name)
