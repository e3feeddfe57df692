"""What the compiler says of a text, it says once in a module's tests, however many schedules they compare with it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from c2cu.base import toolchain
from c2cu.base.diagnostics import file_of
from c2cu.frontend import conform
from c2cu.frontend.preprocess import HEADERS, Preprocessed

_MARKER = re.compile(r'^# \d+ "((?:[^"\\]|\\.)*)"', re.M)
_ENDURING = ("<", "/usr/", str(HEADERS))  # files that no test writes
_run, _read = toolchain.bounded, conform._reader


def remember_answers(patch: pytest.MonkeyPatch) -> None:
    """Until ``patch`` is undone, neither preprocess nor check a text again that the same compiler took before."""
    outputs: dict[tuple, tuple[str, subprocess.CompletedProcess[bytes]]] = {}
    complaints: dict[tuple, bytes] = {}

    def bounded(command: Sequence[str], seconds: float, nbytes: int) -> subprocess.CompletedProcess[bytes] | None:
        *options, path = command
        text = Path(path).read_bytes()
        key = (_compiler(), *options, text)
        if key in outputs:
            then, done = outputs[key]
            return subprocess.CompletedProcess(
                command, done.returncode, done.stdout.replace(then.encode(), path.encode()), done.stderr
            )
        done = _run(command, seconds, nbytes)
        if done is not None and not done.returncode and _depends_on_nothing_else(done.stdout, text, path):
            outputs[key] = path, done
        return done

    def reader(unit: Preprocessed, path: Path) -> _Reader:
        return _Reader(complaints, (_compiler(), unit.plain), unit, path)

    patch.setattr(toolchain, "bounded", bounded)
    patch.setattr(conform, "_reader", reader)


def _compiler() -> tuple[str | None, ...]:
    return (*toolchain.find_compiler(), os.environ.get("PATH"))


def _depends_on_nothing_else(output: bytes, text: bytes, path: str) -> bool:
    files = {file_of(m[1]) for m in _MARKER.finditer(output.decode("utf-8", "surrogateescape"))}
    first = _MARKER.match(text.decode("utf-8", "surrogateescape"))
    assert first is not None
    return all(f.startswith(_ENDURING) for f in files - {path, file_of(first[1])})


class _Reader:
    """As the process that `conform` starts, which has its answer already where one is known."""

    def __init__(self, complaints: dict[tuple, bytes], key: tuple, unit: Preprocessed, path: Path):
        self._complaints, self._key = complaints, key
        self._process = None if key in complaints else _read(unit, path)

    def communicate(self) -> tuple[None, bytes]:
        if self._process is not None:
            self._complaints[self._key] = self._process.communicate()[1]
        return None, self._complaints[self._key]

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def wait(self) -> None:
        if self._process is not None:
            self._process.wait()
