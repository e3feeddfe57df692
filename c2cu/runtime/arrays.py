"""Checks users' arrays against a program's slots, before anything runs, and arranges them for the run."""

from __future__ import annotations

import functools
import itertools
import keyword
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import numpy

from ..base import catalogue, quantities
from ..base.diagnostics import did_you_mean
from ..base.memory import require_memory
from ..frontend.options import by_name
from ..schedule.slots import Slot, in_range, piece, shape_of, without_bit_fields, zeroed
from . import recycled


@dataclass(frozen=True)
class Bound:
    """The arrays of a run, one entry a slot or None: C-contiguous, batch-first: (p, ...), or (...) if shared. ``p``:
    number of inputs. ``on_device``: whether any input came from a CUDA device."""

    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    p: int
    on_device: bool


def on_device(array: Any) -> bool:
    """Whether an array lives on a CUDA device."""
    if isinstance(array, numpy.ndarray):
        return False
    if hasattr(array, "__cuda_array_interface__"):
        return True
    return hasattr(array, "__dlpack_device__") and int(array.__dlpack_device__()[0]) in (2, 13)


def is_number(value: Any) -> bool:
    """Whether a value is a single number in host memory: a Python or NumPy scalar, or a NumPy array of shape ()."""
    return isinstance(value, bool | int | float | complex | numpy.generic) or (
        isinstance(value, numpy.ndarray) and value.shape == ()
    )


def named(inputs: Any, slots: tuple[Slot, ...]) -> dict[str, Any]:
    """``inputs`` as a dict by name. An array by itself stands for the only input. Raises InputError where there are
    several."""
    if inputs is None:
        return {}
    if isinstance(inputs, Mapping):
        return dict(inputs)
    bulk = [s for s in slots if not s.shared and s.name != "return"]
    readable = [s for s in bulk if s.reads and not s.keeps]
    for candidates in ([s for s in bulk if s.required], readable, bulk):
        if len(candidates) == 1 and not _meant_for_another(inputs, candidates[0], readable):
            return {candidates[0].name: inputs}
        if candidates:
            break
    raise catalogue.BARE_ARRAY.error(how=_to_give(bulk))


def _to_give(slots: list[Slot]) -> str:
    """What a dict of arrays has to hold, and what it may hold."""
    roles = {
        "required": [s.name for s in slots if s.required],
        "optional": [s.name for s in slots if s.reads and not s.required and not s.keeps],
    }
    said = [f"{role}: {', '.join(names)}" for role, names in roles.items() if names]
    return f"give a dict of arrays by name; {'; '.join(said)}" if said else "give p=, the number of inputs, alone"


def _meant_for_another(array: Any, slot: Slot, others: list[Slot]) -> bool:
    """Whether shape and dtype of an array fit another slot, but not ``slot``."""
    return not _resembles(array, slot) and any(_resembles(array, s) for s in others)


def _resembles(array: Any, slot: Slot) -> bool:
    shape = tuple(getattr(array, "shape", ()))
    inner = (shape[1:], shape[:-1])  # in one layout or the other
    fits = shape and any(len(s) == len(slot.shape) and all(n in (m, -1) for m, n in zip(s, slot.shape)) for s in inner)
    return bool(fits) and str(getattr(array, "dtype", "")).removeprefix("torch.") == str(_dtype(slot))


def _inputs(slots: tuple[Slot, ...]) -> list[str]:
    """Names, those that have to be given first."""
    return [s.name for s in sorted(slots, key=lambda s: not s.required) if s.reads]


def _conversion(array: Any, slot: Slot) -> str:
    """How an array, or what is none, comes to have the dtype that is wanted."""
    names, given = _dtype(slot).names, getattr(array, "dtype", None)
    name = f"{slot.name}_" if keyword.iskeyword(slot.name) else slot.name  # Python's own words name no variable
    if names and getattr(given, "names", None) == names and not _has_bytes(_dtype(slot)):
        return f"convert it, member by member: {name}.astype(numpy.dtype({_dtype(slot)}))"
    if names:
        made = f"{name} = numpy.zeros(count, numpy.dtype({_dtype(slot)}))"
        return f"make an array of structs and fill its members: {made}, {name}['{names[0]}'] = ..."
    if _dtype(slot).kind == "V":
        return f"give its bytes: {name}.view('V{_dtype(slot).itemsize}')"
    if len(slot.shape) == 1 and slot.shape[0] > 0 and _dtype(slot).itemsize == 1 and _is_text(array):
        n, t = slot.shape[0], _dtype(slot)
        return f"take the bytes of strings: numpy.array({name}, dtype='S{n}').view('{t}').reshape(-1, {n})"
    if getattr(getattr(array, "dtype", None), "kind", "") == "S":  # NumPy would read numbers
        return f"take its bytes: {name}.view('{_dtype(slot)}').reshape(*{name}.shape, -1)"
    kinds = {getattr(given, "kind", ""), _dtype(slot).kind}
    if kinds == {"i", "u"} and getattr(given, "itemsize", 0) == _dtype(slot).itemsize:
        return f"only the sign differs: {name}.view('{_dtype(slot)}') has the same bits"
    if not hasattr(array, "dtype"):
        return f"give numbers: numpy.array([...], dtype='{_dtype(slot)}')"
    return f"convert it: {name}.astype('{_dtype(slot)}')"


def _members(dtype: numpy.dtype) -> dict[str, tuple[numpy.dtype, int]]:
    """The members of a struct, each with its dtype and where it begins."""
    return {} if dtype.fields is None else {name: field[:2] for name, field in dtype.fields.items()}


def _has_bytes(dtype: numpy.dtype) -> bool:
    """Whether some member is bytes of whatever is there, as unions are: NumPy copies no others into it."""
    return any(_has_bytes(t.base) for t, _ in _members(dtype).values()) if dtype.names else dtype.kind == "V"


def _lies_alike(given: numpy.dtype, wanted: numpy.dtype) -> bool:
    """Whether structs have the same members in the same places, where those that are bytes, as unions are, may be
    numbers of their size."""
    if given == wanted:
        return True
    if given.itemsize != wanted.itemsize or wanted.base.kind != "V":
        return False
    if wanted.base.names is None:
        return given.shape[: len(wanted.shape)] == wanted.shape and _is_of_numbers(given)
    if given.shape != wanted.shape or given.base.names != wanted.base.names:
        return False
    pairs = zip(_members(given.base).values(), _members(wanted.base).values())
    return all(a[1] == b[1] and _lies_alike(a[0], b[0]) for a, b in pairs)


def _is_of_numbers(dtype: numpy.dtype) -> bool:
    """Whether it is numbers in this machine's order of bytes, or bytes."""
    if dtype.base.names:
        return all(_is_of_numbers(t) for t, _ in _members(dtype.base).values())
    return dtype.base.kind in "biufcV" and dtype.base.isnative


def _is_text(value: Any) -> bool:
    """Whether it is a string, a list of them, or an array of them."""
    if hasattr(value, "dtype"):
        return value.dtype.kind in "SU"
    first = value[0] if isinstance(value, list | tuple) and value else value
    return isinstance(first, str | bytes)


WhyNot: TypeAlias = Callable[[str], str]  # why a variable of the file is no input; "" where that is not known


def check_names(arrays: Mapping[str, Any], slots: tuple[Slot, ...], why_not: WhyNot | None = None) -> None:
    """Raises InputError for a name that is no variable of the program, or not given where it must be."""
    check_known(arrays, slots, why_not)
    missing = [s for s in slots if s.required and s.name not in arrays]
    for s in missing:
        how = f"give an array of shape {_shape(s, 'row')} and dtype {_dtype(s)}"
        raise catalogue.MISSING_INPUT.error(s.loc, name=s.name, how=f"{how}{_or_else(s, missing)}")


def check_known(given: Iterable[str], slots: tuple[Slot, ...], why_not: WhyNot | None = None) -> None:
    """Raises InputError for a name that is no variable of the program."""
    names = [s.name for s in slots if s.name != "return"]
    for name in given:
        if name not in names:
            raise catalogue.UNKNOWN_VARIABLE.error(
                role="input",
                name=name,
                meant=(why_not(name) if why_not is not None else "") or did_you_mean(name, names),
                known=_inputs(slots) or names or "none",
            )


def _dtype(slot: Slot) -> numpy.dtype:
    return numpy.dtype(slot.dtype)


def words(slot: Slot, layout: str) -> str:
    """A slot in words: dtype, shape and roles, as in ``float32 (p, 16) required out``."""
    roles = (("required" if slot.required else "in", slot.reads), ("out", slot.writes), ("shared", slot.shared))
    kind = slot.dtype if isinstance(slot.dtype, str) else "struct"
    return " ".join([kind, _shape(slot, layout), *(role for role, on in roles if on)])


def _or_else(slot: Slot, missing: list[Slot]) -> str:
    """What else may be done than to give an array of a missing input: one number for all inputs, or a first value in
    the C, which what is ``missing`` beside it may need too."""
    if _may_start_at_zero(slot):
        zeros = ", ".join(f"'{zeroed(s)}'" for s in missing if _may_start_at_zero(s))
        return f"; where it is to start at zero, as it does in C, write that: {zeros}"
    if slot.shape or slot.shared or slot.is_written or not isinstance(slot.dtype, str):
        return ""  # what all inputs share nobody writes
    return f", or one number for all: shared={{'{slot.name}': ...}} / --shared {slot.name}=...{_compiled(slot)}"


def _may_start_at_zero(slot: Slot) -> bool:
    return slot.is_global and slot.is_written and not slot.shared


def _number_hint(value: Any, slot: Slot) -> str:
    """How one number is given for a scalar of the C."""
    if slot.shape or not (isinstance(value, bool | int | float | complex) or getattr(value, "shape", None) == ()):
        return ""
    name = slot.name
    if slot.writes:
        return "give an array of shape (p,)"
    one = f"one number for all: shared={{'{name}': {value}}} / --shared {name}={value}{_compiled(slot)}"
    return f"give an array of shape (p,), or {one}"


def _compiled(slot: Slot) -> str:
    """What of a number for all the compiler has to know."""
    return f" (a global's name goes to c2cu.compile too: shared=['{slot.name}'])" * slot.is_global


def _axis_hint(shape: tuple[int, ...], slot: Slot, layout: str) -> str:
    """How an array gets the axes that are wanted."""
    if len(slot.shape) == 1 and len(shape) > 2 and layout == "row" and not slot.shared:
        return f"{slot.name}.reshape(len({slot.name}), -1) has each input's elements in a row"
    if slot.shared:
        return ""
    if layout == "row" and len(slot.shape) > 1 and shape[1:] == (math.prod(slot.shape),):
        return f"{slot.name}.reshape({', '.join(map(str, (-1, *slot.shape)))}) has each input's axes"
    if len(shape) != len(slot.shape):
        return ""
    axis, index = ("first", "None") if layout == "row" else ("last", "..., None")
    return f"the {axis} axis counts inputs: {slot.name}[{index}] makes it one input"


def _shape(slot: Slot, layout: str) -> str:
    dims = ["n" if n == -1 else str(n) for n in slot.shape]
    if not slot.shared:
        dims = ["p", *dims] if layout == "row" else [*dims, "p"]
    return f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"


def checked(array: Any, slot: Slot, layout: str, role: str = "input") -> Any:
    """``array`` if it fits ``slot``, as an ndarray of its own kind. Raises InputError or InputTypeError."""
    if isinstance(array, bool | int | float | complex) and slot.shared and slot.shape == ():
        return _scalar(array, slot)
    fit: Any = array
    return _checked(fit, slot, layout, role)


def _checked(array: Any, slot: Slot, layout: str, role: str) -> Any:
    if "numpy.ma" in sys.modules and isinstance(array, numpy.ma.MaskedArray):  # which takes long to import
        raise catalogue.MASKED_ARRAY.error(slot.loc, role=role, name=slot.name)
    if not hasattr(array, "dtype") or not hasattr(array, "shape"):
        raise catalogue.NOT_AN_ARRAY.error(
            slot.loc,
            role=role,
            name=slot.name,
            type=type(array).__name__,
            how=_number_hint(array, slot)
            or (_conversion(array, slot) if _is_text(array) else f"use numpy.array(..., dtype='{_dtype(slot)}')"),
        )
    dtype = (
        numpy.dtype(str(array.dtype).removeprefix("torch."))
        if not isinstance(array.dtype, numpy.dtype)
        else array.dtype
    )
    if is_rows(array, slot, layout):
        return array
    if role == "input" and dtype.kind == "V" and dtype != _dtype(slot):
        if dtype == numpy.dtype(without_bit_fields(slot.dtype)) or _lies_alike(dtype, _dtype(slot)):
            array, dtype = array.view(_dtype(slot)), _dtype(slot)
    if slot.is_address and (dtype != _dtype(slot) or len(array.shape) > len(slot.shape) + 1):
        raise catalogue.ADDRESS_VARIABLE.error(slot.loc, name=slot.name)
    if dtype != _dtype(slot):
        raise catalogue.WRONG_DTYPE.error(
            slot.loc,
            role=role,
            name=slot.name,
            dtype=dtype,
            expected=_dtype(slot),
            how=_conversion(array, slot),
        )
    shape = tuple(array.shape)
    inner = shape if slot.shared else shape[1:] if layout == "row" else shape[:-1]
    if len(inner) != len(slot.shape) or (not slot.shared and not shape):
        raise catalogue.WRONG_DIMENSIONS.error(
            slot.loc,
            role=role,
            name=slot.name,
            shape=shape,
            expected=_shape(slot, layout),
            dimensions=len(slot.shape) + (not slot.shared),
            actual=len(shape),
            how=_number_hint(array, slot) or _axis_hint(shape, slot, layout),
        )
    if inner != slot.shape:
        raise catalogue.WRONG_SHAPE.error(
            slot.loc, role=role, name=slot.name, shape=shape, expected=_shape(slot, layout)
        )
    if role == "input" and hasattr(array, "min"):  # else a file, which was looked at
        in_range(array, slot)
    return array


def is_rows(array: Any, slot: Slot, layout: str) -> bool:
    """Whether an array on a device has the bytes of structs, a row for each input: CuPy has no structured dtypes."""
    if isinstance(array, numpy.ndarray) or not hasattr(array, "__cuda_array_interface__") or layout != "row":
        return False
    inner = tuple(array.shape) if slot.shared else tuple(array.shape)[1:]
    return _dtype(slot).kind == "V" and str(array.dtype) == "uint8" and inner == (slot.nbytes,)


def _scalar(value: Any, slot: Slot) -> numpy.ndarray:
    t = _dtype(slot)
    try:
        with numpy.errstate(over="raise"):
            array = numpy.array(value, t)
    except (OverflowError, FloatingPointError, ValueError, TypeError):
        array = None
    if array is None or (t.kind in "iu" and int(array) != value):
        raise catalogue.DOES_NOT_FIT.error(slot.loc, name=slot.name, value=value, type=t)
    return array


def common_p(arrays: Mapping[str, Any], slots: tuple[Slot, ...], layout: str, p: int | None) -> int:
    """The p that all bulk arrays agree on."""
    known: tuple[str, int] | None = None if p is None else ("p", p)
    for s in slots:
        if s.shared or s.name not in arrays:
            continue
        n = int(arrays[s.name].shape[0 if layout == "row" else -1])
        if known is None:
            known = (s.name, n)
        elif n != known[1]:
            message = f"inputs disagree on p: '{known[0]}' has {known[1]}," if p is None else f"p is {p}, but"
            raise catalogue.DISAGREE_ON_P.error(s.loc, first=message, name=s.name, count=n)
    if known is None:
        raise catalogue.NO_P.error()
    if not 0 <= known[1] <= quantities.MOST:
        raise catalogue.BAD_COUNT.error(p=known[1], most=quantities.MOST)
    return known[1]


def count(arrays: Mapping[str, Any], slots: tuple[Slot, ...], layout: str, p: int | None) -> int | None:
    """p as the first bulk array has it, whether or not the others agree; ``p`` where there is none."""
    shared = {s.name for s in slots if s.shared}
    shapes = (getattr(a, "shape", None) for n, a in arrays.items() if n not in shared)
    return next((int(s[0 if layout == "row" else -1]) for s in shapes if s), p)


def first(arrays: Mapping[str, Any], slots: tuple[Slot, ...], layout: str, n: int) -> dict[str, Any]:
    """The arrays of the first ``n`` inputs; shared arrays and single numbers stay as they are."""
    shared = {s.name for s in slots if s.shared}
    part = piece(layout, 0, n)
    return {name: a if name in shared or not getattr(a, "shape", ()) else a[part] for name, a in arrays.items()}


def bind(
    slots: tuple[Slot, ...],
    inputs: Any,
    shared: Mapping[str, Any],
    out: Any,
    layout: str,
    p: int | None = None,
    xp: ModuleType | None = None,
) -> Bound:
    """Check and arrange everything for a run of p inputs. ``xp``: the array module to compute with, numpy or cupy.

    Inputs are used where they lie if they are contiguous and of ``xp``'s kind, else copied.
    """
    xp = numpy if xp is None else xp
    arrays, count = fitted({**named(inputs, slots), **shared}, slots, layout, p)
    device = any(on_device(a) for a in arrays.values())
    out_arrays = targets(slots, out, layout, count)
    ins, outs = [], []
    for s in slots:
        source = arrays.get(s.name)
        ins.append(None if source is None else _batch_first(_moved(source, s, xp), s, layout, xp))
    direct = {n: a for n, a in out_arrays.items() if xp is numpy and layout == "row" and _in_place(n, a, slots, ins)}
    if xp is numpy:
        require_memory(sum(count * s.nbytes for s in slots if s.writes and s.name not in direct))
    for s in slots:
        outs.append((direct[s.name] if s.name in direct else empty(s, count, xp=xp)) if s.writes else None)
    return Bound(tuple(ins), tuple(outs), count, device)


def _in_place(name: str, out: Any, slots: tuple[Slot, ...], ins: list[Any]) -> bool:
    """Whether results may go straight to ``out``: where it overlaps an input it has to be that variable's own, from
    its first element on, as no other input is read before the first is written."""
    if not (out.flags.c_contiguous and out.flags.aligned):
        return False
    for s, a in zip(slots, ins):
        if a is None or not numpy.may_share_memory(a, out):
            continue
        if s.name != name or s.shared or a.ctypes.data != out.ctypes.data or a.shape != out.shape:
            return False
    return True


def _overlaps_itself(array: numpy.ndarray) -> bool:
    """Whether elements share memory, or could: those along an axis do not span what the next larger stride skips."""
    reach = array.dtype.itemsize
    for stride, n in sorted((abs(stride), n) for stride, n in zip(array.strides, array.shape) if n > 1):
        if stride < reach:
            return array.size > 0
        reach += stride * (n - 1)
    return False


def _share(a: Any, b: Any) -> bool:
    """Whether two arrays share memory; two of which that is hard to tell do."""
    if not isinstance(a, numpy.ndarray) or not isinstance(b, numpy.ndarray):
        return a is b
    try:
        return numpy.shares_memory(a, b, max_work=100_000)  # pyright: ignore[reportArgumentType]
    except numpy.exceptions.TooHardError:
        return True


GROUPED = 32 << 20  # bytes in and out from which copies are worth overlapping with kernels


def in_groups(slots: tuple[Slot, ...], arrays: Mapping[str, Any], out: Any, layout: str) -> bool:
    """Whether a bulk run on a device is faster group by group, with copies beside kernels: for host arrays of several
    inputs and many bytes, whose outputs do not overlap memory that a later group reads."""
    bulk = {s.name: s for s in slots if not s.shared}
    ins = [a for n, a in arrays.items() if n in bulk]
    outs = [] if out is None else list(out.values()) if isinstance(out, Mapping) else [out]
    if not ins or not all(isinstance(a, numpy.ndarray) and a.ndim for a in (*ins, *outs)):
        return False
    p = common_p(arrays, slots, layout, None)
    nbytes = p * sum(s.nbytes * ((s.name in arrays) + s.writes) for s in bulk.values())
    disjoint = all(a is b or not numpy.may_share_memory(a, b) for a in ins for b in outs)
    return p > 1 and nbytes >= GROUPED and disjoint


def fitted(
    inputs: Mapping[str, Any], slots: tuple[Slot, ...], layout: str, p: int | None = None
) -> tuple[dict[str, Any], int]:
    """The inputs, checked against the slots, and the p that they agree on. Raises InputError or InputTypeError."""
    check_names(inputs, slots)
    by_name = {s.name: s for s in slots}
    arrays = {n: checked(a, by_name[n], layout) for n, a in inputs.items()}
    return arrays, common_p(arrays, slots, layout, p)


def targets(slots: tuple[Slot, ...], out: Any, layout: str, p: int) -> dict[str, Any]:
    """``out=`` arrays by name, checked."""
    if out is None:
        return {}
    written = [s for s in slots if s.writes]
    if not isinstance(out, Mapping):
        if len(written) != 1:
            raise catalogue.BARE_OUT.error(names=[s.name for s in written])
        out = {written[0].name: out}
    slot = {s.name: s for s in written}
    for name, array in by_name("out", out).items():
        if name not in slot:
            raise catalogue.UNKNOWN_VARIABLE.error(
                role="output", name=name, meant=did_you_mean(name, slot), known=list(slot)
            )
        checked(array, slot[name], layout, "out")
        if int(array.shape[0 if layout == "row" else -1]) != p:
            raise catalogue.OUT_LENGTH.error(name=name, shape=tuple(array.shape), p=p)
        if isinstance(array, numpy.ndarray) and not array.flags.writeable:
            raise catalogue.READ_ONLY.error(name=name)
        if isinstance(array, numpy.ndarray) and _overlaps_itself(array):
            raise catalogue.OUT_OVERLAPS_ITSELF.error(name=name, strides=array.strides)
    for first, second in itertools.combinations(out, 2):
        if _share(out[first], out[second]):
            raise catalogue.OUT_TWICE.error(first=first, second=second)
    return dict(out)


def deliver(bound: Bound, slots: tuple[Slot, ...], out: Any, layout: str, to_numpy: Any) -> Any:
    """The results in the user's layout, stored in ``out`` where there is one: a dict by name, or the array itself where
    there is only one output. ``to_numpy(array, slot)``: the array that the user gets for an output."""
    out_arrays = targets(slots, out, layout, bound.p)
    results: dict[str, Any] = {}
    for s, array in zip(slots, bound.outputs):
        if array is None:
            continue
        array = to_numpy(array, s)
        if layout == "column":
            array = (
                numpy.moveaxis(array, 0, -1)
                if isinstance(array, numpy.ndarray)
                else array.transpose(*range(1, array.ndim), 0)
            )
            array = array.copy(order="C")
        if s.name in out_arrays and out_arrays[s.name] is not array:
            out_arrays[s.name][...] = array
            array = out_arrays[s.name]
        results[s.name] = array
    return next(iter(results.values())) if len(results) == 1 else results


def empty(slot: Slot, p: int, layout: str = "row", xp: ModuleType = numpy) -> Any:
    """Room for an output of p inputs. CuPy has no structured dtypes: structs are bytes there. What lies between a
    struct's members is zero, so that equal results have equal bytes."""
    t, shape, is_struct = _dtype(slot), shape_of(slot, p, layout), _dtype(slot).kind == "V"
    if xp is numpy:
        return recycled.empty(shape, t) if _is_full(t) else recycled.zeros(shape, t)
    return xp.zeros((p, slot.nbytes), "uint8") if is_struct else xp.empty(shape, t)


@functools.cache
def _is_full(dtype: numpy.dtype) -> bool:
    """Whether all bytes are numbers': none lies between a struct's members, or belongs to one of a union's alone."""
    if not dtype.names:
        return dtype.base.kind != "V"
    members = [t for t, _ in _members(dtype).values()]
    return sum(t.itemsize for t in members) == dtype.itemsize and all(_is_full(t) for t in members)


def _moved(array: Any, slot: Slot, xp: ModuleType) -> Any:
    """``array`` in ``xp``'s memory, without a copy where it is there already."""
    if xp is numpy:
        return numpy.asarray(array)
    if isinstance(array, numpy.ndarray) and not array.flags.c_contiguous:
        require_memory(array.nbytes)  # it is copied on the host first, here or by CuPy
    if isinstance(array, numpy.ndarray) and array.dtype.kind == "V":
        array = numpy.ascontiguousarray(array).reshape(array.shape[0], -1).view("uint8")
    if isinstance(array, numpy.ndarray) or not hasattr(array, "__dlpack__") or isinstance(array, xp.ndarray):
        return xp.asarray(array)
    return xp.from_dlpack(array)


def _batch_first(array: Any, slot: Slot, layout: str, xp: ModuleType) -> Any:
    if layout == "column" and not slot.shared:
        array = xp.moveaxis(array, -1, 0)
    if xp is numpy and not array.flags.aligned:  # C takes it for granted
        return array.copy(order="C")
    return xp.ascontiguousarray(array) if array.ndim else array
