"""Verification: every kernel proves itself once, on some of the caller's own inputs.

Compilers have faults, and so has c2cu. When an artifact first runs, schedule ``native``, which is the user's own text
as the host's compiler takes it, does some of the inputs as well, and the results are compared bit for bit. That they
are equal is noted in the cache; where they differ, ``native`` does all inputs, now and later.

A call waits for native's compilation no longer than its share of time. Where that does not suffice, the inputs that
would have been compared are set aside with their results, and are compared once native is there.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import io
import json
import os
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from .. import backends, tune
from ..base import catalogue, libm, toolchain
from ..base.cache import Cache, cache_folder, key
from ..base.ctype import CType, Pointer, Struct, holds_pointers, leaf_element
from ..base.diagnostics import Error, ExitError, MismatchError
from ..base.notices import MismatchWarning, warn
from ..base.version import __version__
from ..frontend.options import one_of
from ..schedule import registry
from ..schedule.artifact import Artifact
from ..schedule.slots import Slot, piece
from ..schedule.understood import Understood

MODES = ("auto", "strict", "all", "off")
SECONDS, SHARE = 0.2, 0.05  # what comparing may take: so long, or this share of the call so far
WAITING = 0.5  # the part of that in which a call waits for native's compilation; half is for the comparison
MOST = 256  # inputs that are compared, at most
CHUNK = 4096  # inputs that "all" compares at a time
ASIDE = 64 << 20  # bytes of inputs and results that are set aside, at most
GPU = 3000  # cores that a GPU is worth
STEPS = 1e9  # array accesses that native makes a second, about
GROSS = 1e-2  # how far apart, in the largest value's terms, results are that rounding does not explain
NATIVE = registry.names("cpu")[-1]  # the schedule that takes any C as it stands
FLAGS = ("-O1",)  # with which gcc has done it before a schedule's text
#: Functions of math.h whose results are the same on a GPU.
EXACT = frozenset(
    "sqrt fabs floor ceil trunc round rint nearbyint copysign fmin fmax fdim fma fmod remainder ldexp scalbn logb "
    "ilogb nextafter lround llround lrint llrint isnan isinf isfinite signbit isnormal".split()
)


@dataclass(frozen=True)
class Mismatch:
    """Where two results differ. ``first``: the schedule's value; ``second``: native's."""

    input: int
    name: str
    subscripts: tuple[int, ...]
    first: Any
    second: Any


def mode(verify: Any) -> str:
    """One of `MODES`; $C2CU_VERIFY stands in place of "auto". Raises InputError."""
    how = "auto" if verify is None else verify
    if isinstance(how, int) and how in (0, 1):
        how = "auto" if how else "off"
    if isinstance(how, str) and how == "auto":
        how = os.environ.get("C2CU_VERIFY") or how
    return one_of("verify", how, MODES)


_patient: ContextVar[bool] = ContextVar("c2cu_patient", default=False)


@contextlib.contextmanager
def patient() -> Iterator[None]:
    """Calls inside wait for native as long as it takes: for those whose results cannot be mended later."""
    before = _patient.set(True)
    try:
        yield
    finally:
        _patient.reset(before)


class Verification:
    """What is known, on this machine, of one artifact's results. ``how``: auto, strict or all.

    Attributes:
        equal: They were compared, and no difference was found.
        different: They differ from native's, which does the inputs from now on.
        why_not: Why nothing was compared; "" where it was, or has yet to be.
        put_off: Results of a call that has returned are compared once native is there.
        untold: A difference that the user is to be told of.
    """

    def __init__(self, front: Understood, artifact: Artifact, backend: str, how: str):
        self.front, self.artifact, self.how = front, artifact, how
        self.lock = threading.RLock()
        self._name = note(front, artifact, backend)
        self._exact = is_exact(front, artifact, backend)
        self._noted = known = Cache().get(self._name, ".verified")
        self.equal, self.different, self.why_not = known == b"equal" and how != "all", known == b"different", ""
        self.put_off, self.untold = False, None
        self._backend = backend
        self._native: Future[Any] = Future()
        self._compiler: threading.Thread | None = None
        if self.open and how != "all" and (alone := _foreseen(front)) > SECONDS:
            self.why_not = too_long(alone)
        _proofs.add(self)
        if self.open or self.different:
            self._begin()

    @property
    def open(self) -> bool:
        """Whether the next call is to be compared."""
        return not (self.equal or self.different or self.why_not or self.put_off)

    @property
    def settled(self) -> bool:
        """Whether calls are as they would be without it."""
        return self.equal or bool(self.why_not)

    def _begin(self) -> None:
        """Have the host's compiler at work on native's text while it is at work on the schedule's."""
        if (self._compiler is None or not self._compiler.is_alive()) and not self._native.done():
            self._compiler = threading.Thread(target=self._compile, name="c2cu-verify", daemon=True)
            self._compiler.start()

    def _compile(self) -> None:
        try:
            artifact = registry.emit_schedule(NATIVE, self.front, backend="cpu")
            with toolchain.giving_way():
                loaded = backends.loader("cpu")(replace(artifact, flags=(*artifact.flags, *FLAGS)))
            self._native.set_result(loaded)
        except BaseException as e:
            self._native.set_exception(e)

    def native(self) -> Any:
        """The program under native, loaded. Raises Error."""
        self._begin()
        return self._native.result()

    def _is_there(self, seconds: float | None) -> bool:
        """Whether native is compiled within so many seconds; None: as many as it takes."""
        self._begin()
        return bool(wait_for([self._native], seconds).done)

    def settle(self, outcome: str) -> None:
        """Note what was found, for later processes."""
        self.equal, self.different = outcome == "equal" and self.how != "all", outcome == "different"
        if outcome.encode() != self._noted:
            self._noted = outcome.encode()
            Cache().store(self._name, ".verified", self._noted)

    def compare(
        self,
        arguments: Mapping[str, Any],
        results: Any,
        layout: str,
        numbers: Sequence[int],
        seconds: float,
        alone: float,
    ) -> Mismatch | None:
        """The first difference found between ``results`` and native's. ``numbers``: the inputs that the schedule did;
        ``seconds``: what the call has taken so far; ``alone``: what an input takes native, about. Notes the outcome,
        unless results differ."""
        budget, everything = max(SECONDS, SHARE * seconds), self.how == "all"
        if alone > budget and not everything:
            self.why_not = too_long(alone)
            return None
        patience = None if self.how != "auto" or _patient.get() else WAITING * budget
        if not self._is_there(patience):
            if self._set_aside(arguments, results, layout, numbers, alone):
                return None
            self._is_there(None)
        pieces = _everything(numbers) if everything else _some(numbers, time.perf_counter() + budget / 2)
        return self._outcome(arguments, results, layout, pieces)

    def alone(self, p: int, taken: float, at_work: float) -> float:
        """Seconds that an input alone takes, at most, by those that ``p`` took, and those in which this process was at
        work: on a machine that is busy with others they are fewer."""
        if self._backend == "cuda":
            return taken * min(1.0, GPU / p)
        lanes = getattr(self.artifact, "lanes", 1)
        return min(taken * min(1.0, lanes * toolchain.cores() / p), at_work * min(1.0, lanes / p))

    def mend(self, arguments: Mapping[str, Any], results: Mapping[str, Any], layout: str, p: int) -> None:
        """Compare all results of a stream's group, and put native's in place of those that differ."""
        with self.lock:
            mismatch = None
            if not self.different:
                mismatch = self._outcome(arguments, results, layout, _everything(range(p)))
            if mismatch is not None:
                self.untold = _diagnosed(self, mismatch, arguments, layout, catalogue.MISMATCH, range(p))
                self.settle("different")
        if self.different:
            right = by_name(self.run(arguments, layout, p), [s for s in self.artifact.slots if s.writes])
            for name, target in results.items():
                target[...] = right[name]

    def _outcome(
        self, arguments: Mapping[str, Any], results: Any, layout: str, pieces: Iterator[Sequence[int]]
    ) -> Mismatch | None:
        """Compare piece by piece, up to the first difference."""
        try:
            native = self.native()
        except Error as e:
            self.why_not = f"schedule native does not run it: {e.diagnostic.message.splitlines()[0]}"
            return None
        for where in pieces:
            mismatch = self._compared(native, arguments, results, layout, where)
            if mismatch is not None:
                return mismatch
        self.settle("equal")
        return None

    def _set_aside(
        self, arguments: Mapping[str, Any], results: Any, layout: str, numbers: Sequence[int], alone: float
    ) -> bool:
        """Keep some inputs and their results until native is there; False where they are too large for that."""
        slots = self.artifact.slots
        shared, each = (sum(2 * s.nbytes for s in slots if s.shared == of_all) for of_all in (True, False))
        room = (ASIDE - shared) // max(1, each)
        if room < 1:
            return False
        where = _spread(numbers)[: min(room, 1 + int(SECONDS / max(alone, 1e-9)))]
        inputs = {n: _copied(a) for n, a in _rows(arguments, slots, layout, where).items()}
        mine = by_name(results, [s for s in slots if s.writes])
        outputs = {n: _copied(on_host(_taken(a, layout, where))) for n, a in mine.items()}
        self.put_off = True
        atexit.register(self._finish)
        self._native.add_done_callback(lambda _: self._compare_late(inputs, outputs, layout, where))
        return True

    def _compare_late(
        self, inputs: Mapping[str, Any], outputs: Mapping[str, Any], layout: str, where: Sequence[int]
    ) -> None:
        """Compare what was set aside. The thread that compiled native does it."""
        mismatch = self._outcome(inputs, outputs, layout, _some(range(len(where)), time.perf_counter() + SECONDS))
        if mismatch is None:
            atexit.unregister(self._finish)
        else:
            self.untold = _diagnosed(self, mismatch, inputs, layout, catalogue.MISMATCH_LATE, where)
            self.settle("different")
        self.put_off = False

    def tell(self) -> None:
        """Warn of a difference that the user has not been told of."""
        error, self.untold = self.untold, None
        if error is not None:
            warn(MismatchWarning(replace(error.diagnostic, severity="warning")))

    def _finish(self) -> None:
        """At the end of the process: what was put off is done."""
        if self._compiler is not None:
            self._compiler.join()
        self.tell()

    def forked(self) -> None:
        """Called in a child process after a fork: the thread that compiles native exists in the parent only."""
        self.lock, self.put_off = threading.RLock(), False
        if not self._native.done():
            self._native = Future()

    def _compared(
        self, native: Any, arguments: Mapping[str, Any], results: Any, layout: str, where: Sequence[int]
    ) -> Mismatch | None:
        slots = [s for s in native.artifact.slots if s.writes]
        types = {b.name: b.type for b in self.front.program.parameters}
        ours = by_name(results, slots)
        right = by_name(self.run(_rows(arguments, native.artifact.slots, layout, where), layout, len(where)), slots)
        for s in slots:
            if s.name in ours and s.name in right:
                results = on_host(_taken(ours[s.name], layout, where)), right[s.name]
                mine, natives = (without_addresses(_batch_first(a, layout), types.get(s.name)) for a in results)
                at = difference(mine, natives, self._exact)
                if at is not None:
                    first, second = mine[at], natives[at]
                    return Mismatch(int(where[at[0]]), s.name, at[1:], first, second)
        return None

    def run(self, arguments: Mapping[str, Any], layout: str, p: int) -> Any:
        """What native makes of arrays on the host."""
        return self.run_to_ends(arguments, layout, p)[0]

    def run_to_ends(self, arguments: Mapping[str, Any], layout: str, p: int) -> tuple[Any, Any]:
        """The same, and what `NativeProgram.run` returns."""
        from ..runtime import arrays

        native = self.native()
        bound = arrays.bind(native.artifact.slots, arguments, {}, None, layout, p)
        exited = native.run(bound.inputs, bound.outputs, p) if p else None
        return arrays.deliver(bound, native.artifact.slots, None, layout, lambda a, s: a), exited


_proofs: weakref.WeakSet[Verification] = weakref.WeakSet()


def _forked() -> None:
    for proof in _proofs:
        proof.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def verified(
    proof: Verification,
    call: Callable[[Any], Any],
    arguments: Mapping[str, Any],
    out: Any,
    layout: str,
    p: int,
    started: float,
) -> Any:
    """What ``call(out)`` returns, compared with native's results if that has yet to be done, and native's where they
    differ. ``started``: when the user called (`time.perf_counter`). Raises MismatchError where the proof is strict."""
    with proof.lock:
        proof.tell()
        if proof.different:
            return _by_native(proof, arguments, layout, p, out)
        if not (proof.open and p):
            return call(out)
        return compared(lambda: (proof, range(p)), call, arguments, out, layout, p, started)


def compared(
    unproved: Callable[[], tuple[Verification | None, Sequence[int]]],
    call: Callable[[Any], Any],
    arguments: Mapping[str, Any],
    out: Any,
    layout: str,
    p: int,
    started: float,
) -> Any:
    """As `verified`. ``unproved``: after the call, whose results these are, and of which inputs."""
    apart = out is not None and _overlap(out, arguments)  # the inputs are still needed
    run, work = time.perf_counter(), time.process_time()
    early: ExitError | None = None
    try:
        results = call(None if apart else out)
    except ExitError as e:
        early, results = e, e.outputs
    now, at_work = time.perf_counter(), time.process_time() - work
    proof, numbers = unproved()
    outcome = None
    if proof is not None and proof.open and len(numbers):
        alone = proof.alone(len(numbers), now - run, at_work)
        outcome = proof.compare(arguments, results, layout, numbers, now - started, alone)
    if proof is None or outcome is None:
        results = _placed(results, out) if apart else results
        if early is None:
            return results
        early.outputs = results
        raise early
    proof.settle("different")
    mismatch = _diagnosed(proof, outcome, arguments, layout, catalogue.MISMATCH, range(p))
    if proof.how == "strict":
        raise mismatch
    warn(MismatchWarning(replace(mismatch.diagnostic, severity="warning")))
    return _by_native(proof, arguments, layout, p, out, results)


def note(front: Understood, artifact: Artifact, backend: str) -> str:
    """The name in the cache of what is known of an artifact on this machine."""
    slots = [(s.name, s.shape, s.shared) for s in artifact.slots]
    text = front.pre.plain or front.pre.text
    return key("verified", artifact.text, artifact.flags, slots, text, *tune.identity(backend), __version__)


def is_exact(front: Understood, artifact: Artifact, backend: str) -> bool:
    """Whether each bit of an artifact's results is C's."""
    if front.fp != "exact" and registry.rounds_freely(backend, artifact.schedule):
        return False
    called = {m[1] for m in re.finditer(r"\b(\w+)\(", artifact.text)} & libm.FUNCTIONS.keys()
    return backend == "cpu" or all(n in EXACT or n.removesuffix("f") in EXACT for n in called)


def _foreseen(front: Understood) -> float:
    """Seconds that an input alone takes native at least, from its accesses; 0 where none were counted."""
    return front.steps / STEPS


def too_long(seconds: float) -> str:
    return f"an input alone takes native about {seconds:.2g} s"


def expected(front: Understood, artifact: Artifact | None, backend: str, how: str) -> str:
    """What `explain` says of it."""
    if how == "off":
        return "not verified: that is turned off"
    if artifact is None or artifact.schedule == NATIVE:
        return "nothing to verify: the user's own text runs" if artifact is not None else "not known yet"
    compared = "compared with native's" if is_exact(front, artifact, backend) else "compared with native's, as rounded"
    try:
        known = Cache().get(note(front, artifact, backend), ".verified")
    except Error:
        known = None
    if known == b"equal":
        return f"verified on this machine: results were {compared}"
    if known == b"different":
        return "results differ from native's on this machine: native runs it"
    if _foreseen(front) > SECONDS and how != "all":
        return f"not verified on this machine: {too_long(_foreseen(front))}"
    limit = f"{SECONDS} s or {SHARE:.0%} of the call"
    return f"in the first call, or after it, up to {MOST} inputs are {compared}, in {limit}"


# Which inputs


def _spread(numbers: Sequence[int]) -> list[int]:
    """`MOST` of these inputs: the first, the last, and some between."""
    p = len(numbers)
    between = (int(p * (k * 0.6180339887498949 % 1)) for k in range(1, MOST - 1))
    return [int(numbers[k]) for k in dict.fromkeys((0, p - 1, *between))]


def _some(numbers: Sequence[int], until: float) -> Iterator[list[int]]:
    """Inputs, a few at a time, as long as there is time."""
    first, *rest = _spread(numbers)
    yield [first]
    size = 1
    while rest and time.perf_counter() < until:
        yield rest[:size]
        rest, size = rest[size:], 2 * size


def _everything(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    return (numbers[k : k + CHUNK] for k in range(0, len(numbers), CHUNK))


def _rows(arguments: Mapping[str, Any], slots: tuple[Slot, ...], layout: str, where: Sequence[int]) -> dict[str, Any]:
    """These inputs' arrays on the host, and what all inputs share."""
    shared = {s.name for s in slots if s.shared}
    return {
        n: on_host(a if n in shared or not getattr(a, "shape", ()) else _taken(a, layout, where))
        for n, a in arguments.items()
    }


def _taken(array: Any, layout: str, where: Sequence[int]) -> Any:
    if isinstance(where, range):
        return array[piece(layout, where.start, where.stop)]
    return array[list(where)] if layout == "row" else array[..., list(where)]


def _copied(array: Any) -> Any:
    """An array that nobody else writes to; what is no array stays."""
    return array.copy() if hasattr(array, "copy") else array


def on_host(array: Any) -> Any:
    """An array in host memory; what is no array stays."""
    from ..runtime import arrays

    if not arrays.on_device(array):
        return array
    from ..runtime.cuda import cupy_module

    cupy = cupy_module()
    return cupy.asnumpy(array if isinstance(array, cupy.ndarray) else cupy.from_dlpack(array))


# Comparison


def without_addresses(array: Any, t: CType | None) -> Any:
    """An array of structs whose pointers are null: an address is no result. ``t``: the C type."""
    element = leaf_element(t) if t is not None else None
    if not isinstance(element, Struct) or not holds_pointers(element) or array.dtype.names is None:
        return array
    array = array.copy()
    _clear_addresses(array, element)
    return array


def _clear_addresses(array: Any, t: Struct) -> None:
    for name in array.dtype.names:
        m = t.member(name)
        inner = leaf_element(m.type) if m is not None else None
        if isinstance(inner, Pointer):
            array[name] = 0
        elif isinstance(inner, Struct) and array[name].dtype.names is not None:
            _clear_addresses(array[name], inner)


def difference(ours: Any, right: Any, exact: bool) -> tuple[int, ...] | None:
    """Where the first element differs, of two NumPy arrays of one shape; None where none does. NaN is NaN, whatever its
    bits. ``exact``: else only what rounding cannot explain is a difference."""
    import numpy

    differs = _differs(ours, right) if exact or ours.dtype.kind not in "fc" else _far(ours, right)
    if not exact and ours.dtype.kind not in "fc":
        return None  # an integer may come from a float that was rounded another way
    if not differs.any():
        return None
    return tuple(int(k) for k in numpy.unravel_index(int(differs.argmax()), differs.shape))


def _differs(ours: Any, right: Any) -> Any:
    import numpy

    t = ours.dtype
    if t.names:
        members = [n for n in t.names if ":" not in n]  # where bit-fields lie, other bits may be anything
        parts = [_differs(ours[n], right[n]) for n in members] or [numpy.zeros(ours.shape, bool)]
        flat = [x.reshape(*ours.shape, -1).any(axis=-1) for x in parts]
        return numpy.logical_or.reduce(flat)
    if t.kind == "V":
        a, b = (numpy.ascontiguousarray(x).view(numpy.uint8).reshape(*x.shape, -1) for x in (ours, right))
        return (a != b).any(axis=-1)
    if t.kind == "c":
        return _differs(ours.real, right.real) | _differs(ours.imag, right.imag)
    if t.kind == "f":
        return ((ours != right) | (numpy.signbit(ours) != numpy.signbit(right))) & ~(
            numpy.isnan(ours) & numpy.isnan(right)
        )
    return ours != right


def _far(ours: Any, right: Any) -> Any:
    """Of each input, whether most of its elements are far apart."""
    import numpy

    with numpy.errstate(all="ignore"):
        size = numpy.abs(numpy.where(numpy.isfinite(right), right, 0)).max(initial=0)
        far = ~(numpy.abs(ours - right) <= GROSS * size) & (ours != right) & ~(numpy.isnan(ours) & numpy.isnan(right))
    return far if far.mean() > 0.5 else numpy.zeros_like(far)


def _batch_first(array: Any, layout: str) -> Any:
    import numpy

    return array if layout == "row" else numpy.moveaxis(array, -1, 0)


# Results in place of others


def by_name(results: Any, slots: Sequence[Slot]) -> dict[str, Any]:
    """Results as a dict: an array by itself is the only output's."""
    return results if isinstance(results, dict) else {slots[0].name: results}


def _by_native(
    proof: Verification, arguments: Mapping[str, Any], layout: str, p: int, out: Any, model: Any = None
) -> Any:
    """What native makes of a call, in ``out``, or else on the device where ``model`` is. Raises ExitError."""
    from ..runtime.native import ended

    results, exited = proof.run_to_ends({n: on_host(a) for n, a in arguments.items()}, layout, p)
    placed = _placed(results if model is None else _like(results, model), out)
    if exited is not None and not any(s.is_status for s in proof.artifact.slots):
        raise ended(exited, placed)
    return placed


def _like(results: Any, model: Any) -> Any:
    """Results where the model's arrays are: on a device or not."""
    from ..runtime import arrays

    if isinstance(results, dict):
        return {n: _like(a, model[n]) if n in model else a for n, a in results.items()}
    if not arrays.on_device(model) or arrays.on_device(results):
        return results
    from ..runtime.cuda import uploaded

    return uploaded(results)


def _placed(results: Any, out: Any) -> Any:
    """Results, stored in ``out`` where there is one."""
    if out is None:
        return results
    if not isinstance(results, dict):
        target = next(iter(out.values())) if isinstance(out, Mapping) else out
        target[...] = _like(results, target)
        return target
    for name, target in out.items():
        target[...] = _like(results[name], target)
    return {**results, **out}


def _overlap(out: Any, arguments: Mapping[str, Any]) -> bool:
    """Whether a run into ``out`` may write to the inputs."""
    import numpy

    outs = list(out.values()) if isinstance(out, Mapping) else [out]
    if not all(isinstance(a, numpy.ndarray) for a in outs):
        return True
    return any(isinstance(a, numpy.ndarray) and numpy.may_share_memory(a, b) for a in arguments.values() for b in outs)


# What is said


def _diagnosed(
    proof: Verification,
    mismatch: Mismatch,
    arguments: Mapping[str, Any],
    layout: str,
    message: catalogue.Message[MismatchError],
    numbers: Sequence[int],
) -> Error:
    """``numbers``: of the inputs in ``arguments``, as the user counts them."""
    where = "".join(f"[{k}]" for k in mismatch.subscripts)
    return message.error(
        schedule=proof.artifact.schedule,
        input=int(numbers[mismatch.input]),
        name=f"{mismatch.name}{where}",
        first=mismatch.first,
        second=mismatch.second,
        report=_report(proof, mismatch, int(numbers[mismatch.input]), arguments, layout) or "(it could not be written)",
    )


def _report(proof: Verification, mismatch: Mismatch, number: int, arguments: Mapping[str, Any], layout: str) -> str:
    """Write everything that is needed to see the difference again; the file's name, "" where it cannot be written."""
    front, slots = proof.front, proof.artifact.slots
    one = _rows(arguments, slots, layout, [mismatch.input])
    o = front.source.name
    data = {
        "c2cu": __version__,
        "source": o,
        "kernel": front.kernel_name,
        "text": front.pre.plain or front.pre.text,
        "fp": front.fp,
        "math": front.math,
        "layout": layout,
        "schedule": proof.artifact.schedule,
        "flags": list(proof.artifact.flags),
        "input": number,
        "variable": mismatch.name,
        "subscripts": list(mismatch.subscripts),
        "result": repr(mismatch.first),
        "native": repr(mismatch.second),
        "arrays (.npy in base64)": {n: _encoded(a) for n, a in one.items()},
        "generated": proof.artifact.text,
    }
    path = cache_folder() / f"mismatch-{key(data['text'], data['schedule'])[:12]}.json"
    try:
        path.write_text(json.dumps(data, indent=1), encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    return str(path)


def _encoded(array: Any) -> str:
    import numpy

    file = io.BytesIO()
    numpy.save(file, numpy.asarray(array), allow_pickle=False)
    return base64.b64encode(file.getvalue()).decode()
