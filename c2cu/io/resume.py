"""Runs that go on where they stopped: the journal beside the outputs and the lock on them."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.diagnostics import InputError
from . import zarr_files
from .sinks import Output, Sink, unsound

VERSION = 2
FIELDS = {"version", "done", "safe", "boot", "inodes", "fingerprint"}
INTERVAL = 1.0  # seconds between two records
NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)  # not every network file system has them


class Journal:
    """How many results are safe in the partial outputs, and of what run they are.

    Each output has a copy, ``.NAME.journal``, so that a run of that output alone knows to remove it. It is JSON:
    version, fingerprint (by kind: name: value), the inode of each partial output, and two counts: ``done`` results are
    written, which is enough if the process ends; ``safe`` of them are on the disk, which is enough if the machine does,
    as a new ``boot`` tells. So no run waits for the disk, however it ends.
    """

    def __init__(self, outputs: Sequence[Output], fingerprint: Mapping[str, Any]):
        self._outputs = outputs
        self._fingerprint = json.loads(json.dumps(fingerprint))
        self._inodes: dict[str, int] = {}
        self.safe = 0
        self._total = outputs[0].p

    def read(self) -> int | None:
        """How many results are there from an interrupted run; None if none can be told.

        Raises InputError where they are of another run, or not as the journal says.
        """
        try:
            records = [json.loads(o.hidden("journal").read_bytes()) for o in self._outputs]
            if any(r["version"] != VERSION or not r.keys() >= FIELDS for r in records):
                return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        for o, r in zip(self._outputs, records, strict=True):
            if not _is_fingerprint(r["fingerprint"]):
                raise self._refused(f"'{o.hidden('journal')}' is damaged: fingerprint is {r['fingerprint']!r:.40}")
        different = dict.fromkeys(d for r in records for d in _differences(r["fingerprint"], self._fingerprint))
        if different:
            raise self._refused("; ".join(different), "run it as it was begun, or without --resume to start anew")
        for o, r in zip(self._outputs, records, strict=True):
            if wrong := self._miscounted(r, o):
                raise self._refused(f"'{o.hidden('journal')}' is damaged: {wrong}")
        boot = _boot()
        self.safe = min(r["safe"] for r in records)
        done = min(r["done"] if boot and r["boot"] == boot else r["safe"] for r in records)
        inodes = {str(o.target): r["inodes"][str(o.target)] for o, r in zip(self._outputs, records, strict=True)}
        self._inodes = inodes if done == self._total else {}
        files = [o.target if self.placed(o) else o.hidden("partial") for o in self._outputs]
        if not all(f.exists() for f in files):
            return None
        for o, file in zip(self._outputs, files, strict=True):
            if file.stat().st_ino != inodes[str(o.target)]:
                raise self._refused(f"'{file}' is not the file that the run wrote")
            if wrong := unsound(o, file, done):
                raise self._refused(f"'{file}' is not as the run left it: {wrong}")
        return done

    def _refused(self, why: str, hint: str = "run it without --resume to start anew") -> InputError:
        return InputError("C2CU059", f"'{self._outputs[0].path}' cannot be resumed: {why}", None, hint)

    def _miscounted(self, record: Mapping[str, Any], output: Output) -> str:
        """What cannot be true of a journal of this run."""
        for name, most in (("done", self._total), ("safe", record["done"])):
            count = record[name]
            if type(count) is not int or not 0 <= count <= most:
                return f"{name} is {count!r:.40}, wanted 0 to {most}"
        inodes = record["inodes"]
        if not isinstance(inodes, dict) or type(inodes.get(str(output.target))) is not int:
            return f"inodes is {inodes!r:.40}"
        return "" if isinstance(record["boot"], str) else f"boot is {record['boot']!r:.40}"

    def placed(self, output: Output) -> bool:
        """Whether an output was moved into place already, before the run that wrote it was stopped."""
        if output.hidden("partial").exists() or not output.target.exists():
            return False
        return output.target.stat().st_ino == self._inodes.get(str(output.target))

    def begin(self, done: int) -> None:
        """The partial outputs are as ``done`` says from now on."""
        placed = {str(o.target): o.target if self.placed(o) else o.hidden("partial") for o in self._outputs}
        self._inodes = {path: file.stat().st_ino for path, file in placed.items()}
        self.safe = min(self.safe, done)
        self.write(done)

    def write(self, done: int) -> None:
        """So many results are written; ``safe`` of them are on the disk."""
        record = {"version": VERSION, "done": done, "safe": self.safe, "boot": _boot(), "inodes": self._inodes}
        text = json.dumps({**record, "fingerprint": self._fingerprint}, indent=1)
        for o in self._outputs:
            path = o.hidden("journal")
            new = o.hidden(f"journal-{threading.get_ident()}")
            try:
                new.write_text(text)
                os.replace(new, path)
            except OSError as e:
                new.unlink(missing_ok=True)
                raise InputError("C2CU057", f"cannot write '{path}': {e.strerror or e}") from None

    def flush(self) -> None:
        """What was written last is on the disk."""
        for o in self._outputs:
            with open(o.hidden("journal"), "rb") as f:
                os.fsync(f.fileno())

    def remove(self) -> None:
        forget(self._outputs)


def forget(outputs: Iterable[Output]) -> None:
    """No run of these outputs can be resumed any more."""
    for o in outputs:
        o.hidden("journal").unlink(missing_ok=True)


def abandon(outputs: Iterable[Output]) -> None:
    """The outputs are in place by another way: what an interrupted run of them left goes."""
    for o in outputs:
        o.hidden("journal").unlink(missing_ok=True)
        zarr_files.remove(o.hidden("partial"))


def _boot() -> str:
    """What changes whenever the machine starts; empty where nothing tells."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _is_fingerprint(found: Any) -> bool:
    return isinstance(found, dict) and all(isinstance(kind, dict) for kind in found.values())


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """What of a fingerprint changed, in words."""
    for kind in new:
        was, now = old.get(kind, {}), new[kind]
        for name in dict.fromkeys((*was, *now)):
            if was.get(name) == now.get(name):
                continue
            what = name if kind == "program" else f"{kind} '{name}'"
            if name not in was or name not in now:
                yield f"{what} is {'new' if name not in was else 'missing'}"
                continue
            a, b = was[name], now[name]
            if isinstance(a, dict) and isinstance(b, dict):
                changed = ", ".join(_difference(k, a.get(k), b.get(k)) for k in b if a.get(k) != b.get(k))
                yield f"{what} has changed: {changed}"
            else:
                plain = not re.fullmatch("[0-9a-f]{16,}", str(b)) and max(len(str(a)), len(str(b))) <= 40
                yield f"{what} has changed" + (f": was {a}, is {b}" if plain else "")


def _difference(what: str, was: Any, now: Any) -> str:
    """One thing about a file, in a reader's words."""
    if what.startswith("mtime") and isinstance(was, int) and isinstance(now, int):
        was, now = (time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(x * 1e-9)) for x in (was, now))
        return f"it was written at {now}, not {was}"
    return f"{what} was {was}, is {now}"


def of_value(value: Any) -> str:
    """What tells whether a shared array or number is still the same."""
    import numpy

    array = numpy.asarray(value)
    return hashlib.sha256(f"{array.dtype} {array.shape} ".encode() + array.tobytes()).hexdigest()[:32]


class Checkpoints:
    """Writes the journal about once a second. Results are flushed on a thread of its own: a disk may take long."""

    def __init__(self, journal: Journal | None, sinks: Sequence[Sink], total: int):
        self._journal, self._sinks, self._total = journal, sinks, total
        self._last = time.monotonic() - 0.9 * INTERVAL
        self._thread: threading.Thread | None = None
        self._failed: Exception | None = None

    @property
    def done(self) -> int:
        """How many results are written, to all outputs."""
        return min((s.settled for s in self._sinks), default=self._total)

    def passed(self) -> None:
        """Another group is written."""
        if self._journal is None or time.monotonic() - self._last < INTERVAL:
            return
        self._last = time.monotonic()
        self.save()
        if self._failed is not None:
            raise self._failed
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._flush, args=(self._journal,), name="c2cu-flush", daemon=True)
            self._thread.start()

    def save(self) -> int:
        """Write the journal now; waits for nothing. How many results it counts."""
        done = self.done
        if self._journal is not None:
            self._journal.write(done)
        return done

    def end(self) -> None:
        """All is written: flush it, and say so."""
        if self._thread is not None:
            self._thread.join()
        for s in self._sinks:
            s.flush()
        if self._journal is not None:
            self._journal.safe = self.done
        self.save()

    def _flush(self, journal: Journal) -> None:
        try:
            done = self.done
            for s in self._sinks:
                s.flush()
            journal.safe = max(journal.safe, done)
            journal.flush()
        except Exception as e:  # told by the run's own thread
            self._failed = e


@contextlib.contextmanager
def locked(outputs: Sequence[Output]) -> Iterator[None]:
    """No other run writes these outputs meanwhile. Raises InputError where one does."""
    with contextlib.ExitStack() as held:
        for o in outputs:
            held.enter_context(_lock(o))
        yield


def unlock(outputs: Iterable[Output]) -> None:
    """Remove the files of locks that this process holds until it ends, which is now."""
    for o in outputs:
        o.hidden("lock").unlink(missing_ok=True)


@contextlib.contextmanager
def _lock(output: Output) -> Iterator[None]:
    import fcntl

    path = output.hidden("lock")
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as e:
            raise InputError("C2CU057", f"cannot write '{output.path}': {e.strerror or e}") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            hint = "wait for it, or give another name"
            raise InputError("C2CU057", f"another run is writing '{output.path}'", None, hint) from None
        except OSError as e:
            if e.errno not in NO_LOCKS:
                raise
        with contextlib.suppress(FileNotFoundError):
            if os.stat(path).st_ino == os.fstat(file).st_ino:
                break
        os.close(file)  # the run that held it has removed it
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(file)
