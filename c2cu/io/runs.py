"""Files to files: any number of inputs, a group in memory at a time, which can be resumed."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import api, backends
from ..base import catalogue
from ..base.diagnostics import Diagnostic, Error, InputError
from ..program.verify import patient
from ..schedule.slots import Slot, zeroed
from . import files, journal
from .arguments import FileJob, job_of
from .journal import Checkpoints, Journal
from .outputs import Output
from .progress import Progress
from .sinks import FileSink, Sink, finish, open_sink
from .sources import FileSource, MemorySource, PipeSource

SMALL = 32 << 20  # bytes in and out of a run that is done in one call, unless options ask for something else
BLOCK = 8 << 20  # bytes that are read at a time until the engine has chosen its group

Say = Callable[[Diagnostic], None]


@dataclass(frozen=True)
class RunOptions:
    """How a run goes through its inputs; None: the engine chooses. ``memory``: bytes of its buffers; ``interval``,
    ``latency_target``: seconds; ``resume``: go on where an interrupted run stopped."""

    group: int | None = None
    depth: int | None = None
    interval: float | None = None
    latency_target: float | None = None
    devices: tuple[int, ...] | None = None
    memory: int | None = None
    resume: bool = False

    @property
    def engine(self) -> dict[str, Any]:
        """Those that `c2cu.stream` takes."""
        names = ("group", "depth", "interval", "latency_target", "devices", "memory")
        return {n: v for n in names if (v := getattr(self, n)) is not None}


def run_files(
    program: api.Program,
    inputs: Sequence[str],
    targets: Sequence[str],
    shared: Sequence[tuple[str, str]],
    p: int | None,
    layout: str = "row",
    options: RunOptions | None = None,
    say: Say = lambda d: None,
) -> None:
    """Read the inputs, run, and write the outputs, each whole or not at all. ``say``: where notes go.

    Raises InputError for files that cannot be read or written, and for a run that cannot be resumed."""
    options = options or RunOptions()
    job = job_of(program, inputs, targets, shared, p, layout)
    _tell_zeros(job, say)
    is_large = job.total * job.nbytes > SMALL or any(Path(path).suffix == ".zarr" for path in job.targets.values())
    if not (options.engine or options.resume or is_large):
        _run_in_one_call(job, p)
    elif _takes_bands(job, options):
        _run_in_bands(job, options)
    else:
        _run_in_groups(job, options, say)


def _tell_zeros(job: FileJob, say: Say) -> None:
    """Name the inputs that are not given, where the C does not say that they start at zero."""
    zeros = [s for s in job.program.slots if s.zero and s.name not in job.batched and s.name not in job.shared]
    if zeros:
        first = zeros[0]
        meant = f"; where zero is meant, write that: '{zeroed(first)}'" if first.is_global else ""
        names = [s.name for s in zeros]
        say(catalogue.STARTS_AT_ZERO.diagnostic("note", first.loc, names=names, first=first.name, how=meant))


def _run_in_one_call(job: FileJob, p: int | None) -> None:
    outputs = [o for o in job.outputs().values() if o.is_resumable]
    with journal.locked(outputs):
        inputs = {n: s.take(0, job.total) for n, s in job.batched.items()}
        with patient():
            results = _by_name(job.slots, job.program(inputs, shared=job.shared, p=p))
        job.check_unchanged()
        for name, path in job.targets.items():
            if not files.is_archive(path):
                files.write(path, results[name])
        archived = {name: results[name] for name, path in job.targets.items() if files.is_archive(path)}
        files.write_archives(archived, job.targets)
        journal.remove_partial(outputs)


# In bands of rows: matrices that several GPUs work at together, or that do not fit into one


def _takes_bands(job: FileJob, options: RunOptions) -> bool:
    is_engine_asked = bool(options.engine.keys() - {"devices", "memory"})
    if (
        is_engine_asked
        or options.resume
        or not all(type(s) in (FileSource, MemorySource) for s in job.batched.values())
    ):
        return False
    everything = {**{n: s.whole() for n, s in job.batched.items()}, **job.shared}
    several = options.devices is not None and len(options.devices) > 1 and job.total == 1
    return job.program.takes_bands(everything, frozenset(job.shared), job.total, several)


def _run_in_bands(job: FileJob, options: RunOptions) -> None:
    """Results go to their place in the file as they come, and are never in memory as a whole."""
    import numpy

    outputs = job.outputs()
    partial = [o for o in outputs.values() if o.is_resumable]
    with journal.locked(partial):
        journal.forget(partial)
        sinks = _open_sinks(outputs, None, 1)
        results: dict[str, Any] = {}
        unmapped: list[str] = []
        try:
            for name, sink in sinks.items():
                mapped = sink.mapped() if isinstance(sink, FileSink) else None
                if mapped is None:
                    unmapped.append(name)
                    mapped = numpy.empty(outputs[name].shape, outputs[name].dtype)
                results[name] = mapped
            inputs = {n: s.whole() for n, s in job.batched.items()}
            devices = backends.ordinals(options.devices)
            with patient():
                job.program(inputs, shared=job.shared, out=results, p=job.total, devices=devices)
            job.check_unchanged()
            for name in unmapped:
                sinks[name].write(0, results[name])
            finish(sinks, job.targets)
        except BaseException:
            _discard(sinks.values())
            raise


# In groups, through the streaming engine


def _run_in_groups(job: FileJob, options: RunOptions, say: Say) -> None:
    outputs = job.outputs()
    partial = [o for o in outputs.values() if o.is_resumable]
    with journal.locked(partial):
        record = Journal(partial, _fingerprints(job, outputs)) if _is_resumable(job, outputs, options) else None
        done = _resumed(record, partial, options, say)
        to_write = {n: o for n, o in outputs.items() if done is None or not journal.is_placed(o, done)}
        sinks = _open_sinks(to_write, done, options.group)
        checkpoints = Checkpoints(record, list(sinks.values()), job.total)
        try:
            if record is not None:
                record.write(done or 0)
            with _ended_by_signals(), Progress(job.total, job.nbytes, done or 0) as progress:
                for count in _written(job, options, sinks, done or 0):
                    checkpoints.passed()
                    progress.update(count)
            job.check_unchanged()
            checkpoints.save()
            finish(sinks, job.targets)
            journal.forget(partial)
        except BaseException as e:
            raise _interrupted(e, job, checkpoints, record is not None, partial, sinks, say) from None


def _is_resumable(job: FileJob, outputs: Mapping[str, Output], options: RunOptions) -> bool:
    """Whether a later run can go on where this one stops. Raises InputError if that is asked for and is not so."""
    pipe = next((s.path for s in job.batched.values() if s.is_pipe), None)
    whole = next((o.path for o in outputs.values() if not o.is_resumable), None)
    if options.resume and (pipe or whole) is not None:
        why = f"'{pipe}' can be read only once" if pipe is not None else f"'{whole}' is written in one run"
        raise catalogue.NOT_RESUMABLE.error(reason=why)
    return pipe is None and whole is None


def _fingerprints(job: FileJob, outputs: Mapping[str, Output]) -> dict[str, Any]:
    """A fingerprint for each thing that results depend on, by its name in messages."""
    batched, shared = job.batched.items(), job.shared.items()
    return {
        **job.program.fingerprints(),
        **{f"input '{n}'": [dict(s.fingerprint), list(s.shape), str(s.dtype)] for n, s in batched if not s.is_pipe},
        **{f"shared '{n}'": journal.fingerprint_of(v) for n, v in shared},
        **{f"output '{n}'": [str(o.target), list(o.shape), str(o.dtype)] for n, o in outputs.items()},
    }


def _resumed(record: Journal | None, outputs: Sequence[Output], options: RunOptions, say: Say) -> int | None:
    """How many results an interrupted run has left; None: this one starts anew."""
    done = record.read() if record is not None and options.resume else None
    if done is not None:
        say(catalogue.RESUMES.diagnostic("note", done=done))
        return done
    if options.resume:
        say(catalogue.NOTHING_TO_RESUME.diagnostic("note", path=outputs[0].path))
    journal.forget(outputs)
    return None


def _open_sinks(outputs: Mapping[str, Output], done: int | None, group: int | None) -> dict[str, Sink]:
    """A sink for each output. If one cannot be opened, new ones leave nothing behind."""
    largest = max((o.nbytes for o in outputs.values()), default=0)
    sinks: dict[str, Sink] = {}
    try:
        for name, o in outputs.items():
            sinks[name] = open_sink(o, group, done, largest)
    except BaseException:
        if done is None:
            _discard(sinks.values())
        raise
    return sinks


def _written(job: FileJob, options: RunOptions, sinks: Mapping[str, Sink], first: int) -> Iterator[int]:
    """Run the inputs from ``first`` on, and write each group's results. Yields how many inputs are done."""
    if first >= job.total:
        return
    stream: Any = None

    def group() -> int | None:
        return options.group or getattr(stream, "group", None)

    eager = options.interval is not None or options.latency_target is not None
    batches = _batches(job, first, group, eager) if job.batched else None
    p = None if job.batched else job.total - first
    stream = job.program.stream(batches, shared=job.shared, p=p, copy=False, **options.engine)
    with contextlib.closing(stream):
        for item in stream:
            results = _by_name(job.slots, item)
            count = next(iter(results.values())).shape[0 if job.layout == "row" else -1]
            for name, sink in sinks.items():
                sink.write(first, results[name])
            first += count
            del item, results  # their memory is the next groups'
            yield first
    if first != job.total:
        raise AssertionError(f"{first} of {job.total} inputs came out")


def _by_name(slots: Sequence[Slot], results: Any) -> dict[str, Any]:
    return results if isinstance(results, dict) else {next(s.name for s in slots if s.writes): results}


def _batches(job: FileJob, first: int, group: Callable[[], int | None], eager: bool) -> Iterator[dict[str, Any]]:
    """The inputs from ``first`` on. Once the engine has chosen its group, each batch ends where a group does, so that
    none has to be put together. ``eager``: take from a pipe what has come."""
    each = max(1, sum(s.nbytes for s in job.slots if s.name in job.batched))
    block = 1 << max(0, (BLOCK // each).bit_length() - 1)
    pipes = {n: s for n, s in job.batched.items() if isinstance(s, PipeSource)}
    start = first
    while start < job.total:
        size = group() or block
        end = min(start + size - (start - first) % size, job.total)
        batch: dict[str, Any] = {}
        if eager and len(pipes) == 1:
            for name, pipe in pipes.items():
                batch[name] = pipe.arrived(start, end)
                end = start + len(batch[name])
        yield batch | {n: s.take(start, end) for n, s in job.batched.items() if n not in batch}
        start = end


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP raise SystemExit with status 128 + their number, the second one ends the process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        sys.exit(128 + number)

    caught = [n for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) != signal.SIG_IGN]
    before = {n: signal.signal(n, end) for n in caught}
    try:
        yield
    finally:
        for n, handler in before.items():
            signal.signal(n, handler)


def _interrupted(
    e: BaseException,
    job: FileJob,
    checkpoints: Checkpoints,
    is_resumable: bool,
    outputs: Sequence[Output],
    sinks: Mapping[str, Sink],
    say: Say,
) -> BaseException:
    """The error to raise for what ended a run, after what is done has been kept for a later one, if it can be."""
    checkpoints.stop()
    changed, done = job.changed(), checkpoints.done
    is_kept = is_resumable and done > 0 and not changed
    if is_kept:
        with contextlib.suppress(InputError):  # of a disk that is full: the record before stays
            done = checkpoints.save()
    else:
        journal.forget(outputs)
        _discard(sinks.values())
    if changed:
        return catalogue.FILE_CHANGED.error(message=changed)
    left = f"{done:,} of {job.total:,} inputs are done; --resume goes on from there"
    if isinstance(e, SystemExit):
        lost = f"{done:,} of {job.total:,} inputs were done; such a run cannot be resumed"
        say(catalogue.INTERRUPTED.diagnostic("note", what=left if is_kept or is_resumable else lost))
        return e
    if isinstance(e, OSError) and is_kept:
        e = catalogue.CANNOT_GO_ON.error(reason=e.strerror or e)
    if not isinstance(e, Error) or not is_kept:
        return e
    d = e.diagnostic
    hinted = type(e)(d.code, d.message, d.loc, "; ".join(filter(None, (d.hint, left))), d.notes)
    hinted.sources = e.sources
    return hinted


def _discard(sinks: Any) -> None:
    for sink in sinks:
        sink.discard()
