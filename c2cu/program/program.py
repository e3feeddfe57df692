"""A compiled program, as users have it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import backends
from ..base.diagnostics import Error, ExitError, UnsupportedError, lines_of
from ..base.memory import enough_memory
from ..base.version import __version__
from ..frontend.options import Options, by_name, whole
from ..frontend.preprocess import Source
from ..schedule.artifact import CudaBandsArtifact
from ..schedule.choose import Plan
from ..schedule.slots import Slot
from ..schedule.understood import Understood
from ..verdict import Report, report_of
from .ahead import native_ahead
from .build import Builds, Built, CallInputs
from .extents import Extents, Understandings
from .prepared import AnyPrepared, prepared
from .random_state import with_numbers
from .run import ended_early, run
from .signature import MISS, signature
from .state import State
from .verify import MOST, mode, patient

if TYPE_CHECKING:
    from ..streaming.streams import Stream


CALLS = 256  # signatures of calls that a program remembers


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
        verify: Any = "auto",
    ):
        """``strict``: see `judge`. ``build``: compile at once if the C alone decides all sizes."""
        self._source, self._options, self._layout = source, options, layout
        self._strict, self._tune, self._verify = strict, tune, verify
        self._backend, self._schedule = backend, schedule
        with native_ahead(backend, schedule) if build else nullcontext():
            self._understandings = Understandings(source, options, layout, strict)
        self._builds = Builds(self._understandings, backend, schedule, layout, tune, mode(verify))
        self._front, self._lengths = self._understandings.first, self._understandings.lengths
        self._extents = Extents({}, self._lengths, constants=self._front.initialised)
        self._last: Built | None = None
        self._calls: dict[Hashable, AnyPrepared] = {}
        if build and all(-1 not in s.shape for s in self._front.slots) and not self._front.sized_by:
            self._last = self._builds.of(self._extents)

    def __repr__(self) -> str:
        from ..runtime import arrays

        slots = "; ".join(f"{s.name}: {arrays.words(s, self._layout)}" for s in self.slots)
        last = self._last  # what was not called yet may be built on the first call
        runs = f"backend {last.plan.backend}, schedule {last.plan.schedule}" if last else "built on the first call"
        files = ", ".join(s.name for s in self._source.units)
        return f"<c2cu.Program {files}, kernel {self._front.kernel_name} ({slots}), {runs}>"

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
        if self._last is None:
            return report_of(self._front)
        return report_of(self._understandings.of(replace(self._extents, constants=()))[1])

    @property
    def loaded(self) -> Any:
        """The runtime's program: `runtime.cpu.CpuProgram` or `runtime.cuda.CudaProgram`."""
        return self._current().loaded

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The variables that the kernel reads or writes, in the order of the C: name, dtype, shape of one input."""
        known = {s.name: s for s in self._last.front.slots} if self._last else {}
        return tuple(known.get(s.name, s) for s in self._front.slots)

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
            "the kernel": self._front.kernel_name,
            "-D": repr(sorted(o.defines.items())),
            "--shape": repr(sorted(o.shapes.items())),
            "--shared": repr(sorted(o.shared)),
            "--fp": o.fp,
            "--math": o.math,
            "--stdio": o.stdio,
            "--layout": self._layout,
            "--backend": self._backend if self._backend != "auto" else backends.best(),
            "--schedule": self._schedule,
            "the version of c2cu": __version__,
        }

    def _current(self) -> Built:
        if self._last is None:
            self._last = self._builds.of(self._extents)
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
            ExitError: Some inputs ended early; see `bulk`.
        """
        signed = signature(inputs, shared, p) if stream is None and devices is None else None
        known = self._calls.get(signed)
        if known is not None:
            try:
                results = self._again(known, inputs, shared, out)
            except (Error, MemoryError):
                with lines_of(self._front.pre.sources), enough_memory():
                    raise
            if results is not MISS:
                return results
        with lines_of(self._front.pre.sources), enough_memory():
            return self._call(inputs, dict(by_name("shared", shared)), out, stream, p, devices, signed)

    def _again(self, call: AnyPrepared, inputs: Any, shared: Any, out: Any) -> Any:
        """The results of a call as there was one before, or `MISS`."""
        done = call(inputs, shared, out)
        if done is MISS:
            return MISS
        self._last, self._extents = call.built, call.extents
        results, exited = done
        return results if exited is None else ended_early(exited, call.built, results)

    def _call(
        self,
        inputs: Any,
        shared: dict[str, Any],
        out: Any,
        stream: Any,
        p: int | None,
        devices: Sequence[int] | None,
        signed: Hashable | None,
    ) -> Any:
        """``signed``: the call's signature; None where others will not be like it."""
        started = time.perf_counter()
        arguments = {**self.named(inputs), **shared}
        p = None if p is None else whole("p", p)
        extents, built = self._built_for(arguments, frozenset(shared), p, stream, devices is not None)

        try:
            results = run(self, built, arguments, out, self._layout, stream, p, devices, started)
        except ExitError:
            self._remember(signed, built, extents, arguments, inputs, p)
            raise
        self._remember(signed, built, extents, arguments, inputs, p)
        return results

    def _remember(
        self,
        signed: Hashable | None,
        built: Built,
        extents: Extents,
        arguments: Mapping[str, Any],
        inputs: Any,
        p: int | None,
    ) -> None:
        """How a call that has returned was done, for those that are like it."""
        from ..runtime import arrays

        count = arrays.count(arguments, built.artifact.slots, self._layout, p)
        bare = inputs is not None and not isinstance(inputs, Mapping)
        call = prepared(built, extents, arguments, bare, self._layout, count or 0) if signed is not None else None
        if call is not None:
            if len(self._calls) >= CALLS:
                self._calls.clear()
            self._calls[signed] = call

    def named(self, inputs: Any) -> Mapping[str, Any]:
        """The inputs of a call by C name: a single array belongs to the kernel's only bulk input."""
        from ..runtime import arrays

        return by_name("inputs", arrays.named(inputs, self._front.slots))

    def built_for(
        self,
        arguments: Mapping[str, Any],
        shared: frozenset[str],
        p: int | None = None,
        stream: Any = None,
        together: bool = False,
    ) -> Built:
        """The compiled kernel for arrays of these shapes. ``shared``: the names of arrays that all inputs share;
        ``together``: several GPUs work at one input. Raises InputError."""
        return self._built_for(arguments, shared, p, stream, together)[1]

    def _built_for(
        self, arguments: Mapping[str, Any], shared: frozenset[str], p: int | None, stream: Any, together: bool
    ) -> tuple[Extents, Built]:
        """The same, and what of the call decided it."""
        from ..runtime import arrays

        self._extents = extents = self._understandings.extents(arguments, shared)
        count = arrays.count(arguments, self._front.slots, self._layout, p)
        self._last = built = self._builds.of(extents, CallInputs(arguments, count, stream, together))
        return extents, built

    def prove(self, named: Mapping[str, Any], shared: Mapping[str, Any]) -> None:
        """Have the first of these inputs verified, if that has yet to be done: for streams. One that is to verify all
        inputs does it group by group."""
        from ..runtime import arrays

        arguments = {**named, **shared}
        built = self.built_for(arguments, frozenset(shared))
        if built.proof is None or built.proof.how == "all" or not (built.proof.open and named):
            return
        arrays.fitted(arguments, built.artifact.slots, self._layout)
        with patient():
            self(arrays.first(named, built.artifact.slots, self._layout, MOST), shared=shared)

    def why_no_input(self, name: str) -> str:
        """See `Understandings.why_no_input`."""
        return self._understandings.why_no_input(name)

    def bound(
        self, inputs: Any, shared: Mapping[str, Any], p: int | None = None
    ) -> tuple[Understood, Options, dict[str, Any]]:
        """The program as a call with these arrays would run it, its options, and the arrays by name. Looks at shapes
        and dtypes only, and compiles nothing. Raises as the call would."""
        from ..runtime import arrays

        with lines_of(self.sources):
            arguments = {**self.named(inputs), **shared}
            extents = self._understandings.extents(arguments, frozenset(shared))
            _, front = self._understandings.of(extents)
            fitted, _ = arrays.fitted(arguments, front.slots, self._layout, p)
            return front, self._understandings.options_of(extents), fitted

    def state(self, p: int, initial: Any = None, *, shared: Mapping[str, Any] | None = None) -> State:
        """Have the program's variables stay from call to call, as they do where a C program calls its function again
        and again: an environment that is stepped, a filter that is fed.

        The *state* is what the kernel may read before it writes it, and writes: globals, and what pointer parameters
        point to. The other inputs are given to each step, and the other outputs are its results.

        Args:
            p: The number of inputs.
            initial: First values by C name, arrays ``(p, *shape)`` or numbers; without them, a global starts as its
                initialiser says, or from zero. Globals that the kernel only reads may be given too, and then stay.
                Where the program draws from ``rand``, ``random`` or ``drand48`` and their kin, these go on from step to
                step, in state variables ``rand_state`` and ``rand48_state``; ``srand`` and ``srand48`` are seeds,
                uint32 (p,) or a number: as if each input had called these functions before.
            shared: Arrays and numbers that are one for all inputs, by C name; see `__call__`.

        Returns:
            The state, whose ``step`` runs the program.

        Raises:
            UnsupportedError: The program has no state, or keeps some where none can be held: in a static local, in an
                address, or in the C library, as ``strtok`` does.
            InputError: A name, a shape or a dtype is wrong.
        """
        with lines_of(self._front.pre.sources), enough_memory():
            return State(self._for_states(), self._options.outputs, p, initial, shared)

    def _for_states(self) -> Program:
        """The program all of whose outputs come out, and whose random numbers go on from variables, as do flags that
        need not exist where each call begins anew."""
        source, options = with_numbers(self._source, self._front.program), self._options
        if source is self._source and options.outputs is None and not self._front.begun:
            return self
        status = any(s.is_status for s in self._front.slots)
        kernel = self._front.kernel_name
        options = replace(options, outputs=None, status=status, fn=kernel, given=self._front.begun)
        strict = self._strict if source is self._source else None  # the user's own C was judged before
        how = self._backend, self._schedule, self._layout, strict, self._tune
        return Program(source, options, *how, build=False, verify=self._verify)

    @property
    def backend(self) -> str:
        """What runs the program: ``"cpu"`` or ``"cuda"``."""
        return self._builds.backend()

    def understood(self, extents: Extents) -> Understood:
        """The program as such a call would run it."""
        return self._understandings.of(extents)[1]

    def extents_and_built(self, arguments: Mapping[str, Any], shared: frozenset[str], p: int) -> tuple[Extents, Built]:
        """What decides how a call with these arrays is done, and what does it."""
        return self._built_for(arguments, shared, p, None, False)

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
        from ..streaming.streams import open_stream

        return open_stream(self, batches, **how)

    def takes_bands(self, arguments: Mapping[str, Any], shared: frozenset[str], p: int | None, together: bool) -> bool:
        """Whether a call with these works at matrices in bands of rows. ``together``: if that is possible."""
        backend = self._builds.backend()
        if not self._builds.oversized(backend):
            return False
        with lines_of(self.sources):
            if not self._understandings.of(self._understandings.extents(arguments, shared))[1].is_gep:
                return False
            try:
                return isinstance(self.built_for(arguments, shared, p, None, together).artifact, CudaBandsArtifact)
            except UnsupportedError:
                return False
