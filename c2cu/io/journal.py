"""What an interrupted run has done: the journal beside each partial output, and the lock on the outputs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ..base import catalogue
from ..base.diagnostics import InputError
from . import files
from .outputs import Output
from .sinks import Sink

VERSION = 3
INTERVAL = 1.0  # seconds between two records


class Journal:
    """How many results the partial outputs hold on the disk, and of which run they are.

    Each output has a copy, ``.NAME.journal``, which any other run of that output removes. It is JSON: ``done``, the
    number of results, and ``run``, which has a fingerprint for each thing that results depend on.
    """

    def __init__(self, outputs: Sequence[Output], run: Mapping[str, Any]):
        self._outputs = outputs
        self._run = json.loads(json.dumps(run))

    def read(self) -> int | None:
        """How many results an interrupted run has left; None if no journal tells. Raises InputError if they are of
        another run, or if a partial output has another size."""
        records = [record for o in self._outputs if (record := _record(o)) is not None]
        if len(records) < len(self._outputs):
            return None
        names = dict.fromkeys(name for run in (self._run, *(r["run"] for r in records)) for name in run)
        changed = [n for n in names if any(r["run"].get(n) != self._run.get(n) for r in records)]
        if changed:
            hint = "run it as it was begun, or without --resume to start anew"
            raise self._refused(f"{', '.join(changed)} changed since it was interrupted", hint)
        done = min(r["done"] for r in records)
        for o in self._outputs:
            file = o.target if is_placed(o, done) else o.hidden("partial")
            if not file.exists():
                return None
            if file.is_file() and file.stat().st_size != o.file_size:
                raise self._refused(f"'{file}' has {file.stat().st_size} bytes, but the run wrote {o.file_size}")
        return done

    def _refused(self, why: str, hint: str = "run it without --resume to start anew") -> InputError:
        return catalogue.RESUME_REFUSED.error(path=self._outputs[0].path, reason=why, how=hint)

    def write(self, done: int) -> None:
        """So many results are on the disk. Raises InputError."""
        text = json.dumps({"version": VERSION, "done": done, "run": self._run}, indent=1)
        for o in self._outputs:
            path, new = o.hidden("journal"), o.hidden("journal.new")
            try:
                new.write_text(text)
                os.replace(new, path)
            except OSError as e:
                new.unlink(missing_ok=True)
                raise catalogue.CANNOT_WRITE.error(path=path, reason=e.strerror or e, how="") from None


def _record(output: Output) -> Any:
    """An output's journal, or None if there is none that makes sense."""
    try:
        record = json.loads(output.hidden("journal").read_bytes())
        is_sound = record["version"] == VERSION and type(record["done"]) is int and isinstance(record["run"], dict)
        return record if is_sound and 0 <= record["done"] <= output.p else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def is_placed(output: Output, done: int) -> bool:
    """Whether an output was moved into place already, by a run that was stopped before its other outputs were."""
    return done == output.p and not output.hidden("partial").exists() and output.target.exists()


def forget(outputs: Iterable[Output]) -> None:
    """No run of these outputs can be resumed any more."""
    for o in outputs:
        o.hidden("journal").unlink(missing_ok=True)


def remove_partial(outputs: Iterable[Output]) -> None:
    """Remove all that an interrupted run of these outputs left."""
    for o in outputs:
        o.hidden("journal").unlink(missing_ok=True)
        files.remove(o.hidden("partial"))


def fingerprint_of(value: Any) -> str:
    """What tells whether a shared array or number is still the same."""
    import numpy

    array = numpy.asarray(value)
    return hashlib.sha256(f"{array.dtype} {array.shape} ".encode() + array.tobytes()).hexdigest()[:32]


class Checkpoints:
    """Writes the journal about once a second, in a thread of its own: a disk may take long."""

    def __init__(self, journal: Journal | None, sinks: Sequence[Sink], total: int):
        self._journal, self._sinks, self._total = journal, sinks, total
        self._last = time.monotonic() - 0.9 * INTERVAL
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="c2cu-journal")
        self._pending: Future[int] | None = None

    @property
    def done(self) -> int:
        """How many results are written to all outputs."""
        return min((s.written for s in self._sinks), default=self._total)

    def passed(self) -> None:
        """Another group is written. Raises InputError if the journal could not be."""
        is_due = self._journal is not None and time.monotonic() - self._last >= INTERVAL
        if not is_due or (self._pending is not None and not self._pending.done()):
            return
        if self._pending is not None:
            self._pending.result()
        self._last = time.monotonic()
        self._pending = self._thread.submit(self._save)

    def stop(self) -> None:
        """Write no more records, except by `save`."""
        self._thread.shutdown()

    def save(self) -> int:
        """Write the last record. Returns how many results it counts. Raises InputError."""
        self.stop()
        return self._save()

    def _save(self) -> int:
        done = self.done
        for s in self._sinks:
            s.flush()
        if self._journal is not None:
            self._journal.write(done)
        return done


@contextlib.contextmanager
def locked(outputs: Sequence[Output]) -> Iterator[None]:
    """No other run writes these outputs meanwhile. Raises InputError if one does."""
    with contextlib.ExitStack() as stack:
        for o in outputs:
            stack.enter_context(_lock(o))
        yield


@contextlib.contextmanager
def _lock(output: Output) -> Iterator[None]:
    import fcntl

    path = output.hidden("lock")
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as e:
            raise catalogue.CANNOT_WRITE.error(path=output.path, reason=e.strerror or e, how="") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise catalogue.ANOTHER_RUN.error(path=output.path) from None
        except OSError:
            pass  # not every network file system has locks
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(file)):
                break
        os.close(file)  # the run that held it has removed it
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(file)
