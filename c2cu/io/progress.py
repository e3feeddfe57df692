"""Progress on a terminal: what a compiler is at; then inputs done, rate, and the time that is left."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from ..base import toolchain

SHORT = 0.5  # seconds of a run that needs no progress
INTERVAL = 0.1


class Progress:
    """``total``: inputs, of which ``done`` were done before; ``nbytes``: of one input, in and out.

    Nothing appears if stderr is no terminal, or if the run ends within half a second.
    """

    def __init__(self, total: int, nbytes: int, done: int = 0):
        self._total, self._nbytes, self._first = total, nbytes, done
        self._start = self._shown = time.monotonic()
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def update(self, done: int) -> None:
        """So many inputs are done."""
        now = time.monotonic()
        if not self._is_shown or now - self._start < SHORT or (now - self._shown < INTERVAL and done < self._total):
            return
        self._shown = now
        self._bar = self._bar or self._opened()
        self._bar.update(self._task, completed=done, said=self.words(done, now - self._start))
        self._bar.refresh()

    def words(self, done: int, seconds: float) -> str:
        """The line without its bar."""
        rate = (done - self._first) / seconds if seconds > 0 else 0.0
        left = _clock((self._total - done) / rate) if rate else "-"
        speed = f"{rate:,.0f} inputs/s, {rate * self._nbytes / 1e9:.2f} GB/s"
        return f"{done:,} of {self._total:,} inputs, {speed}, {left} left"

    def _opened(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        bar = BarColumn(bar_width=24)
        shown = Bar(bar, TextColumn("{task.fields[said]}"), console=Console(stderr=True), auto_refresh=False)
        shown.start()
        self._task = shown.add_task("", total=self._total, completed=self._first, said="")
        return shown

    def close(self) -> None:
        """What follows on the terminal starts on a line of its own."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def compilers_shown() -> contextlib.AbstractContextManager[None]:
    """Inside, a terminal shows which compiler works, and for how long, where it takes longer than half a second."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return toolchain.watched(_shown) if is_terminal else contextlib.nullcontext()


@contextlib.contextmanager
def _shown(compiler: str) -> Iterator[None]:
    ended = threading.Event()

    def tell() -> None:
        start = time.monotonic()
        if ended.wait(SHORT):
            return
        from rich.console import Console

        with Console(stderr=True).status(f"compiling with {compiler}") as status:
            while not ended.wait(INTERVAL):
                status.update(f"compiling with {compiler}, {time.monotonic() - start:.0f} s")

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def _clock(seconds: float) -> str:
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02}:{s:02}" if hours else f"{m}:{s:02}"
