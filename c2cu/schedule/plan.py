"""The plan: which variables go in and out, which schedule runs, and why the others do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..analysis.effects import MAYBE, READ, WRITE, effects, may_write
from ..analysis.facts import CERTAIN, INPUT, Trace
from ..base.ctype import CType, Leaf, Pointer, Scalar, Struct, extents, leaf_element, leaves
from ..base.diagnostics import InputError, UnsupportedError, instead
from ..frontend.kernel import KernelProgram, Parameter, unseen_statics
from ..gep import Gep, NotGep
from ..gep.pairs import LIMIT, least_sum
from ..ir.nodes import Kernel
from .artifact import Slot
from .estimate import Estimate
from .understood import Front

#: In the order in which "auto" prefers them; the last takes any C.
SCHEDULES = {
    "cpu": ("gep", "gang", "scalar"),
    "cuda": ("registers", "gep", "scan", "block", "thread", "private"),
}
#: Of these, by name: "schedule:variant".
VARIANTS = {"cpu": {}, "cuda": {"gep": ("tiles", "bits", "staged", "streams", "graph", "single", "recursive", "bands")}}
Rejected = tuple[tuple[str, str], ...]  # (schedule, why)
GANG, CACHE = 16, 1 << 19  # inputs in a gang, and bytes of theirs that a core works on at full speed
MOST_SLOTS = 1000  # 32 bytes each of the 32,764 that a kernel's parameters have, from CUDA 12.1 on
FEW, SMALL = 8, 32  # inputs that leave most of a gang's lanes idle, where they have as many rows


@dataclass(frozen=True)
class Candidate:
    """A schedule, and the threads that it gives a block (``block``, ``gep``: an input); 0: as many as it likes."""

    schedule: str
    threads: int = 0

    def __str__(self) -> str:
        return f"{self.schedule} with {self.threads} threads" if self.threads else self.schedule


@dataclass(frozen=True)
class Measurement:
    """``times``: seconds an input of each candidate, the fastest first, when ``p`` inputs ran. ``rejected``:
    (candidate, why) of those that do not run."""

    p: int
    times: tuple[tuple[Candidate, float], ...]
    rejected: Rejected = ()

    @property
    def winner(self) -> Candidate:
        return self.times[0][0]


@dataclass(frozen=True)
class Plan:
    """What will run. ``rejected``: (schedule, why) of those that come before it. ``threads``: of a block, 0 on a CPU.
    ``estimates``: of those that were considered, as far as there are any. ``measured``: what decided, if it did.
    ``launches``: kernels and how often each is launched, where the whole device works at an input."""

    backend: str
    schedule: str
    rejected: Rejected
    lanes: int = 1
    threads: int = 0
    estimates: tuple[Estimate, ...] = ()
    measured: Measurement | None = None
    launches: tuple[tuple[str, int], ...] = ()


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
            return {
                "names": [n for n, _, _ in fields],
                "formats": [f for _, f, _ in fields],
                "offsets": [o for _, _, o in fields],
                "itemsize": t.size,
            }
    raise AssertionError(t)


def _fields(t: Struct, offset: int = 0) -> Iterator[tuple[str, object, int]]:
    for m in t.members:
        if m.anonymous and isinstance(m.type, Struct):
            yield from _fields(m.type, offset + m.offset)
        elif m.bits is None:
            yield m.name, _field(m.type), offset + m.offset


def _field(t: CType) -> object:
    dims = tuple(n or 0 for n in extents(t))
    element = numpy_dtype(leaf_element(t))
    return (element, dims) if dims else element


def slots(program: KernelProgram, kernel: Kernel | None, trace: Trace | None) -> tuple[Slot, ...]:
    """The slots of a program's parameters, in order. ``kernel``: its flat form with dead code removed, if there is one;
    ``trace``: what it touches, where that is known."""
    inner = _inner_effects(program, kernel, _own(program, trace))
    return tuple(_slot(b, *inner[b.name]) for b in program.parameters)


def _slot(b: Parameter, reads: bool, writes: bool, required: bool) -> Slot:
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
        reads,
        writes,
        required,
        b.shared,
        b.loc,
    )


def _own(program: KernelProgram, trace: Trace | None) -> frozenset[str]:
    """Regions that are no input: no element goes in, as none may be read before it is written, whatever the data; and
    none of those that are not written goes out."""
    if trace is None or not trace.complete:
        return frozenset()
    unseen = unseen_statics(program)
    unread = [r for r in trace.regions if not r.count(INPUT)]
    whole = (r for r in unread if r.count(CERTAIN) == r.region.count or r.region.variable in unseen)
    return frozenset(r.region.name for r in whole)


def _inner_effects(
    program: KernelProgram, kernel: Kernel | None, own: frozenset[str]
) -> dict[str, tuple[bool, bool, bool]]:
    """(reads, writes, required) of each parameter."""
    if kernel is None:
        written = may_write(program)
        return {b.name: _from_ast(b, b.symbol in written) for b in program.parameters}
    e = effects(kernel)
    unseen = unseen_statics(program)
    out = {}
    for b in program.parameters:
        names = [b.name + leaf.path for leaf in leaves(b.type)]
        first = [e.first.get(n) for n in names]
        reads = any(
            n not in own and (f in (READ, MAYBE) or (f == WRITE and n in e.reads)) for n, f in zip(names, first)
        )
        writes = b.kind == "return" or (not b.shared and any(n in e.writes for n in names))
        if writes and b.name in unseen and any(n in e.reads for n in names):
            writes = not all(n in own or f in (WRITE, None) for n, f in zip(names, first))  # else it is scratch
        out[b.name] = reads, writes, _required(b, READ in first, reads, writes)
    return out


def _from_ast(b: Parameter, written: bool) -> tuple[bool, bool, bool]:
    writes = b.kind == "return" or (written and not b.shared and not b.by_value)
    reads = b.kind != "return"
    return reads, writes, _required(b, reads and not writes, reads, writes)


def _required(b: Parameter, read_first: bool, reads: bool, writes: bool) -> bool:
    """What must be given: anything proved to be read before it is written, unless the C gives it a value."""
    if b.shared:
        return True
    if b.kind == "return":
        return False
    if b.kind == "param" and not writes:
        return True  # C has no value for it
    initialised = b.symbol is not None and b.symbol.decl is not None and b.symbol.decl.init is not None
    return read_first and not (b.kind == "global" and initialised)


def packed(front: Front, bits: int) -> tuple[Slot, ...]:
    """The slots, with the bound of what shortest paths are found in. Raises InputError where there are none."""
    r = least_sum(front.gep) if isinstance(front.gep, Gep) else None
    if r is None or r.name not in {s.name for s in front.slots}:
        message = f"pack={bits} is for shortest paths of integers: D[i][j] = min(D[i][j], D[i][k] + D[k][j])"
        raise InputError(
            "C2CU058", message, front.program.kernel.loc, "leave it out; explain says what it makes of the loops"
        )
    most = min(1 << bits, LIMIT) - 1
    return tuple(replace(s, most=most) if s.name == r.name else s for s in front.slots)


Layout = dict[str, tuple[int, Leaf]]


def layout(program: KernelProgram) -> Layout:
    """Region name -> (number of its slot, where it lies in the slot's bytes)."""
    out: dict[str, tuple[int, Leaf]] = {}
    for k, b in enumerate(program.parameters):
        for leaf in leaves(b.type):
            out[b.name + leaf.path] = (k, leaf)
    return out


def require_extents(found: tuple[Slot, ...]) -> None:
    """Raises InputError for a slot whose extent nothing has told."""
    for s in found:
        if -1 in s.shape:
            raise InputError(
                "C2CU050",
                f"the length of '{s.name}' is not known",
                s.loc,
                f"give an array for it, or shapes={{'{s.name}': (n,)}} / --shape {s.name}=n",
            )


def require_few(found: tuple[Slot, ...]) -> None:
    """Raises UnsupportedError for more slots than the parameters of a CUDA kernel have room for."""
    if len(found) > MOST_SLOTS:
        message = f"{len(found)} variables go in and out of the kernel, and {MOST_SLOTS} are the most for CUDA"
        raise UnsupportedError("C2CU096", message, found[MOST_SLOTS].loc, "put them in arrays, or use backend cpu")


def require_shapes(found: tuple[Slot, ...], asked: Mapping[str, tuple[int, ...]]) -> None:
    """Raises InputError where the shapes that a user gives are no variable's, or not what the C says."""
    slots = {s.name: s for s in found}
    for name, shape in asked.items():
        if name not in slots:
            message = f"'{name}' in shapes is no variable of the kernel"
            raise InputError("C2CU041", message, None, instead(name, "the variables", slots))
        s = slots[name]
        if shape == s.shape[: len(shape)]:  # a pointer to rows takes the first extent alone
            continue
        wanted = ",".join(map(str, shape))
        if len(shape) > len(s.shape):
            message = f"the shape of '{name}' is given as {wanted}, but in the C it has {_extents(len(s.shape))}"
            raise InputError("C2CU058", message, s.loc, "shapes are those of one input: leave p out")
        message = f"the shape of '{name}' is given as {wanted}, but the C says {','.join(map(str, s.shape))}"
        raise InputError("C2CU058", message, s.loc, "shapes are for extents that the C leaves open")


def _extents(n: int) -> str:
    return "no extent" if n == 0 else "1 extent" if n == 1 else f"{n} extents"


def known(backend: str, schedule: str) -> None:
    """Raises InputError for a schedule that ``backend`` does not have."""
    names = SCHEDULES[backend]
    if schedule not in ("auto", *names, *variants(backend)):
        owner = next((b for b in SCHEDULES if schedule in (*SCHEDULES[b], *variants(b))), None)
        if owner is not None:
            message = f"schedule '{schedule}' is one of backend {owner}'s, and this is {backend}"
            raise InputError("C2CU051", message, None, f"give backend {owner}, or another schedule")
        hint = f"choose auto, {', '.join(names[:-1])} or {names[-1]}"
        if variants(backend):
            hint += f"; there are also {', '.join(variants(backend))}"
        raise InputError("C2CU051", f"schedule '{schedule}' is not one of backend {backend}'s", None, hint)


def variants(backend: str, schedule: str = "") -> tuple[str, ...]:
    """Schedules with their variants, "gep:tiles" and so on; those of one schedule if it is named."""
    found = ((s, v) for s, names in VARIANTS[backend].items() for v in names)
    return tuple(f"{s}:{v}" for s, v in found if schedule in ("", s))


def choose(backend: str, schedule: str, front: Front) -> Plan:
    """A schedule before extents are known: "auto" takes the first that nothing speaks against. Raises InputError for
    an unknown one, and the reason why one by name cannot be."""
    known(backend, schedule)
    names = SCHEDULES[backend]
    if schedule != "auto":
        if front.why_not is not None and schedule != names[-1]:
            raise front.why_not
        return Plan(backend, schedule, ())
    reasons: list[tuple[str, str]] = []
    for name in names[:-1]:
        if not applies(name, front):
            continue
        reason = objection(name, front, backend)
        if reason is None:
            return Plan(backend, name, tuple(reasons))
        reasons.append((name, reason))
    return Plan(backend, names[-1], tuple(reasons))


def applies(schedule: str, front: Front) -> bool:
    """Whether a schedule is made for programs like this one at all."""
    return schedule != "gep" or front.gep is not None


def objection(schedule: str, front: Front, backend: str, p: int | None = None) -> str | None:
    """Why not to choose a schedule that is not the last. ``p``: how many inputs, if that is known."""
    if front.why_not is not None:
        return said(front.why_not)
    findings = front.analysis.findings if front.analysis is not None else ()
    if (backend, schedule) == ("cpu", "gep"):
        return _better_in_gangs(front.gep, p)
    address = next((f for f in findings if f.kind == "address"), None)
    if schedule == "gang" and address is not None:
        return f"{address.loc}: {address.message}: lanes would go one by one"
    return None


def _better_in_gangs(gep: Gep | NotGep | None, p: int | None) -> str | None:
    """Why the CPU does many small matrices side by side rather than each in tiles."""
    assert gep is not None
    if isinstance(gep, NotGep):
        return f"{gep.loc}: not of Gaussian-elimination type: {gep.message}"
    if sum(r.count * r.type.size for r in gep.regions) * GANG > CACHE or (
        p is not None and p < FEW and gep.rows >= SMALL
    ):
        return None
    return f"{GANG} matrices of {gep.rows} x {gep.columns} side by side fit a core's cache"


def depends_on(p: int, front: Front, backend: str, schedule: str) -> bool:
    """Whether so few inputs want another schedule on the CPU than many do."""
    if (backend, schedule) != ("cpu", "auto"):
        return False
    if not applies("gep", front):
        return False
    return (objection("gep", front, "cpu", p) is None) != (objection("gep", front, "cpu") is None)


def said(e: UnsupportedError) -> str:
    """An error as a reason."""
    return f"{e.diagnostic.loc}: {e.diagnostic.message}"


def known_values(slots: tuple[Slot, ...], numbers: Mapping[str, str]) -> dict[str, int | float]:
    """What shared scalars are, by name, from their texts. Raises InputError."""
    import numpy

    found: dict[str, int | float] = {}
    for name, text in numbers.items():
        slot = next((s for s in slots if s.name == name), None)
        if slot is None or slot.shape:
            raise InputError("C2CU058", f"'{name}' is no scalar of the kernel's", None, f"write --shared {name}")
        try:
            value = float(text) if numpy.dtype(slot.dtype).kind == "f" else int(text, 0)
            found[name] = numpy.array(value, slot.dtype).item()
        except (ValueError, OverflowError):
            raise InputError(
                "C2CU047", f"'{text}' is no {slot.dtype} for '{name}'", slot.loc, "give a number"
            ) from None
    return found


def in_range(array: Any, slot: Slot) -> None:
    """Raises InputError for an element that is below 0 or above ``slot.most``, if there is such a bound."""
    if slot.most is None or not array.size or (array.min() >= 0 and array.max() <= slot.most):
        return
    at = ((array < 0) | (array > slot.most)).ravel().nonzero()[0][0]
    where, rest = (), int(at)
    for n in reversed(array.shape):
        rest, k = divmod(rest, int(n))
        where = (k, *where)
    message = f"'{slot.name}'[{', '.join(map(str, where))}] is {int(array[where])}, but pack allows 0 to {slot.most}"
    raise InputError("C2CU047", message, slot.loc, f"let {slot.most} stand for no edge, or leave pack out")
