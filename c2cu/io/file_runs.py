"""Files to files through the streaming engine: any number of inputs, a group in memory at a time, to be resumed."""

from __future__ import annotations

import contextlib
import hashlib
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import api, backends
from ..base.diagnostics import Diagnostic, Error, InputError
from ..base.version import __version__
from ..schedule.slots import Slot, shape_of
from . import fingerprint, resume, sinks
from .progress import Progress
from .sinks import Output, Sink
from .sources import ArraySource, Mapped, Piped, Whole
from .stopping import stopping

BLOCK = 8 << 20  # bytes read at a time until the engine has told its group

Say = Callable[[Diagnostic], None]


@dataclass(frozen=True)
class Streaming:
    """How a run goes through its inputs; None: the engine chooses. ``memory``: bytes of its buffers; ``interval``,
    ``latency_target``: seconds. ``resume``: go on where an interrupted run stopped."""

    group: int | None = None
    depth: int | None = None
    interval: float | None = None
    latency_target: float | None = None
    devices: tuple[int, ...] | None = None
    memory: int | None = None
    resume: bool = False

    @property
    def engine(self) -> dict[str, Any]:
        names = ("group", "depth", "interval", "latency_target", "devices", "memory")
        return {n: v for n in names if (v := getattr(self, n)) is not None}

    @property
    def asked(self) -> bool:
        return self.resume or bool(self.engine)


@dataclass(frozen=True)
class FileJob:
    """``bulk``: inputs by name; ``fixed``: what all inputs share; ``total``: how many there are; ``slots``: the
    program's, with the extents of these inputs; ``targets``: the file of each output."""

    program: api.Program
    bulk: Mapping[str, ArraySource]
    fixed: Mapping[str, Any]
    total: int
    slots: Sequence[Slot]
    targets: Mapping[str, str]
    layout: str
    sources: Sequence[ArraySource]  # of ``bulk`` and ``fixed``

    def changed(self) -> str:
        """What is wrong with an input that is another by now, so that results may be too; else nothing."""
        return next((wrong for s in self.sources if (wrong := s.changed())), "")

    def check(self) -> None:
        """All is computed. Raises InputError if an input was changed meanwhile."""
        if wrong := self.changed():
            raise InputError("C2CU056", wrong, None, fingerprint.CHANGED)

    @property
    def nbytes(self) -> int:
        """In and out, of one input."""
        return sum(s.nbytes * ((s.name in self.bulk) + (s.name in self.targets)) for s in self.slots)

    def outputs(self) -> dict[str, Output]:
        import numpy

        found = {}
        for s in self.slots:
            if s.name in self.targets:
                shape = shape_of(s, self.total, self.layout)
                found[s.name] = Output(self.targets[s.name], shape, numpy.dtype(s.dtype), self.layout)
        return found


def run_streamed(job: FileJob, streaming: Streaming, say: Say) -> None:
    """Run a job. Outputs appear when all is done; what an interrupted run did is kept for ``streaming.resume``.

    Raises InputError for files that cannot be read or written, and for a run that cannot be resumed.
    """
    outputs = job.outputs()
    kept = _kept(job, outputs, streaming)
    partial = [o for o in outputs.values() if o.resumable]
    with resume.locked(partial), contextlib.ExitStack() as stack:
        journal = resume.Journal(kept, _fingerprint(job, outputs)) if kept else None
        done = _begin(journal, partial, streaming, say)
        writers = _sinks(outputs, journal, done, streaming.group)
        if journal is not None:
            journal.begin(done or 0)
        active = [w for w in writers.values() if w is not None]
        checkpoints = resume.Checkpoints(journal, active, job.total)
        progress = stack.enter_context(Progress(job.total, job.nbytes, done or 0))
        stack.enter_context(stopping(_stop(job, checkpoints, journal, active, partial, progress, say)))
        try:
            for now in _written(job, streaming, writers, done or 0):
                checkpoints.passed()
                progress.update(now)
            job.check()
            _finish(checkpoints, journal, active)
        except BaseException as e:
            raise _told(e, job, checkpoints, journal, active) from None


def together(job: FileJob, streaming: Streaming) -> bool:
    """Whether inputs are taken one after the other, in parts of them, by all devices that there are for it."""
    several = streaming.devices is not None and len(streaming.devices) > 1 and job.total == 1
    asked = {n for n in streaming.engine if n not in ("devices", "memory")}
    if asked or streaming.resume or not all(type(s) in (Mapped, Whole) for s in job.bulk.values()):
        return False
    given = {**{n: s.whole() for n, s in job.bulk.items()}, **job.fixed}
    return job.program.takes_bands(given, frozenset(job.fixed), job.total, several)


def run_together(job: FileJob, streaming: Streaming) -> None:
    """Run such a job: results go to their place in the file as they come, and are never in memory as a whole."""
    import numpy

    outputs = job.outputs()
    partial = [o for o in outputs.values() if o.resumable]
    with resume.locked(partial):
        resume.forget(partial)
        writers = {n: w for n, w in _sinks(outputs, None, None, 1).items() if w is not None}
        targets: dict[str, Any] = {}
        apart: dict[str, Any] = {}
        try:
            for name, writer in writers.items():
                mapped = writer.mapped() if isinstance(writer, sinks.File) else None
                if mapped is None:
                    apart[name] = mapped = numpy.empty(outputs[name].shape, outputs[name].dtype)
                targets[name] = mapped
            given = {n: s.whole() for n, s in job.bulk.items()}
            devices = backends.ordinals(streaming.devices)
            job.program(given, shared=job.fixed, out=targets, p=job.total, devices=devices)
            job.check()
            for name, writer in writers.items():
                if name in apart:
                    writer.write(0, apart[name])
                writer.finish()
        except BaseException:
            _discard(list(writers.values()), None)
            raise


def _kept(job: FileJob, outputs: Mapping[str, Output], streaming: Streaming) -> list[Output]:
    """The outputs that a later run may go on with: all or none."""
    once = next((s.path for s in job.bulk.values() if s.serial), None)
    whole = next((o.path for o in outputs.values() if not o.resumable), None)
    if once is None and whole is None:
        return list(outputs.values())
    if streaming.resume:
        why = f"'{once}' can be read only once" if once is not None else f"'{whole}' is written in one run"
        raise InputError("C2CU059", f"--resume: {why}", None, "resumed are runs from files to .npy, .bin or .zarr")
    return []


def _fingerprint(job: FileJob, outputs: Mapping[str, Output]) -> dict[str, Any]:
    def array(a: Any) -> dict[str, Any]:
        return {"shape": list(a.shape), "dtype": str(a.dtype)}

    return {
        "program": _identity(job.program),
        "input": {n: {**s.stamp, **array(s)} for n, s in job.bulk.items() if not s.serial},
        "shared": {n: resume.of_value(v) for n, v in job.fixed.items()},
        "output": {n: {"path": str(o.target), **array(o)} for n, o in outputs.items()},
    }


def _identity(program: Any) -> dict[str, str]:
    """All of a compiled program that results depend on, in words."""
    front, o = program._front, program._options
    lines = (line for line in front.pre.plain.split("\n") if not line.startswith("# "))  # those name places
    return {
        "the C text": hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:32],
        "the kernel": front.program.kernel.name,
        "-D": repr(sorted(o.defines.items())),
        "--shape": repr(sorted(o.shapes.items())),
        "--shared": repr(sorted(o.shared)),
        "--fp": o.fp,
        "--layout": program._layout,
        "--backend": program._backend if program._backend != "auto" else backends.best(),
        "--schedule": program._schedule,
        "the version of c2cu": __version__,
    }


def _begin(journal: resume.Journal | None, outputs: Sequence[Output], streaming: Streaming, say: Say) -> int | None:
    """How many results a former run has left; None: this one starts anew."""
    done = journal.read() if journal is not None and streaming.resume else None
    if done is not None:
        say(Diagnostic("note", "C2CU059", f"{done:,} inputs are done: it goes on from there"))
        return done
    if streaming.resume:
        say(Diagnostic("note", "C2CU059", f"nothing to resume for '{outputs[0].path}': it starts at the beginning"))
    resume.forget(outputs)
    return None


def _sinks(
    outputs: Mapping[str, Output], journal: resume.Journal | None, done: int | None, group: int | None
) -> dict[str, Sink | None]:
    """Where each output goes; None where it is in place already. If one cannot be opened, new ones leave nothing."""
    largest = max(o.nbytes for o in outputs.values())
    opened: dict[str, Sink | None] = {}
    try:
        for name, o in outputs.items():
            placed = done is not None and journal is not None and journal.placed(o)
            opened[name] = None if placed else sinks.sink(o, group, done, largest)
    except BaseException:
        for s in opened.values():
            if s is not None and done is None:
                s.discard()
        raise
    return opened


def _written(job: FileJob, streaming: Streaming, writers: Mapping[str, Sink | None], first: int) -> Iterator[int]:
    """Run the inputs from ``first`` on, and write each group's results. How many inputs are done, after each group."""
    if first >= job.total:
        return
    stream: Any = None

    def group() -> int | None:
        return streaming.group or getattr(stream, "group", None)

    eager = streaming.interval is not None or streaming.latency_target is not None
    batches = _batches(job, first, group, eager) if job.bulk else None
    p = None if job.bulk else job.total - first
    stream = job.program.stream(batches, shared=job.fixed, p=p, copy=False, **streaming.engine)
    with contextlib.closing(stream):
        for item in stream:
            results = by_name(job.slots, item)
            n = next(iter(results.values())).shape[0 if job.layout == "row" else -1]
            for name, writer in writers.items():
                if writer is not None:
                    writer.write(first, results[name])
            first += n
            del item, results  # their memory is the next groups'
            yield first
    if first != job.total:
        raise AssertionError(f"{first} of {job.total} inputs came out")


def by_name(slots: Sequence[Slot], results: Any) -> dict[str, Any]:
    """Results by the names of the outputs."""
    return results if isinstance(results, dict) else {next(s.name for s in slots if s.writes): results}


def _batches(job: FileJob, first: int, group: Callable[[], int | None], eager: bool) -> Iterator[dict[str, Any]]:
    """The inputs from ``first`` on, in groups of the engine's size as soon as that is known: none is put together."""
    each = max(1, sum(s.nbytes for s in job.slots if s.name in job.bulk))
    block = 1 << max(0, (BLOCK // each).bit_length() - 1)
    pipes = [n for n, s in job.bulk.items() if isinstance(s, Piped)]
    start, at = first, first
    while at < job.total:
        size = group() or block
        last = min(at + size - (at - start) % size, job.total)
        batch: dict[str, Any] = {}
        if eager and len(pipes) == 1:
            pipe: Any = job.bulk[pipes[0]]
            batch[pipes[0]] = pipe.arrived(at, last)
            last = at + len(batch[pipes[0]])
        for name, s in job.bulk.items():
            if name not in batch:
                batch[name] = s.take(at, last)
        yield batch
        at = last


def _finish(checkpoints: resume.Checkpoints, journal: resume.Journal | None, writers: Sequence[Sink]) -> None:
    """Everything is written: flush it, say so, and move it into place."""
    checkpoints.end()
    for w in writers:
        w.finish()
    if journal is not None:
        journal.remove()


def _discard(writers: Sequence[Sink], journal: resume.Journal | None) -> None:
    for w in writers:
        w.discard()
    if journal is not None:
        journal.remove()


def _left(done: int, total: int) -> str:
    return f"{done:,} of {total:,} inputs are done; --resume goes on from there"


def _stop(
    job: FileJob,
    checkpoints: resume.Checkpoints,
    journal: resume.Journal | None,
    writers: Sequence[Sink],
    outputs: Sequence[Output],
    progress: Progress,
    say: Say,
) -> Callable[[int], None]:
    """What a signal does: the journal is written, the user told."""

    def stop(number: int) -> None:
        progress.abandon()
        changed = job.changed()
        kept = journal is not None and not changed
        done = checkpoints.save() if kept else checkpoints.done
        if not kept:
            _discard(writers, journal)
        left = _left(done, job.total) if kept else ""
        if changed or number == signal.SIGBUS:
            message = changed or "a page of a mapped file cannot be read"
            say(Diagnostic("error", "C2CU056", message, None, fingerprint.CHANGED if changed else left))
        else:
            none = f"{done:,} of {job.total:,} inputs were done; such a run cannot be resumed"
            say(Diagnostic("note", "C2CU059", f"interrupted: {left or none}"))
        resume.unlock(outputs)

    return stop


def _told(
    e: BaseException,
    job: FileJob,
    checkpoints: resume.Checkpoints,
    journal: resume.Journal | None,
    writers: Sequence[Sink],
) -> BaseException:
    """An error in mid-run, with a hint if what is done is kept. Nothing is left of a run that did nothing."""
    done, changed = checkpoints.done, job.changed()
    if not done or journal is None or changed:
        _discard(writers, journal)
        return InputError("C2CU056", changed, None, fingerprint.CHANGED) if changed else e
    with contextlib.suppress(InputError):  # a full disk: the record before stays
        checkpoints.save()
    if isinstance(e, OSError):
        e = InputError("C2CU057", f"cannot go on: {e.strerror or e}")
    if not isinstance(e, Error):
        return e
    d = e.diagnostic
    told = type(e)(d.code, d.message, d.loc, "; ".join(filter(None, (d.hint, _left(done, job.total)))), d.notes)
    told.sources = e.sources
    return told
