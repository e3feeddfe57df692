"""A compiled program: what runs inputs of these shapes, built when it is first needed."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from . import backends, pipeline, tune
from .base.diagnostics import CompileError, InputError, UnsupportedError, lines_of
from .base.recent import Recent
from .base.version import __version__
from .frontend.kernel import Parameter
from .frontend.options import Options, by_name, whole
from .frontend.preprocess import Source
from .gep import Gep, NotGep
from .schedule import registry
from .schedule.artifact import Artifact, CudaBandsArtifact, CudaLaunchesArtifact
from .schedule.choose import Plan, Rejected, choose, depends_on, require_known, scheduled
from .schedule.estimate import Device, preferred
from .schedule.schedule import Candidate
from .schedule.slots import Slot
from .schedule.understood import Understood
from .verdict import Report, judge, report_of

if TYPE_CHECKING:
    from .streaming.streams import Stream

LENGTHS = 128  # shapes, values of shared scalars and magnitudes of p of which a program remembers what runs them


@dataclass(frozen=True)
class Built:
    front: Understood
    plan: Plan
    artifact: Artifact
    loaded: Any  # CpuProgram or CudaProgram


@dataclass(frozen=True)
class _Call:
    """What a call brings: arrays and numbers by name, and how many inputs that is."""

    given: Mapping[str, Any]
    p: int | None
    stream: Any = None
    together: bool = False


@dataclass(frozen=True)
class _Extents:
    """``shapes``: of one input, by name; ``numbers``: scalar parameters that are given as one number; ``values``: of
    these, and of the shared ones, where they are known without asking a device."""

    shapes: Mapping[str, tuple[int, ...]]
    numbers: tuple[str, ...]
    values: Mapping[str, Any] = field(default_factory=dict)


class Program:
    """A compiled program, made by `compile`: call it with inputs.

    Where the inputs decide an array's length, the program is built anew for each length; ``source``, ``plan``,
    ``report`` and ``slots`` then describe what the latest call ran. Several threads may call one program at once.
    """

    def __init__(
        self,
        source: Source,
        options: Options,
        backend: str,
        schedule: str,
        layout: str,
        strict: bool | None,
        tune: bool = False,
        build: bool = True,
    ):
        """``strict``: see `judge`. ``build``: compile at once if the C alone decides all shapes."""
        self._source, self._options = source, options
        self._backend, self._schedule, self._layout, self._strict = backend, schedule, layout, strict
        self._tune = tune
        self._fronts: Recent[Understood] = Recent(LENGTHS)
        self._unhelped: Recent[bool] = Recent(LENGTHS)  # the same stands in the way whatever these numbers are
        self._faultless: Recent[bool] = Recent(LENGTHS)  # numbers that addresses depend on: none is out of bounds
        self._built: Recent[Built] = Recent(LENGTHS)
        self._last: Built | None = None
        self._lock = threading.RLock()  # what two threads want first is built once
        self._front = pipeline.asked(source, options)
        self._lengths = lengths(self._front)  # until a call says otherwise, these are one number for all inputs
        if not self._lengths:
            judge(self._front, self._strict)
        if build and all(-1 not in s.shape for s in self._front.slots):
            self._last = self._build(_Extents({}, self._lengths))

    def __repr__(self) -> str:
        from .runtime import arrays

        slots = "; ".join(f"{s.name}: {arrays.words(s, self._layout)}" for s in self.slots)
        last = self._last  # what was not called yet may be built on the first call
        runs = f"backend {last.plan.backend}, schedule {last.plan.schedule}" if last else "built on the first call"
        return f"<c2cu.Program {self._source.name}, kernel {self._front.program.kernel.name} ({slots}), {runs}>"

    @property
    def source(self) -> str:
        """The generated text: CUDA C or C."""
        return self._current().artifact.text

    @property
    def plan(self) -> Plan:
        """Which schedule runs the program, and why."""
        return self._current().plan

    @property
    def report(self) -> Report:
        """Whether the program is oblivious, and what speaks against it."""
        return report_of(self._last.front if self._last else self._front)

    @property
    def loaded(self) -> Any:
        """The runtime's program: `runtime.cpu.CpuProgram` or `runtime.cuda.CudaProgram`."""
        return self._current().loaded

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The variables that the kernel reads or writes, in the order of the C: name, dtype, shape of one input."""
        return (self._last.front if self._last else self._front).slots

    @property
    def layout(self) -> str:
        """``"row"``: arrays are ``(p, *shape)``. ``"column"``: ``(*shape, p)``."""
        return self._layout

    @property
    def sources(self) -> Mapping[str, str]:
        """The text of each source file by name, which diagnostics quote."""
        return self._front.pre.sources

    def fingerprints(self) -> dict[str, str]:
        """Everything that the results depend on, by name. Two programs whose fingerprints are equal give equal
        results."""
        o, lines = self._options, self._front.pre.plain.split("\n")
        text = "\n".join(line for line in lines if not line.startswith("# "))  # those name places
        return {
            "the C text": hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32],
            "the kernel": self._front.program.kernel.name,
            "-D": repr(sorted(o.defines.items())),
            "--shape": repr(sorted(o.shapes.items())),
            "--shared": repr(sorted(o.shared)),
            "--fp": o.fp,
            "--layout": self._layout,
            "--backend": self._backend if self._backend != "auto" else backends.best(),
            "--schedule": self._schedule,
            "the version of c2cu": __version__,
        }

    def _current(self) -> Built:
        if self._last is None:
            self._last = self._build(_Extents({}, self._lengths))
        return self._last

    def __call__(
        self,
        inputs: Any = None,
        *,
        shared: Mapping[str, Any] | None = None,
        out: Any = None,
        stream: Any = None,
        p: int | None = None,
        devices: Sequence[int] | None = None,
    ) -> Any:
        """Run the program on p inputs.

        Args:
            inputs: One array ``(p, *shape)`` of the C type's dtype where the kernel has one bulk input, else a dict of
                arrays by C name; see `bulk`. With layout ``"column"``: ``(*shape, p)``.
            shared: Arrays and numbers that are one for all inputs, by C name: ``shape``, without the p axis.
            out: An array, or a dict of arrays by C name, to write the results to.
            stream: The ``cupy.cuda.Stream`` to run on; without it, the current one.
            p: The number of inputs; needed only where no input is given.
            devices: Ordinals of the GPUs that work together at each matrix of a loop of Gaussian-elimination type.

        Returns:
            One array where exactly one variable is an output, else a dict of arrays by C name. ``return`` names the
            value that the kernel returns.

        Raises:
            UnsupportedError: The schedule that was asked for cannot run arrays of these shapes.
            NotObliviousError: ``strict`` was set, and with these shapes the program is not oblivious.
            CompileError: The C compiler failed, or there is not enough memory.
            InputError: An array is wrong: a ``ValueError``, or a ``TypeError`` for a wrong dtype.
        """
        with lines_of(self._front.pre.sources):
            return self._call(inputs, dict(by_name("shared", shared)), out, stream, p, devices)

    def _call(
        self,
        inputs: Any,
        shared: dict[str, Any],
        out: Any,
        stream: Any,
        p: int | None,
        devices: Sequence[int] | None,
    ) -> Any:
        given = {**self.named(inputs), **shared}
        p = None if p is None else whole("p", p)
        built = self.built_for(given, frozenset(shared), p, stream, devices is not None)
        return _run(self, built, given, out, self._layout, stream, p, devices)

    def named(self, inputs: Any) -> Mapping[str, Any]:
        """The inputs of a call by C name: a single array belongs to the kernel's only bulk input."""
        from .runtime import arrays

        return by_name("inputs", arrays.named(inputs, self._front.slots))

    def built_for(
        self,
        given: Mapping[str, Any],
        shared: frozenset[str],
        p: int | None = None,
        stream: Any = None,
        together: bool = False,
    ) -> Built:
        """The compiled kernel for arrays of these shapes. ``shared``: the names of arrays that all inputs share;
        ``together``: several GPUs work at one input. Raises InputError."""
        from .runtime import arrays

        extents = self._extents(given, shared)
        count = arrays.count(given, self._front.slots, self._layout, p)
        self._last = self._build(extents, _Call(given, count, stream, together))
        return self._last

    def bound(
        self, inputs: Any, shared: Mapping[str, Any], p: int | None = None
    ) -> tuple[Understood, Options, dict[str, Any]]:
        """The program as a call with these arrays would run it, its options, and the arrays by name. Looks at shapes
        and dtypes only, and compiles nothing. Raises as the call would."""
        from .runtime import arrays

        with lines_of(self.sources):
            given = {**self.named(inputs), **shared}
            extents = self._extents(given, frozenset(shared))
            _, front = self._front_of(extents)
            return front, self._options_of(extents), arrays.fitted(given, front.slots, self._layout, p)[0]

    def _extents(self, given: Mapping[str, Any], shared: frozenset[str]) -> _Extents:
        """What of a call decides which program runs."""
        from .runtime import arrays

        arrays.check_names(given, self._front.slots)
        numbers = tuple(sorted(n for n, v in given.items() if self._is_number(n, v)))
        arrived = ((n, v) for n, v in given.items() if n not in numbers and hasattr(v, "shape"))
        axes = {s.name: len(s.shape) for s in self._front.slots}
        inner = {n: self._inner_shape(n, v, n in shared) for n, v in arrived}
        shapes = {n: s for n, s in inner.items() if len(s) in (0, axes[n])}  # of others no axis says which it is
        for s in self._front.slots:
            if -1 in s.shape and s.name in inner and s.name not in shapes and s.name not in shared:
                arrays.checked(given[s.name], s, self._layout)  # else it would be said that its length is not known
        one = {s.name for s in self._front.slots if not s.shape and (s.name in numbers or s.name in shared)}
        values = {n: v for n, v in given.items() if n in one and arrays.is_number(v)}
        return _Extents(shapes, numbers, values)

    def stream(self, batches: Any, **how: Any) -> Stream:
        """Run the program on inputs that come in batches.

        Args:
            batches: An iterable of arrays ``(p, *shape)``, or of dicts of them by C name.
            how: The parameters ``group`` to ``shared`` of `c2cu.stream`.

        Returns:
            An iterator over results; see `c2cu.stream`.

        Raises:
            Error: Whatever `c2cu.stream` raises.
        """
        from .streaming.streams import open_stream

        return open_stream(self, batches, **how)

    def _is_number(self, name: str, value: Any) -> bool:
        """A scalar parameter given as one number: shared."""
        parameter = next(b for b in self._front.program.parameters if b.name == name)
        return (
            parameter.kind == "param"
            and not parameter.shared
            and (isinstance(value, (bool, int, float)) or getattr(value, "shape", None) == ())
        )

    def _inner_shape(self, name: str, value: Any, shared: bool) -> tuple[int, ...]:
        shape = tuple(int(n) for n in value.shape)
        if shared or any(s.shared for s in self._front.slots if s.name == name):
            return shape
        return shape[1:] if self._layout == "row" else shape[:-1]

    def _build(self, extents: _Extents, call: _Call | None = None) -> Built:
        """What runs such inputs, the fastest known for ``call``."""
        with self._lock:
            which, front = self._front_of(extents)
            backend = self._backend if self._backend != "auto" else backends.best()
            if call is not None and call.together:
                return self._in_bands(front, backend, which)
            p = call.p if call is not None else None
            size = tune.magnitude(p)
            built = self._built.of(
                (*which, size),
                lambda: self._tuned(front, backend, call) or self._planned(front, backend, p, which),
            )
            if call is None or self._oversized(backend) in ("", self._schedule) or _fits(built, call):
                return built
            try:
                return self._in_bands(front, backend, which)
            except UnsupportedError:
                return built

    def takes_bands(self, given: Mapping[str, Any], shared: frozenset[str], p: int | None, together: bool) -> bool:
        """Whether a call with these works at matrices in bands of rows. ``together``: if that is possible."""
        backend = self._backend if self._backend != "auto" else backends.best()
        if not self._oversized(backend):
            return False
        with lines_of(self.sources):
            if not isinstance(self._front_of(self._extents(given, shared))[1].gep, Gep):
                return False
            try:
                return isinstance(self.built_for(given, shared, p, None, together).artifact, CudaBandsArtifact)
            except UnsupportedError:
                return False

    def _oversized(self, backend: str) -> str:
        """The variant for inputs that do not fit a device, "" if the schedule that was asked for has none."""
        return registry.oversized(backend, self._schedule)

    def _in_bands(self, front: Understood, backend: str, which: tuple) -> Built:
        """What works at a matrix in bands of rows. Raises UnsupportedError, and InputError where it is not wanted."""
        if backend == "cpu":
            raise InputError("C2CU058", "devices are GPUs, but the backend is cpu", None, "leave devices out")
        name = self._oversized(backend)
        if not name:
            names = " or ".join(filter(None, (e.oversized for e in registry.entries(backend))))
            message = f"several devices work at one input under {names} only, not under {self._schedule}"
            raise InputError("C2CU058", message, None, "leave devices out, or use c2cu.stream for many inputs")

        def built() -> Built:
            plan, artifact = scheduled(front, backend, Candidate(name))
            return Built(front, plan, artifact, backends.loader(backend)(artifact))

        return self._built.of((*which, "bands"), built)

    def _front_of(self, e: _Extents) -> tuple[tuple, Understood]:
        """The program understood for these, and their key."""
        from .runtime import arrays

        slots = self._front.slots
        differing = {s.name: e.shapes[s.name] for s in slots if e.shapes.get(s.name, s.shape) != s.shape}
        which = (tuple(sorted(differing.items())), e.numbers)
        front = self._fronts.of(which, lambda: self._understood(replace(e, shapes=e.shapes if differing else {})))
        given = [s for s in front.slots if s.name in e.values]
        numbers = {s.name: arrays.checked(e.values[s.name], s, self._layout) for s in given}
        if numbers and isinstance(front.gep, NotGep) and (*which, tuple(numbers)) not in self._unhelped:
            values = (*which, _bytes(numbers))  # of that type it may be for these: a number that a bound comes from
            special = self._fronts.of(values, lambda: self._with_numbers(e, numbers, front, which))
            if special is not front:
                return values, special
        self._refuse_faults(e, which, front, numbers)
        return which, front

    def _with_numbers(self, e: _Extents, numbers: Mapping[str, Any], front: Understood, which: tuple) -> Understood:
        """The program understood for these values of scalars that all inputs share; ``front``, understood for any,
        where they make no difference."""
        options = replace(self._options_of(e), values={n: v.item() for n, v in numbers.items()})
        special = pipeline.understand(self._source, options)
        if special.gep == front.gep:
            self._unhelped.of((*which, tuple(numbers)), lambda: True)
        return special if isinstance(special.gep, Gep) else front

    def _refuse_faults(self, e: _Extents, which: tuple, front: Understood, numbers: Mapping[str, Any]) -> None:
        """Where addresses depend on such numbers, look for what goes wrong with them: once for each set of them."""
        unknown = front.trace.unknown if front.trace is not None else ()
        known = {n: v for n, v in numbers.items() if n in unknown}
        if not unknown or len(known) < len(unknown) or (*which, _bytes(known)) in self._faultless:
            return
        pipeline.refuse_numbers(front, {n: v.item() for n, v in known.items()})
        self._faultless.of((*which, _bytes(known)), lambda: True)

    def _understood(self, e: _Extents) -> Understood:
        front = self._front
        if e.shapes or e.numbers:
            front = pipeline.understand(self._source, self._options_of(e))
        if self._lengths:
            judge(front, self._strict)
        return front

    def _options_of(self, e: _Extents) -> Options:
        return replace(
            self._options, shapes={**self._options.shapes, **e.shapes}, shared=(*self._options.shared, *e.numbers)
        )

    def _tuned(self, front: Understood, backend: str, call: _Call | None) -> Built | None:
        """By measurement: one that the cache remembers, or, if that is wanted, one made now."""
        if call is None or not call.p:
            return None
        if registry.is_oversized(backend, self._schedule):
            return None  # there is nothing to choose
        found = tune.recall(front, backend, self._schedule, call.p)
        if found is None and self._tune:
            require_known(backend, self._schedule)
            run = backends.timer(backend, front.slots, call.given, self._layout, call.stream)
            found = tune.tune(front, backend, self._schedule, backends.loader(backend), run, call.p)
            if found is not None:
                tune.remember(front, backend, self._schedule, call.p, found)
        if found is None:
            return None
        try:
            plan, artifact = scheduled(front, backend, found.winner, found)
            with lines_of(front.pre.sources):
                return Built(front, plan, artifact, backends.loader(backend)(artifact))
        except (UnsupportedError, CompileError):
            return None  # the cache remembers nonsense

    def _planned(self, front: Understood, backend: str, p: int | None, which: tuple) -> Built:
        """By facts and estimates: what many inputs want, unless few want something else by far."""
        device = backends.device(backend)
        usual = self._built.of((*which, "usual"), lambda: self._chosen(front, backend, None, device))
        if p is not None and depends_on(p, front, backend, self._schedule):
            return self._chosen(front, backend, p, device)
        estimates = usual.plan.estimates
        if not estimates or estimates[preferred(estimates, p, device)].schedule == usual.plan.schedule:
            return usual
        return self._chosen(front, backend, p, device)

    def _chosen(self, front: Understood, backend: str, p: int | None, device: Device) -> Built:
        """The choice for ``p`` inputs, or, where the compiler's result speaks against it, the next."""
        rejected: Rejected = ()
        while True:
            plan, artifact = choose(front, backend, self._schedule, rejected, p, device)
            with lines_of(front.pre.sources):
                loaded = backends.loader(backend)(artifact)
            if self._schedule != "auto" or not loaded.drawback:
                return Built(front, plan, artifact, loaded)
            rejected = (*rejected, (plan.schedule, loaded.drawback))


def _bytes(numbers: Mapping[str, Any]) -> tuple[tuple[str, bytes], ...]:
    """A key: by bytes 0.0 is not -0.0, and NaN is NaN."""
    return tuple((n, v.tobytes()) for n, v in numbers.items())


def _fits(built: Built, call: _Call) -> bool:
    """Whether the whole device works at one input that fits it, or at arrays that are there."""
    from .runtime import arrays

    if not isinstance(built.artifact, CudaLaunchesArtifact) or any(arrays.on_device(a) for a in call.given.values()):
        return True
    slots = built.artifact.slots
    return built.loaded.fits(sum(s.nbytes * ((s.name in call.given) + s.writes) for s in slots))


def _run(
    program: Program,
    built: Built,
    given: Mapping[str, Any],
    out: Any,
    layout: str,
    stream: Any,
    p: int | None,
    devices: Sequence[int] | None,
) -> Any:
    from .runtime import arrays

    slots, more = built.artifact.slots, ()
    if isinstance(built.artifact, CudaBandsArtifact):
        backends.refuse_in_bands(given, stream)
        more = (None if devices is None else backends.ordinals(devices),)
    elif built.plan.backend == "cuda":
        from .runtime import launch

        if stream is None and arrays.in_groups(slots, given, out, layout):
            from .streaming.streams import in_groups

            return in_groups(program, slots, given, out, arrays.common_p(given, slots, layout, p))
        return launch.run(built.loaded, slots, given, out, layout, stream, p)
    else:
        backends.refuse_device_arrays(given)
    bound = arrays.bind(slots, given, {}, out, layout, p)
    if bound.p:
        built.loaded.run(bound.inputs, bound.outputs, bound.p, *more)
    return arrays.deliver(bound, slots, out, layout, lambda a, s: a)


def lengths(front: Understood) -> tuple[str, ...]:
    """Integer parameters that some address or bound comes from."""
    if front.analysis is None:
        return ()
    steps = [s for f in front.analysis.findings if f.kind != "branch" for s in f.trail]
    return tuple(b.name for b in front.program.parameters if _may_be_length(b) and any(s.loc == b.loc for s in steps))


def _may_be_length(b: Parameter) -> bool:
    t = b.type
    return b.kind == "param" and not b.shared and getattr(t, "kind", "") in ("i", "u")
