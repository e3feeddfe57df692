"""The library: bulk, compile, check, translate. NumPy, which takes long to import, comes only with arrays."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import pipeline, tune
from . import plan as planning
from .artifact import Artifact, Slot
from .diagnostics import CompileError, InputError, UnsupportedError, lines_of
from .estimate import Device, preferred
from .front import Front, Options
from .options import by_name, options_of, whole
from .plan import Plan
from .preprocess import Source, read_source
from .program import Border
from .report import NotObliviousWarning, Report, judge, report_of

LAYOUTS = ("row", "column")


@dataclass(frozen=True)
class _Built:
    front: Front
    plan: Plan
    artifact: Artifact
    loaded: Any  # CpuProgram or CudaProgram


@dataclass(frozen=True)
class _Call:
    """What a call brings: arrays and numbers by name, and how many inputs that is."""

    given: Mapping[str, Any]
    p: int | None
    stream: Any = None


class Program:
    """A compiled program: call it with inputs. ``source``: generated text; ``plan``: what runs; ``report``: verdict.

    Where an array's length is known only from the inputs, the three are of the lengths last used.
    """

    def __init__(
        self,
        source: Source,
        options: Options,
        backend: str,
        schedule: str,
        layout: str,
        strict: bool,
        tune: bool = False,
    ):
        self._source, self._options = source, options
        self._backend, self._schedule, self._layout, self._strict = backend, schedule, layout, strict
        self._tune = tune
        self._fronts: dict[tuple, Front] = {}
        self._built: dict[tuple, _Built] = {}
        self._last: _Built | None = None
        self._front = pipeline.understand(source, options)
        self._lengths = _lengths(self._front)  # until a call says otherwise, these are one number for all inputs
        if not self._lengths:
            judge(self._front, self._strict)
        if all(-1 not in s.shape for s in self._front.slots):
            self._last = self._build({}, self._lengths)

    def __repr__(self) -> str:
        from .runtime import arrays

        slots = "; ".join(f"{s.name}: {arrays.words(s, self._layout)}" for s in self.slots)
        last = self._last  # what was not called yet may be built on the first call
        runs = f"backend {last.plan.backend}, schedule {last.plan.schedule}" if last else "built on the first call"
        return f"<c2cu.Program {self._source.name}, kernel {self._front.program.kernel.name} ({slots}), {runs}>"

    @property
    def source(self) -> str:
        return self._current().artifact.text

    @property
    def plan(self) -> Plan:
        return self._current().plan

    @property
    def report(self) -> Report:
        return report_of(self._last.front if self._last else self._front)

    @property
    def loaded(self) -> Any:
        """The runtime's program: `runtime.cpu.CpuProgram` or `runtime.cuda.CudaProgram`."""
        return self._current().loaded

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The variables that cross the kernel's border."""
        return (self._last.front if self._last else self._front).slots

    def _current(self) -> _Built:
        if self._last is None:
            self._last = self._build({}, self._lengths)
        return self._last

    def __call__(
        self,
        inputs: Any = None,
        *,
        shared: Mapping[str, Any] | None = None,
        out: Any = None,
        stream: Any = None,
        p: int | None = None,
    ) -> Any:
        """Run p inputs: arrays in, arrays out, as `bulk` says."""
        with lines_of(self._front.pre.sources):
            return self._call(inputs, dict(by_name("shared", shared)), out, stream, p)

    def _call(self, inputs: Any, shared: dict[str, Any], out: Any, stream: Any, p: int | None) -> Any:
        from .runtime import arrays

        given = {**by_name("inputs", arrays.named(inputs, self._front.slots)), **shared}
        p = None if p is None else whole("p", p)
        arrays.check_names(given, self._front.slots)
        numbers = tuple(sorted(n for n, v in given.items() if self._is_number(n, v)))
        shapes = {
            n: self._inner_shape(n, v, n in shared)
            for n, v in given.items()
            if n not in numbers and hasattr(v, "shape")
        }
        count = arrays.count(given, self._front.slots, self._layout, p)
        built = self._build(shapes, numbers, _Call(given, count, stream))
        self._last = built
        return _run(built, given, out, self._layout, stream, p)

    def _is_number(self, name: str, value: Any) -> bool:
        """A scalar parameter given as one number: shared."""
        border = next(b for b in self._front.program.borders if b.name == name)
        return (
            border.kind == "param"
            and not border.shared
            and (isinstance(value, (bool, int, float)) or getattr(value, "shape", None) == ())
        )

    def _inner_shape(self, name: str, value: Any, shared: bool) -> tuple[int, ...]:
        shape = tuple(int(n) for n in value.shape)
        if shared or any(s.shared for s in self._front.slots if s.name == name):
            return shape
        return shape[1:] if self._layout == "row" else shape[:-1]

    def _build(
        self, shapes: Mapping[str, tuple[int, ...]], numbers: tuple[str, ...], call: _Call | None = None
    ) -> _Built:
        """What runs inputs of these shapes, the fastest known for ``call``."""
        differing = {s.name: shapes[s.name] for s in self._front.slots if shapes.get(s.name, s.shape) != s.shape}
        which = (tuple(sorted(differing.items())), numbers)
        if which not in self._fronts:
            self._fronts[which] = self._understood(shapes if differing else {}, numbers)
        front = self._fronts[which]
        backend = self._backend if self._backend != "auto" else best_backend()
        p = call.p if call is not None else None
        size = tune.magnitude(p)
        if (*which, size) not in self._built:
            self._built[(*which, size)] = self._tuned(front, backend, call) or self._planned(front, backend, p, which)
        return self._built[(*which, size)]

    def _understood(self, shapes: Mapping[str, tuple[int, ...]], numbers: tuple[str, ...]) -> Front:
        front = self._front
        if shapes or numbers:
            options = replace(
                self._options, shapes={**self._options.shapes, **shapes}, shared=(*self._options.shared, *numbers)
            )
            front = pipeline.understand(self._source, options)
        if self._lengths:
            judge(front, self._strict)
        return front

    def _tuned(self, front: Front, backend: str, call: _Call | None) -> _Built | None:
        """By measurement: one that the cache remembers, or, if that is wanted, one made now."""
        if call is None or not call.p:
            return None
        found = tune.recall(front, backend, self._schedule, call.p)
        if found is None and self._tune:
            planning.known(backend, self._schedule)
            run = _timer(backend, front.slots, call, self._layout)
            found = tune.tune(front, backend, self._schedule, _loader(backend), run, call.p)
            if found is not None:
                tune.remember(front, backend, self._schedule, call.p, found)
        if found is None:
            return None
        try:
            plan, artifact = pipeline.scheduled(front, backend, found.winner, found)
            with lines_of(front.pre.sources):
                return _Built(front, plan, artifact, _loader(backend)(artifact))
        except (UnsupportedError, CompileError):
            return None  # the cache remembers nonsense

    def _planned(self, front: Front, backend: str, p: int | None, which: tuple) -> _Built:
        """By facts and estimates: what many inputs want, unless few want something else by far."""
        device = _device(backend)
        if (*which, None) not in self._built:
            self._built[(*which, None)] = self._chosen(front, backend, None, device)
        usual = self._built[(*which, None)]
        estimates = usual.plan.estimates
        if not estimates or estimates[preferred(estimates, p, device)].schedule == usual.plan.schedule:
            return usual
        return self._chosen(front, backend, p, device)

    def _chosen(self, front: Front, backend: str, p: int | None, device: Device) -> _Built:
        """The choice for ``p`` inputs, or, where the compiler's result speaks against it, the next."""
        rejected: planning.Rejected = ()
        while True:
            plan, artifact = pipeline.schedule(front, backend, self._schedule, rejected, p, device)
            with lines_of(front.pre.sources):
                loaded = _loader(backend)(artifact)
            if self._schedule != "auto" or not loaded.drawback:
                return _Built(front, plan, artifact, loaded)
            rejected = (*rejected, (plan.schedule, loaded.drawback))


def best_backend() -> str:
    """cuda where CuPy sees a device, else cpu."""
    if "cupy" not in sys.modules:
        from importlib.util import find_spec

        if find_spec("cupy") is None:
            return "cpu"
    from .runtime import cuda

    return "cuda" if cuda.available() else "cpu"


def _loader(backend: str) -> Any:
    if backend == "cpu":
        from .runtime import cpu

        return cpu.load
    from .runtime import cuda

    return cuda.load


def _device(backend: str) -> Device:
    if backend == "cpu":
        return Device()
    from .runtime import cuda

    return cuda.device()


def _timer(backend: str, slots: tuple[Slot, ...], call: _Call, layout: str) -> tune.Run:
    if backend == "cpu":
        from .runtime import cpu

        _refuse_device_arrays(call.given)
        return cpu.timer(slots, call.given, layout)
    from .runtime import cuda

    return cuda.timer(slots, call.given, layout, call.stream)


def _refuse_device_arrays(given: Mapping[str, Any]) -> None:
    from .runtime import arrays

    if any(arrays.on_device(a) for a in given.values()):
        raise InputError(
            "C2CU053",
            "an array lies on a CUDA device, but the backend is cpu",
            None,
            "use backend='cuda', or copy it: cupy.asnumpy(a)",
        )


def _run(built: _Built, given: Mapping[str, Any], out: Any, layout: str, stream: Any, p: int | None) -> Any:
    from .runtime import arrays

    slots = built.artifact.slots
    if built.plan.backend == "cuda":
        from .runtime import cuda

        return cuda.run(built.loaded, slots, given, out, layout, stream, p)
    _refuse_device_arrays(given)
    bound = arrays.bind(slots, given, {}, out, layout, p)
    if bound.p:
        built.loaded.run(bound.inputs, bound.outputs, bound.p)
    return arrays.deliver(bound, slots, out, layout, lambda a, s: a)


def compile(
    src: str | os.PathLike,
    *,
    fn: str | None = None,
    shared: Mapping[str, Any] | Sequence[str] | None = None,
    defines: Mapping[str, Any] | None = None,
    backend: str = "auto",
    schedule: str = "auto",
    fp: str = "exact",
    layout: str = "row",
    shapes: Mapping[str, Any] | None = None,
    strict: bool = False,
    include_dirs: Sequence[str] = (),
    tune: bool = False,
) -> Program:
    """Compile a C program for bulk runs. Parameters as for `bulk`.

    Raises ParseError, UnsupportedError, NotObliviousError (if ``strict``), CompileError, InputError.
    """
    if backend not in ("auto", "cpu", "cuda"):
        raise InputError("C2CU051", f"backend is '{backend}'", None, "choose auto, cpu or cuda")
    if layout not in LAYOUTS:
        raise InputError("C2CU051", f"layout is '{layout}'", None, f"choose one of {', '.join(LAYOUTS)}")
    return Program(
        read_source(src),
        options_of(fn, shared, defines, shapes, fp, include_dirs),
        backend,
        schedule,
        layout,
        strict,
        tune,
    )


_programs: dict[tuple, Program] = {}


def bulk(
    src: str | os.PathLike,
    inputs: Any = None,
    *,
    fn: str | None = None,
    shared: Mapping[str, Any] | None = None,
    defines: Mapping[str, Any] | None = None,
    backend: str = "auto",
    schedule: str = "auto",
    fp: str = "exact",
    layout: str = "row",
    shapes: Mapping[str, Any] | None = None,
    out: Any = None,
    stream: Any = None,
    strict: bool = False,
    include_dirs: Sequence[str] = (),
    p: int | None = None,
    tune: bool = False,
) -> Any:
    """Run a sequential C program on p independent inputs at once.

    ``src``: C text (a str with a newline or a brace) or a path. ``inputs``: an array of shape (p, \\*shape) and the C
    type's dtype, or a dict of them by C name; with ``layout="column"`` (\\*shape, p). ``shared``: one array for all
    inputs, by name. ``defines``: overrides of the file's macros. ``shapes``: extents that no input tells. ``out``:
    arrays to write to. ``p``: needed only where no input is given. ``tune``: measure the candidates on the first
    inputs, once; the cache keeps the fastest, for later calls without ``tune`` too.

    Returns one array where exactly one is an output, else a dict by name: NumPy arrays for NumPy arrays, CuPy for
    arrays on a device. Equal, bit for bit, to the C compiled with -fwrapv -fno-strict-aliasing -ffp-contract=off.

    Raises ParseError, UnsupportedError, NotObliviousError, CompileError, and InputError (a ValueError; for a wrong
    dtype a TypeError).
    """
    source = read_source(src)
    key = (
        source.name,
        source.text,
        fn,
        tuple(sorted(shared or ())),
        repr(sorted(by_name("defines", defines).items())),
        backend,
        schedule,
        fp,
        layout,
        repr(sorted(by_name("shapes", shapes).items())),
        strict,
        tune,
        tuple(map(str, include_dirs or ())),
        os.environ.get("CC"),
    )
    program = _programs.get(key)
    if program is None or include_dirs or re.search(r'#\s*include\s*"', source.text):  # headers may have changed
        program = compile(
            src,
            fn=fn,
            shared=tuple(shared or ()),
            defines=defines,
            backend=backend,
            schedule=schedule,
            fp=fp,
            layout=layout,
            shapes=shapes,
            strict=strict,
            include_dirs=include_dirs,
            tune=tune,
        )
        _programs[key] = program
    return program(inputs, shared=shared, out=out, stream=stream, p=p)


def check(
    src: str | os.PathLike,
    *,
    fn: str | None = None,
    shared: Mapping[str, Any] | Sequence[str] | None = None,
    defines: Mapping[str, Any] | None = None,
    shapes: Mapping[str, Any] | None = None,
    include_dirs: Sequence[str] = (),
) -> Report:
    """The verdict on a program, without compiling it.

    A whole-number parameter that an address or a loop's bound needs is taken as shared (a length, most likely); the
    report's notes say so.
    """
    source = read_source(src)
    options = options_of(fn, shared, defines, shapes, "exact", include_dirs)
    return check_source(source, options)


def check_source(source: Source, options: Options) -> Report:
    return report_of(*as_given(source, options))


def as_given(source: Source, options: Options) -> tuple[Front, tuple[str, ...]]:
    """The program understood as it is most likely to be called, lengths given as one number; notes that say so."""
    front = pipeline.understand(source, options)
    lengths = _lengths(front)
    if not lengths:
        return front, ()
    again = pipeline.understand(source, replace(options, shared=(*options.shared, *lengths)))
    assumed = (b for b in front.program.borders if b.name in lengths)
    return again, tuple(f"{b.loc}: note: parameter '{b.name}' is taken as one number for all inputs" for b in assumed)


def _lengths(front: Front) -> tuple[str, ...]:
    """Integer parameters that some address or bound comes from."""
    if front.analysis is None:
        return ()
    steps = [s for f in front.analysis.findings if f.kind != "branch" for s in f.trail]
    return tuple(b.name for b in front.program.borders if _may_be_length(b) and any(s.loc == b.loc for s in steps))


def _may_be_length(b: Border) -> bool:
    t = b.type
    return b.kind == "param" and not b.shared and getattr(t, "kind", "") in ("i", "u")


def translate(
    src: str | os.PathLike,
    *,
    p: int,
    threads: int = 64,
    target: str = "cuda",
    fn: str | None = None,
    defines: Mapping[str, Any] | None = None,
    shared: Sequence[str] | None = None,
    shapes: Mapping[str, Any] | None = None,
    include_dirs: Sequence[str] = (),
) -> str:
    """A standalone program for p inputs: CUDA C for nvcc, or C for a host compiler (``target="cpu"``)."""
    from .standalone import standalone

    source = read_source(src)
    front = pipeline.understand(source, options_of(fn, shared, defines, shapes, "exact", include_dirs))
    judge(front, strict=False)
    with lines_of(front.pre.sources):
        return standalone(front, p=whole("p", p), threads=whole("threads", threads), target=target)


__all__ = ["NotObliviousWarning", "Program", "Report", "bulk", "check", "compile", "translate"]
